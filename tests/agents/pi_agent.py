"""Runs a real Pi in a home of its own and drives it by its RPC mode (JSON lines on stdin and stdout)."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents import install
from tests.agents.mock_model import MockModel

Json = dict[str, Any]

GOTO = """\
// RPC has no command for moving in the tree; an extension's command may.
export default function (pi: any) {
  pi.registerCommand("goto", {
    description: "Go on from another entry",
    handler: async (words: string, ctx: any) => {
      const [entry, how] = words.split(" ");
      await ctx.navigateTree(entry, { summarize: how === "summarize" });
    },
  });
}
"""


def _model(name: str, window: int = 128_000) -> Json:
    return {
        "id": name,
        "name": name,
        "reasoning": True,
        "input": ["text"],
        "contextWindow": window,
        "maxTokens": 8_000,
        "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1},
    }


class Pi:
    """A Pi process and its project; a context manager.

    Attributes:
        sessions: The folder its store will be.
        project: The folder it works in.
    """

    def __init__(self, home: Path, model: MockModel) -> None:
        self.home, self.model = home, model
        self.project = home / "shop"
        self.project.mkdir(parents=True, exist_ok=True)
        (self.project / "notes.txt").write_text("Milk\nBread 🍞\n")
        (self.project / "AGENTS.md").write_text("# Rules\n- Be brief.\n")
        self.agent = home / ".pi" / "agent"
        self.sessions = self.agent / "sessions"
        self.agent.mkdir(parents=True, exist_ok=True)
        providers = {
            "mock": {
                "baseUrl": f"{model.url}/v1",
                "api": "openai-completions",
                "apiKey": "none",
                "models": [_model("big"), _model("other")],
            },
            "mockanthropic": {"baseUrl": model.url, "api": "anthropic-messages", "apiKey": "none", "models": [_model("claude-mock")]},
        }
        (self.agent / "models.json").write_text(json.dumps({"providers": providers}))
        settings = {
            "defaultProvider": "mock",
            "defaultModel": "big",
            "defaultThinkingLevel": "low",
            "defaultProjectTrust": "always",
            "cacheWarming": "off",
            "compaction": {"enabled": True, "reserveTokens": 2000, "keepRecentTokens": 200},
            "retry": {"enabled": True, "maxRetries": 2, "baseDelayMs": 200},
        }
        (self.agent / "settings.json").write_text(json.dumps(settings))
        self._extension = home / "goto.ts"
        self._extension.write_text(GOTO)
        self._log = home / "pi.log"
        self._said: queue.Queue[Json | None] = queue.Queue()
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Pi:
        environment = {
            **install.isolated(self.home),
            "PATH": f"{install.node().parent}{os.pathsep}{os.environ['PATH']}",
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*install.pi(), "--mode", "rpc", "-e", str(self._extension)],
                cwd=self.project,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        try:
            self.command("get_state", timeout=60)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return
        try:
            process.stdin.close()
            process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        process.stdout.close()

    def log(self) -> str:
        """Return what it wrote to its standard error."""
        return self._log.read_text(errors="replace")

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                try:
                    self._said.put(json.loads(line))
                except ValueError:
                    continue
        except ValueError:
            pass  # closed while it read
        self._said.put(None)

    def wait(self, fits: Callable[[Json], bool], timeout: float = 30) -> Json:
        """Return its next message that fits; the ones before are dropped."""
        until = time.monotonic() + timeout
        seen: list[Any] = []
        while (left := until - time.monotonic()) > 0:
            try:
                message = self._said.get(timeout=left)
            except queue.Empty:
                break
            if message is None:
                raise AssertionError(f"Pi ended: {self.log()[-2000:]}")
            if fits(message):
                return message
            seen.append(message.get("type"))
        raise AssertionError(f"Pi said nothing of the kind within {timeout} s; last: {seen[-10:]}; {self.log()[-1000:]}")

    def command(self, kind: str, *, timeout: float = 30, **fields: Any) -> Json:
        """Send a command; return the data of its response.

        Raises:
            AssertionError: It refused.
        """
        assert self._process is not None
        assert self._process.stdin is not None
        self._count += 1
        name = f"c{self._count}"
        self._process.stdin.write(json.dumps({"id": name, "type": kind, **fields}).encode() + b"\n")
        self._process.stdin.flush()
        answer = self.wait(lambda m: m.get("type") == "response" and m.get("id") == name, timeout)
        assert answer.get("success"), answer
        return answer.get("data") or {}

    def prompt(self, text: str, *, wait: bool = True) -> None:
        """Send a prompt; with ``wait`` return once the agent has settled."""
        self.command("prompt", message=text)
        if wait:
            self.settle()

    def settle(self) -> None:
        """Wait until it is idle."""
        self.wait(lambda m: m.get("type") == "agent_settled")

    def slash(self, text: str) -> None:
        """Run an extension's command."""
        self.command("prompt", message=f"/{text}")

    def file(self) -> Path:
        """Return the file of the open session."""
        return Path(self.command("get_state")["sessionFile"])

    def entries(self) -> tuple[list[Json], str]:
        """Return the entries of the open session and the true leaf, as Pi itself tells them."""
        data = self.command("get_entries")
        return data["entries"], data["leafId"]
