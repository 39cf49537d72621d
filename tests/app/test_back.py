"""What went away and comes back: the session lives again, and what was said of it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.sources.pi import PiSource

from tests.app.screens import running, screen, until
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
