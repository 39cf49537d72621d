"""The story of a session: a row per turn, a line per event, and the state of the window now. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ctx_inspect.core.budget import Limit, forecast, limit_of, request_window, steps_of, turn_window
from ctx_inspect.core.model import (
    Confirmed,
    Estimated,
    Known,
    Ledger,
    Mark,
    MarkKind,
    Model,
    Turn,
    Unavailable,
    Why,
    Window,
)

LINES = frozenset({MarkKind.COMPACTION, MarkKind.REVERT, MarkKind.FORK, MarkKind.BRANCH, MarkKind.PRUNE, MarkKind.RELOAD})
"""Events that are a line of their own; the others stand in their turn's row."""

SETTINGS = frozenset({MarkKind.MODEL, MarkKind.THINKING, MarkKind.AGENT, MarkKind.SYSTEM})
"""Events that say with what the next request runs."""

TIER_HOW = "rebuilt from the store"


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as the timeline shows it.

    Attributes:
        turn: The turn.
        window: Tokens of its last step.
        limit: Of the model that it ended with.
        delta: Tokens against the turn before.
        tier: ``full`` or ``compacted``: whether the next request still carries its input.
        steps: Model calls.
        events: All events of the turn.
    """

    turn: Turn
    window: Known[int]
    limit: Known[Limit]
    delta: Known[int]
    tier: Known[str]
    steps: int
    events: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event that is a line of its own, after the turn that was open when it began."""

    mark: Mark


@dataclass(frozen=True, slots=True)
class Timeline:
    """A session's rows and where it stands.

    Attributes:
        rows: Turns and events, oldest first.
        turns: The turn rows alone: ``turns[n - 1]`` is turn n.
        current: Tokens in the window now.
        limit: Of the newest model.
        threshold: Where the harness compacts by itself.
        forecast: Turns left until there.
        model: The newest model.
    """

    rows: tuple[TurnRow | EventRow, ...]
    turns: tuple[TurnRow, ...]
    current: Known[int]
    limit: Known[Limit]
    threshold: Known[int]
    forecast: Known[int]
    model: Model


def timeline(ledger: Ledger, window_for: Callable[[Model], Window]) -> Timeline:
    """Compose the rows of a session.

    Args:
        ledger: The session.
        window_for: How the harness treats a model's window (:meth:`Source.window`); asked once per model.
    """
    windows: dict[Model, Window] = {}
    limits: dict[Model, Known[Limit]] = {}

    def window_of(model: Model) -> Window:
        if model not in windows:
            windows[model] = window_for(model)
            limits[model] = limit_of(windows[model].claims)
        return windows[model]

    by_turn: dict[int, list[Mark]] = {}
    for mark in ledger.marks:
        by_turn.setdefault(_row_of(mark, ledger), []).append(mark)
    carried = _carried(ledger)
    rows: list[TurnRow | EventRow] = [EventRow(_measured(m, ledger)) for m in by_turn.get(0, ()) if m.kind in LINES]
    turns: list[TurnRow] = []
    previous: Known[int] = Unavailable(Why.NOT_YET, "there is no turn before it")
    model = ledger.info.model
    for turn in ledger.turns:
        steps = steps_of(turn)
        if steps:
            model = steps[-1].model
        window = turn_window(turn)
        window_of(model)
        events = tuple(by_turn.get(turn.n, ()))
        row = TurnRow(turn, window, limits[model], _difference(previous, window), _tier(turn, carried), len(steps), events)
        turns.append(row)
        rows.append(row)
        rows.extend(EventRow(_measured(m, ledger)) for m in events if m.kind in LINES)
        previous = window
    newest = window_of(model)
    limit = limits[model]
    current = _current(ledger)
    ceiling: Known[int] = newest.threshold
    if isinstance(ceiling, Unavailable) and not isinstance(limit, Unavailable):
        ceiling = Estimated(limit.value.tokens, "the limit")
    left = forecast([t.window for t in turns], current, ceiling)
    return Timeline(tuple(rows), tuple(turns), current, limit, newest.threshold, left, model)


def _row_of(mark: Mark, ledger: Ledger) -> int:
    """Return the turn in whose row an event stands: a changed setting's is the first one that ran with it.

    Harnesses write such changes just before the next prompt, when the turn before is still the open one.
    """
    n = mark.turn or 0
    if mark.kind not in SETTINGS or not 0 < n < len(ledger.turns):
        return n
    return n if any(r.at > mark.at for r in steps_of(ledger.turns[n - 1])) else n + 1


def _measured(mark: Mark, ledger: Ledger) -> Mark:
    """Return a compaction with the windows before and after it, where the store keeps none of its own."""
    if mark.kind is not MarkKind.COMPACTION or mark.status != "succeeded" or not isinstance(mark.then, Unavailable):
        return mark
    n = mark.turn or 0
    near = [r for t in ledger.turns[max(0, n - 1) : n + 1] for r in steps_of(t)]
    then = next((w.value for r in near if r.at > mark.at and not isinstance(w := request_window(r), Unavailable)), None)
    before = mark.before
    if isinstance(before, Unavailable):
        before = next((w for r in reversed(near) if r.at <= mark.at and not isinstance(w := request_window(r), Unavailable)), before)
    if then is None or isinstance(before, Unavailable):
        return mark
    return replace(mark, before=before, then=Estimated(then, "the first request after it"))


def _difference(before: Known[int], after: Known[int]) -> Known[int]:
    if isinstance(after, Unavailable):
        return after
    if isinstance(before, Unavailable):
        return before
    change = after.value - before.value
    if isinstance(before, Estimated):
        return Estimated(change, before.how)
    if isinstance(after, Estimated):
        return Estimated(change, after.how)
    return Confirmed(change, after.by)


def _carried(ledger: Ledger) -> frozenset[str] | None:
    chain = ledger.last_chain()
    return None if chain is None else frozenset(m.row or m.id for m in chain)


def _tier(turn: Turn, carried: frozenset[str] | None) -> Known[str]:
    if carried is None:
        return Unavailable(Why.NOT_RECORDED, "what the next request carries is not known")
    return Estimated("full" if any(i in carried for i in turn.ids) else "compacted", TIER_HOW)


def _current(ledger: Ledger) -> Known[int]:
    """Tokens in the window now: the newest step's; after a compaction its own figure, else unknown (field report 24)."""
    compacted = next((m for m in reversed(ledger.marks) if m.kind is MarkKind.COMPACTION and m.status == "succeeded"), None)
    newest = [*(r for r in ledger.before if r.call), *(r for t in ledger.turns for r in steps_of(t))]
    for request in reversed(newest):
        window = request_window(request)
        if isinstance(window, Unavailable):
            continue
        if compacted is not None and compacted.at > request.at:
            if isinstance(compacted.then, Unavailable):
                return Unavailable(Why.NOT_YET, "compacted: unknown until the next response")
            return compacted.then
        return window
    return Unavailable(Why.NOT_YET, "no response has reported its usage yet")
