"""Notifications of the Linux kernel, read without a single wake while nothing happens.

watchfiles polls its queue every ``step`` milliseconds. Measured from an append to its call, with what it costs while
nothing happens (2 cores, CPython 3.11): step 5 within 10 ms at 0.54 % of a core, step 20 p99 41 ms at 0.34 %, step 40
p99 78 ms at 0.16 %, step 50 p99 99 ms at 0.14 %. Of 100 ms from an append to the screen, and of 0.5 % of a core in all,
that is too much of the one or of the other. Blocking in ``poll`` on the kernel's own descriptor costs nothing and tells
an append in under a millisecond. Elsewhere watchfiles is used (:mod:`ctx_inspect.core.live.hints`).

Format: inotify(7). Only directories are watched: a file that is replaced keeps its name, not its inode.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

_MODIFY, _ATTRIB = 0x2, 0x4
_MOVED_FROM, _MOVED_TO = 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLYDIR, _DONT_FOLLOW_EVENTS_OF_UNLINKED, _ISDIR = 0x0100_0000, 0x0400_0000, 0x4000_0000
_MASK = (
    _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW_EVENTS_OF_UNLINKED
)
_HEAD = struct.Struct("iIII")
_DEPTH = 4
_MOST_FOLDERS = 2000
"""Beyond so many the kernel's per-user limit (often 8,192) would be eaten up for other programs: polled instead."""


class _Place:
    """What is wanted of one watched directory."""

    __slots__ = ("depth", "names", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.names: set[str] = set()  # entries of it that matter; unused where depth is set
        self.depth: int | None = None  # a folder watched as a whole, with so many levels below it


def identity(folder: Path) -> tuple[int, int] | None:
    """Return a folder's device and inode; ``None`` where it is not."""
    try:
        at = folder.stat()
    except OSError:
        return None
    return at.st_dev, at.st_ino


class Inotify:
    """Watches the directories of one source; belongs to one thread.

    Raises (from the constructor):
        OSError: The kernel gives no (more) instances.
    """

    def __init__(self) -> None:
        """Open a descriptor of the kernel's."""
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            init, self._add, self._remove = libc.inotify_init1, libc.inotify_add_watch, libc.inotify_rm_watch
        except AttributeError:
            raise OSError("no inotify here") from None
        self._add.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
        self._remove.argtypes = [ctypes.c_int, ctypes.c_int]
        self.fd: int = init(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "no inotify instance")
        self._places: dict[int, _Place] = {}
        self._by_path: dict[str, int] = {}
        self._wanted: tuple[Path, ...] = ()
        self._roots: tuple[tuple[int, int] | None, ...] = ()
        self.complete = False
        """Whether all that is wanted is watched; if not, it must be polled."""

    @property
    def state(self) -> object:
        """What is watched, and whether it is."""
        return self._wanted, self._roots, self.complete

    def want(self, paths: Sequence[Path]) -> bool:
        """Make these what is watched: a folder with all below it, of a file its entry in its folder.

        To be called again now and then: when a folder *above* moves, the kernel says nothing and goes on watching
        the moved one. Where all is as it was, it costs a ``stat`` per path.

        Returns:
            ``complete``.
        """
        wanted = tuple(paths)
        roots = tuple(identity(p if p.is_dir() else p.parent) for p in wanted)
        if wanted == self._wanted and roots == self._roots and self.complete:
            return True
        for wd in list(self._places):
            self._remove(self.fd, wd)
        self._places.clear()
        self._by_path.clear()
        self._wanted, self._roots, self.complete = wanted, roots, True
        for path in wanted:
            if path.is_dir():
                self.complete &= self._watch_tree(str(path), _DEPTH)
            else:
                place = self._watch(str(path.parent))
                if place is None:
                    self.complete = False
                else:
                    place.names.add(path.name)
        return self.complete

    def _watch(self, path: str) -> _Place | None:
        known = self._by_path.get(path)
        if known is not None:
            return self._places[known]
        if len(self._places) >= _MOST_FOLDERS:
            return None
        wd = self._add(self.fd, os.fsencode(path), _MASK)
        if wd < 0:
            return None
        place = self._places.setdefault(wd, _Place(path))
        self._by_path[path] = wd
        return place

    def _watch_tree(self, path: str, depth: int) -> bool:
        place = self._watch(path)
        if place is None:
            return False
        place.depth = depth if place.depth is None else max(place.depth, depth)
        if depth == 0:
            return True
        try:
            with os.scandir(path) as entries:
                below = [e.path for e in entries if e.is_dir(follow_symlinks=False)]
        except OSError:
            return False
        return all([self._watch_tree(p, depth - 1) for p in below])  # noqa: C419  every one is to be tried

    def read(self) -> bool:
        """Take what the kernel has to tell; return whether any of it concerns what is watched."""
        news = False
        for wd, mask, name in self._events():
            if mask & (_OVERFLOW | _UNMOUNT):
                self.complete = False
                news = True
                continue
            place = self._places.get(wd)
            if place is None:
                continue
            if mask & _IGNORED:
                del self._places[wd]
                self._by_path.pop(place.path, None)
                continue
            if mask & (_DELETE_SELF | _MOVE_SELF):
                self.complete = False
                news = True
            elif place.depth is None:
                news |= name in place.names
            else:
                news = True
                if mask & _ISDIR and mask & (_CREATE | _MOVED_TO):
                    if place.depth > 0 and not self._watch_tree(f"{place.path}/{name}", place.depth - 1):
                        self.complete = False
                elif mask & _ISDIR and mask & _MOVED_FROM:
                    self.complete = False  # its watches go on under a path that is no longer true
        return news

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while True:
            try:
                data = os.read(self.fd, 65536)
            except (BlockingIOError, InterruptedError):
                return
            at = 0
            while at < len(data):
                wd, mask, _, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size
                yield wd, mask, os.fsdecode(data[at : at + length].rstrip(b"\0"))
                at += length

    def close(self) -> None:
        """Give the descriptor back."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
