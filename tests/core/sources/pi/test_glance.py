"""The newest turns of a long session, from the end of its file: the same as when all of it is read."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.core.model import Ledger, Unavailable
from ctx_inspect.core.sources.base import Glances, NoSession
from ctx_inspect.core.sources.pi import PiSource, tail
from ctx_inspect.core.timeline import timeline

from tests.builders.pi import Call, PiFile, PiStore


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make files of some kilobytes long ones."""
    monkeypatch.setattr(tail, "LONG", 8_000)
    monkeypatch.setattr(tail, "TAIL", 4_000)
    monkeypatch.setattr(tail, "MOST", 64_000)


def long_session(home: Path, turns: int = 40) -> PiFile:
    s = PiStore(home).session(id="long")
    for n in range(turns):
        s.turn(f"do {n}", calls=[Call("bash", {"command": "make"}, f"call_{n}")])
    return s


def both(s: PiFile) -> tuple[Ledger, Ledger]:
    source = PiSource(s.path)
    ahead = source.glance("long")
    assert ahead is not None
    return ahead, source.open("long")


def same(ahead: Ledger, whole: Ledger) -> None:
    assert ahead.partial
    assert not whole.partial
    assert 0 < len(ahead.turns) < len(whole.turns)
    for early, turn in zip(reversed(ahead.turns), reversed(whole.turns), strict=False):
        assert (early.id, early.ids, early.at, early.input, early.inherited) == (turn.id, turn.ids, turn.at, turn.input, turn.inherited)
        assert [(r.id, r.step, r.at, r.done, r.usage, r.model, r.finish, r.tools, r.ref) for r in early.requests] == [
            (r.id, r.step, r.at, r.done, r.usage, r.model, r.finish, r.tools, r.ref) for r in turn.requests
        ]


def test_its_turns_are_those_of_the_whole(tmp_path: Path) -> None:
    ahead, whole = both(long_session(tmp_path))
    same(ahead, whole)
    assert [t.n for t in ahead.turns] == list(range(1, len(ahead.turns) + 1))
    assert ahead.info == whole.info
    assert all(r.context is None for t in ahead.turns for r in t.requests), "what it carried began before"


def test_a_run_of_user_messages_is_one_turn_and_an_abandoned_branch_is_none(tmp_path: Path) -> None:
    s = long_session(tmp_path)
    fork = s.leaf
    s.turn("a way that was left")
    s.go(fork)
    s.user("first half")
    s.user("second half")
    s.assistant("both read")
    ahead, whole = both(s)
    same(ahead, whole)
    assert len(ahead.turns[-1].ids) == 2
    assert ahead.turns[-2].id != whole.hidden[-1].id


def test_damaged_and_unfinished_lines_are_passed_over(tmp_path: Path) -> None:
    s = long_session(tmp_path)
    s.label(s.leaf, "here")
    s.raw(b'{"type":"message","id":"torn\n')
    s.raw(b"[" * 3000 + b"\n")
    s.turn("after the damage")
    s.raw(b'{"type":"message","id":"unfinished"')
    ahead = PiSource(s.path).glance("long")
    assert ahead is not None
    assert [t.id for t in ahead.turns][-1:] == [t.id for t in PiSource(s.path).open("long").turns][-1:]


def test_a_turn_that_is_longer_than_the_first_look_is_found_by_a_longer_one(tmp_path: Path) -> None:
    s = long_session(tmp_path, 120)
    s.turn("a long one", calls=[Call("bash", {"command": "make"}, f"c{n}") for n in range(40)], answer="x" * 3_000)
    ahead, whole = both(s)
    same(ahead, whole)


def test_short_and_unknown_sessions_have_none(tmp_path: Path) -> None:
    s = long_session(tmp_path, 2)
    source = PiSource(s.path)
    assert isinstance(source, Glances)
    assert source.glance("long") is None
    with pytest.raises(NoSession):
        source.glance("other")


def test_its_timeline_claims_nothing_of_what_is_not_read(tmp_path: Path) -> None:
    source = PiSource(long_session(tmp_path).path)
    ahead = source.glance("long")
    assert ahead is not None
    found = timeline(ahead, source.window)
    assert found.partial
    assert isinstance(found.turns[0].delta, Unavailable)
    assert isinstance(found.forecast, Unavailable)
    assert all(isinstance(t.tier, Unavailable) for t in found.turns)
