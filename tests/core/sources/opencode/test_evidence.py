"""OpenCode's figures, times and events: what is not recorded is absent, what was worked out says so."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from ctx_inspect.core.choose import merged
from ctx_inspect.core.model import Ledger, MarkKind, Problem, ProblemCode, Raw, Unavailable, Why, value_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.turns import turns_of
from ctx_inspect.core.sources import sqlite as guarded
from ctx_inspect.core.sources.opencode import OpenCodeSource
from ctx_inspect.core.sources.opencode import log as log_module
from ctx_inspect.core.sources.opencode.decode import message_row, part_head
from ctx_inspect.core.sources.opencode.rebuild import Rebuild
from ctx_inspect.core.sources.sqlite import Reader
from ctx_inspect.core.timeline import timeline

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage
from tests.core.sources.opencode.test_places import json_session


@pytest.fixture
def db(tmp_path: Path) -> Iterator[OpenCodeDB]:
    with OpenCodeDB(tmp_path / "opencode.db") as made:
        yield made


def answer(ledger: Ledger, source: OpenCodeSource) -> Any:
    return msgspec.to_builtins(turns_of(ledger, timeline(ledger, source.window), lambda _: None, cleaner(False)))


# --- usage ---------------------------------------------------------------------------------------------------


def test_a_negative_number_of_tokens_is_none() -> None:
    row = message_row("m", 1, 1, b'{"role":"assistant","tokens":{"input":-5,"output":7,"cache":{"read":-1,"write":1e300}}}')
    assert row.usage is not None
    assert (row.usage.input, row.usage.output, row.usage.cache_read, row.usage.cache_write) == (None, 7, None, None)


def test_zeros_alone_are_no_report(db: OpenCodeDB) -> None:
    s = db.session()
    s.user("hello")
    s.step("hi", usage=Usage())
    db.flush()
    (request,) = OpenCodeSource(db.path).open(s.id).turns[0].requests
    assert isinstance(request.usage, Unavailable)
    assert request.usage.why is Why.NOT_REPORTED


# --- rows that are too long to be read -----------------------------------------------------------------------


def test_of_the_head_of_a_row_only_what_stands_there_is_known() -> None:
    head = (
        b'{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"type":"file","status":"error","x":"'
        + b"y" * 99
    )
    part = part_head("p", 1, head)
    assert part.tool is not None
    assert (part.type, part.tool.name, part.tool.call, part.tool.status) == ("tool", "bash", "c1", "completed")
    assert (part.tool.input, part.tool.output) == (None, None)
    other = part_head("p", 1, b'{"state":{"input":{"type":"file","status":"error","command":"' + b"y" * 99)
    assert (other.type, other.tool) == ("?", None)
    late = part_head("p", 1, b'{"type":"tool","tool":"bash","state":{"input":{"status":"error","command":"' + b"y" * 99)
    assert late.tool is not None
    assert late.tool.status == ""
    text = part_head("p", 1, b'{"type":"text","text":"' + b"y" * 99)
    assert (text.type, text.size) == ("text", None)
    media = part_head("p", 1, b'{"mime":"image/png","type":"file","url":"data:' + b"y" * 99)
    assert media.media is not None
    assert (media.media.mime, media.media.size) == ("image/png", None)


def test_a_row_that_is_too_long_is_sent_with_an_unknown_size(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ctx_inspect.core.sources.opencode.source.read", lambda path, work, **k: guarded.read(path, work, limit=50_000, **k)
    )
    s = db.session()
    s.user("x" * 100_000)
    s.step("hi")
    s.turn("next")
    db.flush()
    ledger = OpenCodeSource(db.path).open(s.id)
    context = ledger.turns[-1].requests[0].context
    assert context is not None
    first = context.messages.messages()[0]
    assert first.id == ledger.turns[0].id
    assert [p.size for p in first.parts] == [None]


# --- times ---------------------------------------------------------------------------------------------------


def test_json_files_without_times_give_none(tmp_path: Path) -> None:
    json_session(tmp_path / "storage", "ses_1", "what I said")
    for path in (tmp_path / "storage" / "message" / "ses_1").iterdir():
        fields = msgspec.json.decode(path.read_bytes())
        fields.pop("time", None)
        path.write_bytes(msgspec.json.encode(fields))
    session = tmp_path / "storage" / "session" / "proj" / "ses_1.json"
    session.write_bytes(msgspec.json.encode({"title": "x", "directory": "/p", "time": {"created": 0, "updated": 0}}))
    source = OpenCodeSource(tmp_path / "storage")
    (info,) = source.sessions().sessions
    assert (info.started, info.updated) == (None, None)
    found = answer(source.open("ses_1"), source)
    assert len(found["turns"]) == 1
    assert "1970" not in repr(found)
    assert "at" not in found["turns"][0]
    assert "at" not in found["turns"][0]["steps"][0]


def test_the_time_of_a_pending_revert_is_not_recorded(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    second = s.turn("two")
    s.revert(s.last_user or second)
    db.flush()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.REVERT]
    assert (mark.status, mark.at, mark.turn) == ("pending", None, 1)
    assert [[e["type"] for e in t["events"]] for t in answer(ledger, source)["turns"]] == [["revert"]]


def test_messages_deleted_without_a_revert_have_no_time_but_their_place(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    s.turn("two")
    gone = s.messages()[2:]
    for id in gone:
        s.remove(id)
    s.turn("three")
    s.turn("four")
    db.flush()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    (mark,) = [m for m in ledger.marks if m.kind is MarkKind.REVERT]
    assert (mark.at, mark.turn, mark.reason) == (None, 1, "messages deleted")
    assert mark.after == ledger.turns[0].requests[-1].id


# --- events --------------------------------------------------------------------------------------------------


def test_a_fork_that_no_row_tells_of_is_estimated(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    copy = s.fork()
    copy.turn("two")
    db.flush()
    source = OpenCodeSource(db.path)
    events = [e for t in answer(source.open(copy.id), source)["turns"] for e in t["events"]]
    assert [(e["type"], e["evidence"]) for e in events] == [("fork", "estimated")]
    assert "older than the session" in events[0]["how"]


def test_what_is_in_the_event_log_alone_is_said(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    db.flush()
    missing = dict(OpenCodeSource(db.path).open(s.id).not_recorded)
    assert "reverts that were undone" in missing
    assert "step limit" in missing


# --- errors on the way ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [1, 3, 4, 6])
def test_lists_are_made_after_a_failure_as_if_there_had_been_none(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    s = db.session()
    for n in range(4):
        s.turn(f"ask {n}", f"answer {n}")
    db.flush()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    requests = [r for t in ledger.turns for r in t.requests if r.context is not None]
    right = [len(r.context.messages) for t in source.open(s.id).turns for r in t.requests if r.context is not None]
    add, calls = Rebuild.add, [0]

    def fails_once(self: Rebuild, index: int) -> None:
        calls[0] += 1
        add(self, index)
        if calls[0] == at:
            raise MemoryError

    monkeypatch.setattr(Rebuild, "add", fails_once)
    with pytest.raises(MemoryError):
        len(requests[-1].context.messages)  # type: ignore[union-attr]
    assert [len(r.context.messages) for r in requests] == right == [1, 3, 5, 7]  # type: ignore[union-attr]


# --- much that cannot be read --------------------------------------------------------------------------------


def test_problems_of_many_rows_are_few(tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:")
    reader = Reader(tmp_path / "x.db", connection)
    began = time.process_time()
    for n in range(20_000):
        reader.note(ProblemCode.UNREADABLE_RECORD, f"Message {n} cannot be read.")
        reader.note(ProblemCode.UNREADABLE_RECORD, "Message 0 cannot be read.")
    took = time.process_time() - began
    connection.close()
    assert took < 2, took
    assert len(reader.problems) == 201
    assert reader.problems[0] == Problem(Raw(str(tmp_path / "x.db")), ProblemCode.UNREADABLE_RECORD, "Message 0 cannot be read.")
    assert reader.problems[-1].message.startswith("19,800 more")


def test_bad_rows_beyond_those_that_are_named_are_tried_again(db: OpenCodeDB) -> None:
    s = db.session()
    s.user("hello")
    row = s.step("hi")
    ids = [s.part(row, "{") for _ in range(300)]
    db.flush()
    source = OpenCodeSource(db.path)
    first = source.open(s.id)
    assert len(first.problems) == 201
    for id in ids:
        s.part(row, {"type": "text", "text": "again"}, id=id)
    db.flush()
    second = source.open(s.id, first)
    assert second.problems == ()


def test_a_log_that_is_too_long_is_searched_once(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:
    s = db.session()
    s.turn("one")
    for n in range(30):
        s.turn(f"more {n}")
    s.revert(s.messages()[-2])
    s.cleanup()
    s.turn("after")
    db.flush()
    monkeypatch.setattr(log_module, "_MOST", 3)
    source = OpenCodeSource(db.path)
    first = source.open(s.id)
    assert ("reverted messages", "the event log no longer holds all of them, or is too long to search") in first.not_recorded
    searched: list[object] = []
    monkeypatch.setattr(log_module, "_revert", lambda *a: searched.append(a))
    s.turn("new")
    db.flush()
    second = source.open(s.id, first)
    assert searched == []
    assert [m.kind for m in second.marks] == [m.kind for m in first.marks]


# --- one store, several sources ------------------------------------------------------------------------------


def test_one_database_is_open_once_at_a_time(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing a file drops the POSIX locks that this process has on it: another thread's connection would read unlocked."""
    s = db.session()
    s.turn("one")
    db.flush()
    link = db.path.with_name("also.db")
    link.symlink_to(db.path)
    inside, most = [0], [0]

    def work(_: Reader) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.02)
        inside[0] -= 1

    paths = [db.path, link] * 3
    threads = [threading.Thread(target=lambda p=p: guarded.read(p, work, tables={"session"})) for p in paths]
    threads += [threading.Thread(target=lambda p=p: guarded.is_sqlite(p)) for p in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1


def test_no_file_of_a_database_is_opened_and_closed_while_it_is_read(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    db.flush()
    done = threading.Event()
    looked: list[bool] = []

    def work(_: Reader) -> None:
        if not looked and not threads:
            thread = threading.Thread(target=lambda: (looked.append(guarded.is_sqlite(db.path)), done.set()))
            threads.append(thread)
            thread.start()
        assert not done.wait(0.1)

    threads: list[threading.Thread] = []
    guarded.read(db.path, work, tables={"session"})
    assert done.wait(5)
    threads[0].join()
    assert looked == [True]


def test_a_session_in_two_stores_is_listed_once_from_the_database(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as made:
        s = made.session("moved")
        s.turn("one")
    json_session(tmp_path / "elsewhere" / "storage", s.id, "moved, as it was")
    old = tmp_path / "elsewhere" / "storage" / "session" / "proj" / f"{s.id}.json"
    fields = msgspec.json.decode(old.read_bytes())
    fields["time"] = {"created": 1_999_000_000_000, "updated": 1_999_999_999_999}
    old.write_bytes(msgspec.json.encode(fields))
    database, files = OpenCodeSource(tmp_path / "opencode.db"), OpenCodeSource(tmp_path / "elsewhere" / "storage")
    for order in ((database, files), (files, database)):
        found = merged((source, source.sessions().sessions) for source in order)
        assert [(k, source, info.format) for k, (source, info) in found.items()] == [(f"opencode:{s.id}", database, "opencode-1")]
    assert value_of(database.open(s.id).info.forked_from) is None
