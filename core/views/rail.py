"""The rail: does the model still have a turn."""

from __future__ import annotations

from ctx_inspect.core.model import Known, value_of
from ctx_inspect.core.text.show import joined
from ctx_inspect.core.views.glyphs import RAIL_SHORT, RAIL_WORDS, RAILS, Rail
from ctx_inspect.core.views.layout import Line, line_width
from ctx_inspect.core.views.sheet import Span, Tone

TIERS = ("full", "compacted")
"""Tiers that a store alone can tell; trimmed and dropped come with trimming."""


def rail_span(tier: Known[str]) -> Span:
    """Return the rail's sign: does the model still have this turn."""
    name = value_of(tier)
    rail = RAILS.get(name or "", Rail.UNKNOWN)
    return Span(joined(rail.value), Tone.CONVERSATION if rail is Rail.FULL else Tone.DIM)


def rail_legend(width: int) -> Line:
    """Return what the rail's signs mean: those that can occur, in as many words as there is room for."""
    line: Line = ()
    for words in (RAIL_WORDS, RAIL_SHORT):
        out: list[Span] = []
        for name in TIERS:
            rail = RAILS[name]
            out.append(Span(joined("  " if out else " ", rail.value), Tone.CONVERSATION if rail is Rail.FULL else Tone.DIM))
            out.append(Span(joined(" ", words[name]), Tone.DIM))
        line = tuple(out)
        if line_width(line) <= width:
            return line
    return line
