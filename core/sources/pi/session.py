"""One session file: read on as it grows, and turned into a ledger."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import HiddenTurn, Ledger, MarkKind, Model, Problem, ProblemCode, Raw, SessionInfo
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.jsonl import Fault, Identity, Position, Reader, Record, grew_from, identify
from ctx_inspect.core.sources.pi.classes import Row
from ctx_inspect.core.sources.pi.contexts import Contexts
from ctx_inspect.core.sources.pi.entries import Entry, entry_of
from ctx_inspect.core.sources.pi.formats import NO_PROMPT
from ctx_inspect.core.sources.pi.records import Line, count, decode, millis
from ctx_inspect.core.sources.pi.tree import Left, Tree, grow
from ctx_inspect.core.sources.pi.trouble import EMPTY, NO_HEADER, problems_of, refused
from ctx_inspect.core.sources.pi.walk import Walk
from msgspec import Struct

QUIET = 2.0
"""Seconds without a change after which a last line without LF counts, if it is whole."""


class Header(Struct, frozen=True):
    """The session line.

    Attributes:
        id: Session id.
        version: Header version; 1 where absent.
        at: Epoch milliseconds.
        cwd: Working directory.
        parent: Path of the session file it was copied from, or that started it.
    """

    id: str
    version: int
    at: int | None
    cwd: Raw | None
    parent: Raw | None


def header_of(line: Line) -> Header | None:
    """Return the header in a line, or ``None`` where it is none."""
    if line.type != "session" or not line.id:
        return None
    cwd = Raw(line.cwd) if line.cwd else None
    return Header(line.id, count(line.version) or 1, millis(line.timestamp), cwd, Raw(line.parent_session) if line.parent_session else None)


@contextmanager
def _no_collecting() -> Generator[None]:
    """Keep the garbage collector from walking over a growing heap again and again: what is made here has no cycles."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def id_in_name(path: Path) -> str:
    """Return the session id that a file's name holds (``<time>_<id>.jsonl``), for a file whose header is damaged."""
    stem = path.name.removesuffix(".jsonl")
    return stem.partition("_")[2] or stem


class SessionFile:
    """A session file that is followed; ``refresh`` reads what is new, ``ledger`` says what it holds."""

    def __init__(self, path: Path) -> None:
        """Name the file; nothing is read yet."""
        self.path = path
        self.waiting = False
        """Whether something at its end is unread until the file is quiet."""
        self._reader: Reader[Line] = Reader(decode)
        self._clear()

    def _clear(self) -> None:
        self.header: Header | None = None
        self._identity: Identity | None = None
        self._position = Position()
        self._entries: dict[str, Entry] = {}
        self._repeats: dict[str, int] = {}
        self._records: list[str] = []  # version 1: ids by number of record
        self._loose: list[Entry] = []
        self._faults: list[Fault] = []
        self._open_faults: list[Fault] = []
        self._unknown = self._adrift = 0
        self._walk: Walk | None = None
        self._hidden: list[HiddenTurn] = []
        self._leaf: str | None = None
        self._seen: tuple[int, int, bool] | None = None
        self.name: Raw | None = None
        self.updated: int | None = None

    # -- reading -----------------------------------------------------------------------------------------

    def refresh(self, final: Callable[[os.stat_result], bool]) -> None:
        """Read what is new; all of it where the file was replaced, cut or rewritten.

        Args:
            final: Tells from the file's state whether it is at rest.

        Raises:
            SourceError: It is gone, no file, or no Pi session.
        """
        try:
            fd = open_regular(self.path)
        except (OSError, ValueError) as error:
            raise refused(error, self.path) from None
        try:
            with _no_collecting():
                self._refresh(fd, final)
        except BaseException:
            self._clear()  # what was taken in half way would be taken twice
            raise

    def _refresh(self, fd: int, final: Callable[[os.stat_result], bool]) -> None:
        try:
            if self._identity is not None and not grew_from(fd, self._identity):
                self._clear()
            at = os.fstat(fd)
            rest = final(at)
            if (at.st_size, at.st_mtime_ns, rest or self._position.offset == at.st_size) == self._seen:
                return
            new: list[Entry] = []
            start = self._position
            if self._loose:  # they are read again, so what followed them is too
                self._loose, self._walk = [], None
            for record in self._reader.read(fd, start, final=rest):
                entry = self._take(record)
                if entry is not None:
                    new.append(entry)
            self._position = self._reader.position
            self._identity = identify(fd, self._position)
        except OSError as error:
            raise refused(error, self.path) from None
        finally:
            os.close(fd)
        self.waiting = self._position.offset < at.st_size
        self._faults += self._reader.faults
        self._open_faults = list(self._reader.open_faults)
        if self.header is None:
            raise SourceError(ProblemCode.NOT_A_STORE, NO_HEADER if at.st_size else EMPTY, self.path)
        self._follow(new)
        self._seen = (at.st_size, at.st_mtime_ns, rest or self._position.offset == at.st_size)

    def _take(self, record: Record[Line]) -> Entry | None:
        line = record.value
        if self.header is None:
            self.header = header_of(line)
            if self.header is not None:
                self._records.append("")
                return None
            if not line.id or line.type not in _KNOWN_TYPES:
                self._clear()
                raise SourceError(ProblemCode.NOT_A_STORE, NO_HEADER, self.path)
            # The header is lost, the entries are not: the name of the file still holds the id.
            self.header = Header(id_in_name(self.path), 3, millis(line.timestamp), None, None)
            self._faults.append(Fault(1, False, "the session header; the id is taken from the file's name"))
        if line.type == "session":
            return None  # Pi 0.7x may write all of a session a second time
        old = self.header.version < 2 and line.id is None
        if line.id is None and not old:
            self._unknown += 1
            return None
        again = 0
        earlier = self._entries.get(line.id) if line.id is not None else None
        if line.id is not None and earlier is not None and earlier.line != record.line:
            again = self._repeats[line.id] = self._repeats.get(line.id, 0) + 1
        entry = entry_of(line, record.line, record.offset, record.length, again)
        if old:
            entry.parent = self._records[-1] or None
            if entry.kept is not None and entry.kept.startswith("record-"):
                index = entry.kept.removeprefix("record-")
                entry.kept = self._records[int(index)] if index.isdecimal() and 0 < int(index) < len(self._records) else None
        if record.settled and self.header.version < 2:
            self._records.append(entry.id)
        if entry.row is Row.UNKNOWN and record.settled:
            self._unknown += 1
        if old:
            earlier = self._entries.get(entry.id)
        if earlier is not None:  # rows that repeat while a response streams: the last counts, the first time stays
            entry.at, entry.began = earlier.at or entry.at, earlier.began or entry.began
            self._walk = None
        if record.settled:
            self._entries[entry.id] = entry
        else:
            self._loose.append(entry)
        if entry.row is Row.NAME:
            self.name = entry.text or None
        self.updated = entry.at or self.updated
        return entry

    # -- following ---------------------------------------------------------------------------------------

    def _follow(self, new: list[Entry]) -> None:
        """Go on from the leaf where the new entries hang off it one by one, else start over."""
        walk = self._walk
        if walk is not None and not self._reader.faults:
            for entry in new:
                if entry.parent != self._leaf:
                    walk = None
                    break
                if entry.row is Row.BRANCH:
                    _mark_return(walk, entry, (), {})
                walk.feed(entry)
                self._leaf = entry.id
        else:
            walk = None
        if walk is None:
            walk = self._start_over()
        self._walk = walk

    def _start_over(self) -> Walk:
        header = self.header
        assert header is not None
        held = self._entries | {e.id: e for e in self._loose} if self._loose else self._entries
        entries = list(held.values())
        if self._repeats or self._loose:
            entries.sort(key=lambda e: (e.line, e.offset))
        lost = sorted({f.line for f in (*self._faults, *self._open_faults) if not f.recovered})
        tree = grow(entries, lost)
        self._adrift = tree.adrift
        born = header.at if header.parent is not None else None
        walk = Walk(header.id, Contexts(), born)
        self._hidden = []
        turns: dict[str, int] = {}
        coming: dict[int, list[tuple[Left, str | None]]] = {}
        for place, branches in tree.left.items():
            for left in branches:
                fork = tree.path[place].id if place >= 0 else None
                coming.setdefault(max(left.returned, place + 1), []).append((left, fork))
        self._leave(tree, -1, walk, turns)
        before = 0
        if not lost and not tree.left:
            for entry in tree.path:
                if entry.row is Row.BRANCH:
                    _mark_return(walk, entry, (), turns)
                walk.feed(entry)
        for place, entry in enumerate(tree.path) if lost or tree.left else ():
            if lost and any(before < line < entry.line for line in lost):
                walk.gap()
            before = entry.line
            if place in coming or entry.row is Row.BRANCH:
                _mark_return(walk, entry, coming.get(place, ()), turns)
            walk.feed(entry)
            if place in tree.left:
                self._leave(tree, place, walk, turns)
        if any(line > before for line in lost):
            walk.gap()
        self._hidden.sort(key=lambda h: h.at or 0)
        self._leaf = tree.path[-1].id if tree.path else None
        return walk

    def _leave(self, tree: Tree, place: int, walk: Walk, turns: dict[str, int]) -> None:
        """Walk the branches that were left at one entry of the active path."""
        for left in tree.left.get(place, ()):
            found: list[HiddenTurn] = []
            stack = [(left.root, walk.branch())]
            while stack:
                entry, branch = stack.pop()
                while True:
                    branch.feed(entry)
                    children = tree.children.get(entry.id, ())
                    if not children:
                        break
                    stack += [(other, branch.branch()) for other in children[:-1]]
                    entry = children[-1]
                found += branch.hidden()
            turns[left.root.id] = len(found)
            self._hidden += found

    @property
    def identity(self) -> Identity | None:
        """What proves that the file is still the one that was read."""
        return self._identity

    # -- saying ------------------------------------------------------------------------------------------

    def locate(self, row: str) -> tuple[int, int] | None:
        """Return where an entry's line lies: offset and bytes."""
        entry = self._entries.get(row) or next((e for e in self._loose if e.id == row), None)
        return (entry.offset, entry.length) if entry is not None else None

    def values(self, data: bytes) -> list[Line]:
        """Decode again what stands in the bytes of one record."""
        return self._reader.values(data)

    def ledger(self, info: SessionInfo) -> Ledger:
        """Return the session as it is now."""
        walk = self._walk
        assert walk is not None
        marks = (*walk.marks, *walk.pending_marks())
        now = walk.now()
        missing: list[tuple[str, str]] = []
        if all(not i.ref for i in now.items):
            missing.append(("system prompt and tools", NO_PROMPT))
        missing += [
            ("generation settings", "Pi records model, provider and thinking level only"),
            ("reason of a compaction", "Pi tells it in live events only"),
            ("changes by extensions", "an extension may change a request after the store was written"),
            ("retries within a row", "Pi stores a retry as a row of its own"),
        ]
        problems = problems_of((*self._faults, *self._open_faults), self.path)
        if self._unknown:
            words = f"{self._unknown} record(s) of a type that is not known here; they are no part of the history shown"
            problems = (*problems, Problem(Raw(str(self.path)), ProblemCode.SCHEMA_UNKNOWN, words))
        if self._adrift:
            words = f"{self._adrift} record(s) follow one that is not in the file, or themselves: what came before them is not known"
            problems = (*problems, Problem(Raw(str(self.path)), ProblemCode.UNREADABLE_RECORD, words))
        return Ledger(
            info,
            walk.before(),
            walk.turns(),
            {n: tuple(rows) for n, rows in walk.other.items()},
            marks,
            tuple(self._hidden),
            now,
            problems,
            tuple(missing),
            self,
        )

    @property
    def model(self) -> Model:
        """The newest model of the active branch."""
        return self._walk.model if self._walk else Model(None, None)


def _mark_return(walk: Walk, entry: Entry, left: list[tuple[Left, str | None]] | tuple[()], turns: dict[str, int]) -> None:
    """Record that a branch was left, before the first entry written after it; with a summary that is one event."""
    rows = [(b, fork) for b, fork in left if turns.get(b.root.id)]
    if entry.row is Row.BRANCH:
        refs = {"summary": entry.id}
        if entry.target:
            refs["message"] = entry.target
        counts = {"turns": sum(turns[b.root.id] for b, _ in rows)} if rows else {}
        walk.mark(MarkKind.BRANCH, entry.at, "summarised", refs, counts=counts)
        return
    for branch, fork in rows:
        refs = {"message": branch.root.id} | ({"parent": fork} if fork else {})
        walk.mark(MarkKind.BRANCH, entry.at, refs=refs, counts={"turns": turns[branch.root.id], "entries": branch.count})


_KNOWN_TYPES = frozenset(
    {
        "message",
        "compaction",
        "branch_summary",
        "custom_message",
        "context_edit",
        "model_change",
        "thinking_level_change",
        "session_info",
        "label",
        "custom",
        "usage",
    }
)
