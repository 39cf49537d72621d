"""Starting and ending the program: in a terminal of its own, as a process."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import textwrap
import time
from pathlib import Path

import pytest

from tests.builders.pi import PiStore, Spent


def in_terminal(
    code: str, keys: str = "", until: str = "", env: dict[str, str] | None = None, seconds: float = 20, after: str = ""
) -> tuple[int, str]:
    """Run Python code in a pseudo terminal; press keys once ``until`` is seen, ``after`` a second later; return exit code and output."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})},
        close_fds=True,
    )
    os.close(slave)
    out = b""
    pressed, due = not keys, 0.0
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
                pressed, due = True, time.monotonic() + 1
            if after and pressed and time.monotonic() >= due:
                os.write(master, after.encode())
                after = ""
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
    status, out = in_terminal(code(textwrap.indent(textwrap.dedent(more), "    ")), "ff", " turns", {"XDG_STATE_HOME": str(tmp_path)})
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


def colours(out: str) -> set[str]:
    """Return the numbers in the output that name a colour (30…49, 90…107, those after 38 and 48 among them)."""
    found: set[str] = set()
    for numbers in re.findall(r"\x1b\[([0-9;:]*)m", out):
        found |= {n for n in re.split("[;:]", numbers) if n.isdecimal() and (30 <= int(n) <= 49 or 90 <= int(n) <= 107)}
    return found


@pytest.mark.parametrize(("env", "argument"), [({"NO_COLOR": "1"}, ""), ({}, "no_color=True")])
def test_without_colours_no_colour_is_named_and_the_selection_is_turned_round(env: dict[str, str], argument: str, tmp_path: Path) -> None:
    start = code().replace("sample())]", f"sample())], {argument}").rstrip() + "\n"
    env = {**env, "XDG_STATE_HOME": str(tmp_path), "COLORTERM": "truecolor"}
    status, out = in_terminal(start, "jk:", "Fix login 500", env, after="\x03")  # a sheet over the screen too
    assert status == 0
    assert "Everything" in out
    assert colours(out) == set()
    assert re.search(r"\x1b\[(?:[0-9;]*;)?7(?:;[0-9;]*)?m", out)


def test_with_colours_there_are_some(tmp_path: Path) -> None:
    _, out = in_terminal(code(), "q", "Fix login 500", {"XDG_STATE_HOME": str(tmp_path), "COLORTERM": "truecolor"})
    assert "38" in colours(out)


COMMAND = """
    import sys
    from ctx_inspect.app.main import run
    sys.exit(run([{arguments}]))
"""


def test_what_the_persons_file_says_reaches_the_interface(tmp_path: Path) -> None:
    one = PiStore(tmp_path).session(id="grows")
    one.turn("do it", usage=Spent(100, 10, 40_000))
    config = tmp_path / "config" / "ctx-inspect"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[limits]\nlarge = 320000\n[keys]\ntab_steps = "ctrl+t"\nnothing = "x"\n')
    env = {
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "agent"),
    }
    start = COMMAND.format(arguments=f"'--source', {str(one.path)!r}, '--no-color'")
    status, out = in_terminal(start, "\x14", "of 320k", env, after="q")
    assert status == 0
    assert "end · tools · model" in out  # the Steps tab, by a key of the person's own
    assert "an entry names no key of ours" in out
    assert colours(out) == set()


def test_importing_the_command_imports_no_framework() -> None:
    check = "import sys, ctx_inspect.app.app, ctx_inspect.app.main; sys.exit('textual' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_a_dumb_terminal_gets_the_list_as_text(tmp_path: Path) -> None:
    one = PiStore(tmp_path).session(id="plain")
    one.turn("do it", usage=Spent(100, 10, 40_000))
    start = COMMAND.format(arguments=f"'--source', {str(one.path)!r}")
    env = {"TERM": "dumb", "XDG_STATE_HOME": str(tmp_path / "state")}
    status, out = in_terminal(start, env=env)
    assert status == 0
    assert "pi:plain" in out
    assert "\x1b" not in out
