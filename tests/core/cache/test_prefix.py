"""What stands in front of the first difference."""

from __future__ import annotations

from typing import Any

import pytest
from ctx_inspect.core.cache.model import CacheCode, Prefix
from ctx_inspect.core.cache.prefix import ORDER, Difference, difference, explains, fits_the_end, prefix
from ctx_inspect.core.model import Category, Chain, Coverage, Estimated, Item, Message, Part, PartKind, Role, Unavailable, replace
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale
from hypothesis import given
from hypothesis import strategies as st

from tests.core.cache.made import KNOWN, ONE, PROMPT, TOOLS, block, carried, file, message, setting, skill, talk, tool

ALL = (*PROMPT, *TOOLS)
TALK = talk("m1", "m2")


def told(before: Any, after: Any) -> Prefix:
    known = prefix(before, after, ONE)
    assert isinstance(known, Estimated)
    assert ORDER in known.how
    return known.value


def with_(*items: Item) -> tuple[Item, ...]:
    """The same items, some of them with other content."""
    other = {i.k: i for i in items}
    return tuple(other.get(i.k, i) for i in ALL)


def test_growth_keeps_the_whole_prefix() -> None:
    found = told(carried(ALL, TALK), carried(ALL, talk("m3", base=TALK)))
    assert (found.tokens, found.whole, found.item, found.category, found.message) == (Estimated(9_000, ONE.name), True, None, None, None)


@pytest.mark.parametrize(
    ("items", "tokens", "code", "item"),
    [
        (with_(tool("write", "b")), 1_000, CacheCode.TOOL_CHANGED, "write"),
        ((*PROMPT, *TOOLS, tool("grep")), 3_000, CacheCode.TOOLS_ADDED_REMOVED, "grep"),
        ((*PROMPT, tool("grep"), *TOOLS), 0, CacheCode.TOOLS_ADDED_REMOVED, "grep"),
        ((*PROMPT, *TOOLS[1:]), 0, CacheCode.TOOLS_ADDED_REMOVED, "read"),
        ((*PROMPT, *TOOLS[::-1]), 0, CacheCode.TOOLS_REORDERED, None),
        (with_(block("preamble", "b")), 3_000, CacheCode.SYSTEM_CHANGED, "preamble"),
        (with_(file("AGENTS.md", "b")), 4_000, CacheCode.INSTRUCTIONS, "AGENTS.md"),
        ((PROMPT[0], *PROMPT[2:], *TOOLS), 4_000, CacheCode.INSTRUCTIONS, "AGENTS.md"),
        (with_(skill("testing", "b")), 5_000, CacheCode.SKILLS, "testing"),
        ((*PROMPT[:3], skill("review"), PROMPT[3], *TOOLS), 6_000, CacheCode.SKILLS, "review"),
        # tools are read before the prompt, so theirs is the first difference
        (with_(file("AGENTS.md", "b"), tool("bash", "b")), 2_000, CacheCode.TOOL_CHANGED, "bash"),
    ],
)
def test_the_first_item_that_differs(items: tuple[Item, ...], tokens: int, code: CacheCode, item: str | None) -> None:
    before, after = carried(ALL, TALK), carried(items, talk("m3", base=TALK))
    found = told(before, after)
    assert (found.tokens, found.whole, found.item) == (Estimated(tokens, ONE.name), False, item)
    assert found.message is None
    assert difference(before, after, Scale()).code is code


def test_the_first_message_that_differs() -> None:
    before = talk("m1", "m2", "m3")
    found = told(carried(ALL, before), carried(ALL, talk("m2=pruned", "m3", "m4", base=before, keep=1)))
    assert (found.tokens, found.category, found.message, found.item) == (Estimated(8_000, ONE.name), "conversation", 1, None)
    # the same where neither list was made from the other
    found = told(carried(ALL, before), carried(ALL, talk("m1", "m2=pruned", "m3")))
    assert (found.tokens, found.message) == (Estimated(8_000, ONE.name), 1)


def test_settings_stand_nowhere_in_the_prefix() -> None:
    assert told(carried((*ALL, setting("thinking", "low")), TALK), carried((*ALL, setting("thinking", "high")), TALK)).whole


def test_a_block_without_a_name_is_known_by_its_content() -> None:
    before, after = (*TOOLS, block("block:1"), block("block:2", "b")), (*TOOLS, block("block:1"), block("block:3", "b"))
    assert told(carried(before, TALK), carried(after, TALK)).whole
    assert told(carried(before, TALK), carried((*TOOLS, block("block:1", "z"), block("block:2", "b")), TALK)).item == "block:1"


@pytest.mark.parametrize("category", [Category.TOOLS, Category.INSTRUCTIONS, Category.SKILLS, Category.SYSTEM, Category.CONVERSATION])
@pytest.mark.parametrize("older", [True, False])
def test_no_prefix_where_something_in_it_is_not_recorded(category: Category, older: bool) -> None:
    whole = carried(ALL, TALK)
    partly = replace(whole, coverage={**KNOWN, category: Coverage("unavailable")})
    assert isinstance(prefix(partly, whole) if older else prefix(whole, partly), Unavailable)
    assert isinstance(prefix(None, whole) if older else prefix(whole, None), Unavailable)


def test_what_has_no_size_is_named() -> None:
    picture = Chain(None, 0, (Message("m1", Role.USER, "m1", (Part(PartKind.TEXT, "m1", 500), Part(PartKind.MEDIA, "p", 90_000))),))
    found = told(carried((*ALL, tool("odd", size=None)), picture), carried((*ALL, tool("odd", size=None)), talk("m2", base=picture)))  # type: ignore[arg-type]
    assert found.tokens == Estimated(7_500, f"{ONE.name}, 2 parts not counted")


def test_a_scale_that_weighed_another_list_before_weighs_the_same() -> None:
    scale, lists = Scale(), [talk("m1", "m2")]
    for n in range(3, 30):
        lists.append(talk(f"m{n}", base=lists[-1]))
    for a, b in [(27, 26), (3, 2), (20, 4), (0, 27)]:
        before, after = carried(ALL, lists[a]), carried(ALL, lists[b])
        assert difference(before, after, scale) == difference(before, after, Scale())


@given(st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True), st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True))
def test_the_prefix_is_what_both_lists_of_tools_begin_with(old: list[str], new: list[str]) -> None:
    before, after = carried([tool(k) for k in old], TALK), carried([tool(k) for k in new], TALK)
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    found = difference(before, after, Scale())
    if old == new:
        assert found.whole
        return
    assert found.size == 1_000 * same
    assert found.code in (CacheCode.TOOLS_REORDERED, CacheCode.TOOLS_ADDED_REMOVED)
    if found.code is CacheCode.TOOLS_ADDED_REMOVED:
        assert (found.item in old) != (found.item in new)
        assert found.item in (*old[same : same + 1], *new[same : same + 1])
    else:
        assert old[same] in new
        assert new[same] in old


CHANGED = Difference(20_000, code=CacheCode.INSTRUCTIONS, category=Category.INSTRUCTIONS, slack=4_000)


@pytest.mark.parametrize(
    ("read", "reusable", "explained"),
    [
        (20_000, 60_000, True),
        (17_000, 60_000, True),
        (24_000, 60_000, True),  # the file's beginning is still the same
        (8_000, 60_000, False),
        (50_000, 60_000, False),
        (0, 60_000, False),
        (15_000, 15_500, False),  # what differs stands behind all that was cached
    ],
)
def test_a_loss_is_explained_where_the_read_ends_at_the_difference(read: int, reusable: int, explained: bool) -> None:
    assert explains(read, reusable, CHANGED, ONE) is explained
    assert not explains(read, reusable, Difference(20_000, whole=True), ONE)


def test_of_a_prefix_that_is_too_short_nothing_is_read() -> None:
    short = replace(CHANGED, size=900)
    assert explains(0, 60_000, short, ONE)
    assert not explains(0, 60_000, replace(CHANGED, size=1_100), ONE)
    assert explains(0, 60_000, replace(CHANGED, size=1_100), ONE, least=2_048)


def test_the_plain_ratio_may_be_further_off_than_a_calibrated_one() -> None:
    plain, calibrated = BytesCounter(), BytesCounter(4.0, "calibrated on this session")
    assert explains(7_300, 60_000, replace(CHANGED, size=35_000, slack=0), plain)
    assert not explains(7_300, 60_000, replace(CHANGED, size=40_000, slack=0), calibrated)


def test_a_read_may_be_told_from_the_end_too() -> None:
    rest = talk("m3", "m4", "m5").messages()  # 3,000 tokens; how much of m3 still stands is not known
    assert [fits_the_end(n, rest, ONE) for n in (1_500, 1_600, 3_000, 3_500, 3_600)] == [False, True, True, True, False]
    assert not fits_the_end(0, (), ONE)
    assert not fits_the_end(3_000, (*rest, message("m6", size=None)), ONE)
