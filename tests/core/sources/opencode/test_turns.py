"""Who opens a turn, what is a step, and which events a ledger tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.core.model import Confirmed, Estimated, Ledger, Mark, MarkKind, Purpose, Unavailable, Usage, value_of
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.builders.opencode import OpenCodeDB, Session
from tests.builders.opencode_parts import Usage as Spent
from tests.builders.opencode_parts import agent, file, image, text, tool, unknown


class Store:
    """A database with one session, read when it is written."""

    def __init__(self, path: Path) -> None:
        self.db = OpenCodeDB(path / "opencode.db")
        self.s: Session = self.db.session("Work")

    def ledger(self, session: Session | None = None) -> Ledger:
        self.db.flush()
        return OpenCodeSource(self.db.path).open((session or self.s).id)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def texts(store: Store, ledger: Ledger) -> list[list[str]]:
    source = OpenCodeSource(store.db.path)
    return [[str(value_of(source.text(ref, 200))) for ref in turn.input] for turn in ledger.turns]


def kinds(ledger: Ledger, kind: MarkKind) -> list[Mark]:
    return [m for m in ledger.marks if m.kind is kind]


@pytest.mark.parametrize(
    ("parts", "authored"),
    [
        (["hello"], True),
        ([image()], True),
        ([*file("/p/a.txt", "x")], True),
        ([*file("/p/a.txt", "x"), "read it"], True),
        ([*agent("explore"), "go"], True),
        ([""], True),
        ([{"type": "subtask", "prompt": "p", "description": "d", "agent": "general"}], True),
        ([text("added", synthetic=True)], False),
        ([text("notice", ignored=True)], False),
        ([text("added", synthetic=True), text("notice", ignored=True)], False),
        ([text("The following tool was executed by the user", synthetic=True)], False),
        ([text("Continue if you have next steps", synthetic=True, metadata={"compaction_continue": True})], False),
        ([{"type": "compaction", "auto": False}], False),
        ([unknown()], False),
        ([], False),
    ],
)
def test_which_rows_open_a_turn(store: Store, parts: list[object], authored: bool) -> None:
    store.s.turn("before")
    id = store.s.user(*parts)  # type: ignore[arg-type]
    store.s.step("answer")
    ledger = store.ledger()
    assert ([t.id for t in ledger.turns][1:] == [id]) is authored
    assert sum(len(t.requests) for t in ledger.turns) == 2


def test_neighbouring_prompts_are_one_turn_and_any_answer_ends_the_run(store: Store) -> None:
    a, b = store.s.user("note"), store.s.user("question")
    store.s.step("answer")
    c = store.s.user("next")
    store.s.step(error="APIError")
    d = store.s.user("again")
    ledger = store.ledger()
    assert [t.ids for t in ledger.turns] == [(a, b), (c,), (d,)]
    assert texts(store, ledger) == [["note", "question"], ["next"], ["again"]]
    assert [t.n for t in ledger.turns] == [1, 2, 3]
    assert [len(t.requests) for t in ledger.turns] == [1, 1, 0]
    opening = [m.id for m in (ledger.now.messages if ledger.now else ()) if m.opens]
    assert opening == [a, c, d]


def test_a_queued_prompt_takes_the_answers_after_it(store: Store) -> None:
    store.s.user("long work")
    first = store.s.step(tool("bash", {}, "x"))
    queued = store.s.user("also this")
    second = store.s.step("both done", parent=queued)
    ledger = store.ledger()
    assert [[r.id for r in t.requests] for t in ledger.turns] == [[first], [second]]
    context = ledger.turns[1].requests[0].context
    assert context is not None
    assert [m.row or m.id for m in context.messages] == [ledger.turns[0].id, first, first, queued]


def test_rows_before_the_first_prompt_are_listed(store: Store) -> None:
    row = store.s.step(tool("bash", {}, "x"), parent="msg_gone")
    store.s.turn("hello")
    ledger = store.ledger()
    assert [r.id for r in ledger.before] == [row]
    assert ledger.before[0].step == 1
    assert len(ledger.turns) == 1


def test_a_session_of_answers_only(store: Store) -> None:
    store.s.step("alone", parent=None)
    ledger = store.ledger()
    assert len(ledger.before) == 1
    assert ledger.turns == ()


def test_steps_are_counted_and_rows_without_a_call_are_not(store: Store) -> None:
    store.s.turn("hello", tool("bash", {}, "x"))
    _, shell = store.s.shell("ls", "listing")
    last = store.s.step("after")
    ledger = store.ledger()
    assert [(r.step, r.call) for r in ledger.turns[0].requests] == [(1, True), (None, False), (2, True)]
    by = {r.id: r for r in ledger.turns[0].requests}
    assert by[shell].context is None
    assert by[shell].tools == ("bash",)
    assert by[last].context is not None


def test_a_subtask_is_a_row_without_a_call_and_starts_a_session(store: Store) -> None:
    child = store.db.session("sub (@general subagent)", parent=store.s)
    child.turn("look around")
    store.s.subtask("look around", "general", child, "found", command="/look")
    store.s.step("summed up")
    ledger = store.ledger()
    assert len(ledger.turns) == 1
    assert [(r.call, r.children) for r in ledger.turns[0].requests] == [(False, (f"opencode:{child.id}",)), (True, ())]
    assert texts(store, ledger) == [["look around"]]
    assert store.ledger(child).info.parent == ledger.key
    assert len(store.ledger(child).turns) == 1


def test_usage_and_ends(store: Store) -> None:
    store.s.user("hello")
    store.s.step("a", usage=Spent(100, 20, read=900, write=30, reasoning=5))
    store.s.step("b", finish="length")
    store.s.step("c", error="MessageAbortedError")
    for name in ("APIError", "RateLimit", "ProviderAuthError", "ContextOverflowError", "UnknownError"):
        store.s.step(error=name)
    store.s.step("d", finish="content-filter")
    store.s.step(done=False)
    requests = store.ledger().turns[0].requests
    assert requests[0].usage == Confirmed(
        Usage(100, 20, 5, 900, 30), requests[0].usage.by if isinstance(requests[0].usage, Confirmed) else None
    )  # type: ignore[arg-type]
    assert value_of(requests[0].usage).window == 1030  # type: ignore[union-attr]
    assert [r.finish for r in requests] == ["stop", "length", "aborted", *["error"] * 5, "other", None]
    assert [r.error for r in requests] == [None, None, "aborted", "server", "rate", "auth", "overflow", "other", None, None]
    assert all(isinstance(r.usage, Unavailable) for r in requests[2:8])
    assert requests[-1].usage.why == "not_yet"  # type: ignore[union-attr]
    assert all(isinstance(r.attempts, Unavailable) for r in requests)


@pytest.mark.parametrize("reason", ["manual", "auto", "overflow"])
@pytest.mark.parametrize("status", ["succeeded", "failed", "started", "requested"])
def test_a_compaction_is_one_event(store: Store, reason: str, status: str) -> None:
    store.s.turn("one")
    store.s.turn("two")
    user, summary = store.s.compact(reason=reason, status=status)
    store.s.turn("three")
    ledger = store.ledger()
    (mark,) = ledger.marks
    assert (mark.kind, mark.reason, mark.status, mark.turn) == (MarkKind.COMPACTION, reason, status, 2)
    assert mark.refs == {"request": user, **({"summary": summary} if summary else {})}
    assert len(ledger.turns) == 3
    others = [r for rs in ledger.other.values() for r in rs]
    assert [r.id for r in others] == ([summary] if summary else [])
    assert all(r.purpose is Purpose.COMPACTION and r.step is None for r in others)
    # it stands after the newest request that it saw
    assert mark.after == [r.id for t in ledger.turns[:2] for r in t.requests][-1]


def test_a_prompt_replayed_after_an_overflow_opens_no_turn(store: Store) -> None:
    store.s.turn("one")
    store.s.user("too much", image(), *file("/p/a.txt", "text"))
    store.s.compact(reason="overflow")
    store.s.step("now it fits")
    ledger = store.ledger()
    assert len(ledger.turns) == 2
    refused, answer = ledger.turns[1].requests
    assert (refused.finish, refused.error) == ("error", "overflow")
    assert answer.error is None
    # a person who really says the same again is heard
    store.s.user("too much", image(), *file("/p/a.txt", "text"))
    assert len(store.ledger().turns) == 3


def test_a_tail_is_named(store: Store) -> None:
    store.s.turn("one")
    tail = store.s.turn("two")
    store.s.compact(tail=tail)
    (mark,) = store.ledger().marks
    assert mark.refs["tail"] == tail


def test_switches_of_model_and_agent_are_events(store: Store) -> None:
    store.s.turn("one")
    store.s.user("two", model=("mock", "other"))
    store.s.step("ok")
    store.s.user("three", agent="plan")
    store.s.step("ok")
    store.s.turn("four")
    ledger = store.ledger()
    assert [(m.kind, m.detail, m.turn) for m in ledger.marks] == [(MarkKind.MODEL, "mock/other", 1), (MarkKind.AGENT, "plan", 2)]
    context = ledger.turns[1].requests[0].context
    assert context is not None
    assert {i.k: i.shown for i in context.items} == {"provider": "mock", "model": "other", "agent": "build"}


def test_a_prune_is_one_event_with_its_size(store: Store) -> None:
    store.s.user("one")
    a = store.s.step(tool("bash", {}, "x"), tool("bash", {}, "y"))
    b = store.s.step(tool("bash", {}, "z"))
    store.s.prune(a)
    store.s.turn("two")
    store.s.prune(b)
    marks = kinds(store.ledger(), MarkKind.PRUNE)
    assert [(m.counts["parts"], m.turn) for m in marks] == [(2, 1), (1, 2)]


def test_a_pending_revert_hides_turns_and_what_comes_next(store: Store) -> None:
    store.s.turn("one")
    two = store.s.turn("two")
    three = store.s.turn("three")
    store.s.revert(two)
    ledger = store.ledger()
    assert [t.n for t in ledger.turns] == [1]
    assert [(h.id, h.state, len(h.requests)) for h in ledger.hidden] == [(two, "reverted", 1), (three, "reverted", 1)]
    (mark,) = kinds(ledger, MarkKind.REVERT)
    assert (mark.status, mark.turn, mark.counts) == ("pending", 1, {"turns": 2, "messages": 4})
    assert ledger.now is not None
    assert len(ledger.now.messages) == 2
    store.s.unrevert()
    ledger = store.ledger()
    assert len(ledger.turns) == 3
    assert (ledger.hidden, ledger.marks) == ((), ())


def test_a_revert_to_a_part_keeps_what_stands_before_it(store: Store) -> None:
    store.s.user("one")
    step = store.s.step("kept", tool("bash", {}, "taken back"))
    store.s.step("taken back too")
    store.s.revert(step, store.s.parts_of(step)[2][0])
    ledger = store.ledger()
    assert [r.id for r in ledger.turns[0].requests] == [step]
    assert ledger.now is not None
    assert [[p.kind.value for p in m.parts] for m in ledger.now.messages] == [["text"], ["text"]]


def test_a_final_revert_is_read_from_the_log(store: Store) -> None:
    store.s.turn("one")
    two = store.s.user("two")
    store.s.step(tool("read", {}, "x"))
    store.s.step("done")
    store.s.turn("three")
    store.s.revert(two)
    gone = store.s.cleanup()
    store.s.turn("two, but better")
    ledger = store.ledger()
    assert [t.n for t in ledger.turns] == [1, 2]
    assert [h.id for h in ledger.hidden] == [two, gone[3]]
    assert [[r.tools for r in h.requests] for h in ledger.hidden] == [[("read",), ()], [()]]
    (mark,) = kinds(ledger, MarkKind.REVERT)
    assert (mark.status, mark.turn, mark.counts) == ("succeeded", 1, {"turns": 2, "messages": 5})
    source = OpenCodeSource(store.db.path)
    assert source.text(ledger.hidden[0].input[0], 100) == Confirmed("two")
    # two reverts are two events
    four = store.s.turn("four")
    store.s.revert(four)
    store.s.cleanup()
    store.s.turn("five")
    ledger = store.ledger()
    assert len(kinds(ledger, MarkKind.REVERT)) == 2
    assert len(ledger.hidden) == 3


def test_without_a_log_a_final_revert_leaves_nothing(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db", log=False) as db:
        s = db.session()
        s.turn("one")
        s.revert(s.turn("two"))
        s.cleanup()
        s.turn("three")
    ledger = OpenCodeSource(tmp_path / "opencode.db").open(s.id)
    assert (len(ledger.turns), ledger.hidden, ledger.marks) == (2, (), ())


def test_a_message_deleted_alone_is_no_revert_of_its_own_accord(store: Store) -> None:
    one = store.s.turn("one")
    store.s.turn("two")
    store.s.remove(one)
    (mark,) = store.ledger().marks
    assert (mark.kind, mark.reason) == (MarkKind.REVERT, "messages deleted")


def test_a_fork_inherits_and_counts_nothing_twice(store: Store) -> None:
    store.s.turn("one")
    two = store.s.turn("two")
    store.s.turn("three")
    fork = store.s.fork(before=two)
    fork.turn("another way")
    ledger = store.ledger(fork)
    assert [t.inherited for t in ledger.turns] == [True, False]
    assert [r.inherited for t in ledger.turns for r in t.requests] == [True, False]
    assert ledger.info.forked_from == Estimated(f"opencode:{store.s.id}", "equal message times")
    (mark,) = kinds(ledger, MarkKind.FORK)
    assert (mark.turn, mark.refs, mark.counts) == (1, {"parent": f"opencode:{store.s.id}"}, {"messages": 2})
    assert isinstance(store.ledger().info.forked_from, Unavailable)
    # a fork of the fork comes from the fork, a second fork of the source from the source
    again, other = fork.fork(), store.s.fork()
    again.turn("deeper")
    assert value_of(store.ledger(again).info.forked_from) == f"opencode:{fork.id}"
    assert value_of(store.ledger(other).info.forked_from) == f"opencode:{store.s.id}"
    listed = {i.id: value_of(i.forked_from) for i in OpenCodeSource(store.db.path).sessions().sessions}
    assert listed[again.id] == f"opencode:{fork.id}"
    assert listed[other.id] == f"opencode:{store.s.id}"
    assert listed[store.s.id] is None


def test_a_fork_whose_source_is_gone_has_no_origin(store: Store) -> None:
    store.s.turn("one")
    fork = store.s.fork()
    store.s.delete()
    ledger = store.ledger(fork)
    assert isinstance(ledger.info.forked_from, Unavailable)
    assert ledger.turns[0].inherited


def test_unknown_parts_are_listed_and_harm_nothing(store: Store) -> None:
    store.s.user("hello", unknown("hologram", depth=3))
    store.s.step("hi", unknown("snapshot", snapshot="x"), unknown("retry", attempt=1), tool("bash", {}, "x"))
    ledger = store.ledger()
    assert ledger.problems == ()
    assert ledger.now is not None
    assert [len(m.parts) for m in ledger.now.messages] == [1, 2, 1]
