"""Field reports 11-20 (docs/field-reports.md): databases, through the command."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.builders.opencode import START, OpenCodeDB
from tests.builders.opencode_parts import Usage, tool
from tests.builders.opencode_schema import MIGRATIONS
from tests.builders.pi import PiStore
from tests.command import Call as Cli
from tests.core.sources.opencode.test_places import json_session
from tests.fields.claims import codes, holds, sessions, texts, turns


def titles(answer: Any) -> list[str]:
    return sorted(row["title"] for row in answer["sessions"])


def state(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Return size, time and digest of each file of a folder."""
    return {
        p.name: (p.stat().st_size, p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest())
        for p in sorted(folder.iterdir())
        if p.is_file()
    }


def plain(path: Path, *questions: str, title: str = "Work") -> Path:
    # ids hold the time: another start makes another session
    with OpenCodeDB(path, start=START + 86_400_000 * sum(map(ord, title))) as db:
        s = db.session(title)
        for question in questions or ("one",):
            s.turn(question)
    return path


@pytest.mark.field(11)
def test_a_locked_database_is_named_after_a_bounded_wait(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(os.environ["XDG_DATA_HOME"]) / "opencode"
    plain(data / "opencode-other.db", title="readable")
    db = OpenCodeDB(data / "opencode.db")
    db.session("locked").turn("one")
    lock = db.lock()
    # rows in the -wal of a database that is held exclusively: neither it nor its newest rows can be read
    lock.execute("COMMIT")
    lock.execute("UPDATE migration SET time_completed = 1")
    lock.execute("BEGIN EXCLUSIVE")
    lock.execute("UPDATE migration SET time_completed = time_completed + 1")

    def claim(answer: Any) -> None:
        assert titles(answer) == ["readable"]
        assert codes(answer) == ["locked"]

    locked = cli("sessions", "--json")  # a wait without end is ended by the test's own time limit
    named = cli("sessions", "--source", str(data / "opencode.db"))
    assert (named.code, named.out) == (3, "")
    assert "locked" in named.err
    assert "next change" not in named.err  # a command that is over watches nothing
    lock.execute("COMMIT")
    lock.close()
    holds(claim, locked.json, cli("sessions", "--json").json)


@pytest.mark.unprivileged
@pytest.mark.field(12)
def test_an_idle_database_in_a_folder_that_cannot_be_written(cli: Cli, tmp_path: Path) -> None:
    path = plain(tmp_path / "store" / "opencode.db", "one", "two")
    with closing(sqlite3.connect(path)) as alone:
        assert alone.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    for p in path.parent.glob("opencode.db-*"):
        p.unlink()
    before = state(path.parent)

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one", "two"]
        assert answer["problems"] == []

    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        right = turns(cli, path, "last", "--text")
        after = state(path.parent)
    finally:
        path.parent.chmod(0o755)
    assert after == before
    holds(claim, right, turns(cli, plain(tmp_path / "other.db", "one"), "last", "--text"))


@pytest.mark.unprivileged
@pytest.mark.field(12)
def test_an_orphan_wal_that_cannot_be_read_is_said(cli: Cli, tmp_path: Path) -> None:
    db = OpenCodeDB(tmp_path / "store" / "opencode.db")
    s = db.session()
    s.turn("one")
    db.flush()
    db.checkpoint()
    s.turn("two")
    db.close_leaving_wal()
    db.path.parent.chmod(0o555)

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one"]
        assert codes(answer) == ["wal_not_readable"]

    try:
        right = turns(cli, db.path, "last", "--text")
    finally:
        db.path.parent.chmod(0o755)
    holds(claim, right, turns(cli, db.path, "last", "--text"))


@pytest.mark.field(13)
@pytest.mark.parametrize("writing", [False, True])
def test_our_own_reading_is_no_news(cli: Cli, tmp_path: Path, writing: bool) -> None:
    db = OpenCodeDB(tmp_path / "store" / "opencode.db")
    s = db.session()
    s.turn("one")
    db.flush()
    if not writing:
        db.close()
    before = {n: v for n, v in state(db.path.parent).items() if not n.endswith("-shm")}
    source = OpenCodeSource(db.path)
    cursor = source.changed(None).cursor
    sessions(cli, db.path)
    source.open(s.id)
    turns(cli, db.path, "last", "--text")
    for _ in range(5):
        source.sessions()
        source.open(s.id)
        change = source.changed(cursor)
        assert not change.any
        cursor = change.cursor
    assert {n: v for n, v in state(db.path.parent).items() if not n.endswith("-shm")} == before
    if writing:
        # the mutation: somebody else's writing is news
        s.turn("two")
        db.flush()
        assert source.changed(cursor).any
        db.close()


@pytest.mark.field(14)
def test_rows_that_are_still_in_the_wal_are_seen(cli: Cli, tmp_path: Path) -> None:
    db = OpenCodeDB(tmp_path / "opencode.db")
    s = db.session()
    s.turn("one")
    db.flush()
    db.checkpoint()
    s.turn("two")
    written = turns(cli, db.path, "last", "--text")  # not committed yet
    db.flush()

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one", "two"]

    assert (tmp_path / "opencode.db-wal").stat().st_size > 0
    with closing(sqlite3.connect(f"file:{db.path}?immutable=1", uri=True)) as alone:
        assert alone.execute("SELECT count(*) FROM message WHERE data LIKE '%\"user\"%'").fetchone() == (1,)
    holds(claim, turns(cli, db.path, "last", "--text"), written)
    db.close()


@pytest.mark.field(14)
def test_rows_of_a_killed_agent_are_seen(cli: Cli, tmp_path: Path) -> None:
    db = OpenCodeDB(tmp_path / "opencode.db")
    s = db.session()
    s.turn("one")
    db.flush()
    db.checkpoint()
    s.turn("two")
    db.close_leaving_wal()

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one", "two"]

    right = turns(cli, db.path, "last", "--text")
    wal = tmp_path / "opencode.db-wal"
    assert wal.exists()
    wal.unlink()
    (tmp_path / "opencode.db-shm").unlink(missing_ok=True)
    holds(claim, right, turns(cli, db.path, "last", "--text"))


@pytest.mark.field(15)
def test_databases_of_every_channel_and_of_the_environment_are_found(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(os.environ["XDG_DATA_HOME"]) / "opencode"
    plain(data / "opencode.db", title="latest")
    plain(data / "opencode-beta.db", title="beta")
    plain(data / "opencode-dev-2.db", title="dev")
    plain(tmp_path / "elsewhere" / "mine.sqlite", title="named")

    def claim(answer: Any) -> None:
        assert titles(answer) == ["beta", "dev", "latest", "named"]

    without = cli("sessions", "--json").json
    monkeypatch.setenv("OPENCODE_DB", str(tmp_path / "elsewhere" / "mine.sqlite"))
    holds(claim, cli("sessions", "--json").json, without)
    assert titles(without) == ["beta", "dev", "latest"]


@pytest.mark.field(15)
def test_a_data_folder_moved_by_the_environment(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain(tmp_path / "moved" / "opencode" / "opencode.db", title="moved")

    def claim(answer: Any) -> None:
        assert titles(answer) == ["moved"]

    before = cli("sessions", "--json").json
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "moved"))
    holds(claim, cli("sessions", "--json").json, before)


@pytest.mark.field(16)
@pytest.mark.parametrize("second", ["empty", "migrated"])
def test_one_generation_per_session_never_the_union(cli: Cli, tmp_path: Path, second: str) -> None:
    def written(name: str, extra: bool) -> Path:
        path = tmp_path / name / "opencode.db"
        with OpenCodeDB(path) as db:
            s = db.session("first")
            s.turn("one")
            s.turn("two")
            if extra:
                s.turn("three")
            if second == "migrated":
                # the same conversation again, in the tables of the next generation
                s.v2([("user", {"text": q, "time": {"created": 1}}) for q in ("one", "two")])
        return path

    def claim(answer: tuple[Any, Any]) -> None:
        assert [(row["title"], row["turns"], row["steps"]) for row in answer[0]["sessions"]] == [("first", 2, 2)]
        assert texts(answer[1]) == ["one", "two"]

    def both(path: Path) -> tuple[Any, Any]:
        return sessions(cli, path), turns(cli, path, "last", "--text")

    holds(claim, both(written("right", False)), both(written("more", True)))


@pytest.mark.field(16)
def test_a_session_of_the_second_generation_alone_is_listed_and_named(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, v1: bool) -> Path:
        path = tmp_path / name / "opencode.db"
        with OpenCodeDB(path) as db:
            s = db.session("second")
            if v1:
                s.turn("one")
            s.v2([("user", {"text": "one", "time": {"created": 1}})])
        return path

    def claim(answer: Any) -> None:
        assert titles(answer) == ["second"]
        assert answer["sessions"][0]["source"]["format"] == "opencode-2"
        assert "schema_newer" in codes(answer)

    holds(claim, sessions(cli, written("v2", False)), sessions(cli, written("v1", True)))


@pytest.mark.field(17)
def test_json_files_that_were_partly_moved_into_the_database(cli: Cli, tmp_path: Path) -> None:
    data = Path(os.environ["XDG_DATA_HOME"]) / "opencode"
    with OpenCodeDB(data / "opencode.db") as db:
        s = db.session("moved")
        s.turn("one")
        s.turn("after the move")
    moved = s.id
    json_session(data / "storage", moved, "moved, as it was", "one")
    before = cli("sessions", "--json").json
    json_session(data / "storage", "ses_left", "left behind", "an old question")

    def claim(answer: Any) -> None:
        assert titles(answer) == ["left behind", "moved"]
        assert {row["title"]: (row["turns"], row["source"]["format"]) for row in answer["sessions"]} == {
            "left behind": (1, "opencode-json"),
            "moved": (2, "opencode-1"),
        }
        assert answer["problems"] == []

    holds(claim, cli("sessions", "--json").json, before)
    for named in (data, data / "storage"):
        listed = cli("sessions", "--json", "--source", str(named)).json
        assert "left behind" in titles(listed)
        assert len(titles(listed)) == len({row["key"] for row in listed["sessions"]})
    told = cli("turns", "ses_left", "--json", "--text").json
    assert texts(told) == ["an old question"]
    assert texts(cli("turns", moved, "--json", "--text").json) == ["one", "after the move"]
    # without the database the files say all that is known
    (data / "opencode.db").unlink()
    alone = cli("sessions", "--json").json
    assert titles(alone) == ["left behind", "moved, as it was"]


@pytest.mark.field(18)
def test_lists_touch_no_event_log(cli: Cli, tmp_path: Path) -> None:
    """A list that reads the event log fails where there is none, and where a value of it cannot be read."""

    def written(name: str, without: tuple[str, ...], title: str) -> Path:
        path = tmp_path / name / "opencode.db"
        with OpenCodeDB(path, log=not without, without=without) as db:
            db.session(title).turn("one")
            if not without:
                db.db.execute("INSERT INTO event_sequence (aggregate_id, seq) VALUES ('x', 1)")
                db.db.execute("INSERT INTO event VALUES ('evt_x', 'x', 1, 'message.updated.1', zeroblob(60000000))")
        return path

    def claim(answer: Any) -> None:
        assert titles(answer) == ["right"]
        assert answer["problems"] == []

    holds(
        claim,
        sessions(cli, written("absent", ("event", "event_sequence"), "right")),
        sessions(cli, written("other", ("event", "event_sequence"), "wrong")),
    )
    claim(sessions(cli, written("huge", (), "right")))


@pytest.mark.field(18)
def test_a_huge_row_is_left_out_and_named(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, size: int) -> Path:
        path = tmp_path / name / "opencode.db"
        with OpenCodeDB(path, log=False) as db:
            s = db.session()
            s.user("one")
            s.step("ok", tool("bash", {"command": "x"}, "y" * size), usage=Usage(500, 5))
            s.turn("two")
        return path

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one", "two"]
        assert answer["turns"][0]["window"]["tokens"] == 500
        assert "too_large" in codes(answer)

    holds(
        claim,
        turns(cli, written("huge", 40_000_000), "last", "--text"),
        turns(cli, written("small", 4_000), "last", "--text"),
    )


@pytest.mark.field(19)
def test_a_corrupt_page_is_a_problem_of_that_source_alone(cli: Cli, tmp_path: Path) -> None:
    data = Path(os.environ["XDG_DATA_HOME"]) / "opencode"
    store = PiStore(Path(os.environ["HOME"]))
    store.session(id="fine").turn("one")
    path = plain(data / "opencode.db", *(f"question {i} {'x' * 500}" for i in range(60)))
    whole = cli("sessions", "--json").json
    damage(path, "message")

    def claim(answer: Any) -> None:
        assert "fine" in [row["id"] for row in answer["sessions"]]
        assert "corrupt" in codes(answer)
        assert all(p["source"].endswith("opencode.db") for p in answer["problems"])

    done = cli("sessions", "--json")
    assert done.code == 0
    holds(claim, done.json, whole)
    plain_text = cli("sessions")
    assert plain_text.code == 0
    assert "damaged" in plain_text.err


def damage(path: Path, table: str) -> None:
    """Overwrite the pages of a table's leaves."""
    with closing(sqlite3.connect(path)) as db, db:
        size = db.execute("PRAGMA page_size").fetchone()[0]
        root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    db.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        page = file.read(size)
        assert page[0] == 5, "the table must have more than one page"
        cells = int.from_bytes(page[3:5], "big")
        for i in range(cells):
            at = int.from_bytes(page[12 + 2 * i : 14 + 2 * i], "big")
            leaf = int.from_bytes(page[at : at + 4], "big")
            file.seek((leaf - 1) * size)
            file.write(b"\xff" * size)


@pytest.mark.field(20)
def test_a_newer_schema_is_a_named_limitation(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, migrations: tuple[str, ...]) -> Path:
        path = tmp_path / name / "opencode.db"
        with OpenCodeDB(path, migrations=migrations) as db:
            db.session("first").turn("one")
        return path

    def claim(answer: Any) -> None:
        assert titles(answer) == ["first"]
        assert answer["sessions"][0]["turns"] == 1
        assert codes(answer) == ["schema_newer"]

    newer = written("newer", (*MIGRATIONS, "20990101000000_tomorrow"))
    holds(claim, sessions(cli, newer), sessions(cli, written("known", MIGRATIONS)))
    done = cli("turns", "last", "--source", str(newer))
    assert done.code == 0
    assert "newer" in done.err


@pytest.mark.field(20)
def test_tables_that_nobody_knows(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE session_v9 (id TEXT)")
    db.close()
    done = cli("sessions", "--json", "--source", str(path))
    assert "Traceback" not in done.err
    assert done.code == 3
    assert done.out == ""
