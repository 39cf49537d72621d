"""Requests with contexts made by hand, for tests of cache verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    Item,
    Known,
    Message,
    Model,
    Part,
    PartKind,
    Raw,
    Request,
    Role,
    Usage,
    Why,
    Witness,
)
from ctx_inspect.core.model.ledger import NO_USAGE
from ctx_inspect.core.text.tokens import BytesCounter

LARGE = Model(Raw("acme"), Raw("large"))
KNOWN = {c: Coverage("estimated", how="rebuilt", all=True) for c in Category}
NOT_STORED = Coverage("unavailable", why=Why.NOT_RECORDED, note="not stored")
TALK_ALONE = {c: Coverage("estimated", how="rebuilt", all=True) if c is Category.CONVERSATION else NOT_STORED for c in Category}
ONE = BytesCounter(1.0)
"""A token is a byte."""


def tool(k: str, fp: str = "a", size: int = 1000) -> Item:
    return Item(Category.TOOLS, Raw(k), fp, size=size)


def file(k: str, fp: str = "a", size: int = 1000) -> Item:
    return Item(Category.INSTRUCTIONS, Raw(k), fp, size=size)


def skill(k: str, fp: str = "a", size: int = 1000) -> Item:
    return Item(Category.SKILLS, Raw(k), fp, size=size)


def block(k: str, fp: str = "a", size: int = 1000) -> Item:
    return Item(Category.SYSTEM, Raw(k), fp, size=size)


def setting(k: str, value: str) -> Item:
    return Item(Category.SETTINGS, Raw(k), value, shown=Raw(value))


def message(id: str, fp: str | None = None, size: int | None = 1000) -> Message:
    return Message(id, Role.USER, fp or id, (Part(PartKind.TEXT, fp or id, size),))


def talk(*ids: str, base: Chain | None = None, keep: int | None = None, size: int | None = 1000) -> Chain:
    """A message list; ``id=fp`` gives a message other content."""
    kept = 0 if base is None else base.length if keep is None else keep
    return Chain(base, kept, tuple(message(*i.split("="), size=size) for i in ids))  # type: ignore[misc]


PROMPT = (block("preamble"), file("AGENTS.md"), skill("testing"), block("cwd"))
TOOLS = (tool("read"), tool("write"), tool("bash"))


def carried(items: Sequence[Item] = (*PROMPT, *TOOLS), messages: Chain | None = None, *, known: bool = True) -> Context:
    return Context(tuple(items), messages or talk("m1"), KNOWN if known else TALK_ALONE)


def spent(new: int = 3, read: int | None = 0, write: int | None = 0) -> Known[Usage]:
    return Confirmed(Usage(input=new, output=5, cache_read=read, cache_write=write), Witness.PROVIDER)


def asked(id: str, usage: Known[Usage] = NO_USAGE, context: Context | None = None, at: int | None = 0, **more: object) -> Request:
    base: dict[str, object] = {"id": id, "at": at, "step": 1, "model": LARGE, "usage": usage, "context": context}
    return Request(**{**base, **more})  # type: ignore[arg-type]
