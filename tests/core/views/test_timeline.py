from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from ctx_inspect.core.model import (
    Confirmed,
    Estimated,
    Ledger,
    Mark,
    MarkKind,
    Model,
    Raw,
    Request,
    Turn,
    Unavailable,
    Usage,
    Why,
    Window,
    Witness,
)
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.timeline import EventRow, TurnRow, timeline
from ctx_inspect.core.views.events import event_words
from ctx_inspect.core.views.layout import text_of
from ctx_inspect.core.views.rail import rail_legend, rail_span
from ctx_inspect.core.views.sheet import Tone
from ctx_inspect.core.views.timeline import StepKey, TimelineView, TurnKey, turn_of

from tests.app.fakes import FakeSource, info, ledger


def view(made: Ledger, limit: int | None = 200_000, opened: frozenset[int] = frozenset()) -> TimelineView:
    return TimelineView(timeline(made, FakeSource([], limit).window), opened, made.other, live=made.info.live)


@pytest.fixture
def main() -> TimelineView:
    return view(ledger("opencode:main", "Fix login"))


def lines(shown: TimelineView, width: int) -> list[str]:
    sized = shown.sized(width)
    return [text_of(sized.line(i)) for i in range(len(sized))]


@pytest.mark.parametrize("width", [20, 26, 34, 44, 53, 60, 70, 84, 96, 120])
def test_lines_are_as_wide_as_the_pane_and_cut_cells_say_so(main: TimelineView, width: int) -> None:
    sized = main.toggle(12, True).sized(width)
    for i in range(len(sized)):
        assert cells(text_of(sized.line(i))) == width
    head = sized.head()
    assert head is not None
    assert cells(text_of(head)) == width


def test_columns_leave_in_the_order_of_the_page(main: TimelineView) -> None:
    seen = [[c for c in ("what", "st", "tokens", "time", "window") if c in text_of(main.sized(w).head() or ())] for w in range(110, 19, -1)]
    order = [("what", "st", "tokens", "time", "window")]
    for now in seen:
        if tuple(now) != order[-1]:
            order.append(tuple(now))
    assert order[:6] == [
        ("what", "st", "tokens", "time", "window"),
        ("st", "tokens", "time", "window"),
        ("tokens", "time", "window"),
        ("time", "window"),
        ("window",),
        (),
    ]


def test_a_turn_says_its_window_share_and_change(main: TimelineView) -> None:
    line = lines(main, 84)[main.find(TurnKey(47)) or 0]
    assert re.search(r"█ +47 +\d\d:\d\d +██▏·+ +21% +41.3k +−\d+\.\dk +\d", line)


def test_events_are_full_lines_between_turns_and_cannot_be_selected(main: TimelineView) -> None:
    texts = lines(main, 84)
    at = next(i for i, t in enumerate(texts) if "compacted (auto): 184 → 9 messages" in t)
    assert main.key(at) is None
    assert main.key(at - 1) == TurnKey(46)
    assert main.key(at + 1) == TurnKey(47)
    assert texts[at].rstrip().endswith("┄")


def test_an_opened_turn_shows_its_steps_under_it_and_closing_takes_them_away(main: TimelineView) -> None:
    before = len(main)
    opened = main.toggle(17, True)
    row = main.timeline.turns[16]
    assert len(opened) == before + len(row.turn.requests) == before + 3
    at = opened.find(TurnKey(17)) or 0
    assert [opened.key(at + i) for i in range(5)] == [TurnKey(17), *(StepKey(17, r.id) for r in row.turn.requests), TurnKey(18)]
    assert opened.find(StepKey(17, "m17.2")) == at + 2
    assert opened.find(TurnKey(47)) == (main.find(TurnKey(47)) or 0) + 3
    closed = opened.toggle(17, False)
    assert len(closed) == before
    assert closed.find(StepKey(17, "m17.2")) == at


def test_several_opened_turns_keep_their_places(main: TimelineView) -> None:
    shown = main
    for n in (3, 47, 20, 1):
        shown = shown.toggle(n, True)
    for i in range(len(shown)):
        key = shown.key(i)
        if key is not None:
            assert shown.find(key) == i
            assert turn_of(key) == (key.n if isinstance(key, TurnKey | StepKey) else None)


def test_requests_that_are_no_step_stand_beside_the_steps() -> None:
    shown = view(ledger("opencode:main", "x"), opened=frozenset({1}))
    texts = lines(shown, 84)
    assert any("title request" in t for t in texts)


def test_without_a_limit_there_is_no_percentage() -> None:
    shown = view(ledger("opencode:main", "x"), limit=None)
    texts = lines(shown, 84)
    assert not any("%" in t for t in texts)
    assert "of max" in text_of(shown.sized(84).head() or ())


def test_what_is_not_known_is_a_dash_never_zero() -> None:
    turn = Turn(1, "u", ("u",), 1_790_000_000_000, (Request("r", 1_790_000_000_000, step=1, error="server", finish="error"),))
    shown = view(Ledger(info("pi:x", "x"), turns=(turn,)))
    line = lines(shown, 84)[0]
    assert line.count("—") == 2
    assert "server error · no usage was …" in line  # and why
    assert "?" in line  # the rail: whether the model still has it is not known


def test_an_estimated_window_is_marked() -> None:
    usage = Confirmed(Usage(1000, 5, None, 0, 0), Witness.PROVIDER)
    rows = (Request("r1", 1, step=1, usage=usage), Request("r2", 2, step=2, error="aborted"))
    line = lines(view(Ledger(info("pi:x", "x"), turns=(Turn(1, "u", ("u",), 1, rows),))), 84)[0]
    assert "≈1.0k" in line
    assert "aborted" in line


def test_copied_turns_say_so() -> None:
    turn = Turn(1, "u", ("u",), 1, inherited=True)
    assert "copied" in lines(view(Ledger(info("pi:x", "x"), turns=(turn,))), 84)[0]


def test_rails() -> None:
    assert [rail_span(Estimated(t, "h")).text for t in ("full", "trimmed", "dropped", "compacted")] == ["█", "▒", "░", "┊"]
    assert rail_span(Unavailable(Why.NOT_RECORDED, "x")).text == "?"
    assert text_of(rail_legend(40)) == " █ in context  ┊ compacted away"
    assert text_of(rail_legend(31)) == " █ in context  ┊ compacted away"
    assert text_of(rail_legend(19)) == " █ in  ┊ folded"


def test_hostile_names_are_made_visible() -> None:
    mark = Mark(MarkKind.MODEL, 1, turn=1, detail=Raw("evil\x1b]52;c;x\x07[red]"))
    words = event_words(mark)
    assert "\x1b" not in words
    assert "\x07" not in words
    assert "[red]" in words


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (Mark(MarkKind.REVERT, 1, counts={"turns": 3}), "reverted: 3 turns"),
        (Mark(MarkKind.REVERT, 1), "reverted"),
        (Mark(MarkKind.COMPACTION, 1, status="started"), "compacting"),
        (Mark(MarkKind.COMPACTION, 1, status="failed", reason="manual"), "compaction failed (manual)"),
        (Mark(MarkKind.COMPACTION, 1, status="failed", reason="my secret plan"), "compaction failed"),
        (Mark(MarkKind.COMPACTION, 1, status="succeeded", before=Confirmed(5300)), "compacted: 5.3k before"),
        (Mark(MarkKind.COMPACTION, 1, before=Confirmed(104_200), then=Confirmed(41_300)), "compacted: −62.9k"),
        (Mark(MarkKind.COMPACTION, 1, before=Confirmed(104_200), then=Estimated(41_300, "h")), "compacted: ≈−62.9k"),
        (Mark(MarkKind.PRUNE, 1, counts={"parts": 12}), "pruned: 12 tool outputs"),
        (Mark(MarkKind.AGENT, 1, detail=Raw("plan")), "agent → plan"),
        (Mark(MarkKind.THINKING, 1), "thinking changed"),
    ],
)
def test_event_words(mark: Mark, words: str) -> None:
    assert event_words(mark) == words


def test_every_kind_of_event_has_words() -> None:
    assert all(event_words(Mark(kind, 1)) for kind in MarkKind)


def test_large_falls_stand_out(main: TimelineView) -> None:
    sized = main.sized(84)
    spans = {s.text.strip(): s.tone for s in sized.line(main.find(TurnKey(47)) or 0)}
    assert next(tone for text, tone in spans.items() if text.startswith("−")) is Tone.ALERT


def test_numbers_of_many_digits_fit() -> None:
    turns = tuple(Turn(n, f"u{n}", (f"u{n}",), n * 1000) for n in range(1, 100_001))
    rows = tuple(TurnRow(t, Confirmed(10), Unavailable(Why.UNKNOWN, ""), Confirmed(1), Confirmed("full"), 1, ()) for t in turns)
    made = timeline(Ledger(info("pi:x", "x")), lambda _m: Window((), Unavailable(Why.UNKNOWN, "")))
    shown = TimelineView(type(made)(rows, rows, made.current, made.limit, made.threshold, made.forecast, Model(None, None)))
    assert " 100000 " in text_of(shown.sized(53).line(99_999))
    assert shown.key(99_999) == TurnKey(100_000)


def test_times_of_a_fall_back_hour_have_room_for_their_offset(zone: Callable[[str], None]) -> None:
    zone("America/New_York")
    start = 1_793_509_200_000  # 2026-11-01 05:00 UTC: 01:00 in New York, an hour before the clock goes back
    turns = tuple(Turn(n, f"u{n}", (f"u{n}",), start + n * 1_800_000) for n in range(1, 5))
    shown = view(Ledger(info("pi:x", "x"), turns=turns))
    texts = lines(shown, 84)
    assert any("01:30 -04:00" in t for t in texts)
    assert any("01:30 -05:00" in t for t in texts)


def test_rows_are_turns_and_events(main: TimelineView) -> None:
    kinds = {type(main.at(i)) for i in range(len(main))}
    assert kinds == {TurnRow, EventRow}


def eventful() -> Ledger:
    """Return a session in which each turn has something that a person must see."""

    def row(n: int, **more: object) -> Request:
        return Request(f"r{n}", n, step=1, usage=Confirmed(Usage(1000 + n, 5, None, 0, 0), Witness.PROVIDER), done=n, finish="stop", **more)  # type: ignore[arg-type]

    rows = (
        (row(1, error="aborted"),),
        (row(2, error="server"),),
        (row(3),),
        (row(4, children=("opencode:child",), tools=(Raw("task"),)),),
        (Request("r5", 5, step=1, done=5, finish="stop"),),
        (Request("r6", 6, call=False, tools=(Raw("bash"),)),),
        (row(7, tools=(Raw("bash"),)),),
    )
    turns = tuple(Turn(n, f"u{n}", (f"u{n}",), n, requests) for n, requests in enumerate(rows, start=1))
    marks = (
        Mark(MarkKind.MODEL, 2, turn=3, detail=Raw("acme/fast")),
        Mark(MarkKind.EDIT, 7, turn=7),
        Mark(MarkKind.EDIT, 7, turn=7),
    )
    return Ledger(info("opencode:x", "x"), turns=turns, marks=marks)


@pytest.mark.parametrize("width", [59, 60, 70, 84, 120])
def test_what_happened_is_seen_in_words(width: int) -> None:
    texts = lines(view(eventful()), width)
    for text, words in zip(texts, ("aborted", "server e", "→", "1 subag", "no usage", "shell com", "context e"), strict=True):
        assert words in text, text
    assert ("→ fast" in texts[2]) if width < 64 else ("model → acme/f" in texts[2])


@pytest.mark.parametrize("width", [24, 34, 40, 50, 58])
def test_where_words_have_no_room_a_sign_is_seen(width: int) -> None:
    texts = lines(view(eventful()), width)
    ends = [t.rstrip()[-1] for t in texts]
    assert [end if end in "!→└" else "" for end in ends] == ["!", "!", "→", "└", "", "", "→"]
    assert text_of(view(eventful()).sized(width).head() or ()).strip().endswith(("st", "Δ", "tokens", "window", "time", "turn"))


def test_what_repeats_is_counted() -> None:
    assert "context edited ×2 · bash" in lines(view(eventful()), 120)[6]


@pytest.mark.parametrize(
    ("requests", "live", "words"),
    [
        ((), True, "waiting for the first response"),
        ((), False, "no response recorded"),
        ((Request("r", 5, step=1),), True, "running"),
        ((Request("r", 5, step=1),), False, "end not recorded"),
        ((Request("r", 5, step=1, done=6, finish="stop"),), True, "no usage was reported for this row"),
        ((Request("r", 5, call=False, tools=(Raw("bash"),)),), True, "shell command"),
        ((Request("r", 5, call=False, tools=(Raw("task"),)),), True, "subtask"),
    ],
)
def test_a_turn_without_a_figure_says_what_it_is_doing(requests: tuple[Request, ...], live: bool, words: str) -> None:
    made = Ledger(info("pi:x", "x", live=live), turns=(Turn(1, "u", ("u",), 5, requests),))
    text = lines(view(made), 120)[0]
    assert text.rstrip().endswith(" " + words) or f" {words} · " in text
    assert "no model was called" not in text


def test_a_turn_that_others_followed_waits_for_nothing() -> None:
    turns = (Turn(1, "u", ("u",), 5), Turn(2, "v", ("v",), 6))
    texts = lines(view(Ledger(info("pi:x", "x", live=True), turns=turns)), 120)
    assert "no response recorded" in texts[0]
    assert "waiting for the first response" in texts[1]


@pytest.mark.parametrize("width", range(34, 60))
def test_without_a_limit_the_count_of_tokens_stays(width: int) -> None:
    shown = view(ledger("opencode:main", "Fix login"), None)
    assert "41.3k" in lines(shown, width)[shown.find(TurnKey(47)) or 0]
