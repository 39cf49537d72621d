"""The card of an item, below its row: where it comes from, when it changed, and what it has cost since."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import LiteralString

from ctx_inspect.core.diff.history import ItemHistory, Version
from ctx_inspect.core.diff.report import Change, ChangeKind
from ctx_inspect.core.model import Category, Item, Known, Shown, Unavailable, value_of
from ctx_inspect.core.phrases import Name
from ctx_inspect.core.text.show import Safe, joined, numeral, own, safe_join, said
from ctx_inspect.core.views.figures import counted, tokens, whole
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Cell, Row, RowKind, Span, Tone

TURNS_NAMED = 8
"""Turns that are named of one kind of change, the newest ones."""

VERSIONS_NAMED = 3
"""Contents whose requests are told apart; of more only the sum is said."""

WORDS: dict[ChangeKind, LiteralString] = {
    ChangeKind.ADDED: "added",
    ChangeKind.REMOVED: "removed",
    ChangeKind.MODIFIED: "changed",
    ChangeKind.MOVED: "moved",
    ChangeKind.RENAMED: "renamed",
}


def card_rows(
    story: ItemHistory | None, change: Change | None, count: Callable[[Item], Known[int]], *, readable: bool, name: Name = named
) -> tuple[Row, ...]:
    """Return the card's lines.

    Args:
        story: The item over the session; ``None``: it is on its way.
        change: What happened to it in the comparison on screen.
        count: Counts its contents.
        readable: The store holds a text of it.
        name: Makes names from outside harmless.
    """
    if story is None:
        return (_line(own("looking it up…")),)
    lines: list[Shown] = []
    item = story.versions[-1].item if story.versions else (change.after or change.before if change is not None else None)
    if item is not None:
        lines += _origin(item, name)
    if change is not None and change.moved:
        lines.append(joined("moved: ", safe_join(", ", (name(k) for k in change.moved))))
    lines.append(_when(story))
    if story.period is not None:
        lines.append(joined("its content comes and goes: the same again after ", counted(story.period, "turn")))
    if story.category is not Category.SETTINGS:
        lines += _cost(story.versions, count)
    if story.category is not Category.SETTINGS and story.k:
        lines.append(own("v shows what changed in its text, here only") if readable else own("the store keeps no text of it"))
    return tuple([_line(words) for words in lines])


def _line(words: Shown) -> Row:
    return Row((Cell((Span(own("   │ "), Tone.DIM), Span(words, Tone.DIM))),), RowKind.SPOKEN)


def _origin(item: Item, name: Name) -> list[Shown]:
    origin = item.origin
    if origin is None:
        return []
    kinds: dict[str, Shown] = {
        "file": own("file"),
        "mcp": own("MCP server"),
        "builtin": own("built into the agent"),
        "extension": own("extension"),
        "harness": own("written by the agent itself"),
    }
    words, known = kinds.get(origin.kind), origin.path or origin.name
    if words is None:
        return []
    return [joined(words, " ", name(known)) if known is not None else words]


def _when(story: ItemHistory) -> Shown:
    """Return when it was first there and in which turns it changed."""
    facts: list[Shown] = []
    if story.first is not None:
        facts.append(joined("there since turn ", numeral(story.first)))
    for kind, some in groupby(sorted(story.changes, key=lambda d: (list(WORDS).index(d.change.kind), d.turn)), key=lambda d: d.change.kind):
        turns = sorted({d.turn for d in some})
        if kind is ChangeKind.ADDED and turns == [story.first]:
            continue
        facts.append(joined(own(WORDS[kind]), " in ", turns_words(turns)))
    if len(facts) == 1 and story.first is not None:
        facts.append(own("never changed"))
    return safe_join(" · ", facts) if facts else own("in no request of this session")


def turns_words(turns: Sequence[int]) -> Shown:
    """Return turns by number: ``turn 31``, ``turns 31, 47``, ``12 turns, last 40, 44, 47``."""
    if len(turns) == 1:
        return joined("turn ", numeral(turns[0]))
    if len(turns) <= TURNS_NAMED:
        return joined("turns ", safe_join(", ", map(numeral, turns)))
    return joined(counted(len(turns), "turn"), ", last ", safe_join(", ", map(numeral, turns[-3:])))


def _cost(versions: Sequence[Version], count: Callable[[Item], Known[int]]) -> list[Shown]:
    """Return what it has cost: tokens by requests that carried it, ``2,444 × 38 requests = 93k sent so far``."""
    carried = [v for v in versions if v.requests]
    if not carried:
        return []
    sized = [(count(v.item), v.requests) for v in carried]
    missing = next((n for n, _ in sized if isinstance(n, Unavailable)), None)
    times = sum(requests for _, requests in sized)
    if isinstance(missing, Unavailable):
        return [joined("carried by ", counted(times, "request"), "; tokens —: ", said(missing.note))]
    parts: list[tuple[int, int]] = [(value_of(n) or 0, requests) for n, requests in sized]
    total = joined("≈", tokens(sum(n * requests for n, requests in parts)), " sent so far")
    if len(parts) > VERSIONS_NAMED:
        return [joined(numeral(len(parts)), " contents in ", counted(times, "request"), " = ", total)]
    named_: list[Safe] = [joined("≈", whole(n), " × ", numeral(requests)) for n, requests in parts]
    return [joined(safe_join(" + ", named_), " request", "" if times == 1 else "s", " = ", total)]
