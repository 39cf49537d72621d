"""Lays sheets out for a width: lines of spans, measured in terminal cells, every cut cell ending in ``…``.

The pane, the plain text and the SVG all come through here, so nothing is laid out twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Protocol, TypeAlias

from ctx_inspect.core.text.show import joined, part_of, repeated, safe_join
from ctx_inspect.core.views.cells import cell_len, cut_cells, wrap_cells
from ctx_inspect.core.views.glyphs import CUT, EVENT_RULE, RULE
from ctx_inspect.core.views.sheet import Cell, Column, Row, RowKind, Sheet, Span, Tone
from msgspec import Struct

Line: TypeAlias = tuple[Span, ...]
"""One line on the screen."""

FLEXIBLE_LEAST = 8
"""A column that takes what is left gets at least so many cells, or others leave."""


class Lines(Protocol):
    """What a scrolling pane draws at one width: any number of lines, each made when it is asked for."""

    def __len__(self) -> int:
        """Return the number of lines."""
        ...

    def head(self) -> Line | None:
        """Return the line that stays at the top, if there is one."""
        ...

    def line(self, index: int) -> Line:
        """Return a line."""
        ...

    def key(self, index: int) -> Hashable | None:
        """Return what identifies the line over time; ``None`` = it cannot be selected."""
        ...

    def find(self, key: Hashable) -> int | None:
        """Return where the line of a key stands now."""
        ...


def line_width(line: Iterable[Span]) -> int:
    """Return the cells that a line takes."""
    return sum(cell_len(s.text) for s in line)


def text_of(line: Iterable[Span]) -> str:
    """Return a line's plain text."""
    return "".join(s.text for s in line)


def pad(cells: int) -> Span:
    """Return a run of blanks."""
    return Span(joined(repeated(" ", max(0, cells))))


def fit(spans: Sequence[Span], width: int, right: bool = False) -> Line:
    """Return the spans in exactly ``width`` cells: padded, or cut with ``…`` at the end.

    Args:
        spans: What stands in the cell.
        width: Cells, 0 or more.
        right: Pad at the left.
    """
    used = line_width(spans)
    if used <= width:
        if used == width:
            return tuple(spans)
        return (pad(width - used), *spans) if right else (*spans, pad(width - used))
    if width <= 0:
        return ()
    room = width - 1
    out: list[Span] = []
    last = spans[0]
    for span in spans:
        wide = cell_len(span.text)
        if wide <= room:
            if span.text:
                out.append(span)
                last = span
            room -= wide
            continue
        kept, taken = cut_cells(span.text, room)
        last = span
        out.append(Span(joined(kept, CUT), span.tone, span.strong, span.italic))
        room -= taken
        break
    else:
        out.append(Span(CUT, last.tone, last.strong, last.italic))
    return (*out, pad(room)) if room > 0 else tuple(out)


def spread(left: Sequence[Span], right: Sequence[Span], width: int, fill: Span | None = None) -> Line:
    """Return a line with something at each end. Where it is narrow, the right end goes first, then the left is cut.

    Args:
        left: At the left.
        right: At the right.
        width: Cells.
        fill: One cell that is repeated between them; a blank by default.
    """
    wide_left, wide_right = line_width(left), line_width(right)
    if wide_left + wide_right + (1 if right else 0) > width:
        right, wide_right = (), 0
    if wide_left > width:
        return fit(left, width)
    gap = width - wide_left - wide_right
    between = pad(gap) if fill is None else Span(joined(repeated(fill.text, gap)), fill.tone, fill.strong, fill.italic)
    return (*left, between, *right)


def rule(left: Sequence[Span], right: Sequence[Span], width: int, tone: Tone = Tone.DIM) -> Line:
    """Return a rule with words in it: ``─ Timeline ───── 47 turns─``."""
    end = Span(RULE, tone)
    body_left = (end, pad(1), *left, pad(1)) if left else (end,)
    body_right = (pad(1), *right, end) if right else ()
    return spread(body_left, body_right, width, Span(RULE, tone))


def event_line(spans: Sequence[Span], width: int, tone: Tone, indent: int = 2) -> Line:
    """Return a full-width dotted line with words in it."""
    words = (pad(1), Span(joined(repeated(EVENT_RULE, indent)), tone), pad(1), *spans, pad(1))
    return spread(words, (), width, Span(EVENT_RULE, tone))


def choose(columns: Sequence[Column], width: int, gap: int = 2, least: int = FLEXIBLE_LEAST) -> list[tuple[int, int]]:
    """Choose the columns that fit and their widths: they leave in their order, then what overhangs is cut.

    Args:
        columns: All columns.
        width: Cells there are.
        gap: Blank cells between columns.
        least: Cells that a column which takes what is left gets at least, or others leave.

    Returns:
        (index, cells) of each column that stays.
    """
    staying = list(range(len(columns)))

    def needed() -> int:
        return sum(columns[i].width or least for i in staying) + gap * max(0, len(staying) - 1)

    while needed() > width:
        leaving = [i for i in staying if columns[i].leaves]
        if not leaving:
            break
        staying.remove(min(leaving, key=lambda i: columns[i].leaves))
    fixed = sum(columns[i].width for i in staying) + gap * max(0, len(staying) - 1)
    flexible = [i for i in staying if not columns[i].width]
    share, extra = divmod(max(0, width - fixed), len(flexible)) if flexible else (0, 0)
    result: list[tuple[int, int]] = []
    room = width
    for i in staying:
        if room <= 0:
            break
        wide = columns[i].width
        if not wide:
            wide = share + (1 if extra > 0 else 0)
            extra -= 1
        wide = min(wide, room)
        result.append((i, wide))
        room -= wide + gap
    return result


def columns_line(cells: Sequence[Cell], columns: Sequence[Column], chosen: Sequence[tuple[int, int]], width: int, gap: int = 2) -> Line:
    """Return one row laid into the chosen columns, and blanks up to the width."""
    slack = width - sum(wide for _, wide in chosen) - gap * max(0, len(chosen) - 1)
    out: list[Span] = []
    for place, (i, wide) in enumerate(chosen):
        if place:
            out.append(pad(gap))
        if i < len(cells):
            out.extend(fit(cells[i].spans, wide, cells[i].right or columns[i].right))
        else:
            out.append(pad(wide))
    if slack > 0:
        out.append(pad(slack))
    return tuple(out)


class Laid(Struct, frozen=True):
    """A sheet at one width."""

    top: Line | None
    lines: tuple[Line, ...]
    keys: tuple[Hashable | None, ...]
    places: dict[Hashable, int]

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.lines)

    def head(self) -> Line | None:
        """Return the headings."""
        return self.top

    def line(self, index: int) -> Line:
        """Return a line."""
        return self.lines[index]

    def key(self, index: int) -> Hashable | None:
        """Return the row's key; lines of words have none."""
        return self.keys[index]

    def find(self, key: Hashable) -> int | None:
        """Return where the row of a key stands."""
        return self.places.get(key)


def lay(sheet: Sheet, width: int, gap: int = 2, least: int = FLEXIBLE_LEAST) -> Laid:
    """Lay a sheet out.

    Args:
        sheet: What to draw.
        width: Cells of each line.
        gap: Blank cells between columns.
        least: Cells of a flexible column before others leave.

    Returns:
        Its lines, each exactly ``width`` cells (a wrapped note: at most).
    """
    width = max(1, width)
    chosen = choose(sheet.columns, width, gap, least)
    top: Line | None = None
    if any(c.title for c in sheet.columns):
        cells = [Cell((Span(c.title, Tone.DIM),), c.right) for c in sheet.columns]
        top = columns_line(cells, sheet.columns, chosen, width, gap)
    lines: list[Line] = []
    keys: list[Hashable | None] = []
    for row in sheet.rows:
        made = _row(row, sheet.columns, chosen, width, gap)
        lines.extend(made)
        keys.extend([row.key] + [None] * (len(made) - 1))
    places = {k: i for i, k in enumerate(keys) if k is not None}
    return Laid(top, tuple(lines), tuple(keys), places)


def _row(row: Row, columns: Sequence[Column], chosen: Sequence[tuple[int, int]], width: int, gap: int) -> list[Line]:
    match row.kind:
        case RowKind.BLANK:
            return [(pad(width),)]
        case RowKind.EVENT:
            spans = row.cells[0].spans if row.cells else ()
            return [event_line(spans, width, spans[0].tone if spans else Tone.DIM)]
        case RowKind.NOTE:
            return wrapped(row.cells[0].spans if row.cells else (), width)
        case RowKind.ENTRY:
            return [_entry(row, columns, chosen, width, gap)]
        case RowKind.SPOKEN:
            return spoken(row.cells[0].spans, row.cells[1].spans if len(row.cells) > 1 else (), width)
        case RowKind.HEAD | RowKind.ROW:
            return [columns_line(row.cells, columns, chosen, width, gap)]


def _entry(row: Row, columns: Sequence[Column], chosen: Sequence[tuple[int, int]], width: int, gap: int) -> Line:
    """Return words over all columns but the last, which keeps its place where it is seen and there is something for it."""
    words = row.cells[0].spans
    last = row.cells[1].spans if len(row.cells) > 1 else ()
    if not chosen or chosen[-1][0] != len(columns) - 1 or not line_width(last):
        return fit(words, width)
    used = sum(wide for _, wide in chosen) + gap * (len(chosen) - 1)
    room = used - chosen[-1][1] - gap
    return (*fit(words, room), pad(gap), *fit(last, width - room - gap))


SPOKEN_HANG = 3
"""Cells that the further lines of a sentence hang in: its sign and the blanks round that."""

SPOKEN_LEAST = 30
"""Cells that a sentence keeps; where there are fewer, nothing stands at its right."""


def spoken(words: Sequence[Span], right: Sequence[Span], width: int) -> list[Line]:
    """Wrap a sentence, with something at the right end of its first line."""
    beside = line_width(right)
    room = width - beside - 3 if beside else width - 1
    if room < SPOKEN_LEAST:
        return [fit(line, width) for line in wrapped(words, max(1, width - 1), SPOKEN_HANG)]
    first, *rest = wrapped(words, room, SPOKEN_HANG)
    return [fit((*fit(first, width - beside - 1), *right), width), *(fit(line, width) for line in rest)]


def wrapped(spans: Sequence[Span], width: int, hang: int | None = None) -> list[Line]:
    """Wrap words to lines of at most ``width`` cells.

    Args:
        spans: The words.
        width: Cells of a line.
        hang: Cells that lines after the first hang in; by default as far as the first begins.
    """
    text = safe_join("", (s.text for s in spans))
    hang = len(text) - len(text.lstrip(" ")) if hang is None else hang
    if hang >= width - 4:
        hang = 0
    owner: list[Span] = [s for s in spans for _ in s.text]
    out: list[Line] = []
    for start, end in wrap_cells(text, width, hang):
        line: list[Span] = [pad(hang)] if out and hang else []
        at = start
        while at < end:
            stop = at
            while stop < end and owner[stop] is owner[at]:
                stop += 1
            mine = owner[at]
            line.append(Span(joined(part_of(text, at, stop)), mine.tone, mine.strong, mine.italic))
            at = stop
        out.append(tuple(line))
    return out or [()]


def plain(sheet: Sheet, width: int) -> list[str]:
    """Return a sheet as lines of plain text, without blanks at the ends."""
    laid = lay(sheet, width)
    lines = [laid.top, *laid.lines] if laid.top is not None else list(laid.lines)
    return [text_of(line).rstrip() for line in lines]
