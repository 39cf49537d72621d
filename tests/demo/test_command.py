"""``ctx-inspect demo`` in a terminal: what it leaves behind however it ends, which is nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyte
import pytest

PATIENCE = 30.0


class Terminal:
    """The demo in a pseudo-terminal."""

    def __init__(self, home: Path, temporary: Path) -> None:
        env = {"HOME": str(home), "TMPDIR": str(temporary), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may be run by what ignores it (nohup)
            os.execve(sys.executable, [sys.executable, "-m", "ctx_inspect", "demo"], env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.seen = b""

    def read(self, until: bytes) -> None:
        end = time.monotonic() + PATIENCE
        while until not in self.seen and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                with suppress(OSError):
                    self.seen += os.read(self.fd, 65536)
        assert until in self.seen

    def wait(self) -> int:
        """Drain the terminal until the process ends; return its status as a shell has it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.fd >= 0 and select.select([self.fd], [], [], 0.05)[0]:
                with suppress(OSError):
                    os.read(self.fd, 65536)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError("it did not end")

    def hang_up(self) -> None:
        os.close(self.fd)
        self.fd = -1

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        if self.fd >= 0:
            os.close(self.fd)


@pytest.fixture
def interrupts_ignored() -> Iterator[None]:
    """As a shell starts what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    made = Terminal(tmp_path / "home", tmp_path / "tmp")
    yield made
    made.close()


@pytest.mark.parametrize("how", ["quit", "SIGTERM", "terminal closed"])
def test_nothing_is_left(terminal: Terminal, tmp_path: Path, how: str) -> None:
    terminal.read(b"Fix login 500")
    folders = list((tmp_path / "tmp").iterdir())
    assert [f.name.startswith("ctx-inspect-demo-") for f in folders] == [True]
    match how:
        case "quit":
            os.write(terminal.fd, b"q")
            expected = {0}
        case "terminal closed":
            terminal.hang_up()
            expected = {129, -signal.SIGHUP}
        case name:
            os.kill(terminal.pid, signal.Signals[name])
            expected = {128 + signal.Signals[name]}
    assert terminal.wait() in expected
    assert list((tmp_path / "tmp").iterdir()) == []
    assert [p for p in (tmp_path / "home").rglob("*") if p.is_file()] == []


def test_nothing_is_left_where_interrupts_are_ignored(interrupts_ignored: None, terminal: Terminal, tmp_path: Path) -> None:
    terminal.read(b"Fix login 500")
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.wait() == 128 + signal.SIGTERM
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_growing_session_grows_on_screen(terminal: Terminal) -> None:
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    shown = 0

    def turns() -> int:
        found = re.search(r"Release notes 2\.4 .*?(\d+)/(\d+)", screen.display[0])
        return int(found[2]) if found else 0

    def watch(wanted: int) -> None:
        nonlocal shown
        end = time.monotonic() + PATIENCE
        while turns() < wanted and time.monotonic() < end:
            if select.select([terminal.fd], [], [], 0.1)[0]:
                terminal.seen += os.read(terminal.fd, 65536)
            stream.feed(terminal.seen[shown:])
            shown = len(terminal.seen)

    terminal.read(b"Fix login 500")
    os.write(terminal.fd, b"s")
    terminal.read(b"Release notes 2.4")
    os.write(terminal.fd, b"Release\r")
    watch(1)
    first = turns()
    assert first >= 2
    watch(first + 2)
    assert turns() >= first + 2
    os.write(terminal.fd, b"q")
    assert terminal.wait() == 0
