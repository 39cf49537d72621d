"""Stores of the stated sizes, written by the same builders as the tests use, only faster.

Sizes at scale 1: an OpenCode database of 4 GB (3,000 sessions, 1 M events, 64 k messages, 270 k parts, one session of
1,250 parts), Pi sessions of 200 MB, with one line of 64 MB, of 100,000 turns, and of 2 GB in the shape that
users reported (hundreds of compactions of several MB). All text is generated; nothing here was ever said.
"""

from __future__ import annotations

import random
import sqlite3
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Data, Usage, reasoning, tool
from tests.builders.opencode_rows import dumps
from tests.builders.pi import Call, PiFile, Spent, encode, sections
from tests.builders.pi import tool as pi_tool

EVENT_BYTES = range(100, 5300, 82)
"""Sizes of the events' data, small and large as in life: with 1 M of them and the rest the database has 4 GB."""

WORDS = ["".join(random.Random(i).choices(string.ascii_lowercase, k=2 + i % 9)) for i in range(997)]


def prose(size: int, seed: int) -> str:
    """Return ``size`` characters that compress and encode as text does; the same for the same arguments."""
    step = 1 + seed % 31
    line = " ".join(WORDS[(seed + i * step) % len(WORDS)] for i in range(min(size // 5 + 2, 400)))
    return (line * (size // len(line) + 1))[:size]


# -- OpenCode --------------------------------------------------------------------------------------------------


def _step_parts(n: int, seed: int, size: int) -> Iterator[Data | str]:
    """Yield ``n`` parts of a step: reasoning, then tool calls, then text."""
    for i in range(n):
        match i:
            case 0:
                yield prose(size // 3, seed)
            case 1:
                yield reasoning(prose(size // 2, seed + 1))
            case _:
                yield tool("bash", {"command": f"make {seed % 7}"}, prose(size * 2, seed + i))


def opencode(path: Path, scale: float = 1.0, *, title: str = "", parts: int = 1250, log: bool = True) -> str:
    """Write the large database and return the id of its newest session, the one with ``parts`` parts."""
    sessions, messages, all_parts, events = (max(1, round(n * scale)) for n in (3000, 64_000, 270_000, 1_000_000))
    each = max(2, (messages - parts // 4) // sessions)
    ids: list[str] = []
    with OpenCodeDB(path, log=False, tick=100) as db:
        for n in range(sessions - 1):
            s = db.session(f"Session {n}: {prose(30, n)}", directory=f"/home/dev/project-{n % 40}")
            ids.append(s.id)
            for turn in range(max(1, each // 4)):
                s.user(prose(200, n + turn))
                for step in range(3):
                    # 4.2 parts per message in all: a step has 5 beside its two frame parts where it can afford them
                    s.step(*_step_parts(3 + (n + step) % 2, n * 31 + step, 700), usage=Usage(500 + n, 100, 20_000 + turn * 800))
            if n % 200 == 199:
                db.flush()
        big = db.session(title or "The session of many parts")
        ids.append(big.id)
        made = turn = 0
        while made < parts:
            big.user(prose(300, turn))
            made += 1
            for step in range(5):
                want = min(4, parts - made - 2)
                if want < 1:
                    break
                big.step(*_step_parts(want, turn * 7 + step, 900), usage=Usage(900, 300, 12_000 + turn * 700))
                made += want + 2
            else:
                turn += 1
                continue
            break
        big_id = big.id
        count = db.db.execute("SELECT (SELECT COUNT(*) FROM message), (SELECT COUNT(*) FROM part)").fetchone()
    if log:
        _events(path, sorted(ids), events)
    slack = 4 if scale >= 0.1 else 2  # one session never shrinks
    assert abs(count[0] - messages) < messages / slack, f"{count[0]} messages instead of {messages}"
    assert abs(count[1] - all_parts) < all_parts / slack, f"{count[1]} parts instead of {all_parts}"
    return big_id


def _events(path: Path, sessions: list[str], events: int) -> None:
    """Write the event log in one transaction without a journal; the database is in WAL mode again afterwards."""
    per = -(-events // len(sessions))
    bodies = [dumps({"info": {"summary": {"diffs": []}, "text": prose(size, i)}})[1:] for i, size in enumerate(EVENT_BYTES)]
    kinds = ("message.updated.1", "message.part.updated.1", "message.part.updated.1", "session.updated.1")

    def rows() -> Iterator[tuple[str, str, int, str, str]]:
        n = 0
        for session in sessions:
            head = f'{{"sessionID":"{session}",'
            for seq in range(min(per, events - n)):
                yield f"evt_{n:026d}", session, seq, kinds[seq % 4], head + bodies[n * 29 % len(bodies)]
                n += 1

    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=OFF")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("PRAGMA cache_size=-200000")
        db.execute("BEGIN")
        db.executemany("INSERT INTO event_sequence (aggregate_id, seq) VALUES (?, ?)", [(s, per - 1) for s in sessions])
        db.executemany("INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?,?,?,?,?)", rows())
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=WAL")
    finally:
        db.close()


# -- Pi --------------------------------------------------------------------------------------------------------


class FastPi(PiFile):
    """A session file written through one open handle, its entries not kept."""

    def __init__(self, folder: Path, *, title: str = "", **options: Any) -> None:
        self._out: BinaryIO | None = None
        self.size = 0
        super().__init__(folder, **options)
        self._out = self.path.open("ab", buffering=1 << 20)
        if title:
            self.rename(title)
        self.system(
            sections(instructions={f"{self.cwd}/AGENTS.md": prose(2000, 5)}),
            tools=[pi_tool(name, prose(300, n), path="string") for n, name in enumerate(("read", "bash", "edit", "write"))],
        )

    def put(self, kind: str, fields: Mapping[str, Any], *, id: str | None = None, at: int | None = None) -> str:
        """Append an entry; ids count up, since hashed ones of 8 digits meet again among so many and Pi's never do."""
        return super().put(kind, fields, id=id or f"{self._count + 1:08x}", at=at)

    def _write(self, entry: dict[str, Any]) -> None:
        line = encode(entry) + b"\n"
        self.size += len(line)
        if self._out is None:
            self.raw(line)
        else:
            self._out.write(line)

    def close(self) -> Path:
        """Write what is buffered and return the path."""
        if self._out is not None:
            self._out.close()
            self._out = None
        return self.path

    def work(self, n: int, size: int, steps: int = 3) -> None:
        """Append a turn of ``steps`` steps whose tool results have ``size`` characters."""
        self.user(prose(200, n))
        for step in range(steps - 1):
            call = f"call_{n}_{step}"
            self.assistant(
                thinking=prose(size // 6, n + step),
                calls=[Call("bash", {"command": prose(80, n)}, call)],
                usage=Spent(400 + n % 50, 200, 15_000 + (n * 90) % 150_000),
            )
            self.result(call, prose(size, n * 3 + step))
        self.assistant(prose(size // 4, n), usage=Spent(500, 150, 15_500 + (n * 90) % 150_000))


def pi_large(folder: Path, size: int, title: str) -> Path:
    """Write a session of ``size`` bytes in ordinary turns (3 steps, results of 6,000 characters)."""
    pi = FastPi(folder, id="large", title=title)
    n = 0
    while pi.size < size:
        n += 1
        pi.work(n, 6000)
    return pi.close()


def pi_long_line(folder: Path, size: int, title: str) -> Path:
    """Write a short session in which one tool result is a line of ``size`` bytes."""
    pi = FastPi(folder, id="long-line", title=title)
    for n in range(20):
        pi.work(n, 2000)
        if n == 10:
            pi.user("read the log")
            pi.assistant(calls=[Call("read", {"path": "log"}, "call_long")], usage=Spent(400, 20, 16_000))
            pi.result("call_long", prose(size, 3), name="read")
            pi.assistant("ok", usage=Spent(500, 20, 30_000))
    return pi.close()


def pi_many_turns(folder: Path, turns: int, title: str) -> Path:
    """Write a session of many short turns, one step each."""
    pi = FastPi(folder, id="many-turns", title=title)
    for n in range(turns):
        pi.user("go on")
        pi.assistant("ok", usage=Spent(100, 20, 20_000 + n % 100_000))
    return pi.close()


def pi_compactions(folder: Path, size: int, title: str) -> Path:
    """Write a session as users had it (docs/field-reports.md, 7): 2 GB, mostly compaction rows of 4.9 MB each."""
    pi = FastPi(folder, id="compactions", title=title)
    n = 0
    while pi.size < size:
        n += 1
        for turn in range(3):
            pi.work(n * 3 + turn, 3000)
        pi.compaction(prose(4_900_000, n), kept=pi.leaf, before=150_000)
    return pi.close()
