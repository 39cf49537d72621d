"""What figures alone say."""

from __future__ import annotations

from typing import Any

import pytest
from ctx_inspect.core.cache.figures import KEPT_FROM, RANK, Figures, badness, figures, has_figures, reusable_of
from ctx_inspect.core.cache.model import Cache
from ctx_inspect.core.model import Confirmed, Estimated, Known, Unavailable, Usage, Why
from hypothesis import given
from hypothesis import strategies as st

from tests.core.cache.made import spent

MINUTE = 60_000


def said(before: Known[Usage] | None, this: Known[Usage], **more: Any) -> Figures:
    return figures(before, this, **{"writes": True, **more})


@pytest.mark.parametrize(
    ("read", "verdict"),
    [
        (40_000, Cache.KEPT),
        (38_000, Cache.KEPT),  # 0.95
        (37_999, Cache.PARTIAL),
        (1, Cache.PARTIAL),
        (0, Cache.LOST),
    ],
)
def test_the_share_that_was_read(read: int, verdict: Cache) -> None:
    found = said(spent(3, 30_000, 10_000), spent(3, read, 50_000 - read))
    assert (found.verdict, found.reusable, found.rewritten) == (verdict, 40_000, 40_000 - read)
    assert found.r == pytest.approx(read / 40_000)
    assert found.evidence == "confirmed"


def test_what_providers_round_is_no_loss() -> None:
    before = spent(3, 0, 2_000)
    assert said(before, spent(3, 1_872)).verdict is Cache.KEPT
    assert said(before, spent(3, 1_871)).verdict is Cache.PARTIAL


def test_where_writes_are_not_reported_what_was_not_read_counts_as_written() -> None:
    before, this = spent(10_000, 30_000, 0), spent(12_000, 30_000, 0)
    assert said(before, this, writes=False).reusable == 40_000
    assert said(before, this, writes=False).verdict is Cache.PARTIAL
    assert said(before, this, writes=False).written is None
    # of a provider that reports its writes the same request wrote none
    assert said(before, this).verdict is Cache.KEPT
    assert said(before, this).written == 0


def test_little_is_not_cacheable_unless_it_was_read_all_the_same() -> None:
    before = spent(3, 0, 1_023)
    assert said(before, spent(1_026, 0)).verdict is Cache.NOT_CACHEABLE
    assert said(spent(3, 0, 1_024), spent(1_026, 0)).verdict is Cache.LOST
    assert said(before, spent(3, 1_000)).verdict is Cache.KEPT
    assert said(before, spent(900, 300)).verdict is Cache.PARTIAL
    assert said(spent(3, 0, 3_000), spent(3_000, 0), least=4_096).verdict is Cache.NOT_CACHEABLE


def test_idle_past_the_lifetime_is_cold_only_where_nothing_was_read() -> None:
    before = spent(3, 0, 40_000)
    assert said(before, spent(40_000), idle_ms=5 * MINUTE).verdict is Cache.LOST
    assert said(before, spent(40_000), idle_ms=5 * MINUTE + 1).verdict is Cache.COLD
    assert said(before, spent(40_000), idle_ms=50 * MINUTE, ttl_ms=60 * MINUTE).verdict is Cache.LOST
    assert said(before, spent(3, 20_000), idle_ms=50 * MINUTE).verdict is Cache.PARTIAL
    assert said(before, spent(40_000)).verdict is Cache.LOST


def test_the_first_request_is_cold_unless_another_session_filled_the_cache() -> None:
    assert said(None, spent(3, 0, 9_000)).verdict is Cache.COLD
    read = said(None, spent(3, 9_000, 100))
    assert (read.verdict, read.evidence, read.r, read.reusable) == (Cache.KEPT, "estimated", None, None)
    assert read.how is not None
    assert "another session" in read.how


def test_what_was_not_reported_is_no_zero() -> None:
    nothing = Unavailable(Why.NOT_REPORTED, "no usage was reported for this row")
    for found in (
        said(spent(3, 0, 9_000), nothing),
        said(spent(3, 0, 9_000), spent(9_000, None)),
        said(spent(3, 0, 9_000), spent(0, 0)),
        said(spent(3, 0, 9_000), spent(9_000), reported=False),
        said(nothing, spent(9_000, 100)),
        said(spent(None, None), spent(9_000, 100), writes=False),  # type: ignore[arg-type]
    ):
        assert (found.verdict, found.evidence) == (Cache.NOT_REPORTED, "unavailable")
        assert found.how
        assert found.r is None


def test_an_estimated_usage_makes_the_verdict_one() -> None:
    guess = Estimated(Usage(input=3, cache_read=0, cache_write=40_000), "copied")
    found = said(guess, spent(3, 40_000))
    assert (found.verdict, found.evidence, found.how) == (Cache.KEPT, "estimated", "copied")


FIGURE = st.none() | st.integers(0, 300_000)
USAGE = st.builds(Usage, input=FIGURE, cache_read=FIGURE, cache_write=FIGURE).map(Confirmed)


@given(st.none() | USAGE, USAGE, st.booleans(), st.booleans(), st.none() | st.integers(0, 10**8))
def test_figures_hold_together(before: Any, this: Any, writes: bool, reported: bool, idle_ms: int | None) -> None:
    found = figures(before, this, writes=writes, reported=reported, idle_ms=idle_ms)
    assert (found.evidence == "unavailable") == (found.verdict is Cache.NOT_REPORTED)
    assert found.r is None or 0 <= found.r <= 1
    assert found.rewritten is None or found.rewritten >= 0
    assert (found.how is not None) or found.evidence == "confirmed"
    read = this.value.cache_read
    match found.verdict:
        case Cache.LOST | Cache.COLD | Cache.NOT_CACHEABLE:
            assert read == 0
        case Cache.PARTIAL:
            assert read > 0
            assert found.r < KEPT_FROM
        case Cache.KEPT:
            assert read > 0
        case Cache.NOT_REPORTED:
            assert not reported or read is None or not has_figures(this) or (before and reusable_of(before.value, writes=writes) is None)


def test_each_verdict_has_its_place_among_the_steps_of_a_turn() -> None:
    assert set(RANK) == set(Cache)
    steps = [Figures(Cache.KEPT, r=1.0), Figures(Cache.PARTIAL, r=0.9), Figures(Cache.PARTIAL, r=0.03), Figures(Cache.NOT_REPORTED)]
    assert min(steps, key=badness) is steps[2]
    assert min([*steps, Figures(Cache.LOST, r=0.0)], key=badness).verdict is Cache.LOST
    assert min([steps[0], steps[3]], key=badness) is steps[0]
