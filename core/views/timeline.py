"""The timeline: a line per turn, events as full-width lines between them, a turn's steps under it when opened.

Made for a hundred thousand turns: nothing is kept per row but its place, and a line is made when it is drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping
from functools import lru_cache

from ctx_inspect.core.budget import Limit, request_window
from ctx_inspect.core.model import Known, Request, Unavailable, value_of
from ctx_inspect.core.text.clock import time_of_day
from ctx_inspect.core.text.show import joined, own, padded_left, repeated
from ctx_inspect.core.timeline import EventRow, Timeline, TurnRow
from ctx_inspect.core.views.drift import LETTERS, Told, cache_share, cache_span, drift_spans
from ctx_inspect.core.views.events import event_spans, event_tone, flag, step_flag, what
from ctx_inspect.core.views.figures import delta_span, known, tokens
from ctx_inspect.core.views.glyphs import BRANCH, EMPTY, LAST_BRANCH, MARKED, meter
from ctx_inspect.core.views.layout import Line, choose, columns_line, event_line, fit
from ctx_inspect.core.views.partial import NUMBER
from ctx_inspect.core.views.rail import rail_span
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Span, Tone
from ctx_inspect.core.views.turn_rows import StepKey, TurnKey, percent, rows_of_turn, step_words, turn_of

BAR, MORE_BAR = 3, 10
"""Index of the bar's column, and cells that it may grow by."""

LINES_KEPT = 500
"""Lines that are kept of one width."""

WIDE = 70
"""From this width on the bar has ten cells."""

WHAT, WHAT_LEAST = 11, 11
"""Index of the column of what happened, and the cells below which it leaves: a sign for what matters most stands instead."""

TOLD = range(7, 10)
"""Indices of the columns of what changed and of the cache: where nobody will tell it, they are not there."""

TOLD_CELLS = 20
"""Cells that they take: so much more there must be before the others spread."""

SIGN = 12
"""Index of the column that has a sign where there is no room for words."""

TIGHT = 64
"""Below this width numbers stand closer."""


class TimelineView:
    """The lines of a timeline, whatever the width.

    Attributes:
        timeline: The rows.
        opened: Numbers of the turns whose steps are shown.
        live: The session lives.
        told: What changed in each turn.
    """

    def __init__(
        self,
        timeline: Timeline,
        opened: frozenset[int] = frozenset(),
        other: Mapping[int, tuple[Request, ...]] | None = None,
        places: list[int] | None = None,
        live: bool = False,
        told: Told | None = None,
        marked: int | None = None,
        time_width: int | None = None,
    ) -> None:
        """Index the rows.

        Args:
            timeline: The rows.
            opened: Numbers of opened turns.
            other: Requests that are no step, by turn.
            places: The index of an earlier view of the same timeline, so that opening a turn costs nothing.
            live: The session lives: what is not finished runs.
            told: What changed in each turn, as far as it is ready; ``None`` = it is not told here.
            marked: The turn that others are compared with, where a person marked one.
            time_width: Cells of a time, as an earlier view of the same timeline found them.
        """
        self.timeline, self.other, self.live, self.told, self.marked = timeline, other or {}, live, told, marked
        self.opened = frozenset(n for n in opened if 0 < n <= len(timeline.turns))
        self.places = [i for i, row in enumerate(timeline.rows) if isinstance(row, TurnRow)] if places is None else places
        self._starts: list[int] = []
        self._under: list[tuple[Request, ...]] = []
        self._extra = [0]
        for n in sorted(self.opened):
            under = rows_of_turn(timeline.turns[n - 1], self.other.get(n, ()))
            self._starts.append(self.places[n - 1] + self._extra[-1])
            self._under.append(under)
            self._extra.append(self._extra[-1] + len(under))
        self._numbers = sorted(self.opened)
        self._largest: int | None = None
        if time_width is not None:
            self.time_width = time_width
            return
        first = next((t.turn.at for t in timeline.turns if t.turn.at is not None), 0)
        last = next((t.turn.at for t in reversed(timeline.turns) if t.turn.at is not None), first)
        # Where the clock may have been set back in between, times carry their offset and need room.
        self.time_width = (
            5 if last - first < 36 * 3_600_000 and len(time_of_day(last)) == len(time_of_day(first)) == 5 else _time_width(first, last)
        )

    def toggle(self, n: int, on: bool) -> TimelineView:
        """Return the view with a turn opened or closed."""
        opened = self.opened | {n} if on else self.opened - {n}
        return TimelineView(self.timeline, opened, self.other, self.places, self.live, self.told, self.marked, self.time_width)

    def tell(self, told: Told, marked: int | None) -> TimelineView:
        """Return the view with what changed in each turn, and with a marked turn."""
        return TimelineView(self.timeline, self.opened, self.other, self.places, self.live, told, marked, self.time_width)

    def under(self, n: int) -> int:
        """Return how many lines an opened turn has under it."""
        return len(self._under[self._numbers.index(n)]) if n in self.opened else 0

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.timeline.rows) + self._extra[-1]

    def at(self, index: int) -> TurnRow | EventRow | tuple[TurnRow, Request, bool]:
        """Return what stands at a line: a turn, an event, or (turn, step, whether it is its last)."""
        opened = bisect_right(self._starts, index - 1)
        if opened:
            under = self._under[opened - 1]
            inside = index - self._starts[opened - 1] - 1
            if inside < len(under):
                return self.timeline.turns[self._numbers[opened - 1] - 1], under[inside], inside == len(under) - 1
        return self.timeline.rows[index - self._extra[opened]]

    def key(self, index: int) -> Hashable | None:
        """Return the key of a line; events cannot be selected."""
        match self.at(index):
            case TurnRow(turn=turn):
                return TurnKey(turn.n)
            case EventRow():
                return None
            case (row, request, _):
                return StepKey(row.turn.n, request.id)

    def find(self, key: Hashable) -> int | None:
        """Return where a turn or step stands; a step of a closed turn is found at its turn."""
        if not isinstance(key, TurnKey | StepKey) or not 0 < key.n <= len(self.timeline.turns):
            return None
        before = bisect_right(self._numbers, key.n - 1)
        index = self.places[key.n - 1] + self._extra[before]
        if isinstance(key, StepKey) and key.n in self.opened:
            for inside, request in enumerate(self._under[self._numbers.index(key.n)]):
                if request.id == key.id:
                    return index + 1 + inside
        return index

    def largest(self) -> int:
        """Return the largest window of the session, tokens: what bars are measured by where the limit is unknown."""
        if self._largest is None:
            self._largest = max((value_of(t.window) or 0 for t in self.timeline.turns), default=0)
        return self._largest

    def sized(self, width: int) -> TimelineLines:
        """Return the lines for a width."""
        return TimelineLines(self, width)


@lru_cache(maxsize=64)
def _time_width(first: int, last: int) -> int:
    """Return 12 where some hour between two moments is shown twice by the local clock, else 5."""
    hour = 3_600_000
    span = last - first
    if span > 400 * 24 * hour:
        return 12
    moment = first - first % hour
    previous = moment
    while moment <= last:
        # a set-back clock shows as an offset in the time's text within two hours of it; looking hourly finds it
        if len(time_of_day(moment)) > 5:
            return 12
        previous, moment = moment, moment + hour
    return 12 if len(time_of_day(last)) > 5 or len(time_of_day(previous)) > 5 else 5


class TimelineLines:
    """A timeline at one width."""

    def __init__(self, view: TimelineView, width: int) -> None:
        """Choose the columns.

        Args:
            view: The rows.
            width: Cells.
        """
        self.view, self.width = view, width
        self._made: dict[int, Line] = {}
        more = 0 if view.told is None else TOLD_CELLS
        self.bar = 10 if width >= WIDE + more else 7
        self.loose = loose = width >= TIGHT + more
        number = max(4, len(str(len(view.timeline.turns))))
        based = not isinstance(view.timeline.limit, Unavailable)
        self.columns = (
            Column(NOTHING, 2),
            Column(own("turn"), number, right=True),
            Column(own("time"), view.time_width + 1, right=True, leaves=4),
            Column(own(" window" if based else " of max"), self.bar + 1, leaves=5),
            # without a limit there is no share of it: that column goes first, and the count of tokens stays
            Column(NOTHING, 4, right=True, leaves=0 if based else 1),
            Column(own("tokens"), 8 if loose else 7, right=True, leaves=3 if based else 0),
            Column(own("Δ"), 8 if loose else 7, right=True, leaves=7),
            Column(joined(" ", LETTERS), 7, leaves=8),
            Column(NOTHING, 2, right=True, leaves=9),
            Column(own("cache"), 5, leaves=6),
            Column(own("st"), 3 if loose else 2, right=True, leaves=2),
            Column(own(" what"), 0, leaves=1),
            Column(NOTHING, 1),
        )
        self.chosen = self._choose([i for i in range(len(self.columns)) if i != SIGN])
        if all(i != WHAT for i, _ in self.chosen):
            # a sign at the end says that something happened; the detail says what
            self.chosen = self._choose([i for i in range(len(self.columns)) if i != WHAT])
        slack = width - sum(wide for _, wide in self.chosen) - len(self.chosen) + 1
        if slack > 0 and any(i == BAR for i, _ in self.chosen):
            # what the columns that left do not use makes the bar longer
            self.bar += min(slack - 1, MORE_BAR)  # a blank stays at the right
            self.chosen = [(i, self.bar + 1 if i == BAR else wide) for i, wide in self.chosen]

    def _choose(self, some: list[int]) -> list[tuple[int, int]]:
        """Choose among some of the columns; see :func:`choose`."""
        some = [i for i in some if self.view.told is not None or i not in TOLD]
        return [(some[i], wide) for i, wide in choose([self.columns[i] for i in some], self.width, gap=1, least=WHAT_LEAST)]

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.view)

    def key(self, index: int) -> Hashable | None:
        """Return the key of a line."""
        return self.view.key(index)

    def find(self, key: Hashable) -> int | None:
        """Return where a key's line stands."""
        return self.view.find(key)

    def head(self) -> Line | None:
        """Return the headings."""
        return columns_line([Cell((Span(c.title, Tone.DIM),), c.right) for c in self.columns], self.columns, self.chosen, self.width, gap=1)

    def line(self, index: int) -> Line:
        """Return a line; those that were made last are kept, as each is compared with what follows it on the screen."""
        line = self._made.get(index)
        if line is None:
            if len(self._made) >= LINES_KEPT:
                self._made.clear()
            line = self._made[index] = self._make(index)
        return line

    def _make(self, index: int) -> Line:
        match self.view.at(index):
            case TurnRow() as row:
                return columns_line(self._turn(row), self.columns, self.chosen, self.width, gap=1)
            case EventRow(mark=mark):
                return fit(
                    (Span(own(" ")), *event_line(event_spans(mark, self.width >= WIDE), self.width - 1, event_tone(mark))), self.width
                )
            case (row, request, last):
                return columns_line(self._step(row, request, last), self.columns, self.chosen, self.width, gap=1)

    def _turn(self, row: TurnRow) -> list[Cell]:
        turn = row.turn
        tone = Tone.DIM if turn.inherited else Tone.TEXT
        return [
            Cell((Span(MARKED if turn.n == self.view.marked else own(" "), Tone.FOCUS, strong=True), rail_span(row.tier))),
            Cell((Span(NUMBER if self.view.timeline.partial else joined(turn.n), tone),)),
            Cell((Span(time_of_day(turn.at), Tone.DIM),)),
            Cell(self._meter(row.window, row.limit)),
            Cell((percent(row.window, row.limit),)),
            Cell((known(row.window, tokens, tone),)),
            Cell((delta_span(row.delta) if turn.n > 1 or self.view.timeline.partial else Span(NOTHING),)),
            *self._told(turn.n),
            Cell((Span(joined(row.steps), Tone.DIM),)),
            Cell((Span(own(" ")), *self._what(row))),
            Cell((flag(row),)),
        ]

    def _step(self, row: TurnRow, request: Request, last: bool) -> list[Cell]:
        window, limit = request_window(request), self.view.timeline.limit_for(request.model)
        number = joined(request.step) if request.step is not None else EMPTY
        return [
            Cell((Span(own("  ")),)),
            Cell((Span(joined(LAST_BRANCH if last else BRANCH, padded_left(number, 2)), Tone.DIM),)),
            Cell((Span(time_of_day(request.at), Tone.DIM),)),
            Cell(self._meter(window, limit, Tone.DIM)),
            Cell((percent(window, limit, Tone.DIM),)),
            Cell((known(window, tokens, Tone.DIM),)),
            Cell(),
            *self._told_of_step(request),
            Cell(),
            Cell((Span(own(" ")), *step_words(request, live=self.view.live))),
            Cell((step_flag(request),)),
        ]

    def _what(self, row: TurnRow) -> tuple[Span, ...]:
        told, newest = self.view.told, row.turn.n == len(self.view.timeline.turns)
        changed = told.named(row.turn.n) if told is not None and not self.view.timeline.partial else None
        return what(row, newest=newest, live=self.view.live, short=not self.loose, changed=changed)

    def _told(self, n: int) -> tuple[Cell, Cell, Cell]:
        """Return what changed in a turn, and its cache; blank until it is told."""
        told = self.view.told
        if told is None or self.view.timeline.partial:
            return Cell(), Cell(), Cell()
        drift = Cell((Span(own(" ")), *drift_spans(told.drift[n - 1]))) if n <= len(told.drift) else Cell()
        found = told.cache[n - 1] if n <= len(told.cache) else None
        return drift, Cell((cache_span(found),)), Cell((cache_share(found),), right=True)

    def _told_of_step(self, request: Request) -> tuple[Cell, Cell, Cell]:
        told = self.view.told
        found = told.step(request.id) if told is not None and not self.view.timeline.partial else None
        return Cell(), Cell((cache_span(found),)), Cell((cache_share(found),), right=True)

    def _meter(self, window: Known[int], limit: Known[Limit], tone: Tone = Tone.CONVERSATION) -> tuple[Span, ...]:
        n, most = value_of(window), value_of(limit)
        base = most.tokens if most is not None else self.view.largest()
        if n is None or not base:
            return (Span(joined(" ", repeated(EMPTY, self.bar)), Tone.DIM),)
        full = meter(n / base, self.bar)
        return (Span(own(" ")), Span(joined(full), tone), Span(joined(repeated(EMPTY, self.bar - len(full))), Tone.DIM))


__all__ = ["StepKey", "TimelineLines", "TimelineView", "TurnKey", "rows_of_turn", "step_words", "turn_of"]
