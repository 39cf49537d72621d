"""What is said while only a session's newest turns are read."""

from __future__ import annotations

from ctx_inspect.core.text.show import own
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone

NUMBER = own("…")
"""Stands for a turn's number and for numbers of turns, which only the whole session tells."""


def reading_sheet() -> Sheet:
    """Return what stands in the place of figures that need the whole session."""
    words = ("  The session is still being read.", "  What fills the window and what was sent in total is known then.")
    rows = tuple(Row((Cell((Span(own(w), Tone.DIM),)),), RowKind.NOTE) for w in words)
    return Sheet((Column(NOTHING, 0),), rows)
