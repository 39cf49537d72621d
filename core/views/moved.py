"""What moved: items by turns. A clock is a solid row, tools that are shuffled a row of moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctx_inspect.core.diff.history import Found, MovedMap, MovedRow
from ctx_inspect.core.diff.report import ChangeKind
from ctx_inspect.core.model import Category, Raw, Shown
from ctx_inspect.core.phrases import CATEGORY_WORDS, CHANGE_SIGNS, CHANGE_TONES, FLAG_SIGN, SAME, Name
from ctx_inspect.core.text.show import joined, own, padded_left, repeated
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.gauge import TONES
from ctx_inspect.core.views.layout import Line, fit
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct

NAME_LEAST, NAME_MOST = 11, 24
"""Cells of the names; turns get the rest."""

EVERY = 4
"""Turns from one number to the next in the heading."""

ORDERS: Mapping[Category, Shown] = {
    Category.INSTRUCTIONS: own("file order"),
    Category.SKILLS: own("skill order"),
    Category.TOOLS: own("tool order"),
    Category.SETTINGS: own("settings"),
    Category.SYSTEM: own("block order"),
    Category.CONVERSATION: own("messages"),
}


def turns_in(width: int) -> int:
    """Return how many turns the map has room for."""
    return max(1, width - name_width(width) - 3)


def name_width(width: int) -> int:
    """Return the cells of the names."""
    return max(NAME_LEAST, min(NAME_MOST, width // 3))


class MovedLines(Struct, frozen=True):
    """The map at one width.

    Attributes:
        map: Items by turns; made for :func:`turns_in` turns or fewer.
        width: Cells.
        project: Paths below it are shown from there.
        selected: The turn on screen.
        name: Makes names from outside harmless.
    """

    map: MovedMap
    width: int
    project: Raw | None = None
    selected: int | None = None
    name: Name = named

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.map.rows) or 1

    def head(self) -> Line | None:
        """Return the turns' numbers."""
        return fit((Span(joined(repeated(" ", name_width(self.width) + 2), numbers(self.map.turns)), Tone.DIM),), self.width)

    def line(self, index: int) -> Line:
        """Return an item's line."""
        if not self.map.rows:
            return fit((Span(own("  nothing changed in these turns"), Tone.DIM),), self.width)
        row = self.map.rows[index]
        return fit((Span(own(" "), TONES[row.category]), *self._name(row), Span(own(" ")), *self._cells(row)), self.width)

    def key(self, index: int) -> MovedRow | None:
        """Return the item's row; nothing else can be selected."""
        return self.map.rows[index] if self.map.rows else None

    def find(self, key: object) -> int | None:
        """Return where an item's line stands."""
        for i, row in enumerate(self.map.rows):
            if isinstance(key, MovedRow) and (row.category, row.k) == (key.category, key.k):
                return i
        return None

    def _name(self, row: MovedRow) -> Line:
        room = name_width(self.width)
        if not row.k:
            return fit((Span(ORDERS[row.category]),), room)
        words = _short(row.k, self.project, self.name)
        if cells(words) > room and row.category is Category.INSTRUCTIONS:  # of a long path its end tells more
            for parts in range(row.k.count("/"), 0, -1):
                words = joined("…/", self.name(Raw("/".join(row.k.split("/")[-parts:]))))
                if cells(words) <= room:
                    break
        return fit((Span(words),), room)

    def _cells(self, row: MovedRow) -> Line:
        out: list[Span] = []
        for kind, volatile, compared, turn in zip(row.cells, row.volatile, self.map.compared, self.map.turns, strict=True):
            if kind is None:
                out.append(Span(SAME if compared else own(" "), Tone.FOCUS if turn == self.selected else Tone.DIM))
            else:
                out.append(Span(FLAG_SIGN if volatile else CHANGE_SIGNS[kind], CHANGE_TONES[kind], strong=True))
        return tuple(out)


def changes_named(changes: Sequence[Found], project: Raw | None, name: Name = named) -> Shown | None:
    """Return which items changed in a turn, in few words: ``AGENTS.md``, ``tools reordered``, ``model → fast``, ``3 items``.

    Args:
        changes: What happened, each with its category.
        project: Paths below it are shown from there.
        name: Makes names from outside harmless.
    """
    told = [(category, change) for category, change in changes if change.follows is None]
    if not told:
        return None
    category, change = told[0]
    if change.kind is ChangeKind.MOVED:
        words = joined(CATEGORY_WORDS[category], " reordered")
    elif category is Category.SETTINGS and change.after is not None and change.after.shown is not None:
        words = joined(name(change.k), " → ", name(Raw(change.after.shown.rpartition("/")[2])))
    else:
        words = joined(CHANGE_SIGNS[change.kind], " ", _short(change.k, project, name))
    return words if len(told) == 1 else joined(words, " +", len(told) - 1)


def _short(key: Raw, project: Raw | None, name: Name) -> Shown:
    base = (project or "").rstrip("/") + "/"
    return name(Raw(key[len(base) :]) if len(base) > 1 and key.startswith(base) else key)


def numbers(turns: tuple[int, ...]) -> Shown:
    """Return the numbers of turns above their cells: the newest, and others where there is room, each ending above its own."""
    if not turns:
        return own("")
    ends: dict[int, int] = {}
    place = len(turns) - 1
    while place >= 0:
        size = len(str(turns[place]))
        if place - size + 1 < 0:
            break
        ends[place] = turns[place]
        place -= max(EVERY, size + 2)
    line, at = own(""), 0
    for place in sorted(ends):
        line = joined(line, padded_left(joined(ends[place]), place + 1 - at))
        at = place + 1
    return line


def legend(width: int) -> Line:
    """Return what the signs mean."""
    spans: list[Span] = [Span(joined(" ", SAME, " same"), Tone.DIM)]
    words = {ChangeKind.ADDED: own("new"), ChangeKind.MODIFIED: own("changed"), ChangeKind.MOVED: own("moved")}
    for kind, word in words.items():
        spans += [Span(joined(" ", CHANGE_SIGNS[kind]), CHANGE_TONES[kind], strong=True), Span(joined(" ", word), Tone.DIM)]
    return fit(spans, width)
