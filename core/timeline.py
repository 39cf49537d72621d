"""The story of a session: a row per turn, a line per event, and the state of the window now. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain

import msgspec
from ctx_inspect.core.budget import (
    Limit,
    forecast,
    limit_of,
    request_window,
    steps_of,
    threshold_of,
    unchanged,
    window_and_step,
)
from ctx_inspect.core.compacted import follows, measured
from ctx_inspect.core.model import (
    Confirmed,
    Estimated,
    Known,
    Ledger,
    Mark,
    MarkKind,
    Model,
    Request,
    Role,
    Turn,
    Unavailable,
    Why,
    Window,
    value_of,
)
from msgspec import Struct, field

LINES = frozenset({MarkKind.COMPACTION, MarkKind.REVERT, MarkKind.FORK, MarkKind.BRANCH, MarkKind.PRUNE, MarkKind.RELOAD})
"""Events that are a line of their own; the others stand in their turn's row."""

SETTINGS = frozenset({MarkKind.MODEL, MarkKind.THINKING, MarkKind.AGENT, MarkKind.SYSTEM})
"""Events that say with what the next request runs."""

TIER_HOW = "rebuilt from the store"

STILL_READING = Unavailable(Why.NOT_YET, "the session is still being read")

NOT_ASKED = Unavailable(Why.UNKNOWN, "limit unknown: no step of this session went to this model")

FIRST_TURN = Unavailable(Why.NOT_YET, "there is no turn before it")

_FULL, _COMPACTED = Estimated("full", TIER_HOW), Estimated("compacted", TIER_HOW)


class TurnRow(msgspec.Struct, frozen=True, gc=False):
    """A turn as the timeline shows it.

    Attributes:
        turn: The turn.
        window: Tokens of its last step.
        limit: Of the model that its window is of.
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


class EventRow(Struct, frozen=True):
    """An event that is a line of its own, after the turn that was open when it began."""

    mark: Mark


class Timeline(Struct, frozen=True):
    """A session's rows and where it stands.

    Attributes:
        rows: Turns and events, oldest first.
        turns: The turn rows alone: ``turns[n - 1]`` is turn n.
        current: Tokens in the window now.
        limit: Of the newest model.
        threshold: Where the harness compacts by itself, if it reckons with the limit that is believed.
        forecast: Turns left until there.
        model: The newest model.
        limits: Of every model that a step went to.
        partial: Only the newest turns: their numbers are not known yet.
    """

    rows: tuple[TurnRow | EventRow, ...]
    turns: tuple[TurnRow, ...]
    current: Known[int]
    limit: Known[Limit]
    threshold: Known[int]
    forecast: Known[int]
    model: Model
    limits: Mapping[Model, Known[Limit]] = field(default_factory=dict[Model, Known[Limit]])
    partial: bool = False

    def limit_for(self, model: Model) -> Known[Limit]:
        """Return the limit of a model that a step went to."""
        return self.limits.get(model, NOT_ASKED)


def timeline(
    ledger: Ledger, window_for: Callable[[Model], Window], before: tuple[Ledger, Timeline] | None = None, *, tiers: bool = True
) -> Timeline:
    """Compose the rows of a session.

    Args:
        ledger: The session.
        window_for: How the harness treats a model's window (:meth:`Source.window`); asked once per model.
        before: How the session was a moment ago and what was composed of it: rows of turns that are the same are taken over.
        tiers: Tell whether the model still has each turn. That needs the newest message list, which for a long session
            takes longer to make than all rows; without it the tiers are "still being read".
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
    kept = _kept(ledger, before, window_of, limits)
    rows: list[TurnRow | EventRow]
    if kept is None or before is None:
        kept = None
        carried = _carried(ledger) if tiers else None
        rows = [EventRow(measured(m, ledger)) for m in by_turn.get(0, ()) if m.kind in LINES]
        turns: list[TurnRow] = []
        model, start = ledger.info.model, 0
    else:
        start, carried = kept
        turns = list(before[1].turns[:start])
        rows = list(before[1].rows[: _place(before[1], start)])
        model = next((steps[-1].model for t in reversed(ledger.turns[:start]) if (steps := steps_of(t))), ledger.info.model)
    previous: Known[int] = turns[-1].window if turns else STILL_READING if ledger.partial else FIRST_TURN
    last: Model | None = None
    for turn in ledger.turns[start:]:
        steps = steps_of(turn)
        if steps:
            model = steps[-1].model
        for step in steps:
            if step.model is not last:
                last = step.model
                if last not in limits:
                    window_of(last)
        if model not in limits:
            window_of(model)
        window, of = window_and_step(turn)
        limit = limits[model if of is None else of.model]
        events = tuple(by_turn.get(turn.n, ()))
        row = TurnRow(
            turn, window, limit, _difference(previous, window), _tier(turn, carried, known=tiers and not ledger.partial), len(steps), events
        )
        turns.append(row)
        rows.append(row)
        if events:
            rows.extend(EventRow(measured(m, ledger)) for m in events if m.kind in LINES)
        previous = window
    newest = window_of(model)
    limit = limits[model]
    current = _current(ledger)
    threshold = ceiling = threshold_of(newest, limit)
    if isinstance(ceiling, Unavailable) and not isinstance(limit, Unavailable):
        ceiling = Estimated(limit.value.tokens, "the limit")
    left = STILL_READING if ledger.partial else forecast([t.window for t in turns], current, ceiling)
    return Timeline(tuple(rows), tuple(turns), current, limit, threshold, left, model, limits, ledger.partial)


def _kept(
    ledger: Ledger, before: tuple[Ledger, Timeline] | None, window_of: Callable[[Model], Window], limits: Mapping[Model, Known[Limit]]
) -> tuple[int, frozenset[str] | None] | None:
    """Tell how many rows of an earlier timeline still stand, and which turns' inputs the rest of them carries.

    An event may move to the turn that follows it, and is measured by that turn, so the last rows that look the same are made anew.
    """
    if before is None:
        return None
    old, line = before
    if ledger.marks[: len(old.marks)] != old.marks or ledger.partial or old.partial:
        return None
    start = min(unchanged(old.turns, ledger.turns) - 1, *(_row_of(m, ledger) - 2 for m in ledger.marks[len(old.marks) :]), len(old.turns))
    if start <= 0:
        return None
    for model, limit in line.limits.items():
        window_of(model)
        if limits[model] != limit:
            return None
    then, now = old.last_chain(), ledger.last_chain()
    if then is None or now is None:
        return (start, None) if then is now else None
    same = now.shared(then)
    if same is None:
        return None
    gone = {m.row or m.id for m in then.since(same) if m.role is Role.USER}
    come = {m.row or m.id for m in now.since(same)}
    late = {i for t in ledger.turns[start:] for i in t.ids}
    if gone - come or any(m.opens and (m.row or m.id) not in late for m in now.since(same)):
        return None
    carried = {i for row in line.turns[start:] if value_of(row.tier) == "full" for i in row.turn.ids}
    return start, frozenset(come | carried)


def _place(line: Timeline, start: int) -> int:
    """Return where the row of the turn at ``start`` lies; it is near the end."""
    wanted = line.turns[start] if start < len(line.turns) else None
    if wanted is None:
        return len(line.rows)
    return next(i for i in range(len(line.rows) - 1, -1, -1) if line.rows[i] is wanted)


def _row_of(mark: Mark, ledger: Ledger) -> int:
    """Return the turn in whose row an event stands: a changed setting's is the first one that ran with it.

    Harnesses write such changes just before the next prompt, when the turn before is still the open one.
    """
    n = mark.turn or 0
    if mark.kind not in SETTINGS or not 0 < n < len(ledger.turns):
        return n
    steps = steps_of(ledger.turns[n - 1])
    if mark.at is None:
        return n if not steps or steps[-1].id != mark.after else n + 1
    return n if any(follows(r, mark) for r in steps) else n + 1


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
    newest = ledger.last_chain()
    return None if newest is None else frozenset([m.row or m.id for m in newest.messages()])


def _tier(turn: Turn, carried: frozenset[str] | None, *, known: bool) -> Known[str]:
    if not known:
        return STILL_READING
    if carried is None:
        return Unavailable(Why.NOT_RECORDED, "what the next request carries is not known")
    return _COMPACTED if carried.isdisjoint(turn.ids) else _FULL


def _current(ledger: Ledger) -> Known[int]:
    """Tokens in the window now: the newest step's; after a compaction its own figure, else unknown.

    Where the newest step reported none (it failed, was aborted or still runs), that of an older one stands in, named as what it is.
    """
    compacted = next((m for m in reversed(ledger.marks) if m.kind is MarkKind.COMPACTION and m.status == "succeeded"), None)
    steps = ((t.n, r) for t in reversed(ledger.turns) for r in reversed(steps_of(t)))
    for back, (n, request) in enumerate(chain(steps, ((0, r) for r in reversed(ledger.before) if r.call))):
        window = request_window(request)
        if compacted is not None and not follows(request, compacted):
            # nothing after it reported a window
            if isinstance(compacted.then, Unavailable):
                return Unavailable(Why.NOT_YET, "compacted: unknown until the next response")
            return compacted.then
        if isinstance(window, Unavailable):
            continue
        return window if back == 0 else Estimated(window.value, "newest reported: " + _name(request, n, partial=ledger.partial))
    return Unavailable(Why.NOT_YET, "no response has reported its usage yet")


def _name(request: Request, turn: int, *, partial: bool) -> str:
    """Return a step in words: ``turn 11 step 3``."""
    if partial:
        return "an earlier step"
    return f"turn {turn} step {request.step}" if turn else f"step {request.step} before the first turn"
