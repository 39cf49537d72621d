"""A session that is read again while it grows: equal to one read anew, and the same objects where nothing changed."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ctx_inspect.core.model import Ledger, Message
from ctx_inspect.core.sources.opencode import OpenCodeSource
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.builders.opencode import OpenCodeDB
from tests.core.sources.opencode.test_rebuild import OPS


def _lists(ledger: Ledger) -> list[tuple[Message, ...]]:
    rows = [*ledger.before, *(r for t in ledger.turns for r in t.requests), *(r for h in ledger.hidden for r in h.requests)]
    contexts = [*(r.context for r in rows), ledger.now]
    return [c.messages.messages() for c in contexts if c is not None]


def _plain(ledger: Ledger) -> object:
    """Return all of a ledger but its lists, which compare by identity."""

    def bare(rows: object) -> list[str]:
        return [repr(r).partition("context=")[0] + repr(r).rpartition("usage=")[2] for r in rows]  # type: ignore[attr-defined]

    turns = [(t.n, t.id, t.ids, t.at, t.input, t.inherited, bare(t.requests)) for t in ledger.turns]
    hidden = [(h.id, h.ids, h.at, h.state, h.input, bare(h.requests)) for h in ledger.hidden]
    other = {n: bare(rows) for n, rows in ledger.other.items()}
    return bare(ledger.before), turns, other, ledger.marks, hidden, ledger.problems, ledger.not_recorded


@example([([("agent", 0), ("auto", 0)], True), ([("revert", 4), ("agent", 0)], False)])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 20)), max_size=3), st.booleans()),
        min_size=2,
        max_size=8,
    )
)
def test_read_on_equals_read_anew(stages: list[tuple[list[tuple[str, int]], bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder, OpenCodeDB(Path(folder) / "opencode.db", tick=700) as db:
        session = db.session("Work")
        session.turn("first")
        source = OpenCodeSource(db.path)
        ledger: Ledger | None = None
        for ops, look in stages:
            for name, n in ops:
                OPS[name](session, n)
            db.flush()
            ledger = source.open(session.id, ledger)
            anew = OpenCodeSource(db.path).open(session.id)
            assert _plain(ledger) == _plain(anew)
            if look:  # lists may be looked at between two reads, or never
                assert _lists(ledger) == _lists(anew)
        assert ledger is not None
        assert _lists(ledger) == _lists(OpenCodeSource(db.path).open(session.id))


def test_a_turn_that_is_over_stays_the_same_object(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        session = db.session("Work")
        for n in range(5):
            session.turn(f"ask {n}")
        db.flush()
        source = OpenCodeSource(db.path)
        old = source.open(session.id)
        assert old.now is not None
        assert len(old.now.messages) == 10
        session.turn("one more")
        db.flush()
        new = source.open(session.id, old)
        assert [a is b for a, b in zip(old.turns, new.turns, strict=False)] == [True] * 5
        assert new.now is not None
        assert new.now.messages.shared(old.now.messages) == 9  # but for the last answer, which no request carried yet
        assert len(new.now.messages) == 12


def test_an_old_row_that_changes_is_seen(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        session = db.session("Work")
        OPS["steps"](session, 1)
        for n in range(5):
            session.turn(f"ask {n}")
        db.flush()
        source = OpenCodeSource(db.path)
        old = source.open(session.id)
        assert _lists(old)
        OPS["prune"](session, 0)
        session.prune(*session.messages())
        db.flush()
        new = source.open(session.id, old)
        assert _lists(new) == _lists(OpenCodeSource(db.path).open(session.id))
        assert _lists(new)[-1] != _lists(old)[-1]
