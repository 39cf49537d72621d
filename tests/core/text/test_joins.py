"""Only ``core/text/show.py`` makes a ``Shown``: everything else joins what was made there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import (
    clock,
    joined,
    numeral,
    own,
    padded,
    padded_left,
    part_of,
    repeated,
    safe_join,
    said,
    terminal,
)

ROOT = Path(__file__).resolve().parents[3]
BORDER = ROOT / "core" / "text" / "show.py"
FILES = sorted(p for d in ("app", "core", "widgets") for p in (ROOT / d).rglob("*.py") if p != BORDER)


def faults(source: str) -> Iterator[str]:
    """Return where a text becomes ``Shown`` without the border: a call of the name, a cast, or a literal's maker given more than one."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "Shown":
            yield f"{node.lineno}: Shown(…)"
        if name == "cast" and node.args and "Shown" in ast.unparse(node.args[0]):
            yield f"{node.lineno}: cast"
        if name == "own" and any(isinstance(n, ast.JoinedStr | ast.Call) for a in node.args for n in ast.walk(a)):
            yield f"{node.lineno}: own of what is made at run time"
        if name in {"map", "starmap"} and node.args and ast.unparse(node.args[0]) in {"Shown", "own"}:
            yield f"{node.lineno}: {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_only_the_border_makes_what_is_shown(path: Path) -> None:
    assert list(faults(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "bad",
    ["Shown(title)", "evidence.Shown('x')", "cast('Shown', x)", "cast(Shown, x)", "own(f'{x}')", "own(str(x))", "map(Shown, x)"],
)
def test_the_lint_finds(bad: str) -> None:
    assert list(faults(bad))


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 60


def test_joins() -> None:
    title = terminal(Raw("a\x1b[31m"))
    assert joined(title, " · ", 3, own("x")) == "a␛[31m · 3x"
    assert joined() == ""
    assert safe_join(", ", [own("a"), own("b")]) == "a, b"
    assert numeral(1234567) == "1,234,567"
    assert numeral(3.14159, ".1f") == "3.1"
    assert clock(datetime(2026, 11, 1, 5, 3, tzinfo=UTC), "%H:%M") == "05:03"
    assert part_of(own("abcdef"), 2, 4) == "cd"
    assert part_of(own("abcdef"), 2) == "cdef"
    assert repeated("ab", 2) == "abab"
    assert repeated("ab", -1) == ""
    assert padded("ab", 4) == "ab  "
    assert padded_left("ab", 4) == "  ab"
    assert said("a\x1bb") == "a␛b"
