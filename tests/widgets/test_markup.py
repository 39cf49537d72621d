"""No ``str`` reaches a widget, where it would be parsed as markup: a title ``broken [/nope]`` crashes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted([*(ROOT / "widgets").glob("*.py"), *(ROOT / "app").glob("*.py"), *(ROOT / "app" / "panes").glob("*.py")])

PARSE = {"Static", "Label", "Button", "Markdown", "RichLog", "Log", "Option", "ListItem", "TabPane", "Tree", "DataTable", "notify", "panic"}
"""Widgets and calls of the framework that take a string and parse it as markup."""

SETTERS = {"border_title", "border_subtitle", "tooltip", "label", "placeholder", "sub_title"}
METHODS = {"notify", "update", "from_markup", "render_markup", "write"}


def faults(source: str) -> Iterator[str]:
    """Return what hands a string to something that parses markup."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            value = node.args[0] if node.args else None
            if name in PARSE and value is not None and not isinstance(value, ast.Constant):
                yield f"{node.lineno}: {name}(…)"
            if name in METHODS and isinstance(node.func, ast.Attribute) and _is_widget_text(node):
                yield f"{node.lineno}: .{name}(…)"
            if any(k.arg == "markup" and not (isinstance(k.value, ast.Constant) and k.value.value is False) for k in node.keywords):
                yield f"{node.lineno}: markup="
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Attribute) and t.attr in SETTERS for t in targets):
                yield f"{node.lineno}: a title"
        if isinstance(node, ast.FunctionDef) and node.name == "render" and not _returns_no_str(node):
            yield f"{node.lineno}: render()"
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual.widgets"):
            yield f"{node.lineno}: {node.module}"


def _is_widget_text(node: ast.Call) -> bool:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id in {"file", "svg", "sys", "os"}:
        return False
    value = node.args[0] if node.args else None
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.Mod))


def _returns_no_str(node: ast.FunctionDef) -> bool:
    return node.returns is not None and "str" not in ast.unparse(node.returns)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_string_is_parsed_as_markup(path: Path) -> None:
    assert list(faults(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "bad",
    [
        "Static(title)",
        "self.query_one('#x').update(f'{title}')",
        "self.notify('a' + title)",
        "self.border_title = title",
        "Text.from_markup(f'[b]{title}')",
        "class W:\n def render(self) -> str:\n  return self.title",
        "class W:\n def render(self):\n  return self.title",
        "from textual.widgets import Tree",
        "Label(f'{x}', markup=True)",
    ],
)
def test_the_lint_finds(bad: str) -> None:
    assert list(faults(bad))


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 15
