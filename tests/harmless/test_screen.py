"""The real interface, used in a terminal, leaves every store as it was."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.agents.install import ENVIRONMENT, isolated
from tests.bench.terminal import Terminal
from tests.harmless.conftest import opencode_idle, pi_folder
from tests.harmless.files import state_of

KEYS = ("\x1b[B", "\x1b[A", "2", "5", "6", "s", "\x1b", "\t", "f", "f", "?", "\x1b", "\r", "\x1b", "G", "g")
"""Moves, tabs, the drawer, follow, help: what a person presses, but for leaving."""


def use(stores: Path, home: Path, seconds: float) -> int:
    """Press keys for so long; return how often the screen changed."""
    environment = isolated(home) | {
        "TERM": "xterm-256color",
        "PATH": ENVIRONMENT["PATH"],
        "XDG_DATA_HOME": str(stores / "data"),
        "PI_CODING_AGENT_DIR": str(stores / ".pi" / "agent"),
    }
    screens: set[str] = set()
    with Terminal([sys.executable, "-m", "ctx_inspect"], env=environment, cwd=home) as terminal:
        terminal.when(lambda screen: "Timeline" in screen, 20, "a session")
        until = time.monotonic() + seconds
        pressed = 0
        while time.monotonic() < until:
            terminal.press(KEYS[pressed % len(KEYS)])
            pressed += 1
            terminal.quiet(0.15, 0.4)
            screens.add(terminal.show())
        assert terminal.process.poll() is None, terminal.lines()
    return len(screens)


@pytest.mark.timeout(200)
@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=pytest.mark.bench)])
def test_using_the_interface_changes_nothing(tmp_path: Path, seconds: float) -> None:
    stores, home = tmp_path / "stores", tmp_path / "home"
    home.mkdir()
    pi_folder(stores)
    opencode_idle(stores / "data" / "opencode")
    before = state_of(stores)
    assert use(stores, home, seconds) >= 5
    assert state_of(stores) == before
