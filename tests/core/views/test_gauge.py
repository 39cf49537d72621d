from __future__ import annotations

import re

import pytest
from ctx_inspect.app.snapshot import compose
from ctx_inspect.core.model import Confirmed, Estimated, Unavailable, Why
from ctx_inspect.core.shares import Shares
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.timeline import timeline
from ctx_inspect.core.views.gauge import Gauge, bar_spans, gauge_lines, smallest
from ctx_inspect.core.views.layout import text_of
from ctx_inspect.core.views.sheet import Tone

from tests.app.fakes import FakeSource, ledger


def gauge(covered: bool = True, limit: int | None = 200_000, ascii_only: bool = False) -> Gauge:
    made = ledger("opencode:main", "x", covered=covered)
    return compose(FakeSource([made], limit), made).gauge(ascii_only)


@pytest.mark.parametrize("covered", [True, False])
@pytest.mark.parametrize("limit", [200_000, None])
@pytest.mark.parametrize("width", [20, 34, 60, 80, 100, 120, 160, 200, 250])
def test_every_line_is_as_wide_as_the_screen(width: int, limit: int | None, covered: bool) -> None:
    for line in gauge_lines(gauge(covered, limit), width, 2):
        assert cells(text_of(line)) == width


def test_figures_threshold_and_turns_left() -> None:
    first = text_of(gauge_lines(gauge(), 120, 2)[0])
    assert first.startswith(" now 41.3k of 200k · 21 % ▇")
    assert "┃" in first
    assert "compacts at ≈168k" in first
    assert "≈ 70 turns" in first


def test_narrow() -> None:
    first = text_of(gauge_lines(gauge(), 80, 1)[0])
    assert first.startswith(" now 41.3k/200k 21 % ▇")
    assert "turns left" in first


def test_the_tick_stands_where_the_threshold_is() -> None:
    bar = "".join(s.text for s in bar_spans(gauge(), 100))
    assert bar.index("┃") == 84
    assert len(bar) == 100


def test_an_unknown_limit_gives_no_percentage_and_a_bar_that_does_not_look_full() -> None:
    first = text_of(gauge_lines(gauge(limit=None), 120, 2)[0])
    assert "%" not in first
    assert "limit unknown" in first
    assert "turns left —" in first
    assert first.count("▇") + first.count("░") == 24


def test_what_is_not_recorded_is_a_hatched_rest_up_to_the_providers_figure() -> None:
    spans = bar_spans(gauge(covered=False), 100)
    hatched = sum(s.text.count("░") for s in spans)
    filled = sum(len(s.text) for s in spans if s.tone is Tone.CONVERSATION)
    assert hatched > 0
    assert hatched + filled == 21  # 41.3k of 200k
    second = text_of(gauge_lines(gauge(covered=False), 200, 2)[1])
    assert "instructions, skills, tools, system — not recorded" in second


def test_the_counter_is_named_and_its_error_shown_where_all_is_known() -> None:
    second = text_of(gauge_lines(gauge(), 200, 2)[1])
    assert "≈ by bytes/3.5" in second
    assert "provider's 41.3k" in second


def test_categories_are_letters_in_ascii() -> None:
    bar = "".join(s.text for s in bar_spans(gauge(ascii_only=True), 100))
    assert re.fullmatch(r"i+t+y+c+·+┃·+", bar)
    assert "▇" not in bar


def test_an_estimate_above_the_providers_figure_never_makes_the_bar_longer() -> None:
    base = gauge()
    assert base.shares is not None
    found = base.shares
    tripled = tuple(
        type(s)(s.category, Estimated(90_000, "x"), s.items) if not isinstance(s.tokens, Unavailable) else s for s in found.shares
    )
    shares = Shares(tripled, 0, 0, 450_000, Confirmed(0), True)
    bar = bar_spans(Gauge(base.timeline, shares, "x"), 100)
    assert sum(len(s.text) for s in bar if "▇" in s.text) == 21


def test_after_a_compaction_the_window_is_unknown_and_says_why() -> None:
    made = ledger("opencode:main", "x")
    line = timeline(made, FakeSource([], 200_000).window)
    unknown = type(line)(
        line.rows,
        line.turns,
        Unavailable(Why.NOT_YET, "compacted: unknown until the next response"),
        line.limit,
        line.threshold,
        line.forecast,
        line.model,
    )
    first = text_of(gauge_lines(Gauge(unknown), 120, 2)[0])
    assert first.startswith(" now — of 200k")
    assert "unknown until the next response" in first
    assert "%" not in first
    assert smallest(Gauge(unknown)) == "—/200k"


def test_smallest() -> None:
    assert smallest(gauge()) == "41k/200k 21%"
    assert smallest(gauge(limit=None)) == "41k, limit ?"
