"""A window by category: what of it is counted, by what, and what nobody can count. Pure.

What cannot be counted (media, a size that is not recorded) is no zero: a total that leaves some out says how many, and one
of which nothing is counted is unavailable. The screen and the JSON add up by the same :class:`Adding`.
"""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.core.model import Category, Confirmed, Context, Estimated, Known, PartKind, Unavailable, Why
from ctx_inspect.core.weights import UNKNOWN, Weights
from msgspec import Struct

NO_SIZE = Unavailable(Why.NOT_RECORDED, "its size is not recorded")
NO_MEDIA = Unavailable(Why.UNKNOWN, "media: no counter tells its tokens")
NO_SETTING = Unavailable(Why.UNKNOWN, "settings take no tokens of their own")
NOT_COUNTED = Unavailable(Why.NOT_YET, "it is not counted yet")

Count = Callable[[str, int], Known[int] | int | None]
"""Tokens of the content with this fingerprint and size in UTF-8 bytes; a bare number is by the counter that is named beside
it, ``None`` = it cannot be counted (yet)."""


def counted_by(count: Count, fp: str, size: int | None, counter: str) -> Known[int]:
    """Return the tokens of a content with how they are known.

    Args:
        count: Counts.
        fp: The content's fingerprint.
        size: Its bytes; ``None`` = not recorded.
        counter: Name of what counts.
    """
    if size is None:
        return NO_SIZE
    found = count(fp, size)
    if found is None:
        return NOT_COUNTED
    return Estimated(found, counter) if isinstance(found, int) else found


class Adding:
    """Adds up the tokens of contents.

    Attributes:
        tokens: Of those that are counted.
        counted: How many are.
        left_out: How many are not.
        why: Why the first of these is not.
        counters: What counted, each once.
    """

    def __init__(self, noun: str) -> None:
        """Start with nothing.

        Args:
            noun: What the contents are, in the plural (``parts``, ``items``).
        """
        self.noun = noun
        self.tokens = self.counted = self.left_out = 0
        self.why: str | None = None
        self.counters: dict[str, None] = {}

    def add(self, known: Known[int], times: int = 1) -> None:
        """Add a content, or several equal ones."""
        match known:
            case Unavailable(note=note):
                self.left_out += times
                self.why = self.why or note
            case Estimated(value=tokens, how=how):
                self.counters[how] = None
                self.tokens += times * tokens
                self.counted += times
            case Confirmed(value=tokens):
                self.tokens += times * tokens
                self.counted += times

    @property
    def names(self) -> str:
        """What counted, in words; empty where nothing did."""
        return ", ".join(sorted(self.counters))

    @property
    def gap(self) -> str | None:
        """How many are left out, in words; ``None`` where none is."""
        return f"{self.left_out} of {self.counted + self.left_out} {self.noun} not counted" if self.left_out else None

    def total(self, counter: str) -> Known[int]:
        """Return the sum: unavailable where there are contents and none is counted; of no content at all it is 0.

        Args:
            counter: What would have counted, where there is nothing to count.
        """
        if self.left_out and not self.counted:
            return Unavailable(Why.UNKNOWN, self.why or "not counted")
        how = self.names or counter
        return Estimated(self.tokens, f"{how}, {self.gap}" if self.gap else how)


class Share(Struct, frozen=True):
    """One category's part of a window.

    Attributes:
        category: Which.
        tokens: Its tokens: estimated by a named counter, or unavailable; never 0 for what is not known.
        items: Items or messages in it.
        gap: How many of its parts are not counted, in words; ``None`` where all are.
    """

    category: Category
    tokens: Known[int]
    items: int
    gap: str | None = None


class Shares(Struct, frozen=True):
    """A window by category.

    Attributes:
        shares: The six categories, in order.
        media: Number of media parts.
        media_bytes: Bytes of those whose size is known, ``None`` where none is; their tokens are unavailable.
        sum: The known shares together.
        rest: The provider's figure less the sum: what unavailable categories, media and the counter's error hold.
        complete: Whether all of every category is counted.
        media_unsized: Media parts of unknown size.
    """

    shares: tuple[Share, ...]
    media: int
    media_bytes: int | None
    sum: int
    rest: Known[int]
    complete: bool
    media_unsized: int = 0

    @property
    def nothing(self) -> bool:
        """Whether no category has a figure, so that the sum says nothing."""
        return all(isinstance(s.tokens, Unavailable) for s in self.shares)


def shares(context: Context, provider: Known[int], count: Count, counter: str, weights: Weights | None = None) -> Shares:
    """Split a window by category.

    Args:
        context: What the request carried.
        provider: The provider's own figure for the whole window, tokens.
        count: Counts one content.
        counter: Its name, shown beside each number.
        weights: The messages by size, for a counter that goes by size alone: they are not looked at one by one then.
    """
    sums = {c: Adding("parts" if c is Category.CONVERSATION else "items") for c in Category}
    items = dict.fromkeys(Category, 0)

    def counted(fp: str, size: int | None) -> Known[int]:
        return counted_by(count, fp, size, counter)

    for item in context.items:
        items[item.category] += 1
        if item.category is not Category.SETTINGS:
            sums[item.category].add(counted(item.fp, item.size))
    talk = sums[Category.CONVERSATION]
    sizes: list[int | None] = []  # of media
    if weights is not None:
        items[Category.CONVERSATION] = len(weights.ends)
        sizes = [None if size == UNKNOWN else size for _, size in weights.media]
        for size, times in weights.by_size().items():
            talk.add(counted("", None if size == UNKNOWN else size), times)
    for message in context.messages if weights is None else ():
        items[Category.CONVERSATION] += 1
        for part in message.parts:
            if part.kind is PartKind.MEDIA:
                sizes.append(part.size)
            else:
                talk.add(counted(part.fp, part.size))
    if sizes:
        talk.add(NO_MEDIA, len(sizes))
    result = [Share(c, _tokens(context, c, sums[c], counter), items[c], sums[c].gap) for c in Category]
    known = [s.tokens.value for s in result if not isinstance(s.tokens, Unavailable)]
    real = [s for s in result if s.category is not Category.SETTINGS]
    complete = not any(isinstance(s.tokens, Unavailable) or s.gap for s in real)
    rest: Known[int] = (
        provider if isinstance(provider, Unavailable) else Estimated(provider.value - sum(known), f"provider's figure less {counter}")
    )
    sized = [size for size in sizes if size is not None]
    return Shares(tuple(result), len(sizes), sum(sized) if sized else None, sum(known), rest, complete, len(sizes) - len(sized))


def _tokens(context: Context, category: Category, found: Adding, counter: str) -> Known[int]:
    coverage = context.coverage.get(category)
    if category is Category.SETTINGS:
        return NO_SETTING
    if coverage is None or coverage.grade == "unavailable":
        why = (coverage.why if coverage else None) or Why.NOT_RECORDED
        return Unavailable(why, (coverage and coverage.note) or "not recorded")
    return found.total(counter)
