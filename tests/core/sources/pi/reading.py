"""Opening what a builder wrote, and reading message lists with their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ctx_inspect.core.model import Category, Chain, Confirmed, Context, Item, Ledger, PartKind, Ref, Request, value_of
from ctx_inspect.core.sources.pi import PiSource

from tests.builders.pi import PiFile

WHOLE = 1 << 30


def source_of(file: PiFile | Path, **options: Any) -> PiSource:
    path = file if isinstance(file, Path) else file.path
    return PiSource(path, **{"one_shot": True, **options})


def opened(file: PiFile | Path, **options: Any) -> Ledger:
    source = source_of(file, **options)
    (info,) = source.sessions().sessions
    return source.open(info.id)


def text(source: PiSource, ref: Ref | None) -> str:
    assert ref is not None
    known = source.text(ref, WHOLE)
    assert isinstance(known, Confirmed), (ref, known)
    return str(known.value)


def said(source: PiSource, chain: Chain) -> list[tuple[str, ...]]:
    """Return a list as (role, text or call or media …) tuples; every size is checked against its text."""
    rows = []
    for message in chain:
        row: list[str] = [str(message.role)]
        for part in message.parts:
            if part.kind is PartKind.MEDIA:
                row.append(f"[{part.mime} {part.size}]")
                continue
            if part.kind is PartKind.OTHER:  # a block of a type that is not known here
                row.append("[other]")
                continue
            words = text(source, part.ref)
            assert part.size == len(words.encode()), part
            row.append(f"{part.name}({words})" if part.kind is PartKind.CALL else words)
        rows.append(tuple(row))
    return rows


def rows_of(ledger: Ledger) -> dict[str, Request]:
    rows = [*ledger.before, *(r for t in ledger.turns for r in t.requests), *(r for h in ledger.hidden for r in h.requests)]
    return {r.id: r for r in rows}


def context_of(ledger: Ledger, id: str) -> Context:
    context = rows_of(ledger)[id].context
    assert context is not None
    return context


def items(context: Context, category: Category) -> dict[str, Item]:
    return {str(i.k): i for i in context.items if i.category is category}


def windows(ledger: Ledger) -> list[int | None]:
    return [(u.window if (u := value_of(r.usage)) else None) for t in ledger.turns for r in t.requests if r.call]
