"""The window turn by turn, as columns, with the threshold as a line and the forecast hatched."""

from __future__ import annotations

from ctx_inspect.core.model import Known, value_of
from ctx_inspect.core.text.show import Safe, joined, own, padded, padded_left, part_of, repeated
from ctx_inspect.core.timeline import Timeline
from ctx_inspect.core.views.figures import round_tokens
from ctx_inspect.core.views.gauge import merge
from ctx_inspect.core.views.glyphs import DASH, FORECAST, RISING
from ctx_inspect.core.views.layout import Line, fit, rule
from ctx_inspect.core.views.sheet import Span, Tone

AXIS = 7
"""Cells of the axis at the left."""

AHEAD = 10
"""Turns of forecast that are drawn."""

WIDEST = 3
"""Cells of one turn at most: few turns are a few bars, not a wall."""


class Chart:
    """The windows of a session, gathered once: drawing a chart of them again costs the same for ten turns or a hundred thousand.

    Attributes:
        timeline: The session.
        rate: Tokens that a turn adds.
    """

    def __init__(self, line: Timeline, rate: Known[int]) -> None:
        """Gather the windows; none are drawn before all are known."""
        self.timeline, self.rate = line, rate
        self.windows = [] if line.partial else [value_of(t.window) for t in line.turns]
        self.largest = max((w or 0 for w in self.windows), default=0)
        self._columns: dict[int, list[int | None]] = {}

    def columns(self, room: int) -> list[int | None]:
        """Return one value per column; see :func:`_columns`."""
        if room not in self._columns:
            self._columns[room] = _columns(self.windows, room)
        return self._columns[room]


def chart_lines(chart: Chart, width: int, height: int, selected: int | None = None) -> list[Line]:
    """Return the chart with its title.

    Args:
        chart: What it shows.
        width: Cells.
        height: Lines, the title included.
        selected: The selected turn, marked at the foot.
    """
    right = (Span(FORECAST, Tone.DIM), Span(own(" forecast "), Tone.DIM), Span(DASH, Tone.WARN), Span(own(" compaction"), Tone.DIM))
    out = [fit(rule((Span(own("Window by turn"), strong=True),), right, width), width)]
    rows, room = height - 2, width - AXIS - 1
    line, rate, windows = chart.timeline, chart.rate, chart.windows
    if rows < 3 or room < 10 or not chart.largest:
        return out
    limit, threshold, now = value_of(line.limit), value_of(line.threshold), value_of(line.current)
    top = limit.tokens if limit is not None else chart.largest
    ahead = min(AHEAD, room // 4) if value_of(rate) and now is not None else 0
    columns = chart.columns(room - ahead)
    future = [min(top, (now or 0) + (value_of(rate) or 0) * i) for i in range(1, ahead + 1)]
    mark_row = rows - 1 - min(rows - 1, int(rows * threshold / top)) if threshold is not None and threshold <= top else None
    chosen = range(0)
    if selected is not None and 0 < selected <= len(windows):
        chosen = _columns_of(selected - 1, len(windows), len(columns))
        # where turns share a column, the selected one shows itself
        columns = [windows[selected - 1] if i in chosen else n for i, n in enumerate(columns)]
    for r in range(rows):
        floor = (rows - 1 - r) / rows * top
        cells: list[tuple[Safe, Tone]] = []
        empty: tuple[Safe, Tone] = (DASH, Tone.WARN) if r == mark_row else (" ", Tone.TEXT)
        for i, n in enumerate([*columns, *future]):
            part = ((n or 0) - floor) / (top / rows)
            if part >= 1 / 16:
                sign = part_of(RISING, place := max(0, min(8, round(part * 8)) - 1), place + 1)
                if i < len(columns):
                    cells.append((sign, Tone.FOCUS if i in chosen else Tone.CONVERSATION))
                else:
                    cells.append((FORECAST if part >= 1 else sign, Tone.DIM))
            else:
                cells.append(empty)
        cells += [empty] * (room - len(cells))
        label = ""
        if r == 0:
            label = round_tokens(top)
        elif r == rows - 1:
            label = "0k"
        elif r == mark_row and threshold is not None:
            label = round_tokens(threshold)
        elif r == rows // 2 and (mark_row is None or abs(mark_row - r) > 1):
            label = round_tokens(top // 2)
        out.append(fit((Span(joined(padded_left(label, AXIS - 1), " "), Tone.DIM), *merge(cells)), width))
    last = joined(len(windows))
    foot = joined(padded("turn 1", max(10, len(columns) - len(last))), last)
    out.append(fit((Span(joined(repeated(" ", AXIS), foot), Tone.DIM),), width))
    return out


def _columns_of(turn: int, turns: int, columns: int) -> range:
    """Return the columns that a turn (from 0) is drawn in: all of its own, or the one that it shares."""
    if columns >= turns:
        wide = columns // turns
        return range(turn * wide, (turn + 1) * wide)
    # the last group that begins at or before it (see :func:`_columns`)
    group = next(i for i in range((turn + 1) * columns // turns, -1, -1) if i < columns and i * turns // columns <= turn)
    return range(group, group + 1)


def _columns(windows: list[int | None], room: int) -> list[int | None]:
    """Return one value per column.

    Few turns get columns of several cells; very many are drawn by the largest of each group.
    """
    n = len(windows)
    if n <= room:
        wide = max(1, min(WIDEST, room // n))
        return [w for w in windows for _ in range(wide)]
    out: list[int | None] = []
    for i in range(room):
        group = windows[i * n // room : max(i * n // room + 1, (i + 1) * n // room)]
        known = [w for w in group if w is not None]
        out.append(max(known) if known else None)
    return out
