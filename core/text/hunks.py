"""Where two sequences differ: fast on long texts, and never slow on any.

What is equal at both ends is set aside; then elements that occur once on both sides, in the longest order that both have,
cut the rest into gaps (the idea of patience diff); a gap is compared by the shortest edit script, as far as a budget of work
goes. Where that is used up the gap is told as replaced: more than the least, never wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

WORK = 150_000
"""Steps of edit scripts in one comparison, all gaps together: a tenth of a second at most."""

DEEP = 500
"""Edits within one gap at most: the memory of a script grows with their square."""


class Hunk(NamedTuple):
    """One place where the two differ: ``before[a:b]`` stands where ``after[c:d]`` does now."""

    a: int
    b: int
    c: int
    d: int


def hunks(before: Sequence[Hashable], after: Sequence[Hashable], work: int = WORK) -> list[Hunk]:
    """Return where two sequences differ, in order; neighbouring places are one.

    Args:
        before: The older one.
        after: The newer one.
        work: Steps that may be spent on edit scripts.
    """
    known = {x: i for i, x in enumerate(dict.fromkeys([*before, *after]))}
    old, new = [known[x] for x in before], [known[x] for x in after]
    left = [work]
    found: list[Hunk] = []
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        a, b, c, d = _trimmed(old, new, *waiting.pop())
        if a == b or c == d:
            if a != b or c != d:
                found.append(Hunk(a, b, c, d))
            continue
        anchors = _anchors(old, new, a, b, c, d)
        if anchors:
            waiting.extend(_gaps(anchors, a, b, c, d))
        else:
            found.extend(_script(old, new, a, b, c, d, left))
    return _merged(sorted(found))


def _trimmed(old: list[int], new: list[int], a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """Leave out what is equal at both ends."""
    while a < b and c < d and old[a] == new[c]:
        a += 1
        c += 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b -= 1
        d -= 1
    return a, b, c, d


def _anchors(old: list[int], new: list[int], a: int, b: int, c: int, d: int) -> list[tuple[int, int]]:
    """Return places of elements that occur once in both gaps, in the longest order that both have."""
    mine, theirs = _once(old, a, b), _once(new, c, d)
    if not mine or not theirs:
        return []
    pairs = [(i, theirs[x]) for x, i in mine.items() if x in theirs]
    if len(pairs) < 2:
        return pairs
    # the longest increasing run of their places: each pile's top, and for each pair the top of the pile before
    tops: list[int] = []
    ends: list[int] = []
    back = [-1] * len(pairs)
    for n, (_, j) in enumerate(pairs):
        pile = len(tops) if not tops or j > tops[-1] else bisect_left(tops, j)
        back[n] = ends[pile - 1] if pile else -1
        if pile == len(tops):
            tops.append(j)
            ends.append(n)
        else:
            tops[pile], ends[pile] = j, n
    run: list[tuple[int, int]] = []
    at = ends[-1]
    while at >= 0:
        run.append(pairs[at])
        at = back[at]
    return run[::-1]


def _once(row: list[int], start: int, stop: int) -> dict[int, int]:
    """Return the places of elements that occur once, in order."""
    part = row[start:stop]
    places = dict(zip(part, range(start, stop), strict=True))
    if len(places) == len(part):
        return places
    times = Counter(part)
    return {x: i for x, i in places.items() if times[x] == 1}


def _gaps(anchors: Iterable[tuple[int, int]], a: int, b: int, c: int, d: int) -> list[tuple[int, int, int, int]]:
    out: list[tuple[int, int, int, int]] = []
    for i, j in anchors:
        if i != a or j != c:
            out.append((a, i, c, j))
        a, c = i + 1, j + 1
    if a < b or c < d:
        out.append((a, b, c, d))
    return out


def _script(old: list[int], new: list[int], a: int, b: int, c: int, d: int, left: list[int]) -> list[Hunk]:
    """Return the shortest edit script of a gap, or the gap as replaced where that would take too long."""
    if set(old[a:b]).isdisjoint(new[c:d]):
        return [Hunk(a, b, c, d)]
    n, m = b - a, d - c
    reach: dict[int, int] = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(n + m, DEEP) + 1):
        trail.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            if k < -m or k > n:
                continue
            down = k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1))
            x = reach.get(k + 1, 0) if down else reach.get(k - 1, 0) + 1
            y = x - k
            start = x
            while x < n and y < m and old[a + x] == new[c + y]:
                x += 1
                y += 1
            reach[k] = x
            left[0] -= 1 + x - start
            if x >= n and y >= m:
                return _walked(trail, n, m, a, c)
        if left[0] < 0:
            break
    return [Hunk(a, b, c, d)]


def _walked(trail: list[dict[int, int]], n: int, m: int, a: int, c: int) -> list[Hunk]:
    """Follow an edit script back from its end; return its edits."""
    out: list[Hunk] = []
    x, y = n, m
    for edits in range(len(trail) - 1, 0, -1):
        reach = trail[edits]
        k = x - y
        down = k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1))
        before = k + 1 if down else k - 1
        at = reach.get(before, 0)
        px, py = at, at - before
        out.append(Hunk(a + px, a + px, c + py, c + py + 1) if down else Hunk(a + px, a + px + 1, c + py, c + py))
        x, y = px, py
    return out


def _merged(found: Iterable[Hunk]) -> list[Hunk]:
    out: list[Hunk] = []
    for hunk in found:
        if out and out[-1].b == hunk.a and out[-1].d == hunk.c:
            out[-1] = Hunk(out[-1].a, hunk.b, out[-1].c, hunk.d)
        else:
            out.append(hunk)
    return out
