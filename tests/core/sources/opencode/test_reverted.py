"""What requests carried whose messages were taken back: the same as was said of them while they were there."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from ctx_inspect.core.model import Ledger
from ctx_inspect.core.sources.opencode import OpenCodeSource, aside
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.builders.opencode import OpenCodeDB, Session
from tests.core.sources.opencode import naive
from tests.core.sources.opencode.test_rebuild import OPS

Lines = list[naive.Line]


def _take_back(s: Session, path: Path, n: int, seen: dict[str, Lines]) -> None:
    """Revert, and keep what each request that goes is known to have carried."""
    ids = s.messages()
    if not ids:
        return
    s.db.flush()
    s.revert(ids[n % len(ids)])
    rows = naive.stored(path, s.id)
    for place, row in enumerate(rows):
        if place >= n % len(ids) and row["role"] == "assistant" and not row.get("summary"):
            seen[row["id"]] = naive.lines(rows[:place], row)
    s.cleanup()


def _hidden(ledger: Ledger, source: OpenCodeSource) -> dict[str, Lines | None]:
    rows = [r for h in ledger.hidden for r in h.requests if r.call]
    return {r.id: None if r.context is None else naive.rebuilt(source, r.context) for r in rows}


@example([("turn", 1), ("turn", 2), ("turn", 3), ("back", 4), ("turn", 5), ("back", 2), ("turn", 6)], [7])
@example([("agent", 1), ("auto", 1), ("turn", 3), ("back", 5), ("agent", 0), ("back", 1)], [3, 5])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from([*sorted(set(OPS) - {"revert"}), "back", "back"]), st.integers(0, 40)), min_size=2, max_size=16),
    st.lists(st.integers(0, 16), max_size=3),
)
def test_they_are_those_of_the_slow_way_read_anew_or_on(ops: list[tuple[str, int]], looks: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opencode.db"
        with OpenCodeDB(path) as db:
            s = db.session()
            s.turn("first")
            seen: dict[str, Lines] = {}
            reader, led = OpenCodeSource(path), None
            for n, (name, k) in enumerate(ops):
                if name == "back":
                    _take_back(s, path, k, seen)
                else:
                    OPS[name](s, k)
                if n in looks:
                    db.flush()
                    led = reader.open(s.id, led)
                    _hidden(led, reader)
            db.flush()
            for source, prior in ((OpenCodeSource(path), None), (reader, led)):
                found = _hidden(source.open(s.id, prior), source)
                assert {id: seen[id] for id in found} == found


def test_nothing_is_made_until_somebody_looks_and_no_row_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.turn("one")
        s.turn("two")
        s.revert(s.turn("three"))
        s.cleanup()
        s.turn("four")
        played: list[int] = []
        play = aside.Aside._play
        monkeypatch.setattr(aside.Aside, "_play", lambda self, todo: (played.append(len(todo)), play(self, todo))[1])
        db.flush()
        source = OpenCodeSource(db.path)
        ledger = source.open(s.id)
        assert played == []
        (hidden,) = ledger.hidden
        context = hidden.requests[0].context
        assert context is not None
        assert len(context.messages) == 5
        assert [m.id for m in context.messages][-1] == hidden.id
        assert played == [1]
        assert ledger.turns[2].requests[0].context is not None
        s.turn("five")
        db.flush()
        assert len(ledger.turns[2].requests[0].context.messages) == 5  # a list was looked at: the next read goes on from it
        again = source.open(s.id, ledger)
        assert again.hidden[0] is hidden
        assert played == [1]


def _reverted(db: OpenCodeDB) -> Session:
    s = db.session()
    s.turn("one")
    two = s.turn("two")
    s.turn("three")
    s.revert(two)
    s.cleanup()
    s.turn("four")
    return s


def test_where_the_log_lost_rows_what_was_carried_is_not_known(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = _reverted(db)
        gone = next(h.ids[0] for h in _read(db, s).hidden)
        assert all(r.context is not None for h in _read(db, s).hidden for r in h.requests)
        db.db.execute("DELETE FROM event WHERE aggregate_id = ? AND type = 'message.updated.1' AND data LIKE ?", (s.id, f"%{gone}%"))
        rows = [r for h in _read(db, s).hidden for r in h.requests]
        assert rows
        assert all(r.context is None for r in rows)


def test_a_revert_within_a_message_leaves_it_unknown_what_stood_there(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.turn("one", "a", "b")
        answer = s.messages()[1]
        s.turn("two")
        s.revert(answer, s.parts_of(answer)[2][0])
        pending = _read(db, s)
        assert [len(r.context.messages) for h in pending.hidden for r in h.requests if r.context] == [3]  # its parts are still there
        for id in s.messages()[2:]:
            s.remove(id)
        s._touch(revert=None)
        s.turn("three")
        rows = [r for h in _read(db, s).hidden for r in h.requests]
        assert [r.context for r in rows] == [None]


def test_after_a_single_message_was_deleted_earlier_rows_are_not_certain(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        first = s.turn("one")
        two = s.turn("two")
        s.remove(first)
        s.revert(two)
        s.cleanup()
        s.turn("three")
        by_id = {h.id: h for h in _read(db, s).hidden}
        assert [r.context for r in by_id[two].requests] == [None]


def _read(db: OpenCodeDB, s: Session) -> Ledger:
    db.flush()
    return OpenCodeSource(db.path).open(s.id)
