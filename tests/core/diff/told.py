"""Reading what a builder wrote and comparing turns of it."""

from __future__ import annotations

from pathlib import Path

from ctx_inspect.core.diff.baseline import Order, Placed
from ctx_inspect.core.diff.compactions import Compactions, newest
from ctx_inspect.core.diff.conversation import conversation_report
from ctx_inspect.core.diff.report import CauseKind, ConversationReport
from ctx_inspect.core.model import Ledger
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.builders.opencode import OpenCodeDB, Session
from tests.builders.pi import PiFile
from tests.core.sources.pi.reading import opened


class Store:
    """An OpenCode database with one session, read when it is written."""

    def __init__(self, path: Path, **options: object) -> None:
        self.db = OpenCodeDB(path / "opencode.db", **options)  # type: ignore[arg-type]
        self.s: Session = self.db.session("Work")

    def ledger(self, session: Session | None = None) -> Ledger:
        self.db.flush()
        return OpenCodeSource(self.db.path).open((session or self.s).id)


def read(store: Store | PiFile) -> Ledger:
    """Read either kind of store."""
    return store.ledger() if isinstance(store, Store) else opened(store)


def pair(ledger: Ledger, turn: int) -> tuple[Order, Placed, Placed]:
    """Return a turn's first request and its baseline, with the order that they stand in."""
    order = Order(ledger)
    after = order.of_turn(turn)
    assert after is not None
    before = order.baseline(after)
    assert before is not None
    return order, before, after


def conversation(ledger: Ledger, turn: int) -> ConversationReport:
    """Compare a turn's message list with that of its baseline."""
    order, before, after = pair(ledger, turn)
    assert before.request.context is not None
    assert after.request.context is not None
    between = order.between(before.request.id, after.request.id)
    last = newest(between)
    return conversation_report(
        before.request.context,
        after.request.context,
        between,
        models=(before.request.model, after.request.model),
        gone=before.state is not None,
        steps=order.steps(before.request.id, after.request.id),
        compaction=None if last is None else Compactions(ledger).of(last),
    )


def causes(report: ConversationReport) -> list[CauseKind]:
    """Return the kinds of its causes."""
    return [c.kind for c in report.causes]
