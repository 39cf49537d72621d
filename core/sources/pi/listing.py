"""The list of sessions, without opening one: the beginning and the end of each file, bounded, and remembered."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import Confirmed, Estimated, Known, Model, ProblemCode, Raw, SessionInfo
from ctx_inspect.core.model.ledger import NO_ORIGIN
from ctx_inspect.core.project import project_of
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.pi.classes import Row, classify
from ctx_inspect.core.sources.pi.records import Content, Line, decode, millis
from ctx_inspect.core.sources.pi.session import Header, header_of, id_in_name
from ctx_inspect.core.sources.pi.trouble import EMPTY, NO_HEADER, refused
from ctx_inspect.core.text.redact import whole_words
from msgspec import Struct

FIRST_LOOK = 16 << 10
MOST = 512 << 10
"""Bytes read at most at either end of a file."""
TITLE = 4_000
"""Characters of a first message that are kept to stand for a missing name: more than anybody shows, as a key that is cut in two
has no shape and would not be redacted."""
WITHHELD = frozenset({errno.EACCES, errno.EPERM})
LIVE = 60.0
"""Seconds since the last change within which a session counts as live."""


class Glance(Struct, frozen=True):
    """What the ends of a file tell.

    Attributes:
        header: Its header.
        name: Its name, as far as the ends tell; empty = cleared.
        first: Beginning of the first user message.
        updated: Epoch milliseconds of the last entry.
        model: Newest model seen.
        copied: Whether its first entry is older than its header: it was copied from another session.
    """

    header: Header
    name: Raw | None
    first: Raw | None
    updated: int | None
    model: Model
    copied: bool


def glance(path: Path) -> Glance:
    """Read the ends of a session file.

    Raises:
        SourceError: It cannot be read, or is no Pi session.
    """
    try:
        fd = open_regular(path)
    except (OSError, ValueError) as error:
        raise refused(error, path) from None
    try:
        size = os.fstat(fd).st_size
        head = _Head(path)
        look = FIRST_LOOK
        while True:
            head.read(os.pread(fd, look, 0), whole=look >= size)
            if head.done or look >= min(size, MOST):
                break
            look = min(look * 4, MOST)
        if head.header is None:
            raise SourceError(ProblemCode.NOT_A_STORE, NO_HEADER if size else EMPTY, path)
        tail = _Tail()
        look = FIRST_LOOK
        while True:
            start = max(0, size - look)
            tail.read(os.pread(fd, look, start), cut=start > 0)
            if tail.updated is not None or look >= min(size, MOST):
                break
            look = min(look * 4, MOST)
    except OSError as error:
        raise refused(error, path) from None
    finally:
        os.close(fd)
    name = tail.name if tail.name is not None else head.name
    model = tail.model if tail.model != Model(None, None) else head.model
    return Glance(head.header, name, head.first, tail.updated, model, head.copied)


def info_of(seen: Glance, path: Path, at: os.stat_result, now: float, origin: Known[str]) -> SessionInfo:
    """Make the row of the list."""
    header = seen.header
    copied = seen.copied and header.parent is not None
    started_by = origin.value if isinstance(origin, Confirmed | Estimated) and not copied else None
    title = seen.name or seen.first
    return SessionInfo(
        f"pi:{header.id}",
        "pi",
        header.id,
        title,
        header.cwd,
        header.at,
        seen.updated or int(at.st_mtime * 1000),
        Raw(str(path)),
        f"pi-{header.version}",
        project=project_of(header.cwd) if header.cwd else None,
        parent=started_by,
        forked_from=origin if copied else NO_ORIGIN,
        live=now - at.st_mtime <= LIVE,
        model=seen.model,
    )


class _Head:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._reset()

    def _reset(self) -> None:
        self.header: Header | None = None
        self.name: Raw | None = None
        self.first: Raw | None = None
        self.model = Model(None, None)
        self.copied = False
        self.done = False

    def read(self, data: bytes, *, whole: bool) -> None:
        self._reset()
        pieces = data.split(b"\n")
        first_entry = True
        for piece in pieces if whole else pieces[:-1]:
            line = _decoded(piece)
            if line is None:
                continue
            if self.header is None:
                self.header = header_of(line)
                if self.header is None:
                    if not line.id or classify(line.type, "user") is Row.UNKNOWN:
                        self.done = True
                        return
                    self.header = Header(id_in_name(self._path), 3, millis(line.timestamp), None, None)
                continue
            if first_entry:
                first_entry = False
                at = millis(line.timestamp)
                self.copied = at is not None and self.header.at is not None and at < self.header.at
            body = line.message
            if line.type == "session_info":
                self.name = Raw(line.name or "")
            elif line.type == "model_change":
                self.model = Model(_raw(line.provider), _raw(line.model_id))
            elif line.type == "message" and body is not None and body.role == "user":
                self.first = _beginning(body.content)
                self.done = True
                return


class _Tail:
    def __init__(self) -> None:
        self.name: Raw | None = None
        self.model = Model(None, None)
        self.updated: int | None = None

    def read(self, data: bytes, *, cut: bool) -> None:
        pieces = data.split(b"\n")
        for piece in reversed(pieces[1:] if cut else pieces):
            answer = self.model.id is None and (b'"assistant"' in piece or b'"model_change"' in piece)
            named = self.name is None and b'"session_info"' in piece
            if self.updated is not None and not answer and not named:
                continue
            line = _decoded(piece)
            if line is None:
                continue
            if self.updated is None:
                self.updated = millis(line.timestamp)
            if named and line.type == "session_info":
                self.name = Raw(line.name or "")
            body = line.message
            if answer and line.type == "model_change":
                self.model = Model(_raw(line.provider), _raw(line.model_id))
            elif answer and body is not None and body.role == "assistant":
                self.model = Model(_raw(body.provider), _raw(body.model))


def _decoded(piece: bytes) -> Line | None:
    if b"\0" in piece:
        piece = piece.replace(b"\0", b"")
    if not piece.strip():
        return None
    try:
        return decode(piece)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _raw(text: str | None) -> Raw | None:
    return None if text is None else Raw(text)


def _beginning(content: Content) -> Raw | None:
    texts = [content] if isinstance(content, str) else [b.text or "" for b in content or () if b.type == "text"]
    for text in texts:
        if stripped := text[: 2 * TITLE].strip():
            return whole_words(Raw(stripped[:TITLE]), cut=len(stripped) > TITLE or len(text) > 2 * TITLE)
    return None


Refused = Callable[[str, OSError], object]
"""Told of a folder or file that the system does not let us look at."""


def session_files(folder: Path, refused: Refused = lambda path, error: None) -> Iterator[tuple[str, os.stat_result]]:
    """Find session files as Pi lays them out: in the folder itself, or one folder down. Costs one ``stat`` a file.

    Args:
        folder: Where.
        refused: Told of what is there and may not be looked at.

    Raises:
        OSError: The folder itself cannot be read.
    """
    with os.scandir(folder) as rows:
        entries = list(rows)
    for entry in entries:
        if entry.name.endswith(".jsonl"):
            yield from _file(entry, str(folder), refused)
        elif _is_folder(entry, refused):
            try:
                with os.scandir(entry.path) as inner:
                    for row in inner:
                        if row.name.endswith(".jsonl"):
                            yield from _file(row, entry.path, refused)
            except OSError as error:
                refused(entry.path, error)


def _is_folder(entry: os.DirEntry[str], refused: Refused) -> bool:
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno in WITHHELD:
            refused(entry.path, error)
        return False


def _file(entry: os.DirEntry[str], folder: str, refused: Refused) -> Iterator[tuple[str, os.stat_result]]:
    try:
        yield entry.path, entry.stat()
    except OSError as error:
        if error.errno in WITHHELD:
            refused(folder, error)  # one sentence for all files of a folder that may be listed only
