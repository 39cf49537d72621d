"""What damaged records mean for an answer: a turn whose records cannot be read is not a turn without them."""

from __future__ import annotations

from ctx_inspect.core.budget import steps_of
from ctx_inspect.core.model import Known, Ledger, Problem, ProblemCode, Turn, Unavailable, Why

UNREAD = (ProblemCode.UNREADABLE_RECORD, ProblemCode.TOO_LARGE)
"""Problems of single records that were left out."""

RECORDS = (*UNREAD, ProblemCode.RECOVERED_RECORD)
"""Problems of single records."""

NO_CALL = Unavailable(Why.NOT_YET, "no model was called in this turn")


def damage_of(ledger: Ledger) -> tuple[Problem, ...]:
    """Return what is wrong with single records of a session."""
    return tuple(p for p in ledger.problems if p.code in RECORDS)


def uncalled(ledger: Ledger) -> Unavailable:
    """Return why a turn has no request: none was sent, or its record may be one of those that cannot be read."""
    unread = [p for p in ledger.problems if p.code in UNREAD]
    if not unread:
        return NO_CALL
    more = f" and {len(unread) - 1:,} more" if len(unread) > 1 else ""
    return Unavailable(
        Why.UNREADABLE, f"unreadable record: no model call of this turn can be read (of this session: {unread[0].message}{more})"
    )


def window_or_damage(window: Known[int], turn: Turn, ledger: Ledger) -> Known[int]:
    """Return a turn's window; of a turn without a request, why it has none."""
    return window if steps_of(turn) else uncalled(ledger)
