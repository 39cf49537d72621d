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

BY_CONTENT = "matched by equal content"
BY_PLACE = "matched by place alone"

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
    in_place = () if before is after else _in_place(before, after)
    if in_place is not None:
        return tuple([_modified(before[n], after[n]) for n in in_place]), ()
    pairs, ordered = _matched(before, after)
    renamed = _renamed(before, after, pairs)
    places: list[tuple[int, int, int, Change]] = []
    for i, j in pairs:
        if before[i].fp != after[j].fp:
            places.append((j, 0, 0, _modified(before[i], after[j], how=BY_PLACE if (i, j) in ordered else None)))
    for i, j in renamed:
        change = Change(ChangeKind.RENAMED, after[j].k, before[i], after[j], before[i].k, evidence="estimated", how=BY_CONTENT)
        places.append((j, 0, 0, change))
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
    moved = _moved(before, after, [p for p in pairs if p not in ordered])
    if moved:
        changes.append(Change(ChangeKind.MOVED, after[moved[0]].k, moved=tuple([after[j].k for j in moved])))
    lost = () if complete else (*(before[i] for i in gone), *(after[j] for j in come))
    return tuple(changes), lost


def _in_place(before: Sequence[Item], after: Sequence[Item]) -> Sequence[int] | None:
    """Return the places that differ where both sides have the same items in the same order, as most have; else ``None``."""
    if len(before) != len(after):
        return None
    places: list[int] = []
    for n, (a, b) in enumerate(zip(before, after, strict=True)):
        if a is b:
            continue
        if a.k != b.k:
            return None
        if a.fp != b.fp:
            if a.k.startswith(BLOCK):
                return None  # which block it is is not said by its key
            places.append(n)
    return places


def _modified(old: Item, new: Item, how: str | None = None) -> Change:
    """Return a change of content; ``how`` where it is concluded that both are one item."""
    return Change(
        ChangeKind.MODIFIED, new.k, old, new, parts=_parts(old, new), evidence="confirmed" if how is None else "estimated", how=how
    )


def _matched(before: Sequence[Item], after: Sequence[Item]) -> tuple[list[Pair], set[Pair]]:
    """Match items by key (of equal keys the first with the first), and blocks by content and place.

    Returns:
        All pairs, ascending on the older side; and those of them that nothing but their order joins.
    """
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
    equal, ordered = _blocks(before, after, old, new) if old and new else ([], [])
    return sorted([*pairs, *equal, *ordered]), set(ordered)


def _blocks(before: Sequence[Item], after: Sequence[Item], old: list[int], new: list[int]) -> tuple[list[Pair], list[Pair]]:
    """Match blocks: those of equal content, and those that only their order joins."""
    equal = _by_content(before, after, old, new)
    taken, arrived = {p[0] for p in equal}, {p[1] for p in equal}
    gone, come = [i for i in old if i not in taken], [j for j in new if j not in arrived]
    if not gone or not come:
        return equal, []
    # What stands between the same two blocks as before belongs together, in order; then what is left over, in order.
    anchors = _staying(before, after, equal)
    lows, highs = [i for i, _ in anchors], [j for _, j in anchors]
    gaps: dict[int, deque[int]] = defaultdict(deque)
    for i in gone:
        gaps[bisect_left(lows, i)].append(i)
    ordered: list[Pair] = []
    rest: list[int] = []
    for j in come:
        gap = gaps[bisect_left(highs, j)]
        if gap:
            ordered.append((gap.popleft(), j))
        else:
            rest.append(j)
    left = sorted(itertools.chain.from_iterable(gaps.values()))
    return equal, [*ordered, *zip(left, rest, strict=False)]


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
    """Return the places, on the newer side, of common items outside a longest common subsequence.

    Settings have no order. A block that only its order joins to another has not moved: it is known by nothing else.
    """
    common = [p for p in pairs if before[p[0]].category is not Category.SETTINGS]
    stay = set(_staying(before, after, common))
    return sorted(j for i, j in common if (i, j) not in stay)


def _staying(before: Sequence[Item], after: Sequence[Item], pairs: list[Pair]) -> list[Pair]:
    """Return a longest common subsequence of pairs, ascending.

    Which of several is taken must not depend on which side is the older one: else a comparison and its reverse would name
    different items.
    """
    pairs = sorted(pairs)
    if all(a[1] < b[1] for a, b in itertools.pairwise(pairs)):
        return pairs
    forward = [(before[i].k, before[i].fp) for i, _ in pairs]
    backward = [(after[j].k, after[j].fp) for _, j in sorted(pairs, key=lambda p: p[1])]
    if forward <= backward:
        return _longest(pairs)
    return sorted((i, j) for j, i in _longest(sorted((j, i) for i, j in pairs)))


def _longest(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a longest subsequence of pairs, which ascend on the first side, that ascends on the second too (patience sorting)."""
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
