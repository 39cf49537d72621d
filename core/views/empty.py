"""The screen without a session: what was looked for, where, what was found there, and what to press next."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.views.glyphs import NO, YES
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone

PLACES_SHOWN = 12


def empty_sheet(looked: Sequence[tuple[str, str, int, str | None]], keys: Sequence[tuple[str, str]]) -> Sheet:
    """Return the empty screen.

    Args:
        looked: (label, place, stores found there, why nothing) of each place where discovery looked.
        keys: (key or command, what it does), in our own words.
    """
    rows: list[Row] = [
        Row(kind=RowKind.BLANK),
        _note((Span(own(" No agent session found yet."), strong=True), Span(own(" Looked at:")))),
        Row(kind=RowKind.BLANK),
    ]
    if not looked:
        rows.append(_note((Span(own("   nothing: the sources named on the command line hold no session"), Tone.DIM),)))
    for label, place, found, why in looked[:PLACES_SHOWN]:
        sign = Span(YES, Tone.ADDED) if found else Span(NO, Tone.DIM)
        words = "no session in it yet" if found else (why or "nothing there")
        rows.append(
            Row(
                (
                    Cell((Span(own("   ")), sign, Span(joined(" ", terminal(Raw(label), 12))))),
                    Cell((Span(terminal(Raw(place), 200), Tone.DIM),)),
                    Cell((Span(terminal(Raw(words), 80), Tone.DIM),)),
                )
            )
        )
    rows += [
        Row(kind=RowKind.BLANK),
        _note((Span(own(" Start an agent in another terminal: its session appears here by itself.")),)),
        Row(kind=RowKind.BLANK),
    ]
    for key, does in keys:
        rows.append(_note((Span(said("   " + key.ljust(20)), Tone.FOCUS, strong=True), Span(said(" " + does)))))
    return Sheet((Column(NOTHING, 16), Column(NOTHING, 0), Column(NOTHING, 22, leaves=1)), tuple(rows))


def _note(spans: tuple[Span, ...]) -> Row:
    return Row((Cell(spans),), RowKind.NOTE)
