"""Lets the sample session grow, the way Pi appends to a session file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ctx_inspect.app.demo.stage import at

EVERY = 1.0
"""Seconds between two entries."""

SPLIT_EVERY = 5
"""Each so many entries one is written in two pieces, as a reader may find it."""

PAUSE = 0.04
"""Seconds between the two pieces."""


def wall_clock() -> int:
    """Return epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Feed(threading.Thread):
    """Appends the lines one after the other, then ends.

    Args:
        path: The session file.
        lines: Entries with placeholders that mean the moment of writing.
        every: Seconds between two entries.
        clock: Tells epoch milliseconds.
    """

    def __init__(self, path: Path, lines: Sequence[str], every: float = EVERY, clock: Callable[[], int] = wall_clock) -> None:
        """Make the feed; ``start()`` lets it run."""
        super().__init__(name="ctx-inspect-demo-feed", daemon=True)
        self.path, self.lines, self.every, self.clock = path, lines, every, clock
        self.written = 0
        self._stop_now = threading.Event()

    def run(self) -> None:
        """Append until there is nothing left, the file is gone or :meth:`stop` was called."""
        for n, line in enumerate(self.lines, start=1):
            if self._stop_now.wait(self.every):
                return
            data = at(line, self.clock()).encode() + b"\n"
            try:
                if n % SPLIT_EVERY == 0:
                    middle = len(data) // 2
                    self._append(data[:middle])
                    self._stop_now.wait(PAUSE)
                    self._append(data[middle:])
                else:
                    self._append(data)
            except OSError:
                return  # the folder was taken away: there is nobody left to write for
            self.written = n

    def _append(self, data: bytes) -> None:
        with self.path.open("r+b", buffering=0) as file:  # r+: never makes the file anew
            file.seek(0, 2)
            file.write(data)

    def stop(self) -> None:
        """End it; a line that was begun is finished."""
        self._stop_now.set()
        if self.is_alive():
            self.join(timeout=2)
