"""The verdict on each request's cache: figures, prefix and recorded events, put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ctx_inspect.core.cache.figures import LIFETIME_MS
from ctx_inspect.core.cache.model import CacheVerdict
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.report import Flag
from ctx_inspect.core.model import Category, Ledger, Mark, Raw, Request
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale

Flags = Mapping[tuple[Category, Raw], tuple[Flag, ...]]
"""What changes of items turn out to be over several turns (:meth:`History.flags` of the newer request's turn)."""
NO_FLAGS: Flags = {}


def verdict(
    before: Request | None,
    this: Request,
    between: Sequence[Mark] = (),
    *,
    flags: Flags = NO_FLAGS,
    writes: bool | None = None,
    reported: bool = True,
    ttl_ms: int | None = None,
    last_breakpoint: int | None = None,
    reason: str | None = None,
    counter: BytesCounter | None = None,
    scale: Scale | None = None,
) -> CacheVerdict:
    """Return the verdict on a request against the primary request before it.

    Args:
        before: The primary request before it in time; ``None`` for the first of its session.
        this: The request.
        between: Events recorded between the two.
        flags: What changes of items turn out to be over several turns.
        writes: Whether the session's provider reports what it writes to the cache; ``None``: told by these two requests alone.
        reported: Whether any cache figure of the session is more than zero.
        ttl_ms: The lifetime that the request itself asks for.
        last_breakpoint: Tokens of ``this`` up to its last cache breakpoint, where a capture holds it: what differs behind is no break.
        reason: The provider's own diagnosis, where one is recorded.
        counter: Counts tokens of the prefix by size.
        scale: Weighs message lists.
    """
    raise NotImplementedError


class Verdicts:
    """The verdicts of a session's primary requests."""

    def of(self, request_id: str) -> CacheVerdict:
        """Return the verdict on a request.

        Raises:
            LookupError: The session has no such primary request.
        """
        raise NotImplementedError

    def turn(self, n: int) -> CacheVerdict | None:
        """Return the verdict of a turn's worst step; ``None`` where the turn has no primary request."""
        raise NotImplementedError

    def step_of(self, n: int) -> int | None:
        """Return which step of a turn its verdict is of; ``None`` where there is none."""
        raise NotImplementedError


def verdicts(
    ledger: Ledger,
    before: tuple[Ledger, Verdicts] | None = None,
    *,
    order: Order | None = None,
    flags: Callable[[int], Flags] | None = None,
    counter: BytesCounter | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Verdicts:
    """Return the verdicts of a session's primary requests; each one is made when it is first asked for.

    Args:
        ledger: The session.
        before: How it was a moment ago and what was said of it: verdicts on requests that did not change are taken over.
        order: Its requests in time, where they were put in order before.
        flags: What changes of a turn turn out to be (:meth:`History.flags`).
        counter: Counts tokens of prefixes by size; without it one is calibrated on the session.
        stop: Asked now and then; once it says so, the work ends.
    """
    raise NotImplementedError


__all__ = ["LIFETIME_MS", "Flags", "Verdicts", "verdict", "verdicts"]
