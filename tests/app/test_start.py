"""Starting and ending the program: in a terminal of its own, as a process."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest


def in_terminal(code: str, keys: str = "", until: str = "", env: dict[str, str] | None = None, seconds: float = 20) -> tuple[int, str]:
    """Run Python code in a pseudo terminal; press keys once ``until`` is seen; return exit code and output."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLUMNS": "100", "LINES": "30", **(env or {})},
        close_fds=True,
    )
    os.close(slave)
    out = b""
    pressed = not keys
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    data = os.read(master, 65536)
                except OSError:
                    break
                if not data:
                    break
                out += data
            if not pressed and until.encode() in out:
                os.write(master, keys.encode())
                pressed = True
            if process.poll() is not None and not select.select([master], [], [], 0.1)[0]:
                break
    finally:
        if process.poll() is None:
            process.kill()
        code_ = process.wait()
        os.close(master)
    return code_, out.decode("utf-8", "replace")


START = """
    import sys
    sys.path.insert(0, {root!r})
    from ctx_inspect.app.app import run
    from tests.app.fakes import FakeSource, sample
    {more}
    sys.exit(run([FakeSource(sample())]))
"""


def code(more: str = "") -> str:
    root = str(Path(__file__).resolve().parent.parent.parent)
    return START.format(root=root, more=more)


def test_it_opens_and_q_ends_it() -> None:
    status, out = in_terminal(code(), "q", "Fix login 500")
    assert status == 0
    assert "Fix login 500" in out
    assert "\x1b[?1049l" in out  # the terminal is given back


def test_a_fault_ends_with_one_sentence_and_no_value(tmp_path: Path) -> None:
    more = """
    from ctx_inspect.app.panes.timeline import TimelinePane
    def broken(self, n, quiet=False):
        secret = "sk-live-0123456789"
        raise LookupError(secret)
    TimelinePane.select = broken
    """
    status, out = in_terminal(
        code(textwrap.indent(textwrap.dedent(more), "    ")), "ff", "Fix login 500", {"XDG_STATE_HOME": str(tmp_path)}
    )
    assert status == 1
    assert "ctx-inspect stopped by an error of its own (LookupError)" in out.replace("\r\n", " ").replace("\n", " ")
    assert "sk-live" not in out
    assert "Traceback" not in out
    log = next(tmp_path.rglob("crash.log")).read_text()
    assert "LookupError" in log
    assert "sk-live" not in log


@pytest.mark.parametrize("name", ["TEXTUAL_LOG", "TEXTUAL_SCREENSHOT_LOCATION"])
def test_the_frameworks_own_logs_and_pictures_are_off(name: str, tmp_path: Path) -> None:
    env = {name: str(tmp_path / "out"), "TEXTUAL_SCREENSHOT": "1", "TEXTUAL": "debug,devtools"}
    status, _ = in_terminal(code(), "q", "Fix login 500", env)
    assert status == 0
    assert not list(tmp_path.rglob("*.svg"))
    assert not (tmp_path / "out").exists()


def test_a_terminal_that_is_not_utf8_gets_ascii() -> None:
    status, out = in_terminal(code(), "q", "Fix login 500", {"LANG": "C", "LC_ALL": "C"})
    assert status == 0
    assert "─" not in out
    assert "▇" not in out


def test_importing_the_command_imports_no_framework() -> None:
    check = "import sys, ctx_inspect.app.app, ctx_inspect.app.main; sys.exit('textual' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
