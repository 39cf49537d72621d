"""All sources together, and those that appear later."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from ctx_inspect.core.live.events import LiveEvent
from ctx_inspect.core.live.hints import Wake
from ctx_inspect.core.live.pace import DISCOVER_EMPTY_GAP, discover_gap
from ctx_inspect.core.live.reader import Fault, SourceThread
from ctx_inspect.core.sources.base import Source


class Live:
    """Watches sources, each in the one thread that also reads it, and finds new ones.

    Use it as a context manager, or call :meth:`start` and :meth:`close`.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        on_change: Callable[[LiveEvent], None],
        *,
        discover: Callable[[], Iterable[Source]] | None = None,
        on_fault: Fault | None = None,
        notify: bool = True,
    ) -> None:
        """Prepare; nothing is read before :meth:`start`.

        Args:
            sources: What is there already.
            on_change: Called with each event, in the thread of its source: hand it on and return (``call_from_thread``).
            discover: Looks again for sources, wherever they can be; called a few times a second at most, in a thread of
                its own. One that was not known (by kind and path) is watched from then on and told by an event with ``new``.
            on_fault: Told of errors nobody expected, in the thread where they happen.
            notify: Use the system's notifications; without them everything is polled.
        """
        self._on_change, self._discover, self._on_fault, self._notify = on_change, discover, on_fault, notify
        self._lock = threading.Lock()
        self._threads: dict[tuple[str, str], SourceThread] = {}
        self._closing = threading.Event()
        self._finder: threading.Thread | None = None
        self._started = False
        for source in sources:
            self.add(source)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, in the order in which they came."""
        with self._lock:
            return tuple(t.source for t in self._threads.values())

    def reader(self, source: Source) -> SourceThread:
        """Return the thread that reads a source.

        Raises:
            KeyError: It is not watched.
        """
        with self._lock:
            return self._threads[_key(source)]

    def add(self, source: Source, *, announce: bool = False) -> SourceThread:
        """Watch one more source (or return the thread of one that is known).

        Args:
            source: What to watch.
            announce: Tell of it by an event with ``new``.
        """
        with self._lock:
            known = self._threads.get(_key(source))
            if known is not None:
                return known
            thread = SourceThread(source, self._on_change, on_fault=self._on_fault, wake=Wake(notify=self._notify), announce=announce)
            self._threads[_key(source)] = thread
            started = self._started and not self._closing.is_set()
        if started:
            thread.start()
        return thread

    def start(self) -> Live:
        """Begin; returns itself."""
        with self._lock:
            if self._started:
                return self
            self._started = True
            threads = list(self._threads.values())
        for thread in threads:
            thread.start()
        if self._discover is not None:
            self._finder = threading.Thread(target=self._find, name="ctx-inspect discovery", daemon=True)
            self._finder.start()
        return self

    def close(self, seconds: float = 2.0) -> bool:
        """End all threads; cancels what was asked and not begun.

        Args:
            seconds: How long to wait for reads that run.

        Returns:
            Whether all have ended (those that have not are daemons and hold nothing but their read).
        """
        self._closing.set()
        with self._lock:
            threads = list(self._threads.values())
        for thread in threads:
            thread.stop()
        until = time.monotonic() + seconds
        ended = [t.join(max(0.0, until - time.monotonic())) for t in threads]
        if self._finder is not None:
            self._finder.join(max(0.0, until - time.monotonic()))
            ended.append(not self._finder.is_alive())
        return all(ended)

    def __enter__(self) -> Live:
        """Start."""
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _find(self) -> None:
        assert self._discover is not None
        gap, before = DISCOVER_EMPTY_GAP, 0.0
        while not self._closing.wait(gap):
            began = time.thread_time()
            try:
                for source in self._discover():
                    if not self._closing.is_set():
                        self.add(source, announce=True)
            except Exception as e:
                if self._on_fault is not None:
                    self._on_fault("looking for stores", e)
            cost = time.thread_time() - began
            gap, before = discover_gap((cost, before), empty=not self._threads), cost


def _key(source: Source) -> tuple[str, str]:
    return source.kind, str(source.path)
