"""The newest name of a session, which may stand anywhere in its file: looked for from the end, bounded, and remembered.

Pi appends a ``session_info`` line with every renaming; the last one in the file counts, whatever branch it lies on, and an
empty name clears.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import Raw
from ctx_inspect.core.sources.jsonl import Identity, Position, grew_from, identify
from ctx_inspect.core.sources.pi.records import decode
from msgspec import Struct

BLOCK = 1 << 20
"""Bytes read at once."""
LINE = 64 << 10
"""Bytes at either side of what looks like a name in which its line must begin and end; no line with a name is as long."""
MOST = 64 << 20
"""Bytes of the end of a file that are searched (20 ms); what was read of an opened session is known whole."""

_MARK = b'"session_info"'


class Held(Struct):
    """What is known of one file.

    Attributes:
        stamp: Of the state that was searched.
        size: Bytes of the file then.
        identity: Proves that the file only grew; its position is the end of what was searched.
        low: Where the searched part begins.
        name: The last name in the searched part; empty = cleared; ``None`` = there is none in it.
    """

    stamp: tuple[int, ...]
    size: int
    identity: Identity
    low: int
    name: Raw | None

    @property
    def done(self) -> bool:
        """Whether nothing before the searched part is of interest."""
        return self.name is not None or self.low == 0 or self.identity.position.offset - self.low >= MOST


class Names:
    """Knows the names of the session files of one source; belongs to one thread."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._held: dict[str, Held] = {}

    def keep(self, paths: Callable[[str], bool]) -> None:
        """Forget what is not there any more."""
        self._held = {path: held for path, held in self._held.items() if paths(path)}

    def learn(self, path: str, stamp: tuple[int, ...], size: int, identity: Identity, name: Raw) -> None:
        """Take what the whole file said when it was read up to a position; an empty name is none."""
        self._held[path] = Held(stamp, size, identity, 0, name)

    def known(self, path: str) -> Raw | None:
        """Return the newest name as far as the file was searched; ``None`` = none was found."""
        held = self._held.get(path)
        return held.name if held is not None else None

    def search(self, path: str, stamp: tuple[int, ...], most: int) -> int:
        """Search what came to a file, then on towards its beginning; costs nothing where all is known.

        Args:
            path: The file.
            stamp: Differs when the file is another or has changed.
            most: Bytes to be read at most; what came since the last search is searched all the same.

        Returns:
            How many bytes were read.
        """
        held = self._held.get(path)
        if held is not None and held.stamp == stamp and held.done:
            return 0
        try:
            fd = open_regular(Path(path))
        except (OSError, ValueError):
            return 0
        try:
            return self._search(fd, path, stamp, most)
        except OSError:
            return 0
        finally:
            os.close(fd)

    def _search(self, fd: int, path: str, stamp: tuple[int, ...], most: int) -> int:
        size = os.fstat(fd).st_size
        held = self._held.get(path)
        if held is not None and (not grew_from(fd, held.identity) or (size == held.size and stamp != held.stamp)):
            held = None  # it was replaced, cut or rewritten
        if held is None:
            held = Held(stamp, size, identify(fd, Position(size)), size, None)
            before, read = size, 0
        else:
            before = held.identity.position.offset
            name, low, read = _backwards(fd, before, size, MOST)
            if name is not None or low > before:
                held.name, held.low = name, low
        self._held[path], held.stamp, held.size = held, stamp, size
        # a line that is just being written is searched again
        floor = before if before < size else 0
        low = max(floor, size - BLOCK)
        held.identity = identify(fd, Position(low + os.pread(fd, size - low, low).rfind(b"\n") + 1))
        if not held.done and read < most:
            left = min(most - read, MOST - (size - held.low))
            held.name, held.low, more = _backwards(fd, 0, held.low, left)
            read += more
        return read


def _backwards(fd: int, start: int, end: int, most: int) -> tuple[Raw | None, int, int]:
    """Look for the last name between two offsets.

    Returns:
        The name, where the searched part begins (``start`` if all was), and the bytes that were read.
    """
    at, read = end, 0
    while at > start and read < most:
        low = max(start, at - BLOCK)
        # what begins in this block may end in the one behind it
        block = os.pread(fd, at - low + len(_MARK) - 1, low)
        read += at - low
        to = len(block)
        while (place := block.rfind(_MARK, 0, to)) >= 0:
            name, begin = _name_at(fd, low + place)
            if name is not None:
                return name, low + place, read
            if begin <= low:
                break
            to = begin - low
            read += 2 * LINE  # many lines that only look like one are not searched without end
            if read >= most:
                return None, begin, read
        at = low
    return None, at, read


def _name_at(fd: int, place: int) -> tuple[Raw | None, int]:
    """Return the name in the line around an offset (``None`` where it is a line of another kind), and where the line begins."""
    low = max(0, place - LINE)
    before = os.pread(fd, place - low, low)
    begin = before.rfind(b"\n") + 1
    if begin == 0 and low > 0:
        return None, low
    line = before[begin:] + os.pread(fd, LINE, place).partition(b"\n")[0]
    try:
        value = decode(line.replace(b"\0", b""))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None, low + begin
    return (Raw(value.name or "") if value.type == "session_info" else None), low + begin
