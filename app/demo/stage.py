"""Sets up the sample sessions: a private home folder with an OpenCode database and Pi session files in it.

The package ships them as text in which every time is a placeholder relative to now, so that the sample sessions are
as old as they say whenever they are looked at. Nothing of the user's own is read or written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from ctx_inspect.app.demo.folders import private_folder
from ctx_inspect.core.sources.base import Source
from msgspec import Struct

DATA = Path(__file__).parent / "data"
"""Where the package keeps the sample sessions; ``tests/demo/make.py`` writes it."""

MAIN_TITLE = "Fix login 500"
LIVE = "release-notes-2.4"
"""Stem of the session file that grows."""

_PLACE = re.compile(r"@\{(ms|iso)([+-]\d+)\}")


def at(text: str, now: int) -> str:
    """Put real times in the place of the placeholders.

    Args:
        text: Sample data as shipped.
        now: Epoch milliseconds that count as now.
    """

    def real(match: re.Match[str]) -> str:
        ms = now + int(match[2])
        return str(ms) if match[1] == "ms" else iso(ms)

    return _PLACE.sub(real, text)


def iso(ms: int) -> str:
    """Return epoch milliseconds as Pi writes them."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


class Stage(Struct, frozen=True):
    """A home folder with the sample sessions.

    Attributes:
        home: The folder, private to this process.
        database: The OpenCode database.
        sessions: The folder of Pi's sessions.
        live: The session file that grows.
        main: Key of the session that is opened first.
    """

    home: Path
    database: Path
    sessions: Path
    live: Path
    main: str

    @property
    def env(self) -> Mapping[str, str]:
        """The environment in which the sources find these stores and their configuration, and nothing else."""
        return {
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
        }

    def remove(self) -> None:
        """Take the folder away, with all that has come into it."""
        shutil.rmtree(self.home, ignore_errors=True)

    def sources(self, clock: Callable[[], float] = time.time) -> tuple[Source, ...]:
        """Return the sources of these stores, OpenCode's first.

        Args:
            clock: Tells seconds since the epoch: what was written within the last minute counts as live.
        """
        from ctx_inspect.core.sources.opencode import OpenCodeSource
        from ctx_inspect.core.sources.pi import PiSource

        return OpenCodeSource(self.database, env=self.env, home=self.home), PiSource(self.sessions, clock=clock)


def live_lines() -> list[str]:
    """Return the entries that the growing session gets, one line each, with their placeholders."""
    return (DATA / "live.jsonl").read_text(encoding="utf-8").splitlines()


@contextmanager
def stage(now: int, folder: Path | None = None) -> Iterator[Stage]:
    """Set the sample sessions up and take them away again.

    Args:
        now: Epoch milliseconds that count as now.
        folder: Where to; a new private folder by default, removed at the end.
    """
    if folder is not None:
        yield build(folder, now)
        return
    with private_folder() as home:
        yield build(home, now)


def build(home: Path, now: int) -> Stage:
    """Write the sample sessions below ``home``; see :func:`stage`."""
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    config = home / ".config" / "opencode" / "opencode.json"
    agent = home / ".pi" / "agent"
    for folder in (database.parent, config.parent, agent / "sessions"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    main = _database(database, now)
    shutil.copyfile(DATA / "opencode.json", config)
    for name in ("models.json", "settings.json"):
        shutil.copyfile(DATA / name, agent / name)
    live: Path | None = None
    for source in sorted((DATA / "sessions").glob("*.jsonl")):
        text = at(source.read_text(encoding="utf-8"), now)
        path = _pi_path(agent / "sessions", text)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        path.write_text(text, encoding="utf-8")
        _dated(path, text)
        if source.stem == LIVE:
            live = path
    if live is None:
        raise FileNotFoundError("the sample sessions are not complete: the package is damaged")
    return Stage(home, database, agent / "sessions", live, main)


def _database(path: Path, now: int) -> str:
    script = at((DATA / "opencode.sql").read_text(encoding="utf-8"), now)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous=OFF")
        db.executescript(script)
        db.execute("PRAGMA journal_mode=wal")
        id, newest = db.execute("SELECT id, time_updated FROM session WHERE title = ?", (MAIN_TITLE,)).fetchone()
    finally:
        db.close()
    os.utime(path, (newest / 1000, newest / 1000))
    return f"opencode:{id}"


def _pi_path(sessions: Path, text: str) -> Path:
    """Return where Pi keeps this session: a folder for its working directory, a name of time and id."""
    header = json.loads(text[: text.index("\n")])
    folder = "--" + re.sub(r"[/\\:]", "-", header["cwd"].removeprefix("/")) + "--"
    return sessions / folder / f"{re.sub('[:.]', '-', header['timestamp'])}_{header['id']}.jsonl"


def _dated(path: Path, text: str) -> None:
    """Give a file the time of its last entry, as if it had been written then."""
    last = json.loads(text.rstrip("\n").rsplit("\n", 1)[-1])
    with suppress(KeyError, ValueError):
        moment = datetime.fromisoformat(last["timestamp"]).timestamp()
        os.utime(path, (moment, moment))
