"""A writer that closes its database while we watch leaves what one leaves that nobody watches."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from pathlib import Path
from sqlite3 import connect

import pytest
from ctx_inspect.core.sources import sqlite

from tests.harmless.conftest import Run
from tests.harmless.files import state_of
from tests.harmless.use import User, sources_of
from tests.harmless.writer import opencode

RUNS = 20
TURNS = 4


@pytest.fixture(scope="module")
def unwatched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("unwatched")
    opencode(folder, TURNS, 0, 0)
    return {k: v for k, v in state_of(folder, times=False).items() if k != "."}


def leave(folder: Path, python: Run, gap: float, rest: float) -> dict[str, object]:
    writer = python("tests.harmless.writer", "opencode", folder, TURNS, gap, rest)
    with User(sources_of([folder / "opencode.db"])) as user:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
        until = time.monotonic() + 10
        while time.monotonic() < until and [len(ledger.turns) for ledger in user.ledgers.values()] != [TURNS]:
            time.sleep(0.01)
        time.sleep(0.15)
    assert [len(ledger.turns) for ledger in user.ledgers.values()] == [TURNS], "it saw all of it"
    assert user.errors == []
    return {k: v for k, v in state_of(folder, times=False).items() if k != "."}


@pytest.mark.parametrize("run", range(RUNS))
def test_a_writer_that_closes(tmp_path: Path, python: Run, run: int, unwatched: dict[str, object]) -> None:
    assert leave(tmp_path, python, 0.05, 0.4) == unwatched


@pytest.mark.bench
@pytest.mark.timeout(300)
def test_writers_that_close_at_once_after_their_last_row(
    tmp_path: Path, python: Run, unwatched: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    """Who closes in the very milliseconds of a read cannot tidy up: how often is printed. Nothing is ever lost by it."""
    tidy = 0
    for run in range(RUNS):
        folder = tmp_path / str(run)
        folder.mkdir()
        tidy += leave(folder, python, 0.15, 0.0) == unwatched
        with closing(connect(folder / "opencode.db")) as next_agent:
            rows = next_agent.execute('SELECT count(*) FROM message WHERE data LIKE \'%"role":"user"%\'').fetchone()
            assert rows == (TURNS,)
        left = {k: v for k, v in state_of(folder, times=False).items() if k != "."}
        assert left.keys() == unwatched.keys(), "the next one that closes it tidies up"
    with capsys.disabled():
        print(f"\nclosed at once after the last row: {tidy} of {RUNS} left nothing beside the database")


def test_a_wal_that_vanishes_before_it_is_opened_is_not_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner closed between the look at the ``-wal`` and the read."""
    opencode(tmp_path, TURNS, 0, 0)
    path = tmp_path / "opencode.db"
    before = state_of(tmp_path)
    real = sqlite.check
    looks: list[Path] = []

    def stale(where: Path) -> sqlite.Stamp:
        looks.append(where)
        found = real(where)
        return found if len(looks) > 1 else sqlite.Stamp(found.db, (1, 1, 4096, 1))

    monkeypatch.setattr(sqlite, "check", stale)
    read = sqlite.read(path, lambda r: r.row("SELECT count(*) FROM session"), tables={"session"})
    assert read.value == (1,)
    assert len(looks) == 2
    assert state_of(tmp_path) == before


def test_a_closing_owner_is_not_waited_for_with_an_open_connection(tmp_path: Path) -> None:
    """Its lock is met, then it is gone, and so is its ``-wal``: what follows is a snapshot, without side files."""
    opencode(tmp_path, TURNS, 0, 0)
    path = tmp_path / "opencode.db"
    owner = connect(path, isolation_level=None, check_same_thread=False)
    owner.execute("PRAGMA locking_mode=EXCLUSIVE")
    owner.execute("UPDATE session SET title = 'closing'")
    assert path.with_name("opencode.db-wal").stat().st_size > 0
    timer = threading.Timer(0.15, owner.close)
    timer.start()
    read = sqlite.read(path, lambda r: r.row("SELECT title FROM session"), tables={"session"}, wait=5)
    timer.join()
    assert read.value == ("closing",)
    assert [p.name for p in tmp_path.iterdir()] == ["opencode.db"]
