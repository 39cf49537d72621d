"""A long session's newest turns are on the screen while the rest is read; then all have their numbers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.app import desk
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.live import LiveEvent
from ctx_inspect.core.model import Ledger, replace
from ctx_inspect.core.views.timeline import StepKey, TurnKey

from tests.app.fakes import FakeSource, ledger
from tests.app.screens import running, screen, until


class LongSource(FakeSource):
    """Has its newest turns at once, and the whole session when it is let."""

    def __init__(self, *ledgers: Ledger, ahead: int = 12) -> None:
        super().__init__(ledgers)
        self.ahead, self.go, self.opened = ahead, threading.Event(), list[str]()

    def glance(self, session: str) -> Ledger | None:
        whole = self.ledgers[session]
        newest = tuple(
            replace(t, n=n, requests=tuple(replace(r, context=None) for r in t.requests))
            for n, t in enumerate(whole.turns[-self.ahead :], start=1)
        )
        return Ledger(whole.info, turns=newest, partial=True)

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        assert self.go.wait(10)
        assert prior is None or not prior.partial
        self.opened.append(session)
        return super().open(session, prior)


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_the_newest_turns_come_first_without_numbers_or_totals(tmp_path: Path) -> None:
    source = LongSource(ledger("pi:a", "A long one"))
    async with running([source], tmp_path) as (app, pilot):
        try:
            await until(pilot, lambda: "reading the session" in seen(app))
            text = seen(app)
            assert not source.opened
            assert "A long one" in text
            assert "…" in text
            for claim in ("47", "12 turns", "turn 12", "Sent in total", "12/12"):
                assert claim not in text, claim
        finally:
            source.go.set()
        await until(pilot, lambda: not app.desk.partial)
        await until(pilot, lambda: "47/47" in seen(app))
        assert "reading the session" not in seen(app)
        assert "47 turns" in seen(app)
        assert source.opened == ["a"]


async def test_the_selection_stays_on_its_turn_and_in_its_place(tmp_path: Path) -> None:
    whole = ledger("pi:a", "A long one")
    source = LongSource(whole, ahead=40)
    async with running([source], tmp_path) as (app, pilot):
        try:
            await pilot.press("k", "k", "k", "right", "j")
            selected = app.turns.lines.selected
            assert isinstance(selected, StepKey)
            assert selected.n == 37
            above = app.turns.lines.above
        finally:
            source.go.set()
        await until(pilot, lambda: not app.desk.partial and app.turns.turn == 44)
        assert app.turns.lines.selected == StepKey(44, selected.id)
        assert app.turns.view is not None
        assert app.turns.view.opened == {44}
        assert app.turns.lines.above == above
        await until(pilot, lambda: app.detail.turn == 44)


async def test_a_turn_asked_for_is_chosen_when_numbers_are_known(tmp_path: Path) -> None:
    source = LongSource(ledger("pi:a", "A long one"))
    async with running([source], tmp_path, turn=5) as (app, pilot):
        assert app.desk.partial
        source.go.set()
        await until(pilot, lambda: app.turns.lines.selected == TurnKey(5))


async def test_stopping_leaves_what_is_there_and_says_no_more_that_it_reads(tmp_path: Path) -> None:
    source = LongSource(ledger("pi:a", "A long one"))
    async with running([source], tmp_path) as (app, pilot):
        try:
            await until(pilot, lambda: "reading the session" in seen(app))
            assert app.desk.stop()
            app.redraw()
            await until(pilot, lambda: "reading the session" not in seen(app))
            assert app.desk.partial
            assert app.turns.turn == 12
        finally:
            source.go.set()


async def test_another_session_is_read_without_waiting_for_the_first(tmp_path: Path) -> None:
    source = LongSource(ledger("pi:a", "A long one"), ledger("pi:b", "Another", 30))
    async with running([source], tmp_path) as (app, pilot):
        source.go.set()
        await until(pilot, lambda: not app.desk.partial)
        source.go.clear()
        other = "pi:b" if app.desk.wanted == "pi:a" else "pi:a"
        app.open_session(other)
        await until(pilot, lambda: app.desk.partial and app.desk.snapshot is not None and app.desk.snapshot.ledger.key == other)
        source.go.set()
        await until(pilot, lambda: not app.desk.partial)
        assert app.turns.turn == len(source.ledgers[other.partition(":")[2]].turns)


async def test_all_turns_come_before_what_is_made_of_message_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, real = threading.Event(), desk.compose

    def compose(*args: Any, whole: bool = True, **options: Any) -> Any:
        assert not whole or go.wait(10)
        return real(*args, whole=whole, **options)

    monkeypatch.setattr(desk, "compose", compose)
    monkeypatch.setattr(desk, "LONG", 10)
    source = FakeSource([ledger("pi:a", "A long one")])
    async with running([source], tmp_path) as (app, pilot):
        try:
            await until(pilot, lambda: "47 turns" in seen(app))
            text = seen(app)
            assert "reading the session" in text
            assert "The session is still being read" in text
            for claim in ("Sent in total", "█   47"):
                assert claim not in text, claim
            rails = [row.tier for row in app.desk.snapshot.timeline.turns] if app.desk.snapshot is not None else []
            assert {str(r.why) for r in rails} == {"not_yet"}  # type: ignore[union-attr]
            await pilot.press("k", "k", "5", "6", "2")
            assert app.turns.turn == 45
            assert "The session is still being read" in seen(app)
            # news that come now are read afterwards
            source.ledgers["a"] = ledger("pi:a", "A long one", 48)
            app.desk.take_news(LiveEvent(source, ids=frozenset({"a"})))
        finally:
            go.set()
        await until(pilot, lambda: not app.desk.unfinished)
        await until(pilot, lambda: "still being read" not in seen(app))
        assert app.turns.turn == 45
        assert app.desk.snapshot is not None
        assert app.desk.snapshot.timeline == real(source, app.desk.snapshot.ledger).timeline
        app.catch_up()
        await until(pilot, lambda: "48 turns" in seen(app))


async def test_news_after_stopping_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, real = threading.Event(), desk.compose

    def compose(*args: Any, whole: bool = True, **options: Any) -> Any:
        assert not whole or go.wait(10)
        return real(*args, whole=whole, **options)

    monkeypatch.setattr(desk, "compose", compose)
    monkeypatch.setattr(desk, "LONG", 10)
    source = FakeSource([ledger("pi:a", "A long one")])
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, lambda: "47 turns" in seen(app))
        assert app.desk.stop()
        source.ledgers["a"] = ledger("pi:a", "A long one", 48)
        app.desk.take_news(LiveEvent(source, ids=frozenset({"a"})))
        go.set()
        app.catch_up()
        await until(pilot, lambda: "48 turns" in seen(app) and not app.desk.unfinished)
