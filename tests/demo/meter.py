"""What each request of a sample conversation sends: the provider's figures follow from the words, never the other way round."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tests.demo.filler import Dice, fill, numbered, tokens
from tests.demo.script import Step, Turn, Use

LEAST = 1_024
"""Tokens below which the provider caches nothing."""

PER_MESSAGE, PER_CALL = 4, 8
"""Tokens that the frames of a message and of a call take."""


def call_size(use: Use) -> int:
    return tokens(use.tool) + tokens(json.dumps(use.input, ensure_ascii=False)) + PER_CALL


def answer_size(step: Step) -> int:
    return PER_MESSAGE + tokens(step.text) + tokens(step.thinking or "") + sum(call_size(u) for u in step.uses)


def result_of(use: Use, seed: str, size: int) -> str:
    """Return what a tool gave back; ``size`` is for the tools whose output is filler."""
    if use.kind is None:
        return use.output
    text = fill(use.kind, seed, size)
    if not use.framed:
        return text
    path = use.input["filePath"]
    return f"<path>{path}</path>\n<type>file</type>\n<content>\n{numbered(text)}\n</content>"


def results_of(turn: Turn, before: int, seed: str, overhead: int = 0) -> list[list[str]]:
    """Return the tools' outputs by step, so large that the turn's last step sends what the script says.

    Args:
        turn: The turn.
        before: Tokens that are in the context when it begins.
        seed: Names it.
        overhead: Tokens that come in on the way (a longer system prompt).
    """
    known = before + overhead + PER_MESSAGE + tokens(turn.prompt)
    open_weight = 0.0
    for step in turn.steps[:-1]:
        known += answer_size(step)
        for use in step.uses:
            known += PER_MESSAGE
            if use.kind is None:
                known += tokens(use.output)
            else:
                open_weight += use.weight
    left = max(turn.window * 1000 - known, 60 * open_weight)
    out: list[list[str]] = []
    for n, step in enumerate(turn.steps):
        row: list[str] = []
        for m, use in enumerate(step.uses):
            # numbering a file and its frame take a fifth of what a reader gets
            share = left * use.weight / open_weight if open_weight else 0
            row.append(result_of(use, f"{seed}/{n}/{m}", int(share * (0.8 if use.framed else 1))))
        out.append(row)
    return out


@dataclass(frozen=True)
class Figures:
    """What the provider reports for one request."""

    input: int
    read: int
    write: int
    output: int

    @property
    def window(self) -> int:
        return self.input + self.read + self.write


@dataclass
class Meter:
    """Follows a context and says what a request with it costs.

    Attributes:
        base: Tokens of the system prompt and the tools.
        parts: Tokens of each message in the context, by its id, in order.
        held: Tokens at the front that the provider's cache holds.
        text: What stands before the messages, where it is known.
        last: Tokens of the request before.
    """

    base: int
    seed: str
    parts: dict[str, int] = field(default_factory=dict)
    held: int = 0
    calls: int = 0
    text: str = ""
    last: int = 0

    def front(self, text: str) -> None:
        """Change what stands before the messages, tools first; the cache keeps what both have in front."""
        if self.text and text != self.text:
            self.held = min(self.held, tokens(text[: _common(self.text, text)]))
        self.text, self.base = text, tokens(text)

    @property
    def window(self) -> int:
        return self.base + sum(self.parts.values())

    def add(self, id: str, size: int) -> None:
        self.parts[id] = self.parts.get(id, 0) + size

    def drop(self, ids: list[str]) -> None:
        """Take messages out; the cache keeps what lies before them."""
        for id in ids:
            self.parts.pop(id, None)
        self.held = min(self.held, self.window)

    def request(self, step: Step, kept: float) -> Figures:
        """Send what is in the context.

        Args:
            step: The answer to it.
            kept: Share of the tokens held that are still good.
        """
        self.calls += 1
        window = self.window
        new = 3 + Dice(f"{self.seed}/{self.calls}").below(9)
        good = int(min(self.held, window - new) * kept)
        if self.last and good < self.last - 64:  # a provider's cache ends at whole blocks
            good = good // 64 * 64
        read = good if good >= LEAST else 0
        self.held = self.last = window
        return Figures(new, read, window - read - new, answer_size(step) - PER_MESSAGE)


def _common(a: str, b: str) -> int:
    """Return how many characters both have in front."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
