"""Sources made for tests of the watch: what is new is decided by ``stat`` alone, as real ones do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ctx_inspect.core.live import LiveEvent
from ctx_inspect.core.model import Known, Ledger, Listing, Model, Raw, Ref, Unavailable, Why
from ctx_inspect.core.sources.base import Change, Source


class Fake:
    """A source whose sessions are the ``*.jsonl`` files below a folder, or one file."""

    kind = "pi"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.threads: set[int] = set()
        self.looks = 0
        self.fail: BaseException | None = None
        self.slow = 0.0
        self.order: list[str] = []

    def _enter(self) -> None:
        self.threads.add(threading.get_ident())
        if self.fail is not None:
            raise self.fail

    def watch_paths(self) -> Sequence[Path]:
        return [self.path]

    def _files(self) -> dict[str, tuple[int, ...]]:
        files = sorted(self.path.rglob("*.jsonl")) if self.path.is_dir() else [self.path]
        found: dict[str, tuple[int, ...]] = {}
        for file in files:
            try:
                s = file.stat()
            except OSError:
                continue
            found[file.stem] = (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns)
        return found

    def changed(self, since: object | None) -> Change:
        self.looks += 1
        self._enter()
        if not self.path.exists():
            return Change({}, gone=True)
        now = self._files()
        if not isinstance(since, dict):
            return Change(now, ids=None, listing=True)
        news = frozenset(k for k in now.keys() | since.keys() if now.get(k) != since.get(k))
        return Change(now, ids=news, listing=now.keys() != since.keys())

    def sessions(self) -> Listing:
        self._enter()
        return Listing()

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        self._enter()
        self.order.append(session)
        time.sleep(self.slow)
        raise LookupError(session)

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        self._enter()
        return Unavailable(Why.GONE, ref.row)

    def window(self, model: Model, session: str | None = None) -> Any:
        raise NotImplementedError


class Heard:
    """Collects events with their times, and waits for one that fits."""

    def __init__(self) -> None:
        self.events: list[tuple[float, LiveEvent]] = []
        self.threads: set[int] = set()
        self._news = threading.Condition()

    def __call__(self, event: LiveEvent) -> None:
        with self._news:
            self.threads.add(threading.get_ident())
            self.events.append((time.perf_counter(), event))
            self._news.notify_all()

    def wait(self, fits: Callable[[LiveEvent], bool], seconds: float = 5.0, start: int = 0) -> tuple[float, LiveEvent]:
        """Return the first event from number ``start`` on that fits, with its time."""
        until = time.perf_counter() + seconds
        with self._news:
            while True:
                for at, event in self.events[start:]:
                    if fits(event):
                        return at, event
                left = until - time.perf_counter()
                if left <= 0:
                    raise AssertionError(f"no such event within {seconds} s; heard {[e for _, e in self.events[start:]]}")
                self._news.wait(left)

    def clear(self) -> None:
        with self._news:
            self.events.clear()


def based(live: Any, source: Source) -> None:
    """Wait until the first look is done: it runs before any request is answered."""
    live.reader(source).ask(lambda s: None).result(5)
