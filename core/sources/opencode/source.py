"""OpenCode's stores as one :class:`Source`: a database, a ``storage`` folder, or a data folder with both."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ctx_inspect.core.model import Known, Ledger, Listing, Model, Problem, ProblemCode, Raw, Ref, SessionInfo, Window
from ctx_inspect.core.model.values import replace
from ctx_inspect.core.sources.base import Change, Environment, NoSession, SourceError
from ctx_inspect.core.sources.opencode import json_store
from ctx_inspect.core.sources.opencode.config import window
from ctx_inspect.core.sources.opencode.fetch import Fetched, Snapshot, fetch
from ctx_inspect.core.sources.opencode.ledger import build
from ctx_inspect.core.sources.opencode.listing import FORMAT_2, LIST_TABLES, Found, sessions
from ctx_inspect.core.sources.opencode.log import Log, logged_part, removals
from ctx_inspect.core.sources.opencode.places import databases_in, has_json_sessions
from ctx_inspect.core.sources.opencode.records import LOGGED
from ctx_inspect.core.sources.opencode.story import Story
from ctx_inspect.core.sources.opencode.text import GONE, TOO_LARGE, UNREADABLE_ROW, constant_text, field_text
from ctx_inspect.core.sources.sqlite import Damaged, Reader, TooLarge, read
from ctx_inspect.core.sources.stamps import Stamp, beside, stamp
from msgspec import Struct

_OPEN_TABLES = LIST_TABLES | {"part", "event"}
_CHANGE_TABLES = frozenset({"session", "event_sequence"})


class _Private(Struct, frozen=True):
    """What opening a session again starts from."""

    snapshot: Snapshot
    log: Log
    story: Story
    file: tuple[int, int] | None


class _Seen(Struct, frozen=True):
    """Cursor of a database: its stamp, and per session what moves with every write (``None``: not read yet)."""

    stamp: Stamp
    sessions: Mapping[str, tuple[object, ...]] | None
    exact: bool


class _Files(Struct, frozen=True):
    """Cursor of a ``storage`` folder."""

    stamps: frozenset[tuple[str, int, int]]


class _Cursors(Struct, frozen=True):
    """Cursor of a source: one per store."""

    each: tuple[object, ...]


class Database:
    """One database file."""

    def __init__(self, path: Path) -> None:
        """Take the path; nothing is opened."""
        self.path = path

    def watch_paths(self) -> list[Path]:
        """Return the database and its ``-wal``."""
        return [self.path, beside(self.path, "-wal")]

    def sessions(self) -> Listing:
        """List the sessions."""
        found = read(self.path, lambda r: sessions(r, Raw(str(self.path))), tables=LIST_TABLES)
        return Listing(tuple(f.info for f in found.value.found.values()), found.problems)

    def open(self, session: str, prior: Ledger | None) -> Ledger:
        """Read a session."""
        before = prior.private if prior is not None and isinstance(prior.private, _Private) else None
        file = stamp(self.path).file
        if before is not None and before.file != file:
            before = None

        def work(reader: Reader) -> tuple[Found, Fetched | None, Log]:
            found = sessions(reader, Raw(str(self.path)), session).found.get(session)
            if found is None:
                raise NoSession(session)
            if found.info.format == FORMAT_2:
                return found, None, Log()
            rows = fetch(reader, session, before.snapshot if before else None)
            log = removals(reader, session, rows.ids, before.log if before else None) if reader.columns("event") else Log()
            return found, rows, log

        result = read(self.path, work, tables=_OPEN_TABLES)
        found, fetched, log = result.value
        rows = fetched.snapshot() if fetched is not None else Snapshot()  # decoded when the connection is closed
        ledger, story = build(found.info, rows.entries, found.pending, log, result.problems, before.story if before else None)
        return replace(ledger, private=_Private(rows, log, story, file))

    def text(self, ref: Ref) -> bytes | None:
        """Return the JSON of the row that a ref points to.

        Raises:
            TooLarge: It is longer than what is read.
            Damaged: Its page is damaged.
        """

        def work(reader: Reader) -> tuple[bytes | None, type[Exception] | None]:
            try:
                if ref.row.startswith(LOGGED):
                    return logged_part(reader, ref.session, int(ref.row.removeprefix(LOGGED))), None
                row = reader.row("SELECT CAST(data AS BLOB) FROM part WHERE id = ? AND session_id = ?", (ref.row, ref.session))
            except (Damaged, TooLarge) as error:
                return None, type(error)
            return (row[0] if row else None), None

        data, refused = read(self.path, work, tables={"part", "event"} if ref.row.startswith(LOGGED) else {"part"}).value
        if refused is not None:
            raise refused
        return data

    def changed(self, since: object | None) -> Change:
        """Tell what is new."""
        now = stamp(self.path)
        if now.db is None:
            return Change(since, gone=True)
        if not isinstance(since, _Seen):
            # A stat is enough to tell later that something moved. Rows are read with the next look: whoever starts to
            # watch lists the sessions now, and must not wait for this.
            return Change(_Seen(now, None, exact=False), None, listing=True)
        old = since.sessions
        if since.stamp == now and old is not None:
            return Change(since)
        seen, exact = read(self.path, _moves, tables=_CHANGE_TABLES).value
        cursor = _Seen(now, seen, exact)
        if old is None:
            return Change(cursor) if since.stamp == now == stamp(self.path) else Change(cursor, None, listing=True)
        if since.stamp.file != now.file or not exact:
            return Change(cursor, None, listing=True)
        ids = frozenset(id for id in seen.keys() | old.keys() if seen.get(id) != old.get(id))
        listing = seen.keys() != old.keys() or any(seen[id][:-2] != old[id][:-2] for id in ids)
        return Change(cursor, ids, listing)


def _moves(reader: Reader) -> tuple[Mapping[str, tuple[object, ...]], bool]:
    """Return (what the list shows…, time of the last change, newest event) per session, and whether every write moves it."""
    have = reader.columns("session")
    if "id" not in have:
        return {}, False
    exact = {"aggregate_id", "seq"} <= reader.columns("event_sequence")
    events: dict[str, int] = dict(reader.at_once(("aggregate_id", "seq"), "FROM event_sequence")) if exact else {}
    wanted = [c if c in have else "NULL" for c in ("id", "title", "parent_id", "directory", "agent", "model", "time_updated")]
    seen: dict[str, tuple[object, ...]] = {row[0]: (*row[1:], events.get(row[0])) for row in reader.at_once(wanted, "FROM session")}
    return seen, exact and all(row[-1] is not None for row in seen.values())


class JsonFolder:
    """One ``storage`` folder."""

    def __init__(self, path: Path) -> None:
        """Take the path; nothing is read."""
        self.path = path

    def watch_paths(self) -> list[Path]:
        """Return the folder of its sessions."""
        return [self.path / "session", self.path / "message"]

    def sessions(self) -> Listing:
        """List the sessions that no database beside it holds."""
        return json_store.as_listing(*json_store.listing(self.path))

    def open(self, session: str, prior: Ledger | None) -> Ledger:
        """Read a session."""
        found = json_store.listing(self.path)[0].get(session)
        if found is None:
            raise NoSession(session)
        entries, problems = json_store.entries(self.path, session)
        return build(found.info, entries, found.pending, Log(), problems)[0]

    def text(self, ref: Ref) -> bytes | None:
        """Return the JSON of the part that a ref points to."""
        return json_store.part_file(self.path, ref.session, ref.row)

    def changed(self, since: object | None) -> Change:
        """Tell what is new."""
        now = json_store.stamps(self.path)
        if not isinstance(since, _Files):
            return Change(_Files(now), None, listing=True)
        ids = frozenset(name for name, *_ in now ^ since.stamps)
        return Change(_Files(now), ids, listing=bool(ids))


class OpenCodeSource:
    """OpenCode's sessions, read-only: what :class:`ctx_inspect.core.sources.base.Source` promises."""

    kind = "opencode"

    def __init__(self, path: Path, env: Environment | None = None, home: Path | None = None) -> None:
        """Take a store.

        Args:
            path: A database, a data folder, or a ``storage`` folder.
            env: Environment for the configuration's places; the process's by default.
            home: The user's home directory; the process's by default.

        Raises:
            SourceError: A folder holds neither a database nor sessions.
        """
        self.path = path
        self._env, self._home = os.environ if env is None else env, home or Path.home()
        self._stores: list[Database | JsonFolder] = _stores(path)
        self._where: dict[str, Database | JsonFolder] = {}
        self._directory: dict[str, Raw | None] = {}

    def watch_paths(self) -> Sequence[Path]:
        """Return the files whose ``stat`` tells of news."""
        return [p for store in self._stores for p in store.watch_paths()]

    def sessions(self) -> Listing:
        """List the sessions, newest first; raises as the protocol says."""
        found: dict[str, SessionInfo] = {}
        problems: list[Problem] = []
        failed: list[SourceError] = []
        for store in self._stores:
            try:
                listing = store.sessions()
            except SourceError as error:
                failed.append(error)
                problems.append(Problem(Raw(str(error.path)), error.code, error.message))
                continue
            problems.extend(listing.problems)
            for info in listing.sessions:
                if info.id not in found:
                    found[info.id] = info
                    self._where[info.id] = store
                    self._directory[info.id] = info.directory
        if failed and len(failed) == len(self._stores):
            raise failed[0]
        return Listing(tuple(sorted(found.values(), key=lambda i: (-(i.updated or 0), i.id))), tuple(problems))

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        """Read a session; raises as the protocol says."""
        with _no_collection():
            return self._open(session, prior)

    def _open(self, session: str, prior: Ledger | None) -> Ledger:
        known = self._where.get(session)
        stores = [known] if known else self._stores
        failed: SourceError | None = None
        for store in stores:
            try:
                ledger = store.open(session, prior)
            except NoSession:
                continue
            except SourceError as error:
                failed = error
                continue
            self._where[session] = store
            self._directory[session] = ledger.info.directory
            return ledger
        self._where.pop(session, None)
        if failed is not None:
            raise failed
        raise NoSession(session)

    def changed(self, since: object | None) -> Change:
        """Tell what is new since the cursor of an earlier call."""
        old = since.each if isinstance(since, _Cursors) else (None,) * len(self._stores)
        changes = [store.changed(cursor) for store, cursor in zip(self._stores, old, strict=True)]
        ids: set[str] = set()
        unsure = False
        for change in changes:
            unsure |= change.ids is None
            ids |= change.ids or frozenset()
        return Change(
            _Cursors(tuple(c.cursor for c in changes)),
            None if unsure else frozenset(ids),
            any(c.listing for c in changes),
            all(c.gone for c in changes),
        )

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        """Read the text a ref points to, as the model got it."""
        own = constant_text(ref.field, limit)
        if own is not None:
            return own
        known = self._where.get(ref.session)
        for store in [known] if known else self._stores:
            try:
                data = store.text(ref)
            except TooLarge:
                return TOO_LARGE
            except (Damaged, SourceError):
                return UNREADABLE_ROW
            if data is not None:
                return field_text(data, ref.field, limit)
        return GONE

    def window(self, model: Model, session: str | None = None) -> Window:
        """Tell what OpenCode's configuration says of a model's window, and when it compacts."""
        return window(model, self._env, self._home, self._directory.get(session or ""))


@contextmanager
def _no_collection() -> Generator[None]:
    """Make a large, acyclic ledger without the collector walking all of it again and again (half the time of a long session)."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _stores(path: Path) -> list[Database | JsonFolder]:
    if not path.is_dir():
        return [Database(path)]
    if has_json_sessions(path):
        return [JsonFolder(path)]
    stores: list[Database | JsonFolder] = [Database(p) for p in databases_in(path)]
    if has_json_sessions(path / "storage"):
        stores.append(JsonFolder(path / "storage"))
    if not stores:
        raise SourceError(ProblemCode.NOT_A_STORE, "the folder holds neither an OpenCode database nor its session files", path)
    return stores
