"""What the timeline says of each turn is what its report says, also of a session that is read on while it grows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.drift import Drift, Moves, TurnDrift, drift
from ctx_inspect.core.diff.engine import report
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.diff.report import CauseKind, ChangeKind, NoBaseline, State, main_cause
from ctx_inspect.core.gate import Rules, gate
from ctx_inspect.core.model import Category, Chain, Confirmed, Ledger, Mark, MarkKind, Message, Part, PartKind, Role, Turn, replace
from ctx_inspect.core.schema.drift import drift_of
from ctx_inspect.core.sources.opencode import OpenCodeSource
from ctx_inspect.core.views.drift import drift_span
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from tests.builders.opencode import OpenCodeDB
from tests.builders.pi import Call, PiFile, PiStore, sections, tool
from tests.core.diff.contexts import context as snapshot
from tests.core.diff.contexts import items
from tests.core.diff.told import Store
from tests.core.ledgers import compaction, context, ledger, step, turn
from tests.core.sources.opencode.test_rebuild import OPS
from tests.core.sources.pi.reading import opened, source_of


def agrees(row: TurnDrift, led: Ledger, history: History) -> None:
    """Check a turn against its report."""
    found = report(led, row.turn, history=history)
    assert row.states == tuple(c.state for c in found.categories)
    assert row.why == found.why
    assert row.kinds == tuple(frozenset(c.kind for c in one.changes) for one in found.categories)
    if found.why is None:
        assert row.evidence == tuple(c.coverage.grade for c in found.categories)
        assert row.volatile == tuple(any(c.flags for c in one.changes) for one in found.categories)
        assert row.counts[-1].added == found.conversation.added
        assert row.lost == tuple(len(c.lost) for c in found.categories)
        talk = found.conversation
        kinds = [c.kind for c in talk.causes]
        assert row.cause == (main_cause(talk).kind if kinds else None)
        unsure = [k for k in kinds if k in (CauseKind.MODEL_SWITCH, CauseKind.REMINDER_MOVED, CauseKind.NOT_RECORDED)]
        assert (row.unexplained is None) == (not unsure)


def agree(led: Ledger) -> Drift:
    found = drift(led)
    assert [row.turn for row in found.turns] == [t.n for t in led.turns]
    history = History(led)
    for row in found.turns:
        agrees(row, led, history)
    return found


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 40)), min_size=1, max_size=14))
def test_opencode_it_is_what_the_reports_say(ops: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder, OpenCodeDB(Path(folder) / "opencode.db") as db:
        s = db.session()
        for name, n in ops:
            OPS[name](s, n)
        db.flush()
        agree(OpenCodeSource(db.path).open(s.id))


PI_OPS = {
    "turn": lambda s, n: s.turn(f"ask {n}"),
    "calls": lambda s, n: s.turn(f"do {n}", calls=[Call("bash", {"n": n})]),
    "agents": lambda s, n: s.system(sections(instructions={"/p/AGENTS.md": f"Be {n}."})),
    "tool": lambda s, n: s.system(None, [tool(f"t{n % 3}", f"Does {n}")]),
    "tool gone": lambda s, n: s.system(None, removed=[f"t{n % 3}"]),
    "model": lambda s, n: s.model("acme", ("large", "small")[n % 2]),
    "thinking": lambda s, n: s.thinking(("low", "high")[n % 2]),
    "compaction": lambda s, n: s.compaction(f"summary {n}"),
    "edit": lambda s, n: s.context_edit(s.entries[n % len(s.entries)]["id"], None if n % 2 else f"text {n}"),
    "back": lambda s, n: s.go(s.entries[n % len(s.entries)]["id"]),
    "failed": lambda s, n: (s.user("again"), s.assistant(error="overloaded")),
    "shell": lambda s, n: s.bash("ls", "a b"),
}


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(sorted(PI_OPS)), st.integers(0, 40)), min_size=1, max_size=16))
def test_pi_it_is_what_the_reports_say(ops: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        s = PiStore(Path(folder)).session()
        s.system(sections(), [tool("read")])
        s.turn("first")
        for name, n in ops:
            PI_OPS[name](s, n)
        agree(opened(s))


@example([("turn", 1), ("turn", 2), ("turn", 3), ("revert", 4), ("turn", 5)], [1, 2, 3])
@example([("turn", 1), ("turn", 2), ("manual", 1), ("turn", 3), ("prune", 0), ("turn", 4)], [1, 3, 4])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 40)), min_size=2, max_size=14),
    st.lists(st.integers(0, 14), max_size=5),
)
def test_said_on_it_equals_said_anew(ops: list[tuple[str, int]], looks: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder, OpenCodeDB(Path(folder) / "opencode.db") as db:
        s = db.session()
        s.turn("first")
        source = OpenCodeSource(db.path)
        held: tuple[Ledger, Drift] | None = None
        for n, (name, k) in enumerate(ops):
            OPS[name](s, k)
            if n in looks or n == len(ops) - 1:
                db.flush()
                led = source.open(s.id, held[0] if held else None)
                held = led, drift(led, held)
                assert held[1] == drift(source.open(s.id))


def test_turns_that_did_not_change_are_the_same_objects(tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    for n in range(6):
        s.turn(f"turn {n}")
    source = source_of(s)
    (info,) = source.sessions().sessions
    first = source.open(info.id)
    said = drift(first)
    s.turn("one more")
    second = source.open(info.id, first)
    again = drift(second, (first, said))
    assert [a is b for a, b in zip(said.turns, again.turns, strict=False)] == [True] * 6
    assert len(again.turns) == 7


def test_a_new_event_in_an_old_turn_is_said() -> None:
    turns = tuple(
        replace(turn(n, 100), requests=(replace(step(f"a{n}", 100, at=n * 1000), context=context(*ids)),))
        for n, ids in ((1, "a"), (2, "s"))
    )
    old = ledger(*turns)
    said = drift(old)
    assert said.turns[1].cause is CauseKind.NOT_RECORDED
    new = replace(old, marks=(compaction(1, 1500, after="a1"),))
    assert drift(new, (old, said)).turns[1].cause is CauseKind.COMPACTION


def test_what_no_event_accounts_for_is_said_beside_what_one_does() -> None:
    def asked(n: int, output: str, first: str) -> Turn:
        said = Message("u", Role.USER, first, (Part(PartKind.TEXT, first, 9),))
        made = Message("a", Role.ASSISTANT, output, (Part(PartKind.RESULT, output, 9),))
        request = replace(step(f"a{n}", 100, at=n * 1000), context=replace(context(), messages=Chain(None, 0, (said, made))))
        return replace(turn(n, 100), requests=(request,))

    prune = (Mark(MarkKind.PRUNE, 1500, 1, "a1"),)
    (_, pruned) = drift(ledger(asked(1, "long", "x"), asked(2, "short", "x"), marks=prune)).turns
    assert (pruned.cause, pruned.unexplained) == (CauseKind.PRUNE, None)
    both = ledger(asked(1, "long", "x"), asked(2, "short", "y"), marks=prune)
    found = drift(both).turns
    assert (found[1].cause, found[1].unexplained) == (CauseKind.NOT_RECORDED, CauseKind.NOT_RECORDED)
    done = gate(both, Rules(no_rewrite=True), found, lambda *_: Confirmed(0))
    assert [(f.turn, f.rule) for f in done.failures] == [(2, "no-rewrite")]


def test_order_and_history_that_are_given_are_not_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    for n in range(4):
        s.system(sections(instructions={"/p/AGENTS.md": f"Be {n}."}))
        s.turn(f"turn {n}")
    led = opened(s)
    expected, order = drift(led), Order(led)
    history = History(led, order)

    def made(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("ctx_inspect.core.diff.drift.Order", made)
    monkeypatch.setattr("ctx_inspect.core.diff.drift.History", made)
    assert drift(led, order=order, history=history) == expected
    assert any(any(row.volatile) for row in expected.turns)


def test_a_setting_that_was_not_recorded_before_is_lost_and_not_the_same() -> None:
    def asked(n: int, words: str) -> Turn:
        part = snapshot(items(Category.SETTINGS, words), partly=(Category.SETTINGS,))
        return replace(turn(n, 100), requests=(replace(step(f"a{n}", 100, at=n * 1000), context=part),))

    _, second, third = drift(ledger(asked(1, "model=m"), asked(2, "model=m thinking=high"), asked(3, "model=m thinking=high"))).turns
    at = list(Category).index(Category.SETTINGS)
    assert (second.states[at], second.lost[at], third.lost) == (State.SAME, 1, (0,) * 6)
    assert [drift_span(row, at).text for row in (second, third)] == ["?", "·"]
    assert drift_of(second)["settings"].lost == 1
    assert "lost" not in to_builtins(drift_of(third)["settings"])


def test_it_stops_when_asked(tmp_path: Path) -> None:
    led = ledger(*(turn(n, 100) for n in range(1, 500)))
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 2

    found = drift(led, stop=stop)
    assert found.stopped
    assert 0 < len(found.turns) < 499
    whole = drift(led, (led, found))
    assert not whole.stopped
    assert whole.turns == drift(led).turns


def test_what_each_kind_of_change_is_counted_as(tmp_path: Path) -> None:
    s: PiFile = PiStore(tmp_path).session()
    s.system(sections(instructions={"/p/AGENTS.md": "a"}), [tool("a"), tool("b")])
    s.turn("one")
    s.system(sections(instructions={"/p/AGENTS.md": "b"}), [tool("c"), tool("b", "other")], removed=["a"])
    s.turn("two")
    s.compaction("so far")
    s.turn("three")
    first, second, third = drift(opened(s)).turns
    at = list(Category).index
    assert (first.why, set(first.states), first.against) == (NoBaseline.FIRST_TURN, {State.NO_BASELINE}, None)
    assert second.counts[at(Category.INSTRUCTIONS)] == Moves(modified=1)
    assert second.counts[at(Category.TOOLS)] == Moves(added=1, removed=1, modified=1)
    assert second.kinds[at(Category.TOOLS)] == {ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.MODIFIED}
    assert second.states[at(Category.CONVERSATION)] is State.GROWTH
    assert second.counts[at(Category.CONVERSATION)] == Moves(added=2)
    assert (third.states[at(Category.CONVERSATION)], third.cause) == (State.REWRITTEN, CauseKind.COMPACTION)
    # that compaction holds no system message: what follows is not known to carry the same tools
    assert third.states[at(Category.TOOLS)] is State.UNAVAILABLE


def test_a_reverted_turn_is_what_the_next_is_compared_with(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.s.turn("one")
    gone = store.s.turn("two")
    store.s.revert(gone)
    store.s.cleanup()
    store.s.turn("three")
    led = store.ledger()
    row = drift(led).turns[1]
    assert (row.cause, row.against) == (CauseKind.REVERT, led.hidden[0].requests[0].id)
    assert [m.kind for m in led.marks] == [MarkKind.REVERT]


@pytest.mark.parametrize("partial", [True, False])
def test_a_part_of_a_session_hands_nothing_on(partial: bool) -> None:
    led = replace(ledger(turn(1, 100), turn(2, 100)), partial=partial)
    wrong = Drift(tuple(replace(row, against="wrong") for row in drift(led).turns))
    again = drift(led, (led, wrong))
    assert again == drift(led)
