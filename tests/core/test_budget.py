from __future__ import annotations

import pytest
from ctx_inspect.core import budget
from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    HiddenTurn,
    Item,
    LimitClaim,
    Message,
    Part,
    PartKind,
    Raw,
    Role,
    Unavailable,
    Usage,
    Why,
    Witness,
    value_of,
)
from ctx_inspect.core.model.limits import RANK_HARNESS, RANK_OVERFLOW, RANK_USER
from ctx_inspect.core.shares import shares

from .ledgers import ledger, step, turn, usage


def claim(tokens: int, rank: int, source: str = "x") -> LimitClaim:
    return LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", source, rank)


def test_the_limit_of_the_lowest_rank_counts() -> None:
    limit = budget.limit_of([claim(300_000, RANK_USER), claim(128_000, RANK_OVERFLOW), claim(200_000, RANK_HARNESS)])
    assert isinstance(limit, Confirmed)
    assert limit.value.tokens == 128_000


@pytest.mark.parametrize("tokens", [0, 6_748, 19_999, 3_000_001, 10**9, -1])
def test_a_limit_outside_the_believable_is_unknown(tokens: int) -> None:
    limit = budget.limit_of([claim(tokens, RANK_HARNESS, "models.json")])
    assert isinstance(limit, Unavailable)
    assert "models.json" in limit.note


@pytest.mark.parametrize("tokens", [20_000, 3_000_000])
def test_the_edges_are_believed(tokens: int) -> None:
    assert value_of(budget.limit_of([claim(0, RANK_OVERFLOW), claim(tokens, RANK_USER)])) == budget.Limit(tokens, "context", "x")


def test_a_catalogue_stays_estimated() -> None:
    limit = budget.limit_of([LimitClaim(Estimated(200_000, "catalogue"), "context", "catalogue", RANK_HARNESS)])
    assert isinstance(limit, Estimated)


def test_the_window_counts_cached_input_and_never_output() -> None:
    request = step("a", None)
    assert isinstance(budget.request_window(request), Unavailable)
    full = Usage(input=3, output=900, cache_read=43_000, cache_write=997)
    assert full.window == 44_000
    assert Usage(output=5).window is None


def test_a_turn_has_the_window_of_its_last_step() -> None:
    assert budget.turn_window(turn(1, 100, 200)) == Confirmed(200, Witness.PROVIDER)


def test_a_failed_last_step_leaves_the_newest_figure_named_as_such() -> None:
    window = budget.turn_window(turn(1, 100, 200, None))
    assert isinstance(window, Estimated)
    assert (window.value, window.how) == (200, "step 2 of 3; later ones reported none")
    assert isinstance(budget.turn_window(turn(1, None)), Unavailable)
    assert isinstance(budget.turn_window(turn(1)), Unavailable)


def test_growth_is_the_median_of_the_last_ten_turns_that_grew() -> None:
    sizes = [0, 90_000, 10, *[20 + 10 * i for i in range(11)]]
    assert value_of(budget.growth([Confirmed(s) for s in sizes])) == 10
    assert isinstance(budget.growth([Confirmed(5), Confirmed(5)]), Unavailable)


def test_the_forecast_divides_what_is_left() -> None:
    windows = [Confirmed(w) for w in (1_000, 2_000, 3_000)]
    assert value_of(budget.forecast(windows, Confirmed(3_000), Confirmed(10_500))) == 7
    assert value_of(budget.forecast(windows, Confirmed(30_000), Confirmed(10_500))) == 0
    assert isinstance(budget.forecast(windows, Confirmed(1), Unavailable(Why.UNKNOWN, "")), Unavailable)


def test_sent_counts_own_steps_once_hidden_ones_too_inherited_ones_never() -> None:
    hidden = HiddenTurn("h", ("h",), 0, "reverted", requests=(step("h1", 7),))
    book = ledger(turn(1, 100, 200), hidden=(hidden,))
    inherited = turn(2, 50)
    book = ledger(
        *book.turns,
        inherited.__class__(2, "u2", ("u2",), 0, (step("i", 50, inherited=True), step("shell", None, call=False))),
        hidden=(hidden,),
    )
    assert budget.sent(book) == budget.Sent(3, 307, 15, 0, 0, 0, (3, 3, 3, 3))


def test_shares_never_make_a_number_of_what_is_not_known() -> None:
    parts = (Part(PartKind.TEXT, "t", 70), Part(PartKind.MEDIA, "m", 1_000_000))
    context = Context(
        (Item(Category.TOOLS, Raw("read"), "f", size=35),),
        Chain(None, 0, (Message("u", Role.USER, "u", parts),)),
        {
            Category.TOOLS: Coverage("estimated", how="rebuilt"),
            Category.CONVERSATION: Coverage("estimated", how="rebuilt"),
            Category.SKILLS: Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x does not store skills"),
        },
    )
    found = shares(context, usage(100).__class__(100, Witness.PROVIDER), lambda _, size: size // 7, "bytes/7")
    by = {s.category: s for s in found.shares}
    assert by[Category.TOOLS].tokens == Estimated(5, "bytes/7")
    assert by[Category.CONVERSATION].tokens == Estimated(10, "bytes/7, 1 of 2 parts not counted")
    assert by[Category.SKILLS].tokens == Unavailable(Why.NOT_RECORDED, "OpenCode 1.x does not store skills")
    assert (found.media, found.media_bytes, found.sum, value_of(found.rest), found.complete) == (1, 1_000_000, 15, 85, False)


def test_what_cannot_be_counted_is_named() -> None:
    context = Context(
        (),
        Chain(None, 0, (Message("u", Role.USER, "u", (Part(PartKind.TEXT, "t", None),)),)),
        {Category.CONVERSATION: Coverage("estimated")},
    )
    found = shares(context, Confirmed(9), lambda _, size: size, "c")
    assert found.shares[-1].tokens == Unavailable(Why.UNKNOWN, "its size is not recorded")
