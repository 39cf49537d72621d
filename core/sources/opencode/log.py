"""Reverted messages, read from the event log when a session is opened.

The tables lose them with the next prompt; the log keeps every state of every row. It can be most of a database of
many gigabytes, so it is read only by (session, type, sequence), only between the first and last state of the rows
that are wanted, and only so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from ctx_inspect.core.sources.opencode.decode import message_row, part_row, when
from ctx_inspect.core.sources.opencode.records import LOGGED, UNREADABLE, Entry, MessageRow, PartRow
from ctx_inspect.core.sources.sqlite import Damaged, Reader, TooLarge
from msgspec import Struct

REMOVED, MESSAGE, PART, SESSION = "message.removed.1", "message.updated.1", "message.part.updated.1", "session.updated.1"

_MOST = 20_000
"""Events that are looked at for one session."""


class Revert(Struct, frozen=True):
    """One revert that the next prompt made final.

    Attributes:
        at: Epoch milliseconds; ``None`` where the log does not tell.
        message: The first message that was taken back.
        entries: The rows as they were last.
        asked: Whether a revert was recorded right before; else the messages were deleted some other way.
        whole: Whether all its rows were found.
        inside: Whether it took back a part of the message that stands before the first one, too.
    """

    at: int | None
    message: str
    entries: tuple[Entry, ...] = ()
    asked: bool = True
    whole: bool = True
    inside: bool = False


class Log(Struct, frozen=True):
    """What the log tells of a session.

    Attributes:
        reverts: In order.
        complete: Whether all removed messages were found.
        seen: Sequence of the newest removal; nothing is read again while it stays.
    """

    reverts: tuple[Revert, ...] = ()
    complete: bool = True
    seen: int = -1


class _Removed(msgspec.Struct):
    messageID: str


class _Info(msgspec.Struct):
    info: msgspec.Raw


class _Created(msgspec.Struct):
    created: float


class _Timed(msgspec.Struct):
    id: str
    time: _Created | None = None


class _PartIn(msgspec.Struct):
    id: str
    messageID: str


class _PartOf(msgspec.Struct):
    part: msgspec.Raw


class _RevertOf(msgspec.Struct):
    messageID: str
    partID: msgspec.Raw = msgspec.Raw(b"")


class _Times(msgspec.Struct):
    updated: float | None = None


class _Session(msgspec.Struct):
    revert: _RevertOf | None = None
    time: _Times | None = None


class _SessionInfo(msgspec.Struct):
    info: _Session


def removals(reader: Reader, session: str, present: Collection[str], prior: Log | None) -> Log:
    """Return the reverts of a session that are final.

    Args:
        reader: A connection that may read ``event``.
        session: The session's id.
        present: Ids of the messages that are in the tables now.
        prior: What an earlier read found.
    """
    removed: list[tuple[int, str]] = []
    try:
        for seq, data in _events(reader, session, REMOVED, 0, None):
            try:
                id = msgspec.json.decode(data, type=_Removed).messageID
            except UNREADABLE:
                continue
            if id not in present:
                removed.append((seq, id))
    except (Damaged, TooLarge):
        return Log(complete=False)
    if not removed:
        return Log()
    if prior is not None and prior.seen == removed[-1][0]:
        return prior  # incomplete or not: what is missing did not come back
    groups: list[list[tuple[int, str]]] = []
    for seq, id in removed:
        if groups and groups[-1][-1][0] == seq - 1:
            groups[-1].append((seq, id))
        else:
            groups.append([(seq, id)])
    budget = [_MOST]
    made: list[Revert] = []
    complete = True
    for group in groups:
        try:
            revert = _revert(reader, session, group, budget)
        except (Damaged, TooLarge):
            revert = Revert(None, group[0][1], whole=False)
        made.append(revert)
        complete &= revert.whole
    return Log(tuple(made), complete, removed[-1][0])


def _events(reader: Reader, session: str, kind: str, low: int, high: int | None, newest_first: bool = False) -> Iterator[tuple[int, bytes]]:
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT seq, CAST(data AS BLOB) FROM event WHERE aggregate_id = ? AND type = ? AND seq BETWEEN ? AND ? ORDER BY seq {order}"
    rows: Iterator[tuple[Any, ...]] = reader.rows(sql, (session, kind, low, 2**62 if high is None else high))
    yield from rows


def _revert(reader: Reader, session: str, group: list[tuple[int, str]], budget: list[int]) -> Revert:
    end, wanted = group[0][0], {id for _, id in group}
    asked, at, inside = _asked(reader, session, end)
    rows: dict[str, MessageRow] = {}
    first = end
    oldest = min(wanted)
    for seq, data in _events(reader, session, MESSAGE, 0, end, newest_first=True):
        budget[0] -= 1
        if budget[0] < 0:
            break
        try:
            info = msgspec.json.decode(data, type=_Info).info
            head = msgspec.json.decode(info, type=_Timed)
            if head.id in wanted:
                first = seq
                if head.id not in rows:
                    created = when(head.time.created) if head.time else None
                    rows[head.id] = message_row(head.id, created, created or 0, bytes(info))
            elif len(rows) == len(wanted) and head.id < oldest and b'"role":"assistant"' in bytes(info)[:400]:
                break  # an answer before the oldest removed row: their first states lie behind us
        except UNREADABLE:
            continue
    parts: dict[str, tuple[str, PartRow]] = {}
    for seq, data in _events(reader, session, PART, first, end):
        budget[0] -= 1
        if budget[0] < 0:
            break
        try:
            raw = msgspec.json.decode(data, type=_PartOf).part
            head = msgspec.json.decode(raw, type=_PartIn)
            if head.messageID in wanted:
                parts[head.id] = head.messageID, part_row(f"{LOGGED}{seq}", seq, bytes(raw))
        except UNREADABLE:
            continue
    of: dict[str, list[PartRow]] = {}
    for id in sorted(parts):
        message, part = parts[id]
        of.setdefault(message, []).append(part)
    entries = [Entry(r, tuple(of.get(r.id, ()))) for r in sorted(rows.values(), key=lambda r: (r.created, r.id))]
    return Revert(at, group[0][1], tuple(entries), asked, len(rows) == len(wanted) and budget[0] >= 0, inside)


def _asked(reader: Reader, session: str, before: int) -> tuple[bool, int | None, bool]:
    """Tell whether the session's last state before a removal names a revert, when it was set, and whether it names a part."""
    for _, data in _events(reader, session, SESSION, 0, before, newest_first=True):
        try:
            info = msgspec.json.decode(data, type=_SessionInfo).info
        except UNREADABLE:
            return False, None, False
        updated = info.time.updated if info.time else None
        if info.revert is None:
            return False, None, False
        return True, when(updated), bytes(info.revert.partID)[:1] == b'"'
    return False, None, False


def logged_part(reader: Reader, session: str, seq: int) -> bytes | None:
    """Return the JSON of a part as an event recorded it."""
    row = reader.row("SELECT CAST(data AS BLOB) FROM event WHERE aggregate_id = ? AND seq = ?", (session, seq))
    if row is None:
        return None
    try:
        return bytes(msgspec.json.decode(row[0], type=_PartOf).part)
    except UNREADABLE:
        return None
