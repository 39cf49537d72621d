"""Watching real OpenCode databases, as the builder writes them."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ctx_inspect.core.live import Live
from ctx_inspect.core.model import Ledger, ProblemCode
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.builders.opencode import OpenCodeDB
from tests.core.live_fakes import Heard, based


class Desk:
    """A database, its watch, and what the screen would ask."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "opencode.db"
        self.db = OpenCodeDB(self.path)
        self.session = self.db.session("First")
        self.session.turn("hello")
        self.db.flush()
        self.source = OpenCodeSource(self.path)
        self.heard = Heard()
        self.live = Live([self.source], self.heard)

    def __enter__(self) -> Desk:
        self.live.start()
        based(self.live, self.source)
        return self

    def __exit__(self, *_: object) -> None:
        self.live.close()
        with contextlib.suppress(sqlite3.ProgrammingError):  # a test has closed it
            self.db.close()

    def open(self, prior: Ledger | None = None) -> Ledger:
        return self.live.reader(self.source).open(self.session.id, prior).result(5)

    def now(self) -> int:
        return len(self.heard.events)

    def told(self, start: int, seconds: float = 4) -> None:
        self.heard.wait(lambda e: e.ids is None or self.session.id in e.ids, seconds, start)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path) as desk:
        yield desk


def test_rows_that_lie_in_the_wal_are_told(desk: Desk) -> None:
    ledger = desk.open()
    for n in range(2, 5):
        start = desk.now()
        desk.session.turn(f"question {n}")
        desk.db.flush()
        desk.told(start)
        ledger = desk.open(ledger)
        assert len(ledger.turns) == n


def test_a_checkpoint_is_no_end(desk: Desk) -> None:
    ledger = desk.open()
    desk.db.checkpoint()
    time.sleep(0.2)
    start = desk.now()
    desk.session.turn("after")  # the -wal is written anew from its beginning, at the size it may have had
    desk.db.flush()
    desk.told(start)
    assert len(desk.open(ledger).turns) == 2


def test_a_new_session_changes_the_list(desk: Desk) -> None:
    start = desk.now()
    other = desk.db.session("Second")
    other.turn("hi")
    desk.db.flush()
    _, event = desk.heard.wait(lambda e: e.listing, 4, start)
    assert event.ids is None or other.id in event.ids
    assert {s.id for s in desk.live.reader(desk.source).sessions().result(5).sessions} == {desk.session.id, other.id}


def test_a_revert_is_told(desk: Desk) -> None:
    second = desk.session.turn("second")
    desk.db.flush()
    ledger = desk.open()
    start = desk.now()
    desk.session.revert(second)
    desk.db.flush()
    desk.told(start)
    ledger = desk.open(ledger)
    assert (len(ledger.turns), len(ledger.hidden)) == (1, 1)


def test_locked_then_free(desk: Desk) -> None:
    owner = desk.db.db
    owner.execute("COMMIT")
    owner.execute("PRAGMA locking_mode=EXCLUSIVE")
    owner.execute("UPDATE session SET title = 'kept for itself'")  # lies in the -wal, and nobody else may look
    desk.heard.wait(lambda e: e.error is not None and e.error.code is ProblemCode.LOCKED, 8)
    time.sleep(1.5)
    assert sum(e.error is not None for _, e in desk.heard.events) == 1, "told once"
    start = desk.now()
    owner.execute("PRAGMA locking_mode=NORMAL")
    owner.execute("UPDATE session SET title = 'for all'")
    desk.heard.wait(lambda e: e.back, 8, start)
    assert desk.open().info.title == "for all"


def test_deleted_then_another_in_its_place(desk: Desk) -> None:
    ledger = desk.open()
    desk.db.close()
    for file in desk.path.parent.iterdir():
        file.unlink()
    desk.heard.wait(lambda e: e.gone, 4)
    start = desk.now()
    desk.db = OpenCodeDB(desk.path)
    desk.session = desk.db.session("Another")
    desk.session.turn("a")
    desk.session.turn("b")
    desk.db.flush()
    desk.heard.wait(lambda e: e.back, 4, start)
    assert len(desk.open(ledger).turns) == 2


def test_damaged_then_whole_again(desk: Desk) -> None:
    desk.db.close()
    whole = desk.path.read_bytes()
    start = desk.now()
    desk.path.write_bytes(b"\0" * len(whole))
    desk.heard.wait(lambda e: e.error is not None, 4, start)
    start = desk.now()
    desk.path.write_bytes(whole)
    desk.heard.wait(lambda e: e.back, 4, start)
    assert len(desk.open().turns) == 1
