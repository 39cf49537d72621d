"""Writes turns into a store as an agent does, in a process of its own.

``python -m tests.harmless.writer KIND FOLDER TURNS GAP REST``: ``GAP`` seconds between turns, ``REST`` before closing.
The bytes depend on nothing but the arguments.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage, tool
from tests.builders.pi import Call, PiStore, Spent


def opencode(folder: Path, turns: int, gap: float, rest: float) -> None:
    """Write an OpenCode database, one commit per row or two, and close it."""
    db = OpenCodeDB(folder / "opencode.db")
    session = db.session("Notes of the shop")
    db.flush()
    print("ready", flush=True)
    for n in range(turns):
        time.sleep(gap)
        session.user(f"question {n}")
        db.flush()
        session.step("looking", tool("bash", {"command": "ls"}, "notes.txt\n" * 50), usage=Usage(100 + n, 20))
        db.flush()
        session.step("done")
        db.flush()
    time.sleep(rest)
    db.close()


def pi(folder: Path, turns: int, gap: float, rest: float) -> None:
    """Append to a Pi session file, an entry at a time."""
    session = PiStore(folder).session()
    session.system()
    print("ready", flush=True)
    for n in range(turns):
        time.sleep(gap)
        session.turn(f"question {n}", calls=[Call("bash", {"command": "ls"}, "notes.txt\n" * 50)], answer="done", usage=Spent(100 + n))
    time.sleep(rest)


if __name__ == "__main__":
    {"opencode": opencode, "pi": pi}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
