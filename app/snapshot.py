"""What a reader thread hands to the screen: a session, composed, frozen, in one piece."""

from __future__ import annotations

from dataclasses import dataclass

from ctx_inspect.core.budget import Count, Sent, Shares, growth, request_window, sent, shares, steps_of
from ctx_inspect.core.model import Context, Known, Ledger, Model, PartKind, Request, Unavailable, Window, value_of
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.text.tokens import BytesCounter, calibrated
from ctx_inspect.core.timeline import Timeline, TurnRow, timeline
from ctx_inspect.core.views.gauge import Gauge
from ctx_inspect.core.views.timeline import TimelineView

LOOK_BACK = 10
"""Requests that the counter is calibrated on."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session as the screen shows it.

    Attributes:
        source: Where it was read.
        ledger: The session.
        timeline: Its rows.
        view: The same, indexed for drawing.
        counter: Counts what was not counted by the provider.
        shares: The newest window by category, where it could be rebuilt.
        sent: What the session sent in total.
        rate: Tokens that a turn adds.
    """

    source: Source
    ledger: Ledger
    timeline: Timeline
    view: TimelineView
    counter: BytesCounter
    shares: Shares | None
    sent: Sent
    rate: Known[int]

    def gauge(self, ascii_only: bool) -> Gauge:
        """Return what the gauge shows."""
        return Gauge(self.timeline, self.shares, self.counter.name, self.rate, ascii_only)

    def row(self, n: int) -> TurnRow | None:
        """Return turn n."""
        return self.timeline.turns[n - 1] if 0 < n <= len(self.timeline.turns) else None


def compose(source: Source, ledger: Ledger, opened: frozenset[int] = frozenset()) -> Snapshot:
    """Compose a session for the screen; runs in the thread that read it.

    Args:
        source: Where it was read.
        ledger: The session.
        opened: Turns whose steps are shown.
    """
    windows: dict[Model, Window] = {}

    def window_for(model: Model) -> Window:
        if model not in windows:
            windows[model] = source.window(model)
        return windows[model]

    rows = timeline(ledger, window_for)
    newest = _newest(ledger)
    counter = counter_of(ledger)
    parts = None
    if newest is not None and newest.context is not None:
        parts = shares(newest.context, request_window(newest), count_by(counter), counter.name)
    return Snapshot(
        source,
        ledger,
        rows,
        TimelineView(rows, opened, ledger.other),
        counter,
        parts,
        sent(ledger),
        growth([t.window for t in rows.turns]),
    )


def count_by(counter: BytesCounter) -> Count:
    """Return how contents are counted by their size alone."""
    return lambda _fp, size: counter.of_size(size)


def _newest(ledger: Ledger) -> Request | None:
    for turn in reversed(ledger.turns):
        for step in reversed(steps_of(turn)):
            if not isinstance(request_window(step), Unavailable):
                return step
    return None


def last_request(row: TurnRow) -> Request | None:
    """Return the request that a turn's window is taken from: its last one with a figure, else its last."""
    steps = steps_of(row.turn)
    for step in reversed(steps):
        if not isinstance(request_window(step), Unavailable):
            return step
    return steps[-1] if steps else None


def counter_of(ledger: Ledger) -> BytesCounter:
    """Return the estimator with this session's own ratio, where the store holds all that was sent; else the plain one."""
    pairs: list[tuple[int, int]] = []
    for turn in reversed(ledger.turns):
        if len(pairs) >= LOOK_BACK:
            break
        for step in reversed(steps_of(turn)):
            tokens = value_of(request_window(step))
            size = _size(step.context) if step.context is not None and tokens else None
            if tokens and size:
                pairs.append((size, tokens))
                break
            if step.context is not None and size is None:
                return calibrated(list(reversed(pairs)))
    return calibrated(list(reversed(pairs)))


def _size(context: Context) -> int | None:
    """Return the bytes of all that was sent, or ``None`` where a category is unavailable or a part has no size."""
    if any(c.grade == "unavailable" for c in context.coverage.values()) or not context.coverage:
        return None
    total = sum(item.size or 0 for item in context.items)
    for message in context.messages:
        for part in message.parts:
            if part.kind is PartKind.MEDIA or part.size is None:
                return None
            total += part.size
    return total
