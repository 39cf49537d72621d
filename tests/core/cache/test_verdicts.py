"""Verdicts of a session: what each request is compared with, and what stands for a turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ctx_inspect.core.cache.model import NOT_REPORTED, Cache, CacheCode
from ctx_inspect.core.cache.verdict import Verdicts, verdicts
from ctx_inspect.core.diff.report import Flag
from ctx_inspect.core.model import Category, HiddenTurn, Ledger, Mark, MarkKind, Model, Purpose, Raw, Request, Turn, Unavailable, replace
from ctx_inspect.core.model.ledger import NO_USAGE

from tests.core.cache.made import ONE, PROMPT, TOOLS, asked, block, carried, spent, talk
from tests.core.ledgers import compaction, info, ledger

MINUTE = 60_000
SMALL = Model(Raw("zenith"), Raw("small"))


def turn(n: int, *steps: Request) -> Turn:
    return Turn(n, f"u{n}", (f"u{n}",), n * MINUTE, tuple(replace(s, step=i) for i, s in enumerate(steps, start=1)))


def sent(n: float, read: int | None, write: int | None = 0, new: int = 3, **more: Any) -> Request:
    """The request of minute ``n``."""
    return asked(f"a{n}", spent(new, read, write), at=round(n * MINUTE), **more)


def said(*turns: Turn, **more: Any) -> Verdicts:
    return verdicts(replace(ledger(*turns), **more))


def test_each_request_is_compared_with_the_one_before_it_in_time() -> None:
    found = said(turn(1, sent(1, 0, 40_000), sent(1.2, 40_000, 500)), turn(2, sent(2, 40_500, 500), sent(2.2, 0, 41_500)))
    assert [found.of(i).verdict for i in ("a1", "a1.2", "a2", "a2.2")] == [Cache.COLD, Cache.KEPT, Cache.KEPT, Cache.LOST]
    one = found.of("a2")
    assert (one.turn, one.step, one.request, one.idle_ms) == (1, 2, "a1.2", 48_000)
    assert found.of("a1").request is None


def test_requests_for_another_purpose_are_no_baseline() -> None:
    title = asked("t", spent(90, 0, 90), at=MINUTE + 1, purpose=Purpose.TITLE)
    fold = asked("c", spent(90, 0, 90_000), at=MINUTE + 2, purpose=Purpose.COMPACTION)
    found = said(turn(1, sent(1, 0, 40_000)), turn(2, sent(2, 40_000, 500)), other={0: (title,), 1: (fold,)})
    assert found.of("a2").request == "a1"
    assert found.of("a2").verdict is Cache.KEPT
    with pytest.raises(LookupError):
        found.of("t")
    shell = asked("s", at=90_000, call=False)
    assert said(turn(1, sent(1, 0, 40_000), shell), turn(2, sent(2, 40_000, 500))).of("a2").request == "a1"


def test_requests_of_turns_that_were_taken_back_count_in_time() -> None:
    hidden = HiddenTurn("u9", ("u9",), 2 * MINUTE, "reverted", requests=(sent(2, 40_000, 9_000),))
    found = said(turn(1, sent(1, 0, 40_000)), turn(2, sent(3, 40_000, 500)), hidden=(hidden,))
    late = found.of("a3")
    assert (late.turn, late.request, late.reusable, late.verdict) == (None, "a2", 49_000, Cache.PARTIAL)
    assert said(turn(1, sent(1, 0, 40_000)), turn(2, sent(3, 40_000, 500))).of("a3").verdict is Cache.KEPT
    assert found.of("a2").verdict is Cache.KEPT


def test_what_was_taken_back_is_why_the_next_request_goes_on_from_less() -> None:
    front = talk(*(f"m{n}" for n in range(20)))
    left, on = talk("left", size=9_000, base=front), talk("on", base=front)
    hidden = HiddenTurn("left", ("left",), 2 * MINUTE, "reverted", requests=(sent(2, 20_000, 9_000, context=carried((), left)),))
    mark = Mark(MarkKind.REVERT, round(2.5 * MINUTE), 1, "a1")
    first, last = sent(1, 0, 20_000, context=carried((), front)), sent(3, 20_000, 1_000, context=carried((), on))
    found = verdicts(replace(ledger(turn(1, first), turn(2, last)), hidden=(hidden,), marks=(mark,)), counter=ONE).of("a3")
    assert (found.verdict, found.request) == (Cache.PARTIAL, "a2")
    assert found.cause is not None
    assert (found.cause.code, found.cause.explained) == (CacheCode.REVERT, True)


def test_a_request_for_another_purpose_tells_that_a_cache_is_reported() -> None:
    turns = turn(1, sent(1, 0, 0, new=40_000)), turn(2, sent(2, 0, 0, new=41_000))
    assert said(*turns).of("a2").verdict is Cache.NOT_REPORTED
    title = asked("t", spent(90, 2_000, 0), at=MINUTE + 1, purpose=Purpose.TITLE)
    assert said(*turns, other={1: (title,)}).of("a2").verdict is Cache.LOST


def test_a_request_without_usage_is_stepped_over_and_that_is_said() -> None:
    failed = asked("f", NO_USAGE, at=5 * MINUTE, error="server")
    zeros = asked("z", spent(0, 0, 0), at=6 * MINUTE, error="aborted")
    found = said(turn(1, sent(1, 0, 40_000)), turn(2, failed), turn(3, zeros), turn(4, sent(7, 40_000, 500)))
    late = found.of("a7")
    assert (late.verdict, late.evidence, late.request, late.turn) == (Cache.KEPT, "estimated", "a1", 1)
    assert "reported no usage" in (late.how or "")
    assert late.idle_ms == MINUTE  # what was sent in between was cached anew, whatever became of it
    for id in ("f", "z"):
        assert (found.of(id).verdict, found.of(id).evidence) == (Cache.NOT_REPORTED, "unavailable")


def test_after_failures_alone_there_is_nothing_to_compare_with() -> None:
    failed = asked("f", NO_USAGE, at=MINUTE, error="auth")
    found = said(turn(1, failed), turn(2, sent(2, 0, 40_000)), turn(3, sent(3, 40_000, 500)))
    assert (found.of("a2").verdict, found.of("a2").evidence) == (Cache.NOT_REPORTED, "unavailable")
    assert found.of("a3").verdict is Cache.KEPT


def test_of_the_newest_turns_alone_the_first_has_no_verdict_yet() -> None:
    found = said(turn(1, sent(1, 0, 40_000)), turn(2, sent(2, 40_000, 500)), partial=True)
    assert found.of("a1").verdict is Cache.NOT_REPORTED
    assert "not read yet" in (found.of("a1").how or "")
    assert found.of("a2").verdict is Cache.KEPT


@pytest.mark.parametrize("nothing", [0, None])
def test_a_provider_that_reports_no_cache_is_no_zero(nothing: int | None) -> None:
    found = said(*(turn(n, sent(n, nothing, nothing, new=40_000 + n)) for n in range(1, 5)))
    for n in range(1, 5):
        told = found.of(f"a{n}")
        assert (told.verdict, told.evidence, told.how, told.r, told.cause) == (
            Cache.NOT_REPORTED, "unavailable", NOT_REPORTED.how, None, None,
        )  # fmt: skip


def test_of_two_providers_each_is_asked_for_itself() -> None:
    mine = [turn(1, sent(1, 0, 40_000)), turn(2, sent(2, 40_000, 500))]
    theirs = [turn(n, sent(n, 0, 0, new=41_000, model=SMALL)) for n in (3, 4)]
    found = said(*mine, *theirs)
    switch = found.of("a3")
    assert switch.verdict is Cache.LOST
    assert switch.cause is not None
    assert switch.cause.code is CacheCode.MODEL
    assert found.of("a4").verdict is Cache.NOT_REPORTED
    back = said(*mine, *theirs, turn(5, sent(5, 0, 41_000))).of("a5")
    assert back.verdict is Cache.LOST
    assert back.cause is not None
    assert back.cause.code is CacheCode.MODEL


def test_writes_are_reported_or_not_by_a_provider_in_the_whole_session() -> None:
    silent = said(turn(1, sent(1, 0, new=40_000)), turn(2, sent(2, 39_936, new=5_000)), turn(3, sent(3, 39_936, new=9_000)))
    assert [(silent.of(f"a{n}").verdict, silent.of(f"a{n}").reusable) for n in (2, 3)] == [(Cache.KEPT, 40_000), (Cache.PARTIAL, 44_936)]
    assert silent.of("a3").written is None
    writer = said(turn(1, sent(1, 0, 40_000)), turn(2, sent(2, 40_000, 0, new=5_000)), turn(3, sent(3, 40_000, 0, new=9_000)))
    assert (writer.of("a3").verdict, writer.of("a3").reusable) == (Cache.KEPT, 40_000)


def test_a_turn_is_as_well_as_its_worst_step() -> None:
    found = said(
        turn(1, sent(1, 0, 40_000), sent(1.1, 40_000, 1_000)),
        turn(2, sent(2, 41_000, 900), sent(2.1, 30_000, 900), sent(2.2, 9_000, 21_000), sent(2.3, 30_000)),
        turn(3, asked("s", call=False)),
        turn(4, sent(4, 30_000), sent(4.1, 0, 30_000), sent(4.2, 1_000, 29_000)),
    )
    assert [None if (v := found.turn(n)) is None else v.verdict for n in range(1, 5)] == [Cache.COLD, Cache.PARTIAL, None, Cache.LOST]
    assert [found.step_of(n) for n in range(1, 5)] == [1, 3, None, 2]
    with pytest.raises(LookupError):
        found.turn(5)
    for n in (1, 2, 4):
        glance, whole = found.glance_turn(n), found.turn(n)
        assert glance is not None
        assert whole is not None
        assert (glance.verdict, glance.r, glance.read, glance.reusable) == (whole.verdict, whole.r, whole.read, whole.reusable)


def test_flags_are_those_of_the_turn() -> None:
    def prompt(fp: str) -> Any:
        return carried((block("clock", fp, 2_000), *PROMPT, *TOOLS), talk("m1"))

    steps = [sent(n, 3_000 if n > 1 else 0, 60_000, context=prompt(str(n))) for n in range(1, 4)]
    session = ledger(*(turn(n, s) for n, s in enumerate(steps, start=1)))
    volatile = {(Category.SYSTEM, Raw("clock")): (Flag.VOLATILE,)}

    def flags(n: int) -> Any:
        return volatile if n == 3 else {}

    plain = said_of(session, flags)
    assert [plain(f"a{n}") for n in (2, 3)] == [(CacheCode.SYSTEM_CHANGED, "clock"), (CacheCode.VOLATILE_BLOCK, "clock")]


def said_of(session: Ledger, flags: Any) -> Callable[[str], tuple[CacheCode, str | None] | None]:
    found = verdicts(session, flags=flags, counter=ONE)

    def of(id: str) -> tuple[CacheCode, str | None] | None:
        cause = found.of(id).cause
        return None if cause is None else (cause.code, cause.item)

    return of


def test_a_session_that_grows_is_told_as_one_that_is_read_anew() -> None:
    turns = [turn(1, sent(1, 0, 40_000), sent(1.1, 40_000, 1_000)), turn(2, sent(2, 41_000, 900)), turn(3, sent(3, 9_000, 32_000))]
    more = replace(turns[2], requests=(*turns[2].requests, replace(sent(3.1, 41_000, 10), step=2)))
    states = [
        ledger(*turns[:1]), ledger(*turns[:2]), ledger(*turns), ledger(*turns[:2], more),
        ledger(*turns[:2], more, turn(4, sent(4, 0, 0, new=9_000))), ledger(*turns[:2], marks=(compaction(1, 0, after="a1.1"),)),
    ]  # fmt: skip
    before: tuple[Ledger, Verdicts] | None = None
    for state in states:
        grown, fresh = verdicts(state, before), verdicts(state)
        for t in state.turns:
            assert grown.turn(t.n) == fresh.turn(t.n)
            for r in t.requests:
                assert grown.of(r.id) == fresh.of(r.id)
        before = state, grown


def test_what_was_said_is_not_worked_out_again() -> None:
    turns = [turn(1, sent(1, 0, 40_000, context=carried())), turn(2, sent(2, 9_000, 32_000, context=carried()))]
    old = verdicts(ledger(*turns))
    first = old.of("a2")
    assert verdicts(ledger(*turns, turn(3, sent(3, 41_000))), (ledger(*turns), old)).of("a2") is first


def test_what_is_said_of_a_session_that_changed_leaves_what_was_said_before_alone() -> None:
    first = turn(1, sent(1, 0, 40_000, context=carried()))
    was, now = turn(2, sent(2, 9_000, 32_000, context=carried())), turn(2, sent(2, 40_000, 500, context=carried()))
    old = verdicts(ledger(first, was))
    said_of_it, said_of_first = old.of("a2"), old.of("a1")
    new = verdicts(ledger(first, now), (ledger(first, was), old))
    assert (said_of_it.verdict, new.of("a2").verdict) == (Cache.PARTIAL, Cache.KEPT)
    assert old.of("a2") is said_of_it
    assert new.of("a1") is said_of_first
    gone = verdicts(ledger(first), (ledger(first, now), new))
    with pytest.raises(LookupError):
        gone.of("a2")
    # a request that comes back as another object is judged anew, one that is the same is not
    assert verdicts(ledger(first, now), (ledger(first), gone)).of("a2") is not new.of("a2")


def test_a_session_without_requests() -> None:
    found = verdicts(Ledger(info()))
    with pytest.raises(LookupError):
        found.of("a1")
    with pytest.raises(LookupError):
        found.turn(1)
    assert isinstance(said(turn(1, sent(1, 0, 9_000))).of("a1").prefix, Unavailable)
