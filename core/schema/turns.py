"""``turns SESSION --json``: ``ctx-inspect/turns/1``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ctx_inspect.core.budget import Limit, steps_of
from ctx_inspect.core.cache.model import CacheVerdict
from ctx_inspect.core.diff.drift import TurnDrift
from ctx_inspect.core.model import Confirmed, Estimated, Known, Ledger, Mark, Raw, Ref, Request, Unavailable, grade, value_of
from ctx_inspect.core.phrases import reason_of
from ctx_inspect.core.schema.common import (
    Clean,
    figure,
    maybe,
    model_of,
    not_recorded_of,
    problems_of,
)
from ctx_inspect.core.schema.damage import window_or_damage
from ctx_inspect.core.schema.drift import drift_of, turn_cache_of
from ctx_inspect.core.schema.turn_rows import (
    Event,
    EventTokens,
    Fault,
    Forecast,
    HiddenRow,
    LimitRow,
    Other,
    Step,
    Tier,
    Turn,
    Turns,
    Usage,
    WindowRow,
)
from ctx_inspect.core.text.clock import iso
from ctx_inspect.core.timeline import Timeline, TurnRow
from msgspec import UNSET, UnsetType

Beginning = Callable[[Sequence[Ref]], Raw | None]
"""Reads the beginning of an input; ``None`` where it cannot be read or was not asked for."""


def usage_of(request: Request) -> Usage | UnsetType:
    """Return what the provider reported; absent where it reported nothing."""
    u = value_of(request.usage)
    if u is None:
        return UNSET
    return Usage(
        input=maybe(u.input),
        output=maybe(u.output),
        reasoning=maybe(u.reasoning),
        cache_read=maybe(u.cache_read),
        cache_write=maybe(u.cache_write),
    )


def step_of(request: Request, clean: Clean) -> Step:
    """Return one row of a turn."""
    usage = value_of(request.usage)
    return Step(
        n=maybe(request.step),
        id=request.id,
        at=maybe(iso(request.at)),
        done=maybe(iso(request.done)),
        call=UNSET if request.call else False,
        agent=UNSET if request.agent is None else clean(request.agent),
        model=model_of(request.model, clean),
        attempts=maybe(value_of(request.attempts)),
        finish=maybe(request.finish),
        error=UNSET if request.error is None else Fault(request.error),
        usage=usage_of(request),
        window=UNSET if usage is None else maybe(usage.window),
        tools=[clean(t) for t in request.tools] or UNSET,
        children=list(request.children) or UNSET,
        inherited=True if request.inherited else UNSET,
    )


def _other(request: Request, clean: Clean) -> Other:
    return Other(
        purpose=request.purpose.value,
        id=request.id,
        at=maybe(iso(request.at)),
        model=model_of(request.model, clean),
        usage=usage_of(request),
    )


def event_of(mark: Mark, clean: Clean) -> Event:
    """Return an event."""
    before, after = value_of(mark.before), value_of(mark.then)
    ref = next((mark.refs[role] for role in ("request", "summary", "message", "parent", "tail") if role in mark.refs), None)
    return Event(
        type=mark.kind.value,
        reason=maybe(reason_of(mark.reason)),
        status=maybe(mark.status),
        at=maybe(iso(mark.at)),
        evidence="confirmed" if mark.how is None else "estimated",
        how=maybe(mark.how),
        by=mark.by.value,
        ref=maybe(ref if ref is not None else next(iter(mark.refs.values()), None)),
        tokens=UNSET if before is None and after is None else EventTokens(before=maybe(before), after=maybe(after)),
        counts=dict(mark.counts) or UNSET,
        detail=UNSET if mark.detail is None else clean(mark.detail),
    )


def window_of(window: Known[int], limit: Known[Limit]) -> WindowRow:
    """Return a window with its limit."""
    counted = figure(window)
    row = WindowRow(tokens=counted.tokens, evidence=counted.evidence, how=counted.how, why=counted.why)
    match limit:
        case Confirmed(value=value) | Estimated(value=value):
            how = limit.how if isinstance(limit, Estimated) else UNSET
            row.limit = LimitRow(value=value.tokens, kind=value.kind, evidence=grade(limit), source=value.source, how=how)
        case Unavailable(note=note):
            row.limit_why = note
    return row


def _tier(known: Known[str]) -> Tier | UnsetType:
    if isinstance(known, Unavailable):
        return UNSET
    how = known.how if isinstance(known, Estimated) else UNSET
    return Tier(value=known.value, evidence=grade(known), policy="harness", how=how)


class Worst(Protocol):
    """Tells the verdict of a turn's worst step (:class:`ctx_inspect.core.cache.verdict.Verdicts`)."""

    def turn(self, n: int) -> CacheVerdict | None:
        """Return the verdict; ``None`` where the turn has no primary request."""
        ...

    def step_of(self, n: int) -> int | None:
        """Return which step it is of."""
        ...


def _turn(row: TurnRow, ledger: Ledger, begin: Beginning, clean: Clean, drifts: Mapping[int, TurnDrift], verdicts: Worst | None) -> Turn:
    turn = row.turn
    steps = steps_of(turn)
    last = steps[-1] if steps else None
    text = begin(turn.input)
    drift = drifts.get(turn.n)
    verdict = None if verdicts is None else verdicts.turn(turn.n)
    return Turn(
        n=turn.n,
        id=turn.id,
        ids=list(turn.ids),
        boundary=turn.boundary,
        at=maybe(iso(turn.at)),
        agent=UNSET if last is None or last.agent is None else clean(last.agent),
        model=UNSET if last is None else model_of(last.model, clean),
        text=UNSET if text is None else clean(text),
        inherited=True if turn.inherited else UNSET,
        steps=[step_of(r, clean) for r in turn.requests],
        other=[_other(r, clean) for r in ledger.other.get(turn.n, ())],
        window=window_of(window_or_damage(row.window, turn, ledger), row.limit),
        events=[event_of(m, clean) for m in row.events],
        tier=_tier(row.tier),
        drift=UNSET if drift is None else drift_of(drift),
        cache=UNSET if verdict is None or verdicts is None else turn_cache_of(verdict, verdicts.step_of(turn.n)),
    )


def turns_of(
    ledger: Ledger, timeline: Timeline, begin: Beginning, clean: Clean, drifts: Sequence[TurnDrift] = (), verdicts: Worst | None = None
) -> Turns:
    """Return the timeline of a session.

    Args:
        ledger: The session.
        timeline: Its rows, derived from it.
        begin: Reads the beginning of each input (``--text``), or always ``None``.
        clean: What names and texts pass through.
        drifts: What changed in its turns.
        verdicts: What became of the prompt cache.
    """
    by_turn = {d.turn: d for d in drifts}
    left = timeline.forecast
    hidden: list[HiddenRow] = []
    for h in ledger.hidden:
        text = begin(h.input)
        hidden.append(
            HiddenRow(
                id=h.id,
                ids=list(h.ids),
                at=maybe(iso(h.at)),
                state=h.state,
                text=UNSET if text is None else clean(text),
                steps=[step_of(r, clean) for r in h.requests],
            )
        )
    return Turns(
        session=ledger.key,
        before=[step_of(r, clean) for r in ledger.before],
        before_other=[_other(r, clean) for r in ledger.other.get(0, ())] or UNSET,
        before_events=[event_of(m, clean) for m in ledger.marks if m.turn is None] or UNSET,
        turns=[_turn(row, ledger, begin, clean, by_turn, verdicts) for row in timeline.turns],
        hidden=hidden,
        current=figure(timeline.current),
        threshold=figure(timeline.threshold),
        forecast=Forecast(
            turns=maybe(value_of(left)),
            evidence=grade(left),
            how=left.how if isinstance(left, Estimated) else UNSET,
            why=left.note if isinstance(left, Unavailable) else UNSET,
        ),
        not_recorded=not_recorded_of(ledger),
        problems=problems_of(ledger.problems, clean),
    )
