"""The verdict on one request: what is said of a loss, and what never is."""

from __future__ import annotations

from typing import Any

import pytest
from ctx_inspect.core.cache.model import Cache, CacheCause, CacheCode, CacheVerdict
from ctx_inspect.core.cache.verdict import Setting, verdict
from ctx_inspect.core.diff.report import Flag
from ctx_inspect.core.model import (
    Category,
    Chain,
    Context,
    Estimated,
    Item,
    Known,
    Mark,
    MarkKind,
    Message,
    Model,
    Part,
    PartKind,
    Raw,
    Request,
    Role,
    Unavailable,
    Usage,
    replace,
    value_of,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.core.cache.made import LARGE, ONE, PROMPT, TOOLS, asked, block, carried, file, message, setting, spent, talk, tool
from tests.core.ledgers import compaction

MINUTE = 60_000
ALL = (*PROMPT, *TOOLS)
TALK = talk(*(f"m{n}" for n in range(40)))  # 7,000 tokens in front of it, 40,000 in it
MORE = talk("m40", base=TALK)
EDITED = tuple(file("AGENTS.md", "b") if i.k == "AGENTS.md" else i for i in ALL)  # behind 4,000 tokens
FULL = spent(3, 0, 47_000)
AGENTS = Raw("AGENTS.md")


def judged(read: int, before: Context, after: Context, *between: Mark, old: Known[Usage] = FULL, **more: Any) -> CacheVerdict:
    """The verdict on a request that read so much, 30 seconds after one that filled the cache."""
    at, model = more.pop("at", 30_000), more.pop("model", LARGE)
    known = Setting(**{"writes": True, **more})
    older = asked("a1", old, before)
    return verdict(older, asked("a2", spent(3, read, 48_000 - read), after, at, model=model), between, known=known, counter=ONE)


def cause(*args: Any, **more: Any) -> CacheCause:
    found = judged(*args, **more).cause
    assert found is not None
    return found


def test_kept_has_no_cause_whatever_differs() -> None:
    found = judged(47_000, carried(ALL, TALK), carried(EDITED, MORE))
    assert (found.verdict, found.evidence, found.cause) == (Cache.KEPT, "confirmed", None)
    assert (found.request, found.step, found.r, found.reusable, found.rewritten) == ("a1", 1, 1.0, 47_000, 0)
    assert value_of(found.prefix).item == AGENTS  # type: ignore[union-attr]


def test_an_item_where_the_read_ends_is_the_cause() -> None:
    found = judged(4_000, carried(ALL, TALK), carried(EDITED, MORE))
    assert (found.verdict, found.evidence, found.rewritten) == (Cache.PARTIAL, "confirmed", 43_000)
    assert found.cause is not None
    assert (found.cause.code, found.cause.item, found.cause.explained) == (CacheCode.INSTRUCTIONS, AGENTS, True)
    assert found.cause.evidence == "estimated"
    assert "tools, system, messages" in (found.cause.how or "")
    assert ONE.name in (found.cause.how or "")


@pytest.mark.parametrize("read", [0, 1_500, 30_000])
def test_an_item_where_the_read_does_not_end_is_none(read: int) -> None:
    found = cause(read, carried(ALL, TALK), carried(EDITED, MORE))
    assert (found.code, found.item, found.explained) == (CacheCode.UNATTRIBUTED, None, False)
    assert cause(read, carried(ALL, TALK), carried(ALL, MORE)).code is CacheCode.UNATTRIBUTED


def test_the_same_loss_without_what_stands_in_front_names_no_item() -> None:
    found = judged(4_000, carried(ALL, TALK, known=False), carried(EDITED, MORE, known=False))
    assert (found.verdict, found.evidence, found.rewritten) == (Cache.PARTIAL, "estimated", 43_000)
    assert isinstance(found.prefix, Unavailable)
    assert found.cause is not None
    assert (found.cause.code, found.cause.item, found.cause.explained) == (CacheCode.UNATTRIBUTED, None, False)
    assert "figures alone" in (found.how or "")
    for before, after in [
        (carried(ALL, TALK, known=False), carried(EDITED, MORE)),
        (carried(ALL, TALK), carried(EDITED, MORE, known=False)),
    ]:
        assert cause(4_000, before, after).item is None


@pytest.mark.parametrize(
    ("items", "read", "code", "item"),
    [
        ((*PROMPT, TOOLS[0], tool("write", "b"), TOOLS[2]), 1_000, CacheCode.TOOL_CHANGED, "write"),
        ((*PROMPT, *TOOLS[::-1]), 0, CacheCode.TOOLS_REORDERED, None),
        ((*PROMPT, *TOOLS, tool("grep")), 3_000, CacheCode.TOOLS_ADDED_REMOVED, "grep"),
        ((*PROMPT[:3], block("cwd", "b"), *TOOLS), 6_000, CacheCode.SYSTEM_CHANGED, "cwd"),
    ],
)
def test_codes_of_items(items: tuple[Item, ...], read: int, code: CacheCode, item: str | None) -> None:
    found = cause(read, carried(ALL, TALK), carried(items, MORE))
    assert (found.code, found.item, found.explained) == (code, item, True)


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ((Flag.VOLATILE,), CacheCode.VOLATILE_BLOCK),
        ((Flag.FLAPPING,), CacheCode.FLAPPING),
        ((Flag.VOLATILE, Flag.FLAPPING), CacheCode.FLAPPING),
    ],
)
def test_what_an_item_turns_out_to_be(flags: tuple[Flag, ...], code: CacheCode) -> None:
    known = {(Category.INSTRUCTIONS, AGENTS): flags}
    found = cause(4_000, carried(ALL, TALK), carried(EDITED, MORE), flags=known)
    assert (found.code, found.item, found.explained) == (code, AGENTS, True)
    other = {(Category.SYSTEM, AGENTS): flags}
    assert cause(4_000, carried(ALL, TALK), carried(EDITED, MORE), flags=other).code is CacheCode.INSTRUCTIONS


def test_what_returned_is_read_from_when_it_was_there_before() -> None:
    known = {(Category.INSTRUCTIONS, AGENTS): (Flag.FLAPPING,)}
    found = cause(30_000, carried(ALL, TALK), carried(EDITED, MORE), flags=known)
    assert (found.code, found.item, found.explained, found.evidence) == (CacheCode.FLAPPING, AGENTS, False, "estimated")
    assert cause(0, carried(ALL, TALK), carried(EDITED, MORE), flags=known).item is None


def test_model_and_provider_come_before_items() -> None:
    other, elsewhere = Model(Raw("acme"), Raw("small")), Model(Raw("zenith"), Raw("large"))
    both = carried(ALL, TALK), carried(EDITED, MORE)
    assert cause(4_000, *both, model=other) == CacheCause(CacheCode.MODEL, "confirmed")
    assert cause(4_000, *both, model=elsewhere) == CacheCause(CacheCode.PROVIDER, "confirmed")
    assert cause(4_000, *both, model=Model(None, None)).code is CacheCode.INSTRUCTIONS
    assert cause(4_000, *both, model=other, reason=True).code is CacheCode.PROVIDER_REASON


def test_a_setting_that_changed() -> None:
    def changed(k: str, *, known: bool = True) -> CacheCause:
        low, high = (*ALL, setting(k, "low")), (*ALL, setting(k, "high"))
        return cause(4_000, carried(low, TALK, known=known), carried(high, MORE, known=known))

    low = (*ALL, setting("thinking", "low"))
    how = "a setting that is sent changed; that the cache was lost by it is not known"
    for k in ("thinking", "reasoning_effort", "tool_choice", "parallel_tool_calls", "service_tier"):
        assert changed(k) == changed(k, known=False) == CacheCause(CacheCode.SETTINGS, "estimated", how=how)
    # of a setting that no cache is kept by nothing is concluded
    for k in ("temperature", "max_tokens", "anything"):
        assert changed(k).code is changed(k, known=False).code is CacheCode.UNATTRIBUTED
    # one that is on one side only says nothing, and neither does what is told by another name
    assert cause(4_000, carried(low, TALK), carried(ALL, MORE)).code is CacheCode.UNATTRIBUTED
    agents = carried((*ALL, setting("agent", "plan")), TALK), carried((*ALL, setting("agent", "build")), MORE)
    assert cause(4_000, *agents).code is CacheCode.UNATTRIBUTED


def test_a_recorded_event_where_the_lists_differ() -> None:
    folded = talk("summary", *(f"m{n}" for n in range(35, 41)))
    mark = compaction(1, 20_000)
    for known in (True, False):
        before, after = carried(ALL, TALK, known=known), carried(ALL, folded, known=known)
        found = cause(7_000, before, after, mark)
        assert (found.code, found.item, found.explained) == (CacheCode.COMPACTION, None, known)
        assert found.evidence == ("confirmed" if known else "estimated")
        # one that failed rewrote nothing
        failed = cause(7_000, before, after, replace(mark, status="failed"))
        assert failed.code is CacheCode.HISTORY_REWRITTEN
        # and one that is recorded while the list only grew is no cause
        assert cause(7_000, carried(ALL, TALK, known=known), carried(ALL, MORE, known=known), mark).code is CacheCode.UNATTRIBUTED


def test_a_rewrite_that_no_event_tells_of_is_named_only_where_the_read_ends_there() -> None:
    edited = talk("m35=other", *(f"m{n}" for n in range(36, 41)), base=TALK, keep=35)  # 5,000 tokens of the older list stand behind it
    both = carried(ALL, TALK, known=False), carried(ALL, edited, known=False)
    found = cause(42_000, *both)
    assert (found.code, found.evidence, found.explained) == (CacheCode.HISTORY_REWRITTEN, "estimated", False)
    assert "message 36" in (found.how or "")
    assert cause(30_000, *both).code is CacheCode.UNATTRIBUTED
    assert cause(0, *both).code is CacheCode.UNATTRIBUTED


def test_an_event_without_messages_to_look_at() -> None:
    bare = replace(carried(ALL, TALK), coverage={})
    assert cause(7_000, bare, bare, compaction(1, 20_000)).code is CacheCode.COMPACTION
    assert cause(7_000, bare, bare, Mark(MarkKind.LABEL, 0)).code is CacheCode.UNATTRIBUTED
    assert cause(7_000, bare, bare, replace(compaction(1, 20_000), status="failed")).code is CacheCode.UNATTRIBUTED
    older = asked("a1", FULL, None)
    found = verdict(older, asked("a2", spent(3, 7_000), None), [compaction(1, 0)], known=Setting(writes=True)).cause
    assert found is not None
    assert found.code is CacheCode.COMPACTION


def test_a_prune_costs_from_the_first_message_it_touched() -> None:
    def result(fp: str) -> Chain:
        output = Message("t", Role.TOOL, fp, (Part(PartKind.RESULT, fp, 9_000),))
        return Chain(None, 0, (message("m1"), message("m2"), output, *(message(f"m{n}") for n in range(3, 9))))

    before, after = carried(ALL, result("whole")), carried(ALL, result("pruned"))
    found = cause(9_000, before, after, Mark(MarkKind.PRUNE, 20_000), old=spent(3, 0, 24_000))
    assert (found.code, found.evidence, found.explained) == (CacheCode.PRUNE, "confirmed", True)
    assert cause(9_000, before, after, old=spent(3, 0, 24_000)).code is CacheCode.HISTORY_REWRITTEN
    # where the read ends at the front already the event is what is known, not what explains it
    early = cause(2_000, before, after, Mark(MarkKind.PRUNE, 20_000), old=spent(3, 0, 24_000))
    assert (early.code, early.evidence, early.explained) == (CacheCode.PRUNE, "estimated", False)
    assert cause(2_000, before, after, old=spent(3, 0, 24_000)).code is CacheCode.UNATTRIBUTED


def test_idleness_is_an_assumption_unless_the_request_says_how_long() -> None:
    both = carried(ALL, TALK), carried(ALL, MORE)
    cold = judged(0, *both, at=6 * MINUTE)
    assert (cold.verdict, cold.evidence, cold.idle_ms, cold.ttl_ms) == (Cache.COLD, "estimated", 6 * MINUTE, 5 * MINUTE)
    assert cold.cause is not None
    assert (cold.cause.code, cold.cause.evidence) == (CacheCode.IDLE, "estimated")
    assert "assumed" in (cold.ttl_how or "")
    said = judged(0, *both, at=61 * MINUTE, ttl_ms=60 * MINUTE)
    assert (said.verdict, said.evidence, said.ttl_how) == (Cache.COLD, "confirmed", None)
    assert judged(0, *both, at=6 * MINUTE, ttl_ms=60 * MINUTE).verdict is Cache.LOST
    part = judged(4_000, *both, at=6 * MINUTE)
    assert part.verdict is Cache.PARTIAL
    assert part.cause is not None
    assert part.cause.code is CacheCode.IDLE
    # an item that accounts for it is the cause all the same
    assert cause(4_000, carried(ALL, TALK), carried(EDITED, MORE), at=6 * MINUTE).code is CacheCode.INSTRUCTIONS


def test_a_change_behind_the_last_breakpoint_is_no_break() -> None:
    both = carried(ALL, TALK), carried(EDITED, MORE)
    assert cause(3_900, *both, last_breakpoint=3_900).code is CacheCode.UNATTRIBUTED
    assert cause(3_900, *both).item == AGENTS
    assert cause(4_000, *both, last_breakpoint=40_000).item == AGENTS
    assert cause(4_000, carried(ALL, TALK), carried(ALL, MORE), breakpoints_moved=True).code is CacheCode.BREAKPOINTS


def test_the_first_request() -> None:
    first = asked("a1", FULL, carried(ALL, TALK))
    found = verdict(None, first, known=Setting(writes=True))
    assert (found.verdict, found.evidence, found.cause, found.request, found.reusable) == (Cache.COLD, "confirmed", None, None, None)
    assert isinstance(found.prefix, Unavailable)
    bare = verdict(None, replace(first, context=carried(ALL, TALK, known=False)), known=Setting(writes=True))
    assert (bare.verdict, bare.evidence) == (Cache.COLD, "estimated")


def test_two_requests_alone_tell_whether_writes_are_reported() -> None:
    older, newer = asked("a1", spent(40_000, 0, 0)), asked("a2", spent(2_000, 40_000, 0))
    assert verdict(older, newer).reusable == 40_000
    assert verdict(older, newer).written is None
    assert verdict(asked("a1", FULL), newer).reusable == 47_000


ITEMS = st.permutations(ALL).flatmap(lambda p: st.integers(0, len(p)).map(lambda n: tuple(p[:n])))
REQUESTS = st.builds(
    asked,
    st.just("a"),
    st.builds(spent, st.integers(0, 50_000), st.integers(0, 50_000), st.integers(0, 50_000)),
    st.none() | st.builds(carried, ITEMS, st.sampled_from([TALK, MORE, talk("x", "m1")]), known=st.booleans()),
    st.none() | st.integers(0, 10**7),
    model=st.sampled_from([LARGE, Model(Raw("zenith"), Raw("large"))]),
)


@given(st.none() | REQUESTS, REQUESTS, st.lists(st.sampled_from([compaction(1, 0), Mark(MarkKind.PRUNE, 0), Mark(MarkKind.REVERT, 0)])))
def test_what_never_is_said(before: Request | None, this: Request, between: list[Mark]) -> None:
    found = verdict(before, this, between, counter=ONE)
    known = isinstance(found.prefix, Estimated)
    cause = found.cause
    assert found.evidence in ("confirmed", "estimated", "unavailable")
    assert (found.evidence == "confirmed") == (found.how is None)
    if not known:
        assert found.evidence != "confirmed" or before is None
        assert cause is None or (cause.item is None and not cause.explained)
    if cause is not None:
        assert found.verdict in (Cache.LOST, Cache.PARTIAL, Cache.COLD)
        assert (cause.evidence == "estimated") == (cause.how is not None)
        assert cause.item is None or (found.prefix.value.item == cause.item and cause.explained)  # type: ignore[union-attr]
    elif before is not None:
        assert found.verdict not in (Cache.LOST, Cache.PARTIAL, Cache.COLD)
