"""Writes real OpenCode 1.18 databases: the same tables, rows and event log, in the words of this project.

    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session("Fix the build")
        s.user("please fix it")
        s.step("looking", tool("bash", {"command": "make"}, "no rule"), usage=Usage(100, 20))
        s.step("done")

Ids and times are deterministic: a clock starts at ``start`` and moves ``tick`` per row. Rows are visible to other
connections after ``flush()`` (they lie in the ``-wal`` while the builder is open) and in the database after ``close()``.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.builders.opencode_parts import Data, Usage, text
from tests.builders.opencode_rows import Rows, dumps
from tests.builders.opencode_schema import INDEXES, MIGRATIONS, TABLES

START = 1_790_000_000_000
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

OPEN: weakref.WeakSet[OpenCodeDB] = weakref.WeakSet()
"""Databases that may still be open: the tests' ``conftest`` closes those that a test leaves so."""


def _shut(db: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # another thread may be the one that collects it
        db.close()


class OpenCodeDB:
    """One database. ``log`` says whether the event log is written too, as OpenCode does."""

    def __init__(
        self,
        path: Path,
        *,
        start: int = START,
        tick: int = 1000,
        log: bool = True,
        version: str = "1.18.33",
        without: Sequence[str] = (),
        migrations: Sequence[str] = MIGRATIONS,
        directory: str = "/home/dev/proj",
    ) -> None:
        self.path, self.now, self.tick, self.log, self.version = path, start, tick, log, version
        self.directory, self.project = directory, "4538b48ff4447c2c7ba60c72315d905214e97ddc"
        self._n = self._last = self._count = 0
        self._seq: dict[str, int] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self.db = sqlite3.connect(path, isolation_level=None)
        weakref.finalize(self, _shut, self.db)  # a test that is done with it need not say so: Python 3.13 warns of what is left open
        OPEN.add(self)
        self.db.execute("PRAGMA journal_mode=wal")
        self.db.execute("PRAGMA synchronous=OFF")
        self.db.execute("BEGIN")
        for name, sql in TABLES.items():
            if name not in without:
                self.db.execute(sql)
        for sql in INDEXES.values():
            if sql.split(" ON ")[1].split()[0] not in without:
                self.db.execute(sql)
        for m in migrations:
            self.db.execute("INSERT INTO migration VALUES (?, ?)", (m, start))
        if "project" not in without:
            self.db.execute(
                "INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?, ?, 'git', ?, ?, '[]')",
                (self.project, directory, start, start),
            )

    def __enter__(self) -> OpenCodeDB:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- clock and ids -------------------------------------------------------------------------------------

    def step_clock(self, ms: int | None = None) -> int:
        """Move the clock by ``ms`` (default: one tick) and return the new time."""
        self.now += self.tick if ms is None else ms
        return self.now

    def id(self, prefix: str, descending: bool = False) -> str:
        """Make the next id: 48 bits of ``ms * 4096 + counter``, then 14 characters."""
        self._n += 1
        self._last, self._count = (self.now, 1) if self.now > self._last else (self._last, self._count + 1)
        bits = (self._last * 4096 + self._count) & (2**48 - 1)
        if descending:
            bits ^= 2**48 - 1
        x, tail = self._n * 2654435761 + 12345, ""
        for _ in range(14):
            x = (x * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)
            tail += _BASE62[(x >> 33) % 62]
        return f"{prefix}_{bits:012x}{tail}"

    # -- files ---------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """Commit: other connections see the rows, which lie in the ``-wal``."""
        if self.db.in_transaction:
            self.db.execute("COMMIT")
        self.db.execute("BEGIN")

    def checkpoint(self) -> None:
        """Move the rows of the ``-wal`` into the database; the ``-wal`` stays, as with a running agent."""
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("BEGIN")

    def lock(self) -> sqlite3.Connection:
        """Return another connection that keeps the database locked against every reader until it is closed."""
        self.flush()
        self.db.execute("COMMIT")
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self.db.execute("BEGIN EXCLUSIVE")
        self.db.execute("UPDATE migration SET time_completed = time_completed")
        return self.db

    def close(self) -> None:
        """Commit and close; the last connection removes the side files."""
        if self.db.in_transaction:
            self.db.execute("COMMIT")
        self.db.close()

    def close_leaving_wal(self) -> None:
        """Close as a killed agent does: the last committed rows stay in an orphan ``-wal`` without ``-shm``."""
        self.db.execute("COMMIT")
        wal = self.path.with_name(self.path.name + "-wal")
        kept = {p: p.with_name(p.name + ".kept") for p in (self.path, wal)}
        for source, target in kept.items():
            shutil.copyfile(source, target)
        self.db.close()
        for source, target in kept.items():
            target.replace(source)

    # -- rows ----------------------------------------------------------------------------------------------

    def event(self, session: str, kind: str, data: Data) -> None:
        """Append to the event log."""
        if not self.log:
            return
        seq = self._seq[session] = self._seq.get(session, -1) + 1
        self.db.execute(
            "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq", (session, seq)
        )
        self.db.execute(
            "INSERT INTO event VALUES (?, ?, ?, ?, ?)", (self.id("evt"), session, seq, kind, dumps({"sessionID": session, **data}))
        )

    def session(self, title: str = "Work", **fields: Any) -> Session:
        """Start a session; ``fields`` as of :class:`Session`."""
        return Session(self, title, **fields)

    def secrets(self, *values: str) -> None:
        """Fill the account and credential tables with fake secrets."""
        at = self.now
        for i, v in enumerate(values):
            self.db.execute("INSERT INTO account VALUES (?,?,?,?,?,?,?,?)", (f"acc_{i}", f"{v}@x", v, v, v, at, at, at))
            self.db.execute("INSERT INTO control_account VALUES (?,?,?,?,?,?,?,?)", (f"{i}{v}@x", v, v, v, at, 1, at, at))
            self.db.execute("INSERT INTO credential VALUES (?,?,?,?,?,?,?,?,?)", (f"cre_{i}", v, v, v, None, None, 1, at, at))


class Session(Rows):
    """One session being written: its rows, and what rewrites them."""

    _reverted = ""

    # -- what rewrites history -----------------------------------------------------------------------------

    def compact(
        self,
        summary: str = "## Goal\n- go on",
        *,
        reason: str = "manual",
        tail: str | None = None,
        status: str = "succeeded",
        go_on: bool = True,
    ) -> tuple[str, str | None]:
        """Write a compaction and return (request row, summary row).

        Args:
            summary: Its text.
            reason: ``manual``, ``auto`` or ``overflow`` (which first leaves a failed row and afterwards a copy of the prompt).
            tail: Id of the first message that is kept.
            status: ``succeeded``, ``failed``, ``started`` (summary unfinished) or ``requested`` (no summary row).
            go_on: Whether the harness goes on by itself (auto: "Continue…"; overflow: the replayed prompt).
        """
        prompt = self.last_user
        if reason == "overflow":
            self.step(usage=None, done=True, finish=None, frame=False, error=None)
            last = self.messages()[-1]
            row = self.db.db.execute("SELECT data FROM message WHERE id = ?", (last,)).fetchone()[0]
            self.message({k: v for k, v in json.loads(row).items() if k not in ("finish", "cost")} | {"cost": 0}, id=last)
        at = self.db.step_clock()
        user = self.message({"role": "user", "model": self._wire_model(), "agent": self.agent, "time": {"created": at}})
        spec: Data = {"type": "compaction", "auto": reason != "manual"}
        if reason == "overflow" or reason == "auto":
            spec["overflow"] = reason == "overflow"
        part = self.part(user, spec)
        self._touch()
        if status == "requested":
            return user, None
        made = self.step(
            *([summary] if status == "succeeded" else []),
            usage=Usage(3000, 43) if status == "succeeded" else None,
            error="APIError" if status == "failed" else None,
            done=status != "started",
            parent=user,
            agent="compaction",
            summary=True,
        )
        if status != "succeeded":
            return user, made
        if tail:
            self.part(user, {**spec, "tail_start_id": tail}, id=part)
        if go_on and reason == "overflow" and prompt:
            self.user(*[_without_media(d) for _, d in self.parts_of(prompt)])
        elif go_on and reason == "auto":
            self.user(
                text(
                    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.",
                    synthetic=True,
                    metadata={"compaction_continue": True},
                )
            )
        return user, made

    def prune(self, *messages: str) -> int:
        """Mark the completed tool outputs of these messages as cleared; return how many."""
        n = 0
        at = self.db.step_clock()
        for m in messages:
            for id, data in self.parts_of(m):
                if data["type"] == "tool" and data["state"]["status"] == "completed":
                    data["state"]["time"]["compacted"] = at
                    self.part(m, data, id=id)
                    n += 1
        return n

    def revert(self, message: str, part: str | None = None) -> None:
        """Take back ``message`` and all after it; the rows stay until the next prompt (:meth:`cleanup`)."""
        self.db.step_clock()
        self._reverted = message
        self._touch(revert=dumps({"messageID": message, **({"partID": part} if part else {}), "snapshot": "0" * 40, "diff": ""}))

    def unrevert(self) -> None:
        """Undo :meth:`revert`."""
        self.db.step_clock()
        self._touch(revert=None)

    def cleanup(self) -> list[str]:
        """Delete what was reverted, as the next prompt does; only the event log keeps it."""
        ids = self.messages()
        gone = ids[ids.index(self._reverted) :]
        for id in gone:
            self.remove(id)
        self._touch(revert=None)
        return gone

    def remove(self, message: str) -> None:
        """Delete one message and its parts."""
        self.db.db.execute("DELETE FROM part WHERE message_id = ?", (message,))
        self.db.db.execute("DELETE FROM message WHERE id = ?", (message,))
        self.db.event(self.id, "message.removed.1", {"messageID": message})

    def delete(self) -> None:
        """Delete the session with all its rows; nothing tells that it was there."""
        for table, column in (
            ("part", "session_id"),
            ("message", "session_id"),
            ("event", "aggregate_id"),
            ("event_sequence", "aggregate_id"),
        ):
            self.db.db.execute(f"DELETE FROM {table} WHERE {column} = ?", (self.id,))
        self.db.db.execute("DELETE FROM session WHERE id = ?", (self.id,))

    def fork(self, before: str | None = None) -> Session:
        """Copy the messages before ``before`` (all by default) into a new session, as OpenCode does: new ids, old times."""
        ids = self.messages()
        copy = Session(self.db, f"{self.title} (fork #1)", directory=self.directory, agent=self.agent, model=self.model)
        new: dict[str, str] = {}
        for old in ids[: ids.index(before)] if before else ids:
            data, at = self.db.db.execute("SELECT data, time_created FROM message WHERE id = ?", (old,)).fetchone()
            data = json.loads(data)
            self.db.step_clock(10)
            if data.get("parentID"):
                data["parentID"] = new.get(data["parentID"], data["parentID"])
            new[old] = copy.message(data, at=at)
            for _, part in self.parts_of(old):
                if part["type"] == "compaction" and "tail_start_id" in part:
                    part["tail_start_id"] = new.get(part["tail_start_id"], part["tail_start_id"])
                copy.part(new[old], part)
        copy.last_user = new.get(self.last_user or "")
        copy._touch()
        return copy

    # -- the next generation in the same file --------------------------------------------------------------

    def v2(self, rows: Iterable[tuple[str, Data]]) -> None:
        """Write rows of generation 2 (``session_message``): (type, data)."""
        for seq, (kind, data) in enumerate(rows):
            at = self.db.step_clock()
            self.db.db.execute(
                "INSERT INTO session_message VALUES (?,?,?,?,?,?,?)", (self.db.id("msg"), self.id, kind, seq, at, at, dumps(data))
            )
        self._touch()


def _without_media(part: Data) -> Data:
    """Return a part as a replay holds it: media became a line of text."""
    mime = part.get("mime", "")
    if part["type"] == "file" and (mime.startswith("image/") or mime == "application/pdf"):
        return text(f"[Attached {mime}: {part.get('filename') or 'file'}]")
    return part
