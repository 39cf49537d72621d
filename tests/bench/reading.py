"""Reading stores, in this process: lists, one session, large files, long lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.bench.bench import Bench, median, timed
from tests.bench.results import Result

NEVER_IN_A_LIST = ("event", "account", "account_state", "control_account", "credential")
READ = sqlite3.SQLITE_READ


@contextmanager
def tables_read() -> Iterator[set[str]]:
    """Note every table that any connection opened meanwhile reads a column of, as SQLite's compiler sees it."""
    seen: set[str] = set()
    opened = sqlite3.connect

    class Noting(sqlite3.Connection):
        """Asks the program's own authorizer too."""

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.set_authorizer(None)

        def set_authorizer(self, callback: Callable[..., int] | None) -> None:
            def note(action: int, first: str | None, *rest: str | None) -> int:
                if action == READ and first:
                    seen.add(first)
                return callback(action, first, *rest) if callback else sqlite3.SQLITE_OK

            super().set_authorizer(note)

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        options.setdefault("factory", Noting)
        return opened(*args, **options)

    sqlite3.connect = connect
    try:
        yield seen
    finally:
        sqlite3.connect = opened


def _fetch(path: Path, sql: str, *values: object) -> Callable[[], object]:
    """Return a function that opens the database read-only, fetches these rows and closes it."""

    def work() -> object:
        db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()

    return work


def lists(bench: Bench) -> Iterator[Result]:
    """List the sessions of the large database; no look at its event log."""
    from ctx_inspect.core.sources.opencode import OpenCodeSource

    path, _ = bench.opencode
    count = len(OpenCodeSource(path).sessions().sessions)
    with tables_read() as seen:
        OpenCodeSource(path).sessions()
    bad = sorted(seen.intersection(NEVER_IN_A_LIST))
    expected = max(1, round(3000 * bench.scale))
    fault = f"reads {', '.join(bad)}" if bad else "" if "session" in seen else "the probe saw no table" if count else ""
    if count != expected:
        fault = f"{count} sessions listed, {expected} written"
    limit = median(5, lambda: timed(_fetch(path, "SELECT * FROM session ORDER BY time_updated DESC")))
    took = median(5, lambda: timed(lambda: OpenCodeSource(path).sessions()))
    yield Result(
        "list sessions of a 4 GB database",
        took,
        limit,
        "raw fetch of all session rows",
        budget=300,
        note=f"{count} sessions, read of {', '.join(sorted(seen))}",
        fault=fault,
        floor=10,
    )


def opens(bench: Bench) -> Iterator[Result]:
    """Open a session of 1,250 parts in the large database."""
    from ctx_inspect.core.sources.opencode import OpenCodeSource

    path, session = bench.opencode
    limit = median(
        9,
        lambda: timed(
            lambda: (
                _fetch(path, "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", session)(),
                _fetch(path, "SELECT * FROM part WHERE session_id = ? ORDER BY message_id, id", session)(),
            )
        ),
    )
    source = OpenCodeSource(path)
    ledger = source.open(session)
    parts = sum(len(message.parts) for message in (ledger.last_chain() or ()))
    yield Result(
        "open a session of 1,250 parts",
        median(9, lambda: timed(lambda: source.open(session))),
        limit,
        "raw fetch of its rows",
        budget=25,
        note=f"{len(ledger.turns)} turns, {parts} parts in its messages",
        fault="" if ledger.turns and parts else "no turns or parts",
    )
    yield Result(
        "open it again, nothing new",
        median(9, lambda: timed(lambda: source.open(session, ledger))),
        limit,
        "raw fetch of its rows",
        note="what each wake of the watch costs",
    )


class _Usage(msgspec.Struct):
    input: int = 0
    output: int = 0
    cacheRead: int = 0
    cacheWrite: int = 0


class _Message(msgspec.Struct):
    role: str
    usage: _Usage | None = None
    timestamp: int | None = None


class _Line(msgspec.Struct):
    type: str
    id: str | None = None
    parentId: str | None = None
    timestamp: str | None = None
    message: _Message | None = None


def _decode(path: Path) -> Callable[[], object]:
    """Return a function that reads a file and decodes each line into the least structure a timeline needs."""
    decoder = msgspec.json.Decoder(_Line)

    def work() -> object:
        with path.open("rb") as file:
            return sum(1 for line in file if decoder.decode(line).message)

    return work


def files(bench: Bench) -> Iterator[Result]:
    """Read the large Pi session and the long line, whole."""
    from ctx_inspect.app.snapshot import compose
    from ctx_inspect.core.sources.pi import PiSource

    for name, path, budget in (
        ("read a Pi session of 200 MB", bench.pi, 800 * bench.scale),
        ("read a line of 64 MB", bench.pi_line, None),
    ):
        listing = PiSource(path).sessions()
        (info,) = listing.sessions
        limit = median(2, lambda path=path: timed(_decode(path)))
        took = median(2, lambda path=path, info=info: timed(lambda: PiSource(path).open(info.id)))
        ledger = PiSource(path).open(info.id)
        again = median(3, lambda path=path, ledger=ledger, info=info: timed(lambda: PiSource(path).open(info.id, ledger)))
        composed = timed(lambda path=path, ledger=ledger: compose(PiSource(path), ledger))
        size = path.stat().st_size / 1e6
        yield Result(
            name,
            took,
            limit,
            "decoding its lines",
            budget=budget,
            note=f"{size:.0f} MB, {len(ledger.turns)} turns, nothing new: {again:.1f} ms, made ready for the screen in {composed:.0f} ms more",
            fault="" if ledger.turns and not ledger.problems else f"{len(ledger.turns)} turns, {len(ledger.problems)} problems",
            floor=20,
        )
