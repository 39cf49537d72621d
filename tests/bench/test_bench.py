"""The rules by which figures are compared, and the tools that measure; no time is asserted."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.bench import results, stores
from tests.bench.reading import tables_read
from tests.bench.results import Result, doubled, land, landed, table
from tests.bench.terminal import Gone, Terminal


def figure(value: float, limit: float = 10.0, **more: object) -> Result:
    return Result("x", value, limit, "a limit", **more)  # type: ignore[arg-type]


def test_a_ratio_fails_only_where_it_has_doubled() -> None:
    before = {"x": 2.0}
    assert not doubled(figure(39), before)
    assert doubled(figure(41), before)
    assert not doubled(figure(41, limit=20), before), "the machine was slower, not the program"
    assert not doubled(figure(41, floor=30), before), "within the noise"
    assert not doubled(figure(1000), {}), "nothing was landed to compare with"


def test_the_verdict_is_about_the_budget() -> None:
    assert figure(10, budget=10).verdict == "ok"
    assert figure(10.1, budget=10).verdict == "OVER"
    assert figure(10).verdict == ""
    assert figure(1, budget=10, fault="reads event").verdict == "FAULT"


def test_landed_figures_are_kept_by_scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "FIGURES", tmp_path / "figures.json")
    assert landed(0.1) == {}
    land(0.1, [figure(40)])
    land(1.0, [figure(30), Result("y", 1, 4, "")])
    land(1.0, [figure(50)])
    assert landed(0.1) == {"x": 4.0}
    assert landed(1) == {"x": 5.0, "y": 0.25}
    assert "DOUBLED" in table([figure(90)], landed(0.1))
    assert "DOUBLED" not in table([figure(79)], landed(0.1))


def test_the_probe_sees_which_tables_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    made = sqlite3.connect(path)
    made.executescript("CREATE TABLE a (x); CREATE TABLE event (y); INSERT INTO event VALUES (1)")
    made.close()
    refused: list[str | None] = []

    def only_a(action: int, first: str | None, *rest: str | None) -> int:
        if action == sqlite3.SQLITE_READ and first != "a":
            refused.append(first)
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    with tables_read() as seen:
        db = sqlite3.connect(path)
        db.execute("SELECT x FROM a").fetchall()
        assert seen == {"a"}
        db.execute("SELECT COUNT(*) FROM event").fetchall()
        assert seen == {"a", "event"}
        db.set_authorizer(only_a)
        with pytest.raises(sqlite3.DatabaseError):
            db.execute("SELECT y FROM event")
        db.close()
    assert refused == ["event"]
    plain = sqlite3.connect(path)
    plain.close()
    assert type(plain) is sqlite3.Connection


def test_generated_stores_have_the_stated_shape(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    session = stores.opencode(path, 0.01, title="the big one")
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        assert db.execute("SELECT COUNT(*) FROM part WHERE session_id = ?", (session,)).fetchone() == (1250,)
        assert db.execute("SELECT COUNT(*) FROM session").fetchone() == (30,)
        assert db.execute("SELECT COUNT(*) FROM event").fetchone() == (10_000,)
        assert db.execute("SELECT id, title FROM session ORDER BY time_updated DESC LIMIT 1").fetchone() == (session, "the big one")
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
    finally:
        db.close()
    lines = stores.pi_long_line(tmp_path / "pi", 100_000, "long").read_bytes().splitlines()
    assert max(map(len, lines)) > 100_000
    assert json.loads(lines[0])["type"] == "session"


def test_a_terminal_tells_when_something_was_shown(tmp_path: Path) -> None:
    code = "import time; print('\\x1b[31mfirst\\x1b[0m', flush=True); time.sleep(0.2); print('second', input(), flush=True); time.sleep(9)"
    with Terminal([sys.executable, "-c", code], env=dict(os.environ), cwd=tmp_path) as t:
        first = t.when(lambda screen: "first" in screen)
        t.quiet(0.3)
        at = t.press("key\n")
        second = t.when(lambda screen: "second key" in screen)
        assert t.began < first < at < second
        assert t.cpu() > 0
        assert t.memory(peak=True) >= t.memory() > 1
        with pytest.raises(Gone, match="did not within"):
            t.when(lambda screen: "third" in screen, seconds=0.3)
        t.process.kill()
        with pytest.raises(Gone, match="ended with"):
            t.when(lambda screen: "third" in screen)
