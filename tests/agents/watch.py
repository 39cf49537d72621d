"""Watches a store as the screen does, without one, and notes when it first saw each turn and step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from ctx_inspect.core.live import Live, LiveEvent
from ctx_inspect.core.model import Ledger, Listing, Request, SessionInfo
from ctx_inspect.core.sources.base import Source

T = TypeVar("T")


class Watch:
    """A context manager: starts before the agent, reads whatever is new until the end.

    Attributes:
        ledgers: The newest ledger of each session.
        infos: The newest row of each session in the list.
        turns: When each turn was first seen: (session, id) → seconds since the epoch.
        steps: The same of each request.
        trouble: What could not be read, in words.
    """

    def __init__(self, discover: Callable[[], list[Source]]) -> None:
        self.ledgers: dict[str, Ledger] = {}
        self.infos: dict[str, SessionInfo] = {}
        self.turns: dict[tuple[str, str], float] = {}
        self.steps: dict[tuple[str, str], float] = {}
        self.trouble: list[str] = []
        self.sources: dict[str, Source] = {}
        self._news = threading.Condition()
        self.live = Live([], self._heard, discover=discover, on_fault=lambda where, e: self.trouble.append(f"{where}: {type(e).__name__}"))

    def __enter__(self) -> Watch:
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.close(10)

    def _heard(self, event: LiveEvent) -> None:
        if event.error is not None:
            self.trouble.append(f"{event.error.code}: {event.error.message}")
        elif event.gone:
            self.trouble.append("the store vanished")
        elif event.ids is None or event.listing:
            self._ask(event.source, lambda s: s.sessions(), lambda found: self._listed(event.source, found))
        else:
            for id in event.ids:
                self._open(event.source, id)

    def _ask(self, source: Source, read: Callable[[Source], T], then: Callable[[T], None]) -> None:
        def done(future: Future[T]) -> None:
            if future.cancelled():
                return
            if (error := future.exception()) is not None:
                self.trouble.append(f"{type(error).__name__} {getattr(error, 'code', '')} {getattr(error, 'message', '')}")
            else:
                then(future.result())

        self.live.reader(source).ask(read).add_done_callback(done)

    def _listed(self, source: Source, found: Listing) -> None:
        for info in found.sessions:
            self.infos[info.id] = info
            self._open(source, info.id)

    def _open(self, source: Source, id: str) -> None:
        self.sources[id] = source
        self._ask(source, lambda s: s.open(id, self.ledgers.get(id)), lambda ledger: self._opened(id, ledger))

    def _opened(self, id: str, ledger: Ledger) -> None:
        now = time.time()
        with self._news:
            self.ledgers[id] = ledger
            for turn in ledger.turns:
                self.turns.setdefault((id, turn.id), now)
                for request in turn.requests:
                    self.steps.setdefault((id, request.id), now)
            self._news.notify_all()

    def until(self, fits: Callable[[], bool], what: str, seconds: float = 3.0) -> None:
        """Wait until what was read fits.

        Raises:
            AssertionError: It did not within that time.
        """
        end = time.monotonic() + seconds
        with self._news:
            while not fits():
                left = end - time.monotonic()
                if left <= 0:
                    shape = {id: [[r.finish for r in t.requests] for t in led.turns] for id, led in self.ledgers.items()}
                    raise AssertionError(f"not seen within {seconds} s: {what}; seen: {shape}; trouble: {self.trouble}")
                self._news.wait(left)

    def saw(self, id: str, turns: int, done: bool = True) -> None:
        """Wait until a session has so many turns (and the last one an ended step)."""

        def fits() -> bool:
            ledger = self.ledgers.get(id)
            if ledger is None or len(ledger.turns) != turns:
                return False
            steps = ledger.turns[-1].requests
            return not done or (bool(steps) and steps[-1].finish not in (None, "tool_calls"))

        self.until(fits, f"turn {turns} of {id}")

    def late(self, written: Mapping[str, float]) -> dict[str, float]:
        """Return how long after it was written each turn was first seen, in seconds; inherited ones aside.

        Args:
            written: When what opens a turn was written, by its id.
        """
        return {
            f"{id} turn {t.n}": self.turns[id, t.id] - written[t.id]
            for id, led in self.ledgers.items()
            for t in led.turns
            if not t.inherited
        }

    def steps_of(self, id: str) -> list[Request]:
        """Return all primary requests of a session's active turns, in order."""
        return [r for t in self.ledgers[id].turns for r in t.requests if r.call]

    def text(self, id: str) -> Callable[..., object]:
        """Return a reader of the texts of a session."""
        source = self.sources[id]
        reader = self.live.reader(source)
        return lambda ref, limit: reader.ask(lambda s: s.text(ref, limit)).result(10)
