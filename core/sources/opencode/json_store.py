"""Sessions of the generation before the database: ``storage/session|message|part`` as JSON files.

The bodies are those of the database's ``data`` columns, ids come from the paths. A session that one of the databases
beside the folder holds too was moved there and is read from there alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from ctx_inspect.core.model import Listing, Model, Problem, ProblemCode, Raw, SessionInfo
from ctx_inspect.core.project import project_of
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.opencode.decode import message_row, part_head, part_row, when
from ctx_inspect.core.sources.opencode.ledger import Pending
from ctx_inspect.core.sources.opencode.listing import FORMAT_JSON, Found
from ctx_inspect.core.sources.opencode.places import databases_in, session_files
from ctx_inspect.core.sources.opencode.records import UNREADABLE, Entry, MessageRow, PartRow
from ctx_inspect.core.sources.sqlite import ROW_LIMIT, read

_HEAD = 4096


class _Time(msgspec.Struct):
    created: int | None = None
    updated: int | None = None


class _Revert(msgspec.Struct):
    messageID: str
    partID: str | None = None


class _Session(msgspec.Struct):
    title: str | None = None
    directory: str | None = None
    projectID: str | None = None
    parentID: str | None = None
    time: _Time | None = None
    revert: _Revert | None = None


def in_databases(storage: Path) -> tuple[set[str], list[Problem]]:
    """Return the ids of the sessions that the databases beside a ``storage`` folder hold."""
    ids: set[str] = set()
    problems: list[Problem] = []
    for path in databases_in(storage.parent):
        try:
            ids |= read(path, lambda r: {str(i) for (i,) in r.rows("SELECT id FROM session")}, tables=("session",)).value
        except SourceError as error:
            problems.append(
                Problem(Raw(str(path)), error.code, f"Sessions in both it and the JSON files may be listed twice: {error.message}.")
            )
    return ids, problems


def listing(storage: Path) -> tuple[dict[str, Found], list[Problem]]:
    """Return the sessions of a ``storage`` folder that no database beside it holds."""
    moved, problems = in_databases(storage)
    found: dict[str, Found] = {}
    withheld: list[Path] = []
    for path in session_files(storage, withheld):
        id = path.stem
        if id in moved:
            continue
        data = _bytes(path)
        try:
            if data is None:
                raise ValueError
            s = msgspec.json.decode(data, type=_Session)
        except UNREADABLE:
            problems.append(Problem(Raw(str(path)), ProblemCode.UNREADABLE_RECORD, "This session file cannot be read; it is left out."))
            continue
        time = s.time or _Time()
        parent = f"opencode:{s.parentID}" if s.parentID else None
        directory = Raw(s.directory) if s.directory else None
        info = SessionInfo(
            f"opencode:{id}",
            "opencode",
            id,
            Raw(s.title) if s.title else None,
            directory,
            when(time.created),
            when(time.updated),
            Raw(str(path)),
            FORMAT_JSON,
            project_of(directory) if directory else None,
            Raw(s.projectID) if s.projectID else None,
            parent,
            model=Model(None, None),
        )
        found[id] = Found(info, Pending(s.revert.messageID, s.revert.partID) if s.revert else None)
    problems += [Problem(Raw(str(folder)), ProblemCode.PERMISSION, "no permission to read it") for folder in withheld]
    return found, problems


def as_listing(found: dict[str, Found], problems: list[Problem]) -> Listing:
    """Return the list, newest first."""
    infos = sorted((f.info for f in found.values()), key=lambda i: (-(i.updated or 0), i.id))
    return Listing(tuple(infos), tuple(problems))


def entries(storage: Path, session: str) -> tuple[list[Entry], list[Problem]]:
    """Read the messages and parts of one session."""
    problems: list[Problem] = []
    made: list[Entry] = []
    for path in _json_in(storage / "message" / session):
        row = _message(path, problems)
        if row is not None:
            parts = tuple(_part(p, problems) for p in _json_in(storage / "part" / row.id))
            made.append(Entry(row, parts))
    made.sort(key=lambda e: (e.row.created, e.row.id))
    return made, problems


def _message(path: Path, problems: list[Problem]) -> MessageRow | None:
    data = _bytes(path)
    try:
        if data is None:
            raise ValueError
        row = message_row(path.stem, None, _mtime(path), data)
    except UNREADABLE:
        problems.append(Problem(Raw(str(path)), ProblemCode.UNREADABLE_RECORD, "This message file cannot be read; it is left out."))
        return None
    # the table's time of creation was filled from this one
    return msgspec.structs.replace(row, created=row.at or 0)


def _part(path: Path, problems: list[Problem]) -> PartRow:
    updated = _mtime(path)
    with suppress(OSError):
        size = path.stat().st_size
        if size > ROW_LIMIT:
            with path.open("rb") as file:
                head = file.read(_HEAD)
            problems.append(
                Problem(Raw(str(path)), ProblemCode.TOO_LARGE, f"This part holds {size:,} bytes; it is listed, its content is not read.")
            )
            return part_head(path.stem, updated, head)
    data = _bytes(path)
    try:
        if data is None:
            raise ValueError
        return part_row(path.stem, updated, data)
    except UNREADABLE:
        problems.append(
            Problem(Raw(str(path)), ProblemCode.UNREADABLE_RECORD, "This part file cannot be read; it is listed without content.")
        )
        return PartRow(path.stem, updated, "?")


def _json_in(folder: Path) -> Iterator[Path]:
    with suppress(OSError, ValueError):
        yield from sorted(Path(e.path) for e in os.scandir(folder) if e.name.endswith(".json"))


def part_file(storage: Path, session: str, part: str) -> bytes | None:
    """Return the JSON of one part of a session."""
    for message in _json_in(storage / "message" / session):
        path = storage / "part" / message.stem / f"{part}.json"
        if os.path.lexists(path):
            return _bytes(path)
    return None


def stamps(storage: Path) -> frozenset[tuple[str, int, int]]:
    """Return name, size and mtime of every session file, and of the folder of its messages."""
    found: set[tuple[str, int, int]] = set()
    for path in session_files(storage):
        for one in (path, storage / "message" / path.stem):
            with suppress(OSError):
                s = one.stat()
                found.add((path.stem, s.st_size, s.st_mtime_ns))
    return frozenset(found)


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _bytes(path: Path) -> bytes | None:
    """Return a regular file's bytes, or ``None`` where it cannot be read or is too long."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            s = os.fstat(file.fileno())
            return file.read() if stat.S_ISREG(s.st_mode) and s.st_size <= ROW_LIMIT else None
        except OSError:
            return None
