"""The list of a database's sessions: light columns only, never the event log, never text of a message."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from time import time
from typing import Any

import msgspec
from ctx_inspect.core.model import Estimated, Known, Model, ProblemCode, Raw, SessionInfo
from ctx_inspect.core.model.ledger import NO_MODEL, NO_ORIGIN
from ctx_inspect.core.model.values import replace
from ctx_inspect.core.project import project_of
from ctx_inspect.core.sources.opencode.constants import HELPERS, LAST_MIGRATION
from ctx_inspect.core.sources.opencode.decode import when
from ctx_inspect.core.sources.opencode.ledger import Pending
from ctx_inspect.core.sources.opencode.records import UNREADABLE
from ctx_inspect.core.sources.sqlite import Damaged, Reader
from msgspec import Struct, field

LIST_TABLES = frozenset({"session", "message", "session_message", "session_v2", "migration"})
"""The only tables that a list can read."""

FORMAT, FORMAT_2, FORMAT_JSON = "opencode-1", "opencode-2", "opencode-json"
LIVE_MS = 60_000
_WANTED = ("id", "parent_id", "title", "directory", "project_id", "agent", "model", "version", "revert", "time_created", "time_updated")


class Found(Struct, frozen=True):
    """A session's row: what the list shows, and what opening it needs."""

    info: SessionInfo
    pending: Pending | None = None


class Sessions(Struct):
    """All sessions of one database by id, newest first."""

    found: dict[str, Found] = field(default_factory=dict[str, Found])


class _Model(msgspec.Struct):
    id: str | None = None
    modelID: str | None = None
    providerID: str | None = None


class _Revert(msgspec.Struct):
    messageID: str
    partID: str | None = None


def sessions(reader: Reader, path: Raw, only: str | None = None) -> Sessions:
    """Read the session rows.

    Args:
        reader: A connection that may read :data:`LIST_TABLES`.
        path: The database, for the rows.
        only: The one session that is wanted.
    """
    made: dict[str, Found] = {}
    now = int(time() * 1000)
    columns = reader.columns("session")
    if "id" not in columns:
        reader.note(ProblemCode.SCHEMA_UNKNOWN, "The database has no table of sessions that is known.")
        return Sessions()
    _check_schema(reader)
    for row in _rows(reader, "session", columns, only):
        found = _found(row, path, FORMAT, now)
        made[found.info.id] = found
    second = reader.columns("session_v2")
    if "id" in second:
        for row in _rows(reader, "session_v2", second, only):
            found = _found(row, path, FORMAT_2, now)
            made.setdefault(found.info.id, found)
    _generations(reader, made, only)
    if only is None:
        _forks(reader, made)
    else:
        _fork_of(reader, made, only)
    order = sorted(made.values(), key=lambda f: (-(f.info.updated or 0), f.info.id))
    return Sessions({f.info.id: f for f in order})


def _rows(reader: Reader, table: str, columns: Collection[str], only: str | None) -> list[Sequence[Any]]:
    """Return the rows of a table of sessions, as far as they can be read: one value per name in ``_WANTED``."""
    wanted = [c if c in columns else "NULL" for c in _WANTED]
    rows: list[Sequence[Any]] = []
    try:
        if only is None:
            rows.extend(reader.at_once(wanted, f"FROM {table}"))
        else:
            rows.extend(reader.rows(f"SELECT {', '.join(wanted)} FROM {table} WHERE id = ?", (only,)))
    except Damaged:
        reader.note(ProblemCode.CORRUPT, "A page of the database is damaged: some sessions cannot be listed; the others are.")
    return rows


def _found(row: Sequence[Any], path: Raw, form: str, now: int) -> Found:
    raw_id, raw_parent, raw_title, raw_directory, project, agent, model, _version, revert, born, moved = row
    id, parent, directory, title, updated = str(raw_id), _text(raw_parent), _text(raw_directory), _text(raw_title), _time(moved)
    info = SessionInfo(
        f"opencode:{id}",
        "opencode",
        id,
        title,
        directory,
        _time(born),
        updated,
        path,
        form,
        project_of(directory) if directory else None,
        _text(project),
        f"opencode:{parent}" if parent else None,
        live=updated is not None and 0 <= now - updated < LIVE_MS,
        agent=_text(agent),
        model=_model(model) if isinstance(model, str) else NO_MODEL,
        helper=_helper(title) if parent else None,
    )
    return Found(info, _pending(revert) if revert is not None else None)


def _text(value: object) -> Raw | None:
    return Raw(value) if isinstance(value, str) and value else None


def _time(value: object) -> int | None:
    return when(value) if isinstance(value, int) else None


@lru_cache(maxsize=256)
def _model(value: str) -> Model:
    try:
        m = msgspec.json.decode(value, type=_Model)
    except UNREADABLE:
        m = _Model()
    return Model(_text(m.providerID), _text(m.id or m.modelID))


def _pending(value: object) -> Pending | None:
    try:
        r = msgspec.json.decode(value, type=_Revert) if isinstance(value, str) else None
    except UNREADABLE:
        return None
    return Pending(r.messageID, r.partID) if r else None


def _helper(title: str | None) -> str | None:
    return next((plugin for start, plugin in HELPERS.items() if title and title.startswith(start)), None)


def _check_schema(reader: Reader) -> None:
    if "id" not in reader.columns("migration"):
        return
    newest = reader.row("SELECT max(id) FROM migration")
    if newest and isinstance(newest[0], str) and newest[0] > LAST_MIGRATION:
        reader.note(
            ProblemCode.SCHEMA_NEWER,
            f"The database was written by an OpenCode newer than the one known here (migrations after {LAST_MIGRATION[:8]});"
            " what its known tables hold is shown.",
        )


def _generations(reader: Reader, made: dict[str, Found], only: str | None) -> None:
    """Tell which sessions keep their messages in the tables of the second generation; never both are read."""
    if "session_id" not in reader.columns("session_message"):
        return
    if "session_id" not in reader.columns("message"):
        second = {r[0] for r in reader.rows("SELECT DISTINCT session_id FROM session_message")}
    else:
        sql = (
            "SELECT id FROM session s WHERE EXISTS (SELECT 1 FROM session_message n WHERE n.session_id = s.id)"
            " AND NOT EXISTS (SELECT 1 FROM message m WHERE m.session_id = s.id)" + (" AND id = ?" if only is not None else "")
        )
        second = {r[0] for r in reader.rows(sql, (only,) if only is not None else ())}
    second = {id for id in second if id in made}
    for id in second:
        made[id] = replace(made[id], info=replace(made[id].info, format=FORMAT_2))
    n = sum(1 for f in made.values() if f.info.format == FORMAT_2)
    if n:
        reader.note(
            ProblemCode.SCHEMA_NEWER,
            f"{n} session{'s are' if n > 1 else ' is'} stored by OpenCode's second generation (session_message): listed, not read by this version.",
        )


_FIRST = "(SELECT time_created FROM message m WHERE m.session_id = s.id ORDER BY time_created LIMIT 1)"


def _forks(reader: Reader, made: dict[str, Found]) -> None:
    """Find forks: a copy keeps the times of its messages, so its first one is older than the session."""
    if "time_created" not in reader.columns("message"):
        return
    forks = {
        id: at
        for id, born, at in reader.at_once(("s.id", "s.time_created", _FIRST), f"FROM session s WHERE {_FIRST} < s.time_created")
        if isinstance(at, int) and isinstance(born, int) and id in made
    }
    if not forks:
        return
    first: dict[int, list[str]] = {}
    for id, at in reader.at_once(("s.id", _FIRST), "FROM session s"):
        if isinstance(at, int) and id in made:
            first.setdefault(at, []).append(id)
    for id, at in forks.items():
        candidates = [c for c in first[at] if c != id]
        made[id] = replace(made[id], info=replace(made[id].info, forked_from=_origin(reader, made, id, candidates)))


def _fork_of(reader: Reader, made: dict[str, Found], id: str) -> None:
    if id not in made or "time_created" not in reader.columns("message"):
        return
    row = reader.row(f"SELECT s.time_created, {_FIRST} FROM session s WHERE s.id = ?", (id,))
    if row is None or not isinstance(row[1], int) or not isinstance(row[0], int) or row[1] >= row[0]:
        return
    candidates = [c for c, at in reader.rows(f"SELECT s.id, {_FIRST} FROM session s WHERE s.id <> ?", (id,)) if at == row[1]]
    born = dict(reader.rows("SELECT id, time_created FROM session"))
    older = [c for c in candidates if isinstance(born.get(c), int) and born[c] < row[0]]
    made[id] = replace(made[id], info=replace(made[id].info, forked_from=_closest(reader, id, older, born)))


def _origin(reader: Reader, made: dict[str, Found], id: str, candidates: list[str]) -> Known[str]:
    born = {c: made[c].info.started or 0 for c in candidates}
    own = made[id].info.started or 0
    return _closest(reader, id, [c for c in candidates if born[c] < own], born)


def _closest(reader: Reader, id: str, older: list[str], born: Mapping[str, int]) -> Known[str]:
    """Return the older session that shares most message times with a fork; of equals the newest with no rows of its own between."""
    if not older:
        return NO_ORIGIN
    best = older[0]
    if len(older) > 1:
        sql = (
            "SELECT count(*) FROM message a WHERE a.session_id = ? AND EXISTS"
            " (SELECT 1 FROM message b WHERE b.session_id = ? AND b.time_created = a.time_created)"
        )
        shared = {c: (reader.row(sql, (id, c)) or (0,))[0] for c in older}
        best = max(older, key=lambda c: (shared[c], -born[c]))
    return Estimated(f"opencode:{best}", "equal message times")
