"""The text report and Markdown: exact lines, nothing cut, nothing obeyed, no name where names are taken out."""

from __future__ import annotations

import re

import pytest
from ctx_inspect.core.cache.model import Cache, CacheCause, CacheCode, Prefix
from ctx_inspect.core.diff.report import CauseKind, ChangeKind, Flag, NoBaseline, Report, State, Tokens
from ctx_inspect.core.masking import masked
from ctx_inspect.core.model import Category, Confirmed, Estimated, Item, MarkKind, Origin, Raw, Shown, Unavailable, Why, replace
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.layout import text_of
from ctx_inspect.core.views.markdown import markdown
from ctx_inspect.core.views.report import report_lines, report_sheet
from ctx_inspect.core.views.sheet import RowKind

from tests.core.reports import (
    COMPACTED,
    KEPT,
    LOST,
    MISSING,
    NO_FIGURE,
    added,
    caused,
    change,
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

INSTRUCTIONS, SKILLS, TOOLS, SETTINGS, SYSTEM, CONVERSATION = Category
FULL = report(
    part(INSTRUCTIONS, modified(INSTRUCTIONS, "/home/ann/my-app/AGENTS.md", 1204, 2444), tokens=toks(1514, 2754)),
    part(SKILLS, added(SKILLS, "testing", 310), tokens=toks(900, 1210)),
    part(
        TOOLS,
        modified(TOOLS, "filesystem_search", 612, 532, parts=("schema",)),
        removed(TOOLS, "example_delete", 60),
        tokens=toks(11_100, 10_960),
    ),
    part(SYSTEM, coverage=MISSING),
    conversation=COMPACTED,
    cache=LOST,
)


def text(of: Report, wide: int | None = None) -> list[str]:
    return [text_of(line).rstrip() for line in report_lines(of, wide)]


def body(of: Report) -> list[str]:
    """The lines of the categories."""
    lines = text(of)
    first = lines.index("")
    return lines[first + 1 : lines.index("", first + 1)]


def test_the_report_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    assert text(FULL)[:-1] == [
        "Context changes  turn 11 → 12   opencode · my-app · wire",
        "! Compacted (auto): 184 → 9 messages, −62.9k · recorded by opencode",
        "○ Cache lost at filesystem_search: 41.3k rewritten · wire + provider usage",
        "± ~ AGENTS.md ≈+1,240 · + testing ≈+310 · ~ filesystem_search schema ≈−80 · 1 more · wire",
        "",
        "Instructions                                               changed          +1,240 est  confirmed",
        "  ~ AGENTS.md                                              modified         +1,240 est  confirmed",
        "Skills                                                     changed            +310 est  confirmed",
        "  + testing                                                added              +310 est  confirmed",
        "Tools                                                      changed            −140 est  confirmed",
        "  ~ filesystem_search                                      schema              −80 est  confirmed",
        "  - example_delete                                         removed             −60 est  confirmed",
        "Conversation                                               rewritten       −62,900      confirmed",
        "  ! compacted (auto)  184 → 9 messages                                                  confirmed",
        "    from message 1 on: 178 messages gone, 3 new",
        "    178 folded, 6 kept, the 1st compaction of the session",
        "Settings                                                   unchanged                    confirmed",
        "System        unavailable: OpenCode 1.x does not store it",
        "",
        "Window        39,400 → 41,300 / 200,000 (20.6 %) confirmed",
        "Cache         lost at filesystem_search · read 0 of 41,200 · written 1,300 · against turn 11 step 1",
        "              · confirmed",
        "Counted       ≈40,400 by o200k_base, 2.2 % below the provider's 41,300",
        "Not recorded: headers",
    ]
    assert text(FULL)[-1].startswith("opencode:ses_1 · 2026-09-2")


def test_growth() -> None:
    assert body(report(conversation=talk(added=4, steps=2)))[:3] == [
        "Conversation                                               growth           +1,900 est  confirmed",
        "  + 4 messages in 2 steps                                  added",
        "Instructions                                               unchanged                    confirmed",
    ]


def test_without_a_baseline_nothing_is_made_up() -> None:
    lines = text(without_baseline())
    assert lines[0] == "Context changes  turn 1   opencode · my-app · wire"
    assert lines[1] == "○ No comparable baseline: it is the first turn. Cache cold."
    assert [line.split()[1:] for line in body(without_baseline())] == [["no", "baseline"]] * 6
    one = report(part(TOOLS, state=State.NO_BASELINE, baseline_why=NoBaseline.KEY_CHANGED))
    assert body(one)[-2:] == [
        "Tools                                                      no baseline",
        "  the key of the fingerprints changed",
    ]


def test_what_the_store_does_not_tell() -> None:
    lines = text(opencode())
    assert "Tools         unavailable: OpenCode 1.x does not store it" in lines
    assert any(line.endswith("growth           +1,900 est  estimated") for line in lines)
    both = (("system prompt", "x"), ("request", "rebuilt from the store, not the recorded request"), ("tools", "y"))
    assert text(opencode(not_recorded=both))[-3:-1] == [
        "Rebuilt from the store, not the recorded request.",
        "Not recorded: system prompt, tools",
    ]
    assert text(report(not_recorded=()))[-2].startswith("Counted")


def test_settings_show_their_values() -> None:
    lines = body(report(part(SETTINGS, setting("model", "a/big", "a/fast"), setting("thinking", None, "high"))))
    assert [re.sub(" +", " ", line) for line in lines[:3]] == [
        "Settings changed confirmed",
        " ~ model a/big → a/fast modified confirmed",
        " + thinking — → high added confirmed",
    ]


def test_moves_renames_flags_and_what_follows() -> None:
    order = change(TOOLS, ChangeKind.MOVED, "t0", moved=tuple(Raw(f"t{i}") for i in range(9)))
    renamed = change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("old"))
    clock = modified(SYSTEM, "block:2", 40, 40, flags=(Flag.VOLATILE,))
    line = modified(SYSTEM, "environment", 90, 91, follows="mcp:mini")
    both = modified(TOOLS, "read", 60, 80, parts=("description", "schema"))
    lines = [re.sub(" +", " ", s) for s in body(report(part(TOOLS, order, both), part(SKILLS, renamed), part(SYSTEM, clock, line)))]
    assert " ⇄ t0, t1, t2, t3, t4, t5 and 3 more moved confirmed" in lines
    assert " → old → new renamed · est confirmed" in lines
    assert " ~ block:2 ≋ volatile modified · est confirmed" in lines
    assert " ~ environment follows mcp:mini modified +1 est confirmed" in lines
    assert " ~ read description, schema modified +20 est confirmed" in lines


def test_a_lost_attribution_is_neither_added_nor_removed() -> None:
    lines = [re.sub(" +", " ", s) for s in body(report(part(SETTINGS, lost=(item(SETTINGS, "thinking", shown="high"),))))]
    assert " ? thinking attribution lost unavailable" in lines


def test_a_figure_that_is_missing_says_why() -> None:
    gone = Tokens(NO_FIGURE, NO_FIGURE, NO_FIGURE)
    lines = body(report(part(TOOLS, modified(TOOLS, "read", 1, 2, tokens=gone), tokens=gone)))
    assert [re.sub(" +", " ", s) for s in lines[:3]] == [
        "Tools changed — confirmed",
        " ~ read modified — confirmed",
        " tokens —: media: no counter tells its tokens",
    ]
    words = "limit unknown: neither names it"
    plain = text(report(limit=Unavailable(Why.UNKNOWN, words), window_before=NO_FIGURE))
    assert f"Window        41,300 confirmed · {words}" in plain
    none = text(report(window_after=Unavailable(Why.NOT_REPORTED, "no usage was reported")))
    assert "Window        39,400 → — no usage was reported" in none
    assert "Window        39,400 → ≈41,300 / ≈200,000 (20.6 %) estimated: x" in text(
        report(window_after=Estimated(41_300, "x"), limit=Estimated(200_000, "y"))
    )


def test_causes_of_a_rewritten_conversation() -> None:
    causes = (caused(CauseKind.REVERT, mark(MarkKind.REVERT, counts={"turns": 2})), caused(CauseKind.NOT_RECORDED, evidence="unavailable"))
    lines = body(report(conversation=talk(State.REWRITTEN, causes=causes, from_message=4, removed=2)))
    assert [re.sub(" +", " ", s) for s in lines[1:4]] == [
        " ! reverted 2 turns confirmed",
        " ! history rewritten, cause not recorded not recorded",
        " from message 5 on: 2 messages gone, 2 new",
    ]


def test_sides() -> None:
    def first(**more: object) -> str:
        return text(report(**more))[0]  # type: ignore[arg-type]

    before, after = report().before, report().after
    assert before is not None
    assert "  turn 11 (reverted) → 12 " in first(before=replace(before, state="reverted"))
    assert "  abandoned turn → turn 12 " in first(before=replace(before, turn=None, state="abandoned"))
    assert "  turn 12, step 1 → 2 " in first(before=replace(before, turn=12, step=1), after=replace(after, step=2))
    assert first(before=replace(before, point="store")).endswith("· store → wire")
    assert first(project=None).endswith("   opencode · wire")


def test_the_cache_with_all_its_figures() -> None:
    prefix = Estimated(Prefix(Estimated(9_000, "bytes/3.5"), "tools, system, messages"), "bytes/3.5")
    verdict = replace(KEPT, evidence="estimated", how="from usage alone", idle_ms=90_000, prefix=prefix)
    line = " ".join(text(report(cache=verdict), 400))
    assert (
        "Cache         kept 97 % · read 40,000 of 41,200 · written 1,300 · against turn 11 step 1 · idle 1 min · "
        "stable prefix ≈9,000 (taken in the order tools, system, messages) · estimated: from usage alone"
    ) in line


def test_nothing_is_cut_where_there_is_no_terminal() -> None:
    long = "/srv/" + "very-long/" * 10 + "AGENTS.md"
    lines = text(report(part(INSTRUCTIONS, modified(INSTRUCTIONS, long, 1, 2))))
    assert any(f"  ~ {long} " in line for line in lines)
    assert "…" not in "".join(lines)


@pytest.mark.parametrize("wide", [20, 40, 66, 80, 120, 200])
def test_every_line_fits(wide: int) -> None:
    wide_name = report(part(SKILLS, added(SKILLS, "帮我修复登录" * 8, 310)))
    for of in (FULL, report(), without_baseline(), opencode(), wide_name):
        assert all(cells(line) <= wide for line in text(of, wide))


def test_rows_of_changes_have_keys() -> None:
    rows = [r for r in report_sheet(FULL).rows if r.kind is RowKind.ROW and r.key is not None]
    assert [r.key for r in rows] == [
        (INSTRUCTIONS, "/home/ann/my-app/AGENTS.md"),
        (SKILLS, "testing"),
        (TOOLS, "filesystem_search"),
        (TOOLS, "example_delete"),
    ]


# Markdown


def test_markdown() -> None:
    assert markdown(FULL).splitlines() == [
        "### Context changes: turn 11 → 12",
        "",
        "`opencode` · `my-app` · wire",
        "",
        "- `!` Compacted (auto): 184 → 9 messages, −62.9k — *recorded by opencode*",
        "- `○` Cache lost at `filesystem_search`: 41.3k rewritten — *wire + provider usage*",
        "- `±` \\~ `AGENTS.md` ≈+1,240 · + `testing` ≈+310 · \\~ `filesystem_search` schema ≈−80 · 1 more — *wire*",
        "",
        "| | item | change | tokens | evidence |",
        "|---|---|---|---:|---|",
        "|  | **Instructions** | changed | ≈+1,240 | confirmed |",
        "| `~` | `AGENTS.md` | modified | ≈+1,240 | confirmed |",
        "|  | **Skills** | changed | ≈+310 | confirmed |",
        "| `+` | `testing` | added | ≈+310 | confirmed |",
        "|  | **Tools** | changed | ≈−140 | confirmed |",
        "| `~` | `filesystem_search` | schema | ≈−80 | confirmed |",
        "| `-` | `example_delete` | removed | ≈−60 | confirmed |",
        "|  | **Settings** | unchanged |  | confirmed |",
        "|  | **System** | unavailable | — | OpenCode 1.x does not store it |",
        "|  | **Conversation** | rewritten | −62,900 | confirmed |",
        "| `!` | compacted |  |  | confirmed |",
        "|  | from message 1 on: 178 messages gone, 3 new |  |  |  |",
        "",
        "- Window: 39,400 → 41,300 / 200,000 (20.6 %) confirmed",
        "- Cache: lost at `filesystem_search` · read 0 of 41,200 · written 1,300 · against turn 11 step 1 · confirmed",
        "- Counted: ≈40,400 by o200k\\_base, 2.2 % below the provider's 41,300",
        "- Not recorded: headers",
        "- Session `opencode:ses_1`, `msg_11` → `msg_12`",
    ]


def test_markdown_of_other_states() -> None:
    assert "|  | **Tools** | no baseline | — | it is the first turn |" in markdown(without_baseline())
    grown = markdown(opencode())
    assert "|  | **Conversation** | growth | ≈+1,900 | estimated: rebuilt from the store: pi branch rules |" in grown
    assert "| `+` | 2 messages in 1 step | added |  |  |" in grown
    renamed = change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("old"))
    both = markdown(report(part(SKILLS, renamed), part(SETTINGS, setting("model", None, "a|b"))))
    assert "| `→` | `old` → `new` | renamed | ≈· | confirmed |" in both
    assert "| `+` | `model` — → `a\\|b` | added |  | confirmed |" in both


CODE = re.compile(r"(`+)(?!`)(.*?[^`])\1(?!`)")


def hostile(raw: Raw) -> Report:
    tool = Item(TOOLS, raw, "a", origin=Origin("mcp", raw, raw))
    return report(
        part(INSTRUCTIONS, modified(INSTRUCTIONS, raw, 1, 2, follows=f"mcp:{raw}")),
        part(SKILLS, change(SKILLS, ChangeKind.RENAMED, raw, 1, 1, from_k=raw)),
        part(TOOLS, change(TOOLS, ChangeKind.MOVED, raw, moved=(raw, raw)), before=(tool,), after=(tool,), lost=(tool,)),
        part(SETTINGS, setting("model", raw, raw), setting(raw, raw, raw)),
        conversation=replace(COMPACTED, causes=(caused(CauseKind.COMPACTION, mark(MarkKind.COMPACTION, reason=raw, detail=raw)),)),
        cache=replace(LOST, cause=CacheCause(CacheCode.SKILLS, "confirmed", raw, explained=True)),
        project=Raw(f"/home/{raw}"),
        session=f"pi:{raw}",
    )


def test_hostile_names_are_inert() -> None:
    for raw in HOSTILE.values():
        of = hostile(Raw(raw or "x"))
        plain = "".join(text(of))
        assert inert(plain)
        document = markdown(of)
        assert inert(document.replace("\n", ""))
        assert len(document.splitlines()) == len(markdown(hostile(Raw("x"))).splitlines())
        for line in document.splitlines():
            bare = CODE.sub("", line)
            assert not re.search(r"(?<!\\)[<>\[\]@]", bare), line
            if line.startswith("|") and not line.startswith("|-"):
                assert len(re.findall(r"(?<!\\)\|", line)) == 6, line


def test_secrets_in_names_are_redacted() -> None:
    key = "sk-ant-api03-" + "Ab1" * 12
    of = hostile(Raw(f"x {key}"))
    assert key not in "".join(text(of))
    assert key not in markdown(of)
    assert key in markdown(of, lambda raw: Shown(raw))


# names taken out


def test_names_can_be_taken_out() -> None:
    name = Raw("zebra")
    of = masked(hostile(name))
    assert "zebra" not in repr(replace(of, session=""))
    assert "zebra" not in "".join(text(replace(of, session="x"))) + markdown(replace(of, session="x"))
    lines = [re.sub(" +", " ", s) for s in text(masked(FULL))]
    assert lines[0] == "Context changes turn 11 → 12 opencode · project · wire"
    assert " ~ file 1 modified +1,240 est confirmed" in lines
    assert " ~ tool 1 schema −80 est confirmed" in lines
    assert " - tool 2 removed −60 est confirmed" in lines
    assert "○ Cache lost at tool 1: 41.3k rewritten · wire + provider usage" in lines


def test_one_name_has_one_placeholder_everywhere() -> None:
    a, b = item(TOOLS, "alpha"), item(TOOLS, "beta")
    order = change(TOOLS, ChangeKind.MOVED, "beta", moved=(Raw("beta"), Raw("alpha")))
    of = masked(
        report(
            part(TOOLS, order, before=(a, b), after=(b, a)), part(SETTINGS, setting("model", "m", "n"), setting("thinking", "low", "high"))
        )
    )
    tools = of.category(TOOLS)
    assert tools.changes[0].moved == ("tool 1", "tool 2")
    assert [i.k for i in tools.before] == ["tool 2", "tool 1"]
    assert [i.k for i in tools.after] == ["tool 1", "tool 2"]
    model, thinking = of.category(SETTINGS).changes
    assert [i and i.shown for i in (model.before, model.after)] == ["model 1", "model 2"]
    assert [i and i.shown for i in (thinking.before, thinking.after)] == ["low", "high"]


def test_blocks_and_figures_stay() -> None:
    of = masked(report(part(SYSTEM, modified(SYSTEM, "block:2", 40, 41)), cache=replace(LOST, cause=None)))
    assert of.category(SYSTEM).changes[0].k == "block:2"
    assert of.window_after == Confirmed(41_300, report().window_after.by)  # type: ignore[union-attr]


def test_what_wraps_hangs_behind_its_sign_or_label() -> None:
    lines = text(FULL, 50)
    at = next(i for i, line in enumerate(lines) if line.startswith("Cache "))
    assert lines[at + 1].startswith(" " * 14) or lines[at + 1].startswith("Counted")
    assert [line[:2] for line in lines[2:6]] == ["! ", "  ", "○ ", "  "]


def test_a_cause_that_is_concluded_is_no_fact() -> None:
    partial = replace(
        LOST, verdict=Cache.PARTIAL, r=0.61, cause=CacheCause(CacheCode.INSTRUCTIONS, "estimated", Raw("AGENTS.md"), explained=True)
    )
    line = next(line for line in text(report(cache=partial)) if line.startswith("Cache"))
    assert line.startswith("Cache         kept in part, 61 %, lost at AGENTS.md (cause estimated) · read 0 of 41,200")
    assert "lost at `AGENTS.md` (cause estimated)" in markdown(report(cache=partial))
