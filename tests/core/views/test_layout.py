from __future__ import annotations

import pytest
from ctx_inspect.core.model import Raw, Shown
from ctx_inspect.core.text.show import own, terminal
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.layout import choose, event_line, fit, lay, plain, rule, spread, text_of, wrapped
from ctx_inspect.core.views.sheet import Cell, Column, Row, RowKind, Sheet, Span, Tone


def span(text: str, tone: Tone = Tone.TEXT) -> Span:
    return Span(terminal(Raw(text)), tone)


@pytest.mark.parametrize("text", ["abcdefgh", "帮我修复登录", "a帮b我c", "e\u0301e\u0301e\u0301e\u0301e\u0301", ""])
@pytest.mark.parametrize("width", range(12))
def test_fit_is_exactly_as_wide_as_asked_and_marks_the_cut(text: str, width: int) -> None:
    line = fit((span(text),), width)
    assert cells(text_of(line)) == width
    if cells(text) > width > 0:
        assert text_of(line).rstrip().endswith("…")
    elif cells(text) <= width:
        assert text_of(line).startswith(text)


def test_fit_cuts_in_the_span_where_the_room_ends_and_keeps_its_tone() -> None:
    line = fit((span("abc"), span("def", Tone.ALERT), span("ghi")), 5)
    assert text_of(line) == "abcd…"
    assert line[-1].tone is Tone.ALERT


def test_fit_between_two_spans_still_marks_the_cut() -> None:
    assert text_of(fit((span("abc"), span("def")), 4)) == "abc…"
    assert text_of(fit((span("abc"), span("def")), 3)) == "ab…"


def test_a_wide_character_that_does_not_fit_leaves_a_blank() -> None:
    assert text_of(fit((span("ab帮我"),), 4)) == "ab… "


def test_right_cells_stand_at_the_right() -> None:
    assert text_of(fit((span("7"),), 3, right=True)) == "  7"


def test_columns_leave_in_their_order() -> None:
    columns = [Column(own("a"), 4), Column(own("b"), 4, leaves=2), Column(own("c"), 4, leaves=1)]
    assert [i for i, _ in choose(columns, 16, 2)] == [0, 1, 2]
    assert [i for i, _ in choose(columns, 15, 2)] == [0, 1]
    assert [i for i, _ in choose(columns, 9, 2)] == [0]


def test_what_cannot_leave_is_cut_at_the_edge() -> None:
    assert choose([Column(own("a"), 4), Column(own("b"), 9)], 10, 2) == [(0, 4), (1, 4)]
    assert choose([Column(own("a"), 9), Column(own("b"), 9)], 5, 2) == [(0, 5)]


def test_flexible_columns_share_what_is_left() -> None:
    assert choose([Column(own("a")), Column(own("b")), Column(own("c"), 3)], 30, 1) == [(0, 13), (1, 12), (2, 3)]


@pytest.mark.parametrize("width", [2, 5, 10, 20, 40, 80, 200])
def test_every_line_of_a_sheet_has_its_width(width: int) -> None:
    long = Cell((span("帮我修复登录 and then some more words that do not fit"),))
    sheet = Sheet(
        (Column(own("first"), 12), Column(own("second"), 0), Column(own("third"), 8, right=True, leaves=1)),
        (
            Row((long, long, long), key=1),
            Row((long,), RowKind.NOTE),
            Row((long,), RowKind.EVENT),
            Row(kind=RowKind.BLANK),
            Row((long,), RowKind.HEAD),
            Row((), key=2),
        ),
    )
    laid = lay(sheet, width)
    for line in [laid.head(), *(laid.line(i) for i in range(len(laid)))]:
        assert line is not None
        assert cells(text_of(line)) <= width
    assert cells(text_of(laid.line(0))) == width
    assert laid.find(2) == len(laid) - 1
    assert laid.key(laid.find(1) or 0) == 1


def test_notes_wrap_at_blanks_and_hang_as_far_in_as_they_begin() -> None:
    lines = [text_of(line) for line in wrapped((span("  one two"), span(" three four", Tone.DIM)), 10)]
    assert lines == ["  one two", "  three", "  four"]


def test_wrapping_loses_no_character_but_blanks() -> None:
    text = "帮我修复登录 " * 5 + "averyveryverylongwordthatmustbebroken end"
    for width in range(3, 30):
        joined = "".join(text_of(line) for line in wrapped((span(text),), width))
        assert joined.replace(" ", "") == text.replace(" ", "")


def test_wrapped_spans_keep_their_tones() -> None:
    lines = wrapped((span("aaa bbb", Tone.DIM), span(" ccc", Tone.ALERT)), 7)
    assert [(s.text, s.tone) for s in lines[1]] == [("ccc", Tone.ALERT)]


def test_spread_gives_up_the_right_end_first() -> None:
    assert text_of(spread((span("left"),), (span("right"),), 12)) == "left   right"
    assert text_of(spread((span("left"),), (span("right"),), 9)) == "left     "
    assert text_of(spread((span("left"),), (span("right"),), 3)) == "le…"


def test_rule_and_event_line_fill_the_width() -> None:
    assert text_of(rule((span("T"),), (span("4"),), 12)) == "─ T ───── 4─"
    assert text_of(event_line((span("reverted"),), 16, Tone.WARN)) == " ┄┄ reverted ┄┄┄"


def test_plain_has_headings_and_no_trailing_blanks() -> None:
    sheet = Sheet((Column(own("name"), 6), Column(own("n"), 3, right=True)), (Row((Cell((span("x"),)), Cell((span("1"),)))),))
    assert plain(sheet, 20) == ["name      n", "x         1"]


def test_empty_sheet() -> None:
    laid = lay(Sheet((), ()), 10)
    assert len(laid) == 0
    assert laid.head() is None
    assert laid.find("x") is None


def test_a_line_of_no_width() -> None:
    assert text_of(fit((Span(Shown("abc")),), 0)) == ""
