"""No figure without its evidence: what nobody reported is unknown, what was worked out says so, and 0 means 0."""

from __future__ import annotations

import msgspec
import pytest
from ctx_inspect.core import budget
from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    LimitClaim,
    Mark,
    MarkKind,
    Message,
    Model,
    Part,
    PartKind,
    Raw,
    Role,
    Turn,
    Unavailable,
    Usage,
    Window,
    Witness,
    replace,
    value_of,
)
from ctx_inspect.core.model.limits import RANK_HARNESS, RANK_OVERFLOW, RANK_USER
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.sessions import session_of
from ctx_inspect.core.schema.turns import event_of, turns_of
from ctx_inspect.core.shares import Shares, shares
from ctx_inspect.core.timeline import timeline
from ctx_inspect.core.weights import Scale
from msgspec import UNSET

from .ledgers import BIG, compaction, info, ledger, step, turn, window

SMALL = Model(Raw("mock"), Raw("small"))


def harness(tokens: int, threshold: int, *more: LimitClaim) -> Window:
    return Window(
        (LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "models.json", RANK_HARNESS), *more), Estimated(threshold, "rule")
    )


def user(tokens: int, rank: int = RANK_USER) -> LimitClaim:
    return LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "[limits]", rank)


# --- thresholds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stated", [0, 6_748, 10**9])
def test_a_threshold_over_a_limit_that_nobody_believes_is_none(stated: int) -> None:
    turns = (turn(1, 10_000), turn(2, 20_000))
    alone = timeline(ledger(*turns), lambda _: harness(stated, max(0, stated - 4_000)))
    assert isinstance(alone.threshold, Unavailable)
    assert isinstance(alone.forecast, Unavailable)
    mine = timeline(ledger(*turns), lambda _: harness(stated, max(0, stated - 4_000), user(200_000)))
    assert isinstance(mine.threshold, Unavailable)
    assert value_of(mine.forecast) == 18  # to the limit that is believed


def test_a_threshold_over_another_limit_than_the_one_that_counts_is_none() -> None:
    found = timeline(ledger(turn(1, 10_000), turn(2, 20_000)), lambda _: harness(1_000_000, 980_000, user(128_000, RANK_OVERFLOW)))
    assert value_of(found.limit) == budget.Limit(128_000, "context", "[limits]")
    assert isinstance(found.threshold, Unavailable)
    assert "128,000" in found.threshold.note or "another limit" in found.threshold.note


def test_a_threshold_above_its_own_limit_is_none() -> None:
    assert isinstance(timeline(ledger(turn(1, 10_000)), lambda _: harness(200_000, 10**9)).threshold, Unavailable)
    assert value_of(timeline(ledger(turn(1, 10_000)), lambda _: harness(200_000, 183_616)).threshold) == 183_616


# --- usage ---------------------------------------------------------------------------------------------------


def used(id: str, usage: Usage, **more: object) -> object:
    return replace(step(id, None, **more), usage=Confirmed(usage, Witness.PROVIDER))  # type: ignore[arg-type]


def test_a_window_without_its_uncached_input_is_unknown() -> None:
    assert Usage(cache_read=40_000, cache_write=500).window is None
    request = used("a", Usage(cache_read=40_000, output=5))
    assert isinstance(budget.request_window(request), Unavailable)  # type: ignore[arg-type]


def test_a_window_without_cache_figures_says_so() -> None:
    found = budget.request_window(used("a", Usage(input=40_000, output=5)))  # type: ignore[arg-type]
    assert isinstance(found, Estimated)
    assert found.value == 40_000
    assert "cache" in found.how
    assert budget.request_window(step("b", 100)) == Confirmed(100, Witness.PROVIDER)


def test_sent_adds_up_only_what_was_reported() -> None:
    rows = (used("a", Usage(input=100, output=5)), used("b", Usage(input=50)), step("c", None))
    book = ledger(Turn(1, "u", ("u",), 0, rows))  # type: ignore[arg-type]
    found = budget.sent(book)
    assert (found.requests, found.input, found.output, found.cache_read, found.cache_write, found.unreported) == (3, 150, 5, None, None, 1)
    row = msgspec.to_builtins(session_of(info(), book, cleaner(False)))
    assert row["sent"] == {"requests": 3, "unreported": 1, "input": 150, "output": 5}


def test_a_session_whose_provider_reported_nothing_sent_an_unknown_amount() -> None:
    found = budget.sent(ledger(turn(1, None, None)))
    assert (found.requests, found.input, found.unreported, found.tokens) == (2, None, 2, None)
    assert budget.sent(ledger()).input is None


def test_sent_of_a_session_that_grew_is_what_all_of_it_sent() -> None:
    first = turn(1, 100)
    old = ledger(first, turn(2, None))
    new = ledger(first, turn(2, 50, None), turn(3, None))
    known = budget.sent(old)
    assert budget.sent(new, (old, known)) == budget.sent(new)
    shrunk = ledger(turn(1, None))
    assert budget.sent(shrunk, (new, budget.sent(new))) == budget.sent(shrunk)


# --- shares --------------------------------------------------------------------------------------------------


def split(*parts: Part, weighed: bool = False) -> Shares:
    context = Context(
        (), Chain(None, 0, (Message("u", Role.USER, "u", parts),)), {Category.CONVERSATION: Coverage("estimated", how="rebuilt")}
    )
    weights = Scale().weigh(context.messages) if weighed else None
    return shares(context, Confirmed(500), lambda _, size: size // 7, "bytes/7", weights)


@pytest.mark.parametrize("weighed", [False, True])
def test_what_nobody_can_count_is_no_zero(weighed: bool) -> None:
    for parts in (
        (Part(PartKind.MEDIA, "m", 900),),
        (Part(PartKind.TEXT, "t", None),),
        (Part(PartKind.MEDIA, "m"), Part(PartKind.OTHER, "o")),
    ):
        found = split(*parts, weighed=weighed)
        assert isinstance(found.shares[-1].tokens, Unavailable)
        assert found.complete is False
        assert value_of(found.rest) == 500


@pytest.mark.parametrize("weighed", [False, True])
def test_a_part_that_nobody_can_count_makes_the_split_incomplete(weighed: bool) -> None:
    found = split(Part(PartKind.TEXT, "a", 70), Part(PartKind.TEXT, "b", None), weighed=weighed)
    assert found.shares[-1].tokens == Estimated(10, "bytes/7, 1 of 2 parts not counted")
    assert found.complete is False


@pytest.mark.parametrize("weighed", [False, True])
def test_media_of_unknown_size_have_no_size(weighed: bool) -> None:
    assert split(Part(PartKind.MEDIA, "m"), weighed=weighed).media_bytes is None
    both = split(Part(PartKind.MEDIA, "m"), Part(PartKind.MEDIA, "n", 40), weighed=weighed)
    assert (both.media, both.media_bytes, both.media_unsized) == (2, 40, 1)


# --- where a session stands ----------------------------------------------------------------------------------


def test_a_window_of_an_older_step_is_no_recorded_one() -> None:
    found = timeline(ledger(turn(1, 10_000, 20_000), turn(2, None)), lambda _: window(200_000)).current
    assert found == Estimated(20_000, "newest reported: turn 1 step 2")
    same_turn = timeline(ledger(turn(1, 10_000), turn(2, 30_000, None)), lambda _: window(200_000)).current
    assert same_turn == Estimated(30_000, "newest reported: turn 2 step 1")
    newest = timeline(ledger(turn(1, 10_000), turn(2, 30_000)), lambda _: window(200_000)).current
    assert newest == Confirmed(30_000, Witness.PROVIDER)


def test_each_step_is_measured_by_the_limit_of_its_own_model() -> None:
    steps = (step("a", 30_000, 1, at=1), replace(step("b", 20_000, 2, at=2), model=SMALL))
    found = timeline(ledger(Turn(1, "u", ("u",), 0, steps)), lambda m: window(200_000 if m == BIG else 32_000))
    assert [value_of(found.limit_for(s.model)).tokens for s in steps] == [200_000, 32_000]  # type: ignore[union-attr]
    assert found.turns[0].limit.value.tokens == 32_000  # type: ignore[union-attr]


def test_a_turns_limit_is_of_the_model_that_its_window_is_of() -> None:
    steps = (step("a", 30_000, 1, at=1), replace(step("b", None, 2, at=2), model=SMALL))
    found = timeline(ledger(Turn(1, "u", ("u",), 0, steps)), lambda m: window(200_000 if m == BIG else 32_000))
    assert value_of(found.turns[0].window) == 30_000
    assert found.turns[0].limit.value.tokens == 200_000  # type: ignore[union-attr]


# --- events and times ----------------------------------------------------------------------------------------


def test_an_event_that_was_worked_out_is_estimated() -> None:
    recorded = event_of(compaction(1, 5_000), cleaner(False))
    assert (recorded.evidence, recorded.how) == ("confirmed", UNSET)
    # a word that is none of ours may be a text: it is not written
    strange = event_of(Mark(MarkKind.COMPACTION, 5_000, reason="my secret plan"), cleaner(False))
    assert strange.reason is msgspec.UNSET
    assert event_of(Mark(MarkKind.REVERT, 5_000, reason="messages deleted"), cleaner(False)).reason == "messages deleted"
    guessed = event_of(Mark(MarkKind.FORK, 5_000, how="rows older than the session"), cleaner(False))
    assert (guessed.evidence, guessed.how) == ("estimated", "rows older than the session")


def test_a_time_that_is_not_recorded_is_absent() -> None:
    bare = Turn(1, "u", ("u",), None, (step("a", 100, at=None),))  # type: ignore[arg-type]
    marks = (Mark(MarkKind.REVERT, None, 1, "a"), Mark(MarkKind.MODEL, None, 1, "a"))
    book = replace(ledger(bare, turn(2, 200), marks=marks), info=info(started=None, updated=None))
    rows = timeline(book, lambda _: window(None))
    answer = msgspec.to_builtins(turns_of(book, rows, lambda _: None, cleaner(False)))
    assert "at" not in answer["turns"][0]
    assert "at" not in answer["turns"][0]["steps"][0]
    assert all("at" not in e for t in answer["turns"] for e in t["events"])
    assert [[e["type"] for e in t["events"]] for t in answer["turns"]] == [["revert"], ["model"]]


def test_a_compaction_without_a_time_stands_after_the_request_before_it() -> None:
    before = ledger(turn(1, 90_000), marks=(compaction(1, None, after="a1.1"),))
    assert isinstance(timeline(before, lambda _: window(200_000)).current, Unavailable)
    answered = ledger(turn(1, 90_000), turn(2, 9_000), marks=(compaction(1, None, after="a1.1"),))
    assert value_of(timeline(answered, lambda _: window(200_000)).current) == 9_000


def test_the_window_before_a_compaction_is_that_of_a_request() -> None:
    book = ledger(turn(1, 90_000), turn(2, 9_000), marks=(compaction(1, 1_500),))
    (mark,) = [r.mark for r in timeline(book, lambda _: window(None)).rows if hasattr(r, "mark")]
    assert mark.before == Estimated(90_000, "the last request before it")
    assert isinstance(mark.then, Estimated)
    assert value_of(mark.then) == 9_000


def test_the_difference_of_a_compaction_is_of_two_windows_also_where_the_harness_counts_another_way() -> None:
    # Pi's own figure before a compaction holds the last answer's output too
    book = ledger(turn(1, 90_000), turn(2, 9_000), marks=(replace(compaction(1, 1_500), before=Confirmed(94_000)),))
    (mark,) = [r.mark for r in timeline(book, lambda _: window(None)).rows if hasattr(r, "mark")]
    assert mark.before == Estimated(90_000, "the last request before it")
    alone = ledger(turn(1, None), turn(2, 9_000), marks=(replace(compaction(1, 1_500), before=Confirmed(94_000)),))
    (mark,) = [r.mark for r in timeline(alone, lambda _: window(None)).rows if hasattr(r, "mark")]
    assert mark.before == Confirmed(94_000)  # no request reported one
