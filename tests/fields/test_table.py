"""The page of field reports and the tests that cover them name the same ids; what the tree points at is in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [p for folder in ("app", "core", "widgets", "tests") for p in sorted((ROOT / folder).rglob("*.py"))]


def covered() -> Iterator[int]:
    """Yield the ids of every ``@pytest.mark.field(…)`` in the tests."""
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == "pytest.mark.field":
                yield from (int(ast.literal_eval(a)) for a in node.args)


def test_each_line_of_the_page_has_a_test_and_each_test_a_line() -> None:
    page = [int(n) for n in re.findall(r"(?m)^\| (\d+) \|", (ROOT / "docs" / "field-reports.md").read_text(encoding="utf-8"))]
    assert page == sorted(set(page))
    assert set(covered()) == set(page)


def test_what_the_tree_points_at_is_in_it() -> None:
    outside = re.compile(r"\b(spec|facts|design)(/| (page|pages|of)\b)")
    wrong = []
    for path in (*SOURCES, *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        if path == Path(__file__).resolve():
            continue
        text = path.read_text(encoding="utf-8")
        wrong += [f"{path.name}: {m[0]}" for m in outside.finditer(text)]
        if "tests" not in path.parts:  # sample projects have pages of their own
            wrong += [f"{path.name}: {name}" for name in re.findall(r"\b(docs/[\w.-]+\.md)", text) if not (ROOT / name).is_file()]
    assert not wrong
