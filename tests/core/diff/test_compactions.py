"""Which compaction it is, what it saved, and whether they come in a loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.core.diff.compactions import Compactions, newest
from ctx_inspect.core.model import Confirmed, Estimated, Ledger, Mark, Unavailable, replace, value_of

from tests.builders.opencode_parts import Usage
from tests.builders.pi import PiStore, Spent
from tests.core.diff.told import Store
from tests.core.ledgers import compaction, ledger, turn
from tests.core.sources.pi.reading import opened


def looping(led: Ledger) -> list[bool]:
    known = Compactions(led)
    found = [known.of(m) for m in led.marks]
    return [c.loop for c in found if c is not None]


def of_turns(*turns: int) -> Ledger:
    marks = tuple(compaction(n, None, after=f"a{n}.1") for n in turns)
    return ledger(*(turn(n, 10_000 * n if n % 2 else 100) for n in range(1, max(turns) + 2)), marks=marks)


@pytest.mark.parametrize(
    ("turns", "loops"),
    [
        ((1,), [False]),
        ((1, 1), [False, False]),
        ((1, 1, 1), [False, False, True]),
        ((1, 2, 3), [False, False, True]),  # one prompt between each
        ((1, 3, 5), [False, False, False]),  # two prompts between each
        ((1, 2, 4, 5, 6), [False, False, False, False, True]),
    ],
)
def test_three_with_fewer_than_two_prompts_between_each_are_a_loop(turns: tuple[int, ...], loops: list[bool]) -> None:
    led = of_turns(*turns)
    # what each saved is recorded and much, so that only their distance counts
    marks = tuple(replace(m, before=Confirmed(50_000), then=Confirmed(9_000)) for m in led.marks)
    assert looping(replace(led, marks=marks)) == loops


@pytest.mark.parametrize(
    ("saved", "loops"),
    [
        ((5, 5), [False, True]),
        ((50, 5), [False, False]),
        ((5, 50), [False, False]),
        ((5, 5, 50), [False, True, False]),
        ((10, 9), [False, False]),  # ten in a hundred is not under a tenth
        ((-3, 5), [False, True]),  # more than before
    ],
)
def test_two_in_a_row_that_saved_little_are_a_loop(saved: tuple[int, ...], loops: list[bool]) -> None:
    marks = tuple(compaction(5 * n, None, before=Confirmed(100), then=Confirmed(100 - s)) for n, s in enumerate(saved, start=1))
    assert looping(ledger(*(turn(n, 100) for n in range(1, 20)), marks=marks)) == loops


def test_what_is_not_known_is_no_little_saving() -> None:
    marks = (compaction(4, None), compaction(8, None))
    led = ledger(*(turn(n, None) for n in range(1, 10)), marks=marks)
    assert looping(led) == [False, False]
    found = Compactions(led).of(marks[1])
    assert found is not None
    assert (found.nth, isinstance(found.before, Unavailable), isinstance(found.after, Unavailable)) == (2, True, True)


def test_only_those_that_succeeded_count() -> None:
    marks = tuple(replace(compaction(n, None), status=status) for n, status in ((1, "failed"), (2, "succeeded"), (3, "started")))
    led = ledger(*(turn(n, 100) for n in range(1, 5)), marks=marks)
    known = Compactions(led)
    second = known.of(marks[1])
    assert second is not None
    assert (second.nth, known.of(marks[0]), known.of(marks[2]), newest(marks)) == (1, None, None, marks[1])


def test_recorded_figures_count_and_windows_stand_in() -> None:
    recorded = compaction(2, None, after="a2.1", before=Confirmed(900), then=Confirmed(90))
    windows = compaction(2, None, after="a2.1")
    for mark, before, after in (
        (recorded, Confirmed(900), Confirmed(90)),
        (windows, Estimated(800, "the last request before it"), Estimated(80, "the first request after it")),
    ):
        found = Compactions(ledger(turn(1, 1), turn(2, 800), turn(3, 80), marks=(mark,))).of(mark)
        assert found is not None
        assert (found.before, found.after) == (before, after)


def test_a_compaction_before_the_first_request_of_a_turn_is_measured_by_the_turn_before() -> None:
    mark = compaction(2, 2000, after="a1.1")
    found = Compactions(ledger(turn(1, 800), turn(2, 80), marks=(mark,))).of(mark)
    assert found is not None
    assert (value_of(found.before), value_of(found.after)) == (800, 80)


@pytest.mark.field("37")
def test_three_compactions_in_three_minutes_are_a_loop(tmp_path: Path) -> None:
    store = Store(tmp_path, tick=20_000)
    store.s.turn("one")
    for _ in range(3):
        store.s.compact(reason="auto")
        store.s.step("goes on", usage=Usage(900, 10))
    assert looping(store.ledger()) == [False, False, True]
    calm = Store(tmp_path / "calm", tick=20_000)
    for _ in range(3):
        calm.s.turn("one")
        calm.s.turn("two")
        calm.s.compact(reason="auto")
        calm.s.step("goes on", usage=Usage(100, 10))
    assert looping(calm.ledger()) == [False, False, False]


@pytest.mark.field("38")
@pytest.mark.parametrize("reason", ["auto", "manual", "overflow"])
def test_two_records_of_one_compaction_are_one_event(tmp_path: Path, reason: str) -> None:
    """OpenCode writes a request row and a summary row, Pi an edit of the failed answer and the compaction."""
    store = Store(tmp_path / "opencode")
    store.s.turn("one")
    store.s.compact(reason=reason)
    store.s.turn("two")
    assert succeeded_in(store.ledger()) == 1
    s = PiStore(tmp_path / "pi").session()
    s.turn("one", usage=Spent(5000))
    if reason == "overflow":
        s.context_edit(s.assistant(error="too long"), None)
    s.compaction("so far", before=5000)
    s.turn("two")
    assert succeeded_in(opened(s)) == 1


def succeeded_in(led: Ledger) -> int:
    known = Compactions(led)
    found: list[Mark] = [m for m in led.marks if known.of(m) is not None]
    return len(found)
