"""What a turn is compared with, and which events lie between two requests."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from ctx_inspect.core.diff.baseline import Order, baseline_of, side_of
from ctx_inspect.core.diff.report import NoBaseline, Side
from ctx_inspect.core.model import HiddenTurn, Ledger, Mark, MarkKind, Purpose, Turn, replace
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.opencode_parts import text
from tests.builders.pi import PiStore
from tests.core.diff.told import Store
from tests.core.ledgers import compaction, ledger, step, turn
from tests.core.sources.pi.reading import opened


def against(led: Ledger, n: int) -> str:
    found = baseline_of(led, n)
    assert isinstance(found, Side)
    assert found.request is not None
    return found.request.id


def hidden(id: str, *at: int | None, state: str = "reverted") -> HiddenTurn:
    return HiddenTurn(id, (id,), at[0], state, (), tuple(step(f"{id}.{n}", 50, n, at=t) for n, t in enumerate(at, start=1)))


def untimed(n: int, *windows: int | None) -> Turn:
    made = turn(n, *windows)
    return Turn(n, made.id, made.ids, None, tuple(replace(r, at=None) for r in made.requests))


def test_the_first_request_of_a_turn_is_compared_with_that_of_the_turn_before() -> None:
    led = ledger(turn(1, 100, 110, None), turn(2, 200), turn(3, None, 300))
    assert baseline_of(led, 1) is NoBaseline.FIRST_TURN
    assert [against(led, n) for n in (2, 3)] == ["a1.1", "a2.1"]
    assert [side_of(led, n).request.id for n in (1, 2, 3)] == ["a1.1", "a2.1", "a3.1"]  # type: ignore[union-attr]


def test_a_failed_first_row_is_the_first_request_and_the_retry_moves_nothing() -> None:
    failed = replace(step("a1.1", None, 1, at=1001), finish="error", error="server")
    led = ledger(Turn(1, "u1", ("u1",), 1000, (failed, step("a1.2", 100, 2, at=1002))), turn(2, 200))
    assert against(led, 2) == "a1.1"


def test_a_turn_without_a_request_is_no_baseline_and_has_none() -> None:
    shell = replace(step("sh", None, at=2500), call=False, step=None)
    led = ledger(turn(1, 100), Turn(2, "u2", ("u2",), 2000, (shell,)), Turn(3, "u3", ("u3",), 2900), turn(4, 400))
    assert baseline_of(led, 2) is baseline_of(led, 3) is NoBaseline.NOT_RECORDED
    assert against(led, 4) == "a1.1"
    assert side_of(led, 2).request is None


@pytest.mark.parametrize("purpose", [p for p in Purpose if p is not Purpose.PRIMARY])
def test_requests_for_something_else_are_never_one(purpose: Purpose) -> None:
    title = replace(step("title", 10, at=2000), purpose=purpose)
    led = ledger(turn(1, 100), Turn(2, "u2", ("u2",), 2000, (title, step("a2", 200, at=2001))), turn(3, 300))
    assert against(led, 2) == "a1.1"
    assert against(led, 3) == "a2"
    assert [p.request.id for p in Order(led).requests] == ["a1.1", "a2", "a3.1"]


@pytest.mark.parametrize("state", ["reverted", "abandoned"])
def test_a_turn_that_is_gone_since_is_one_if_it_was_sent_last(state: str) -> None:
    led = ledger(turn(1, 100), turn(2, 200), hidden=(hidden("h", 1500, 1600, state=state),))
    found = baseline_of(led, 2)
    assert isinstance(found, Side)
    assert (found.request and found.request.id, found.state, found.turn, found.id) == ("h.1", state, None, "h")
    assert against(replace(led, hidden=(hidden("h", 2500),)), 2) == "a1.1"


def test_equal_times_and_missing_times_fall_back_to_where_the_event_stands() -> None:
    back = Mark(MarkKind.REVERT, None, 1, "a1.1", refs={"message": "h"})
    for at in (1001, None):
        led = ledger(turn(1, 100), turn(2, 200), hidden=(hidden("h", at),), marks=(back,))
        assert against(led, 2) == "h.1", at
        bare = ledger(untimed(1, 100), untimed(2, 200), hidden=(hidden("h", at),), marks=(back,))
        assert against(bare, 2) == "h.1", at
    assert [against(ledger(*(untimed(n, 100) for n in (1, 2, 3))), n) for n in (2, 3)] == ["a1.1", "a2.1"]


def test_a_clock_that_went_back_changes_no_order() -> None:
    late = turn(2, 200)
    led = ledger(turn(1, 100), replace(late, requests=tuple(replace(r, at=5) for r in late.requests)), turn(3, 300))
    assert [against(led, n) for n in (2, 3)] == ["a1.1", "a2.1"]


def test_of_a_part_of_a_session_it_is_not_known_whether_a_turn_stands_before() -> None:
    assert baseline_of(replace(ledger(turn(1, 100), turn(2, 100)), partial=True), 1) is NoBaseline.NOT_RECORDED


@pytest.mark.parametrize(("n", "at"), [(0, None), (3, None), (-1, None), (1, 0), (1, 2), (1, -1)])
def test_what_is_not_there_is_said(n: int, at: int | None) -> None:
    led = ledger(turn(1, 100), turn(2, 100))
    with pytest.raises(LookupError, match="there is no"):
        side_of(led, n, at)


def test_events_lie_between_two_requests_where_the_ledger_has_them() -> None:
    marks = tuple(compaction(n, None, after=after) for n, after in ((1, None), (1, "a1.1"), (1, "a1.2"), (2, "a2.1")))
    order = Order(ledger(turn(1, 100, 100), turn(2, 100), turn(3, 100), marks=marks))
    assert order.between("a1.1", "a1.2") == marks[1:2]
    assert order.between("a1.1", "a2.1") == marks[1:3]
    assert order.between("a2.1", "a3.1") == marks[3:]
    assert order.between("a1.1", "a3.1") == marks[1:]
    assert order.steps("a1.1", "a2.1") == 2
    assert order.previous("a2.1") == order.placed("a1.2")
    assert order.previous("a1.1") is None


def test_events_before_a_hidden_request_are_not_between_it_and_the_next() -> None:
    before, after = Mark(MarkKind.MODEL, 1100, 1, "a1.1"), Mark(MarkKind.REVERT, 1700, 1, "a1.1", refs={"message": "h"})
    order = Order(ledger(turn(1, 100), turn(2, 200), marks=(before, after), hidden=(hidden("h", 1500),)))
    assert order.between("h.1", "a2.1") == (after,)
    assert order.between("a1.1", "h.1") == (before,)
    assert order.between("a1.1", "a2.1") == (before, after)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=9))
def test_every_baseline_is_the_newest_first_request_before_in_time(drawn: list[tuple[bool, int]]) -> None:
    """Against a reading by brute force: turns one after another in time, some of them gone since, some without a request."""
    turns: list[Turn] = []
    gone: list[HiddenTurn] = []
    sent: list[str | None] = []
    for n, (kept, steps) in enumerate(drawn, start=1):
        rows = tuple(step(f"r{n}.{k}", 9, k, at=n * 1000 + k) for k in range(1, steps + 1))
        if kept:
            turns.append(Turn(len(turns) + 1, f"u{n}", (f"u{n}",), n * 1000, rows))
        else:
            gone.append(HiddenTurn(f"u{n}", (f"u{n}",), n * 1000, "reverted", (), rows))
        sent.append(rows[0].id if rows else None)
    led = ledger(*turns, hidden=tuple(gone))
    for row in turns:
        found = baseline_of(led, row.n)
        if not row.requests:
            assert found is NoBaseline.NOT_RECORDED
            continue
        earlier = [id for id in sent[: sent.index(row.requests[0].id)] if id is not None]
        if earlier:
            assert isinstance(found, Side)
            assert found.request is not None
            assert found.request.id == earlier[-1]
        else:
            assert found is NoBaseline.FIRST_TURN
    order = Order(led)
    assert [p.request.at for p in order.requests] == sorted(p.request.at or 0 for p in order.requests)
    for a, b in pairwise(order.requests):
        assert order.previous(b.request.id) == a


# -- from stores ---------------------------------------------------------------------------------------------


def test_opencode_a_revert_hides_a_turn_and_it_stays_the_baseline(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.s.turn("one")
    second = store.s.turn("two")
    store.s.revert(second)
    pending = store.ledger()
    assert [t.id for t in pending.turns] == [first]
    store.s.cleanup()
    third = store.s.turn("three")
    led = store.ledger()
    found = baseline_of(led, 2)
    assert isinstance(found, Side)
    assert (found.id, found.state) == (second, "reverted")
    assert found.request is not None
    assert found.request.context is not None
    assert [m.id for m in found.request.context.messages][-1] == second
    assert led.turns[1].id == third


def test_opencode_shell_and_prompts_without_reply_are_skipped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.s.turn("one")
    store.s.shell("ls", "a b")
    store.s.user("noted, no reply")
    store.s.step("a late answer to it")
    store.s.user("no reply either")
    store.s.user(text("added by a plugin", synthetic=True))
    store.s.shell("pwd", "/p")
    store.s.turn("two")
    led = store.ledger()
    assert [bool(t.requests and t.requests[0].call) for t in led.turns] == [True, True, False, True]
    assert baseline_of(led, 3) is NoBaseline.NOT_RECORDED
    assert against(led, 4) == led.turns[1].requests[0].id


def test_pi_a_branch_that_was_left_is_the_baseline_of_the_turn_after_it(tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    one = s.turn("one")
    two = s.turn("two")
    s.go(one[-1])
    s.turn("other two")
    s.turn("three")
    led = opened(s)
    found = baseline_of(led, 2)
    assert isinstance(found, Side)
    assert (found.id, found.state, found.turn) == (two[0], "abandoned", None)
    assert against(led, 3) == led.turns[1].requests[0].id


def test_pi_rows_left_in_the_middle_of_a_turn_are_no_turn(tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one")
    prompt = s.user("two")
    kept = s.assistant("kept")
    s.assistant("left")
    s.go(kept)
    s.turn("three")
    led = opened(s)
    assert [h.ids for h in led.hidden] == [()]
    assert against(led, 3) == kept
    assert led.turns[1].id == prompt
