"""All signs that the interface draws, each with a twin in ASCII of the same width.

Views write the first form; where the terminal cannot show it, :func:`ascii_twin` translates whole lines on
their way out, so no view needs to know. Only bars by category ask (:func:`fill_of`): they are told apart by
letters then.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum

from ctx_inspect.core.model.context import Category
from ctx_inspect.core.model.evidence import Shown
from ctx_inspect.core.text.show import joined, own, part_of, repeated
from ctx_inspect.core.text.width import know

CUT = own("…")
MARK = own("▌")
"""Stands before the selected row."""
RULE, EVENT_RULE, POST, POST_TOP = own("─"), own("┄"), own("│"), own("┬")
NONE = own("—")
LIVE, GONE, PROBLEM, NOTE = own("●"), own("◇"), own("▲"), own("·")
FULL, HATCH, EMPTY, TICK = own("▇"), own("░"), own("·"), own("┃")
BRANCH, LAST_BRANCH = own("├"), own("└")
CLOSED, OPENED = own("▸"), own("▾")
"""Before what is folded, and what was unfolded; views write the second as :data:`OPENED_ASCII` where it cannot be drawn."""
OPENED_ASCII = own("-")
MARKED = own("⇢")
"""Between a turn that a person marked and the one that is compared with it."""
ABOVE, BELOW = own("▴"), own("▾")
"""Say that there is more than is seen."""
YES, NO = own("✓"), own("✗")
FORECAST, DASH = own("░"), own("╌")

EIGHTHS, RISING = own("▏▎▍▌▋▊▉█"), own("▁▂▃▄▅▆▇█")


class Rail(StrEnum):
    """Whether the model still has a turn."""

    FULL = "█"
    TRIMMED = "▒"
    DROPPED = "░"
    COMPACTED = "┊"
    UNKNOWN = "?"


RAIL_WORDS: Mapping[str, Shown] = {
    "full": own("in context"),
    "trimmed": own("trimmed"),
    "dropped": own("dropped"),
    "compacted": own("compacted away"),
}
RAIL_SHORT: Mapping[str, Shown] = {"full": own("in"), "trimmed": own("cut"), "dropped": own("out"), "compacted": own("folded")}
RAILS: Mapping[str, Rail] = {"full": Rail.FULL, "trimmed": Rail.TRIMMED, "dropped": Rail.DROPPED, "compacted": Rail.COMPACTED}

LETTERS: Mapping[Category, Shown] = {
    Category.INSTRUCTIONS: own("i"),
    Category.SKILLS: own("k"),
    Category.TOOLS: own("t"),
    Category.SETTINGS: own("s"),
    Category.SYSTEM: own("y"),
    Category.CONVERSATION: own("c"),
}

_SIGNS = "…▌─┄│┬┴≈—–−●◇▲▇░·┃├└▸✓✗╌█▒┊Δ→▏▎▍▋▊▉×▁▂▃▄▅▆≥“”’‹›⇄±≋◐○◌⇢"
_TWINS = """$>--|++^---*o!#:.||`+YN-#%|d>.::==#x__--==>""'<>=&@%0c>"""
_TABLE = str.maketrans(_SIGNS, _TWINS)
know(_SIGNS + "↑↓←→⏎")  # the latter name keys: their twins are words


def ascii_twin(text: str, width_of: Mapping[str, int] | None = None) -> str:
    """Return a line in ASCII, each sign replaced by its twin; foreign letters become ``?``.

    Args:
        text: What would be drawn.
        width_of: Cells of characters that are not one cell wide, so that columns stay where they are.
    """
    if text.isascii():
        return text
    text = text.translate(_TABLE)
    if text.isascii():
        return text
    widths = width_of or {}
    return "".join(c if c.isascii() else "?" * widths.get(c, 1) for c in text)


def fill_of(category: Category, ascii_only: bool) -> Shown:
    """Return what a bar of this category is filled with: its letter where colour and blocks may be missing."""
    return LETTERS[category] if ascii_only else FULL


def needs_ascii(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the terminal asks for ASCII by itself: a locale that is not UTF-8, or the bare Linux console."""
    if environ.get("TERM") == "linux":
        return True
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return "utf-8" not in locale.lower() and "utf8" not in locale.lower()


def meter(part: float, width: int) -> Shown:
    """Return a bar of eighth blocks, ``width`` cells wide, without the empty rest.

    Args:
        part: Filled share, cut to 0…1.
        width: Cells of a full bar.
    """
    eighths = round(max(0.0, min(1.0, part)) * width * 8)
    if part > 0 and eighths == 0:
        eighths = 1
    whole, rest = divmod(eighths, 8)
    return joined(repeated("█", whole), part_of(EIGHTHS, rest - 1, rest) if rest else "")
