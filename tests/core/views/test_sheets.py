"""The tabs and lists as sheets: what they say, and that they say it at every width."""

from __future__ import annotations

import pytest
from ctx_inspect.app.snapshot import Snapshot, compose, count_by, last_request
from ctx_inspect.core.budget import Sent, request_window
from ctx_inspect.core.choose import pick
from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Estimated,
    Item,
    Ledger,
    LimitClaim,
    Mark,
    MarkKind,
    Model,
    Part,
    PartKind,
    Purpose,
    Raw,
    Ref,
    Request,
    Turn,
    Unavailable,
    Usage,
    Why,
    Window,
    Witness,
    replace,
    value_of,
)
from ctx_inspect.core.model.limits import RANK_HARNESS
from ctx_inspect.core.shares import shares
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.timeline import timeline
from ctx_inspect.core.views.budget import NAME_LEAST, BudgetView, budget_sheet
from ctx_inspect.core.views.chart import chart_lines
from ctx_inspect.core.views.empty import empty_sheet
from ctx_inspect.core.views.events import event_spans
from ctx_inspect.core.views.header import Header, Loading, header_line
from ctx_inspect.core.views.layout import lay, plain, text_of
from ctx_inspect.core.views.sessions import SessionKey, SessionsView, sessions_sheet
from ctx_inspect.core.views.sheet import RowKind, Tone
from ctx_inspect.core.views.steps import steps_sheet, took
from ctx_inspect.core.views.text import TEXT_LIMIT, Piece, found, pieces_of, text_sheet
from ctx_inspect.core.views.timeline import TimelineView

from tests.app.fakes import FULL, MODEL, START, FakeSource, info, ledger, sample


def shot(covered: bool = True, limit: int | None = 200_000) -> Snapshot:
    made = ledger("opencode:main", "x", covered=covered)
    return compose(FakeSource([made], limit), made)


def budget(snapshot: Snapshot, n: int = 47, **more: object) -> BudgetView:
    row = snapshot.timeline.turns[n - 1]
    request = last_request(row)
    assert request is not None
    assert request.context is not None
    count = count_by(snapshot.counter)
    parts = shares(request.context, request_window(request), count, snapshot.counter.name)
    return BudgetView(snapshot.timeline, row, request.context, parts, count, snapshot.counter.name, snapshot.sent, **more)  # type: ignore[arg-type]


# --- budget ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("covered", [True, False])
@pytest.mark.parametrize("width", [20, 40, 66, 83, 84, 120])
def test_budget_at_every_width(width: int, covered: bool) -> None:
    laid = lay(budget_sheet(budget(shot(covered)), width), width, 1, NAME_LEAST)
    for i in range(len(laid)):
        assert cells(text_of(laid.line(i))) <= width


def test_budget_names_items_and_sums_against_the_provider() -> None:
    text = "\n".join(plain(budget_sheet(budget(shot())), 100))
    assert "Instructions" in text
    assert "AGENTS.md" in text
    assert "Sum of the above" in text
    assert "41.3k" in text
    assert "provider usage" in text
    assert "Sent in total" in text


def test_budget_says_why_a_category_is_unavailable_on_its_own_line() -> None:
    lines = plain(budget_sheet(budget(shot(covered=False))), 100)
    line = next(line for line in lines if line.lstrip("▇ ").startswith("Tools"))
    assert line.split("—")[1].strip() == "OpenCode 1.x stores no tools"
    narrow = plain(budget_sheet(budget(shot(covered=False)), 40), 40)
    at = next(i for i, line in enumerate(narrow) if line.lstrip("▇ ").startswith("Tools"))
    assert narrow[at].endswith("—")
    assert narrow[at + 1].strip() == "OpenCode 1.x stores no tools"
    assert any("Not attributable" in line for line in lines)
    assert not any("Tools" in line and "≈0" in line for line in lines)


def test_budget_media_is_a_row_of_its_own_without_tokens() -> None:
    snapshot = shot()
    view = budget(snapshot)
    assert view.context is not None
    message = view.context.messages.messages()[0]
    picture = replace(message, id="pic", parts=(Part(PartKind.MEDIA, "p", 398_000),))
    chain = type(view.context.messages)(None, 0, (*view.context.messages.messages(), picture))
    context = replace(view.context, messages=chain)
    parts = shares(context, view.row.window, view.count, view.counter)
    lines = plain(budget_sheet(BudgetView(view.timeline, view.row, context, parts, view.count, view.counter, view.sent)), 100)
    row = next(line for line in lines if "Media" in line)
    assert "—" in row
    assert "398.0 kB" in row
    assert parts.sum == (view.shares.sum if view.shares else None)


def test_budget_without_a_rebuilt_request() -> None:
    view = budget(shot())
    lines = plain(budget_sheet(BudgetView(view.timeline, view.row, None, None, view.count, view.counter, view.sent)), 100)
    assert any("could be rebuilt" in line for line in lines)


def test_budget_of_an_unknown_limit_has_no_share_of_it() -> None:
    lines = plain(budget_sheet(budget(shot(limit=None))), 100)
    assert not any("of the limit" in line for line in lines)
    assert any("limit unknown" in line for line in lines)


def test_budget_fattest_items_come_first_and_the_rest_is_one_line() -> None:
    snapshot = shot()
    view = budget(snapshot)
    assert view.context is not None
    many = tuple(replace(view.context.items[4], k=Raw(f"tool{i:02}"), fp=str(i), size=100 * i) for i in range(1, 31))
    context = replace(view.context, items=many)
    parts = shares(context, view.row.window, view.count, view.counter)
    short = BudgetView(view.timeline, view.row, context, parts, view.count, view.counter, view.sent)
    lines = plain(budget_sheet(short), 100)
    named = [line.split()[0] for line in lines if line.strip().startswith("tool")]
    assert named[:3] == ["tool30", "tool29", "tool28"]
    assert len(named) == 12
    assert any("18 more" in line for line in lines)
    full = BudgetView(view.timeline, view.row, context, parts, view.count, view.counter, view.sent, opened=frozenset({Category.TOOLS}))
    assert sum(line.strip().startswith("tool") for line in plain(budget_sheet(full), 100)) == 30


# --- steps -------------------------------------------------------------------------------------------------


def test_steps_say_how_each_request_went() -> None:
    snapshot = shot()
    row = snapshot.timeline.turns[16 - 1]
    lines = plain(steps_sheet(row), 110)
    assert any("rate limit" in line for line in lines)
    lines = plain(steps_sheet(snapshot.timeline.turns[0], snapshot.ledger.other[1]), 110)
    assert any("title request, no step" in line for line in lines)
    assert any("bash, edit" in line for line in lines)
    assert any("the store keeps no retries" in line for line in lines)


def test_rows_without_a_model_call_have_no_step_number() -> None:
    turn = Turn(1, "u", ("u",), START, (Request("sh", START, call=False, tools=(Raw("bash"),)), Request("r", START + 5, step=1)))
    made = Ledger(info("opencode:x", "x"), turns=(turn,))
    lines = plain(steps_sheet(compose(FakeSource([made]), made).timeline.turns[0]), 110)
    row = next(line for line in lines if "shell command" in line)
    assert row.strip().startswith("·")


@pytest.mark.parametrize(("done", "words"), [(None, "—"), (START - 5, "—"), (START + 4100, "4.1s"), (START + 123_000, "2m03s")])
def test_took(done: int | None, words: str) -> None:
    assert took(Request("r", START, done=done)) == words


@pytest.mark.parametrize("purpose", list(Purpose))
@pytest.mark.parametrize("width", [20, 40, 66, 120])
def test_steps_at_every_width(width: int, purpose: Purpose) -> None:
    snapshot = shot()
    other = (Request("o", START, purpose=purpose),)
    laid = lay(steps_sheet(snapshot.timeline.turns[12], other), width, 1, 30)
    for i in range(len(laid)):
        assert cells(text_of(laid.line(i))) <= width


# --- text --------------------------------------------------------------------------------------------------


def test_text_is_hidden_until_it_is_asked_for() -> None:
    made = ledger("opencode:main", "x")
    pieces = pieces_of(made, made.turns[4])
    shown = "\n".join(plain(text_sheet(pieces, None), 80))
    assert "v shows it here" in shown
    assert "300 B" in shown


def test_a_turns_texts_are_its_messages_up_to_the_next_turn_and_its_answer() -> None:
    made = ledger("opencode:main", "x")
    refs = [p.ref.row for p in pieces_of(made, made.turns[4]) if p.ref]
    assert refs == ["u5", "m5.1", "m5.1/1", "m5.2", "m5.2/1", "m5.3"]
    last = [p.ref.row for p in pieces_of(made, made.turns[46]) if p.ref]
    assert last[0] == "u47"
    assert set(last) >= {"m47.1", "m47.2"}


def test_a_turn_whose_messages_are_gone_still_names_input_and_answers() -> None:
    made = ledger("opencode:main", "x")
    bare = replace(
        made, now=None, turns=tuple(replace(t, requests=tuple(replace(r, context=None) for r in t.requests)) for t in made.turns)
    )
    refs = [p.ref.row for p in pieces_of(bare, bare.turns[4]) if p.ref]
    assert refs == ["u5", "m5.1", "m5.2", "m5.3"]


def test_revealed_text_is_harmless_and_capped() -> None:
    made = ledger("opencode:main", "x", 2)
    pieces = pieces_of(made, made.turns[0])
    ref = pieces[0].ref
    assert ref is not None
    texts = {ref: found(Confirmed(Raw("a\tb\x1b[31mred\x1b[0m\u202e\n[bold]x[/nope]\n" + "y" * (TEXT_LIMIT + 10))))}
    lines = plain(text_sheet(pieces, texts), 80)
    shown = "\n".join(lines)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]x[/nope]" in shown
    assert f"the first {TEXT_LIMIT:,} characters" in shown


def test_keys_in_a_text_are_covered_until_asked_for_once_more() -> None:
    made = ledger("opencode:main", "x", 2)
    pieces = pieces_of(made, made.turns[0])
    ref = pieces[0].ref
    assert ref is not None
    key = "sk-ant-api03-" + "Ab3" * 20
    texts = {ref: found(Confirmed(Raw(f"use {key} here")))}
    covered = "\n".join(plain(text_sheet(pieces, texts), 100))
    assert key not in covered
    assert "covered in 1 text: v uncovers it" in covered
    assert key in "\n".join(plain(text_sheet(pieces, texts, uncovered=True), 200))


def test_a_text_that_cannot_be_read_says_why() -> None:
    made = ledger("opencode:main", "x", 2)
    pieces = pieces_of(made, made.turns[0])
    ref = pieces[0].ref
    assert ref is not None
    lines = plain(text_sheet(pieces, {ref: found(Unavailable(Why.GONE, "its row was deleted"))}), 80)
    assert any("— its row was deleted" in line for line in lines)


# --- sessions ----------------------------------------------------------------------------------------------


def sessions(**more: object) -> SessionsView:
    return SessionsView(tuple(item.info for item in sample()), START + 400 * 60_000, **more)  # type: ignore[arg-type]


def test_sessions_stand_under_their_project_and_subagents_under_their_session() -> None:
    lines = plain(sessions_sheet(sessions(here="/home/ann/docs")), 40)
    assert lines[0].startswith("docs")
    at = next(i for i, line in enumerate(lines) if "●" in line)
    assert "Fix login 500" in lines[at]
    assert {lines[at + 1].strip()[0], lines[at + 2].strip()[0]} == {"├", "└"}
    assert any("≈fork" in line for line in lines)
    assert any("帮我修复登录" in line for line in lines)


def test_every_word_filters_and_a_subagent_keeps_its_session() -> None:
    lines = plain(sessions_sheet(sessions(filter="EXPL")), 40)
    assert any("explore" in line for line in lines)
    assert any("Fix login 500" in line for line in lines)
    assert not any("Terraform" in line for line in lines)
    assert plain(sessions_sheet(sessions(filter="nothing like this")), 40) == ["no session matches"]


def test_sessions_whose_parents_go_in_a_circle_are_all_listed() -> None:
    ring = tuple(info(f"pi:{a}", a, parent=f"pi:{b}") for a, b in ("ab", "bc", "ca"))
    sheet = sessions_sheet(SessionsView(ring, START))
    assert {row.key for row in sheet.rows if row.key} == {SessionKey("pi:a"), SessionKey("pi:b"), SessionKey("pi:c")}


def test_a_session_without_title_or_times_is_listed() -> None:
    lines = plain(sessions_sheet(SessionsView((info("pi:x", None, updated=None, started=None, project=None, directory=None),), START)), 40)
    assert lines[0].startswith("(no directory)")
    assert "(no title)" in lines[1]
    assert "—" in lines[1]


def test_a_windows_path_and_a_hostile_title() -> None:
    one = info("pi:x", "bad\x1b]0;title\x07", project=Raw("C:\\Users\\ann\\my-app"))
    lines = plain(sessions_sheet(SessionsView((one,), START)), 40)
    assert lines[0].startswith("my-app")
    assert "\x1b" not in lines[1]


def test_the_newest_of_this_project_is_picked_else_the_newest_and_never_a_subagent() -> None:
    all_ = [item.info for item in sample()]
    assert pick(all_, "/home/ann/infra") == next(s for s in all_ if s.key == "pi:drift")
    assert (pick(all_, "/elsewhere") or all_[1]).key == "opencode:main"
    assert pick([s for s in all_ if s.parent], None) is not None
    assert pick([], None) is None


# --- header, chart, empty ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 30, 40, 50, 80, 99, 100, 120, 150, 200])
def test_header_at_every_width(width: int) -> None:
    one = info("opencode:x", "帮我修复登录 " * 12, live=True, parent="opencode:y", forked_from=Estimated("opencode:z", "times"))
    for header in (
        Header(one, 47, 47, True),
        Header(one, 41, 47, False, 6),
        Header(one, 41, 47, gone_at=START),
        Header(None, loading=Loading("reading", 214, 1250)),
        Header(None),
    ):
        assert cells(text_of(header_line(header, width))) == width


def test_header_says_how_the_session_is() -> None:
    one = info("opencode:x", "Fix login 500", live=True)
    text = text_of(header_line(Header(one, 47, 47, True), 120))
    assert text.startswith(" ctx-inspect   opencode · my-app · Fix login 500")
    assert "● LIVE  FOLLOW  47/47" in text
    assert "6 new ↓ (f)" in text_of(header_line(Header(one, 41, 47, False, 6), 120))
    assert "◇ deleted" in text_of(header_line(Header(one, 41, 47, gone_at=START), 120))
    assert "reading 214 / 1,250" in text_of(header_line(Header(None, loading=Loading("reading", 214, 1250)), 120))


def test_a_long_title_is_cut_and_the_state_is_not() -> None:
    one = info("opencode:x", "t" * 300, live=True)
    text = text_of(header_line(Header(one, 47, 47, True), 80))
    assert "…" in text
    assert "● LIVE  FOLLOW  47/47" in text


@pytest.mark.parametrize(("turns", "width", "height"), [(1, 40, 8), (47, 66, 13), (300, 66, 13), (47, 20, 5), (47, 10, 3)])
def test_chart_at_every_size(turns: int, width: int, height: int) -> None:
    made = ledger("opencode:main", "x", turns)
    chart = compose(FakeSource([made]), made).chart
    lines = chart_lines(chart, width, height, turns)
    assert len(lines) <= height
    assert all(cells(text_of(line)) == width for line in lines)


def test_chart_has_a_threshold_line_and_a_forecast() -> None:
    made = ledger("opencode:main", "x")
    text = "\n".join(text_of(line) for line in chart_lines(compose(FakeSource([made]), made).chart, 66, 13, 47))
    assert "200k" in text
    assert "168k" in text
    assert "╌╌╌" in text
    assert "░" in text


def test_empty_teaches() -> None:
    looked = [("OpenCode", "~/.local/share/opencode/opencode*.db", 0, "no such folder"), ("Pi", "~/.pi/agent/sessions", 1, None)]
    lines = plain(empty_sheet(looked, [("d", "look around with sample data")]), 80)
    text = "\n".join(lines)
    assert "✗ OpenCode" in text
    assert "no such folder" in text
    assert "✓ Pi" in text
    assert "no session in it yet" in text
    assert "d                    look around" in text


# --- what nobody reported ----------------------------------------------------------------------------------


def test_what_nobody_reported_was_sent_is_a_dash_with_its_reason() -> None:
    view = replace(budget(shot()), sent=Sent(3, 150, None, None, None, 1))
    text = plain(budget_sheet(view, 120), 120)
    lines = {line.split("  ")[1].strip(): line for line in text if line.startswith("  ") and "  " in line.strip()}
    assert "150" in lines["Input, uncached"]
    for name in ("Read from cache", "Written to cache", "Output"):
        assert "—" in lines[name]
        assert "no request reported it" in lines[name]
        assert " 0 " not in lines[name]
    assert any("1 request reported no usage" in line for line in text)


def test_media_of_unknown_size_and_what_is_not_counted_are_said() -> None:
    view = budget(shot())
    assert view.shares is not None
    parts = replace(view.shares, media=2, media_bytes=None, media_unsized=2)
    assert any("of unknown size" in line for line in plain(budget_sheet(replace(view, shares=parts), 120), 120))
    some = replace(parts, media_bytes=40, media_unsized=1)
    assert any("40 B and 1 of unknown size" in line for line in plain(budget_sheet(replace(view, shares=some), 140), 140))


def test_an_event_that_was_worked_out_is_no_recorded_one() -> None:
    recorded = text_of(event_spans(Mark(MarkKind.FORK, 1), wide=True))
    guessed = text_of(event_spans(Mark(MarkKind.FORK, 1, how="rows older than the session"), wide=True))
    assert recorded.endswith("· recorded")
    assert guessed.startswith("≈ ")
    assert guessed.endswith("· rows older than the session")


def test_a_step_is_measured_by_the_limit_of_its_own_model() -> None:
    small = Model(Raw("mock"), Raw("small"))
    usage = Confirmed(Usage(20_000, 5, None, 0, 0), Witness.PROVIDER)
    steps = tuple(Request(id, START + n, step=n, model=m, usage=usage) for n, (id, m) in enumerate((("a", MODEL), ("b", small)), 1))
    book = Ledger(info("opencode:x", "x"), turns=(Turn(1, "u", ("u",), START, steps),))
    rows = timeline(book, lambda m: limited(200_000 if m == MODEL else 40_000))
    lines = TimelineView(rows, frozenset({1})).sized(100)
    assert [text_of(lines.line(i)).split("%")[0].split()[-1] for i in (1, 2)] == ["10", "50"]


def limited(tokens: int) -> Window:
    claim = LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "opencode.json", RANK_HARNESS)
    return Window((claim,), Unavailable(Why.UNKNOWN, "no rule"))


def bars(turns: int, selected: int, width: int = 66) -> list[str]:
    """Return the chart's rows as the tones of its bars: ``F`` selected, ``c`` others."""
    made = ledger("pi:a", "x", turns)
    rows = chart_lines(compose(FakeSource([made]), made).chart, width, 13, selected)[1:-1]
    return ["".join(("F" if s.tone is Tone.FOCUS else "c" if s.tone is Tone.CONVERSATION else " ") * len(s.text) for s in r) for r in rows]


@pytest.mark.parametrize(("turns", "selected"), [(1, 1), (5, 1), (5, 5), (15, 7), (47, 47), (47, 1), (300, 150)])
def test_the_whole_bar_of_the_selected_turn_is_marked(turns: int, selected: int) -> None:
    foot = bars(turns, selected)[-1].strip()
    marked = foot.count("F")
    assert "F" * marked in foot
    wide = len(foot) // turns if turns <= len(foot) else 1
    assert marked == wide


def test_one_turn_is_no_wall() -> None:
    assert len(bars(1, 1)[-1].strip()) == 3


def test_the_selected_turn_shows_its_own_height_where_turns_share_a_column() -> None:
    made = ledger("pi:a", "x", 300)
    high = [sum("F" in row for row in bars(300, n)) for n in (299, 300)]
    windows = [t.window for t in compose(FakeSource([made]), made).timeline.turns[-2:]]
    assert (high[0] > high[1]) == (value_of(windows[0]) > value_of(windows[1]))  # type: ignore[operator]
    assert high[0] != high[1]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/ann/my-app/docs/AGENTS.md", "docs/AGENTS.md"),
        ("/home/ann/.pi/agent/AGENTS.md", "~/.pi/agent/AGENTS.md"),
        ("/home/anna/AGENTS.md", "/home/anna/AGENTS.md"),
        ("/etc/AGENTS.md", "/etc/AGENTS.md"),
        ("AGENTS.md", "AGENTS.md"),
    ],
)
def test_paths_are_shown_from_the_sessions_directory_or_home(path: str, shown: str) -> None:
    item = Item(Category.INSTRUCTIONS, Raw(path), "a", size=700)
    snapshot = shot()
    context = Context((item,), Chain(None, 0, ()), FULL)
    made = replace(budget(snapshot), context=context, directory=Raw("/home/ann/my-app"), home="/home/ann")
    assert any(line.split("≈")[0].strip() == shown for line in plain(budget_sheet(made), 100))


def test_sessions_of_one_title_are_told_apart() -> None:
    same = (info("pi:0190aaaa-1111", "Fix it"), info("pi:0190aaaa-2222", "Fix it"), info("pi:0190aaaa-3333", "Other"))
    lines = plain(sessions_sheet(SessionsView(same, START)), 40)
    assert any("Fix it  …a-1111" in line for line in lines)
    assert any("Fix it  …a-2222" in line for line in lines)
    assert not any("3333" in line for line in lines)


def test_a_diff_has_the_tones_of_changes_and_other_texts_have_not() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new"
    ref = Ref("s", "r", "text")
    pieces = (Piece("result", ref),)

    def tones(text: str) -> list[Tone]:
        rows = text_sheet(pieces, {ref: found(Confirmed(Raw(text)))}).rows
        return [row.cells[0].spans[0].tone for row in rows if row.kind is RowKind.NOTE]

    assert tones(diff) == [Tone.DIM, Tone.DIM, Tone.DIM, Tone.DIM, Tone.REMOVED, Tone.ADDED]
    assert tones("- a point\n+ another") == [Tone.DIM, Tone.DIM]


def test_a_fork_that_is_named_so_is_not_called_one_twice() -> None:
    forks = (
        info("opencode:a", "Fix it (fork #1)", forked_from=Estimated("opencode:gone", "equal message times")),
        info("opencode:b", "Other", forked_from=Estimated("opencode:gone", "equal message times")),
    )
    lines = plain(sessions_sheet(SessionsView(forks, START)), 60)
    assert any(line.split("  ")[-1].strip() for line in lines)
    assert sum("≈fork" in line for line in lines) == 1
    assert any("(fork #1)  ≈" in line for line in lines)


def test_turns_left_beside_an_earlier_turn_say_that_they_are_of_now() -> None:
    def said(n: int) -> str:
        return next(line for line in plain(budget_sheet(budget(shot(), n), 100), 100) if "Turns left" in line)

    assert said(47).split("  ")[1] == "Turns left"
    assert said(1).strip().startswith("Turns left, now")
