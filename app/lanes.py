"""Threads for what is worked out beside the reading: one lane per kind of work, and of what waits in a lane only the newest is done."""

from __future__ import annotations

import threading
from collections.abc import Callable

Work = Callable[[Callable[[], bool]], None]
"""Does something; it is given what tells whether it is no longer wanted."""


class Lane:
    """Does one thing at a time in a thread of its own, which begins with the first of them and waits without a tick."""

    def __init__(self, name: str, fault: Callable[[str, BaseException], object]) -> None:
        """Make an empty one.

        Args:
            name: What is done in it, in our own words: said where it fails.
            fault: Told of an error nobody expected, in the lane's thread.
        """
        self.name, self._fault = name, fault
        self._ready = threading.Condition()
        self._wish: Work | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._called_off = False
        self._busy = False

    @property
    def busy(self) -> bool:
        """Whether something is being done, or waits."""
        return self._busy or self._wish is not None

    def ask(self, work: Work, *, call_off: bool = True) -> None:
        """Have something done; what waited until now is dropped.

        Args:
            work: What.
            call_off: What is being done is called off; else it is done to its end first: what is asked for more often than it
                can be done would never be there.
        """
        with self._ready:
            if self._closed:
                return
            self._wish = work
            if call_off:
                self._called_off = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"lane: {self.name}", daemon=True)
                self._thread.start()
            self._ready.notify()

    def stop(self) -> None:
        """Call off what is being done and drop what waits."""
        with self._ready:
            self._wish, self._called_off = None, True

    def close(self) -> None:
        """Do nothing any more."""
        with self._ready:
            self._closed, self._wish, self._called_off = True, None, True
            self._ready.notify()

    def _unwanted(self) -> bool:
        return self._called_off

    def _run(self) -> None:
        while True:
            with self._ready:
                while self._wish is None and not self._closed:
                    self._ready.wait()
                if self._closed or self._wish is None:
                    return
                work, self._wish, self._called_off, self._busy = self._wish, None, False, True
            try:
                work(self._unwanted)
            except Exception as error:
                self._fault(self.name, error)
            self._busy = False
