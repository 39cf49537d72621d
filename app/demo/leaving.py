"""Makes sure that the sample sessions are taken away however the program is ended."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a program without giving it time: asked to end, terminal closed."""


@contextmanager
def ended(clean: Callable[[], object]) -> Iterator[None]:
    """Clean up when a signal ends the program while the block runs.

    Args:
        clean: Takes everything away; it may be called more than once.

    Raises:
        SystemExit: The program was asked to end; with the status that a shell expects of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return
    came: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        clean()
        came.append(number)
        if not _loop_runs():
            raise SystemExit(128 + number)
        if os.isatty(0) and len(came) == 1:
            # An exception here would tear the event loop and leave the terminal as it is. Interrupting is what asyncio
            # knows: it cancels the main task, and the interface ends as it should.
            signal.raise_signal(signal.SIGINT)
            return
        # The terminal is gone, and the framework's thread that reads it would go on for ever.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before: dict[signal.Signals, object] = {s: signal.signal(s, handle) for s in SIGNALS}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell that starts a program in the background hands it on ignored; asyncio's own handler, which ends the
        # interface, is put in the place of Python's only.
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        if not came:
            raise
    finally:
        for s, old in before.items():
            signal.signal(s, old)  # type: ignore[arg-type]
    if came:
        raise SystemExit(128 + came[0])


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
