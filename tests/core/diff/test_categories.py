"""What a category did: its state, coverage, tokens, and changes that follow from others."""

from __future__ import annotations

import pytest
from ctx_inspect.core.diff.categories import category_report, with_knock_ons
from ctx_inspect.core.diff.report import NoBaseline, State
from ctx_inspect.core.diff.tokens import StoreCounts
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import Category, Estimated, Origin, Raw, Unavailable
from ctx_inspect.core.text.tokens import BytesCounter

from tests.core.diff.contexts import context, item, items, said

SKILLS, TOOLS, SYSTEM, SETTINGS = Category.SKILLS, Category.TOOLS, Category.SYSTEM, Category.SETTINGS


def counts() -> StoreCounts:
    return StoreCounts(Measure(BytesCounter()))


def test_same_and_changed_are_as_well_known_as_the_lists() -> None:
    before, after = context(items(TOOLS, "a=1/2")), context(items(TOOLS, "a=1/3"))
    found = category_report(TOOLS, before, after)
    assert (found.state, found.coverage.grade) == (State.CHANGED, "estimated")
    assert [c.evidence for c in found.changes] == ["confirmed"]
    assert category_report(TOOLS, before, before).state is State.SAME
    assert category_report(SKILLS, before, after).state is State.SAME


def test_nothing_is_removed_from_what_is_not_known() -> None:
    before, after = context(items(TOOLS, "a=1/2")), context(unavailable=(TOOLS,))
    for pair in ((before, after), (after, before)):
        found = category_report(TOOLS, *pair, counts())
        assert (found.state, found.changes, found.coverage.note) == (State.UNAVAILABLE, (), "the test does not record it")
        assert isinstance(found.tokens.delta, Unavailable)


def test_what_may_only_be_unattributed_is_lost() -> None:
    before, after = (
        context(items(SETTINGS, "model=big"), partly=(SETTINGS,)),
        context(items(SETTINGS, "model=small thinking=high"), partly=(SETTINGS,)),
    )
    found = category_report(SETTINGS, before, after)
    assert [(c.k, c.before and c.before.shown, c.after and c.after.shown) for c in found.changes] == [("model", "big", "small")]
    assert [i.k for i in found.lost] == ["thinking"]


def test_absence_proves_nothing_where_either_side_is_incomplete() -> None:
    whole, partly = context(items(TOOLS, "a=1/2 b=1/3")), context(items(TOOLS, "a=1/2 c=1/4"), partly=(TOOLS,))
    for pair in ((whole, partly), (partly, whole)):
        found = category_report(TOOLS, *pair)
        assert (found.state, found.changes) == (State.SAME, ())
        assert sorted(i.k for i in found.lost) == ["b", "c"]


def test_snapshots_of_two_points_are_not_compared() -> None:
    found = category_report(TOOLS, context(items(TOOLS, "a=1/2")), context(items(TOOLS, "a=1/2"), point="wire"))
    assert (found.state, found.baseline_why) == (State.NO_BASELINE, NoBaseline.POINT_CHANGED)


def test_tokens_of_a_category_and_of_each_change() -> None:
    before = context(items(TOOLS, f"a={'x' * 35}/ b={'y' * 70}/"))
    after = context(items(TOOLS, f"a={'x' * 105}/ c={'z' * 140}/"))
    found = category_report(TOOLS, before, after, counts())
    by = {c.k: c.tokens for c in found.changes}
    how = BytesCounter().name
    assert by["a"].delta == Estimated(20, how)
    assert by["c"].delta == Estimated(40, how)
    assert isinstance(by["c"].before, Unavailable)
    assert by["b"].delta == Estimated(-20, how)
    assert found.tokens.delta == Estimated(40, how)


def test_a_listed_skill_whose_body_changed_has_not_changed() -> None:
    """Of a skill that is only listed the listing is the context; its body is none until it is loaded."""
    listing = items(SKILLS, "testing=listing")
    assert category_report(SKILLS, context(listing), context(listing, messages=said("the body of the skill"))).state is State.SAME


def test_helpers_of_an_mcp_server_follow_it() -> None:
    origin = Origin("mcp", name=Raw("mini"))
    helper = item(TOOLS, "list_mcp_resources=d/s")
    before, after = context(items(TOOLS, "read=d/s")), context(items(TOOLS, "read=d/s"), (item(TOOLS, "mini_lookup=d/s", origin), helper))
    found = with_knock_ons([category_report(TOOLS, before, after)])[0]
    assert [(c.k, c.follows) for c in found.changes] == [("mini_lookup", None), ("list_mcp_resources", "mcp:mini")]
    # without a server that came or went beside it nothing is known of why
    alone = with_knock_ons([category_report(TOOLS, before, context(items(TOOLS, "read=d/s"), (helper,)))])[0]
    assert [c.follows for c in alone.changes] == [None]


@pytest.mark.parametrize("section", ["tools", "rules"])
def test_sections_that_are_written_from_the_tools_follow_them(section: str) -> None:
    def follows(tools: str, said: str, origin: Origin) -> list[str | None]:
        before = context((item(SYSTEM, f"{section}=one", origin),), items(TOOLS, "a=1/1"))
        after = context((item(SYSTEM, f"{section}={said}", origin),), items(TOOLS, tools))
        return [c.follows for c in with_knock_ons([category_report(c, before, after) for c in (TOOLS, SYSTEM)])[1].changes]

    harness = Origin("harness")
    assert follows("a=1/1 b=2/2", "two", harness) == ["tools"]
    assert follows("", "two", harness) == ["tools"]
    # tools that stay, whatever else of them changes, and sections that are somebody else's, explain nothing
    assert follows("a=1/1", "two", harness) == [None]
    assert follows("a=1/9", "two", harness) == [None]
    assert follows("a=1/1 b=2/2", "two", Origin("extension", name=Raw(section))) == [None]


def test_what_the_history_knows_is_said_of_that_item_only() -> None:
    before = context(items(SYSTEM, "preamble=1 cwd=1"))
    after = context(items(SYSTEM, "preamble=2 cwd=2"))
    found = with_knock_ons([category_report(SYSTEM, before, after)], {(SYSTEM, Raw("preamble")): "model"})[0]
    assert [(c.k, c.follows) for c in found.changes] == [("preamble", "model"), ("cwd", None)]


@pytest.mark.parametrize("servers", [("mini", "other"), ()])
def test_helpers_are_not_said_to_follow_one_of_several_servers_or_none(servers: tuple[str, ...]) -> None:
    came = tuple(item(TOOLS, f"{s}_lookup=d/s", Origin("mcp", name=Raw(s))) for s in servers)
    helper = item(TOOLS, "read_mcp_resource=d/s")
    found = with_knock_ons([category_report(TOOLS, context(), context(came, (helper,)))])[0]
    assert {c.k: c.follows for c in found.changes}["read_mcp_resource"] is None


def test_a_helper_that_goes_does_not_follow_a_server_that_comes() -> None:
    came = item(TOOLS, "mini_lookup=d/s", Origin("mcp", name=Raw("mini")))
    found = with_knock_ons([category_report(TOOLS, context(items(TOOLS, "read_mcp_resource=a/b")), context((came,)))])[0]
    assert {c.k: c.follows for c in found.changes} == {"read_mcp_resource": None, "mini_lookup": None}


def test_a_knock_on_is_of_content_and_not_of_where_it_stands() -> None:
    before, after = context(items(SYSTEM, "a=1 b=2 c=3")), context(items(SYSTEM, "c=3 a=1 b=2"))
    found = with_knock_ons([category_report(SYSTEM, before, after)], {(SYSTEM, Raw("c")): "model"})[0]
    assert [(c.k, c.follows) for c in found.changes] == [("c", None)]
