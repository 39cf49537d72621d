"""Widths equal to those with which the screen draws (docs/field-reports.md, 44)."""

import pytest
from ctx_inspect.core.text import width
from ctx_inspect.core.text.show import own, terminal
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.core.text.hostile import HOSTILE, PLAIN

ANY = st.text(st.characters(exclude_categories=()), max_size=40)


def test_equal_for_every_code_point() -> None:
    # planes 0-3 and the specials; the planes above hold nothing that is assigned
    for start in (*range(0, 0x40000, 16), *range(0xE0000, 0xE0200, 16)):
        shown = terminal("".join(map(chr, range(start, start + 16))))
        assert width.cells(shown) == cell_len(shown), hex(start)


@pytest.mark.parametrize("text", [pytest.param(t, id=n) for n, t in {**HOSTILE, **PLAIN}.items()])
def test_equal_for_the_hostile_set(text: str) -> None:
    shown = terminal(text)
    assert width.cells(shown) == cell_len(shown)


@given(ANY)
def test_equal_for_any_text(text: str) -> None:
    shown = terminal(text)
    assert width.cells(shown) == cell_len(shown)


def test_known_widths() -> None:
    assert width.cells("abc") == 3
    assert width.cells("重构") == 4
    assert width.cells("cafe\u0301") == 4
    assert width.cells("🚀") == 2
    assert width.cells("") == 0


@given(ANY, st.integers(-2, 60))
def test_cut(text: str, cells: int) -> None:
    shown = terminal(text)
    short = width.cut(shown, cells)
    assert width.cells(short) <= max(0, cells)
    if width.cells(shown) <= cells:
        assert short == shown
    elif cells > 0:
        assert short.endswith("…")
        assert shown.startswith(short[:-1])
        # nothing that would have fitted was cut: the next character is too wide
        assert width.cells(shown[: len(short)]) + 1 > cells or shown[: len(short)] == short


@given(ANY, st.integers(0, 60), st.booleans())
def test_fit(text: str, cells: int, right: bool) -> None:
    assert cell_len(width.fit(terminal(text), cells, right=right)) == cells


def test_fit_at_the_right() -> None:
    assert width.fit(own("12"), 4, right=True) == "  12"
    assert width.fit(own("重构"), 3) == "重…"
    assert width.fit(own("重构"), 2) == "… "


@given(ANY, st.integers(2, 30))
def test_wrap(text: str, cells: int) -> None:
    shown = terminal(text)
    lines = width.wrap(shown, cells)
    assert all(cell_len(line) <= cells for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


def test_wrap_at_blanks() -> None:
    assert width.wrap(own("one two three"), 8) == ["one two", "three"]
    assert width.wrap(own("abcdefghij"), 4) == ["abcd", "efgh", "ij"]
    assert width.wrap(own(""), 4) == [""]
