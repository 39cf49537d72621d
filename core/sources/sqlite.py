"""Guarded, read-only reading of SQLite databases that belong to somebody else.

One call opens a database, reads and closes it again: no connection outlives its read, because a held one would stop
the owner's last checkpoint. Nothing is locked, migrated, checkpointed or copied, and views, attached databases and
tables that were not asked for cannot be read at all. docs/security.md says what is promised.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Generic, TypeVar

import msgspec
from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.sources.alone import alone
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.stamps import Stamp, beside, stamp
from msgspec import Struct, field

T = TypeVar("T")
Row = tuple[Any, ...]

ROW_LIMIT = 32 * 1024 * 1024
"""Bytes of one value above which it is not read at all: real stores hold rows of 300 MB."""

WAIT = 1.0
"""Seconds to wait for a lock of the owner's before giving up."""

DEADLINE = 20.0
"""Seconds after which a read is stopped."""

MOST_NAMED = 200
"""Problems of one read that are named one by one."""

_AGAIN = 0.01
_STEPS = 20_000
_OK, _DENY = 0, 1


class _Closed(Exception):
    """The owner closed the database in this moment; it can be read as a snapshot."""


class TooLarge(Exception):
    """A value is longer than the limit; it was not read."""


class Damaged(Exception):
    """A page of the database is damaged."""


class Reader(Struct):
    """An open connection, for as long as one read lasts."""

    path: Path
    connection: sqlite3.Connection
    noted: int = 0
    """How often something could not be read."""
    _found: dict[Problem, None] = field(default_factory=dict[Problem, None])
    _more: int = 0

    @property
    def problems(self) -> list[Problem]:
        """What could not be read: each once, and of very many only the first ones and how many more there are."""
        found = list(self._found)
        if self._more:
            words = f"{self._more:,} more that cannot be read are not named one by one."
            found.append(Problem(Raw(str(self.path)), ProblemCode.UNREADABLE_RECORD, words))
        return found

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
        """Yield the rows of a query.

        Raises:
            TooLarge: A value of the next row is longer than the limit.
            Damaged: The next row lies on a damaged page.
            SourceError: The database is locked, or reading took too long.
        """
        try:
            yield from self.connection.execute(sql, parameters)
        except sqlite3.Error as error:
            raise self._known(error) from None

    def row(self, sql: str, parameters: tuple[Any, ...] = ()) -> Row | None:
        """Return the first row of a query; raises as :meth:`rows`."""
        return next(iter(self.rows(sql, parameters)), None)

    def at_once(self, columns: Sequence[str], rest: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
        """Yield the rows of a query, made in a single step of SQLite.

        Each step lets other threads run and then waits for its turn again, up to a millisecond: 3,000 rows one by one take
        ten times as long as they cost while the screen is busy. What cannot be told in one step (odd types, bytes that are no
        text, damage, very much) is read row by row.

        Args:
            columns: Expressions.
            rest: What follows them in the query, from ``FROM`` on.
            parameters: Values of its placeholders.

        Raises:
            TooLarge, Damaged, SourceError: As :meth:`rows`.
        """
        made: Iterable[Row] | None = None
        try:
            with closing(self.connection.execute(f"SELECT json_group_array(json_array({', '.join(columns)})) {rest}", parameters)) as found:
                made = msgspec.json.decode(found.fetchone()[0], type=list[tuple[Any, ...]])
        except sqlite3.Error as error:
            known = self._known(error)
            if isinstance(known, SourceError) and known.code is not ProblemCode.SCHEMA_UNKNOWN:
                raise known from None
        except (msgspec.DecodeError, UnicodeError):
            pass
        yield from self.rows(f"SELECT {', '.join(columns)} {rest}", parameters) if made is None else made

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns; empty where there is no such table (a view is none)."""
        kind = self.row("SELECT type FROM sqlite_master WHERE name = ?", (table,))
        if kind is None or kind[0] != "table" or not table.isidentifier():
            return frozenset()
        return frozenset(str(r[1]) for r in self.rows(f"PRAGMA table_info({table})"))

    def head(self, table: str, column: str, rowid: int, size: int) -> tuple[bytes, int]:
        """Return the first ``size`` bytes of a value of any length, and its length; the rest is never read.

        Raises:
            Damaged: It cannot be read.
        """
        try:
            with self.connection.blobopen(table, column, rowid, readonly=True) as blob:
                return blob.read(size), len(blob)
        except sqlite3.Error:
            raise Damaged from None

    def note(self, code: ProblemCode, message: str) -> None:
        """Record something that could not be read; the same words are recorded once."""
        self.noted += 1
        problem = Problem(Raw(str(self.path)), code, message)
        if problem in self._found:
            return
        if len(self._found) < MOST_NAMED:
            self._found[problem] = None
        else:
            self._more += 1

    def _known(self, error: sqlite3.Error) -> Exception:
        code = getattr(error, "sqlite_errorcode", None)
        primary = code & 0xFF if isinstance(code, int) else None
        if primary == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
            return TooLarge()
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR) or (primary is None and isinstance(error, sqlite3.OperationalError)):
            return Damaged()
        return _refusal(error, self.path)


class Read(Struct, Generic[T], frozen=True):
    """What a read gave; its connection is closed.

    Attributes:
        value: What the work returned.
        reader: Takes notes of what turns out to be unreadable when that is decoded.
        first: What is to be said of the whole database.
    """

    value: T
    reader: Reader
    first: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, as far as it is known by now."""
        return (*self.first, *self.reader.problems)


def read(
    path: Path,
    work: Callable[[Reader], T],
    *,
    tables: Collection[str],
    limit: int = ROW_LIMIT,
    wait: float = WAIT,
    deadline: float = DEADLINE,
) -> Read[T]:
    """Open a database, hand it to ``work``, and close it.

    Without rows in a ``-wal`` the database is read as an immutable snapshot, which leaves no side file; if anything
    moved meanwhile, that read is thrown away and done again. A lock is waited for here and not by SQLite: the owner
    may just be closing, and whoever waits for that and then opens the database makes the side files anew.

    Args:
        path: The database.
        work: Reads what it needs; it may be called several times, so it only returns.
        tables: The only tables that can be read.
        limit: Bytes of the longest value that is read.
        wait: Seconds to wait for a lock.
        deadline: Seconds after which the read is stopped.

    Raises:
        SourceError: It is not there, no SQLite database, locked, may not be read, or reading takes too long.
    """
    until = monotonic() + wait
    while True:
        before = check(path)
        late = monotonic() >= until
        try:
            if before.rows_in_wal or before.journal or (late and not _keeps_wal(path)):
                return _once(path, work, tables, "mode=ro", limit, 0.0 if before.wal else wait, deadline)
            found = _once(path, work, tables, "immutable=1", limit, 0.0, deadline)
            if stamp(path) == before:
                return found
        except _Closed:
            pass
        except SourceError as error:
            if error.code is ProblemCode.WAL_NOT_READABLE:
                break
            if (late or error.code is not ProblemCode.LOCKED) and (before.rows_in_wal or stamp(path) == before):
                raise
        if late:
            raise SourceError(ProblemCode.LOCKED, "the database changes faster than it can be read", path)
        sleep(_AGAIN)
    found = _once(path, work, tables, "immutable=1", limit, wait, deadline)
    note = Problem(
        Raw(str(path)),
        ProblemCode.WAL_NOT_READABLE,
        "The newest rows lie in a side file (-wal) that cannot be read here: its folder may not be written and it has no -shm."
        " Shown is what the database held at its last checkpoint; open it as the user who runs the agent.",
    )
    return Read(found.value, found.reader, (note,))


def check(path: Path) -> Stamp:
    """Look at a database before it is opened.

    Raises:
        SourceError: It is missing, no regular file, empty, or may not be read.
    """
    try:
        mode = path.stat()
    except OSError as error:
        raise _unreadable(error, path) from None
    except ValueError:
        raise SourceError(ProblemCode.NOT_A_STORE, "its name is no file name", path) from None
    if stat.S_ISDIR(mode.st_mode):
        raise SourceError(ProblemCode.NOT_A_STORE, "it is a folder, not a database", path)
    if not stat.S_ISREG(mode.st_mode):
        raise SourceError(ProblemCode.NOT_A_STORE, "it is a pipe, socket or device, not a database", path)
    if not os.access(path, os.R_OK):
        raise SourceError(ProblemCode.PERMISSION, "no permission to read it", path)
    found = stamp(path)
    if mode.st_size == 0 and not found.rows_in_wal:
        raise SourceError(ProblemCode.NOT_A_STORE, "the file is empty", path)
    return found


def _unreadable(error: OSError, path: Path) -> SourceError:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return SourceError(ProblemCode.GONE, "there is no such file", path)
        case errno.EACCES | errno.EPERM:
            return SourceError(ProblemCode.PERMISSION, "no permission to read it", path)
        case errno.ELOOP:
            return SourceError(ProblemCode.NOT_A_STORE, "it is a loop of links", path)
        case _:
            return SourceError(ProblemCode.NOT_A_STORE, "the system cannot open it", path)


def _once(path: Path, work: Callable[[Reader], T], tables: Collection[str], mode: str, limit: int, wait: float, deadline: float) -> Read[T]:
    with alone(path):
        return _read_once(path, work, tables, mode, limit, wait, deadline)


def _read_once(
    path: Path, work: Callable[[Reader], T], tables: Collection[str], mode: str, limit: int, wait: float, deadline: float
) -> Read[T]:
    # realpath: side files lie beside the file that a link points to
    uri = f"{Path(os.path.realpath(path)).as_uri()}?mode=ro" + ("&immutable=1" if mode == "immutable=1" else "")
    wal = beside(path, "-wal") if mode == "mode=ro" and _keeps_wal(path) else None
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None, cached_statements=32)
        _guard(connection, frozenset(tables), limit, deadline)
        reader = Reader(path, connection)
        if wal is not None and not os.path.lexists(wal):
            raise _Closed  # the last moment before SQLite opens the -wal, which it would make anew
        reader.row("SELECT count(*) FROM sqlite_master")  # what cannot be opened fails here, before any work
        return Read(work(reader), reader)
    except sqlite3.Error as error:
        raise _refusal(error, path) from None
    except Damaged:
        raise SourceError(ProblemCode.CORRUPT, "a page of the database is damaged where its tables are listed or indexed", path) from None
    except TooLarge:
        raise SourceError(ProblemCode.TOO_LARGE, "a value in it is too long to be read", path) from None
    finally:
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()


def _guard(connection: sqlite3.Connection, tables: frozenset[str], limit: int, deadline: float) -> None:
    """Make a connection unable to do anything but read these tables."""
    for pragma in ("query_only=1", "temp_store=MEMORY", "trusted_schema=0", "cell_size_check=1", "mmap_size=0"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    allowed = tables | {"sqlite_master"}

    def authorize(action: int, one: str | None, two: str | None, _db: str | None, inner: str | None) -> int:
        match action:
            case sqlite3.SQLITE_SELECT:
                return _OK
            case sqlite3.SQLITE_READ:
                # `inner` names a view or trigger that the read comes from: neither is ours
                return _OK if one in allowed and inner is None else _DENY
            case sqlite3.SQLITE_FUNCTION:
                return _DENY if two == "load_extension" else _OK
            case sqlite3.SQLITE_PRAGMA:
                return _OK if one == "table_info" else _DENY
            case _:
                return _DENY

    connection.set_authorizer(authorize)
    end = monotonic() + deadline
    connection.set_progress_handler(lambda: int(monotonic() > end), _STEPS)


def _refusal(error: sqlite3.Error, path: Path) -> SourceError:
    code = getattr(error, "sqlite_errorcode", 0) or 0
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return SourceError(ProblemCode.LOCKED, "the database is locked by another program", path)
        case sqlite3.SQLITE_INTERRUPT:
            return SourceError(ProblemCode.TOO_LARGE, "reading it took too long and was stopped", path)
        case sqlite3.SQLITE_NOTADB:
            return SourceError(ProblemCode.NOT_A_STORE, "it is not a SQLite database (or an encrypted one)", path)
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_IOERR:
            return SourceError(ProblemCode.CORRUPT, "a page of the database is damaged where its tables are listed or indexed", path)
        case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return SourceError(ProblemCode.WAL_NOT_READABLE, "its side file (-wal) cannot be read here", path)
        case sqlite3.SQLITE_AUTH:
            return SourceError(ProblemCode.SCHEMA_UNKNOWN, "it does not hold the tables that are known, or holds them as views", path)
        case sqlite3.SQLITE_ERROR:
            return SourceError(ProblemCode.SCHEMA_UNKNOWN, "its tables are not the ones that are known", path)
        case _:
            return SourceError(ProblemCode.CORRUPT, "SQLite cannot read it", path)


def _keeps_wal(path: Path) -> bool:
    """Tell by its header whether a database keeps a ``-wal`` while it is open. No connection to it may be open."""
    return _head(path, 20)[18:20] == b"\x02\x02"


def is_sqlite(path: Path) -> bool:
    """Tell by its first bytes whether a file is a SQLite database. Never raises."""
    return _head(path, 16) == b"SQLite format 3\0"


def _head(path: Path, size: int) -> bytes:
    with alone(path):
        return _first_bytes(path, size)


def _first_bytes(path: Path, size: int) -> bytes:
    try:
        # O_NONBLOCK: opening a pipe must not wait for a writer
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(handle)
