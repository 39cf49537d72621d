"""The guarded reader: what it opens, what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.model import ProblemCode
from ctx_inspect.core.sources import sqlite as guarded
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.sqlite import Damaged, Reader, TooLarge, is_sqlite, read
from ctx_inspect.core.sources.stamps import stamp

from tests.conftest import ROOT


def make(path: Path, rows: int = 3, wal: bool = True) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    if wal:
        db.execute("PRAGMA journal_mode=wal")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
    db.execute("CREATE TABLE secret (v TEXT)")
    db.execute("INSERT INTO secret VALUES ('sk-never')")
    db.executemany("INSERT INTO t (v) VALUES (?)", [(f"row {n}",) for n in range(rows)])
    return db


def values(reader: Reader) -> list[str]:
    return [v for (v,) in reader.rows("SELECT v FROM t ORDER BY id")]


def state(folder: Path) -> dict[str, tuple[int, int, str]]:
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns, hashlib.sha256(p.read_bytes()).hexdigest()) for p in sorted(folder.iterdir())}


def refusal(path: Path, work: Callable[[Reader], Any] = values, **options: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        read(path, work, tables={"t"}, **options)
    assert str(path) not in caught.value.message
    return caught.value


@pytest.mark.parametrize("wal", [True, False])
def test_an_idle_database_is_read_and_nothing_is_left(tmp_path: Path, wal: bool) -> None:
    make(tmp_path / "a.db", wal=wal).close()
    before = state(tmp_path)
    found = read(tmp_path / "a.db", values, tables={"t"})
    assert (found.value, found.problems) == (["row 0", "row 1", "row 2"], ())
    assert state(tmp_path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db"]


def test_names_with_signs_of_urls_are_names(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=rwc#%41 ü.db"
    make(path).close()
    assert len(read(path, values, tables={"t"}).value) == 3
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_link_is_read_with_the_side_files_of_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    db = make(tmp_path / "real" / "a.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "a.db")
    db.execute("INSERT INTO t (v) VALUES ('in the wal')")
    assert read(tmp_path / "link.db", values, tables={"t"}).value[-1] == "in the wal"
    assert not list(tmp_path.glob("link.db-*"))
    db.close()


def test_rows_that_only_the_wal_holds_are_read(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("INSERT INTO t (v) VALUES ('new')")
    assert read(tmp_path / "a.db", values, tables={"t"}).value[-1] == "new"
    db.close()


def test_an_orphan_wal_is_read_and_kept(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("INSERT INTO t (v) VALUES ('orphan')")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("a.db", "a.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    db.close()
    before = state(copy)
    assert read(copy / "a.db", values, tables={"t"}).value[-1] == "orphan"
    assert {n: v for n, v in state(copy).items() if not n.endswith("-shm")} == before


def test_a_snapshot_that_moved_is_thrown_away(tmp_path: Path) -> None:
    """The owner writes while we read the snapshot: what is returned is the second reading."""
    path = tmp_path / "a.db"
    make(path).close()
    writers: list[sqlite3.Connection] = []

    def work(reader: Reader) -> list[str]:
        found = values(reader)
        if not writers:
            writer = sqlite3.connect(path, isolation_level=None)
            writer.execute("INSERT INTO t (v) VALUES ('meanwhile')")
            writers.append(writer)
        return found

    assert read(path, work, tables={"t"}).value[-1] == "meanwhile"
    writers[0].close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT v FROM secret",
        "SELECT (SELECT v FROM secret) FROM t",
        "SELECT v FROM view_of_secret",
        "SELECT v FROM t UNION SELECT v FROM secret",
        "INSERT INTO t (v) VALUES ('x')",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE n (a)",
        "CREATE TEMP TABLE n (a)",
        "ATTACH ':memory:' AS other",
        "PRAGMA journal_mode=delete",
        "PRAGMA wal_checkpoint",
        "VACUUM",
        "BEGIN IMMEDIATE",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n",
    ],
)
def test_nothing_but_reading_the_named_tables_is_possible(tmp_path: Path, sql: str) -> None:
    db = make(tmp_path / "a.db")
    db.execute("CREATE VIEW view_of_secret AS SELECT v FROM secret")
    db.close()
    before = state(tmp_path)
    error = refusal(tmp_path / "a.db", lambda r: r.row(sql))
    assert error.code is ProblemCode.SCHEMA_UNKNOWN
    assert state(tmp_path) == before


def test_a_view_in_the_place_of_a_table_is_no_table(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    db.execute("ALTER TABLE t RENAME TO other")
    db.execute("CREATE VIEW t AS SELECT 1 AS id, v FROM secret")
    db.close()
    assert read(tmp_path / "a.db", lambda r: r.columns("t"), tables={"t"}).value == frozenset()
    assert refusal(tmp_path / "a.db").code is ProblemCode.SCHEMA_UNKNOWN


def test_columns_of_a_table(tmp_path: Path) -> None:
    make(tmp_path / "a.db").close()
    assert read(tmp_path / "a.db", lambda r: (r.columns("t"), r.columns("nope")), tables={"t"}).value == (
        frozenset({"id", "v"}),
        frozenset(),
    )


def test_a_value_over_the_limit_is_not_read_but_measured(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    db.execute("INSERT INTO t (id, v) VALUES (9, ?)", ("é" * 50_000,))
    db.close()

    def work(reader: Reader) -> tuple[bytes, int]:
        with pytest.raises(TooLarge):
            list(reader.rows("SELECT v FROM t"))
        return reader.head("t", "v", 9, 4)

    assert read(tmp_path / "a.db", work, tables={"t"}, limit=20_000).value == ("éé".encode(), 100_000)


def test_a_lock_is_waited_for_and_then_named(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    db.execute("PRAGMA locking_mode=EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    db.execute("INSERT INTO t (v) VALUES ('x')")
    assert refusal(tmp_path / "a.db", wait=0.1).code is ProblemCode.LOCKED
    db.execute("COMMIT")
    db.close()
    assert len(read(tmp_path / "a.db", values, tables={"t"}).value) == 4


def test_an_endless_read_is_stopped(tmp_path: Path) -> None:
    make(tmp_path / "a.db", rows=300).close()
    error = refusal(tmp_path / "a.db", lambda r: r.row("SELECT count(*) FROM t a, t b, t c, t d"), deadline=0.2)
    assert error.code is ProblemCode.TOO_LARGE


def test_a_damaged_page_ends_the_rows_there(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    make(path, rows=2000, wal=False).close()
    data = bytearray(path.read_bytes())
    data[-4096:] = b"\xff" * 4096
    path.write_bytes(data)
    got: list[str] = []

    def work(reader: Reader) -> None:
        with pytest.raises(Damaged):
            got.extend(v for (v,) in reader.rows("SELECT v FROM t ORDER BY id"))
        for n in range(1, 1000):
            row = reader.row("SELECT v FROM t WHERE id = ?", (n,))
            assert row == (f"row {n - 1}",)

    read(path, work, tables={"t"})


def _fifo(p: Path) -> None:
    os.mkfifo(p)


def _loop(p: Path) -> None:
    p.symlink_to(p.with_name("other"))
    p.with_name("other").symlink_to(p)


@pytest.mark.parametrize(
    ("build", "code", "words"),
    [
        (lambda p: None, ProblemCode.GONE, "no such file"),
        (lambda p: p.write_bytes(b""), ProblemCode.NOT_A_STORE, "empty"),
        (lambda p: p.write_bytes(b"{}\n" * 5000), ProblemCode.NOT_A_STORE, "not a SQLite database"),
        (lambda p: p.mkdir(), ProblemCode.NOT_A_STORE, "folder"),
        (_fifo, ProblemCode.NOT_A_STORE, "pipe"),
        (_loop, ProblemCode.NOT_A_STORE, "loop"),
    ],
)
def test_what_is_no_database_is_refused_in_words(tmp_path: Path, build: Callable[[Path], object], code: ProblemCode, words: str) -> None:
    path = tmp_path / "x.db"
    build(path)
    error = refusal(path)
    assert error.code is code
    assert words in error.message
    assert not is_sqlite(path)


def as_nobody(folder: Path, code: str) -> str:
    """Run a piece of code as a user without rights (this one, where it is not root) and return what it prints."""
    prelude = f"import os, sys; sys.path.insert(0, {str(ROOT / '.typing')!r})\n" + (
        "import urllib.parse, ctx_inspect.core.sources.opencode\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        if os.geteuid() == 0
        else ""
    )
    done = subprocess.run([sys.executable, "-c", prelude + code], capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CODE = """
from pathlib import Path
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.sqlite import read
try:
    found = read(Path("a.db"), lambda r: [v for (v,) in r.rows("SELECT v FROM t ORDER BY id")], tables={"t"})
    print(len(found.value), *(p.code for p in found.problems))
except SourceError as error:
    print(error.code)
"""


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder that other users can reach."""
    for p in (tmp_path, *tmp_path.parents):
        if p == Path(p.anchor):
            break
        try:
            p.chmod(p.stat().st_mode | 0o011)
        except PermissionError:
            break
    return tmp_path


def test_without_permission_it_is_refused(open_folder: Path) -> None:
    make(open_folder / "a.db").close()
    (open_folder / "a.db").chmod(0)
    assert as_nobody(open_folder, CODE) == "permission"


def test_a_wal_that_cannot_be_read_is_said_and_the_rest_is_shown(open_folder: Path) -> None:
    db = make(open_folder / "b.db")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("INSERT INTO t (v) VALUES ('only in the wal')")
    for ending in ("", "-wal"):
        (open_folder / f"a.db{ending}").write_bytes((open_folder / f"b.db{ending}").read_bytes())
        (open_folder / f"a.db{ending}").chmod(0o444)
    db.close()
    open_folder.chmod(0o555)
    before = state(open_folder)
    try:
        assert as_nobody(open_folder, CODE) == "3 wal_not_readable"
    finally:
        open_folder.chmod(0o755)
    assert state(open_folder) == before
    # with the right to write there, the newest row is read
    assert len(read(open_folder / "a.db", values, tables={"t"}).value) == 4


def test_a_folder_that_cannot_be_written_is_no_obstacle(open_folder: Path) -> None:
    make(open_folder / "a.db").close()
    (open_folder / "a.db").chmod(0o444)
    open_folder.chmod(0o555)
    try:
        assert as_nobody(open_folder, CODE) == "3"
    finally:
        open_folder.chmod(0o755)


def test_a_stamp_moves_with_every_write_and_never_with_a_read(tmp_path: Path) -> None:
    db = make(tmp_path / "a.db")
    before = stamp(tmp_path / "a.db")
    for _ in range(3):
        read(tmp_path / "a.db", values, tables={"t"})
        assert stamp(tmp_path / "a.db") == before
    db.execute("INSERT INTO t (v) VALUES ('x')")
    moved = stamp(tmp_path / "a.db")
    assert moved != before
    assert moved.file == before.file
    db.close()
    (tmp_path / "a.db").unlink()
    assert stamp(tmp_path / "a.db").db is None


def test_the_connection_is_closed_even_when_work_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "a.db").close()
    seen: list[sqlite3.Connection] = []
    real = guarded._guard

    def watch(connection: sqlite3.Connection, *rest: Any) -> None:
        seen.append(connection)
        real(connection, *rest)

    monkeypatch.setattr(guarded, "_guard", watch)
    with pytest.raises(ZeroDivisionError):
        read(tmp_path / "a.db", lambda r: 1 / 0, tables={"t"})
    with pytest.raises(sqlite3.ProgrammingError):
        seen[0].execute("SELECT 1")


ODD = {
    "text": "'plain', 1, 'ü\"\\' || char(10) || char(0) || '💥'",
    "numbers": "9223372036854775807, -9223372036854775808, 1.5",
    "whole float": "1764557118123.0, NULL, ''",
    "json inside": "'{\"a\":[1]}', 0, '[null]'",
    "bytes": "x'00ff', 2, 'after bytes'",
    "no number": "9e999, -9e999, 3",
}


@pytest.mark.parametrize("odd", [*ODD, "all"])
def test_rows_at_once_are_the_rows_one_by_one(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "odd.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE session (a, b, c)")
    for values_of in [ODD[odd]] if odd != "all" else ODD.values():
        db.execute(f"INSERT INTO session VALUES ({values_of})")
    db.commit()
    db.close()

    def work(reader: Reader) -> tuple[list[Any], list[Any]]:
        one_by_one = [list(row) for row in reader.rows("SELECT a, b, NULL, c FROM session")]
        return one_by_one, [list(row) for row in reader.at_once(("a", "b", "NULL", "c"), "FROM session")]

    one_by_one, at_once = read(path, work, tables={"session"}).value
    assert at_once == one_by_one
    assert [[type(v) for v in row] for row in at_once] == [[type(v) for v in row] for row in one_by_one]


def test_rows_at_once_are_one_step(tmp_path: Path) -> None:
    make(tmp_path / "a.db", rows=50).close()

    def work(reader: Reader) -> tuple[int, int]:
        asked: list[str] = []
        reader.connection.set_trace_callback(asked.append)
        return len(list(reader.at_once(("id", "v"), "FROM t"))), len(asked)

    assert read(tmp_path / "a.db", work, tables={"t"}).value == (50, 1)


def test_rows_at_once_over_the_limit_or_no_text_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE session (a)")
    db.executemany("INSERT INTO session VALUES (?)", [("x" * 900,)] * 20)
    db.commit()
    found = read(path, lambda r: [len(a) for (a,) in r.at_once(("a",), "FROM session")], tables={"session"}, limit=5000)
    assert found.value == [900] * 20
    db.execute("INSERT INTO session VALUES (CAST(x'c328' AS TEXT))")
    db.commit()
    db.close()

    def until_damaged(reader: Reader) -> list[object]:
        seen: list[object] = []
        with pytest.raises(Damaged):
            seen.extend(len(a) for (a,) in reader.at_once(("a",), "FROM session"))
        return seen

    assert read(path, until_damaged, tables={"session"}).value == [900] * 20
