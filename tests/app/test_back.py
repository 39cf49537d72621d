"""What went away and comes back: the session lives again, and what was said of it goes."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.sources.discovery import open_sources
from ctx_inspect.core.sources.pi import PiSource

from tests.app.screens import running, screen, until
from tests.builders.opencode import OpenCodeDB
from tests.builders.pi import PiFile, PiStore


def head(app: Inspector) -> str:
    return screen(app)[0]


@pytest.mark.parametrize("meanwhile", ["nothing", "another session"])
@pytest.mark.parametrize("alone", [True, False])
async def test_a_session_that_is_put_back_lives_again(tmp_path: Path, meanwhile: str, alone: bool) -> None:
    store = PiStore(tmp_path / "home")
    if not alone:
        store.session(id="beside").turn("beside")
    one = store.session(id="one")
    one.rename("The one")
    one.turn("first")
    other = PiFile(tmp_path / "elsewhere", id="other")
    other.turn("other words")
    async with running([PiSource(store.sessions)], tmp_path / "state") as (app, pilot):
        await until(pilot, lambda: "The one" in head(app) and "LIVE" in head(app))
        held = one.path.read_bytes()
        one.path.unlink()
        await until(pilot, lambda: "◇ deleted" in head(app))
        if meanwhile == "another session":
            one.path.write_bytes(other.path.read_bytes())
            await until(pilot, lambda: "pi:other" in app.desk.infos)
            assert "◇ deleted" in head(app)
        await asyncio.sleep(2)
        one.path.write_bytes(held)
        one.turn("second")
        await until(pilot, lambda: "LIVE" in head(app) and "◇ deleted" not in head(app))
        await until(pilot, lambda: app.turns.snapshot is not None and len(app.turns.snapshot.ledger.turns) == 2)
        one.turn("third")
        await until(pilot, lambda: app.turns.snapshot is not None and len(app.turns.snapshot.ledger.turns) == 3)
        assert "The one" in head(app)


def said(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_what_was_wrong_with_a_file_goes_from_the_screen_when_it_is_right_again(tmp_path: Path) -> None:
    store = PiStore(tmp_path / "home")
    one = store.session(id="one")
    one.turn("first words")
    one.turn("second words")
    held = one.path.read_bytes()
    async with running([PiSource(store.sessions, one_shot=True)], tmp_path / "state") as (app, pilot):
        one.path.write_bytes(held[:-40] + b"\n")  # its last record is cut
        await until(pilot, lambda: app.trouble.display and "no whole record" in said(app))
        one.path.write_bytes(held)
        await until(pilot, lambda: not app.trouble.display and not app.trouble.problems)
        one.path.write_bytes(b"something else\n")
        await until(pilot, lambda: "not a Pi session" in said(app))
        one.path.write_bytes(held)
        await until(pilot, lambda: not app.trouble.display and not app.trouble.problems)
        assert "LIVE" in head(app)


async def test_a_dismissed_line_stays_away_while_the_same_is_wrong(tmp_path: Path) -> None:
    store = PiStore(tmp_path / "home")
    one = store.session(id="one")
    one.turn("first words")
    one.raw(b'{"type":"message","broken\n')
    one.turn("second words")
    async with running([PiSource(store.sessions)], tmp_path / "state") as (app, pilot):
        await until(pilot, lambda: app.trouble.display)
        await pilot.press("x")
        one.turn("third words")
        await until(pilot, lambda: app.turns.snapshot is not None and len(app.turns.snapshot.ledger.turns) == 3)
        assert app.trouble.problems
        assert not app.trouble.display


async def test_a_lock_is_said_soon_and_goes_with_its_line(tmp_path: Path) -> None:
    db = OpenCodeDB(tmp_path / "opencode.db")
    db.session("The one").turn("hello")
    lock = db.lock()
    lock.execute("COMMIT")
    lock.execute("UPDATE migration SET time_completed = 1")
    lock.execute("BEGIN EXCLUSIVE")
    lock.execute("UPDATE migration SET time_completed = time_completed + 1")
    began = time.monotonic()
    (source,) = open_sources([str(tmp_path / "opencode.db")])
    assert time.monotonic() - began < 0.5
    try:
        async with running([source], tmp_path / "state", wait=False) as (app, pilot):
            await until(pilot, lambda: "looking for sessions" in head(app), 1.0)
            await until(pilot, lambda: app.empty.display and "locked, trying again" in said(app), 3.0)
            assert "locked by another program" in said(app)
            assert "hold no session" not in said(app)
            lock.execute("COMMIT")
            lock.close()
            await until(pilot, lambda: "The one" in head(app))
            await until(pilot, lambda: not app.trouble.display and not app.trouble.problems)
    finally:
        lock.close()


async def test_a_revealed_text_is_read_again_when_the_turn_is_another_one(tmp_path: Path) -> None:
    store = PiStore(tmp_path / "home")
    one = store.session(id="one")
    one.turn("before the change", answer="a1")
    async with running([PiSource(store.sessions, one_shot=True)], tmp_path / "state") as (app, pilot):
        await pilot.press("6", "v")
        await until(pilot, lambda: "before the change" in said(app))
        data = one.path.read_bytes()
        one.path.write_bytes(data.replace(b"before the change", b"behind the change, and longer"))
        await until(pilot, lambda: "behind the change, and longer" in said(app))
        assert "before the change" not in said(app).split("Text", 1)[1]
