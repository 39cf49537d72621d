"""Commands on a terminal: widths, colours, and that all of it can be turned off."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.builders.pi import Call, PiStore

ESCAPE = re.compile(r"\x1b\[[0-9;]*[mK]")


def on_terminal(wide: int, *args: str, env: dict[str, str] | None = None) -> str:
    """Run the command on a terminal of this width and return what it got."""
    main, sub = os.openpty()
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack("HHHH", 24, wide, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm-256color", **(env or {})}
    process = subprocess.Popen([sys.executable, "-m", "ctx_inspect", *args], stdout=sub, stderr=subprocess.DEVNULL, env=environment)
    os.close(sub)
    out = b""
    try:
        while chunk := os.read(main, 65536):
            out += chunk
    except OSError:  # what a closed terminal gives on Linux
        pass
    finally:
        os.close(main)
    assert process.wait(60) == 0
    return out.decode().replace("\r\n", "\n")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = PiStore(tmp_path)
    for i, title in enumerate(("重构认证模块 " * 10, "x" * 300, "short")):
        s = made.session(id=f"session-{i}", cwd="/srv/" + "deep/" * 20)
        s.rename(title)
        s.turn(title, calls=[Call("bash", {"command": "ls"}, result="a")])
    return made.sessions


@pytest.mark.parametrize("wide", [200, 80, 40, 20])
@pytest.mark.parametrize("args", [["sessions"], ["turns", "last", "--text"], ["show", "last"]])
def test_no_line_is_wider_than_the_terminal(store: Path, wide: int, args: list[str]) -> None:
    out = ESCAPE.sub("", on_terminal(wide, *args, "--source", str(store)))
    # words of headings may wrap; what stands in columns may not
    table = [line for line in out.splitlines() if line.startswith(("pi:", "session", " █", "  ", "category"))]
    assert table
    if args[0] == "sessions":
        assert all(cell_len(line) <= wide for line in table)
        assert wide > 150 or any("…" in line for line in table)


@pytest.mark.parametrize("said", ["100000", "3"])
def test_the_interface_is_as_wide_as_the_terminal_whatever_the_environment_says(store: Path, said: str) -> None:
    main, sub = os.openpty()
    fcntl.ioctl(sub, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": said, "LINES": said}
    command = [sys.executable, "-m", "ctx_inspect", "last", "--source", str(store)]
    process = subprocess.Popen(command, stdin=sub, stdout=sub, stderr=sub, env=environment, start_new_session=True)
    os.close(sub)
    out = b""
    try:
        while b"short" not in out and len(out) < 2_000_000 and select.select([main], [], [], 20)[0]:
            out += os.read(main, 65536)
        os.write(main, b"q")
        while chunk := os.read(main, 65536):
            out += chunk
    except OSError:  # it ended
        pass
    finally:
        process.terminate()
        process.wait(20)
        os.close(main)
    assert b"short" in out
    assert len(out) < 300_000
    assert b"\x1b[24;" in out  # it draws down to the terminal's last row


def test_a_command_believes_no_absurd_width(store: Path) -> None:
    out = on_terminal(80, "sessions", "--source", str(store), env={"COLUMNS": "10000000"})
    assert len(out) < 20_000


def test_colours_can_be_turned_off(store: Path) -> None:
    named = ("--source", str(store))
    assert ESCAPE.search(on_terminal(80, "sessions", *named))
    assert not ESCAPE.search(on_terminal(80, "sessions", "--no-color", *named))
    assert not ESCAPE.search(on_terminal(80, "--no-color", "sessions", *named))
    assert not ESCAPE.search(on_terminal(80, "sessions", *named, env={"NO_COLOR": "1"}))
    assert not ESCAPE.search(on_terminal(80, "sessions", *named, env={"TERM": "dumb"}))
    assert not ESCAPE.search(on_terminal(80, "sessions", "--json", *named))
