"""Whether a database was written to, told by ``stat`` alone: nothing is opened."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct


class Stamp(Struct, frozen=True):
    """What ``stat`` tells of a database and its ``-wal``; equal stamps mean that nothing was written.

    Attributes:
        db: (device, inode, size, mtime in ns) of the database; ``None`` where it is gone.
        wal: The same of its ``-wal``.
        journal: Whether a rollback journal lies beside it.
    """

    db: tuple[int, int, int, int] | None
    wal: tuple[int, int, int, int] | None
    journal: bool = False

    @property
    def file(self) -> tuple[int, int] | None:
        """Device and inode: another file took its place where they change."""
        return self.db[:2] if self.db else None

    @property
    def rows_in_wal(self) -> bool:
        """Whether there is a ``-wal`` that may hold rows."""
        return self.wal is not None and self.wal[2] > 0


def stamp(path: Path) -> Stamp:
    """Look at a database without opening it (a few µs)."""
    return Stamp(_stat(path), _stat(beside(path, "-wal")), os.path.lexists(beside(path, "-journal")))


def beside(path: Path, ending: str) -> Path:
    """Return a side file of a database: it lies beside the file that a link points to."""
    real = Path(os.path.realpath(path)) if path.is_symlink() else path
    return real.with_name(real.name + ending)


def _stat(path: Path) -> tuple[int, int, int, int] | None:
    try:
        s = path.stat()
    except (OSError, ValueError):
        return None
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns
