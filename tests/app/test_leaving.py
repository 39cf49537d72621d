"""What ends the program from outside gives the terminal back: screen, mouse, cursor, modes; and the status says what it was."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

CODE = """
import signal, sys
for name in {fresh!r}:
    signal.signal(getattr(signal, name), signal.SIG_DFL)  # whatever the tests were started by
for name in {ignored!r}:
    signal.signal(getattr(signal, name), signal.SIG_IGN)
sys.path.insert(0, {root!r})
from ctx_inspect.app.app import run
from tests.app.fakes import FakeSource, sample
{more}
try:
    sys.exit(run([FakeSource(sample())]))
except KeyboardInterrupt:
    sys.exit(130)
"""
SIGNALS = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM")
PATIENCE = 30.0


class Interface:
    """The interface on a sample session, in a pseudo terminal that outlives it."""

    def __init__(self, state: Path, *, ignored: tuple[str, ...] = (), more: str = "") -> None:
        self.fd, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.modes = termios.tcgetattr(self.slave)
        root = str(Path(__file__).resolve().parent.parent.parent)
        code = CODE.format(root=root, fresh=SIGNALS, ignored=ignored, more=more)
        env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "XDG_STATE_HOME": str(state)}
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=self.slave, stdout=self.slave, stderr=self.slave, env=env)
        self.seen = b""

    def read(self, seconds: float) -> None:
        if select.select([self.fd], [], [], seconds)[0]:
            with suppress(OSError):
                self.seen += os.read(self.fd, 65536)

    def until(self, text: bytes) -> None:
        end = time.monotonic() + PATIENCE
        while text not in self.seen and time.monotonic() < end:
            self.read(0.1)
        assert text in self.seen

    def wait(self) -> int:
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.05)
        while select.select([self.fd], [], [], 0)[0]:
            self.read(0)
        assert self.process.poll() is not None, "it did not end"
        return self.process.returncode

    def assert_given_back(self) -> None:
        for on, off in ((b"[?1049h", b"[?1049l"), (b"[?1003h", b"[?1003l"), (b"[?25l", b"[?25h"), (b"[?2004h", b"[?2004l")):
            assert on in self.seen
            assert self.seen.rfind(off) > self.seen.rfind(on), off
        assert termios.tcgetattr(self.slave) == self.modes
        assert b"Traceback" not in self.seen

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.fd)
        os.close(self.slave)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Interface]]:
    held: list[Interface] = []
    yield held
    for one in held:
        one.close()


@pytest.mark.parametrize("name", [*SIGNALS, "SIGINT"])
def test_a_signal_gives_the_terminal_back(name: str, started: list[Interface], tmp_path: Path) -> None:
    one = Interface(tmp_path)
    started.append(one)
    one.until(b"Fix login 500")
    one.process.send_signal(signal.Signals[name])
    assert one.wait() == 128 + signal.Signals[name]
    one.assert_given_back()


def test_two_signals_at_once_give_it_back_too(started: list[Interface], tmp_path: Path) -> None:
    one = Interface(tmp_path)
    started.append(one)
    one.until(b"Fix login 500")
    one.process.send_signal(signal.SIGHUP)
    one.process.send_signal(signal.SIGTERM)
    assert one.wait() in (129, 143)
    one.assert_given_back()


def test_what_was_ignored_at_start_stays_ignored(started: list[Interface], tmp_path: Path) -> None:
    one = Interface(tmp_path, ignored=("SIGHUP",))
    started.append(one)
    one.until(b"Fix login 500")
    one.process.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert one.process.poll() is None
    os.write(one.fd, b"q")
    assert one.wait() == 0


STUCK = """
from ctx_inspect.app.inspector import Inspector
import time
async def stuck(self):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.05)
Inspector._shutdown = stuck
"""


def test_where_it_cannot_end_a_later_signal_ends_it_and_gives_the_terminal_back(started: list[Interface], tmp_path: Path) -> None:
    one = Interface(tmp_path, more=STUCK)
    started.append(one)
    one.until(b"Fix login 500")
    one.process.send_signal(signal.SIGTERM)
    time.sleep(2.5)
    assert one.process.poll() is None
    one.process.send_signal(signal.SIGTERM)
    assert one.wait() == -signal.SIGTERM
    one.assert_given_back()
