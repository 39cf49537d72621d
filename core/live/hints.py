"""Waiting for a reason to look: a notification, a request, or a time.

Notifications are hints only. Whether something is new is decided by the source itself, by ``stat``, so a missed
or a needless hint is harmless.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ctx_inspect.core.live.inotify import Inotify, identity


class Notifier(Protocol):
    """Tells that something below the wanted paths may have changed."""

    @property
    def fd(self) -> int:
        """A descriptor that becomes readable with news, or -1 where it uses the wake it was given."""
        ...

    @property
    def complete(self) -> bool:
        """Whether all that is wanted is watched; if not, it must be polled."""
        ...

    @property
    def state(self) -> object:
        """Differs when something else is watched than before."""
        ...

    def want(self, paths: Sequence[Path]) -> bool:
        """Watch these; return ``complete``."""
        ...

    def read(self) -> bool:
        """Take the news; return whether there was any."""
        ...

    def close(self) -> None:
        """End."""
        ...


class Watchfiles:
    """Notifications by watchfiles, in a thread of its own, where the kernel has no inotify.

    Its queue is polled by the library, so the step is a compromise: 40 ms costs an eighth of a step of 5.
    """

    fd = -1

    def __init__(self, wake: Wake, *, step: int = 40) -> None:
        """Prepare; nothing is watched before :meth:`want`.

        Args:
            wake: What to wake with news.
            step: How often the library looks into its queue, milliseconds.
        """
        self._wake, self._step = wake, step
        self._stop = threading.Event()
        self._news = threading.Event()
        self._failed = threading.Event()
        self._paths: tuple[Path, ...] = ()
        self._roots: tuple[tuple[int, int] | None, ...] = ()
        self._thread: threading.Thread | None = None

    @property
    def state(self) -> object:
        """What is watched, and whether it is."""
        return self._paths, self._roots, self.complete

    @property
    def complete(self) -> bool:
        """Whether all that is wanted is watched."""
        return self._thread is not None and not self._failed.is_set()

    def want(self, paths: Sequence[Path]) -> bool:
        """Watch these; return whether all of them exist and the library takes them."""
        folders = tuple(dict.fromkeys(p if p.is_dir() else p.parent for p in paths))
        if not all(f.is_dir() for f in folders):
            self._end()
            return False
        roots = tuple(identity(f) for f in folders)
        if folders == self._paths and roots == self._roots and self.complete:
            return True
        self._end()
        self._paths, self._roots = folders, roots
        self._stop, self._failed = threading.Event(), threading.Event()
        deep = any(p.is_dir() for p in paths)
        self._thread = threading.Thread(
            target=self._run, args=(folders, deep, self._stop, self._failed), name="ctx-inspect notify", daemon=True
        )
        self._thread.start()
        return True

    def _run(self, folders: tuple[Path, ...], deep: bool, stop: threading.Event, failed: threading.Event) -> None:
        try:
            from watchfiles import watch

            for _ in watch(
                *folders,
                watch_filter=None,
                debounce=20,
                step=self._step,
                stop_event=stop,
                rust_timeout=0,
                raise_interrupt=False,
                recursive=deep,
                ignore_permission_denied=True,
            ):
                self._news.set()
                self._wake.wake()
        except Exception:
            # whatever it is (limits, a vanished folder): polling takes over
            failed.set()
            self._wake.wake()

    def read(self) -> bool:
        """Take the news; return whether there was any."""
        news = self._news.is_set()
        self._news.clear()
        return news

    def _end(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(1)
            self._thread = None

    def close(self) -> None:
        """End the thread."""
        self._end()


class Wake:
    """Lets one thread sleep until a time, a notification or another thread's call, whichever is first."""

    def __init__(self, *, notify: bool = True, kernel: bool = True) -> None:
        """Make it.

        Args:
            notify: Use notifications at all (else only times and calls wake).
            kernel: Prefer the kernel's own notifications, where it has them.
        """
        self._out, self._in = os.pipe()
        os.set_blocking(self._out, False)
        os.set_blocking(self._in, False)
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._notifier: Notifier | None = None
        self._lock = threading.Lock()
        if notify:
            try:
                self._notifier = Inotify() if kernel else Watchfiles(self)
            except OSError:
                self._notifier = Watchfiles(self)
            if self._notifier.fd >= 0:
                self._poll.register(self._notifier.fd, select.POLLIN)

    def want(self, paths: Sequence[Path]) -> bool:
        """Watch these paths from now on; return whether that is another state than before."""
        if self._notifier is None:
            return False
        before = self._notifier.state
        self._notifier.want(paths)
        return self._notifier.state != before

    @property
    def watched(self) -> bool:
        """Whether all of the wanted paths are watched."""
        return self._notifier is not None and self._notifier.complete

    def wait(self, seconds: float) -> bool:
        """Sleep; return whether a notification came.

        Args:
            seconds: At most so long; 0 only looks.
        """
        ready = self._poll.poll(max(0.0, seconds) * 1000)
        hinted = False
        for fd, _ in ready:
            if fd == self._out:
                with contextlib.suppress(BlockingIOError):
                    while os.read(self._out, 4096):
                        pass
        if self._notifier is not None and ready:
            hinted = self._notifier.read()
        return hinted

    def wake(self) -> None:
        """End the sleep, from any thread."""
        with self._lock:
            if self._in < 0:
                return
            with contextlib.suppress(BlockingIOError):  # full: the sleeper has reason enough to wake
                os.write(self._in, b"\0")

    def close(self) -> None:
        """Give all descriptors back."""
        if self._notifier is not None:
            self._notifier.close()
        with self._lock:
            if self._in >= 0:
                os.close(self._in)
                os.close(self._out)
                self._in = self._out = -1
