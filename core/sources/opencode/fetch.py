"""Reads the rows of one session from the database: all of them, or only what changed since the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any, TypeGuard, TypeVar

from ctx_inspect.core.model import ProblemCode
from ctx_inspect.core.sources.opencode.decode import message_row, part_head, part_row
from ctx_inspect.core.sources.opencode.records import UNREADABLE, Entry, MessageRow, PartRow
from ctx_inspect.core.sources.sqlite import Damaged, Reader, TooLarge

T = TypeVar("T")

_RECENT = 2000
"""Rows written this many milliseconds before the last read are read again: a row may be rewritten within one millisecond."""

_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The decoded rows of a session, as of one read.

    Attributes:
        messages: Rows of ``message`` by id.
        parts: Rows of ``part`` by id, each with the id of its message.
        bad: Ids of rows that could not be read: they are tried, and named, again.
        read_at: Epoch milliseconds of the read.
    """

    messages: Mapping[str, MessageRow] = field(default_factory=dict[str, MessageRow])
    parts: Mapping[str, tuple[str, PartRow]] = field(default_factory=dict[str, tuple[str, PartRow]])
    bad: frozenset[str] = frozenset()
    read_at: int = 0

    def entries(self) -> list[Entry]:
        """Return the messages with their parts in the harness's order: by time of creation, then id; parts by id."""
        of: dict[str, list[PartRow]] = {}
        for message, part in self.parts.values():
            of.setdefault(message, []).append(part)
        for parts in of.values():
            parts.sort(key=lambda p: p.id)
        rows = sorted(self.messages.values(), key=lambda m: (m.created, m.id))
        return [Entry(m, tuple(of.get(m.id, ()))) for m in rows]


def snapshot(reader: Reader, session: str, prior: Snapshot | None) -> Snapshot:
    """Read a session's rows; of those in ``prior`` only what changed."""
    now = int(time() * 1000)
    bad: set[str] = set()
    if prior is None:
        messages = {m.id: m for m in _all(reader, _MESSAGES, session, bad)}
        parts = {p.id: (m, p) for m, p in _all(reader, _PARTS, session, bad)}
    else:
        again = _Again(prior.read_at - _RECENT, prior.bad)
        messages = _changed(reader, _MESSAGES, session, prior.messages, lambda m: m.updated, lambda m: m.id, again, bad)
        parts = _changed(reader, _PARTS, session, prior.parts, lambda p: p[1].updated, lambda p: p[1].id, again, bad)
    return Snapshot(messages, parts, frozenset(bad), now)


@dataclass(frozen=True, slots=True)
class _Again:
    """Rows that are read again though they look the same: those written lately, and those that could not be read."""

    since: int
    bad: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Table:
    """How a table's rows are read; ``columns`` end in the JSON."""

    name: str
    columns: str
    order: str
    decode: Callable[[Reader, tuple[Any, ...]], Any]
    head: Callable[[Reader, int, tuple[Any, ...]], Any]


def _decode_message(reader: Reader, row: tuple[Any, ...]) -> MessageRow | None:
    id, created, updated, data = row
    try:
        _check(id, (created, updated), data)
        return message_row(id, created, updated, data)
    except UNREADABLE:
        reader.note(ProblemCode.UNREADABLE_RECORD, f"Message {_id(id)} cannot be read; it is left out.")
        return None


def _decode_part(reader: Reader, row: tuple[Any, ...]) -> tuple[str, PartRow] | None:
    id, message, updated, data = row
    if not _usable(id) or not _usable(message):
        reader.note(ProblemCode.UNREADABLE_RECORD, "A part has no usable id; it is left out.")
        return None
    try:
        _check(id, (updated,), data)
        return message, part_row(id, updated, data)
    except UNREADABLE:
        reader.note(
            ProblemCode.UNREADABLE_RECORD, f"Part {_id(id)} of message {_id(message)} cannot be read; it is listed without content."
        )
        return message, PartRow(id, updated if isinstance(updated, int) else 0, "?")


def _large_message(reader: Reader, rowid: int, row: tuple[Any, ...]) -> MessageRow | None:
    reader.note(ProblemCode.TOO_LARGE, f"Message {_id(row[0])} is too large to be read; it is left out.")
    return None


def _large_part(reader: Reader, rowid: int, row: tuple[Any, ...]) -> tuple[str, PartRow] | None:
    id, message, updated = row
    if not _usable(id) or not _usable(message) or not isinstance(updated, int):
        reader.note(ProblemCode.UNREADABLE_RECORD, "A part has no usable id; it is left out.")
        return None
    head, size = reader.head("part", "data", rowid, _HEAD)
    reader.note(ProblemCode.TOO_LARGE, f"Part {_id(id)} holds {size:,} bytes; it is listed, its content is not read.")
    return message, part_head(id, updated, head)


def _usable(id: object) -> TypeGuard[str]:
    return isinstance(id, str) and "\0" not in id


def _check(id: object, times: tuple[object, ...], data: object) -> None:
    """Refuse a row whose columns hold other types than OpenCode writes: SQLite itself accepts any in any column.

    Args:
        id: Its id.
        times: Its times, that of its last change last; only that one must be there.
        data: Its JSON.

    Raises:
        ValueError: One of them is not usable.
    """
    times_fit = all(isinstance(t, int) or t is None for t in times) and times[-1] is not None
    if not (_usable(id) and times_fit and isinstance(data, bytes)):
        raise ValueError("a column of an unexpected type")


def _id(value: object) -> str:
    """Return an id for a sentence of ours; anything that is not shaped like one is not repeated."""
    text = value if isinstance(value, str) else ""
    return text if text.isascii() and text.replace("_", "").isalnum() and len(text) <= 64 else "(strange id)"


_MESSAGES = _Table("message", "id, time_created, time_updated", "time_created, id", _decode_message, _large_message)
_PARTS = _Table("part", "id, message_id, time_updated", "rowid", _decode_part, _large_part)


def _all(reader: Reader, table: _Table, session: str, bad: set[str]) -> Iterator[Any]:
    sql = f"SELECT {table.columns}, CAST(data AS BLOB) FROM {table.name} WHERE session_id = ?"
    found: list[Any] = []
    try:
        for row in reader.rows(sql, (session,)):
            before = reader.noted
            made = table.decode(reader, row)
            if reader.noted != before:
                bad.add(row[0])
            if made is not None:
                found.append(made)
    except (Damaged, TooLarge):
        found = list(_one_by_one(reader, table, _rowids(reader, table, session), bad))
    return iter(found)


def _rowids(reader: Reader, table: _Table, session: str) -> list[int]:
    ids: list[int] = []
    try:
        ids.extend(r[0] for r in reader.rows(f"SELECT rowid FROM {table.name} WHERE session_id = ?", (session,)))
    except Damaged:
        _damaged(reader, table)
    return ids


def _damaged(reader: Reader, table: _Table) -> None:
    what = "messages" if table.name == "message" else "parts of messages"
    reader.note(
        ProblemCode.CORRUPT, f"A page of the database is damaged: some {what} of this session cannot be read; the others are shown."
    )


def _one_by_one(reader: Reader, table: _Table, rowids: list[int], bad: set[str]) -> Iterator[Any]:
    """Read row by row, so that one that is too large or lies on a damaged page costs itself only."""
    whole = f"SELECT {table.columns}, CAST(data AS BLOB) FROM {table.name} WHERE rowid = ?"
    light = f"SELECT {table.columns} FROM {table.name} WHERE rowid = ?"
    for rowid in rowids:
        before, row = reader.noted, None
        try:
            row = reader.row(whole, (rowid,))
            made = table.decode(reader, row) if row else None
        except TooLarge:
            try:
                row = reader.row(light, (rowid,))
                made = table.head(reader, rowid, row) if row else None
            except Damaged:
                _damaged(reader, table)
                continue
        except Damaged:
            _damaged(reader, table)
            continue
        if row is not None and reader.noted != before:
            bad.add(row[0])
        if made is not None:
            yield made


def _changed(
    reader: Reader,
    table: _Table,
    session: str,
    have: Mapping[str, T],
    updated: Callable[[T], int],
    key: Callable[[T], str],
    again: _Again,
    bad: set[str],
) -> dict[str, T]:
    """Return the rows as they are now, decoding only those that are new or were rewritten."""
    kept: dict[str, T] = {}
    wanted: list[int] = []
    try:
        for rowid, id, at in reader.rows(f"SELECT rowid, id, time_updated FROM {table.name} WHERE session_id = ?", (session,)):
            old = have.get(id)
            if old is not None and updated(old) == at and at < again.since and id not in again.bad:
                kept[id] = old
            else:
                wanted.append(rowid)
    except Damaged:
        _damaged(reader, table)
    for made in _one_by_one(reader, table, wanted, bad):
        kept[key(made)] = made
    return kept
