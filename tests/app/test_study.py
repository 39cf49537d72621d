"""What is worked out beside the reading belongs to the session as it is on the screen: it grows, shrinks, and another one is opened."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ctx_inspect.app import findings, study
from ctx_inspect.app.counting import Exact
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.app.lanes import Lane
from ctx_inspect.app.messages import Counted
from ctx_inspect.app.panes.wishes import Uncounted
from ctx_inspect.core.diff.drift import Drift
from ctx_inspect.core.model import Ledger, Request, replace
from ctx_inspect.core.shares import Shares
from textual.pilot import Pilot

from tests.app.fakes import FakeSource
from tests.app.screens import running, screen, until
from tests.app.test_diff_pane import compared, session

real_drift = study.drift


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def changed(app: Inspector, pilot: Pilot[None], source: FakeSource, made: Ledger) -> None:
    """Let the store hold another state of the session, and wait until it is on the screen."""
    source.ledgers["main"] = made
    source.news, source.version = frozenset({"main"}), source.version + 1
    await until(
        pilot, lambda: app.desk.snapshot is not None and app.desk.snapshot.ledger is made and app.detail.snapshot is app.desk.snapshot
    )


def no_fault(app: Inspector, state: Path) -> bool:
    return not (state / "crash.log").exists() and not any("failed" in p.message for p in app.trouble.problems)


class Gate:
    """Holds up the comparing of all turns; each call that waits is let through by hand."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None]] = []
        """Turns of the session that was asked for, and of the one before it that is built on."""
        self.passes = threading.Semaphore(0)
        self.open = False

    def drift(self, made: Ledger, before: tuple[Ledger, Drift] | None, stop: Callable[[], bool], **more: object) -> Drift:
        self.calls.append((len(made.turns), None if before is None else len(before[0].turns)))
        while not self.open and not self.passes.acquire(timeout=0.01):
            if stop():
                return Drift((), stopped=True)
        return real_drift(made, before, stop, **more)  # type: ignore[arg-type]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    made = Gate()
    monkeypatch.setattr(study, "drift", made.drift)
    return made


@pytest.fixture
def held() -> Iterator[Callable[[Lane], threading.Event]]:
    """Hold up a lane; what is asked of it waits until the event is set."""
    events: list[threading.Event] = []

    def hold(lane: Lane) -> threading.Event:
        event, began = threading.Event(), threading.Event()
        events.append(event)

        def wait(_stop: Callable[[], bool]) -> None:
            began.set()
            event.wait(20)

        lane.ask(wait)
        assert began.wait(10)
        return event

    yield hold
    for event in events:
        event.set()


# --- a session that shrinks or grows ------------------------------------------------------------------------


async def test_turns_that_were_taken_back_are_not_asked_for(tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path, turn=12) as (app, pilot):
        await compared(app, pilot, 12)
        await changed(app, pilot, source, session(turns=7, at=5))
        await until(pilot, lambda: len(app.turns.told.drift) == 7)
        app.action_turn(7)
        await compared(app, pilot, 7)
        assert no_fault(app, tmp_path)


async def test_a_turn_that_came_is_compared_by_what_was_read_with_it(held: Callable[[Lane], threading.Event], tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path) as (app, pilot):
        app.turns.set_follow(True)
        await compared(app, pilot, 12)
        event = held(app.study_lane)
        await changed(app, pilot, source, session(turns=13))
        await until(pilot, lambda: app.detail.turn == 13)
        await pilot.pause(0.3)
        assert no_fault(app, tmp_path)
        event.set()
        await compared(app, pilot, 13)
        await until(pilot, lambda: "12 → 13" in seen(app))
        assert no_fault(app, tmp_path)


async def test_a_mark_on_a_turn_that_went_away_is_dropped(tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await pilot.press("m")
        app.action_turn(3)
        await until(pilot, lambda: "3 ⇢ 9" in seen(app))
        await changed(app, pilot, source, session(turns=7, at=5))
        report = await compared(app, pilot, 3)
        assert report.before is not None
        assert report.before.turn == 2
        await until(pilot, lambda: "2 → 3" in seen(app))
        assert "before: turn" not in seen(app)
        assert no_fault(app, tmp_path)


async def test_a_mark_on_a_turn_that_is_still_there_stays(tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path, turn=3) as (app, pilot):
        await compared(app, pilot, 3)
        await pilot.press("m")
        app.action_turn(12)
        await compared(app, pilot, 12)
        await changed(app, pilot, source, session(turns=14))
        report = await compared(app, pilot, 12)
        assert report.before is not None
        assert report.before.turn == 3
        assert "before: turn 3" in seen(app)


async def test_what_was_told_is_not_shown_under_another_turns_number(gate: Gate, tmp_path: Path) -> None:
    source = FakeSource([session()])
    made = session()
    other = replace(made, turns=tuple(t if t.n < 5 else replace(t, id=f"again{t.n}") for t in made.turns))
    async with running([source], tmp_path, size=(200, 60)) as (app, pilot):
        gate.passes.release()
        await until(pilot, lambda: app.turns.told.changed(9) and "What moved" in seen(app))
        await changed(app, pilot, source, other)
        assert len(app.turns.told.drift) == len(app.turns.told.cache) == 4
        assert app.turns.told.named(9) is None
        assert "What moved" not in seen(app)
        gate.passes.release()
        await until(pilot, lambda: len(app.turns.told.drift) == 12 and "What moved" in seen(app))


async def test_what_comes_late_tells_only_of_turns_that_are_still_there(gate: Gate, tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path, size=(200, 60)) as (app, pilot):
        await until(pilot, lambda: gate.calls == [(12, None)])
        await changed(app, pilot, source, session(turns=7, at=5))
        gate.passes.release()
        await until(pilot, lambda: len(gate.calls) == 2)
        await until(pilot, lambda: len(app.turns.told.drift) == 7)
        assert "What moved" not in seen(app)
        assert app.detail.diff.sums is None
        gate.passes.release()
        await until(pilot, lambda: "What moved" in seen(app))


# --- a session that grows all the time ----------------------------------------------------------------------


async def test_a_busy_session_is_compared_to_the_end_each_time(gate: Gate, tmp_path: Path) -> None:
    source = FakeSource([session()])
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, lambda: gate.calls == [(12, None)])
        for turns in (13, 14, 15):
            await changed(app, pilot, source, session(turns=turns))
            await until(pilot, lambda: app.studied is not None and app.studied.snapshot is app.desk.snapshot)
        assert gate.calls == [(12, None)]
        gate.passes.release()
        await until(pilot, lambda: len(app.turns.told.drift) == 12)  # while there are more turns by now
        await until(pilot, lambda: len(gate.calls) == 2)
        assert gate.calls[1] == (15, 12)
        await pilot.pause()
        assert app.turns.told.changed(9)  # what is known stays on the screen meanwhile
        gate.passes.release()
        await until(pilot, lambda: len(app.turns.told.drift) == 15)


async def test_studies_that_are_not_told_do_not_pile_up(gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: weakref.WeakSet[study.Study] = weakref.WeakSet()
    make = study.Study.__init__

    def counting(self: study.Study, *args: object) -> None:
        make(self, *args)  # type: ignore[arg-type]
        alive.add(self)

    monkeypatch.setattr(study.Study, "__init__", counting)
    source = FakeSource([session()])
    async with running([source], tmp_path) as (app, pilot):
        for turns in range(13, 25):
            await changed(app, pilot, source, session(turns=turns))
            await compared(app, pilot, 12)
            await until(pilot, lambda: app.studied is not None and app.studied.snapshot is app.desk.snapshot)
        gc.collect()
        assert len(alive) <= 4  # the one on screen, the one that is told, one that waits, one in a message
        gate.open = True


# --- another session ------------------------------------------------------------------------------------------


async def test_another_session_does_not_have_this_ones_map(gate: Gate, tmp_path: Path) -> None:
    first, second = session(), session("pi:other", 6, 4)
    async with running([FakeSource([first, second])], tmp_path, size=(200, 60), session="pi:main") as (app, pilot):
        gate.passes.release()
        await until(pilot, lambda: "What moved" in seen(app))
        app.open_session("pi:other")
        await until(pilot, lambda: app.desk.snapshot is not None and app.desk.snapshot.ledger is second)
        await until(pilot, lambda: len(gate.calls) == 2)
        assert "What moved" not in seen(app)
        await pilot.press("w")
        await pilot.pause()
        assert "still being compared" in seen(app)
        gate.passes.release()
        await until(pilot, lambda: app.mapped is not None and app.mapped.ledger is second and len(app.turns.told.drift) == 6)


async def test_another_session_does_not_wait_for_this_ones_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        """It moves only where a comparison takes long, so that a pause never ends by itself."""

        now = 0.0
        sleep = staticmethod(time.sleep)

        def monotonic(self) -> float:
            return self.now

    clock = Clock()

    def slow(made: Ledger, *args: object, **known: object) -> Drift:
        clock.now += 100
        return real_drift(made, *args, **known)  # type: ignore[arg-type]

    monkeypatch.setattr(findings, "time", clock)
    monkeypatch.setattr(study, "drift", slow)
    first, second = session(), session("pi:other", 6, 4)
    async with running([FakeSource([first, second])], tmp_path, session="pi:main") as (app, pilot):
        await until(pilot, lambda: len(app.turns.told.drift) == 12)
        app.open_session("pi:other")
        await until(pilot, lambda: len(app.turns.told.drift) == 6)


# --- marks and counts -----------------------------------------------------------------------------------------


async def test_marking_the_turn_on_screen_has_it_compared_with_its_own_baseline(tmp_path: Path) -> None:
    async with running([FakeSource([session()])], tmp_path, turn=3) as (app, pilot):
        await compared(app, pilot, 3)
        await pilot.press("m")
        app.action_turn(5)
        await until(pilot, lambda: "3 ⇢ 5" in seen(app))
        await compared(app, pilot, 5)
        await pilot.press("m")
        report = await compared(app, pilot, 5)
        assert report.before is not None
        assert report.before.turn == 4
        await until(pilot, lambda: "4 → 5" in seen(app))
        await pilot.press("m")
        await pilot.pause(0.3)
        assert "4 → 5" in seen(app)
        assert "comparing…" not in seen(app)


async def test_a_count_that_comes_late_drops_no_comparison(held: Callable[[Lane], threading.Event], tmp_path: Path) -> None:
    asked: list[Request] = []
    async with running([FakeSource([session()])], tmp_path, turn=9) as (app, pilot):
        app.desk.ask_count = asked.append  # type: ignore[method-assign]
        await compared(app, pilot, 9)
        await until(pilot, lambda: bool(asked) and len(app.counting) > 1)
        event = held(app.turn_lane)
        app.turns.select(5)
        await until(pilot, lambda: app.detail.turn == 5)
        await pilot.pause(0.3)
        parts, key = app.desk.snapshot.shares, app.desk.wanted  # type: ignore[union-attr]
        assert parts is not None
        assert key is not None
        for request in list(app.counting):
            app.post_message(Counted(key, request, Exact(request, parts, "letters", lambda _fp, size: size)))
            await pilot.pause()
        assert app.counting == []
        event.set()
        report = await compared(app, pilot, 5)
        assert report.counter != "letters"


async def test_a_window_that_cannot_be_counted_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    def broken() -> Shares:
        raise ZeroDivisionError("sk-secret-in-a-message")

    async with running([FakeSource([session()])], tmp_path) as (app, pilot):
        app.detail.budget.counting = "m"
        app.post_message(Uncounted("m", broken))
        await until(pilot, lambda: "counting a window failed (ZeroDivisionError)" in seen(app))
        assert "sk-secret" not in seen(app)
        app.action_turn(9)
        await compared(app, pilot, 9)
