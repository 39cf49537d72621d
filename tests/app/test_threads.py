"""What happens in the threads that read and watch reaches the screen as messages, faults too."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.config import Config
from ctx_inspect.core.model import Confirmed, Known, Raw, Ref
from ctx_inspect.core.sources.base import Change

from tests.app.fakes import FakeSource, ledger, sample
from tests.app.screens import running, screen, until


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_limits_of_the_persons_file_count(tmp_path: Path) -> None:
    source = FakeSource(sample(), limit=None)
    config = Config(limits={"anthropic/claude-big": 320_000})
    async with running([source], tmp_path, size=(120, 60), limits=config.window_for, tab="budget") as (app, pilot):
        await until(pilot, lambda: "41.3k of 320k" in seen(app))
        assert "context, from [limits]" in seen(app)
        source.news, source.version = frozenset({"main"}), 1  # read again: they still count
        await pilot.pause(0.3)
        assert "41.3k of 320k" in seen(app)


async def test_a_fault_while_watching_is_logged_and_said(tmp_path: Path) -> None:
    class Faulty(FakeSource):
        def changed(self, since: object | None) -> Change:
            raise ZeroDivisionError("sk-secret-in-a-message")

    async with running([Faulty(sample())], tmp_path) as (app, pilot):
        await until(pilot, lambda: any("looking for news failed (ZeroDivisionError)" in p.message for p in app.trouble.problems))
        assert "▲" in seen(app)
        assert "sk-secret" not in seen(app)
    log = (tmp_path / "crash.log").read_text()
    assert "ZeroDivisionError" in log
    assert "core/live/reader.py" in log
    assert "sk-secret" not in log


async def test_a_fault_while_looking_for_stores_is_said(tmp_path: Path) -> None:
    def discover() -> Sequence[FakeSource]:
        raise ZeroDivisionError

    async with running([FakeSource(sample())], tmp_path, discover=discover) as (app, pilot):
        await until(pilot, lambda: "looking for stores failed (ZeroDivisionError)" in seen(app))


async def test_texts_that_cannot_be_read_say_so_and_are_not_missing(tmp_path: Path) -> None:
    class Faulty(FakeSource):
        def text(self, ref: Ref, limit: int) -> Known[Raw]:
            raise ZeroDivisionError("sk-secret-in-a-message")

    async with running([Faulty(sample())], tmp_path) as (app, pilot):
        await pilot.press("6", "tab", "v")
        await until(pilot, lambda: "reading texts failed (ZeroDivisionError)" in seen(app))
        assert "reading it failed" in seen(app)
        assert "reading…" not in seen(app)


async def test_the_sources_thread_touches_nothing_of_the_app(tmp_path: Path) -> None:
    made = ledger("pi:a", "Long", 3)
    source = FakeSource([made])
    async with running([source], tmp_path) as (app, pilot):
        asked: list[str] = []
        ask = app.desk.ask_texts

        def noting(refs: tuple[Ref, ...], wish: int) -> None:
            asked.append(threading.current_thread().name)
            ask(refs, wish)

        app.desk.ask_texts = noting  # type: ignore[method-assign]
        many = tuple(Ref("s", f"r{i}", "text") for i in range(40))
        source.texts = {ref: Confirmed(Raw("x")) for ref in many}
        await pilot.press("6", "tab", "v")
        await until(pilot, lambda: app.detail.revealed)
        app.desk.ask_texts(many, app.detail.text.asked)
        await until(pilot, lambda: set(many) <= set(source.asked))
        assert set(asked) == {threading.current_thread().name}
        assert len(asked) >= 5


async def test_texts_of_an_earlier_wish_are_dropped(tmp_path: Path) -> None:
    gate = threading.Event()

    class Slow(FakeSource):
        def text(self, ref: Ref, limit: int) -> Known[Raw]:
            gate.wait(10)
            return super().text(ref, limit)

    async with running([Slow(sample())], tmp_path) as (app, pilot):
        await pilot.press("6", "tab", "v", "v")
        assert not app.detail.revealed
        gate.set()
        await pilot.pause(0.2)
        assert "the text of" not in seen(app)
