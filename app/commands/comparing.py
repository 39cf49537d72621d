"""What commands that compare turns need: what counts tokens, and the limit of a request's model."""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.app.commands.show import measure
from ctx_inspect.core.budget import limit_of
from ctx_inspect.core.diff.tokens import StoreCounts
from ctx_inspect.core.model import Confirmed, Estimated, Known, Ledger, Model, Request, Unavailable, Window
from ctx_inspect.core.sources.base import Source


def counts_for(ledger: Ledger, source: Source) -> StoreCounts:
    """Return what counts a session's tokens: a vocabulary where one is on this machine, else the calibrated estimator."""
    return StoreCounts(measure(ledger, source))


def limit_for(ledger: Ledger, window_for: Callable[[Model], Window], request: Request | None) -> Known[int]:
    """Return the limit of the model that a request went to, tokens; without a request that of the session's newest model."""
    limit = limit_of(window_for(ledger.info.model if request is None else request.model).claims)
    match limit:
        case Confirmed(value=value, by=by):
            return Confirmed(value.tokens, by)
        case Estimated(value=value, how=how):
            return Estimated(value.tokens, how)
        case Unavailable():
            return limit
