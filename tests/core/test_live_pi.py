"""Watching real Pi files, as the builder writes them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from ctx_inspect.core.live import Live
from ctx_inspect.core.model import Ledger
from ctx_inspect.core.sources.pi import PiSource

from tests.builders.pi import PiFile, PiStore, encode
from tests.core.live_fakes import Heard, based


class Desk:
    """A store, its watch, and the ledgers as the screen would hold them."""

    def __init__(self, home: Path) -> None:
        self.store = PiStore(home)
        self.session = self.store.session(id="one")
        self.session.turn("hello")
        self.source = PiSource(self.store.sessions)
        self.heard = Heard()
        self.live = Live([self.source], self.heard)

    def __enter__(self) -> Desk:
        self.live.start()
        based(self.live, self.source)
        self.live.reader(self.source).sessions().result(5)
        return self

    def __exit__(self, *_: object) -> None:
        self.live.close()

    def open(self, id: str, prior: Ledger | None = None) -> Ledger:
        return self.live.reader(self.source).open(id, prior).result(5)

    def told(self, id: str, start: int) -> None:
        self.heard.wait(lambda e: e.ids is None or id in e.ids, 4, start)

    def now(self) -> int:
        return len(self.heard.events)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with Desk(tmp_path) as desk:
        yield desk


def test_a_turn_is_told_entry_by_entry(desk: Desk) -> None:
    ledger = desk.open("one")
    assert len(ledger.turns) == 1
    start = desk.now()
    desk.session.user("more")
    desk.told("one", start)
    ledger = desk.open("one", ledger)
    assert [len(t.requests) for t in ledger.turns] == [1, 0]
    start = desk.now()
    desk.session.assistant("yes")
    desk.told("one", start)
    assert [len(t.requests) for t in desk.open("one", ledger).turns] == [1, 1]


def test_a_half_written_line_is_told_when_it_is_whole(desk: Desk) -> None:
    ledger = desk.open("one")
    with desk.session.held() as lines:
        desk.session.user("in two pieces")
    data = b"".join(line + b"\n" for line in lines)
    start = desk.now()
    desk.session.raw(data[:20])
    desk.told("one", start)
    ledger = desk.open("one", ledger)
    assert len(ledger.turns) == 1
    assert ledger.problems == ()
    start = desk.now()
    desk.session.raw(data[20:])
    desk.told("one", start)
    ledger = desk.open("one", ledger)
    assert len(ledger.turns) == 2
    assert ledger.problems == ()


def test_a_last_line_without_its_end_counts_once_it_is_quiet(desk: Desk) -> None:
    ledger = desk.open("one")
    with desk.session.held() as lines:
        desk.session.user("without an end")
    start = desk.now()
    desk.session.raw(b"".join(lines))
    desk.told("one", start)
    ledger = desk.open("one", ledger)
    assert len(ledger.turns) == 1
    start = desk.now()
    desk.told("one", start)  # nothing is written: it is the quiet that is told
    assert len(desk.open("one", ledger).turns) == 2


def test_new_sessions_in_a_new_folder(desk: Desk) -> None:
    start = desk.now()
    other = desk.store.session(cwd="/home/ann/elsewhere", id="two")
    other.turn("hi")
    desk.heard.wait(lambda e: e.listing, 4, start)
    found = desk.live.reader(desk.source).sessions().result(5)
    assert {s.id for s in found.sessions} == {"one", "two"}
    desk.open("two")
    start = desk.now()
    other.turn("again")
    desk.told("two", start)


@pytest.mark.parametrize("how", ["truncated", "rewritten", "replaced"])
def test_a_file_that_is_another_now(desk: Desk, how: str) -> None:
    ledger = desk.open("one")
    path = desk.session.path
    other = PiFile(path.parent / "aside", id="one", seed="other")
    other.turn("another beginning")
    other.turn("and more")
    start = desk.now()
    match how:
        case "truncated":
            os.truncate(path, len(encode(desk.session.header)) + 1)
        case "rewritten":
            path.write_bytes(other.path.read_bytes())
        case _:
            other.path.replace(path)
    shutil.rmtree(other.path.parent)
    desk.told("one", start)
    ledger = desk.open("one", ledger)
    assert len(ledger.turns) == (0 if how == "truncated" else 2)


def test_deleted_and_back(desk: Desk) -> None:
    desk.open("one")
    data = desk.session.path.read_bytes()
    start = desk.now()
    desk.session.path.unlink()
    desk.heard.wait(lambda e: e.listing, 4, start)
    assert desk.live.reader(desk.source).sessions().result(5).sessions == ()
    start = desk.now()
    desk.session.path.write_bytes(data)
    desk.heard.wait(lambda e: e.listing, 4, start)
    assert len(desk.open("one").turns) == 1


def test_the_whole_store_goes_and_comes_back(desk: Desk) -> None:
    aside = desk.store.home / "aside"
    desk.store.agent.rename(aside)
    desk.heard.wait(lambda e: e.gone, 4)
    start = desk.now()
    aside.rename(desk.store.agent)
    desk.heard.wait(lambda e: e.back, 4, start)
    start = desk.now()
    desk.session.turn("after")
    desk.told("one", start)
    assert len(desk.open("one").turns) == 2
