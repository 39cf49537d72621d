"""Tokens of what a session carried, by the counter that is at hand, each content counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ctx_inspect.core.budget import request_window
from ctx_inspect.core.model import (
    Category,
    Context,
    Estimated,
    Item,
    Known,
    Ledger,
    Part,
    PartKind,
    Raw,
    Ref,
    Request,
    value_of,
)
from ctx_inspect.core.shares import NO_MEDIA, NO_SETTING, NO_SIZE
from ctx_inspect.core.text.tokens import CALIBRATED_ON, BytesCounter, Counter, calibrated
from ctx_inspect.core.weights import Scale

TEXT_LIMIT = 20_000_000
"""Characters of one text that are read to be counted; a longer one is estimated by its size."""

Read = Callable[[Ref, int], Known[Raw]]
"""Reads a text of the store (:meth:`Source.text`)."""


class Measure:
    """Counts contents; a content that was counted (by its fingerprint) is not read again."""

    def __init__(self, counter: Counter, read: Read | None = None) -> None:
        """Make one.

        Args:
            counter: What counts.
            read: Reads texts, for a counter that needs them; without it sizes are all there is.
        """
        self.counter = counter
        self._read = read
        self._counted: dict[str, Known[int]] = {}

    def part(self, part: Part) -> Known[int]:
        """Return the tokens of a part of a message."""
        return NO_MEDIA if part.kind is PartKind.MEDIA else self._content(part.fp, part.size, part.ref)

    def item(self, item: Item) -> Known[int]:
        """Return the tokens of an item."""
        return NO_SETTING if item.category is Category.SETTINGS else self._content(item.fp, item.size, item.ref)

    def known(self, fp: str) -> Known[int] | None:
        """Return the tokens of a content that was counted, by its fingerprint."""
        return self._counted.get(fp)

    def _content(self, fp: str, size: int | None, ref: Ref | None) -> Known[int]:
        known = self._counted.get(fp)
        if known is None:
            known = self._counted[fp] = self._count(size, ref)
        return known

    def _count(self, size: int | None, ref: Ref | None) -> Known[int]:
        if self.counter.needs_text and ref is not None and self._read is not None and (size is None or size <= TEXT_LIMIT):
            text = value_of(self._read(ref, TEXT_LIMIT))
            if text is not None:
                return Estimated(self.counter.of_text(text), self.counter.name)
        if size is None:
            return NO_SIZE
        name = BytesCounter().name if self.counter.needs_text else self.counter.name
        return Estimated(self.counter.of_size(size), name)


def calibrated_on(ledger: Ledger, scale: Scale | None = None) -> BytesCounter:
    """Return the estimator, calibrated on what this session's provider counted.

    Only requests of which all is recorded (system prompt and tools too) and which hold no media can tell.

    Args:
        ledger: The session.
        scale: Weighs message lists; one that has weighed this session before does it faster.
    """
    scale = scale or Scale()
    pairs: list[tuple[int, int]] = []
    for request in _newest(ledger):
        size = _size(request.context, scale) if request.context is not None else None
        tokens = value_of(request_window(request))
        if size is not None and tokens:
            pairs.append((size, tokens))
            if len(pairs) == CALIBRATED_ON:
                break
    return calibrated(pairs[::-1])


def _newest(ledger: Ledger) -> Iterator[Request]:
    looked = 0
    for turn in reversed(ledger.turns):
        for request in reversed(turn.requests):
            if request.call and not request.inherited:
                yield request
                looked += 1
                if looked == 3 * CALIBRATED_ON:
                    return


def _size(context: Context, scale: Scale) -> int | None:
    """Return the bytes of all that a request sent, or ``None`` where part of it is not recorded."""
    for category in (Category.INSTRUCTIONS, Category.TOOLS, Category.SYSTEM, Category.CONVERSATION):
        coverage = context.coverage.get(category)
        if coverage is None or coverage.grade == "unavailable":
            return None
    total = scale.weigh(context.messages).total()
    for size in _item_sizes(context):
        if size is None or total is None:
            return None
        total += size
    return total


def _item_sizes(context: Context) -> Iterator[int | None]:
    return (i.size for i in context.items if i.category is not Category.SETTINGS)
