"""How much of a request stands as it stood in the one before, and what differs first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctx_inspect.core.cache.figures import GRANULE, LEAST
from ctx_inspect.core.cache.model import NO_PREFIX, CacheCode, Prefix
from ctx_inspect.core.diff.conversation import Differences, compare
from ctx_inspect.core.model import Category, Context, Estimated, Item, Known, Message, PartKind, Raw, Unavailable, Why
from ctx_inspect.core.text.tokens import BYTES_PER_TOKEN, BytesCounter
from ctx_inspect.core.weights import Scale
from msgspec import Struct

ORDER = "tools, system, messages"
"""The order in which providers are taken to read a request: an assumption, so it is named."""

FRONT = (Category.TOOLS, Category.INSTRUCTIONS, Category.SKILLS, Category.SYSTEM)
"""What stands in front of the conversation."""

TALK = (Category.CONVERSATION,)

NO_MESSAGES = Unavailable(Why.NOT_RECORDED, "the messages of one of the two requests are not recorded")

ERROR, ERROR_CALIBRATED = 0.30, 0.15
"""How far the estimator may be off for a part of a request: of the plain ratio, and of a session's own."""


class Difference(Struct, frozen=True):
    """What two requests have in front, and what differs first.

    Attributes:
        size: UTF-8 bytes that both have in front, as far as they are recorded.
        unsized: Parts of it whose size is not recorded (media, or rows without one).
        whole: Nothing of the older request differs.
        code: What happened to the item that differs first; ``None`` where it is a message or nothing.
        item: Its key; ``None`` where several only changed places.
        category: Its category.
        message: 0-based position of the message that differs first.
        slack: Bytes of what differs, on its longer side: its beginning may still be the same.
    """

    size: int
    unsized: int = 0
    whole: bool = False
    code: CacheCode | None = None
    item: Raw | None = None
    category: Category | None = None
    message: int | None = None
    slack: int = 0


def comparable(before: Context | None, after: Context | None) -> Unavailable | None:
    """Return why two requests have no common part that could be told; ``None`` where they have."""
    for context in (before, after):
        if context is None or not covers(context, FRONT):
            return NO_PREFIX
        if not covers(context, TALK):
            return NO_MESSAGES
    return None


def covers(context: Context, categories: Iterable[Category]) -> bool:
    """Tell whether something is known of each of these categories."""
    found = [context.coverage.get(c) for c in categories]
    return all(c is not None and c.grade != "unavailable" for c in found)


def difference(before: Context, after: Context, scale: Scale, talk: Differences | None = None) -> Difference:
    """Return what two requests have in front, in the order tools, system prompt, messages.

    Args:
        before: The older request; what stands in front of its conversation is recorded (:func:`comparable`).
        after: The newer one, as well.
        scale: Weighs message lists.
        talk: How their message lists differ, where that was worked out before.
    """
    size = unsized = 0
    for old, new in zip(_wire(before), _wire(after), strict=True):
        place = 0 if before.items is not after.items else len(old)
        for a, b in zip(old[place:], new[place:], strict=False):
            if not _same(a, b):
                break
            place += 1
        size += sum([i.size or 0 for i in old[:place]])
        unsized += sum([i.size is None for i in old[:place]])
        if place < max(len(old), len(new)):
            return _at_item(old, new, place, size, unsized)
    talk = talk or compare(before.messages, after.messages)
    if talk.same:
        # of the newer list: it is the one that the next comparison goes on from
        weights = scale.weigh(after.messages)
        size += weights.sums[talk.same - 1]
        unsized += weights.unknown[talk.same - 1] + sum([place < talk.same for place, _ in weights.media])
    if not talk.rest:
        return Difference(size, unsized, whole=True)
    slack = max(_bytes(talk.rest[:1]), _bytes(after.messages.since(talk.same)[:1]))
    return Difference(size, unsized, category=Category.CONVERSATION, message=talk.same, slack=slack)


def _wire(context: Context) -> tuple[list[Item], list[Item]]:
    """Return the tools, and the system prompt with the instructions and skills in it, each as they are sent."""
    tools = [i for i in context.items if i.category is Category.TOOLS]
    return tools, [i for i in context.items if i.category not in (Category.TOOLS, Category.SETTINGS)]


def _same(a: Item, b: Item) -> bool:
    """Tell whether two items are the same content: a block without a name of its own is known by content alone."""
    return a is b or (a.fp == b.fp and (a.k == b.k or a.k.startswith("block:")))


def _at_item(old: Sequence[Item], new: Sequence[Item], place: int, size: int, unsized: int) -> Difference:
    """Return what happened to the item at the first place that differs."""
    was, now = (items[place] if place < len(items) else None for items in (old, new))
    come = now is not None and all(i.k != now.k for i in old)
    gone = was is not None and all(i.k != was.k for i in new)
    modified = was is not None and now is not None and was.k == now.k
    # what came and what went take a place of their own; else two items that are on both sides stand in another order
    item = now if modified or come else was if gone else None
    named = item or now or was
    assert named is not None  # the caller found a difference here
    code = _code(named.category, modified=modified, moved=item is None)
    slack = max([i.size or 0 for i in (was, now) if i is not None])
    k = None if code is CacheCode.TOOLS_REORDERED else named.k
    return Difference(size, unsized, code=code, item=k, category=named.category, slack=slack if modified else 0)


def _code(category: Category, *, modified: bool, moved: bool) -> CacheCode:
    match category:
        case Category.TOOLS if moved:
            return CacheCode.TOOLS_REORDERED
        case Category.TOOLS:
            return CacheCode.TOOL_CHANGED if modified else CacheCode.TOOLS_ADDED_REMOVED
        case Category.INSTRUCTIONS:
            return CacheCode.INSTRUCTIONS
        case Category.SKILLS:
            return CacheCode.SKILLS
        case _:
            return CacheCode.SYSTEM_CHANGED


def _bytes(messages: Sequence[Message]) -> int:
    return sum([p.size or 0 for m in messages for p in m.parts])


def prefix_of(found: Difference, counter: BytesCounter) -> Prefix:
    """Return a difference as it is told: tokens by a named counter.

    Args:
        found: What two requests have in front.
        counter: Counts tokens by size.
    """
    gap = f", {found.unsized} parts not counted" if found.unsized else ""
    tokens = Estimated(counter.of_size(found.size), counter.name + gap)
    return Prefix(tokens, ORDER, found.whole, found.item, None if found.category is None else found.category.value, found.message)


def prefix(before: Context | None, after: Context | None, counter: BytesCounter | None = None, scale: Scale | None = None) -> Known[Prefix]:
    """Return the part in front that both requests have.

    Args:
        before: What the request before carried.
        after: What this one carried.
        counter: Counts tokens by size.
        scale: Weighs message lists; one that weighed this session's lists before does it faster.

    Returns:
        Estimated: its order is an assumption. Unavailable where what stands in front of the conversation is not recorded on both
        sides: then nothing that differs can be told to be the first thing that does.
    """
    why = comparable(before, after)
    if why is not None or before is None or after is None:
        return why or NO_PREFIX
    return Estimated(prefix_of(difference(before, after, scale or Scale()), counter or BytesCounter()), f"order {ORDER} assumed")


def explains(read: int, reusable: int, found: Difference, counter: BytesCounter, least: int = LEAST) -> bool:
    """Tell whether a read ends where the unchanged prefix ends, so that what differs there is why no more was read.

    Args:
        read: Tokens read from the cache.
        reusable: Tokens that could have been read.
        found: What the two requests have in front.
        counter: Counts tokens by size; its error is allowed for.
        least: Tokens below which the provider caches nothing: of a shorter prefix nothing is read.
    """
    if found.whole:
        return False
    error = _error(counter)
    stable = counter.of_size(found.size)
    if stable * (1 - error) >= reusable:  # what differs stands behind all that was cached
        return False
    if not read:
        return stable < least
    low = min(stable, reusable) * (1 - error) - GRANULE
    high = min(counter.of_size(found.size + found.slack), reusable) * (1 + error) + GRANULE
    return low <= read <= high


def fits_the_end(rewritten: int, rest: Sequence[Message], counter: BytesCounter) -> bool:
    """Tell whether what was not read is as long as the older message list from the first difference on.

    It takes no knowledge of what stands in front of the conversation: a read that ends at a message leaves out what follows it.

    Args:
        rewritten: Tokens that could have been read and were not.
        rest: The older list from the first difference on; some of its first message may still be the same.
        counter: Counts tokens by size; its error is allowed for.
    """
    if not rest or any(p.size is None or p.kind is PartKind.MEDIA for m in rest for p in m.parts):
        return False
    error = _error(counter)
    low = counter.of_size(_bytes(rest[1:])) * (1 - error) - GRANULE
    return low <= rewritten <= counter.of_size(_bytes(rest)) * (1 + error) + GRANULE


def _error(counter: BytesCounter) -> float:
    return ERROR if counter.ratio == BYTES_PER_TOKEN else ERROR_CALIBRATED
