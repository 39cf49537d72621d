"""The interface in a terminal of its own beside a real agent: each turn is on the screen within a second of its row."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.agents import install
from tests.agents.conftest import lock_errors
from tests.agents.mock_model import MockModel, Say, Use
from tests.agents.opencode_agent import OpenCode
from tests.agents.pi_agent import Pi
from tests.bench.terminal import Terminal

pytestmark = [pytest.mark.agents, pytest.mark.timeout(400)]

TURNS = 4
LIMIT = 1.0


def beside(home: Path) -> Terminal:
    """Start the interface as a person would: nothing is named, it finds the store by itself."""
    home.mkdir(parents=True, exist_ok=True)
    environment = install.isolated(home) | {"TERM": "xterm-256color", "PATH": install.ENVIRONMENT["PATH"]}
    # wide enough for the time of a turn beside the detail, also where no limit is known
    return Terminal([sys.executable, "-m", "ctx_inspect"], env=environment, cwd=home, columns=158)


def turn_row(n: int) -> Callable[[str], bool]:
    """Tell whether a screen's timeline holds turn n."""
    row = re.compile(rf"^[^\w]*\b{n}\s+\d\d:\d\d\b", re.MULTILINE)
    return lambda screen: row.search(screen) is not None


def seen(terminal: Terminal, say: Callable[[], object], n: int) -> float:
    """Have a turn said in another thread; return when it was on the screen, in seconds since the epoch."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            say()
        except BaseException as e:
            errors.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        at = terminal.when(turn_row(n), 20, f"turn {n}")
    finally:
        while thread.is_alive():
            terminal.read(0.05)
    assert not errors, errors
    return time.time() - (time.perf_counter() - at)


def scenes(model: MockModel, call: Use) -> list[str]:
    return [f"Question {n} " + model.scene(f"q{n}", Say("Looking.", calls=[call]), Say(f"Answer {n}.")) for n in range(1, TURNS + 1)]


def check(times: list[float], rows: list[float]) -> None:
    late = [a - b for a, b in zip(times, rows, strict=True)]
    print([round(x, 3) for x in late])
    assert max(late) < LIMIT, late


def test_beside_pi(tmp_path: Path, model: MockModel) -> None:
    install.pi()
    home = tmp_path / "home"
    with beside(home) as terminal:
        terminal.when(lambda screen: "Pi" in screen, 20, "the places where it looked")
        with Pi(home, model) as pi:
            prompts = scenes(model, Use("bash", command="ls"))
            times = [seen(terminal, lambda p=p: pi.prompt(p), n) for n, p in enumerate(prompts, 1)]  # type: ignore[misc]
            rows = [json.loads(line) for line in pi.file().read_text().split("\n") if line]
            users = [r["message"]["timestamp"] / 1000 for r in rows if r["type"] == "message" and r["message"]["role"] == "user"]
            assert pi.log().strip() == ""
        check(times, users)
        assert "bug" not in terminal.show()


def test_beside_opencode(tmp_path: Path, model: MockModel) -> None:
    install.opencode()
    home = tmp_path / "home"
    with beside(home) as terminal:
        terminal.when(lambda screen: "OpenCode" in screen, 20, "the places where it looked")
        with OpenCode(home, model) as agent:
            session = agent.session()
            prompts = scenes(model, Use("bash", command="ls", description="list"))
            times = [seen(terminal, lambda p=p: agent.prompt(session, p), n) for n, p in enumerate(prompts, 1)]  # type: ignore[misc]
            written = agent.written()
            rows = [written[m["info"]["id"]] for m in agent.messages(session) if m["info"]["role"] == "user"]
            assert lock_errors(agent.log()) == []
        check(times, rows)
        assert "bug" not in terminal.show()
