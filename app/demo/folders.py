"""The private folder of the sample sessions, and those that killed demos left behind."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

PREFIX = "ctx-inspect-demo-"

YOUNG = 60.0
"""Seconds in which a folder may have been made and not be held yet."""


@contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that nobody else can enter, hold it, and take it away at the end.

    The hold is a ``flock``, which the system takes back however the process ends, so that the next demo knows what is left over.
    """
    sweep()
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    held = _hold(home)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)
        if held is not None:
            os.close(held)


def sweep(now: float | None = None) -> None:
    """Take away the folders that killed demos left: of this user, private, and held by no process.

    Args:
        now: Epoch seconds that count as now.
    """
    if fcntl is None:
        return
    now = time.time() if now is None else now
    with suppress(OSError):
        for name in os.listdir(tempfile.gettempdir()):
            if name.startswith(PREFIX):
                _remove(Path(tempfile.gettempdir(), name), now)


def _remove(folder: Path, now: float) -> None:
    with suppress(OSError):
        at = folder.lstat()
        ours = stat.S_ISDIR(at.st_mode) and stat.S_IMODE(at.st_mode) == 0o700 and at.st_uid == os.geteuid()
        if not ours or now - at.st_mtime < YOUNG:
            return
        held = _hold(folder)
        if held is None:
            return  # its demo runs
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(held)


def _hold(folder: Path) -> int | None:
    """Lock a folder of ours; ``None`` where somebody holds it, or where folders cannot be locked."""
    if fcntl is None:
        return None
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    return fd
