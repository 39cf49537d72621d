"""Which items of a category changed between two requests. Pure.

Items match by key; unattributed blocks, whose ordinals shift, by equal content first and then by where they stand between
those. What is left matches by equal content: a source that was renamed. What moved is said once per category, independent of
what came and went.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

from ctx_inspect.core.diff.report import Change, ChangeKind
from ctx_inspect.core.model import Category, Item

BLOCK = "block:"
"""Begins the key of a block that is attributed to no source; its ordinal follows."""

Pair = tuple[int, int]
"""Places of an item on the older and on the newer side."""


def item_changes(before: Sequence[Item], after: Sequence[Item], *, complete: bool = True) -> tuple[tuple[Change, ...], tuple[Item, ...]]:
    """Compare the items of one category.

    Args:
        before: The older side, in wire order.
        after: The newer side.
        complete: Whether absence proves absence on both sides.

    Returns:
        The changes in wire order of the newer side, each that was removed behind what it stood behind, a move last; and the
        items whose attribution is lost: those on one side only, where absence proves nothing.
    """
    if before is after or _same(before, after):
        return (), ()
    pairs = _matched(before, after)
    renamed = _renamed(before, after, pairs)
    places: list[tuple[int, int, int, Change]] = []
    for i, j in pairs:
        if before[i].fp != after[j].fp:
            made = Change(ChangeKind.MODIFIED, after[j].k, before[i], after[j], parts=_parts(before[i], after[j]))
            places.append((j, 0, 0, made))
    for i, j in renamed:
        places.append((j, 0, 0, Change(ChangeKind.RENAMED, after[j].k, before[i], after[j], before[i].k)))
    there = dict([*pairs, *renamed])
    arrived = set(there.values())
    gone = [i for i in range(len(before)) if i not in there]
    come = [j for j in range(len(after)) if j not in arrived]
    if complete:
        places += [(j, 0, 0, Change(ChangeKind.ADDED, after[j].k, None, after[j])) for j in come]
        behind = -1
        for i, item in enumerate(before):
            if i in there:
                behind = there[i]
            else:
                places.append((behind, 1, i, Change(ChangeKind.REMOVED, item.k, item)))
    places.sort(key=lambda p: p[:3])
    changes = [p[3] for p in places]
    moved = _moved(before, after, pairs)
    if moved:
        changes.append(Change(ChangeKind.MOVED, after[moved[0]].k, moved=tuple([after[j].k for j in moved])))
    lost = () if complete else (*(before[i] for i in gone), *(after[j] for j in come))
    return tuple(changes), lost


def _same(before: Sequence[Item], after: Sequence[Item]) -> bool:
    return len(before) == len(after) and all(a is b or (a.k == b.k and a.fp == b.fp) for a, b in zip(before, after, strict=True))


def _matched(before: Sequence[Item], after: Sequence[Item]) -> list[Pair]:
    """Match items by key (of equal keys the first with the first), and blocks by content and place."""
    pairs: list[Pair] = []
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for i, item in enumerate(before):
        if not item.k.startswith(BLOCK):
            waiting[item.k].append(i)
    for j, item in enumerate(after):
        if not item.k.startswith(BLOCK) and waiting[item.k]:
            pairs.append((waiting[item.k].popleft(), j))
    old = [i for i, item in enumerate(before) if item.k.startswith(BLOCK)]
    new = [j for j, item in enumerate(after) if item.k.startswith(BLOCK)]
    if old and new:
        pairs += _blocks(before, after, old, new)
    return sorted(pairs)


def _blocks(before: Sequence[Item], after: Sequence[Item], old: list[int], new: list[int]) -> list[Pair]:
    equal = _by_content(before, after, old, new)
    # between two blocks that stand as they stood, what differs is paired in order; then what is left over, in order
    anchors = [*_longest(equal), (len(before), len(after))]
    pairs = list(equal)
    low_i = low_j = -1
    for i, j in anchors:
        taken, arrived = {p[0] for p in pairs}, {p[1] for p in pairs}
        pairs += zip(
            [x for x in old if low_i < x < i and x not in taken], [y for y in new if low_j < y < j and y not in arrived], strict=False
        )
        low_i, low_j = i, j
    taken, arrived = {p[0] for p in pairs}, {p[1] for p in pairs}
    return pairs + list(zip([x for x in old if x not in taken], [y for y in new if y not in arrived], strict=False))


def _by_content(before: Sequence[Item], after: Sequence[Item], old: Iterable[int], new: Iterable[int]) -> list[Pair]:
    """Match by equal content, the first with the first."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    for i in old:
        waiting[before[i].fp].append(i)
    return [(waiting[after[j].fp].popleft(), j) for j in new if waiting[after[j].fp]]


def _renamed(before: Sequence[Item], after: Sequence[Item], pairs: list[Pair]) -> list[Pair]:
    """Match what has no counterpart by equal content. A setting's value says nothing about which setting it is."""
    taken, arrived = {p[0] for p in pairs}, {p[1] for p in pairs}
    old = [i for i, item in enumerate(before) if i not in taken and item.category is not Category.SETTINGS]
    new = [j for j, item in enumerate(after) if j not in arrived and item.category is not Category.SETTINGS]
    return _by_content(before, after, old, new)


def _parts(old: Item, new: Item) -> tuple[str, ...]:
    """Return which named parts of an item differ."""
    was = dict(old.aspects)
    names = dict.fromkeys([*was, *(name for name, _ in new.aspects)])
    now = dict(new.aspects)
    return tuple([name for name in names if was.get(name) != now.get(name)])


def _moved(before: Sequence[Item], after: Sequence[Item], pairs: list[Pair]) -> list[int]:
    """Return the places, on the newer side, of common items outside a longest common subsequence. Settings have no order."""
    common = [p for p in pairs if before[p[0]].category is not Category.SETTINGS]
    if all(a[1] < b[1] for a, b in itertools.pairwise(common)):
        return []
    # Which of several longest subsequences is taken must not depend on which side is the older one: else a comparison and
    # its reverse would name different items.
    forward, backward = [before[i].k for i, _ in common], [after[j].k for _, j in sorted(common, key=lambda p: p[1])]
    stay = set(_longest(common)) if forward <= backward else {(i, j) for j, i in _longest(sorted((j, i) for i, j in common))}
    return sorted(j for i, j in common if (i, j) not in stay)


def _longest(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a longest subsequence of pairs, ascending on the first side, that ascends on the second too (patience sorting)."""
    pairs = sorted(pairs)
    tails: list[int] = []
    ends: list[int] = []
    behind: list[int] = []
    for n, (_, j) in enumerate(pairs):
        pile = bisect_left(tails, j)
        behind.append(ends[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[pile], ends[pile] = j, n
    found: list[Pair] = []
    at = ends[-1] if ends else -1
    while at != -1:
        found.append(pairs[at])
        at = behind[at]
    return found[::-1]
