"""The Cache tab, an item's card, the map of what moved and the signs of the timeline, as they are written."""

from __future__ import annotations

import itertools
import re

import pytest
from ctx_inspect.core.budget import Sent
from ctx_inspect.core.cache.figures import Figures
from ctx_inspect.core.cache.model import Cache, CacheCause, CacheCode, CacheVerdict, Prefix
from ctx_inspect.core.diff.drift import NO_MOVES, TurnDrift
from ctx_inspect.core.diff.history import Dated, ItemHistory, MovedMap, MovedRow, Version
from ctx_inspect.core.diff.report import Change, ChangeKind, State
from ctx_inspect.core.model import Category, Confirmed, Estimated, Item, Known, Origin, Raw, Request, Unavailable, Usage, Why
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.timeline import timeline
from ctx_inspect.core.views.cache import CacheView, Sums, cache_sheet
from ctx_inspect.core.views.card import card_rows
from ctx_inspect.core.views.drift import Told, cache_share, cache_span, drift_spans
from ctx_inspect.core.views.glyphs import ascii_twin
from ctx_inspect.core.views.layout import lay, plain, text_of
from ctx_inspect.core.views.moved import MovedLines, changes_named, legend, numbers, turns_in
from ctx_inspect.core.views.sheet import NOTHING, Column, Sheet
from ctx_inspect.core.views.timeline import StepKey, TimelineView, TurnKey

from tests.app.fakes import FakeSource, ledger
from tests.core.reports import KEPT, LOST, est, item, replace
from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert

TOOLS, SKILLS, SETTINGS = Category.TOOLS, Category.SKILLS, Category.SETTINGS
SENT = Sent(40, 30_000, 9_000, 560_000, 60_000)
PROJECT = Raw("/home/ann/my-app")


def request(step: int) -> Request:
    return Request(f"r{step}", 1000 * step, step=step, usage=Confirmed(Usage(100, 5, None, 1000, 0)))


def cache(*verdicts: CacheVerdict, sums: Sums | None = None, sent: Sent = SENT, width: int = 63) -> list[str]:
    steps = [(request(n), v) for n, v in enumerate(verdicts, 1)]
    laid = lay(cache_sheet(CacheView(9, steps, sums, sent, PROJECT)), width, 1, 14)
    assert all(cells(text_of(line)) <= width for line in laid.lines)
    return [re.sub(" +", " ", text_of(line).rstrip()) for line in laid.lines]


# --- the Cache tab -------------------------------------------------------------------------------------------


def test_a_step_says_its_verdict_and_figures() -> None:
    assert cache(KEPT)[0] == " 1 ● kept 97% 40.0k 1.3k 41.2k"
    sheet = cache_sheet(CacheView(9, [(request(1), KEPT)], None, SENT))
    assert sheet.rows[0].key == StepKey(9, "r1")


def test_a_loss_says_its_cause_with_its_evidence() -> None:
    text = cache(LOST)
    assert text[0] == " 1 ○ lost 0% 0 1.3k 41.2k"
    assert text[1] == " at filesystem_search confirmed"
    assert any("41.3k sent anew · against turn 11 step 1" in line for line in text)


def test_where_the_prefix_breaks_is_told_apart_from_the_cause() -> None:
    prefix = Estimated(
        Prefix(est(2_936), "tools, system, messages", item=Raw("/home/ann/my-app/AGENTS.md")), "order tools, system, messages assumed"
    )
    cause = CacheCause(CacheCode.UNATTRIBUTED, "estimated", how="the prefix did not change")
    text = "\n".join(cache(replace(LOST, cause=cause, prefix=prefix), width=100))
    assert "cause not recorded" in text
    assert "the prefix did not change" in text
    assert "stable prefix ≈2,936, up to AGENTS.md; order tools, system, messages assumed" in text


def test_what_nobody_reported_is_a_dash_with_the_reason() -> None:
    none = CacheVerdict(Cache.NOT_REPORTED, "unavailable", "the provider reports no cache figures in this session")
    text = cache(none, sums=Sums(3, 0), sent=Sent(3, 100, 5, None, None), width=80)
    assert text[0] == " 1 – not reported — — — —"
    assert any("the provider reports no cache figures" in line for line in text)
    assert any(line.startswith(" Read from cache —") for line in text)
    assert any(line.startswith(" Breaks — no request reported") for line in text)


def test_the_session_is_summed_up() -> None:
    text = "\n".join(cache(KEPT, sums=Sums(40, 40, 2, 3, 44_500, (4, 6, 8)), width=80))
    assert "Read from cache 560.0k of 650.0k sent, 86%" in text
    assert "Breaks 5 2 whole, 3 in part, of 40 requests" in text
    assert "Sent anew 44.5k that had been cached, in turns 4, 6, 8" in text
    assert "comparing" in "\n".join(cache(KEPT))


def test_idle_is_shown_where_there_is_room_and_said_where_it_is_the_cause() -> None:
    idle = replace(
        LOST,
        verdict=Cache.COLD,
        idle_ms=720_000,
        ttl_ms=300_000,
        ttl_how="lifetime of 5 minutes assumed",
        cause=CacheCause(CacheCode.IDLE, "estimated"),
    )
    assert "12 min" in cache(idle, width=80)[0]
    text = "\n".join(cache(idle, width=100))
    assert "idle 12 min" in text
    assert "lifetime of 5 minutes assumed" in text


@pytest.mark.parametrize("width", [20, 40, 63, 97])
def test_the_cache_tab_at_every_width(width: int) -> None:
    assert cache(KEPT, LOST, sums=Sums(40, 40, 2, 3, 44_500, tuple(range(1, 40))), width=width)


# --- cards ---------------------------------------------------------------------------------------------------


def card(story: ItemHistory | None, change: Change | None = None, count: Known[int] | None = None, readable: bool = False) -> str:
    rows = card_rows(story, change, lambda i: count or est(2_444 if i.fp == "b" else 1_204), readable=readable)
    return "\n".join(re.sub(" +", " ", line) for line in plain(Sheet((Column(NOTHING, 0),), rows), 200))


AGENTS = Item(Category.INSTRUCTIONS, Raw("AGENTS.md"), "b", origin=Origin("file", Raw("/home/ann/my-app/AGENTS.md")))
STORY = ItemHistory(
    Category.INSTRUCTIONS,
    Raw("AGENTS.md"),
    1,
    (Dated(31, Change(ChangeKind.MODIFIED, AGENTS.k)), Dated(47, Change(ChangeKind.MODIFIED, AGENTS.k))),
    (Version(replace(AGENTS, fp="a"), 30), Version(AGENTS, 38)),
)


def test_a_card_says_when_it_changed_and_what_it_cost() -> None:
    text = card(STORY, readable=True)
    assert "file /home/ann/my-app/AGENTS.md" in text
    assert "there since turn 1 · changed in turns 31, 47" in text
    assert "≈1,204 × 30 + ≈2,444 × 38 requests = ≈129.0k sent so far" in text
    assert "v shows what changed in its text" in text
    assert "≈2,444 × 38 requests = ≈92.9k sent so far" in card(replace(STORY, versions=STORY.versions[1:]))
    assert "the store keeps no text of it" in card(STORY)


def test_a_card_of_many_contents_and_changes_stays_short() -> None:
    many = replace(
        STORY,
        changes=tuple(Dated(n, Change(ChangeKind.MODIFIED, AGENTS.k)) for n in range(2, 40)),
        versions=tuple(Version(replace(AGENTS, fp=str(n)), 2) for n in range(38)),
        period=2,
    )
    text = card(many)
    assert "changed in 38 turns, last 37, 38, 39" in text
    assert "38 contents in 76 requests = ≈91.5k sent so far" in text
    assert "the same again after 2 turns" in text


def test_a_card_of_what_never_changed_and_of_what_nobody_can_count() -> None:
    assert "there since turn 1 · never changed" in card(replace(STORY, changes=()))
    assert "carried by 68 requests; tokens —: media" in card(STORY, count=Unavailable(Why.UNKNOWN, "media"))
    assert "looking it up…" in card(None)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_origins_are_inert(name: str) -> None:
    evil = replace(AGENTS, origin=Origin("mcp", None, Raw(HOSTILE[name])))
    assert all(inert(line) for line in card(replace(STORY, versions=(Version(evil, 1),))).split("\n"))


# --- what moved ----------------------------------------------------------------------------------------------


def moved(turns: int = 17, width: int = 34, **more: object) -> MovedLines:
    kinds = [None] * turns
    rows = (
        MovedRow(Category.INSTRUCTIONS, Raw("/home/ann/my-app/AGENTS.md"), (ChangeKind.MODIFIED, *kinds[1:]), (False,) * turns),
        MovedRow(TOOLS, Raw(""), (*kinds[:-1], ChangeKind.MOVED), (False,) * turns),
        MovedRow(Category.SYSTEM, Raw("block:2"), (ChangeKind.MODIFIED,) * turns, (True,) * turns),
    )
    last = 47
    return MovedLines(MovedMap(tuple(range(last - turns + 1, last + 1)), (True,) * turns, rows), width, PROJECT, **more)  # type: ignore[arg-type]


def test_a_clock_is_a_solid_row_and_a_shuffle_one_sign() -> None:
    found = moved()
    texts = [text_of(found.line(i)).rstrip() for i in range(3)]
    assert texts == [" AGENTS.md   ~················", " tool order  ················⇄", " block:2     ≋≋≋≋≋≋≋≋≋≋≋≋≋≋≋≋≋"]
    head = text_of(found.head() or ()).rstrip()
    assert head.endswith("47")
    assert head.index("47") + 2 == len(texts[1])


def test_numbers_of_turns_end_above_their_cells() -> None:
    for turns in (tuple(range(1, 3)), tuple(range(31, 48)), tuple(range(9_990, 10_011)), (7,), ()):
        line = numbers(turns)
        assert len(line) <= len(turns)
        for found in re.finditer(r"\d+", line):
            assert turns[found.end() - 1] == int(found[0])
    assert numbers(tuple(range(31, 48))).split()[-1] == "47"


@pytest.mark.parametrize("width", [14, 20, 34, 60, 120])
def test_the_map_at_every_width(width: int) -> None:
    found = moved(min(40, turns_in(width)), width, selected=47)
    for i in range(len(found)):
        assert cells(text_of(found.line(i))) == width
    assert cells(text_of(found.head() or ())) == width
    assert cells(text_of(legend(width))) == width


def test_an_empty_map_says_so() -> None:
    assert "nothing changed" in text_of(MovedLines(MovedMap((1, 2), (False, True), ()), 40).line(0))


def test_which_items_changed_in_few_words() -> None:
    def told(*changes: tuple[Category, Change]) -> str | None:
        return changes_named(changes, PROJECT)

    agents = Change(ChangeKind.MODIFIED, Raw("/home/ann/my-app/AGENTS.md"))
    model = Change(ChangeKind.MODIFIED, Raw("model"), after=item(SETTINGS, "model", "f", "acme/fast"))
    assert told() is None
    assert told((Category.INSTRUCTIONS, agents)) == "~ AGENTS.md"
    assert told((TOOLS, Change(ChangeKind.MOVED, Raw("a"), moved=(Raw("a"),)))) == "tools reordered"
    assert told((SETTINGS, model)) == "model → fast"
    assert told((SKILLS, Change(ChangeKind.ADDED, Raw("testing"))), (SETTINGS, model)) == "+ testing +1"
    assert told((TOOLS, replace(agents, follows="mcp:x"))) is None


# --- the timeline's signs --------------------------------------------------------------------------------------


def drifted(**more: object) -> TurnDrift:
    base = TurnDrift(9, (State.SAME,) * 6, (frozenset(),) * 6, (False,) * 6, ("confirmed",) * 6, (NO_MOVES,) * 6)
    return replace(base, **more)


def signs(turn: TurnDrift) -> str:
    return "".join(s.text for s in drift_spans(turn))


def test_signs_of_drift() -> None:
    states = (State.SAME, State.CHANGED, State.CHANGED, State.UNAVAILABLE, State.NO_BASELINE, State.REWRITTEN)
    two = frozenset({ChangeKind.ADDED, ChangeKind.MODIFIED})
    kinds = (frozenset(), frozenset({ChangeKind.ADDED}), two, frozenset(), frozenset(), frozenset())
    assert signs(drifted(states=states, kinds=kinds)) == "·+±?○!"
    assert signs(drifted(states=(*states[:5], State.GROWTH), kinds=kinds, volatile=(False, False, True, False, False, False))) == "·+≋?○·"
    for kind, sign in zip(ChangeKind, "+-~⇄→", strict=True):
        assert signs(drifted(states=(State.CHANGED, *states[1:]), kinds=(frozenset({kind}), *kinds[1:])))[0] == sign
    twins = [ascii_twin(s) for s in "·+-~⇄→±!?○≋"]
    assert len(set(twins)) == len(twins)


def test_signs_and_shares_of_the_cache() -> None:
    assert [cache_span(Figures(c)).text for c in Cache] == ["●", "◐", "○", "◌", "–", "–"]
    assert [cache_share(Figures(Cache.KEPT, r=r)).text for r in (0.97, 0.999, 1.0, 0.001, 0.0, None)] == [
        "97%",
        "99%",
        "100%",
        "1%",
        "0%",
        "—",
    ]
    assert cache_span(None).text == cache_share(None).text == ""
    assert len({ascii_twin(s) for s in "●◐○◌–"}) == 5


def test_changed_and_broken_turns_are_found_in_both_directions() -> None:
    changed = drifted(states=(State.CHANGED, *[State.SAME] * 5))
    told = Told((drifted(), changed, drifted(), changed), (None, Figures(Cache.KEPT), Figures(Cache.LOST), Figures(Cache.PARTIAL)))
    assert told.near(1, 1, told.changed) == 2
    assert told.near(2, 1, told.changed) == 4
    assert told.near(4, 1, told.changed) is None
    assert told.near(4, -1, told.changed) == 2
    assert told.near(1, 1, told.broken) == 3
    assert told.near(3, -1, told.broken) is None


def test_columns_of_the_timeline_leave_in_their_order() -> None:
    made = ledger("opencode:main", "x")
    view = TimelineView(timeline(made, FakeSource([]).window), told=Told())
    order: list[tuple[str, ...]] = []
    for width in range(120, 19, -1):
        sized = view.sized(width)
        head = text_of(sized.head() or ())
        assert cells(head) == width
        now = tuple(c for c in ("what", " st ", "tokens", "time", "window", "cache", "Δ", "iktsyc") if c in head + " ")
        if not order or now != order[-1]:
            order.append(now)
    assert [set(a) - set(b) for a, b in itertools.pairwise(order)][:8] == [
        {"what"},
        {" st "},
        {"tokens"},
        {"time"},
        {"window"},
        {"cache"},
        {"Δ"},
        {"iktsyc"},
    ]


def test_a_turn_and_its_steps_have_their_cache() -> None:
    made = ledger("opencode:main", "x")
    figures = [Figures(Cache.KEPT, r=0.97)] * 46 + [Figures(Cache.LOST, r=0.0)]
    told = Told((drifted(),) * 47, figures, lambda id_: Figures(Cache.PARTIAL, r=0.5) if id_ == "m47.2" else None)
    view = TimelineView(timeline(made, FakeSource([]).window), frozenset({47}), told=told, marked=12).sized(100)
    assert "·····" in text_of(view.line(view.find(TurnKey(47)) or 0))
    assert re.search(r"······ +○ +0%", text_of(view.line(view.find(TurnKey(47)) or 0)))
    assert re.search(r"◐ +50%", text_of(view.line(view.find(StepKey(47, "m47.2")) or 0)))
    assert text_of(view.line(view.find(TurnKey(12)) or 0)).startswith("⇢")
