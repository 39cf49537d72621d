"""What a reader thread hands to the screen: a session, composed, frozen, in one piece."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.start import Windows, untouched
from ctx_inspect.core.budget import Sent, growth, request_window, sent, steps_of, unchanged
from ctx_inspect.core.measure import calibrated_on
from ctx_inspect.core.model import Known, Ledger, Request, Unavailable
from ctx_inspect.core.shares import Count, Shares, shares
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.timeline import STILL_READING, Timeline, TurnRow, timeline
from ctx_inspect.core.views.chart import Chart
from ctx_inspect.core.views.gauge import Gauge
from ctx_inspect.core.views.timeline import TimelineView
from ctx_inspect.core.weights import Scale
from msgspec import Struct


class Snapshot(Struct, frozen=True):
    """A session as the screen shows it.

    Attributes:
        source: Where it was read.
        ledger: The session.
        timeline: Its rows.
        view: The same, indexed for drawing.
        counter: Counts what was not counted by the provider.
        shares: The newest window by category, where it could be rebuilt.
        newest: Id of the request that ``shares`` is of.
        sent: What the session sent in total.
        rate: Tokens that a turn adds.
        chart: The windows, gathered for drawing.
        scale: Has weighed its message lists; belongs to the thread that composes.
        whole: Message lists were looked at; if not, the rail, the newest window by category and the calibration are still to come.
    """

    source: Source
    ledger: Ledger
    timeline: Timeline
    view: TimelineView
    counter: BytesCounter
    shares: Shares | None
    newest: str | None
    sent: Sent
    rate: Known[int]
    chart: Chart
    scale: Scale
    whole: bool = True

    def gauge(self, ascii_only: bool, exact: Exact | None = None) -> Gauge:
        """Return what the gauge shows.

        Args:
            ascii_only: Fill bars with category letters.
            exact: The newest request's window, counted.
        """
        if exact is not None and exact.request.id == self.newest:
            return Gauge(self.timeline, exact.shares, exact.counter, self.rate, ascii_only)
        return Gauge(self.timeline, self.shares, self.counter.name, self.rate, ascii_only)

    def row(self, n: int) -> TurnRow | None:
        """Return turn n."""
        return self.timeline.turns[n - 1] if 0 < n <= len(self.timeline.turns) else None


def compose(
    source: Source,
    ledger: Ledger,
    opened: frozenset[int] = frozenset(),
    before: Snapshot | None = None,
    limits: Callable[[Windows], Windows] = untouched,
    whole: bool = True,
) -> Snapshot:
    """Compose a session for the screen; runs in the thread that read it.

    Args:
        source: Where it was read.
        ledger: The session.
        opened: Turns whose steps are shown.
        before: What was shown of it until now: its counter stays, once it is calibrated, so that figures can be compared, and
            what has not changed since is taken over.
        limits: Puts the limits that the person has set beside the harness's own.
        whole: Look at message lists too; a long session's turns can be shown before these are made.
    """
    if before is not None and (before.ledger.partial or not before.whole or before.ledger.key != ledger.key):
        before = None
    scale = before.scale if before is not None else Scale()
    window_for = cache(limits(lambda model: source.window(model, ledger.info.id)))

    rows = timeline(ledger, window_for, None if before is None else (before.ledger, before.timeline), tiers=whole)
    newest = _newest(ledger) if whole else None
    kept = before.counter if before is not None and before.counter.name != BytesCounter().name else None
    counter = kept or (calibrated_on(ledger, scale) if whole else BytesCounter())
    parts = None
    if newest is not None and newest.context is not None:
        parts = shares(newest.context, request_window(newest), count_by(counter), counter.name, scale.weigh(newest.context.messages))
    rate = STILL_READING if ledger.partial else growth([t.window for t in rows.turns])
    return Snapshot(
        source,
        ledger,
        rows,
        TimelineView(rows, opened, ledger.other, live=ledger.info.live),
        counter,
        parts,
        newest.id if newest is not None and parts is not None else None,
        sent(ledger, None if before is None else (before.ledger, before.sent)) if whole else Sent(),
        rate,
        Chart(rows, rate),
        scale,
        whole,
    )


def standing(before: Snapshot, after: Snapshot) -> int:
    """Return how many turns in front are still the same turns; of the rest, numbers mean other turns now, or none.

    A turn that grew is the same one.
    """
    if before.ledger.key != after.ledger.key or before.ledger.partial or after.ledger.partial:
        return 0
    old, new = before.ledger.turns, after.ledger.turns
    count = unchanged(old, new)
    most = min(len(old), len(new))
    while count < most and old[count].id == new[count].id:
        count += 1
    return count


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
