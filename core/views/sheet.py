"""A sheet: what a pane, the plain text and (in app) the SVG all draw, laid out once.

Views are pure functions from model to sheets; renderers turn a sheet into lines of spans for a width. A
tone names a meaning, never a colour: themes map tones to colours.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum

from ctx_inspect.core.model.evidence import Shown
from ctx_inspect.core.text.show import own
from msgspec import Struct

NOTHING = own("")


class Tone(StrEnum):
    """What a span means. A theme gives each its colour."""

    TEXT = "text"
    DIM = "dim"
    FOCUS = "focus"
    INSTRUCTIONS = "cat.instructions"
    SKILLS = "cat.skills"
    TOOLS = "cat.tools"
    SETTINGS = "cat.settings"
    SYSTEM = "cat.system"
    CONVERSATION = "cat.conversation"
    ADDED = "change.added"
    REMOVED = "change.removed"
    MODIFIED = "change.modified"
    MOVED = "change.moved"
    ALERT = "sev.alert"
    WARN = "sev.warn"


class Span(Struct, frozen=True, gc=False):
    """A run of text of one tone. Estimated values are ``italic`` and dim, headings ``strong``."""

    text: Shown
    tone: Tone = Tone.TEXT
    strong: bool = False
    italic: bool = False


class Cell(Struct, frozen=True):
    """One cell of a row."""

    spans: tuple[Span, ...] = ()
    right: bool = False


class RowKind(StrEnum):
    """How a row is drawn."""

    ROW = "row"
    HEAD = "head"
    EVENT = "event"
    """A full-width line between rows."""
    NOTE = "note"
    """A full-width line of words; wraps."""
    SPOKEN = "spoken"
    """A full-width line of words in the first cell, which wraps, and in the second what stands at the right end of its first line."""
    ENTRY = "entry"
    """A full-width line of words in the first cell, cut where it is too long, and in the second what stands in the last column."""
    BLANK = "blank"


class Row(Struct, frozen=True):
    """One row of a sheet.

    Attributes:
        cells: One per column; an event or note has one.
        kind: How it is drawn.
        key: Identifies the row over time (a turn's number, an item's key); ``None`` = cannot be selected.
    """

    cells: tuple[Cell, ...] = ()
    kind: RowKind = RowKind.ROW
    key: Hashable | None = None


class Column(Struct, frozen=True):
    """A column: its heading, its width in cells and when it goes.

    Attributes:
        title: Heading.
        width: Cells; 0 = takes what is left.
        right: Numbers stand at the right.
        leaves: Order in which columns go when it is narrow (1 first); 0 = stays.
    """

    title: Shown
    width: int = 0
    right: bool = False
    leaves: int = 0


class Sheet(Struct, frozen=True):
    """Columns and rows."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: Shown = NOTHING
    note: Shown = NOTHING
