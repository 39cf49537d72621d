"""Finds changed session files by ``stat``: recent ones on every look, old ones in turn, new ones by their folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ctx_inspect.core.sources.pi.listing import session_files
from ctx_inspect.core.sources.pi.session import QUIET
from msgspec import Struct, field

HOT = 64
"""Files changed last that are looked at every time."""
SLICE = 512
"""Other files looked at per call; together they all come round."""

Stamp = tuple[int, int, int]


class Cursor(Struct):
    """What the store looked like; opaque to others."""

    files: dict[str, Stamp] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)
    next: int = 0
    reported: dict[str, Stamp] = field(default_factory=dict)


class Found(Struct, frozen=True):
    """What a look found.

    Attributes:
        cursor: For the next look.
        names: Paths of files with news.
        listing: Whether files came or went.
        gone: Whether the store itself is gone.
    """

    cursor: Cursor
    names: frozenset[str] = frozenset()
    listing: bool = False
    gone: bool = False


def _stamp(at: os.stat_result) -> Stamp:
    return at.st_ino, at.st_size, at.st_mtime_ns


class Sweep:
    """Looks at one store."""

    def __init__(self, path: Path) -> None:
        """Name the store."""
        self._path = path
        self._unfinished: set[str] = set()

    def unfinished(self, name: str, waiting: bool) -> None:
        """Remember whether a file's end is unread until it is quiet."""
        (self._unfinished.add if waiting else self._unfinished.discard)(name)

    def look(self, since: Cursor | None, now: float) -> Found:
        """Return what is new since ``since``."""
        folders = self._folders()
        if folders is None:
            return Found(Cursor(), gone=True, listing=since is not None)
        if since is None or since.folders != folders:
            return self._all(since, folders, now)
        files = dict(since.files)
        names = sorted(files, key=lambda n: files[n][2], reverse=True)
        rest = sorted(names[HOT:])
        start = since.next if since.next < len(rest) else 0
        news, lost = set[str](), False
        for name in (*names[:HOT], *rest[start : start + SLICE]):
            try:
                at = _stamp(os.stat(name))
            except OSError:
                del files[name]
                news.add(name)
                lost = True
                continue
            if at != files[name]:
                files[name] = at
                news.add(name)
        cursor = Cursor(files, folders, start + SLICE, dict(since.reported))
        return Found(cursor, frozenset(news | self._quiet(cursor, now)), listing=lost)

    def _folders(self) -> dict[str, int] | None:
        """Return the folders of the store and when each last got or lost a file; ``None`` = the store is gone."""
        try:
            at = os.stat(self._path)
            if not stat.S_ISDIR(at.st_mode):
                return {str(self._path): at.st_ino}
            found = {str(self._path): at.st_mtime_ns}
            with os.scandir(self._path) as rows:
                for row in rows:
                    if not row.name.endswith(".jsonl") and row.is_dir():
                        found[row.path] = row.stat().st_mtime_ns
        except (OSError, ValueError):
            return None
        return found

    def _all(self, since: Cursor | None, folders: dict[str, int], now: float) -> Found:
        files: dict[str, Stamp] = {}
        try:
            if self._path.is_dir():
                files = {name: _stamp(at) for name, at in session_files(self._path)}
            else:
                files = {str(self._path): _stamp(os.stat(self._path))}
        except OSError:
            return Found(Cursor(), gone=True, listing=since is not None)
        cursor = Cursor(files, folders, 0, dict(since.reported) if since else {})
        if since is None:
            return Found(cursor)
        news = {name for name, at in files.items() if since.files.get(name) != at} | (since.files.keys() - files.keys())
        came = files.keys() != since.files.keys()
        return Found(cursor, frozenset(news | self._quiet(cursor, now)), listing=came)

    def _quiet(self, cursor: Cursor, now: float) -> set[str]:
        """Return files whose end was left unread and that have been quiet since: each is told once per state."""
        news: set[str] = set()
        for name in self._unfinished:
            at = cursor.files.get(name)
            if at is not None and cursor.reported.get(name) != at and now - at[2] / 1e9 >= QUIET:
                cursor.reported[name] = at
                news.add(name)
        return news
