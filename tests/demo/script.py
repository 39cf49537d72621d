"""The words in which the sample conversations are written down: turns, steps and the tools they use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HOME = "/home/ada"
APP = f"{HOME}/my-app"
DOCS = f"{HOME}/docs"


@dataclass(frozen=True)
class Use:
    """A call of a tool and what came back; ``kind`` names filler whose size follows from the turn's window."""

    tool: str
    input: dict[str, Any]
    output: str = ""
    kind: str | None = None
    weight: float = 1
    failed: bool = False
    framed: bool = False


@dataclass(frozen=True)
class Step:
    """One answer of the model.

    Attributes:
        text: What it says.
        uses: The tools it calls.
        thinking: Its reasoning.
        seconds: How long it took.
        aborted: Whether the person stopped it.
        unreported: Whether the provider reported no usage.
        kept: What share of the request before the provider's cache still holds; else what its turn says.
        system: Tokens that system prompt and tools have grown by since the step before.
    """

    text: str = ""
    uses: tuple[Use, ...] = ()
    thinking: str | None = None
    seconds: int = 7
    aborted: bool = False
    unreported: bool = False
    kept: float | None = None
    system: int = 0


@dataclass(frozen=True)
class Turn:
    """One prompt and what followed.

    Attributes:
        prompt: What the person wrote.
        steps: The answers.
        window: Tokens that the last step sends, in thousands; the filler of the tools makes up for what the words leave open.
        gap: Seconds between the answer before and this prompt; 0 = a few minutes.
        model: Model that the person switched to.
        kept: What share of the request before the provider's cache still holds at the first step.
        system: Tokens that system prompt and tools have grown by since the turn before.
    """

    prompt: str
    steps: tuple[Step, ...]
    window: float = 0
    gap: int = 0
    model: str | None = None
    kept: float = 1.0
    system: int = 0


def say(text: str, **options: Any) -> Step:
    return Step(text, **options)


def do(*uses: Use, text: str = "", **options: Any) -> Step:
    return Step(text, uses, **options)


def read(path: str, weight: float = 1, kind: str = "code") -> Use:
    return Use("read", {"filePath": f"{APP}/{path}"}, kind=kind, weight=weight, framed=True)


def grep(pattern: str, weight: float = 0.4) -> Use:
    return Use("grep", {"pattern": pattern, "path": APP}, kind="grep", weight=weight)


def bash(command: str, kind: str = "suite", weight: float = 1) -> Use:
    return Use("bash", {"command": command, "description": "Run it"}, kind=kind, weight=weight)


def shell(command: str, output: str) -> Use:
    return Use("bash", {"command": command, "description": "Run it"}, output)


def edit(path: str, old: str, new: str, failed: bool = False) -> Use:
    answer = "The text to replace was not found in the file. Read it again and use its exact words." if failed else "Edit applied."
    return Use("edit", {"filePath": f"{APP}/{path}", "oldString": old, "newString": new}, answer, failed=failed)


def write(path: str, content: str) -> Use:
    return Use("write", {"filePath": f"{APP}/{path}", "content": content}, "Wrote file.")


def mcp(name: str, weight: float = 0.4, **input: Any) -> Use:
    return Use(name, input, kind="grep", weight=weight)


def pi_read(path: str, weight: float = 1, kind: str = "prose") -> Use:
    return Use("read", {"path": path}, kind=kind, weight=weight)


def pi_edit(path: str, old: str, new: str, failed: bool = False) -> Use:
    answer = f"Could not find the exact text in {path}. It must match to the letter." if failed else f"Replaced 1 block in {path}."
    return Use("edit", {"path": path, "edits": [{"oldText": old, "newText": new}]}, answer, failed=failed)


def check(output: str = "links ok, spelling ok, headings ok") -> Use:
    return Use("bash", {"command": "make check"}, output)
