"""Opens files that others may have put in the place of what is expected: pipes, devices, files without end."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def open_regular(path: Path) -> int:
    """Open a regular file for reading and return its descriptor; never waits on a FIFO or device.

    Raises:
        OSError: It cannot be opened.
        ValueError: It is no regular file.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("not a regular file")
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ValueError("not a regular file")
    return fd


def read_small(path: Path, most: int) -> bytes:
    """Return the bytes of a small regular file.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no regular file, or larger.
    """
    fd = open_regular(path)
    try:
        if os.fstat(fd).st_size > most:
            raise ValueError("too large")
        with os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(most + 1)
    finally:
        os.close(fd)
    if len(data) > most:
        raise ValueError("too large")
    return data
