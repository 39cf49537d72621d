"""Runs a real OpenCode server in a home of its own and drives it by its HTTP interface."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.agents import install
from tests.agents.mock_model import MockModel

Json = dict[str, Any]


def _models(*names: str) -> Json:
    return {
        n: {"name": n, "tool_call": True, "limit": {"context": 200_000, "output": 8_000}, "cost": {"input": 1, "output": 2}} for n in names
    }


class OpenCode:
    """A server and its project; a context manager.

    Attributes:
        database: Where its store will be.
        project: The folder it works in.
    """

    def __init__(self, home: Path, model: MockModel) -> None:
        self.home, self.model = home, model
        self.project = home / "shop"
        self.project.mkdir(parents=True, exist_ok=True)
        (self.project / "notes.txt").write_text("Milk\nBread 🍞\n")
        self.database = home / ".local" / "share" / "opencode" / "opencode.db"
        options = {"baseURL": f"{model.url}/v1", "apiKey": "none"}
        self.config: Json = {
            "autoupdate": False,
            "share": "disabled",
            "model": "mock/big",
            "small_model": "mock/small",
            "enabled_providers": ["mock", "mockanthropic"],
            "permission": {"*": "allow"},
            "provider": {
                "mock": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Mock",
                    "options": options,
                    "models": _models("big", "other", "small"),
                },
                "mockanthropic": {"npm": "@ai-sdk/anthropic", "name": "Mock A", "options": options, "models": _models("claude-mock")},
            },
        }
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port: int = s.getsockname()[1]
        self._log = home / "opencode.log"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> OpenCode:
        environment = {
            **install.isolated(self.home),
            "PATH": os.environ["PATH"],
            "OPENCODE_CONFIG_CONTENT": json.dumps(self.config),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [install.opencode(), "serve", "--port", str(self.port), "--print-logs", "--log-level", "INFO"],
                cwd=self.project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                self.call("GET", "/global/health", timeout=1)  # one that comes too early is never answered
            except OSError:
                time.sleep(0.1)
            else:
                return self
        self.__exit__()
        raise AssertionError(f"OpenCode did not start: {self.log()[-2000:]}")

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(5)  # it may wait for an installation of its own
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.home / ".cache", ignore_errors=True)

    def log(self) -> str:
        """Return what it wrote to its log and to its terminal."""
        files = [self._log, *self.home.glob(".local/share/opencode/log/*")]
        return "\n".join(f.read_text(errors="replace") for f in files if f.is_file())

    def call(self, method: str, path: str, body: Json | None = None, timeout: float = 60) -> Any:
        """Make one request to it; return the JSON answer.

        Raises:
            OSError: It does not answer (``HTTPError`` where it refuses).
        """
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json", "x-opencode-directory": str(self.project)},
        )
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            data = answer.read()
        return json.loads(data) if data else None

    def session(self) -> str:
        """Make a session; return its id."""
        return self.call("POST", "/session", {})["id"]

    def prompt(self, session: str, text: str, *, model: str | None = None, agent: str | None = None, wait: bool = True) -> Any:
        """Send a prompt; with ``wait`` return the answer once the turn is over."""
        body: Json = {"parts": [{"type": "text", "text": text}]}
        if agent:
            body["agent"] = agent
        if model:
            provider, name = model.split("/")
            body["model"] = {"providerID": provider, "modelID": name}
        return self.call("POST", f"/session/{session}/{'message' if wait else 'prompt_async'}", body)

    def messages(self, session: str) -> list[Json]:
        """Return its messages, as it tells them itself."""
        return self.call("GET", f"/session/{session}/message")

    def written(self) -> dict[str, float]:
        """Return when the first part of each message was written, in seconds since the epoch.

        A user's row comes first and its text up to seconds later, while OpenCode starts up; only then is there anything
        that opens a turn. The time is in the id of the event that tells of it: 12 hex digits of ``ms * 4096 + n``,
        of which 36 bits are left for the time.
        """
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            rows = connection.execute("SELECT id, data FROM event WHERE type LIKE 'message.part.updated%' ORDER BY id").fetchall()
        finally:
            connection.close()
        found: dict[str, float] = {}
        span = 1 << 36
        now = int(time.time() * 1000)
        for id, data in rows:
            ms = int(id.removeprefix("evt_")[:12], 16) // 4096
            found.setdefault(json.loads(data)["part"]["messageID"], (now - (now - ms) % span) / 1000)
        return found
