"""What changed between two lists of items, each kind and each pair of kinds, and against a brute force."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest
from ctx_inspect.core.diff.items import item_changes
from ctx_inspect.core.diff.report import Change, ChangeKind
from ctx_inspect.core.model import Category, Item, replace
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


def test_what_is_one_item_by_inference_alone_is_estimated() -> None:
    renamed, _ = item_changes(items(TOOLS, "a=1/2 b=3/4"), items(TOOLS, "z=1/2 b=3/4"))
    assert [(c.kind, c.evidence, c.how) for c in renamed] == [(ChangeKind.RENAMED, "estimated", "matched by equal content")]
    before, after = items(Category.SYSTEM, "block:1=x block:2=y"), items(Category.SYSTEM, "block:1=x block:2=z")
    placed, _ = item_changes(before, after)
    assert [(c.kind, c.evidence, c.how) for c in placed] == [(ChangeKind.MODIFIED, "estimated", "matched by place alone")]
    keyed, _ = item_changes(items(TOOLS, "a=1/2"), items(TOOLS, "a=1/3"))
    assert [(c.evidence, c.how) for c in keyed] == [("confirmed", None)]


def test_settings_have_no_order_and_are_not_renamed() -> None:
    before, after = "provider=x model=big thinking=high", "thinking=high provider=x model=small"
    assert changed(before, after, Category.SETTINGS) == ["~ model"]
    assert changed("provider=x", "model=x", Category.SETTINGS) == ["- provider", "+ model"]


def test_what_is_only_on_one_side_of_an_incomplete_list_is_lost_and_not_removed() -> None:
    before, after = items(TOOLS, "a=1 b=2 c=3"), items(TOOLS, "a=9 c=3 d=4")
    changes, lost = item_changes(before, after, complete=False)
    assert words(changes) == ["~ a"]
    assert [i.k for i in lost] == ["b", "d"]


def test_of_equal_keys_the_one_behind_is_what_came_or_went() -> None:
    assert changed("a=1 a=2", "a=1 a=2") == []
    assert changed("a=1 a=2", "a=1 a=9") == ["~ a"]
    assert changed("a=1 a=2 b=3", "a=1 b=3") == ["- a"]


def test_a_block_that_nothing_but_its_order_joins_has_not_moved() -> None:
    assert changed("block:0=a block:1=b", "block:0=new block:1=a", Category.SYSTEM) == ["~ block:0"]


def test_a_block_that_moved_is_not_one_that_changed() -> None:
    before = "block:0=a block:1=b block:2=c block:3=d"
    assert changed(before, "block:0=d block:1=a block:2=b block:3=c", Category.SYSTEM) == ["moved block:0"]
    assert changed(before, "block:0=new block:1=d block:2=a block:3=b block:4=c", Category.SYSTEM) == ["+ block:0", "moved block:1"]


LISTS = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("123456")), max_size=6, unique_by=lambda p: p[0])


@st.composite
def mixed(draw: st.DrawFn) -> tuple[Item, ...]:
    """Make a list with blocks and with keys that repeat."""
    words: list[str] = []
    blocks = 0
    for name, content in draw(st.lists(st.tuples(st.sampled_from(["a", "b", "block"]), st.sampled_from("1234")), max_size=7)):
        words.append(f"block:{blocks}={content}" if name == "block" else f"{name}={content}")
        blocks += name == "block"
    return items(Category.SYSTEM, " ".join(words))


def made(pairs: list[tuple[str, str]]) -> tuple[Item, ...]:
    return items(TOOLS, " ".join(f"{k}={fp}" for k, fp in pairs))


@given(mixed())
def test_nothing_changed_against_itself(a: tuple[Item, ...]) -> None:
    copies = tuple(replace(i) for i in a)
    assert item_changes(a, a) == ((), ())
    assert item_changes(a, copies) == ((), ())
    assert item_changes(a, copies, complete=False) == ((), ())


MIRROR = {ChangeKind.ADDED: ChangeKind.REMOVED, ChangeKind.REMOVED: ChangeKind.ADDED}


def told(changes: tuple[Change, ...], after: tuple[Item, ...], turned: bool = False) -> Counter[tuple[object, ...]]:
    """Return changes as seen from the older side, or turned round; what moved by content where the key is only a place."""
    out: Counter[tuple[object, ...]] = Counter()
    for c in changes:
        kind = MIRROR.get(c.kind, c.kind) if turned else c.kind
        was, now = (c.after, c.before) if turned else (c.before, c.after)
        content = {i.k: i.fp for i in after}
        moved = sorted(content[k] if k.startswith("block:") else k for k in c.moved)
        out[kind, was, now, tuple(moved), c.parts] += 1
    return out


@given(mixed(), mixed())
def test_the_reverse_mirrors(a: tuple[Item, ...], b: tuple[Item, ...]) -> None:
    assert told(item_changes(a, b)[0], b) == told(item_changes(b, a)[0], a, turned=True)


@given(LISTS, LISTS)
def test_the_reverse_mirrors_what_changed_of_tools(a: list[tuple[str, str]], b: list[tuple[str, str]]) -> None:
    one, other = made(a), made(b)
    assert told(item_changes(one, other)[0], other) == told(item_changes(other, one)[0], one, turned=True)
    changes, lost = item_changes(one, other, complete=False)
    back, lost_back = item_changes(other, one, complete=False)
    assert told(changes, other) == told(back, one, turned=True)
    assert Counter(lost) == Counter(lost_back)
    sides = {i.k for i in one} ^ {i.k for i in other}
    renamed = {k for c in changes if c.kind is ChangeKind.RENAMED for k in (c.k, c.from_k)}
    assert {i.k for i in lost} == sides - renamed


@given(mixed(), mixed())
def test_each_item_is_told_of_once(a: tuple[Item, ...], b: tuple[Item, ...]) -> None:
    """Both sides go into the changes: without those that came, went or are another, as many of the same are left on each."""
    changes, lost = item_changes(a, b)
    assert not lost
    old, new = Counter((i.k, i.fp) for i in a), Counter((i.k, i.fp) for i in b)
    for c in changes:
        if c.before is not None:
            old.subtract([(c.before.k, c.before.fp)])
        if c.after is not None:
            new.subtract([(c.after.k, c.after.fp)])
    assert min([*old.values(), *new.values()], default=0) >= 0
    left = [sorted(("" if k.startswith("block:") else k, fp) for k, fp in side.elements()) for side in (old, new)]
    assert left[0] == left[1]


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
