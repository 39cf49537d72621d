"""A provider that counts and caches what Pi sends it, so that a written session has the figures it would have had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.builders.pi import PiStore, Spent, sections, tool

BYTES = 4
"""Per token."""

HOME = "/home/ann/shop"
AGENTS = f"{HOME}/AGENTS.md"


class Meter:
    """Counts tokens and keeps what it read last: a request reads from the cache what both begin with, in whole pieces.

    Args:
        granule: Tokens by which it rounds what it reads down.
    """

    def __init__(self, granule: int = 1) -> None:
        self.granule = granule
        self._last: list[str] = []

    def ask(self, pieces: Sequence[str]) -> Spent:
        """Return what a request costs."""
        same = 0
        for old, new in zip(self._last, pieces, strict=False):
            if old != new:
                break
            same += 1
        self._last = list(pieces)
        read = _tokens(pieces[:same]) // self.granule * self.granule
        return Spent(3, 10, read, _tokens(pieces) - read - 3)


def _tokens(pieces: Iterable[str]) -> int:
    return sum(len(p.encode()) for p in pieces) // BYTES


class Session:
    """A Pi session whose usage is metered: tools first, then the prompt, then the messages, as the provider reads them."""

    def __init__(
        self, home: Path, meter: Meter | None = None, tools: Sequence[Mapping[str, Any]] = (), files: Mapping[str, str] | None = None
    ) -> None:
        self.meter = meter or Meter()
        self.file = PiStore(home).session(cwd=HOME)
        self.tools = {t["name"]: t for t in tools or [tool(n, text(n, 3_000)) for n in ("read", "write", "bash")]}
        self.files = dict(files or {AGENTS: text("agents", 8_000)})
        self.sections: dict[str, str | None] = sections(preamble=text("preamble", 6_000), instructions=self.files)
        self.said: list[str] = []
        self.file.system(self.sections, list(self.tools.values()))

    @property
    def path(self) -> Path:
        return self.file.path

    def patch(self, **changed: str) -> None:
        """Give sections another text."""
        self.sections |= changed
        self.file.system(changed)

    def edit(self, files: Mapping[str, str]) -> None:
        """Change the instruction files."""
        self.files = dict(files)
        self.patch(project_context=sections(instructions=self.files)["project_context"] or "")

    def declare(self, *tools: Mapping[str, Any]) -> None:
        """Declare these tools anew, in this order; Pi takes each out and puts it at the end."""
        for t in tools:
            self.tools.pop(t["name"], None)
            self.tools[t["name"]] = dict(t)
        self.file.system(tools=tools, removed=[t["name"] for t in tools])

    def turn(self, size: int = 400) -> Spent:
        """Write a turn of one step."""
        self.file.user(self._say(size))
        usage = self.ask()
        self.file.assistant(self._say(size), usage=usage)
        return usage

    def ask(self) -> Spent:
        """Return what a request costs now."""
        prompt = [s for s in self.sections.values() if s is not None]
        return self.meter.ask([*map(str, self.tools.values()), *prompt, *self.said])

    def _say(self, size: int) -> str:
        self.said.append(text(f"message {len(self.said)}", size))
        return self.said[-1]


def text(about: str, size: int) -> str:
    """A text of this many bytes."""
    line = f"Some words about {about}. "
    return (line * (size // len(line) + 1))[:size]
