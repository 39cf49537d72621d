"""Where two sequences differ: always right, the least on short ones, and never slow."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from ctx_inspect.core.text.hunks import Hunk, hunks
from hypothesis import given
from hypothesis import strategies as st

ROWS = st.lists(st.integers(0, 4), max_size=12)


def rebuilt(before: list[int], after: list[int], found: list[Hunk]) -> list[int]:
    """Apply the differences to the older side; what stands between them must be equal on both."""
    out: list[int] = []
    i = j = 0
    for a, b, c, d in found:
        assert before[i:a] == after[j:c]
        out += before[i:a] + after[c:d]
        i, j = b, d
    assert before[i:] == after[j:]
    return out + before[i:]


@given(ROWS, ROWS)
def test_the_differences_make_the_newer_side_of_the_older(before: list[int], after: list[int]) -> None:
    found = hunks(before, after)
    assert rebuilt(before, after, found) == after
    assert all(x.b < y.a or x.d < y.c for x, y in itertools.pairwise(found))
    assert all(h.a < h.b or h.c < h.d for h in found)


@given(ROWS, ROWS)
def test_equal_sides_have_none(before: list[int], after: list[int]) -> None:
    assert hunks(before, before) == []
    assert bool(hunks(before, after)) == (before != after)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("abcd", "abXcd", [Hunk(2, 2, 2, 3)]),
        ("abcd", "ad", [Hunk(1, 3, 1, 1)]),
        ("abcd", "aXYd", [Hunk(1, 3, 1, 3)]),
        ("aabbaabb", "aabaabb", [Hunk(3, 4, 3, 3)]),
        ("xaxbxcx", "xaxBxcx", [Hunk(3, 4, 3, 4)]),
        ("aaaa", "aa", [Hunk(2, 4, 2, 2)]),
        ("abab", "baba", [Hunk(0, 1, 0, 0), Hunk(4, 4, 3, 4)]),
    ],
)
def test_short_ones_are_told_by_the_least(before: str, after: str, found: list[Hunk]) -> None:
    assert hunks(before, after) == found


@given(ROWS, ROWS)
def test_with_no_work_left_it_is_still_right(before: list[int], after: list[int]) -> None:
    assert rebuilt(before, after, hunks(before, after, work=0)) == after


LINES = [f"line {i}" for i in range(50_000)]
RANDOM = random.Random(7)


def edited(lines: list[str]) -> list[str]:
    return ["x" + line if i % 50 == 0 else line for i, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LINES, edited(LINES)),
        (LINES, LINES[::-1]),
        (LINES, RANDOM.sample(LINES, len(LINES))),
        (LINES, ["y" + line for line in LINES]),
        (RANDOM.choices("ab", k=50_000), RANDOM.choices("ab", k=50_000)),
        (["same"] * 50_000, ["same"] * 25_000 + ["other"] + ["same"] * 24_000),
        (LINES, []),
    ],
    ids=["edits", "reversed", "shuffled", "all new", "two kinds", "one kind", "emptied"],
)
def test_long_texts_of_any_kind_take_no_time_worth_waiting(before: list[str], after: list[str]) -> None:
    began = time.process_time()
    found = hunks(before, after)
    assert time.process_time() - began < 1.5  # 0.15 s is the aim; this fails where time grows with the square
    assert found
