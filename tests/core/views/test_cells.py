"""Cutting and wrapping by cells, for any text."""

from __future__ import annotations

from ctx_inspect.core.text.show import own, terminal
from ctx_inspect.core.views.cells import cut_cells, wrap_cells
from ctx_inspect.core.views.layout import fit, text_of
from ctx_inspect.core.views.sheet import Span
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

ANY = st.text(st.characters(exclude_categories=()), max_size=40)


@given(ANY, st.integers(-2, 60))
def test_a_beginning_is_as_long_as_fits(text: str, room: int) -> None:
    shown = terminal(text)
    kept, taken = cut_cells(shown, room)
    assert shown.startswith(kept)
    assert cell_len(kept) == taken <= max(0, room)
    if len(kept) < len(shown) and room > 0:
        assert cell_len(shown[: len(kept) + 1]) > room


@given(ANY, st.integers(0, 60), st.booleans())
def test_a_cell_has_its_width_and_says_where_it_is_cut(text: str, width: int, right: bool) -> None:
    shown = terminal(text)
    line = text_of(fit((Span(shown),), width, right))
    assert cell_len(line) == width
    if cell_len(shown) <= width:
        assert line.strip(" ") == shown.strip(" ")
    elif width > 0:
        assert line.rstrip(" ").endswith("…")


def test_fit() -> None:
    assert text_of(fit((Span(own("12")),), 4, right=True)) == "  12"
    assert text_of(fit((Span(own("重构")),), 3)) == "重…"
    assert text_of(fit((Span(own("重构")),), 2)) == "… "


@given(ANY, st.integers(2, 30), st.integers(0, 3))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int, hang: int) -> None:
    shown = terminal(text)
    parts = [shown[a:b] for a, b in wrap_cells(shown, width, hang)]
    assert "".join(parts).replace(" ", "") == shown.replace(" ", "")
    assert all(cell_len(part) <= max(2, width - (hang if i else 0)) for i, part in enumerate(parts))


def test_wrapping_at_blanks() -> None:
    def wrapped(text: str, width: int) -> list[str]:
        return [text[a:b] for a, b in wrap_cells(terminal(text), width)]

    assert wrapped("one two three", 8) == ["one two", "three"]
    assert wrapped("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrapped("", 4) == []
