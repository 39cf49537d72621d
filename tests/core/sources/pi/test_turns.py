"""Turns, steps and marks of a Pi session, each on a file written by the builder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ctx_inspect.core.model import Confirmed, MarkKind, ProblemCode, Purpose, Unavailable, value_of

from tests.builders.pi import Call, PiStore, Spent, sections
from tests.core.sources.pi.reading import context_of, opened, rows_of, said, source_of, windows


@pytest.fixture
def store(tmp_path: Path) -> PiStore:
    return PiStore(tmp_path)


def test_a_turn_is_a_user_message_and_all_that_follows(store: PiStore) -> None:
    s = store.session()
    one = s.turn("first", calls=[Call("read", {"path": "a"}), Call("bash", {"command": "ls"})], usage=Spent(100, 10, 900, 50))
    two = s.turn("second", usage=Spent(7, 1))
    ledger = opened(s)
    assert [(t.n, t.id, t.ids, len(t.requests)) for t in ledger.turns] == [(1, one[0], (one[0],), 2), (2, two[0], (two[0],), 1)]
    first = ledger.turns[0].requests[0]
    assert (first.step, first.call, first.purpose, first.finish, first.tools) == (1, True, Purpose.PRIMARY, "tool_calls", ("read", "bash"))
    assert [r.step for r in ledger.turns[0].requests] == [1, 2]
    assert windows(ledger) == [1050, 1050, 7]
    assert all(t.boundary == "estimated (message order)" for t in ledger.turns)
    assert ledger.before == ()
    assert ledger.hidden == ()


def test_consecutive_user_messages_are_one_turn(store: PiStore) -> None:
    s = store.session()
    a, b = s.user("killed before an answer"), s.user("asked again")
    s.label(b, "x")
    c = s.user("and again")
    s.assistant("ok")
    (turn,) = opened(s).turns
    assert turn.ids == (a, b, c)
    assert turn.id == a
    assert len(turn.input) == 3


@pytest.mark.parametrize("kind", ["failed answer", "empty aborted answer", "shell", "custom message", "compaction"])
def test_any_row_of_the_conversation_ends_the_run(store: PiStore, kind: str) -> None:
    s = store.session()
    s.user("one")
    match kind:
        case "failed answer":
            s.assistant(error="500 server error")
        case "empty aborted answer":
            s.assistant(stop="aborted")
        case "shell":
            s.bash("ls", "a")
        case "custom message":
            s.custom_message("note")
        case "compaction":
            s.compaction("sum")
    s.user("two")
    s.assistant("ok")
    assert [len(t.ids) for t in opened(s).turns] == [1, 1]


def test_what_no_person_wrote_opens_no_turn(store: PiStore) -> None:
    s = store.session()
    s.turn("real")
    s.custom_message("hidden hint", display=False)
    s.assistant("reaction")
    s.bash("ls", "a\n")
    s.bash("secret", "b", excluded=True)
    s.branch_summary("went elsewhere")
    s.custom({"state": 1})
    ledger = opened(s)
    assert len(ledger.turns) == 1
    assert [(r.call, r.step) for r in ledger.turns[0].requests] == [(True, 1), (True, 2), (False, None), (False, None)]


def test_a_skill_command_and_an_extensions_user_message_open_turns(store: PiStore) -> None:
    s = store.session()
    s.turn('<skill name="beta" location="/s/SKILL.md">\nbody\n</skill>\n\nplease')
    s.user("sent by an extension", plain=True)
    s.assistant("ok")
    ledger = opened(s)
    assert len(ledger.turns) == 2
    source = source_of(s)
    assert value_of(source.text(ledger.turns[1].input[0], 100)) == "sent by an extension"


def test_a_retry_in_a_new_row_is_a_new_step(store: PiStore) -> None:
    s = store.session()
    s.user("go")
    failed = s.assistant(error="529 overloaded", usage=None)
    s.context_edit(failed, None)
    s.assistant("fine")
    (turn,) = opened(s).turns
    assert [(r.step, r.finish, r.error) for r in turn.requests] == [(1, "error", "server"), (2, "stop", None)]
    assert isinstance(turn.requests[0].usage, Unavailable)
    assert isinstance(turn.requests[0].attempts, Unavailable)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("400 This model's maximum context length is 9000 tokens.", "overflow"),
        ("401 Unauthorized", "auth"),
        ("429 Too many requests", "rate"),
        ("500: internal", "server"),
        ("fetch failed", "network"),
        ("something else", "other"),
    ],
)
def test_errors_are_put_into_classes(store: PiStore, message: str, error: str) -> None:
    s = store.session()
    s.user("go")
    s.assistant(error=message)
    assert opened(s).turns[0].requests[0].error == error


@pytest.mark.field(43)
def test_a_session_that_starts_with_a_tool_row_or_has_no_user_is_listed(store: PiStore) -> None:
    s = store.session(id="tool-first")
    s.result("call_x", "left over")
    s.assistant("ok")
    lonely = store.session(id="lonely")
    lonely.custom_message("only a note")
    source = source_of(store.sessions)
    assert {i.id for i in source.sessions().sessions} == {"tool-first", "lonely"}
    ledger = source.open("tool-first")
    assert ledger.turns == ()
    assert [r.step for r in ledger.before] == [1]
    assert source.open("lonely").turns == ()


def test_compaction_is_one_mark_and_one_request_beside(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    two = s.turn("two")
    c = s.compaction("what happened", kept=two[0], before=54_321, usage=Spent(500, 20))
    s.turn("three")
    ledger = opened(s)
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.COMPACTION]
    assert (mark.turn, mark.after, mark.reason, mark.status) == (2, two[-1], None, "succeeded")
    assert mark.before == Confirmed(54_321)
    assert mark.refs == {"summary": c, "tail": two[0]}
    (beside,) = ledger.other[2]
    assert (beside.id, beside.purpose) == (c, Purpose.COMPACTION)
    assert value_of(beside.usage).window == 500
    assert ("reason of a compaction", "Pi tells it in live events only") in ledger.not_recorded


def test_an_extensions_compaction_has_no_call(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    s.compaction("by a plugin", hook=True)
    ledger = opened(s)
    assert len([m for m in ledger.marks if m.kind is MarkKind.COMPACTION]) == 1
    assert ledger.other == {}


def test_settings_edits_labels_and_system_patches_are_marks(store: PiStore) -> None:
    s = store.session()
    s.system(sections())
    one = s.turn("one")
    s.model("acme", "small")
    s.thinking("high")
    s.label(one[0], "here")
    s.context_edit(one[1], "shorter")
    s.system({"rules": "<rules>\n- other\n</rules>"})
    s.turn("two")
    ledger = opened(s)
    assert [(str(m.kind), m.status, m.detail) for m in ledger.marks] == [
        ("model", None, "small"),
        ("thinking", None, "high"),
        ("label", "set", "here"),
        ("edit", "replaced", None),
        ("system", None, "rules"),
    ]
    assert {m.turn for m in ledger.marks} == {1}


@pytest.mark.field(27)
def test_the_active_branch_is_followed_from_the_leaf(store: PiStore) -> None:
    s = store.session()
    one = s.turn("one")
    old = s.turn("two, left", calls=[Call("bash", {"command": "x"})])
    older = s.turn("three, left")
    s.go(one[-1])
    new = s.turn("two again")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == [one[0], new[0]]
    assert [t.n for t in ledger.turns] == [1, 2]
    assert [(h.id, h.state, len(h.requests)) for h in ledger.hidden] == [(old[0], "abandoned", 2), (older[0], "abandoned", 1)]
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.BRANCH]
    assert (mark.turn, mark.after, mark.refs, mark.counts) == (
        1,
        one[-1],
        {"message": old[0], "parent": one[-1]},
        {"turns": 2, "entries": 6},
    )
    source = source_of(s)
    assert said(source, context_of(ledger, new[1]).messages) == [("user", "one"), ("assistant", "ok"), ("user", "two again")]
    assert [r[1] for r in said(source, context_of(ledger, older[1]).messages)] == [
        "one",
        "ok",
        "two, left",
        'bash({"command":"x"})',
        "done",
        "ok",
        "three, left",
    ]


@pytest.mark.field(27)
def test_coming_back_with_a_summary_is_one_event(store: PiStore) -> None:
    s = store.session()
    one = s.turn("one")
    side = s.turn("a side way")
    s.go(one[-1])
    summary = s.branch_summary("tried a side way", origin=side[-1])
    two = s.turn("two")
    ledger = opened(s)
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.BRANCH]
    assert (mark.status, mark.refs, mark.counts) == ("summarised", {"summary": summary, "message": side[-1]}, {"turns": 1})
    assert [h.id for h in ledger.hidden] == [side[0]]
    frame = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\ntried a side way</summary>"
    assert said(source_of(s), context_of(ledger, two[1]).messages)[2] == ("user", frame)


def test_two_processes_on_one_file_make_an_accidental_branch(store: PiStore) -> None:
    s = store.session()
    one = s.turn("one")
    a = s.user("from process one")
    s.go(one[-1])
    b = s.user("from process two")
    s.go(a)
    answer_a = s.assistant("to one")
    s.go(b)
    answer_b = s.assistant("to two")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == [one[0], b]
    assert [h.id for h in ledger.hidden] == [a]
    assert {answer_a, answer_b} <= rows_of(ledger).keys()


def test_an_abandoned_retry_within_a_turn_is_kept_apart(store: PiStore) -> None:
    s = store.session()
    u = s.user("go")
    left = s.assistant("first try")
    s.go(u)
    s.assistant("second try")
    ledger = opened(s)
    assert [r.step for r in ledger.turns[0].requests] == [1]
    assert [(h.id, h.ids, [r.id for r in h.requests]) for h in ledger.hidden] == [(left, (), [left])]


def test_several_roots_and_a_loop_of_parents_open(store: PiStore) -> None:
    s = store.session()
    s.turn("old root")
    s.go(None)
    new = s.turn("new root")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == [new[0]]
    assert len(ledger.hidden) == 1
    loop = store.session(id="loop")
    loop.go("bbbbbbbb")
    loop.put("message", {"message": {"role": "user", "content": "a"}}, id="aaaaaaaa")
    loop.go("aaaaaaaa")
    loop.put("message", {"message": {"role": "assistant", "content": [], "stopReason": "stop"}}, id="bbbbbbbb")
    assert len(opened(loop).turns) == 1


@pytest.mark.field(10)
def test_clone_and_fork_are_inherited_and_counted_once(store: PiStore) -> None:
    s = store.session(id="origin")
    s.turn("one", usage=Spent(100))
    two = s.turn("two", usage=Spent(200))
    clone = s.clone("copy")
    own = clone.turn("three", usage=Spent(300))
    fork = clone.fork("fork", before=own[0])
    source = source_of(store.sessions)
    infos = {i.id: i for i in source.sessions().sessions}
    assert infos["copy"].forked_from == Confirmed("pi:origin")
    assert infos["fork"].forked_from == Confirmed("pi:copy")
    assert isinstance(infos["origin"].forked_from, Unavailable)
    ledger = source.open("copy")
    assert [t.inherited for t in ledger.turns] == [True, True, False]
    assert [r.inherited for t in ledger.turns for r in t.requests] == [True, True, False]
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.FORK]
    assert (mark.turn, mark.after) == (2, two[-1])
    counted = [r.id for id in infos for r in rows_of(source.open(id)).values() if not r.inherited]
    assert len(counted) == len(set(counted)) == 3
    forked = source.open("fork")
    assert all(t.inherited for t in forked.turns)
    assert [m.kind for m in forked.marks] == [MarkKind.FORK]
    assert fork.header["parentSession"] == str(clone.path)


@pytest.mark.field(10)
def test_a_copy_whose_source_is_gone_is_still_inherited(store: PiStore) -> None:
    s = store.session(id="origin")
    s.turn("one")
    clone = s.clone("copy")
    clone.turn("two")
    s.path.unlink()
    source = source_of(store.sessions)
    (info,) = source.sessions().sessions
    assert value_of(info.forked_from) == "pi:origin"
    assert not isinstance(info.forked_from, Confirmed)
    assert [t.inherited for t in source.open("copy").turns] == [True, False]


def test_a_new_session_with_a_parent_inherits_nothing(store: PiStore) -> None:
    s = store.session(id="origin")
    s.turn("one")
    child = store.session(id="child", parent=s.path)
    child.turn("handed over")
    source = source_of(store.sessions)
    info = next(i for i in source.sessions().sessions if i.id == "child")
    assert isinstance(info.forked_from, Unavailable)
    assert info.parent == "pi:origin"
    ledger = source.open("child")
    assert [t.inherited for t in ledger.turns] == [False]
    assert ledger.marks == ()


@pytest.mark.field(9)
def test_rows_that_repeat_count_once_and_the_last_wins(store: PiStore) -> None:
    s = store.session()
    s.user("go")
    at = s.now + 1000
    for n, words in enumerate(("st", "stream", "streamed")):
        parent = s.leaf if n == 0 else s.entries[-1]["parentId"]
        s.go(parent)
        s.assistant(words, usage=Spent(n + 1, 1), id="abababab", at=at + n * 500)
    ledger = opened(s)
    (row,) = ledger.turns[0].requests
    assert (row.id, row.step, row.at, row.done) == ("abababab", 1, at, at)
    assert windows(ledger) == [3]
    assert value_of(source_of(s).text(row.ref, 100)) == "streamed"


@pytest.mark.field(9)
def test_a_file_that_was_written_twice_is_read_once(store: PiStore) -> None:
    """Pi 0.7x may append all of a session again, header included, behind a fragment."""
    s = store.session(old=True)
    first = s.turn("one")
    body = s.path.read_bytes()
    s.raw(b'{"type":"message","id":"fra' + body)
    two = s.turn("two")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == [first[0], two[0]]
    assert windows(ledger) == [100, 100]
    assert [p.code for p in ledger.problems] == ["recovered_record"]


def test_first_and_second_generation_files(store: PiStore) -> None:
    s = store.session(version=1)
    s.user("v1 hello", plain=True)
    s.assistant("v1 hi")
    s.message("hookMessage", customType="h", content="hooked", display=True)
    s.compaction("old summary", kept_index=2, before=99)
    s.user("more", plain=True)
    s.assistant("yes")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == ["line-2", "line-6"]
    assert ledger.info.format == "pi-1"
    last = ledger.turns[-1].requests[-1].context
    frame = "The conversation history before this point was compacted into the following summary:\n\n<summary>\nold summary\n</summary>"
    assert said(source_of(s), last.messages) == [("user", frame), ("assistant", "v1 hi"), ("user", "hooked"), ("user", "more")]
    two = store.session(version=2, id="v2")
    two.user("go")
    two.message("hookMessage", customType="h", content="hooked", display=True)
    two.assistant("ok")
    ledger = opened(two)
    assert len(ledger.turns) == 1
    assert [m.opens for m in ledger.turns[0].requests[0].context.messages] == [True, False]


def test_unknown_records_are_counted_and_harmless(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    s.put("from_the_future", {"what": {"deep": [1, 2]}})
    s.raw(b'{"type":"note"}\n')
    s.turn("two")
    ledger = opened(s)
    assert len(ledger.turns) == 2
    (problem,) = ledger.problems
    assert problem.code == "schema_unknown"
    assert problem.message.startswith("2 record(s)")


@pytest.mark.parametrize("parent", ["its own", "one that is nowhere"])
def test_records_that_follow_none_in_the_file_are_a_problem(store: PiStore, parent: str) -> None:
    s = store.session()
    s.turn("first")
    s.turn("second")
    rows = [json.loads(line) for line in s.path.read_bytes().splitlines()]
    for row in rows[1:]:
        row["parentId"] = row["id"] if parent == "its own" else "0000beef"
    s.path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    ledger = opened(s)
    (problem,) = ledger.problems
    assert problem.code is ProblemCode.UNREADABLE_RECORD
    assert problem.message.startswith(f"{len(rows) - 1} record(s) follow one that is not in the file, or themselves")


@pytest.mark.parametrize("value", [-5, 10**12, 10**25, "many", True, [1]])
@pytest.mark.parametrize("name", ["input", "output", "cacheRead"])
def test_usage_that_cannot_be_is_not_called_unreported(store: PiStore, name: str, value: object) -> None:
    s = store.session()
    s.turn("first", usage=Spent(100, 10))
    rows = [json.loads(line) for line in s.path.read_bytes().splitlines()]
    rows[-1]["message"]["usage"][name] = value
    s.path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    usage = opened(s).turns[0].requests[-1].usage
    assert isinstance(usage, Unavailable)
    assert usage.note == "usage was reported, but it is not believable: negative, too large or no number"


def test_usage_that_is_no_table_is_not_called_unreported(store: PiStore) -> None:
    s = store.session()
    s.turn("first", usage=Spent(100, 10))
    rows = [json.loads(line) for line in s.path.read_bytes().splitlines()]
    rows[-1]["message"]["usage"] = "a lot"
    s.path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    usage = opened(s).turns[0].requests[-1].usage
    assert isinstance(usage, Unavailable)
    assert "not believable" in usage.note
