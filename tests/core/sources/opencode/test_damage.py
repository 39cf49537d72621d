"""Field reports 9-20 on the source itself: damaged, locked, huge, growing, replaced and newer stores."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ctx_inspect.core.model import ProblemCode, Ref, Unavailable, replace, value_of
from ctx_inspect.core.sources import sqlite as guarded
from ctx_inspect.core.sources.base import NoSession, SourceError
from ctx_inspect.core.sources.opencode import OpenCodeSource, probe
from ctx_inspect.core.sources.opencode import source as source_module

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import text, tool

TIMES = ("message.time_created", "message.time_updated", "part.time_updated")


@pytest.fixture
def db(tmp_path: Path) -> OpenCodeDB:
    return OpenCodeDB(tmp_path / "opencode.db")


def codes(problems: object) -> list[str]:
    return [p.code.value for p in problems]  # type: ignore[attr-defined]


def test_rows_that_are_rewritten_are_counted_once(db: OpenCodeDB) -> None:  # 9
    s = db.session()
    s.user("hello")
    row = s.step("first")
    part = s.parts_of(row)[1][0]
    s.part(row, text("last"), id=part)
    db.close()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    assert len(ledger.turns[0].requests) == 1
    ref = ledger.turns[0].requests[0].ref
    assert ref is not None
    assert value_of(source.text(ref, 100)) == "last"


def test_a_locked_database_is_a_sentence(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:  # 11
    s = db.session()
    s.turn("one")
    lock = db.lock()
    lock.execute("COMMIT")
    lock.execute("UPDATE migration SET time_completed = 1")
    lock.execute("BEGIN EXCLUSIVE")
    lock.execute("UPDATE migration SET time_completed = 2")
    source = OpenCodeSource(db.path)
    with pytest.raises(SourceError) as caught:
        source.sessions()
    assert caught.value.code is ProblemCode.LOCKED
    lock.execute("COMMIT")
    lock.close()
    assert len(source.sessions().sessions) == 1


def test_rows_in_the_wal_and_in_an_orphan_wal_are_seen(db: OpenCodeDB) -> None:  # 14
    s = db.session()
    s.turn("one")
    db.flush()
    db.checkpoint()
    s.turn("two")
    db.flush()
    assert len(OpenCodeSource(db.path).open(s.id).turns) == 2
    db.close_leaving_wal()
    assert len(OpenCodeSource(db.path).open(s.id).turns) == 2


def test_one_generation_per_session(db: OpenCodeDB) -> None:  # 16
    one, two, both, empty = (db.session(t) for t in ("one", "two", "both", "empty"))
    one.turn("hello")
    two.v2([("user", {"text": "hi"}), ("assistant", {"content": []})])
    both.turn("hello")
    both.v2([("user", {"text": "hello"})])
    db.close()
    source = OpenCodeSource(db.path)
    listing = source.sessions()
    assert {i.title: i.format for i in listing.sessions} == {
        "one": "opencode-1",
        "two": "opencode-2",
        "both": "opencode-1",
        "empty": "opencode-1",
    }
    assert codes(listing.problems) == ["schema_newer"]
    assert len(source.open(both.id).turns) == 1
    second = source.open(two.id)
    assert second.turns == ()
    assert codes(second.problems) == ["schema_newer"]
    assert source.open(empty.id).problems == ()


def test_a_row_of_hundreds_of_megabytes_is_listed_not_read(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:  # 18
    monkeypatch.setattr(guarded, "ROW_LIMIT", 100_000)
    monkeypatch.setattr(source_module, "read", lambda path, work, **k: guarded.read(path, work, limit=100_000, **k))
    s = db.session()
    s.user("hello")
    row = s.step("before", tool("bash", {"command": "cat"}, "x" * 300_000), "after")
    large = s.parts_of(row)[2][0]
    s.message("{" + "x" * 200_000, id="msg_zzz")
    s.turn("next")
    db.close()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    assert len(ledger.turns) == 2
    assert ledger.turns[0].requests[0].tools == ("bash",)
    assert sorted(codes(ledger.problems)) == ["too_large", "too_large"]
    assert any(large in p.message for p in ledger.problems)
    assert source.text(Ref(s.id, large, "output"), 10) == Unavailable("unreadable", "the row is too large to be read")  # type: ignore[arg-type]
    again = source.open(s.id, ledger)
    assert [t.requests for t in again.turns] != []
    assert sorted(codes(again.problems)) == ["too_large", "too_large"]


def test_a_large_row_costs_no_memory(tmp_path: Path) -> None:  # 18
    import tracemalloc

    with OpenCodeDB(tmp_path / "opencode.db", log=False) as db:
        s = db.session()
        s.user("hello")
        row = s.step("before")
        s.part(
            row,
            '{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{},"output":"' + "x" * 60_000_000 + '"}}',
        )
    source = OpenCodeSource(tmp_path / "opencode.db")
    tracemalloc.start()
    ledger = source.open(s.id)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes(ledger.problems) == ["too_large"]
    assert ledger.turns[0].requests[0].tools == ("bash",)
    assert peak < 4_000_000


def test_lists_never_touch_the_log_nor_secrets(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:  # 18
    s = db.session()
    s.turn("hello")
    db.secrets("sk-secret")
    db.close()
    asked: set[str] = set()
    real = guarded._guard

    def watch(connection: sqlite3.Connection, tables: frozenset[str], *rest: object) -> None:
        real(connection, tables, *rest)  # type: ignore[arg-type]
        asked.update(tables)

    monkeypatch.setattr(guarded, "_guard", watch)
    source = OpenCodeSource(db.path)
    source.sessions()
    source.changed(None)
    assert asked.isdisjoint({"event", "part", "account", "account_state", "control_account", "credential"})
    asked.clear()
    ledger = source.open(s.id)
    assert "event" in asked
    assert asked.isdisjoint({"account", "account_state", "control_account", "credential"})
    assert "sk-secret" not in repr(ledger)


def test_a_damaged_page_costs_its_rows_only(tmp_path: Path) -> None:  # 19
    path = tmp_path / "opencode.db"
    with OpenCodeDB(path, log=False) as db:
        s = db.session()
        for n in range(40):
            s.turn(f"ask {n}", "an answer " * 60)
        other = db.session("other")
        other.turn("fine")
    data = bytearray(path.read_bytes())
    # find a page that holds parts' text, and destroy it
    at = data.index(b"ask 20") // 4096 * 4096
    data[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    source = OpenCodeSource(path)
    assert len(source.sessions().sessions) == 2
    ledger = source.open(s.id)
    assert "corrupt" in codes(ledger.problems)
    assert 20 < len(ledger.turns) < 41
    assert source.open(other.id).problems == ()


def test_a_newer_schema_is_a_named_limitation(tmp_path: Path) -> None:  # 20
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.turn("hello")
        db.db.execute("INSERT INTO migration VALUES ('20270101000000_the_future', 1)")
        db.db.execute("ALTER TABLE session ADD COLUMN fork_session_id text")
    source = OpenCodeSource(tmp_path / "opencode.db")
    listing = source.sessions()
    assert codes(listing.problems) == ["schema_newer"]
    assert len(source.open(s.id).turns) == 1


def test_missing_columns_and_tables_are_no_failure(tmp_path: Path) -> None:  # 20
    path = tmp_path / "opencode.db"
    with OpenCodeDB(
        path, without=("event", "event_sequence", "session_message", "session_input", "session_context_epoch"), log=False
    ) as db:
        s = db.session("old")
        s.turn("hello")
        for column in ("agent", "model", "revert", "path"):
            db.db.execute(f"ALTER TABLE session DROP COLUMN {column}")
    source = OpenCodeSource(path)
    listing = source.sessions()
    assert [i.title for i in listing.sessions] == ["old"]
    assert listing.problems == ()
    assert len(source.open(s.id).turns) == 1
    assert source.changed(source.changed(None).cursor).any is False


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (id)")
    other.commit()
    other.close()
    assert not probe(path)
    source = OpenCodeSource(path)
    listing = source.sessions()
    assert listing.sessions == ()
    assert codes(listing.problems) == ["schema_unknown"]


@pytest.mark.parametrize(
    "data",
    ["", "{", "[]", "null", '{"role": 3}', '{"role":"user","time":"late"}', "[" * 20_000, '"\\ud800"', '{"role":"assistant","tokens":[]}'],
)
def test_a_message_that_cannot_be_read_is_named_and_left_out(db: OpenCodeDB, data: str) -> None:
    s = db.session()
    s.turn("one")
    db.step_clock()
    s.message(data)
    s.turn("two")
    db.close()
    ledger = OpenCodeSource(db.path).open(s.id)
    assert len(ledger.turns) == 2
    assert codes(ledger.problems) == ["unreadable_record"]
    assert "\\" not in ledger.problems[0].message


@pytest.mark.parametrize("data", ["", "{", "[]", "{}", '{"type":7}', "[" * 20_000, '{"type":"text","text":'])
def test_a_part_that_cannot_be_read_is_named_and_listed(db: OpenCodeDB, data: str) -> None:
    s = db.session()
    row = s.user("one")
    s.part(row, data)
    s.step("ok")
    db.close()
    ledger = OpenCodeSource(db.path).open(s.id)
    assert len(ledger.turns) == 1
    assert codes(ledger.problems) == ["unreadable_record"]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": None},
        {"type": "text", "text": 5},
        {"type": "tool", "tool": "x", "callID": 9, "state": {"status": "completed", "output": {"a": 1}}},
        {
            "type": "tool",
            "tool": "x",
            "callID": "c",
            "state": {"status": "completed", "output": "o", "metadata": {"sessionId": 5, "output": []}},
        },
        {"type": "tool"},
        {"type": "file", "mime": "image/png", "url": "https://x/y.png"},
        {"type": "compaction"},
    ],
)
def test_fields_of_other_types_never_fail_a_session(db: OpenCodeDB, part: dict[str, object]) -> None:
    s = db.session()
    row = s.user("one")
    s.part(row, json.dumps(part))
    s.step("ok")
    db.close()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    assert sum(len(t.requests) for t in ledger.turns) + len(ledger.before) == 1
    for message in ledger.now.messages if ledger.now else ():
        for p in message.parts:
            assert p.ref is not None
            source.text(p.ref, 100)


def test_a_deleted_session_and_a_deleted_file(db: OpenCodeDB) -> None:  # 8
    s = db.session()
    s.turn("one")
    db.flush()
    source = OpenCodeSource(db.path)
    cursor = source.changed(source.changed(None).cursor).cursor
    ledger = source.open(s.id)
    s.delete()
    db.flush()
    change = source.changed(cursor)
    assert change.listing
    assert change.ids == frozenset({s.id})
    with pytest.raises(NoSession):
        source.open(s.id, ledger)
    db.close()
    db.path.unlink()
    assert source.changed(change.cursor).gone
    with pytest.raises(SourceError) as caught:
        source.sessions()
    assert caught.value.code is ProblemCode.GONE


def test_another_file_in_its_place_is_read_anew(tmp_path: Path) -> None:  # 6
    path = tmp_path / "opencode.db"
    with OpenCodeDB(path) as db:
        first = db.session("first")
        first.turn("one")
    source = OpenCodeSource(path)
    cursor = source.changed(None).cursor
    ledger = source.open(first.id)
    with OpenCodeDB(tmp_path / "new.db") as db:
        second = db.session("second")
        second.turn("two")
    (tmp_path / "new.db").replace(path)
    change = source.changed(cursor)
    assert change.ids is None
    assert change.listing
    assert first.id == second.id  # the builder's ids come from its clock
    again = source.open(second.id, ledger)
    assert again.info.title == "second"
    assert value_of(source.text(again.turns[0].input[0], 9)) == "two"


def test_changed_names_the_sessions_that_moved(db: OpenCodeDB) -> None:
    a, b = db.session("a"), db.session("b")
    a.turn("one")
    b.turn("one")
    db.flush()
    source = OpenCodeSource(db.path)
    cursor = source.changed(source.changed(None).cursor).cursor
    assert not source.changed(cursor).any
    step = a.step("more")
    db.flush()
    change = source.changed(cursor)
    assert (change.ids, change.listing) == (frozenset({a.id}), False)  # it moved; the list's words did not
    # a part that is rewritten moves nothing but the event log's counter
    part = a.parts_of(step)[1][0]
    a.part(step, text("changed"), id=part)
    db.flush()
    later = source.changed(change.cursor)
    assert (later.ids, later.listing) == (frozenset({a.id}), False)
    c = db.session("c")
    db.flush()
    newest = source.changed(later.cursor)
    assert newest.listing
    assert newest.ids == frozenset({c.id})
    for column, value in (("title", "renamed"), ("agent", "plan"), ("model", '{"id":"m"}'), ("directory", "/elsewhere")):
        db.db.execute(f"UPDATE session SET {column} = ? WHERE id = ?", (value, b.id))
        db.flush()
        newest = source.changed(newest.cursor)
        assert (newest.ids, newest.listing) == (frozenset({b.id}), True), column
    db.close()


def test_the_first_look_reads_no_row_and_misses_nothing(db: OpenCodeDB, monkeypatch: pytest.MonkeyPatch) -> None:
    a = db.session("a")
    a.turn("one")
    db.flush()
    source = OpenCodeSource(db.path)
    with monkeypatch.context() as m:
        m.setattr(source_module, "read", lambda *_, **__: pytest.fail("rows were read"))
        first = source.changed(None)
    a.turn("two")  # before anything is known of the rows: which session moved cannot be told, but that one did
    db.flush()
    change = source.changed(first.cursor)
    assert (change.ids, change.listing) == (None, True)
    a.turn("three")
    db.flush()
    assert source.changed(change.cursor).ids == frozenset({a.id})
    db.close()


def test_opening_again_reads_what_is_new_rewritten_and_gone(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("one")
    step = s.step("old", tool("bash", {}, "x"))
    db.flush()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    s.part(step, text("new and longer"), id=s.parts_of(step)[1][0])
    two = s.turn("two")
    three = s.turn("three")
    db.flush()
    again = source.open(s.id, ledger)
    fresh = OpenCodeSource(db.path).open(s.id)
    assert [replace(r, context=None) for r in again.turns[0].requests] == [replace(r, context=None) for r in fresh.turns[0].requests]
    assert [t.id for t in again.turns] == [t.id for t in fresh.turns]
    assert again.now is not None
    assert fresh.now is not None
    assert again.now.messages.messages() == fresh.now.messages.messages()
    s.revert(three)
    s.cleanup()
    db.flush()
    shorter = source.open(s.id, again)
    assert [t.id for t in shorter.turns][1:] == [two]
    assert [h.id for h in shorter.hidden] == [three]
    db.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[(column, value) for column in TIMES for value in ("'x'", "x'00ff'", "1.5", "9e999")],
        *[(column, value) for column in ("message.id", "part.id") for value in ("NULL", "x'00ff'", "'a' || char(0) || 'b'")],
    ],
)
def test_a_column_of_an_odd_type_costs_its_row_alone(db: OpenCodeDB, column: str, value: str) -> None:
    s = db.session()
    s.turn("one")
    s.turn("two")
    s.turn("three")
    db.close()
    whole = OpenCodeSource(db.path).open(s.id)
    assert len(whole.turns) == 3
    table, name = column.split(".")
    with closing(sqlite3.connect(db.path)) as connection:
        victim = connection.execute(f"SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET 2").fetchone()[0]
        connection.execute(f"UPDATE {table} SET {name} = {value} WHERE rowid = ?", (victim,))
        connection.commit()
    source = OpenCodeSource(db.path)
    ledger = source.open(s.id)
    assert codes(ledger.problems) == ["unreadable_record"]
    assert len(ledger.turns) >= 2
    again = source.open(s.id, ledger)
    assert [(t.ids, [r.id for r in t.requests]) for t in again.turns] == [(t.ids, [r.id for r in t.requests]) for t in ledger.turns]
    assert codes(again.problems) == ["unreadable_record"]


def test_an_id_like_our_own_marker_is_an_id(db: OpenCodeDB) -> None:
    s = db.session()
    s.turn("asked")
    db.close()
    with closing(sqlite3.connect(db.path)) as connection:
        connection.execute("UPDATE part SET id = 'log:' || id")
        connection.commit()
    source = OpenCodeSource(db.path)
    assert value_of(source.text(source.open(s.id).turns[0].input[0], 100)) == "asked"
