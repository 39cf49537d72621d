"""Counts the opened turn's tokens by a vocabulary, where one is on this machine: bit by bit, in the thread that reads."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ctx_inspect.core.budget import request_window
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import Context, Item, Known, Part, PartKind, Request
from ctx_inspect.core.shares import Count, Shares, shares
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.text import tokens
from msgspec import Struct

STEP = 0.03
"""Seconds that counting takes at a time: news and texts are read in the same thread."""

MOST_PARTS, MOST_BYTES = 20_000, 30_000_000
"""More than that is not counted: its sizes tell enough, and reading it all would take minutes."""


class Exact(Struct, frozen=True):
    """A request's window by category, counted.

    Attributes:
        request: Which.
        shares: By category.
        counter: The counter's name.
        count: Counts one item.
    """

    request: Request
    shares: Shares
    counter: str
    count: Count


class Tally:
    """Counts what requests of a session carried; a content that was counted is not read again. Belongs to its source's thread."""

    def __init__(self) -> None:
        """Start without having counted anything."""
        self._now: Request | None = None
        self._measure: Measure | None = None
        self._left: Iterator[Part | Item] = iter(())

    def step(self, source: Source, request: Request) -> Exact | bool:
        """Count on for a moment.

        Args:
            source: Where texts are read.
            request: What is counted; another one than before begins anew.

        Returns:
            What was counted, once all is; else whether there is more to count: where there is no vocabulary, or too much to
            count, nothing is.
        """
        context = request.context
        if context is None or too_much(context):
            return False
        if self._measure is None:
            counter = tokens.pick()
            if not counter.needs_text:
                return False
            self._measure = Measure(counter, source.text)
        measure = self._measure
        if request is not self._now:
            self._now, self._left = request, contents(context)
        until = time.monotonic() + STEP
        for one in self._left:
            _ = measure.part(one) if isinstance(one, Part) else measure.item(one)
            if time.monotonic() > until:
                return True
        self._now = None
        name = measure.counter.name

        def count(fp: str, _size: int) -> Known[int] | None:
            return measure.known(fp)

        return Exact(request, shares(context, request_window(request), count, name), name, count)


def contents(context: Context) -> Iterator[Part | Item]:
    """Yield what of a request has tokens."""
    yield from context.items
    for message in context.messages:
        yield from (p for p in message.parts if p.kind is not PartKind.MEDIA)


def too_much(context: Context) -> bool:
    """Tell whether a request is too large to be counted while somebody waits."""
    size = 0
    for parts, one in enumerate(contents(context), start=1):
        size += one.size or 0
        if parts > MOST_PARTS or size > MOST_BYTES:
            return True
    return False
