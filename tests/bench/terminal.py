"""A program in a terminal of its own (a pty), and when each byte of it arrived.

A thread of its own stamps bytes as they arrive; what they draw is worked out afterwards, so that working it out delays no stamp.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[@-Z\\-_])", re.DOTALL)


class Gone(Exception):
    """The program ended, or what was waited for did not come."""


class Terminal:
    """Runs a program in a pty of ``columns`` × ``rows``.

    Attributes:
        began: ``perf_counter`` just before the process was made.
        chunks: (``perf_counter`` of arrival, bytes), in order.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, columns: int = 120, rows: int = 40) -> None:
        self.chunks: list[tuple[float, bytes]] = []
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._fed = self._taken = 0
        self._arrived = threading.Condition()
        self._ended = False
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)  # the reading thread waits no longer than that for its turn
        self._reader = threading.Thread(target=self._follow, daemon=True)
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows), **env},
            cwd=cwd,
            start_new_session=True,
        )
        os.close(slave)
        self._reader.start()

    def _follow(self) -> None:
        while True:
            try:
                data = os.read(self._master, 1 << 20)
            except OSError:  # EIO: the program has closed its end
                data = b""
            at = time.perf_counter()
            with self._arrived:
                if data:
                    self.chunks.append((at, data))
                else:
                    self._ended = True
                self._arrived.notify()
            if not data:
                return

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program: politely, then not."""
        with contextlib.suppress(OSError):
            os.write(self._master, b"q")
        end = time.perf_counter() + 3
        while self.process.poll() is None and time.perf_counter() < end:
            self.read(0.05)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(5)
        sys.setswitchinterval(self._switch)
        os.close(self._master)

    def read(self, seconds: float) -> bytes:
        """Return what arrives next, at most after ``seconds``; empty if nothing does."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._taken < len(self.chunks) or self._ended, seconds)
            if self._taken == len(self.chunks):
                return b""
            self._taken += 1
            return self.chunks[self._taken - 1][1]

    def press(self, keys: str) -> float:
        """Send keys; return when."""
        at = time.perf_counter()
        os.write(self._master, keys.encode())
        return at

    def quiet(self, seconds: float, most: float = 30.0) -> None:
        """Read until nothing has arrived for ``seconds``."""
        end = time.perf_counter() + most
        while self.read(seconds) and time.perf_counter() < end:
            pass

    def show(self) -> str:
        """Return the screen as it is now, as lines of text."""
        for _, data in self.chunks[self._fed :]:
            self._stream.feed(data)
        self._fed = len(self.chunks)
        return "\n".join(self._screen.display)

    def lines(self) -> str:
        """Return what is on the screen without its blank ends."""
        return "\n".join(line.rstrip() for line in self.show().splitlines() if line.strip())

    def when(self, shown: Callable[[str], bool], seconds: float = 30.0, what: str = "") -> float:
        """Wait until the screen satisfies ``shown`` and return when the bytes arrived that made it so.

        Raises:
            Gone: It never did, or the program ended before.
        """
        end = time.perf_counter() + seconds
        while True:
            while self._fed < len(self.chunks):
                at, data = self.chunks[self._fed]
                self._stream.feed(data)
                self._fed += 1
                if shown("\n".join(self._screen.display)):
                    return at
            if not self.read(0.2) and (self.process.poll() is not None or time.perf_counter() > end):
                state = f"ended with {self.process.poll()}" if self.process.poll() is not None else f"did not within {seconds:g} s"
                raise Gone(f"the program {state}; waited for {what or 'a screen'}; it shows:\n{self.lines()}")

    def reply(self, since: float, seconds: float = 2.0, settle: float = 0.004) -> float:
        """Return when the frame was complete that answers something done at ``since``.

        A frame is what arrives without a pause of ``settle`` seconds.

        Raises:
            Gone: Nothing that could be seen arrived.
        """
        end, last = since + seconds, 0.0
        while time.perf_counter() < end:
            data = self.read(settle if last else 0.25)
            if not data:
                if last:
                    return last
                continue
            at = self.chunks[self._taken - 1][0]
            if at >= since and (last or ESCAPES.sub(b"", data).strip()):
                last = at
        if last:
            return last
        raise Gone(f"nothing was drawn within {seconds:g} s")

    # -- what the kernel says of the process ---------------------------------------------------------------------

    def cpu(self) -> float:
        """Return the processor time of all its threads, in seconds, to the nanosecond where the kernel tells."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def wakes(self) -> int:
        """Return how often its threads went to sleep and woke again."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.MULTILINE)[1])  # type: ignore[index]
        return total

    def memory(self, peak: bool = False) -> float:
        """Return its resident memory, now or at its highest, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(rf"^{'VmHWM' if peak else 'VmRSS'}:\s+(\d+) kB", status, re.MULTILINE)
        assert found
        return int(found[1]) / 1000


def inspector(*arguments: str) -> list[str]:
    """Return the command that starts the product as installed here."""
    beside = Path(sys.executable).with_name("ctx-inspect")
    return [str(beside), *arguments] if beside.exists() else [sys.executable, "-m", "ctx_inspect", *arguments]
