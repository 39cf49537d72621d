"""Names what differs between two requests that were sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tests.oracle.body import Row, Sent

V = TypeVar("V")
Named = tuple[str, str]
"""(what happened, to what); of a tool the first is also ``description``, ``schema`` or ``description schema``."""


@dataclass(frozen=True)
class Talk:
    """What a conversation did: ``same``, ``growth`` or ``rewritten``, and from which message on."""

    kind: str
    place: int | None = None
    dialects: bool = False
    """Whether both were written in two dialects: one of them joins neighbours of one role, so places are of joined messages."""
    thinking: bool = False
    """Whether nothing but what an assistant thought or said differs, in place."""


@dataclass(frozen=True)
class Differences:
    """What differs, by category. ``order`` names the categories of which the common ones stand in another order."""

    instructions: frozenset[Named] = frozenset()
    skills: frozenset[Named] = frozenset()
    tools: frozenset[Named] = frozenset()
    settings: frozenset[Named] = frozenset()
    other: frozenset[str] = frozenset()
    """Names of other settings that differ."""
    system: frozenset[Named] = frozenset()
    order: frozenset[str] = frozenset()
    talk: Talk = field(default_factory=lambda: Talk("same"))


def compare(before: Sent, after: Sent) -> Differences:
    """Return what differs from the older request to the newer one."""
    old, new = before.prompt, after.prompt
    one_dialect = before.dialect == after.dialect

    def tool(name: str) -> str:
        a, b = before.tools[name], after.tools[name]
        parts = (
            ("description", a.description != b.description),
            ("schema", _schema(a.schema, one_dialect) != _schema(b.schema, one_dialect)),
        )
        return " ".join(part for part, differs in parts if differs)

    groups: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
        "instructions": (old.files, new.files),
        "skills": (old.skills, new.skills),
        "tools": (before.tools, after.tools),
    }
    return Differences(
        instructions=_renamed(_named(old.files, new.files), old.files, new.files),
        skills=_named(old.skills, new.skills),
        tools=_named(before.tools, after.tools, tool),
        settings=_named(_asked(before), _asked(after)),
        other=frozenset(k for k in before.other.keys() | after.other.keys() if before.other.get(k) != after.other.get(k)),
        system=_named(old.rest, new.rest),
        order=frozenset(name for name, (a, b) in groups.items() if _reordered(a, b)),
        talk=talk(before, after),
    )


def _asked(sent: Sent) -> dict[str, str]:
    return {"model": sent.model, "provider": sent.endpoint, "thinking": sent.thinking}


def _schema(schema: Any, in_order: bool) -> str:
    return json.dumps(schema, sort_keys=not in_order)


def _named(old: Mapping[str, V], new: Mapping[str, V], how: Callable[[str], str] | None = None) -> frozenset[Named]:
    found: list[Named] = [("added", k) for k in new if k not in old] + [("removed", k) for k in old if k not in new]
    differing = [(how(k) if how else "modified", k) for k in old if k in new and old[k] != new[k]]
    found += [(what, k) for what, k in differing if what]
    return frozenset(found)


def _renamed(found: frozenset[Named], old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[Named]:
    """Take one that went and one that came with the same text for one thing with another name."""
    left = set(found)
    for what, k in sorted(found):
        if what == "added" and (was := next((g for w, g in sorted(left) if w == "removed" and old[g] == new[k]), None)):
            left -= {("removed", was), ("added", k)}
            left.add(("renamed", k))
    return frozenset(left)


def _reordered(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return [k for k in old if k in new] != [k for k in new if k in old]


def talk(before: Sent, after: Sent) -> Talk:
    """Return what the conversation did."""
    dialects = before.dialect != after.dialect
    old, new = (joined(s.rows) if dialects else s.rows for s in (before, after))
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if at < len(old):
        silent = len(new) >= len(old) and all(_spoken(a) == _spoken(b) for a, b in zip(old, new, strict=False))
        return Talk("rewritten", at, dialects, silent)
    return Talk("growth" if len(new) > len(old) else "same", None, dialects)


def joined(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return a conversation in which what one role says in a row is one message; results stay apart."""
    out: list[Row] = []
    for row in rows:
        if out and row.role == out[-1].role != "tool":
            last = out[-1]
            texts = last.texts + row.texts
            said = ("".join(texts),) if row.role == "assistant" and texts else texts
            thought = "\n".join(filter(None, (last.thinking, row.thinking)))
            out[-1] = Row(row.role, said, thought, last.calls + row.calls, last.media + row.media)
        else:
            out.append(row)
    return tuple(out)


def _spoken(row: Row) -> Row:
    return replace(row, texts=(), thinking="") if row.role == "assistant" else row
