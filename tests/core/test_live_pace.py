"""How often a source is asked: the rules with made-up times."""

from __future__ import annotations

import pytest
from ctx_inspect.core.live.pace import DISCOVER_EMPTY_GAP, DISCOVER_GAP, Pace, discover_gap


def looked(pace: Pace, at: float, cost: float = 0.0, *, changed: bool = False) -> float:
    pace.looked(at, at + cost, cost=cost, changed=changed)
    return at + cost


def test_first_look_is_due_at_once() -> None:
    assert Pace(7.0).due(watched=True) == 7.0


@pytest.mark.parametrize(("folder", "watched", "gap"), [(False, True, 1.0), (False, False, 1.0), (True, False, 1.0), (True, True, 5.0)])
def test_idle(folder: bool, watched: bool, gap: float) -> None:
    pace = Pace(0.0, folder=folder)
    looked(pace, 0.0)
    assert pace.due(watched=watched) == gap


@pytest.mark.parametrize(("watched", "gap"), [(False, 0.05), (True, 0.25)])
def test_hot_for_five_seconds_after_a_change(watched: bool, gap: float) -> None:
    pace = Pace(0.0)
    looked(pace, 0.0)
    pace.hint(9.9)
    looked(pace, 10.0, changed=True)
    at, looks = 10.0, 0
    while (due := pace.due(watched=watched)) - at < 0.5:
        at = looked(pace, due)
        looks += 1
    assert at == pytest.approx(15.0, abs=gap + 0.01)
    assert looks == pytest.approx(5 / gap, abs=1)
    assert pace.due(watched=watched) == pytest.approx(at + 1.0)


@pytest.mark.parametrize(("folder", "quiet"), [(False, 0.02), (True, 0.004)])
def test_a_hint_is_followed_once_it_is_quiet(folder: bool, quiet: float) -> None:
    pace = Pace(0.0, folder=folder)
    looked(pace, 10.0)
    pace.hint(10.5)
    assert pace.due(watched=True) == pytest.approx(10.5 + quiet)
    pace.hint(10.5 + quiet / 2)
    assert pace.due(watched=True) == pytest.approx(10.5 + 1.5 * quiet)


def test_hints_without_end_are_followed_20_times_a_second() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    looks: list[float] = []
    for ms in range(1000):
        now = 10.5 + ms / 1000
        pace.hint(now)
        if pace.due(watched=True) <= now:
            looks.append(looked(pace, now))
    assert 18 <= len(looks) <= 20


def test_a_hint_during_a_look_is_not_lost() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    pace.hint(10.5)
    pace.hint(10.55)  # noted after the look had begun: it may tell of what the look did not see
    pace.looked(10.54, 10.6, cost=0.0, changed=False)
    assert pace.due(watched=True) < 10.9


def test_one_more_look_once_it_is_settled() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    pace.hint(10.5)
    looked(pace, 10.52)
    assert pace.due(watched=True) == pytest.approx(10.57)
    looked(pace, 10.57, changed=True)
    assert pace.due(watched=True) == pytest.approx(10.82)


def test_a_hint_is_followed_until_its_change_is_found() -> None:
    """A look may see a part of thousands of files only."""
    pace = Pace(0.0, folder=True)
    looked(pace, 10.0)
    pace.hint(20.0)
    at, looks = 20.0, 0
    while (due := pace.due(watched=True)) - at < 0.2:
        at = looked(pace, due)
        looks += 1
    assert looks >= 18
    assert at == pytest.approx(21.0, abs=0.06)
    assert pace.due(watched=True) == pytest.approx(at + 5.0)


def test_changes_without_notifications_make_it_poll() -> None:
    """As on network folders: the system takes the watch and never tells anything."""
    pace = Pace(0.0, folder=True)
    looked(pace, 0.0)
    assert pace.due(watched=True) == 5.0
    looked(pace, 5.0, changed=True)
    assert pace.due(watched=True) == pytest.approx(5.05)
    looked(pace, 11.0)
    assert pace.due(watched=True) == 12.0
    pace.hint(11.5)
    looked(pace, 11.6)
    looked(pace, 12.6)
    assert pace.due(watched=True) == 17.6


@pytest.mark.parametrize("cost", [0.01, 0.05, 0.1])
def test_dear_looks_are_rare(cost: float) -> None:
    pace = Pace(0.0, folder=True)
    end = looked(pace, 10.0, cost)
    assert pace.due(watched=False) - end >= cost * 399
    end = looked(pace, 20.0, cost, changed=True)
    assert pace.due(watched=False) - end >= cost * 19
    pace.hint(end + 0.001)
    assert pace.due(watched=False) - end >= cost * 3.99


def test_waiting_for_a_lock_is_not_dear_and_nothing_is_given_up() -> None:
    pace = Pace(0.0)
    pace.looked(10.0, 11.0, cost=0.001, changed=False)
    assert pace.due(watched=True) == 12.0
    pace.looked(12.0, 22.0, cost=10.0, changed=False)
    assert pace.due(watched=True) == pytest.approx(62.0)


def test_requests_wait_for_a_moment_of_quiet_but_not_long() -> None:
    pace = Pace(0.0)
    assert pace.calm(5.0) == 5.0
    pace.hint(10.0)
    assert pace.calm(10.001) == pytest.approx(10.02)
    assert pace.calm(10.5) == 10.5
    for ms in range(200):
        pace.hint(20 + ms / 1000)
    assert pace.calm(20.0) == pytest.approx(20.05), "a writer without rest holds nothing up"
    folder = Pace(0.0, folder=True)
    folder.hint(10.0)
    assert folder.calm(10.001) == 10.001, "files that are only appended to have no such moment"


@pytest.mark.parametrize(("empty", "least"), [(True, DISCOVER_EMPTY_GAP), (False, DISCOVER_GAP)])
def test_one_dear_look_for_stores_is_no_reason_to_look_away(empty: bool, least: float) -> None:
    assert discover_gap((0.0002, 0.0), empty=empty) == least
    assert discover_gap((0.03, 0.0), empty=empty) == least  # the first one imports
    assert discover_gap((0.03, 0.0002), empty=empty) == least
    assert discover_gap((0.03, 0.02), empty=empty) == pytest.approx(8.0)  # looks that are dear each time are made seldom
