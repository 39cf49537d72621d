"""The comparison of two requests of a session: everything that is said of it, composed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.report import Report
from ctx_inspect.core.model import Known, Ledger, Unavailable, Why

if TYPE_CHECKING:
    from ctx_inspect.core.cache.verdict import Verdicts
    from ctx_inspect.core.diff.history import History
    from ctx_inspect.core.diff.tokens import Counts

LIMIT_NOT_ASKED = Unavailable(Why.UNKNOWN, "limit unknown: it was not asked for")


def report(
    ledger: Ledger,
    turn: int,
    *,
    against: int | None = None,
    step: int | None = None,
    counts: Counts | None = None,
    limit: Known[int] = LIMIT_NOT_ASKED,
    order: Order | None = None,
    verdicts: Verdicts | None = None,
    history: History | None = None,
) -> Report:
    """Compare the first primary request of a turn with its baseline.

    Args:
        ledger: The session.
        turn: Number of the turn, 1….
        against: Number of another turn to compare with, in place of the baseline.
        step: Compare this step of the turn with the one before it instead.
        counts: Counts tokens of items and categories; without it they are not counted.
        limit: Of the newer request's model, tokens.
        order: The session's requests in time, where they were put in order before.
        verdicts: Its cache verdicts, where they were made before.
        history: Its history of changes, where it was made before: flags of changes come from it.

    Raises:
        LookupError: There is no such turn or step, or nothing before step 1.
    """
    raise NotImplementedError
