"""Which requests could not go on from what the one before them left in a provider's cache, read from logged bodies alone.

A provider reads a request in the order tools, system prompt, messages and finds again what it kept at a mark of the request
before (``cache_control``). So a request keeps its cache where all up to the last mark of the one before stands again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

PARTS = ("tools", "system", "messages")


@dataclass(frozen=True)
class Block:
    """A piece of a request that a mark can stand behind.

    Attributes:
        part: ``tools``, ``system`` or ``messages``.
        place: Of a message its position, else the block's.
        content: What is sent, without marks.
        marked: Whether a mark stands behind it.
    """

    part: str
    place: int
    content: str
    marked: bool


def blocks(body: dict[str, Any]) -> list[Block]:
    """Return a request's blocks as the provider reads them."""
    prompt = [*_list(body.get("system")), *_list(body.get("instructions"))]
    return [*_listed("tools", body.get("tools") or []), *_listed("system", prompt), *_messages(body)]


def _list(content: Any) -> list[Any]:
    return [] if content is None else content if isinstance(content, list) else [content]


def _listed(part: str, pieces: Sequence[Any]) -> Iterator[Block]:
    for place, piece in enumerate(pieces):
        yield _block(part, place, piece)


def _messages(body: dict[str, Any]) -> Iterator[Block]:
    """Yield the messages; a prompt that is sent as the first of them is a prompt all the same."""
    front = True
    for place, message in enumerate(body.get("messages") or body.get("input") or []):
        role = message.get("role") or message.get("type") or ""
        front = front and role in ("system", "developer")
        rest = {k: v for k, v in message.items() if k not in ("role", "content") and v is not None}
        pieces = [*_list(message.get("content")), *([rest] if rest else [])]
        for piece in pieces:
            yield _block("system" if front else "messages", place, piece, role)


def _block(part: str, place: int, piece: Any, role: str = "") -> Block:
    marked = isinstance(piece, dict) and "cache_control" in piece
    return Block(part, place, role + json.dumps(_unmarked(piece), ensure_ascii=False, sort_keys=True), marked)


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(v) for v in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Stood:
    """What of the request before stands again in a request.

    Attributes:
        size: UTF-8 bytes that both have in front.
        before: Bytes of the one before, up to its last mark.
        part: Where they differ first: ``tools``, ``system``, ``messages``; ``None`` where all up to the last mark stands again.
        place: Of the message, or block, that differs first.
    """

    size: int
    before: int
    part: str | None
    place: int | None

    @property
    def share(self) -> float:
        """How much of what the one before left stands again."""
        return self.size / self.before if self.before else 0.0


def stood(before: dict[str, Any], after: dict[str, Any]) -> Stood:
    """Compare two requests that were sent one after the other."""
    old, new = blocks(before), blocks(after)
    marks = [n for n, b in enumerate(old) if b.marked]
    last = marks[-1] + 1 if marks else len(old)
    same = 0
    for a, b in zip(old[:last], new, strict=False):
        if (a.part, a.content) != (b.part, b.content):
            break
        same += 1
    whole = sum(_bytes(b) for b in old[:last])
    if same == last:
        return Stood(whole, whole, None, None)
    # what came or went at the end of the tools stands where the other request has its prompt already
    first = min([rest[same] for rest in (old, new) if same < len(rest)], key=lambda b: PARTS.index(b.part))
    return Stood(sum(_bytes(b) for b in old[:same]), whole, first.part, first.place)


def _bytes(block: Block) -> int:
    return len(block.content.encode())


@dataclass(frozen=True)
class Reach:
    """How far a request's beginning was in the cache: from any earlier request, not from the one before alone.

    Attributes:
        size: Bytes up to the furthest mark that an earlier request had behind the same beginning.
        whole: Bytes of the request.
    """

    size: int
    whole: int


def reaches(bodies: Sequence[dict[str, Any]]) -> list[Reach]:
    """Return how far each request's beginning was in the cache, if a provider kept everything that was marked."""
    kept: set[int] = set()
    found: list[Reach] = []
    for body in bodies:
        size = best = beginning = 0
        marked: list[int] = []
        for block in blocks(body):
            size += _bytes(block)
            beginning = hash((beginning, block.part, block.content))
            if beginning in kept:
                best = size
            if block.marked:
                marked.append(beginning)
        kept.update(marked)
        found.append(Reach(best, size))
    return found


def in_turn(bodies: Sequence[dict[str, Any]]) -> list[Stood | None]:
    """Return what stands again of each request's predecessor; ``None`` for the first."""
    return [None if n == 0 else stood(bodies[n - 1], body) for n, body in enumerate(bodies)]
