"""Reads the rows of one session from the database: all of them, or only what changed since the last time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from time import time
from typing import Any, Generic, TypeGuard, TypeVar

from ctx_inspect.core.model import ProblemCode
from ctx_inspect.core.sources.opencode.decode import message_row, part_head, part_row
from ctx_inspect.core.sources.opencode.records import UNREADABLE, Entry, MessageRow, PartRow
from ctx_inspect.core.sources.sqlite import Damaged, Reader, TooLarge
from msgspec import Struct, field

T = TypeVar("T")

_RECENT = 2000
"""Rows written this many milliseconds before the last read are read again: a row may be rewritten within one millisecond."""

_HEAD = 4096

_HELD = 32 * 1024 * 1024
"""Bytes that are held until the connection is closed; more than that is decoded while it is open."""


class Rows(Struct, Generic[T], frozen=True):
    """The decoded rows of a table.

    Attributes:
        of: Rows by id.
        stamps: (rowid, id, time of the last change) of each row that was read whole.
        changed: Ids of those that are others than at the read before, or gone.
    """

    of: Mapping[str, T] = field(default_factory=dict[str, Any])
    stamps: frozenset[tuple[int, str, int]] = frozenset()
    changed: frozenset[str] = frozenset()


class Snapshot(Struct, frozen=True):
    """The decoded rows of a session, as of one read.

    Attributes:
        messages: Rows of ``message``.
        parts: Rows of ``part``, each with the id of its message.
        entries: The messages with their parts in the harness's order: by time of creation, then id; parts by id.
        by_message: The parts of each message, in order.
        read_at: Epoch milliseconds of the read.
    """

    messages: Rows[MessageRow] = field(default_factory=lambda: Rows())
    parts: Rows[tuple[str, PartRow]] = field(default_factory=lambda: Rows())
    entries: list[Entry] = field(default_factory=list[Entry])
    by_message: Mapping[str, tuple[PartRow, ...]] = field(default_factory=dict[str, tuple[PartRow, ...]])
    read_at: int = 0


class Fetched(Struct, frozen=True):
    """Rows as they were read; :meth:`snapshot` decodes them, when the connection is closed."""

    before: Snapshot
    messages: _Reading[MessageRow]
    parts: _Reading[tuple[str, PartRow]]
    read_at: int

    @property
    def ids(self) -> Collection[str]:
        """Ids of the messages that are in the table."""
        return self.messages.ids

    def snapshot(self) -> Snapshot:
        """Decode what is new."""
        messages, parts = self.messages.rows(), self.parts.rows()
        by_message = _by_message(self.before, parts)
        return Snapshot(messages, parts, _entries(self.before.entries, messages.of, by_message), by_message, self.read_at)


def fetch(reader: Reader, session: str, prior: Snapshot | None) -> Fetched:
    """Read a session's rows; of those in ``prior`` only what changed."""
    now = int(time() * 1000)
    before = prior or Snapshot()
    since = before.read_at - _RECENT
    messages = _Reading(_MESSAGES, reader, session, before.messages, since)
    parts = _Reading(_PARTS, reader, session, before.parts, since)
    return Fetched(before, messages, parts, now)


class _Reading(Generic[T]):
    """Rows of a table: those that stay, and those that are to be decoded."""

    def __init__(self, table: _Table, reader: Reader, session: str, before: Rows[T], since: int) -> None:
        """Read the rows.

        Args:
            table: Which.
            reader: The connection.
            session: Of which session.
            before: What was read before.
            since: Rows written at or after this time (epoch ms) are read again: a row may be rewritten within one millisecond.
        """
        self._table, self._reader, self._before = table, reader, before
        self._raw: list[tuple[Any, ...]] = []
        self._bytes = 0
        self._new: dict[str, T] = {}
        self._stamps: set[tuple[int, str, int]] = set()
        self._same: frozenset[tuple[int, str, int]] = frozenset()
        self.ids: set[str] = set()
        """Ids of the rows that are there."""
        where = f"FROM {table.name} WHERE session_id = ?"
        try:
            if before.stamps:
                self._again(where, session, since)
                return
            for row in reader.rows(f"SELECT rowid, {table.columns}, CAST(data AS BLOB) {where}", (session,)):
                self._take(row)
        except (Damaged, TooLarge):
            self._raw.clear()
            self._new.clear()
            self._stamps.clear()
            self._one_by_one(self._listed(where, session))

    def _listed(self, where: str, session: str) -> list[int]:
        found: list[int] = []
        try:  # an index tells these; a damaged page of the table is not touched
            found.extend(row[0] for row in self._reader.rows(f"SELECT rowid {where}", (session,)))
        except Damaged:
            _damaged(self._reader, self._table)
        return found

    def _again(self, where: str, session: str, since: int) -> None:
        now = set(self._reader.at_once(("rowid", "id", "time_updated"), where, (session,)))
        self._same = frozenset([row for row in now & self._before.stamps if row[2] < since])
        self.ids.update([row[1] for row in self._same])
        self._one_by_one([row[0] for row in now - self._same])

    def _one_by_one(self, wanted: Collection[int]) -> None:
        """Read row by row, so that one that is too large or lies on a damaged page costs itself only."""
        table, reader = self._table, self._reader
        whole = f"SELECT rowid, {table.columns}, CAST(data AS BLOB) FROM {table.name} WHERE rowid = ?"
        light = f"SELECT {table.columns} FROM {table.name} WHERE rowid = ?"
        for rowid in sorted(wanted):
            try:
                row = reader.row(whole, (rowid,))
                if row is not None:
                    self._take(row)
            except TooLarge:
                try:
                    row = reader.row(light, (rowid,))
                    made = table.head(reader, rowid, row) if row else None
                    self.ids.update(row[:1] if row else ())
                    if made is not None:
                        self._new[table.key(made)] = made
                except Damaged:
                    _damaged(reader, table)
            except Damaged:
                _damaged(reader, table)

    def _take(self, row: tuple[Any, ...]) -> None:
        self._raw.append(row)
        self.ids.add(row[1])
        self._bytes += len(row[-1]) if isinstance(row[-1], bytes) else 0
        if self._bytes > _HELD:
            self._decode()

    def _decode(self) -> None:
        table, reader = self._table, self._reader
        for row in self._raw:
            before = reader.noted
            made = table.decode(reader, row[1:])
            if made is not None:
                self._new[table.key(made)] = made
                if reader.noted == before:
                    self._stamps.add((row[0], row[1], row[-2]))
        self._raw.clear()
        self._bytes = 0

    def rows(self) -> Rows[T]:
        """Decode what is new and return all."""
        self._decode()
        before, new = self._before, self._new
        if not self._same:
            return Rows(new, frozenset(self._stamps), frozenset(before.of.keys() | new.keys()))
        changed = {id for _, id, _ in before.stamps - self._same} | (before.of.keys() - {id for _, id, _ in before.stamps}) | new.keys()
        of = dict(before.of)
        for id in changed:
            of.pop(id, None)
        of.update(new)
        return Rows(of, self._same | self._stamps, frozenset(changed))


def _by_message(before: Snapshot, parts: Rows[tuple[str, PartRow]]) -> dict[str, tuple[PartRow, ...]]:
    """Put parts to their messages; those of messages without a change are taken over."""
    made = dict(before.by_message)
    changed: dict[str, dict[str, PartRow]] = {}

    def parts_of(message: str) -> dict[str, PartRow]:
        if message not in changed:
            changed[message] = {p.id: p for p in made.get(message, ())}
        return changed[message]

    for id in parts.changed:
        old, new = before.parts.of.get(id), parts.of.get(id)
        if old is not None:
            parts_of(old[0]).pop(id, None)
        if new is not None:
            parts_of(new[0])[id] = new[1]
    for message, found in changed.items():
        made[message] = tuple(sorted(found.values(), key=lambda p: p.id))
    return made


def _entries(before: list[Entry], messages: Mapping[str, MessageRow], parts: Mapping[str, tuple[PartRow, ...]]) -> list[Entry]:
    """Put the messages in order; those without a change are the same objects."""
    old = {e.row.id: e for e in before}
    made: list[Entry] = []
    for row in sorted(messages.values(), key=lambda m: (m.created, m.id)):
        entry, inside = old.get(row.id), parts.get(row.id, ())
        made.append(entry if entry is not None and entry.row is row and entry.parts is inside else Entry(row, inside))
    return made


class _Table(Struct, frozen=True):
    """How a table's rows are read; ``columns`` end in the JSON."""

    name: str
    columns: str
    decode: Callable[[Reader, tuple[Any, ...]], Any]
    head: Callable[[Reader, int, tuple[Any, ...]], Any]
    key: Callable[[Any], str]


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


_MESSAGES = _Table("message", "id, time_created, time_updated", _decode_message, _large_message, lambda m: m.id)
_PARTS = _Table("part", "id, message_id, time_updated", _decode_part, _large_part, lambda p: p[1].id)


def _damaged(reader: Reader, table: _Table) -> None:
    what = "messages" if table.name == "message" else "parts of messages"
    reader.note(
        ProblemCode.CORRUPT, f"A page of the database is damaged: some {what} of this session cannot be read; the others are shown."
    )
