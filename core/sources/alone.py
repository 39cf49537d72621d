"""One thread at a time per file, because locks on a file belong to the process."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_locks: dict[tuple[int, int], threading.RLock] = {}
_locks_guard = threading.Lock()


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Keep other threads from opening or closing a file until this one has closed it.

    Locks on a file belong to the process: whoever closes any handle of it drops those of all its connections, which then
    read what its owner is just writing. Two sources may hold the same database (a data folder, and its files from before
    the database, which look up what was moved).
    """
    try:
        at = os.stat(path)
        key = at.st_dev, at.st_ino
    except (OSError, ValueError):
        key = (0, 0)
    with _locks_guard:
        lock = _locks.setdefault(key, threading.RLock())
    with lock:
        yield
