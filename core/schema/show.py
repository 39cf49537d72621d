"""``show SESSION [TURN] --json``: ``ctx-inspect/show/1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ctx_inspect.core.budget import steps_of
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import (
    Category,
    Context,
    Coverage,
    Estimated,
    Item,
    Known,
    Ledger,
    Message,
    Part,
    Raw,
    Request,
    Turn,
    Unavailable,
)
from ctx_inspect.core.schema.common import Clean, Model, NotRecorded, Problem, maybe, model_of, not_recorded_of, problems_of
from ctx_inspect.core.schema.damage import NO_CALL, uncalled
from ctx_inspect.core.schema.turn_rows import WindowRow
from ctx_inspect.core.shares import NO_SETTING, Adding
from ctx_inspect.core.text.clock import iso
from msgspec import UNSET, Struct, UnsetType

ReadPart = Callable[[Part], Known[Raw]]
"""Reads the text of a part; given only with ``--text``."""

NO_REQUEST = "no request of this turn could be rebuilt from the store"


class Tokens(Struct, kw_only=True):
    """Tokens by a named counter.

    Attributes:
        count: The number; absent where it is unavailable.
        evidence: How well it is known.
        counter: What counted: a vocabulary, or an estimator by its rule.
        why: Why it is unavailable, or what is left out of it.
    """

    count: int | UnsetType = UNSET
    evidence: str
    counter: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class Src(Struct, kw_only=True):
    """Where an item comes from.

    Attributes:
        kind: ``file``, ``mcp``, ``builtin``, ``extension``, ``harness`` or ``unknown``.
        path: Of a file: its path.
        name: Of a server or plugin: its name.
    """

    kind: str
    path: str | UnsetType = UNSET
    name: str | UnsetType = UNSET


class PartRow(Struct, kw_only=True):
    """One part of a message.

    Attributes:
        kind: ``text``, ``reasoning``, ``call``, ``result``, ``media`` or ``other``.
        bytes: UTF-8 bytes; of media: bytes.
        name: Of a call or result: the tool.
        call: Id that ties a result to its call.
        synthetic: Who wrote it, where no person did.
        mime: Of media: its type.
        tokens: Its tokens.
        text: Its text, only with `--text`; redacted, unless `--uncover` is given.
        text_why: Why it has no text, only with `--text`.
    """

    kind: str
    bytes: int | UnsetType = UNSET
    name: str | UnsetType = UNSET
    call: str | UnsetType = UNSET
    synthetic: str | UnsetType = UNSET
    mime: str | UnsetType = UNSET
    tokens: Tokens
    text: str | UnsetType = UNSET
    text_why: str | UnsetType = UNSET


class ItemRow(Struct, kw_only=True):
    """One source in a category; of the conversation one message.

    Attributes:
        k: What the item is known by in its category; of a message its id.
        src: Where it comes from.
        ev: How well it is known.
        tokens: Its tokens.
        value: Of a setting: its value.
        bytes: UTF-8 bytes.
        listed: `true` where only its name and description were sent.
        role: Of a message: `user`, `assistant` or `tool`.
        at: Of a message: when.
        synthetic: Of a message: who wrote it, where no person did.
        parts: Of a message: its parts.
    """

    k: str
    src: Src | UnsetType = UNSET
    ev: str
    tokens: Tokens
    value: str | UnsetType = UNSET
    bytes: int | UnsetType = UNSET
    listed: bool | UnsetType = UNSET
    role: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    synthetic: str | UnsetType = UNSET
    parts: list[PartRow] | UnsetType = UNSET


class CategoryRow(Struct, kw_only=True):
    """One category: how well it is known, its tokens and its items.

    Attributes:
        category: ``instructions``, ``skills``, ``tools``, ``settings``, ``system``, ``conversation``: all six, always.
        evidence: How well it is known.
        how: Of an estimate: how it was rebuilt.
        why: Where it is unavailable: why.
        cov: Whether its items are ``all``, ``some`` or ``none`` of what was sent.
        tokens: Its tokens; unavailable where its parts cannot be told apart, never 0.
        items: Its items, in the order in which they were sent.
    """

    category: str
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    cov: str | UnsetType = UNSET
    tokens: Tokens
    items: list[ItemRow]


class Show(Struct, kw_only=True):
    """What one request carried.

    Attributes:
        schema: ``ctx-inspect/show/1``.
        session: Key of the session.
        turn: Number of the turn.
        id: Id of the message that opened it.
        step: Which of the turn's model calls: its first, where `--step` names no other.
        steps: Model calls of the turn. Its last one is what `turns` takes the turn's window of.
        request: Id of the row; absent where the turn has none.
        at: When it was sent.
        agent: The agent.
        model: The model.
        point: Where the snapshot was taken: `store` = rebuilt from it.
        window: Its own window, of the same request.
        categories: What it carried.
        not_recorded: What lies behind the point where it was taken.
        problems: What could not be read.
    """

    schema: str = "ctx-inspect/show/1"
    session: str
    turn: int
    id: str
    step: int | UnsetType = UNSET
    steps: int
    request: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    model: Model | UnsetType = UNSET
    point: str
    window: WindowRow
    categories: list[CategoryRow]
    not_recorded: list[NotRecorded]
    problems: list[Problem]


def tokens_of(known: Known[int]) -> Tokens:
    """Return a count with its counter."""
    if isinstance(known, Unavailable):
        return Tokens(evidence="unavailable", why=known.note)
    if isinstance(known, Estimated):
        return Tokens(count=known.value, evidence="estimated", counter=known.how)
    return Tokens(count=known.value, evidence="confirmed")


def _part(part: Part, measure: Measure, read: ReadPart | None, clean: Clean) -> PartRow:
    row = PartRow(
        kind=part.kind.value,
        bytes=maybe(part.size),
        name=UNSET if part.name is None else clean(part.name),
        call=maybe(part.call),
        synthetic=UNSET if part.synthetic is None else part.synthetic.value,
        mime=UNSET if part.mime is None else clean(part.mime),
        tokens=tokens_of(measure.part(part)),
    )
    if read is not None:
        text = read(part)
        if isinstance(text, Unavailable):
            row.text_why = text.note
        else:
            row.text = clean(text.value)
    return row


def _together(counts: Iterable[Known[int]], noun: str, counter: str) -> Tokens:
    """Return the tokens of several contents together.

    A part whose tokens nobody knows (media) is not nothing: it is left out and said.
    """
    found = Adding(noun)
    for known in counts:
        found.add(known)
    if isinstance(found.total(counter), Unavailable):
        return Tokens(evidence="unavailable", why=found.why or UNSET)
    why = f"{found.gap}: {found.why}" if found.gap else UNSET
    return Tokens(count=found.tokens, evidence="estimated", counter=found.names or counter, why=why)


def _message(message: Message, grade: str, measure: Measure, read: ReadPart | None, clean: Clean) -> ItemRow:
    parts = [_part(p, measure, read, clean) for p in message.parts]
    return ItemRow(
        k=message.id,
        ev=grade,
        tokens=_together(map(measure.part, message.parts), "parts", measure.counter.name),
        role=message.role.value,
        at=maybe(iso(message.at)),
        synthetic=UNSET if message.synthetic is None else message.synthetic.value,
        parts=parts,
    )


def _item(item: Item, grade: str, measure: Measure, clean: Clean) -> ItemRow:
    origin = item.origin
    src: Src | UnsetType = UNSET
    if origin is not None:
        src = Src(
            kind=origin.kind,
            path=UNSET if origin.path is None else clean(origin.path),
            name=UNSET if origin.name is None else clean(origin.name),
        )
    return ItemRow(
        k=clean(item.k),
        src=src,
        ev=grade,
        tokens=tokens_of(measure.item(item)),
        value=UNSET if item.shown is None else clean(item.shown),
        bytes=maybe(item.size),
        listed=True if item.listed else UNSET,
    )


def _category(
    category: Category, context: Context | None, absent: str, measure: Measure, read: ReadPart | None, clean: Clean
) -> CategoryRow:
    coverage = None if context is None else context.coverage.get(category)
    if context is None or coverage is None:
        coverage = Coverage("unavailable", note=absent if context is None else "not recorded")
    grade = coverage.grade
    rows: list[ItemRow] = []
    if context is not None:
        if category is Category.CONVERSATION:
            rows = [_message(m, grade, measure, read, clean) for m in context.messages]
        else:
            rows = [_item(i, grade, measure, clean) for i in context.items if i.category is category]
    if grade == "unavailable":
        # parts that cannot be told apart have no figure, never 0
        return CategoryRow(
            category=category.value,
            evidence=grade,
            why=coverage.note or "not recorded",
            cov="none" if not rows else "some",
            tokens=Tokens(evidence="unavailable", why=coverage.note or "not recorded"),
            items=rows,
        )
    if category is Category.SETTINGS:
        total = Tokens(evidence="unavailable", why=NO_SETTING.note)
    elif category is Category.CONVERSATION:
        messages = () if context is None else context.messages
        total = _together((measure.part(p) for m in messages for p in m.parts), "parts", measure.counter.name)
    else:
        items = () if context is None else context.items
        total = _together((measure.item(i) for i in items if i.category is category), "items", measure.counter.name)
    return CategoryRow(
        category=category.value,
        evidence=grade,
        how=maybe(coverage.how),
        cov="all" if coverage.all else "some",
        tokens=total,
        items=rows,
    )


def show_of(
    ledger: Ledger,
    turn: Turn,
    request: Request | None,
    window: WindowRow,
    measure: Measure,
    read: ReadPart | None,
    clean: Clean,
) -> Show:
    """Return what a request carried.

    Args:
        ledger: The session.
        turn: The turn.
        request: The request; ``None`` where the turn has none yet: then all categories are unavailable.
        window: Its window with its limit.
        measure: Counts tokens.
        read: Reads the texts of the conversation, only with ``--text``.
        clean: What names, paths and texts pass through.
    """
    context = None if request is None else request.context
    absent = NO_REQUEST if request is not None or (missing := uncalled(ledger)) is NO_CALL else missing.note
    return Show(
        session=ledger.key,
        turn=turn.n,
        id=turn.id,
        step=UNSET if request is None else maybe(request.step),
        steps=len(steps_of(turn)),
        request=UNSET if request is None else request.id,
        at=UNSET if request is None else maybe(iso(request.at)),
        agent=UNSET if request is None or request.agent is None else clean(request.agent),
        model=UNSET if request is None else model_of(request.model, clean),
        point="store" if context is None else context.point,
        window=window,
        categories=[_category(c, context, absent, measure, read, clean) for c in Category],
        not_recorded=not_recorded_of(ledger),
        problems=problems_of(ledger.problems, clean),
    )
