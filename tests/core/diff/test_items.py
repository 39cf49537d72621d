"""What changed between two lists of items, each kind and each pair of kinds, and against a brute force."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from ctx_inspect.core.diff.items import item_changes
from ctx_inspect.core.diff.report import Change, ChangeKind
from ctx_inspect.core.model import Category, Item
from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.contexts import items

TOOLS = Category.TOOLS


def words(changes: tuple[Change, ...]) -> list[str]:
    """Return changes in short: ``+ a``, ``- a``, ``~ a``, ``a > b``, ``moved a b``."""
    out: list[str] = []
    for c in changes:
        match c.kind:
            case ChangeKind.ADDED:
                out.append(f"+ {c.k}")
            case ChangeKind.REMOVED:
                out.append(f"- {c.k}")
            case ChangeKind.MODIFIED:
                out.append(f"~ {c.k}")
            case ChangeKind.RENAMED:
                out.append(f"{c.from_k} > {c.k}")
            case ChangeKind.MOVED:
                out.append("moved " + " ".join(c.moved))
    return out


def changed(before: str, after: str, category: Category = TOOLS) -> list[str]:
    return words(item_changes(items(category, before), items(category, after))[0])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a=1 b=2 c=3", "a=1 b=2 c=3", []),
        ("", "", []),
        ("a=1", "a=1 b=2", ["+ b"]),
        ("a=1 b=2", "b=2", ["- a"]),
        ("a=1 b=2", "a=9 b=2", ["~ a"]),
        ("a=1 b=2 c=3", "c=3 a=1 b=2", ["moved c"]),
        ("a=1 b=2", "a=1 z=2", ["b > z"]),
        # each pair of kinds
        ("a=1 b=2", "a=1 c=3", ["- b", "+ c"]),
        ("a=1 b=2", "a=9 b=2 c=3", ["~ a", "+ c"]),
        ("a=1 b=2 c=3", "c=3 a=1 b=2 d=4", ["+ d", "moved c"]),
        ("a=1 b=2", "a=1 z=2 c=3", ["b > z", "+ c"]),
        ("a=1 b=2 c=3", "a=9 c=3", ["~ a", "- b"]),
        ("a=1 b=2 c=3 d=4", "d=4 a=1 b=2", ["- c", "moved d"]),
        ("a=1 b=2 c=3", "a=1 z=2", ["b > z", "- c"]),
        ("a=1 b=2 c=3", "c=9 a=1 b=2", ["~ c", "moved c"]),
        ("a=1 b=2 c=3", "a=9 z=2 c=3", ["~ a", "b > z"]),
        ("a=1 b=2 c=3 d=4", "d=4 a=1 b=2 z=3", ["c > z", "moved d"]),
        # a shuffle is one change that names all that stand elsewhere
        ("a=1 b=2 c=3 d=4 e=5", "e=5 d=4 c=3 b=2 a=1", ["moved e d c b"]),
        # of equal keys the first goes with the first
        ("a=1 a=2", "a=1 a=2 a=3", ["+ a"]),
    ],
)
def test_each_kind_and_each_pair_of_kinds(before: str, after: str, expected: list[str]) -> None:
    found = changed(before, after)
    assert sorted(found, key=lambda w: w.startswith("moved")) == found
    if any(w.startswith("moved") for w in expected) and len(expected[-1].split()) > 2:
        # which four of five stand elsewhere is a choice; that it is four is not
        assert len(found) == len(expected)
        assert len(found[-1].split()) == len(expected[-1].split())
    else:
        assert found == expected


def test_removed_stands_behind_what_it_stood_behind() -> None:
    assert changed("a=1 b=2 c=3", "n=0 a=1 c=4") == ["+ n", "- b", "~ c"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("block:0=a block:1=b", "block:0=new block:1=a block:2=b", ["+ block:0"]),
        ("block:0=a block:1=b block:2=c", "block:0=a block:1=c", ["- block:1"]),
        ("block:0=a block:1=b block:2=c", "block:0=a block:1=x block:2=c", ["~ block:1"]),
        # inserted in front, and the last one edited: what stands behind the same neighbour belongs together
        ("block:0=a block:1=b", "block:0=new block:1=a block:2=x", ["+ block:0", "~ block:2"]),
        ("block:0=a block:1=b", "block:0=b block:1=a", ["moved block:1"]),
        # a block that turns out to be a file
        ("block:0=a", "AGENTS.md=a", ["block:0 > AGENTS.md"]),
    ],
)
def test_blocks_have_no_names_that_stay(before: str, after: str, expected: list[str]) -> None:
    found = changed(before, after, Category.SYSTEM)
    if expected == ["moved block:1"]:
        assert len(found) == 1
        assert found[0].startswith("moved block:")
    else:
        assert found == expected


def test_a_tool_says_which_part_changed() -> None:
    before = items(TOOLS, "read=d1/s1 write=d2/s2 edit=d3/s3 list=d4/s4")
    after = items(TOOLS, "read=d9/s1 write=d2/s9 edit=d9/s9 list=d4/s4")
    changes, _ = item_changes(before, after)
    assert [(c.k, c.parts) for c in changes] == [
        ("read", ("description",)),
        ("write", ("schema",)),
        ("edit", ("description", "schema")),
    ]


def test_settings_have_no_order_and_are_not_renamed() -> None:
    before, after = "provider=x model=big thinking=high", "thinking=high provider=x model=small"
    assert changed(before, after, Category.SETTINGS) == ["~ model"]
    assert changed("provider=x", "model=x", Category.SETTINGS) == ["- provider", "+ model"]


def test_what_is_only_on_one_side_of_an_incomplete_list_is_lost_and_not_removed() -> None:
    before, after = items(TOOLS, "a=1 b=2 c=3"), items(TOOLS, "a=9 c=3 d=4")
    changes, lost = item_changes(before, after, complete=False)
    assert words(changes) == ["~ a"]
    assert [i.k for i in lost] == ["b", "d"]


LISTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("123456")), max_size=6, unique_by=lambda p: p[0])


def made(pairs: list[tuple[str, str]]) -> tuple[Item, ...]:
    return items(TOOLS, " ".join(f"{k}={fp}" for k, fp in pairs))


@given(LISTS)
def test_nothing_changed_against_itself(pairs: list[tuple[str, str]]) -> None:
    assert item_changes(made(pairs), made(pairs)) == ((), ())


MIRROR = {ChangeKind.ADDED: ChangeKind.REMOVED, ChangeKind.REMOVED: ChangeKind.ADDED}


@given(LISTS, LISTS)
def test_the_reverse_mirrors(a: list[tuple[str, str]], b: list[tuple[str, str]]) -> None:
    there, back = item_changes(made(a), made(b))[0], item_changes(made(b), made(a))[0]

    def told(changes: tuple[Change, ...], turned: bool) -> set[tuple[object, ...]]:
        out: set[tuple[object, ...]] = set()
        for c in changes:
            kind = MIRROR.get(c.kind, c.kind) if turned else c.kind
            was, now = (c.after, c.before) if turned else (c.before, c.after)
            out.add((kind, was, now, frozenset(c.moved), frozenset(c.parts)))
        return out

    assert told(there, turned=False) == told(back, turned=True)


@given(LISTS, LISTS)
def test_as_many_changes_as_a_brute_force_finds(a: list[tuple[str, str]], b: list[tuple[str, str]]) -> None:
    changes = item_changes(made(a), made(b))[0]
    was, now = dict(a), dict(b)
    common = was.keys() & now.keys()
    modified = sum(was[k] != now[k] for k in common)
    gone, come = [was[k] for k in was if k not in common], [now[k] for k in now if k not in common]
    renamed = max(
        sum(x == y for x, y in zip(gone, order, strict=False))
        for order in permutations([*come, *[None] * max(0, len(gone) - len(come))], len(gone))
    )
    added, removed = len(come) - renamed, len(gone) - renamed
    old, new = [k for k, _ in a if k in common], [k for k, _ in b if k in common]
    longest = next(n for n in range(len(old), -1, -1) if set(combinations(old, n)) & set(combinations(new, n)))
    moved = len(common) - longest
    kinds = [c.kind for c in changes]
    assert [kinds.count(k) for k in ChangeKind] == [added, removed, modified, int(moved > 0), renamed]
    assert len(changes) == added + removed + modified + renamed + (1 if moved else 0)
    assert sum(len(c.moved) for c in changes) == moved
