"""Makes sure that the sample sessions are taken away however the program is ended."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a program without giving it time: asked to end, terminal closed."""


@contextmanager
def ended(leave: Callable[[int], None] | None = None) -> Iterator[None]:
    """Turn signals into an orderly end while the block runs, so that its clean-up happens.

    Args:
        leave: Ends the running user interface with a status; without one (or before it runs) the block is left by ``SystemExit``.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        status = 128 + number
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise SystemExit(status) from None
        if leave is None:
            raise SystemExit(status)
        # an exception here would tear the event loop and leave the terminal as it is
        loop.call_soon_threadsafe(leave, status)

    before = {s: signal.signal(s, handle) for s in SIGNALS}
    try:
        yield
    finally:
        for s, old in before.items():
            signal.signal(s, old)
