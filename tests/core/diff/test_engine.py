"""A report puts together what is said of two requests: which ones, what is known of them, and what is not."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.engine import report
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.diff.report import CategoryReport, CauseKind, ChangeKind, NoBaseline, Report, State
from ctx_inspect.core.diff.tokens import StoreCounts
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import Category, Confirmed, Estimated, Ledger, MarkKind, Unavailable, replace, value_of
from ctx_inspect.core.text.tokens import BytesCounter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders.opencode import OpenCodeDB
from tests.builders.pi import PiFile, PiStore, Spent, sections, tool
from tests.core.diff.told import Store, causes
from tests.core.ledgers import context, ledger, turn
from tests.core.sources.opencode.test_rebuild import OPS
from tests.core.sources.pi.reading import opened


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def pi(tmp_path: Path) -> PiFile:
    return PiStore(tmp_path).session()


def counts(led: Ledger) -> Any:
    return StoreCounts(Measure(BytesCounter()))


def kinds(found: CategoryReport) -> list[tuple[ChangeKind, str]]:
    return [(c.kind, str(c.k)) for c in found.changes]


def states(found: Report) -> list[State]:
    return [c.state for c in found.categories]


def told(pi: PiFile) -> Ledger:
    """Two turns; before the second the instructions changed, a tool came, another was edited, and the model changed."""
    pi.system(sections(instructions={"/p/AGENTS.md": "Be brief."}), [tool("read", path="string"), tool("bash")])
    pi.turn("one", usage=Spent(1000))
    pi.system(sections(instructions={"/p/AGENTS.md": "Be brief. Be kind."}), [tool("grep"), tool("read", "Reads a file", path="string")])
    pi.model("acme", "small")
    pi.turn("two", usage=Spent(1500))
    return opened(pi)


def test_pi_all_six_categories_in_their_order(pi: PiFile) -> None:
    led = told(pi)
    found = report(led, 2)
    assert [c.category for c in found.categories] == list(Category)
    assert found.comparable
    assert (found.before and found.before.turn, found.after.turn) == (1, 2)
    assert kinds(found.category(Category.INSTRUCTIONS)) == [(ChangeKind.MODIFIED, "/p/AGENTS.md")]
    assert sorted(kinds(found.category(Category.TOOLS))) == [(ChangeKind.ADDED, "grep"), (ChangeKind.MODIFIED, "read")]
    assert kinds(found.category(Category.SETTINGS)) == [(ChangeKind.MODIFIED, "model")]
    assert found.category(Category.SYSTEM).state is State.SAME
    assert found.category(Category.CONVERSATION).state is found.conversation.kind is State.GROWTH
    assert (found.conversation.added, found.conversation.steps) == (2, 1)
    assert [m.kind for m in found.between] == [MarkKind.SYSTEM, MarkKind.MODEL]
    assert (value_of(found.window_before), value_of(found.window_after)) == (1000, 1500)


def test_pi_from_a_store_a_change_is_confirmed_and_all_else_estimated(pi: PiFile) -> None:
    found = report(told(pi), 2)
    for category in found.categories:
        assert category.coverage.grade == "estimated", category.category
        assert category.coverage.how
        assert {c.evidence for c in category.changes} <= {"confirmed"}
    assert ("request", "rebuilt from the store, not the recorded request") in found.not_recorded


def test_pi_each_category_has_tokens_and_the_sum_its_error(pi: PiFile) -> None:
    led = told(pi)
    found = report(led, 2, counts=counts(led))
    after = [value_of(c.tokens.after) for c in found.categories if c.category is not Category.SETTINGS]
    assert all(n is not None for n in after)
    assert found.estimate.sum == Estimated(sum(n or 0 for n in after), found.counter)
    assert value_of(found.estimate.provider) == 1500
    assert value_of(found.estimate.error) == pytest.approx((value_of(found.estimate.sum) or 0) / 1500 - 1)
    conversation = found.category(Category.CONVERSATION).tokens
    before, now, delta = (value_of(k) for k in (conversation.before, conversation.after, conversation.delta))
    assert delta == (now or 0) - (before or 0)
    plain = report(led, 2)
    assert isinstance(plain.estimate.sum, Unavailable)
    assert isinstance(plain.category(Category.TOOLS).tokens.after, Unavailable)


def test_opencode_what_is_not_stored_is_unavailable_with_the_reason(store: Store) -> None:
    store.s.turn("one")
    store.s.user("two", model=("mock", "other"))
    store.s.step("ok")
    led = store.ledger()
    found = report(led, 2, counts=counts(led))
    for category in (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM):
        one = found.category(category)
        assert (one.state, one.coverage.grade) == (State.UNAVAILABLE, "unavailable"), category
        assert one.coverage.note
        assert isinstance(one.tokens.delta, Unavailable)
    settings_ = found.category(Category.SETTINGS)
    assert kinds(settings_) == [(ChangeKind.MODIFIED, "model")]
    assert settings_.changes[0].evidence == "confirmed"
    assert found.conversation.coverage.grade == "estimated"
    assert isinstance(found.estimate.sum, Unavailable)
    assert isinstance(found.estimate.error, Unavailable)
    assert set(led.not_recorded) < set(found.not_recorded)


def test_the_first_turn_has_no_baseline_but_what_it_carries(pi: PiFile) -> None:
    found = report(told(pi), 1)
    assert (found.why, found.before, found.comparable) == (NoBaseline.FIRST_TURN, None, False)
    assert states(found) == [State.NO_BASELINE] * 6
    assert [c.baseline_why for c in found.categories] == [NoBaseline.FIRST_TURN] * 6
    assert (found.conversation.kind, found.conversation.causes, found.conversation.after) == (State.NO_BASELINE, (), 1)
    assert len(found.category(Category.TOOLS).after) == 2
    assert all(not c.changes and not c.before for c in found.categories)
    assert isinstance(found.window_before, Unavailable)
    assert value_of(found.window_after) == 1000


def test_a_turn_without_a_request_says_so(store: Store) -> None:
    store.s.turn("one")
    store.s.user("no reply")
    found = report(store.ledger(), 2)
    assert (found.why, found.after.request) == (NoBaseline.NOT_RECORDED, None)
    assert found.window_after == Unavailable(found.window_after.why, "no model was called in this turn")  # type: ignore[union-attr]
    assert found.cache.evidence == "unavailable"
    assert states(found) == [State.NO_BASELINE] * 6


def test_a_baseline_whose_list_is_not_known_is_named_but_not_compared() -> None:
    first, second = turn(1, 100), turn(2, 200)
    second = replace(second, requests=(replace(second.requests[0], context=context("a")),))
    found = report(ledger(first, second), 2)
    assert found.why is NoBaseline.NOT_RECORDED
    assert found.before is not None
    assert (found.before.turn, value_of(found.window_before)) == (1, 100)


def test_a_comparison_with_itself_is_empty(pi: PiFile) -> None:
    found = report(told(pi), 2, against=2)
    assert all(c.state is State.SAME and not c.changes and not c.lost for c in found.categories)
    assert (found.conversation.kind, found.between, found.conversation.steps) == (State.SAME, (), 0)


def test_against_a_later_turn_it_goes_forward_in_time(pi: PiFile) -> None:
    led = told(pi)
    forth, back = report(led, 2, against=1), report(led, 1, against=2)
    assert (back.before, back.after) == (forth.before, forth.after)
    assert (back.categories, back.conversation) == (forth.categories, forth.conversation)


def test_against_any_turn_across_a_compaction(store: Store) -> None:
    for n in range(4):
        store.s.turn(f"turn {n}")
    store.s.compact()
    store.s.turn("after")
    led = store.ledger()
    found = report(led, 5, against=2)
    assert (found.before and found.before.turn, causes(found.conversation)) == (2, [CauseKind.COMPACTION])
    assert found.conversation.steps == 3
    assert report(led, 4, against=2).conversation.kind is State.GROWTH


def test_steps_are_compared_within_their_turn(store: Store) -> None:
    store.s.turn("one")
    store.s.user("two")
    for n in range(3):
        store.s.step(f"step {n}")
    led = store.ledger()
    found = report(led, 2, step=3)
    assert found.before is not None
    assert (found.before.turn, found.before.step, found.after.turn, found.after.step) == (2, 2, 2, 3)
    assert (found.conversation.kind, found.conversation.added, found.conversation.steps) == (State.GROWTH, 1, 1)


@pytest.mark.parametrize(
    "asked",
    [
        {"turn": 0},
        {"turn": 3},
        {"turn": 1, "against": 9},
        {"turn": 2, "step": 4},
        {"turn": 2, "step": 1},
        {"turn": 2, "step": 2, "against": 1},
    ],
)
def test_what_cannot_be_compared_is_said_in_our_own_words(asked: dict[str, int]) -> None:
    led = ledger(turn(1, 100), turn(2, 100, 110))
    with pytest.raises(LookupError, match=r"there is no|no step before it|not with another turn"):
        report(led, **asked)


def test_the_limit_is_handed_through(pi: PiFile) -> None:
    led = told(pi)
    assert report(led, 2, limit=Confirmed(200_000)).limit == Confirmed(200_000)
    assert isinstance(report(led, 2).limit, Unavailable)


def test_a_tool_description_edited_each_turn_at_equal_size_is_volatile(pi: PiFile) -> None:
    pi.system(sections(), [tool("clock", "It is 10:00")])
    for n in range(1, 5):
        pi.turn(f"turn {n}")
        pi.system(None, [tool("clock", f"It is 10:0{n}")])
    led = opened(pi)
    history = History(led)
    flags = [report(led, n, history=history).category(Category.TOOLS).changes[0].flags for n in (2, 3, 4)]
    assert [[str(f) for f in found] for found in flags] == [[], [], ["volatile"]]


def test_the_order_may_be_made_before(pi: PiFile) -> None:
    led = told(pi)
    assert report(led, 2, order=Order(led)) == report(led, 2)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 40)), min_size=1, max_size=14))
def test_every_turn_of_any_history_has_a_report_that_keeps_the_rules(ops: list[tuple[str, int]]) -> None:
    """From a store nothing of a conversation but recorded events is confirmed, and a rewritten one always says why or that it is not known."""
    with tempfile.TemporaryDirectory() as folder, OpenCodeDB(Path(folder) / "opencode.db") as db:
        s = db.session()
        for name, n in ops:
            OPS[name](s, n)
        db.flush()
        led = Store.__new__(Store)
        led.db, led.s = db, s
        for row in led.ledger().turns:
            found = report(led.ledger(), row.n)
            talk = found.conversation
            assert (talk.kind is State.REWRITTEN) is bool(talk.causes)
            assert talk.coverage.grade != "confirmed"
            for cause in talk.causes:
                assert (cause.evidence == "confirmed") <= (cause.mark is not None)
                assert (cause.evidence == "unavailable") is (cause.kind is CauseKind.NOT_RECORDED)
            assert (found.before is None) <= (found.why is not None)
            if found.why is None and talk.kind is State.REWRITTEN:
                assert talk.after == talk.before - talk.removed + talk.added
