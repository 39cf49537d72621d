"""The newest turns of a long session file, from its end alone: what is on the screen while the rest is being read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import Ledger, SessionInfo, Turn, replace
from ctx_inspect.core.sources.pi.classes import ENDS_RUN, USER_AUTHORED
from ctx_inspect.core.sources.pi.contexts import Contexts
from ctx_inspect.core.sources.pi.entries import Entry, entry_of
from ctx_inspect.core.sources.pi.records import decode
from ctx_inspect.core.sources.pi.trouble import refused
from ctx_inspect.core.sources.pi.walk import Walk

LONG = 4 << 20
"""Bytes from which on a file is worth a look at its end first; shorter ones are read whole in less than a frame or two."""

TAIL = 1 << 20
"""Bytes of the end that are read first; where they hold no whole turn, four times as many are, and so on up to ``MOST``."""

MOST = 16 << 20


def newest(path: Path, info: SessionInfo, born: int | None) -> Ledger | None:
    """Return the newest turns of the active branch, or ``None`` where the file is short or its end holds no whole turn.

    Args:
        path: The session file.
        info: Its row in the list.
        born: For a copy of another session: epoch ms of its header.

    Raises:
        SourceError: The file cannot be read.
    """
    try:
        fd = open_regular(path)
    except (OSError, ValueError) as error:
        raise refused(error, path) from None
    try:
        size = os.fstat(fd).st_size
        if size < LONG:
            return None
        tail = TAIL
        while tail <= min(MOST, size // 2):
            walk = _walk(_entries(os.pread(fd, tail, size - tail)), info.id, born)
            if walk is not None:
                return _ledger(walk, info)
            tail *= 4
    except OSError as error:
        raise refused(error, path) from None
    finally:
        os.close(fd)
    return None


def _entries(data: bytes) -> dict[str, Entry]:
    """Return the entries in the whole lines of a file's end; what cannot be read here is named when all of it is."""
    held: dict[str, Entry] = {}
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[1:], start=1):
        try:
            value = decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        if value.id is None or value.type == "session":
            continue
        entry = entry_of(value, number, 0, len(line))
        earlier = held.pop(entry.id, None)
        if earlier is not None:  # rows that repeat while a response streams: the last counts, the first time stays
            entry.at, entry.began = earlier.at or entry.at, earlier.began or entry.began
        held[entry.id] = entry
    return held


def _walk(held: dict[str, Entry], session: str, born: int | None) -> Walk | None:
    """Follow the leaf's ancestors as far as they are here, from the first turn on that begins here."""
    at = next(reversed(held), None)
    path: list[Entry] = []
    seen: set[str] = set()
    while at is not None and at in held and at not in seen:
        seen.add(at)
        path.append(held[at])
        at = held[at].parent
    path.reverse()
    ended = at is None  # the root itself is here
    for start, entry in enumerate(path):
        if entry.row in USER_AUTHORED and ended:
            walk = Walk(session, Contexts(), born)
            for later in path[start:]:
                walk.feed(later)
            return walk
        ended = ended or entry.row in ENDS_RUN
    return None


def _ledger(walk: Walk, info: SessionInfo) -> Ledger:
    return Ledger(
        info,
        turns=tuple(map(_bare, walk.turns())),
        other={n: tuple(rows) for n, rows in walk.other.items()},
        marks=tuple(walk.marks),
        not_recorded=(("what lies before these turns", "it is still being read"),),
        partial=True,
    )


def _bare(turn: Turn) -> Turn:
    """Return a turn without what its requests carried: that began before this part of the file."""
    return replace(turn, requests=tuple(replace(r, context=None) for r in turn.requests))
