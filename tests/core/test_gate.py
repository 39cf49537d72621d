"""Rules of ``check``: what breaks one, what nobody can tell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from ctx_inspect.core.diff.drift import NO_MOVES, Moves, TurnDrift
from ctx_inspect.core.diff.report import CauseKind, ChangeKind, NoBaseline, State
from ctx_inspect.core.gate import Finding, Rules, budget_of, gate
from ctx_inspect.core.model import (
    Category,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    HiddenTurn,
    Item,
    Known,
    Ledger,
    Raw,
    Request,
    Turn,
    Unavailable,
    Usage,
    Why,
    Witness,
    replace,
)

from tests.core.ledgers import chain, ledger, step

CONFIRMED = {c: Coverage("estimated", how="rebuilt", all=True) for c in Category}
NO_TOOLS = {**CONFIRMED, Category.TOOLS: Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x stores no tool schemas")}


def turns(*sizes: int | None, coverage: dict[Category, Coverage] | None = None) -> Ledger:
    """Turns whose tools have these bytes; ``None`` = a turn without a call."""
    made: list[Turn] = []
    for n, size in enumerate(sizes, start=1):
        items = (Item(Category.TOOLS, Raw("read"), str(size), size=size),)
        context = Context(items, chain(*(f"m{i}" for i in range(n))), coverage or CONFIRMED)
        steps = () if size is None else (step(f"a{n}", 1000, context=context), step(f"b{n}", 1000, 2, context=replace(context, items=())))
        made.append(Turn(n, f"u{n}", (f"u{n}",), n * 1000, steps))
    return ledger(*made)


def count(context: Context, category: Category) -> Known[int]:
    coverage = context.coverage[category]
    if coverage.grade == "unavailable":
        return Unavailable(Why.NOT_RECORDED, coverage.note or "")
    if category is Category.CONVERSATION:
        return Estimated(10 * len(context.messages), "ten")
    return Estimated(sum(i.size or 0 for i in context.items if i.category is category), "sizes")


def drifted(
    n: int, *states: State, why: NoBaseline | None = None, cause: CauseKind | None = None, moved: Sequence[int] = (0,) * 6
) -> TurnDrift:
    given = states or (State.SAME,) * 6
    kinds = tuple(frozenset([ChangeKind.MOVED]) if m else frozenset[ChangeKind]() for m in moved)
    counts = tuple(Moves(moved=m) if m else NO_MOVES for m in moved)
    return TurnDrift(n, given, kinds, (False,) * 6, ("estimated",) * 6, counts, why, cause)


def talked(n: int, state: State, cause: CauseKind | None = None, unexplained: CauseKind | None = None) -> TurnDrift:
    return replace(drifted(n, *(State.SAME,) * 5, state, cause=cause), unexplained=unexplained)


FIRST = drifted(1, *(State.NO_BASELINE,) * 6, why=NoBaseline.FIRST_TURN)


# the option


@pytest.mark.parametrize(
    ("word", "tokens"),
    [("tools=15k", 15_000), ("tools=15000", 15_000), ("tools=1.5k", 1500), ("tools=1.001K", 1001), ("tools=1M", 1_000_000), ("tools=0", 0)],
)
def test_budgets(word: str, tokens: int) -> None:
    assert budget_of(word) == (Category.TOOLS, tokens)


@pytest.mark.parametrize(
    "word",
    [
        "tools",
        "tools=",
        "tools=x",
        "tools=-1",
        "tools=1.5",
        "tools=1.0001k",
        "tools=1e3",
        "tools=k",
        "tool=1",
        "=1",
        "tools=²",
        "tools=1_000",
        "tools=" + "9" * 99,
    ],
)
def test_no_budget(word: str) -> None:
    with pytest.raises(ValueError):
        budget_of(word)


def test_settings_have_no_budget() -> None:
    with pytest.raises(ValueError, match="settings take no tokens"):
        budget_of("settings=1k")


def test_there_must_be_a_rule() -> None:
    assert not Rules().any
    assert Rules(max_rewrite=0.0).any
    assert Rules(budgets=((Category.TOOLS, 0),)).any
    assert [r.compares for r in (Rules(no_reorder=True), Rules(no_rewrite=True), Rules(max_rewrite=1.0))] == [True, True, False]


# budgets


def test_a_budget_is_of_the_first_request_of_each_turn() -> None:
    done = gate(turns(100, 160, 180, 170), Rules(budgets=((Category.TOOLS, 150),)), (), count)
    assert done.failures == (
        Finding("pi:s1", 3, "budget", "tools take ≈180 tokens by sizes, more than 150; 3 turns are over it", Category.TOOLS),
    )
    assert done.cannot_tell == ()


def test_a_budget_may_be_reached() -> None:
    assert gate(turns(150), Rules(budgets=((Category.TOOLS, 150),)), (), count).failures == ()
    one = gate(turns(151), Rules(budgets=((Category.TOOLS, 150),)), (), count).failures
    assert [f.message for f in one] == ["tools take ≈151 tokens by sizes, more than 150"]


def test_the_earliest_of_the_fattest_turns_is_named() -> None:
    assert [f.turn for f in gate(turns(9, 200, 200), Rules(budgets=((Category.TOOLS, 150),)), (), count).failures] == [2]


def test_a_conversation_has_a_budget_too() -> None:
    done = gate(turns(1, 1, 1), Rules(budgets=((Category.CONVERSATION, 25),)), (), count)
    assert [(f.turn, f.message) for f in done.failures] == [(3, "conversation take ≈30 tokens by ten, more than 25")]


def test_a_budget_of_what_is_not_recorded_cannot_be_told() -> None:
    done = gate(turns(1, 1, coverage=NO_TOOLS), Rules(budgets=((Category.TOOLS, 150),)), (), count)
    assert done.failures == ()
    assert done.cannot_tell == (Finding("pi:s1", 1, "budget", "tools: OpenCode 1.x stores no tool schemas (2 turns)", Category.TOOLS),)


def test_a_turn_without_a_call_has_no_budget_and_one_without_a_context_cannot_be_told() -> None:
    assert gate(turns(None), Rules(budgets=((Category.TOOLS, 1),)), (), count) == gate(turns(), Rules(), (), count)
    bare = ledger(Turn(1, "u1", ("u1",), 0, (step("a1", 5),)))
    done = gate(bare, Rules(budgets=((Category.TOOLS, 1),)), (), count)
    assert [f.message for f in done.cannot_tell] == ["tools: no request of this turn could be rebuilt from the store"]


def test_equal_items_are_counted_once() -> None:
    asked: list[int] = []
    base = turns(5)
    first = base.turns[0].requests[0].context
    assert first is not None
    steps = [step(f"a{n}", 5, context=replace(first, messages=chain("x"))) for n in range(50)]
    many = ledger(*(Turn(n, f"u{n}", (f"u{n}",), n, (s,)) for n, s in enumerate(steps, start=1)))

    def counting(context: Context, category: Category) -> Known[int]:
        asked.append(1)
        return count(context, category)

    gate(many, Rules(budgets=((Category.TOOLS, 1),)), (), counting)
    assert len(asked) == 1


# order


def test_a_moved_item_breaks_the_order() -> None:
    drifts = (FIRST, drifted(2), drifted(3, moved=(0, 0, 5, 0, 0, 0)), drifted(4, moved=(1, 0, 0, 0, 0, 0)))
    done = gate(turns(1, 1, 1, 1), Rules(no_reorder=True), drifts, count)
    assert [(f.turn, f.rule, f.category, f.message) for f in done.failures] == [
        (3, "no-reorder", Category.TOOLS, "tools reordered: 5 of them moved"),
        (4, "no-reorder", Category.INSTRUCTIONS, "instructions reordered: 1 of them moved"),
    ]
    assert done.cannot_tell == ()


def test_the_order_of_what_is_not_recorded_cannot_be_told() -> None:
    missing = drifted(2, State.SAME, State.SAME, State.UNAVAILABLE, State.SAME, State.SAME, State.SAME)
    done = gate(turns(1, 1, coverage=NO_TOOLS), Rules(no_reorder=True), (FIRST, missing), count)
    assert done.failures == ()
    assert [(f.turn, f.message) for f in done.cannot_tell] == [(2, "tools: OpenCode 1.x stores no tool schemas")]


def test_a_first_turn_has_nothing_to_change_but_another_gap_is_one() -> None:
    assert gate(turns(1), Rules(no_reorder=True, no_rewrite=True), (FIRST,), count).cannot_tell == ()
    gap = drifted(2, *(State.NO_BASELINE,) * 6, why=NoBaseline.NOT_RECORDED)
    done = gate(turns(1, 1), Rules(no_rewrite=True), (FIRST, gap), count)
    assert [(f.turn, f.message) for f in done.cannot_tell] == [(2, "conversation: no comparable baseline (not_recorded)")]


def test_rules_that_are_not_asked_are_not_applied() -> None:
    drifts = (FIRST, drifted(2, moved=(0, 0, 5, 0, 0, 0)), talked(3, State.REWRITTEN, CauseKind.NOT_RECORDED, CauseKind.NOT_RECORDED))
    assert gate(turns(1, 1, 1), Rules(), drifts, count).failures == ()
    assert [f.rule for f in gate(turns(1, 1, 1), Rules(no_rewrite=True), drifts, count).failures] == ["no-rewrite"]


# rewriting


@pytest.mark.parametrize(
    "cause", [k for k in CauseKind if k not in (CauseKind.NOT_RECORDED, CauseKind.MODEL_SWITCH, CauseKind.REMINDER_MOVED)]
)
def test_a_recorded_cause_may_rewrite(cause: CauseKind) -> None:
    assert gate(turns(1, 1), Rules(no_rewrite=True), (FIRST, talked(2, State.REWRITTEN, cause)), count).failures == ()


def test_rewriting_without_a_recorded_cause_fails() -> None:
    drifts = (
        FIRST,
        talked(2, State.GROWTH),
        talked(3, State.REWRITTEN, CauseKind.NOT_RECORDED, CauseKind.NOT_RECORDED),
        talked(4, State.REWRITTEN, CauseKind.MODEL_SWITCH, CauseKind.MODEL_SWITCH),
        talked(5, State.REWRITTEN, CauseKind.COMPACTION, CauseKind.NOT_RECORDED),
        talked(6, State.REWRITTEN, CauseKind.COMPACTION, CauseKind.MODEL_SWITCH),
    )
    done = gate(turns(1, 1, 1, 1, 1, 1), Rules(no_rewrite=True), drifts, count)
    assert [(f.turn, f.message) for f in done.failures] == [
        (3, "the conversation was rewritten and no cause is recorded"),
        (4, "the conversation was rewritten and no cause is recorded (recognised as model_switch)"),
        (5, "the conversation was rewritten and no cause is recorded for a part of it, beside compaction"),
        (6, "the conversation was rewritten and no cause is recorded for a part of it, beside compaction (recognised as model_switch)"),
    ]


# written to the cache


def spent(id: str, read: int | None, write: int | None, input: int = 0, **more: object) -> Request:
    usage = Confirmed(Usage(input=input, output=1, cache_read=read, cache_write=write), Witness.PROVIDER)
    return replace(step(id, None), usage=usage, **more)


def sent(*requests: Request, hidden: Sequence[Request] = ()) -> Ledger:
    gone = (HiddenTurn("h", ("h",), 0, "reverted", requests=tuple(hidden)),) if hidden else ()
    return ledger(Turn(1, "u1", ("u1",), 0, requests), hidden=gone)


def test_what_is_written_by_the_largest_window() -> None:
    one = sent(spent("a", 0, 1000), spent("b", 1000, 500), spent("c", 0, 1500))
    assert gate(one, Rules(max_rewrite=2.0), (), count).failures == ()
    assert gate(one, Rules(max_rewrite=1.99), (), count).failures == (
        Finding(
            "pi:s1",
            None,
            "max-rewrite",
            "3,000 tokens written to the cache, 2.00 times the largest window of 1,500; at most 1.99 are allowed",
        ),
    )


def test_reverted_requests_were_written_and_copied_ones_were_not() -> None:
    base = sent(spent("a", 0, 1000), hidden=[spent("b", 0, 900)])
    assert [f.message[:12] for f in gate(base, Rules(max_rewrite=1.5), (), count).failures] == ["1,900 tokens"]
    copied = sent(spent("a", 0, 1000), spent("b", 0, 900, inherited=True))
    assert gate(copied, Rules(max_rewrite=1.5), (), count).failures == ()


@pytest.mark.parametrize(
    ("requests", "why"),
    [
        ([spent("a", 0, 0, 100)], "the provider reports no cache figures in this session"),
        ([spent("a", None, None, 100)], "the provider reports no cache figures in this session"),
        ([spent("a", 50, 0, 100)], "the provider reports what it reads from the cache, not what it writes"),
        ([step("a", None)], "no request reported its window"),
    ],
)
def test_what_is_not_reported_cannot_be_told(requests: list[Request], why: str) -> None:
    done = gate(sent(*requests), Rules(max_rewrite=1.0), (), count)
    assert done.failures == ()
    assert [(f.turn, f.rule, f.message) for f in done.cannot_tell] == [(None, "max-rewrite", why)]


def test_where_nothing_was_sent_nothing_was_written() -> None:
    done = gate(ledger(), Rules(max_rewrite=1.0), (), count)
    assert (done.failures, done.cannot_tell) == ((), ())
