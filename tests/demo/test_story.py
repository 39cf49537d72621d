"""The sample sessions, read by the sources, tell the story that they were written for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ctx_inspect.app.demo import Feed, Stage, live_lines, stage
from ctx_inspect.core.budget import steps_of, turn_window
from ctx_inspect.core.model import Category, Estimated, Ledger, MarkKind, Raw, Unavailable, Why, value_of
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.timeline import EventRow, Timeline, TurnRow, timeline

NOW = 1_800_000_000_000


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(NOW, tmp_path_factory.mktemp("demo")) as made:
        yield made


@pytest.fixture(scope="module")
def opencode(made: Stage) -> Source:
    return made.sources()[0]


@pytest.fixture(scope="module")
def pi(made: Stage) -> Source:
    return made.sources()[1]


@pytest.fixture(scope="module")
def login(made: Stage, opencode: Source) -> Ledger:
    return opencode.open(made.main.partition(":")[2])


@pytest.fixture(scope="module")
def rows(opencode: Source, login: Ledger) -> Timeline:
    return timeline(login, opencode.window)


def by_title(source: Source, title: str) -> Ledger:
    found = [s.id for s in source.sessions().sessions if s.title == title]
    assert len(found) == 1, title
    return source.open(found[0])


def marks(ledger: Ledger, kind: MarkKind) -> list[int | None]:
    return [m.turn for m in ledger.marks if m.kind is kind]


# -- Fix login 500 ---------------------------------------------------------------------------------------------


def test_nothing_is_wrong_with_any_of_them(opencode: Source, pi: Source) -> None:
    for source in (opencode, pi):
        listing = source.sessions()
        assert listing.problems == ()
        for info in listing.sessions:
            assert source.open(info.id).problems == (), info.title


def test_47_turns_in_one_day(login: Ledger) -> None:
    assert [t.n for t in login.turns] == list(range(1, 48))
    assert login.info.title == "Fix login 500"
    assert 4 * 3_600_000 < login.turns[-1].at - login.turns[0].at < 5 * 3_600_000


def test_windows_grow_from_16k_to_102k_and_fall_to_41k(rows: Timeline) -> None:
    windows = [value_of(t.window) for t in rows.turns]
    assert windows[0] == pytest.approx(16_200, abs=300)
    assert windows[45] == pytest.approx(102_500, abs=700)
    assert windows[46] == value_of(rows.current) == pytest.approx(41_000, abs=700)
    known = [w for w in windows[:46] if w is not None]
    assert known == sorted(known)


def test_limit_and_threshold_follow_the_configuration(rows: Timeline) -> None:
    limit = value_of(rows.limit)
    assert limit is not None
    assert (limit.tokens, limit.kind) == (200_000, "context")
    assert value_of(rows.threshold) == 168_000
    assert isinstance(rows.threshold, Estimated)
    assert value_of(rows.forecast) in range(33, 42)


def test_the_only_compaction_is_below_the_threshold_and_by_hand(login: Ledger, rows: Timeline) -> None:
    found = [m for m in login.marks if m.kind is MarkKind.COMPACTION]
    assert [(m.turn, m.reason, m.status) for m in found] == [(46, "manual", "succeeded")]
    assert max(value_of(t.window) or 0 for t in rows.turns) < (value_of(rows.threshold) or 0)


def test_the_compactions_line_says_what_it_saved(rows: Timeline) -> None:
    line = next(r.mark for r in rows.rows if isinstance(r, EventRow) and r.mark.kind is MarkKind.COMPACTION)
    assert value_of(line.before) == value_of(rows.turns[45].window)
    assert isinstance(line.then, Estimated), "OpenCode keeps no figure of its own"
    first_after = steps_of(rows.turns[46].turn)[0]
    assert line.then.value == value_of(first_after.usage).window == pytest.approx(30_000, abs=700)  # pyright: ignore[reportOptionalMemberAccess]


def test_what_the_compaction_folded_and_what_it_kept(rows: Timeline) -> None:
    tiers = [value_of(t.tier) for t in rows.turns]
    assert tiers == ["compacted"] * 43 + ["full"] * 4


def test_the_revert_took_three_turns_between_18_and_19(login: Ledger, rows: Timeline) -> None:
    assert [h.state for h in login.hidden] == ["reverted"] * 3
    assert marks(login, MarkKind.REVERT) == [18]
    kinds = [r.mark.kind if isinstance(r, EventRow) else r.turn.n for r in rows.rows]
    assert kinds[17:20] == [18, MarkKind.REVERT, 19]


def test_one_turn_has_no_figure_and_says_why(login: Ledger) -> None:
    silent = [(t.n, w) for t in login.turns if isinstance(w := turn_window(t), Unavailable)]
    assert [n for n, _ in silent] == [33]
    assert silent[0][1].why in (Why.NOT_REPORTED, Why.NOT_RECORDED)
    assert silent[0][1].note


def test_the_abort_the_failed_tool_and_the_helper(made: Stage, opencode: Source, login: Ledger) -> None:
    aborted = [t.n for t in login.turns if any(r.error == "aborted" for r in t.requests)]
    assert aborted == [12]
    assert isinstance(turn_window(login.turns[11]), Estimated), "the step before the abort stands in, and says so"
    with_children = {t.n: [c for r in t.requests for c in r.children] for t in login.turns if any(r.children for r in t.requests)}
    child = by_title(opencode, "Find where sessions are read (@explore subagent)")
    assert with_children == {14: [child.key]}
    assert child.info.parent == made.main
    assert len(child.turns) == 1


def test_the_model_was_switched_and_back(login: Ledger) -> None:
    models = {t.n: steps_of(t)[-1].model.id for t in login.turns}
    assert [n for n, m in models.items() if m == "fast"] == [26, 27]
    assert {models[25], models[28]} == {"big"}


def test_a_switch_stands_in_the_row_that_ran_with_it(rows: Timeline) -> None:
    found = {t.turn.n: [m.detail for m in t.events if m.kind is MarkKind.MODEL] for t in rows.turns}
    assert {n: d for n, d in found.items() if d} == {26: ["acme/fast"], 28: ["acme/big"]}


def test_words_in_chinese_and_a_face(opencode: Source, login: Ledger) -> None:
    first = opencode.text(login.turns[23].input[0], 200)
    assert value_of(first) == "请把登录页面上的错误信息也翻译成中文，谢谢。"
    assert any(s.title == "帮我修复登录" for s in opencode.sessions().sessions)


def test_the_fork_shares_eight_turns(made: Stage, opencode: Source) -> None:
    fork = by_title(opencode, "Fix login 500 (fork #1)")
    assert len(fork.turns) == 10
    assert [t.n for t in fork.turns if t.inherited] == list(range(1, 9))
    assert value_of(fork.info.forked_from) in (made.main, None)


# -- the Pi sessions -------------------------------------------------------------------------------------------


def test_the_guide_has_all_that_pi_records(pi: Source) -> None:
    guide = by_title(pi, "Rewrite guide")
    assert len(guide.turns) == 14
    assert [h.state for h in guide.hidden] == ["abandoned"] * 2
    assert len([m for m in guide.marks if m.kind is MarkKind.COMPACTION]) == 1
    assert marks(guide, MarkKind.BRANCH) == [5]
    first, last = steps_of(guide.turns[0])[0].context, guide.now
    assert first is not None
    assert last is not None
    names = {c: [i.k for i in first.items if i.category is c] for c in Category}
    assert names[Category.INSTRUCTIONS] == ["/home/ada/docs/AGENTS.md", "/home/ada/docs/guide/AGENTS.md"]
    assert len(names[Category.TOOLS]) == 10
    added = {i.k for i in last.items if i.category is Category.SKILLS} - set(names[Category.SKILLS])
    assert added == {Raw("link-check")}
    before = [i.k for i in first.items if i.category is Category.TOOLS]
    after = [i.k for i in last.items if i.category is Category.TOOLS]
    assert sorted(before) == sorted(after)
    assert before != after, "the shared tools came back in another order"
    patched = [t.turn.n for t in timeline(guide, pi.window).turns if any(m.kind is MarkKind.SYSTEM for m in t.events)]
    assert patched == [4, 7, 8, 13]
    for context in (first, last):
        assert all(c.grade != "unavailable" for c in context.coverage.values())


def test_the_guides_figures_agree_with_its_words(pi: Source) -> None:
    guide = by_title(pi, "Rewrite guide")
    for turn in guide.turns:
        for step in steps_of(turn):
            assert step.context is not None
            size = sum(i.size or 0 for i in step.context.items) + sum(p.size or 0 for m in step.context.messages for p in m.parts)
            window = value_of(step.usage).window  # pyright: ignore[reportOptionalMemberAccess]
            assert window is not None
            assert size / window == pytest.approx(3.5, rel=0.12), f"turn {turn.n}"


def test_the_live_one_grows_by_whole_turns(made: Stage, pi: Source) -> None:
    before = by_title(pi, "Release notes 2.4")
    assert len(before.turns) == 2
    Feed(made.live, live_lines(), every=0.0, clock=lambda: NOW).run()
    after = pi.open(before.info.id, before)
    assert len(after.turns) == 14
    assert after.problems == ()
    windows = [value_of(r.window) for r in timeline(after, pi.window).rows if isinstance(r, TurnRow)]
    assert windows == sorted(windows, key=lambda w: w or 0)
