"""Tokens of both sides of a comparison, by one counter. Pure."""

from __future__ import annotations

from typing import Protocol

from ctx_inspect.core.diff.report import Tokens
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import Category, Confirmed, Context, Estimated, Item, Known, Unavailable, Why
from ctx_inspect.core.shares import NO_SETTING, Adding, Share, shares
from ctx_inspect.core.weights import Scale

NO_PROVIDER = Unavailable(Why.NOT_REPORTED, "not asked for")

OTHER_COUNTER = Unavailable(Why.UNKNOWN, "both sides were not counted by the same counter")

NOT_COUNTED = "not counted"
"""Ends what a sum says of the parts that it leaves out (:class:`core.shares.Adding`)."""

REMEMBERED = 4
"""Contexts whose sums are kept: a comparison asks for two of them, category by category."""


class Counts(Protocol):
    """Counts what two requests carried, all by one counter under one calibration."""

    @property
    def name(self) -> str:
        """The counter's name."""
        ...

    def item(self, item: Item) -> Known[int]:
        """Return the tokens of an item."""
        ...

    def category(self, context: Context, category: Category) -> Known[int]:
        """Return the tokens of a category; unavailable where its parts cannot be told apart."""
        ...


class StoreCounts:
    """Counts contents of a session's store. Belongs to one thread."""

    def __init__(self, measure: Measure, scale: Scale | None = None) -> None:
        """Make one.

        Args:
            measure: Counts contents.
            scale: Weighs message lists, for a counter that goes by size alone; one that has weighed the session does it faster.
        """
        self.measure = measure
        self.name = measure.counter.name
        self._scale = scale or Scale()
        self._known: dict[int, tuple[Context, tuple[Share, ...]]] = {}

    def item(self, item: Item) -> Known[int]:
        """Return the tokens of an item."""
        return self.measure.item(item)

    def category(self, context: Context, category: Category) -> Known[int]:
        """Return the tokens of a category."""
        if category is Category.SETTINGS:
            return NO_SETTING
        held = self._known.get(id(context))
        if held is None or held[0] is not context:
            while len(self._known) >= REMEMBERED:
                self._known.pop(next(iter(self._known)))
            held = self._known[id(context)] = (context, self._shares(context))
        return next(s.tokens for s in held[1] if s.category is category)

    def _shares(self, context: Context) -> tuple[Share, ...]:
        counter = self.measure.counter

        def by_size(_fp: str, size: int) -> int:
            return counter.of_size(size)

        if not counter.needs_text:
            return shares(context, NO_PROVIDER, by_size, self.name, self._scale.weigh(context.messages)).shares
        talk, items = Adding("parts"), {c: Adding("items") for c in Category}
        for message in context.messages:
            for part in message.parts:
                talk.add(self.measure.part(part))
        for item in context.items:
            if item.category is not Category.SETTINGS:
                items[item.category].add(self.measure.item(item))
        items[Category.CONVERSATION] = talk
        return tuple([Share(c, self._total(context, c, items[c]), 0, items[c].gap) for c in Category])

    def _total(self, context: Context, category: Category, found: Adding) -> Known[int]:
        coverage = context.coverage.get(category)
        if coverage is None or coverage.grade == "unavailable":
            why = (coverage.why if coverage else None) or Why.NOT_RECORDED
            return Unavailable(why, (coverage and coverage.note) or "not recorded")
        return found.total(self.name)


def difference(before: Known[int], after: Known[int]) -> Tokens:
    """Return two figures and their difference; it is unavailable where one is, or where two counters counted."""
    if isinstance(before, Unavailable):
        return Tokens(before, after, before)
    if isinstance(after, Unavailable):
        return Tokens(before, after, after)
    change = after.value - before.value
    if isinstance(before, Confirmed) and isinstance(after, Confirmed):
        return Tokens(before, after, Confirmed(change, after.by))
    if isinstance(before, Estimated) and isinstance(after, Estimated) and _counter(before.how) == _counter(after.how):
        gap = "" if _gap(after.how) else _gap(before.how)
        return Tokens(before, after, Estimated(change, f"{after.how}, before: {gap}" if gap else after.how))
    return Tokens(before, after, OTHER_COUNTER)


def _gap(how: str) -> str:
    """Return what could not be counted: what a list lost of that is not in the difference."""
    return ", ".join([word for word in how.split(", ") if word.endswith(NOT_COUNTED)])


def _counter(how: str) -> str:
    """Return what counted, without what it could not count (a later version of a list may hold one image more)."""
    return ", ".join([word for word in how.split(", ") if not word.endswith(NOT_COUNTED)])
