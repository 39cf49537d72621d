"""Contexts of a few words: items by ``name=content``, for comparisons made by hand."""

from __future__ import annotations

from ctx_inspect.core.model import Category, Chain, Context, Coverage, Item, Message, Origin, Part, PartKind, Raw, Role

WHOLE = Coverage("estimated", "rebuilt from the store: test rules", all=True)
PARTLY = Coverage("estimated", "rebuilt from the store: test rules")


def item(category: Category, word: str, origin: Origin | None = None) -> Item:
    """Make an item of ``name=content``; a tool's content is ``description/schema``; its size is that of its content."""
    name, _, content = word.partition("=")
    aspects: tuple[tuple[str, str], ...] = ()
    if category is Category.TOOLS:
        description, _, schema = content.partition("/")
        aspects = (("description", description), ("schema", schema))
    shown = Raw(content) if category is Category.SETTINGS else None
    return Item(category, Raw(name), content, aspects, origin, shown, len(content))


def items(category: Category, words: str, origin: Origin | None = None) -> tuple[Item, ...]:
    """Make several: ``"a=1 b=2"``."""
    return tuple(item(category, word, origin) for word in words.split())


def said(*words: str) -> Chain:
    """Make a list of messages, each of one text."""
    made = tuple(
        Message(f"m{n}", Role.USER if n % 2 == 0 else Role.ASSISTANT, word, (Part(PartKind.TEXT, word, len(word)),))
        for n, word in enumerate(words)
    )
    return Chain(None, 0, made)


def context(
    *groups: tuple[Item, ...],
    messages: Chain | None = None,
    unavailable: tuple[Category, ...] = (),
    partly: tuple[Category, ...] = (),
    point: str = "store",
) -> Context:
    """Make a snapshot of groups of items."""
    none = Coverage("unavailable", note="the test does not record it")
    coverage = {c: none if c in unavailable else PARTLY if c in partly else WHOLE for c in Category}
    return Context(tuple(i for group in groups for i in group), messages or said(), coverage, point)
