"""How often a source is asked: the rules with made-up times."""

from __future__ import annotations

import pytest
from ctx_inspect.core.live.pace import Pace


def looked(pace: Pace, at: float, cost: float = 0.0, *, changed: bool = False) -> float:
    pace.looked(at, at + cost, changed=changed)
    return at + cost


def test_first_look_is_due_at_once() -> None:
    assert Pace(7.0).due(watched=True) == 7.0


@pytest.mark.parametrize(("folder", "watched", "gap"), [(False, True, 1.0), (False, False, 1.0), (True, False, 1.0), (True, True, 5.0)])
def test_idle(folder: bool, watched: bool, gap: float) -> None:
    pace = Pace(0.0, folder=folder)
    looked(pace, 0.0)
    assert pace.due(watched=watched) == gap


def test_hot_for_five_seconds_after_a_change() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0, changed=True)
    at, looks = 10.0, 0
    while (due := pace.due(watched=True)) - at < 0.5:
        at = looked(pace, due)
        looks += 1
    assert at == pytest.approx(15.0, abs=0.06)
    assert looks == pytest.approx(100, abs=1)
    assert pace.due(watched=True) == pytest.approx(at + 1.0)


def test_a_hint_is_followed_at_once_but_20_times_a_second_at_most() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    pace.hint(10.5)
    assert pace.due(watched=True) == 10.5
    looked(pace, 10.5)
    pace.hint(10.51)
    assert pace.due(watched=True) == pytest.approx(10.55)


def test_a_hint_during_a_look_is_not_lost() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    pace.hint(10.5)
    pace.looked(10.5, 10.6, changed=False)  # it came while the look ran: after its stat, perhaps
    pace.hint(10.55)
    pace.looked(10.54, 10.6, changed=False)
    assert pace.due(watched=True) < 11.1


def test_one_more_look_once_it_is_quiet() -> None:
    pace = Pace(0.0)
    looked(pace, 10.0)
    pace.hint(10.5)
    looked(pace, 10.5)
    assert pace.due(watched=True) == pytest.approx(10.56)
    looked(pace, 10.56)
    assert pace.due(watched=True) == pytest.approx(11.56)


@pytest.mark.parametrize("cost", [0.01, 0.1, 1.0])
def test_dear_looks_are_rare(cost: float) -> None:
    pace = Pace(0.0, folder=True)
    end = looked(pace, 10.0, cost)
    assert pace.due(watched=False) - end >= cost * 399
    end = looked(pace, 20.0, cost, changed=True)
    assert pace.due(watched=False) - end >= cost * 19
    pace.hint(end + 0.001)
    assert pace.due(watched=False) - end >= cost * 3.99
