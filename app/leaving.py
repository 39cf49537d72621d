"""Ends the interface as it should end when a signal ends the program: the terminal is given back, sample sessions go away."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM") if hasattr(signal, name)
)
"""What ends a program without giving it time: asked to end, terminal closed, and what ends one that knows no better use of it."""

PATIENCE = 2.0
"""Seconds that ending may take: a signal that comes later ends the program at once. Two often come together (of a shell and of
what ends it), and the second must not keep the terminal from being given back."""

GIVEN_BACK = b"\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
"""Turns off what the framework turns on: pasting, mouse, keys, the second screen, the hidden cursor, focus."""


def nothing() -> None:
    """There is nothing to be cleaned up but the terminal."""


@contextmanager
def ended(clean: Callable[[], object] = nothing) -> Iterator[None]:
    """Clean up, and end the interface, when a signal ends the program while the block runs.

    A signal that was ignored when the program was started stays ignored (nohup). Guards may lie in each other.

    Args:
        clean: Takes everything away; it may be called more than once.

    Raises:
        SystemExit: The program was asked to end; with the status that a shell expects of it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return
    came: list[int] = []
    since = 0.0
    modes = _modes()
    before: dict[signal.Signals, object] = {s: signal.getsignal(s) for s in SIGNALS if signal.getsignal(s) is not signal.SIG_IGN}

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal since
        clean()
        outer = before[signal.Signals(number)]
        if callable(outer):
            outer(number, frame)  # a guard around this one ends the program
            return
        came.append(number)
        if not _loop_runs():
            raise SystemExit(128 + number)
        there = os.isatty(0)
        if there and len(came) == 1:
            # An exception here would tear the event loop and leave the terminal as it is. Interrupting is what asyncio
            # knows: it cancels the main task, and the interface ends as it should.
            since = time.monotonic()
            signal.raise_signal(signal.SIGINT)
            return
        if there and time.monotonic() - since < PATIENCE:
            return
        if there:
            _give_back(modes)
        # Or the terminal is gone, and the framework's thread that reads it would go on for ever.
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for s in before:
        signal.signal(s, handle)
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
    asyncio = sys.modules.get("asyncio")  # importing it here would cost every start its time
    if asyncio is None:
        return False
    try:
        asyncio.get_running_loop()
    except (RuntimeError, AttributeError):  # half imported
        return False
    return True


def _modes() -> list[object] | None:
    """Return how the terminal is set."""
    try:
        import termios
    except ImportError:
        return None
    try:
        return termios.tcgetattr(0)
    except (OSError, ValueError, termios.error):
        return None


def _give_back(modes: list[object] | None) -> None:
    """Set the terminal as it was, where the framework did not get to it."""
    import termios

    try:
        os.write(2, GIVEN_BACK)  # where the framework writes
        if modes is not None:
            termios.tcsetattr(0, termios.TCSANOW, modes)  # type: ignore[arg-type]
    except (OSError, termios.error):
        pass
