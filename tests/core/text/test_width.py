"""Widths equal to those with which the screen draws (docs/field-reports.md, 44)."""

import pytest
from ctx_inspect.core.text import width
from ctx_inspect.core.text.show import terminal
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
