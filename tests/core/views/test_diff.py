"""The Diff tab as a sheet: what stands on each row, on one side and on two, at every width."""

from __future__ import annotations

import re

import pytest
from ctx_inspect.core.diff.report import CauseKind, ChangeKind, Flag, NoBaseline, Report, State
from ctx_inspect.core.model import Category, Confirmed, Coverage, Item, Known, MarkKind, Raw, Unavailable, Why, replace
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.diff import DiffView, FoldKey, ItemKey, change_of, changed_keys, diff_sheet
from ctx_inspect.core.views.layout import Laid, lay, text_of
from ctx_inspect.core.views.sheet import Cell, Row, RowKind, Span

from tests.core.reports import (
    COMPACTED,
    LOST,
    WIRE,
    added,
    caused,
    change,
    est,
    item,
    mark,
    modified,
    opencode,
    part,
    removed,
    report,
    setting,
    talk,
    toks,
    without_baseline,
)
from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert

INSTRUCTIONS, SKILLS, TOOLS, SETTINGS, SYSTEM = list(Category)[:5]
NAMES = tuple(item(TOOLS, f"t{i}") for i in range(5))
ORDER = change(TOOLS, ChangeKind.MOVED, "t0", moved=tuple(Raw(f"t{i}") for i in range(5)))
FULL = report(
    part(INSTRUCTIONS, modified(INSTRUCTIONS, "/home/ann/my-app/AGENTS.md", 1204, 2444), tokens=toks(1514, 2754)),
    part(SKILLS, added(SKILLS, "testing", 310), removed(SKILLS, "old", 60), tokens=toks(900, 1150)),
    part(
        TOOLS,
        modified(TOOLS, "filesystem_search", 612, 532, parts=("schema",)),
        ORDER,
        before=NAMES,
        after=NAMES,
        tokens=toks(11_100, 11_020),
    ),
    part(SETTINGS, setting("model", "a/big", "a/fast")),
    conversation=COMPACTED,
    talk_tokens=toks(84_900, 22_000),
    cache=LOST,
)


def counted(_: Item) -> Known[int]:
    return est(100)


def laid(of: Report, width: int = 100, **more: object) -> Laid:
    return lay(diff_sheet(DiffView(of, counted, **more), width), width, 1, 10)  # type: ignore[arg-type]


def lines(of: Report, width: int = 100, **more: object) -> list[str]:
    return [text_of(line).rstrip() for line in laid(of, width, **more).lines]


def bare(of: Report, width: int = 100, **more: object) -> list[str]:
    """Return the lines with single blanks."""
    return [re.sub(" +", " ", line) for line in lines(of, width, **more)]


def test_sentences_come_first_with_their_witness_at_the_right() -> None:
    text = lines(FULL)
    assert text[0].startswith(" ! Compacted (auto): 184 → 9 messages, −62.9k")
    assert text[0].endswith(" recorded")
    assert cells(text[0]) == 99
    assert text[1].startswith(" ○ Cache lost at filesystem_search: 41.3k rewritten")


def test_two_sides_are_aligned() -> None:
    text = lines(FULL, 100)
    head = next(line for line in text if "before · turn 11" in line)
    right = head.index("after")
    row = next(line for line in text if "~ AGENTS.md" in line and "±" not in line)
    assert row.index("AGENTS.md") == head.index("before")
    assert row.index("AGENTS.md", right) == right
    assert row[right - 2] == "~"
    numbers = [re.search(rf"{re.escape(n)}", row).end() for n in ("≈1,204", "≈2,444", "≈+1,240")]  # type: ignore[union-attr]
    heading = next(line for line in text if line.startswith(" ▇ Instructions"))
    assert numbers == [heading.index(n) + len(n) for n in ("≈1.5k", "≈2.8k", "≈+1.2k")]
    assert [head.index("tokens") + 6, head.rindex("tokens") + 6, head.index("Δ") + 1] == numbers


def test_what_came_stands_on_the_newer_side_and_what_went_on_the_older() -> None:
    text = lines(FULL, 100)
    right = next(line for line in text if "before · turn 11" in line).index("after")
    came, went = (next(line for line in text if f"{sign} {k} " in line and "±" not in line) for sign, k in (("+", "testing"), ("-", "old")))
    assert came[:right].strip() == "+"
    assert came[right:].split()[:3] == ["testing", "≈310", "≈+310"]
    assert went[:right].split() == ["-", "old", "≈60"]
    assert went[right:].split() == ["≈−60"]


def test_one_side_names_an_item_once_with_two_numbers() -> None:
    text = bare(FULL, 66)
    assert " ~ AGENTS.md ≈1,204 ≈2,444 ≈+1,240" in text
    assert " + testing ≈310 ≈+310" in text
    assert " - old ≈60 ≈−60" in text
    assert " ~ filesystem_search ≈612 ≈532 ≈−80 schema" in text
    assert " ⇄ 5 reordered: t0, t1, t2, t3 and 1 more moved" in text
    assert " ~ model a/big → a/fast" in text
    assert " ▇ Conversation ≈84.9k ≈22.0k ≈−62.9k ✓ wire" in text
    assert " ! 184 → 9 messages −62.9k compacted" in text


def test_where_sides_are_shown_can_be_chosen() -> None:
    def two(width: int, **more: object) -> bool:
        return any("before · " in line for line in lines(FULL, width, **more))

    assert [two(w) for w in (79, 80, 200)] == [False, True, True]
    assert not two(100, sides=False)
    assert two(80, sides=True)
    assert not two(79, sides=True)


def test_where_there_are_few_lines_what_did_not_change_is_one() -> None:
    text = bare(opencode(), 80, low=True)
    assert " · settings unchanged" in text
    assert " ? instructions, skills, tools, system not recorded" in text
    assert not any("turn 11" in line for line in text)


def test_what_did_not_change_is_folded_until_it_is_wanted() -> None:
    of = report(part(TOOLS, modified(TOOLS, "read", 5, 6), before=NAMES, after=(*NAMES, item(TOOLS, "read", "b"))))
    assert "▸ 5 unchanged" in "".join(bare(of, 66))
    assert not any("t3" in line for line in bare(of, 66))
    text = bare(of, 66, unfolded=frozenset({TOOLS}))
    assert " ▾ 5 unchanged" in text
    assert " t3 ≈100 ≈100 ·" in text
    assert " - 5 unchanged" in bare(of, 66, unfolded=frozenset({TOOLS}), ascii_only=True)
    assert laid(of).find(FoldKey(TOOLS)) is not None
    assert laid(of, unfolded=frozenset({TOOLS})).find(ItemKey(TOOLS, Raw("t3"), changed=False)) is not None


def test_an_unavailable_category_says_why_on_its_own_line() -> None:
    text = bare(opencode())
    assert " ▇ Tools — OpenCode 1.x does not store it" in text
    assert not any(re.match(r" ▇ Tools.*(0|≈)", line) for line in text)


def test_what_is_not_recorded_is_folded_at_the_end() -> None:
    assert bare(FULL)[-1] == " ▸ 1 fact not recorded"
    assert bare(FULL, unfolded=frozenset({None}))[-1] == " headers: they are not part of a request body"


def test_without_a_baseline_only_the_newer_side_is_shown() -> None:
    of = without_baseline()
    items = replace(of.category(TOOLS), after=NAMES)
    of = replace(of, categories=tuple(items if c.category is TOOLS else c for c in of.categories))
    text = bare(of, 66)
    assert text[0] == " ○ No comparable baseline: it is the first turn. Cache cold."
    assert " ▇ Tools ≈1.0k no baseline" in text
    assert " ▸ 5 items" in text
    one = report(part(TOOLS, state=State.NO_BASELINE, baseline_why=NoBaseline.KEY_CHANGED))
    assert " ○ the key of the fingerprints changed" in bare(one, 66)


def test_what_a_change_turns_out_to_be() -> None:
    of = report(
        part(
            SYSTEM,
            modified(SYSTEM, "block:2", 40, 40, flags=(Flag.VOLATILE,)),
            modified(SYSTEM, "clock", 40, 40, flags=(Flag.VOLATILE, Flag.FLAPPING)),
            modified(SYSTEM, "tools", 40, 41, follows="tools"),
        ),
        part(SKILLS, change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("former"))),
        part(TOOLS, modified(TOOLS, "read", 5, 9, parts=("description", "schema"))),
    )
    text = bare(of, 66)
    assert " ~ block:2 ≈40 ≈40 · ≋ volatile" in text
    assert " ~ clock ≈40 ≈40 · ≋ flapping" in text
    assert " ~ tools ≈40 ≈41 ≈+1 with tools" in text
    assert " → former → new ≈5 ≈5 · renamed" in text
    assert " ~ read ≈5 ≈9 ≈+4 both parts" in text


def test_a_change_that_is_known_better_than_its_category_says_so() -> None:
    rebuilt = Coverage("estimated", how="rebuilt from the store: pi branch rules", all=True)
    of = report(
        part(INSTRUCTIONS, modified(INSTRUCTIONS, "a", 1, 2), coverage=rebuilt),
        part(TOOLS, modified(TOOLS, "t", 1, 2, parts=("schema",)), coverage=rebuilt),
        part(SKILLS, change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("former"), evidence="estimated"), coverage=rebuilt),
    )
    text = bare(of, 66)
    assert " → former → new ≈5 ≈5 · renamed" in text
    assert " ~ a ≈1 ≈2 ≈+1 ✓ recorded" in text
    assert " ~ t ≈1 ≈2 ≈+1 ✓ schema" in text
    assert " estimated: rebuilt from the store: pi branch rules" in text


def test_an_attribution_that_is_lost_is_neither_added_nor_removed() -> None:
    of = report(part(SETTINGS, lost=(item(SETTINGS, "thinking", shown="high"),)))
    assert any(line.startswith(" ? thinking attribution lost") for line in bare(of, 100))


def test_a_rewritten_conversation_names_only_what_is_recorded() -> None:
    causes = (caused(CauseKind.REVERT, mark(MarkKind.REVERT, counts={"turns": 2})), caused(CauseKind.NOT_RECORDED, evidence="unavailable"))
    of = report(conversation=talk(State.REWRITTEN, causes=causes, from_message=4, removed=2, before=20, after=20))
    text = bare(of, 66)
    assert " reverted 2 turns, recorded" in text
    assert " history rewritten: no record says why" in text
    assert " from message 5 on: 2 messages gone, 2 new" in text


def test_a_figure_that_is_missing_is_a_dash() -> None:
    none = Unavailable(Why.UNKNOWN, "media: no counter tells its tokens")
    gone = replace(toks(1, 1), after=none, delta=none)
    assert " ~ read ≈1 — —" in bare(report(part(TOOLS, modified(TOOLS, "read", 1, 2, tokens=gone), tokens=gone)), 66)
    sure = replace(toks(1, 1), before=Confirmed(1), after=Confirmed(3), delta=Confirmed(2))
    assert " ~ read 1 3 +2" in bare(report(part(TOOLS, modified(TOOLS, "read", 1, 2, tokens=sure))), 66)


def test_rows_open_under_their_item() -> None:
    key = ItemKey(TOOLS, Raw("filesystem_search"))
    under = Row((Cell((Span(text_of(())),)),), RowKind.BLANK)  # type: ignore[arg-type]
    found = laid(FULL, opened=key, under=(under,))
    place = found.find(key)
    assert place is not None
    assert text_of(found.line(place + 1)).strip() == ""


def test_keys_of_changes_lead_to_their_rows() -> None:
    keys = changed_keys(FULL)
    assert [(k.category.value, k.k) for k in keys] == [
        ("instructions", "/home/ann/my-app/AGENTS.md"),
        ("skills", "testing"),
        ("skills", "old"),
        ("tools", "filesystem_search"),
        ("tools", ""),
        ("settings", "model"),
        ("conversation", ""),
    ]
    places = [laid(FULL).find(k) for k in keys]
    assert None not in places
    assert places == sorted(places)  # type: ignore[type-var]
    found = [change_of(FULL, k) for k in keys]
    assert [c.kind for c in found if c is not None] == [c.kind for p in FULL.categories for c in p.changes]
    assert found[-1] is None


@pytest.mark.parametrize("low", [True, False])
@pytest.mark.parametrize("width", [20, 34, 40, 59, 63, 79, 80, 97, 120, 200])
def test_every_line_fits_and_cut_cells_say_so(width: int, low: bool) -> None:
    wide = report(part(SKILLS, added(SKILLS, "帮我修复登录" * 8, 310)), part(SETTINGS, setting("model", "m" * 90, "n" * 90)))
    for of in (FULL, report(), without_baseline(), opencode(), wide):
        for everything in (frozenset[Category | None](), frozenset((*Category, None))):
            found = laid(of, width, low=low, unfolded=everything)
            assert all(cells(text_of(line)) <= width for line in found.lines)
            for line, key in zip(found.lines, found.keys, strict=True):
                text = text_of(line)
                assert key is None or "…" in text or "m" * 5 not in text or "m" * 90 in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_inert(name: str) -> None:
    raw = Raw(HOSTILE[name])
    of = report(
        part(INSTRUCTIONS, modified(INSTRUCTIONS, raw, 1, 2, follows=f"mcp:{raw}")),
        part(SKILLS, change(SKILLS, ChangeKind.RENAMED, raw, 1, 1, from_k=raw)),
        part(TOOLS, change(TOOLS, ChangeKind.MOVED, raw, moved=(raw, raw)), before=(item(TOOLS, raw),), after=(item(TOOLS, raw),)),
        part(SETTINGS, setting("model", raw, raw), lost=(item(SETTINGS, raw),)),
        project=Raw(f"/home/{raw}"),
    )
    for width in (66, 100):
        assert all(inert(line) for line in lines(of, width, unfolded=frozenset((*Category, None))))


def test_secrets_in_names_are_covered() -> None:
    key = "sk-ant-api03-" + "Ab1" * 12
    of = report(part(TOOLS, added(TOOLS, key, 1)), part(SETTINGS, setting("model", key, f"{key}2")))
    assert key not in "".join(lines(of, 200, unfolded=frozenset(Category)))


def test_the_counter_is_named_with_its_error() -> None:
    assert any("counted: ≈40,400 by o200k_base, 2.2 % below the provider's 41,300" in line for line in bare(FULL))
    assert WIRE.grade == "confirmed"
