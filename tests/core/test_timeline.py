from __future__ import annotations

from ctx_inspect.core.model import Confirmed, Estimated, Mark, MarkKind, Unavailable, value_of
from ctx_inspect.core.timeline import EventRow, TurnRow, timeline

from .ledgers import compaction, context, ledger, step, turn, window


def test_events_stand_after_the_turn_that_was_open() -> None:
    marks = (Mark(MarkKind.FORK, 0), compaction(1, 1500), Mark(MarkKind.MODEL, 2000, 2), Mark(MarkKind.REVERT, 2500, 2))
    found = timeline(ledger(turn(1, 100), turn(2, 50), marks=marks), lambda _: window(200_000))
    kinds = [r.mark.kind.value if isinstance(r, EventRow) else r.turn.n for r in found.rows]
    assert kinds == ["fork", 1, "compaction", 2, "revert"]
    assert [m.kind for m in found.turns[1].events] == [MarkKind.MODEL, MarkKind.REVERT]


def test_delta_is_against_the_turn_before() -> None:
    found = timeline(ledger(turn(1, 100), turn(2, 150, 250), turn(3, None)), lambda _: window(200_000))
    assert isinstance(found.turns[0].delta, Unavailable)
    assert value_of(found.turns[1].delta) == 150
    assert isinstance(found.turns[2].delta, Unavailable)


def test_a_folded_turn_is_compacted_and_the_rest_full() -> None:
    found = timeline(ledger(turn(1, 100), turn(2, 50), now=context("u2", "a2.1")), lambda _: window(None))
    assert [value_of(r.tier) for r in found.turns] == ["compacted", "full"]
    assert all(isinstance(r.tier, Estimated) for r in found.turns)


def test_after_a_compaction_the_window_is_unknown_until_the_next_response() -> None:
    before = ledger(turn(1, 90_000), marks=(compaction(1, 5000),))
    assert isinstance(timeline(before, lambda _: window(200_000)).current, Unavailable)
    own_figure = ledger(turn(1, 90_000), marks=(compaction(1, 5000, then=Confirmed(4_000)),))
    assert value_of(timeline(own_figure, lambda _: window(200_000)).current) == 4_000
    answered = ledger(turn(1, 90_000), turn(7, 9_000), marks=(compaction(1, 5000),))
    assert value_of(timeline(answered, lambda _: window(200_000)).current) == 9_000
    failed = ledger(turn(1, 90_000), marks=(Mark(MarkKind.COMPACTION, 5000, 1, status="failed"),))
    assert value_of(timeline(failed, lambda _: window(200_000)).current) == 90_000


def test_the_forecast_aims_at_the_threshold_and_else_at_the_limit() -> None:
    turns = [turn(1, 10_000), turn(2, 20_000)]
    assert value_of(timeline(ledger(*turns), lambda _: window(200_000, 100_000)).forecast) == 8
    assert value_of(timeline(ledger(*turns), lambda _: window(200_000)).forecast) == 18
    assert isinstance(timeline(ledger(*turns), lambda _: window(None)).forecast, Unavailable)


def test_rows_without_a_model_call_are_no_steps() -> None:
    base = turn(1, 100)
    with_shell = base.__class__(1, "u1", ("u1",), 0, (*base.requests, step("shell", None, call=False)))
    found = timeline(ledger(with_shell), lambda _: window(None))
    assert isinstance(found.rows[0], TurnRow)
    assert found.turns[0].steps == 1
    assert value_of(found.turns[0].window) == 100


def test_an_empty_session_has_no_rows_and_no_guess() -> None:
    found = timeline(ledger(), lambda _: window(200_000))
    assert found.rows == ()
    assert isinstance(found.current, Unavailable)
