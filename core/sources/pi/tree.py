"""The tree that a session file holds: the active branch from the leaf, and the branches that were left."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from ctx_inspect.core.sources.pi.entries import Entry
from msgspec import Struct


class Left(Struct, frozen=True):
    """A branch that hangs off the active one and was left.

    Attributes:
        root: Its first entry.
        last: Its newest entry in file order.
        count: Entries in it.
        returned: Index in the active path of the first entry written after it: where the session had come back.
    """

    root: Entry
    last: Entry
    count: int
    returned: int


class Tree(Struct, frozen=True):
    """Entries by how they hang together.

    Attributes:
        path: The active branch, root first.
        children: Children of each entry, in file order; under ``None`` the roots.
        left: Branches that were left, by index of the path's entry they hang off; -1 for other roots.
        adrift: Entries whose recorded parent is nowhere in the file, or themselves, and no unreadable line explains it.
    """

    path: tuple[Entry, ...]
    children: Mapping[str | None, Sequence[Entry]]
    left: Mapping[int, Sequence[Left]]
    adrift: int = 0


def grow(entries: Sequence[Entry], lost: Sequence[int]) -> Tree:
    """Build the tree.

    The leaf is the last entry of the file, whatever its type. An entry whose parent lies in an unreadable line hangs
    off the last entry before that line; one whose parent is nowhere is a root, as Pi has it.

    Args:
        entries: Each id once, in file order.
        lost: Numbers of unreadable lines, ascending.
    """
    if not lost and _straight(entries):
        return Tree(tuple(entries), {}, {})
    known = {e.id: e for e in entries}
    lines = [e.line for e in entries] if lost else []
    hung: dict[str, str | None] = {}  # parents that are not as recorded
    for place, entry in enumerate(entries):
        parent = entry.parent
        if parent is not None and (parent not in known or parent == entry.id):
            hung[entry.id] = _before_gap(entries, lines, lost, place) if lost and parent != entry.id else None
    adrift = sum(parent is None for parent in hung.values())
    path: list[Entry] = []
    seen: set[str] = set()
    at: str | None = entries[-1].id if entries else None
    while at is not None and at not in seen:  # a loop of parents ends the path
        seen.add(at)
        entry = known[at]
        path.append(entry)
        at = hung.get(at, entry.parent)
    path.reverse()
    if len(path) == len(entries):
        return Tree(tuple(path), {}, {}, adrift)
    children: dict[str | None, list[Entry]] = {}
    for entry in entries:
        children.setdefault(hung.get(entry.id, entry.parent), []).append(entry)
    written = [e.line for e in path]
    left: dict[int, list[Left]] = {}
    for place in range(-1, len(path)):
        branches = children.get(path[place].id if place >= 0 else None, ())
        for root in branches:
            if root.id not in seen:
                left.setdefault(place, []).append(_left(root, children, written))
    return Tree(tuple(path), children, left, adrift)


def _straight(entries: Sequence[Entry]) -> bool:
    """Tell whether each entry hangs off the one written before it, as in most sessions."""
    before: str | None = None
    for entry in entries:
        if entry.parent != before:
            return False
        before = entry.id
    return True


def _before_gap(entries: Sequence[Entry], lines: Sequence[int], lost: Sequence[int], place: int) -> str | None:
    """Return the entry before the newest unreadable line before this one."""
    at = bisect_right(lost, entries[place].line) - 1
    if at < 0:
        return None
    before = bisect_right(lines, lost[at], hi=place) - 1
    return entries[before].id if before >= 0 else None


def _left(root: Entry, children: Mapping[str | None, Sequence[Entry]], written: Sequence[int]) -> Left:
    last, count = root, 0
    stack = [root]
    while stack:
        entry = stack.pop()
        count += 1
        if entry.line > last.line:
            last = entry
        stack.extend(children.get(entry.id, ()))
    return Left(root, last, count, bisect_right(written, last.line))
