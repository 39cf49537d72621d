"""What the provider's figures alone say of one request's cache, against those of the request before it."""

from __future__ import annotations

from ctx_inspect.core.cache.model import NOT_REPORTED, Cache
from ctx_inspect.core.model import Estimated, Known, Unavailable, Usage
from msgspec import Struct

KEPT_FROM = 0.95
"""Share of what could have been read from which on a cache is kept."""
GRANULE = 128
"""Tokens by which providers round what they keep: that many less are no loss."""
LEAST = 1024
"""Tokens below which providers cache nothing."""
LIFETIME_MS = 5 * 60_000
"""How long a cache is taken to live where the request does not say so."""

SILENT = NOT_REPORTED.how
NO_READ = "the provider reported no cache figure for this request"
NO_REUSABLE = "the request before it reported no input"
ELSEWHERE = "it is the first request: what it read was cached by another session"


class Figures(Struct, frozen=True, gc=False):
    """What two requests' figures say.

    Attributes:
        verdict: The verdict.
        evidence: ``confirmed``, ``estimated`` or ``unavailable``; of the figures alone.
        how: Of an estimate: what it rests on; of an unavailable one: why.
        r: ``read / reusable``, 1 at most.
        read: Tokens read from the cache.
        written: Tokens written to it; ``None`` where writes are not reported.
        reusable: Tokens that could have been read.
        rewritten: ``reusable - read``, never negative.
    """

    verdict: Cache
    evidence: str = "confirmed"
    how: str | None = None
    r: float | None = None
    read: int | None = None
    written: int | None = None
    reusable: int | None = None
    rewritten: int | None = None


def has_figures(usage: Known[Usage]) -> bool:
    """Tell whether a provider reported anything for a request: of a failed one stores keep zeros."""
    return not isinstance(usage, Unavailable) and any((usage.value.input, usage.value.cache_read, usage.value.cache_write))


def reusable_of(before: Usage, *, writes: bool) -> int | None:
    """Return how many tokens a request left in the cache for the next one: what it read and what it wrote.

    Args:
        before: Of that request.
        writes: Whether its provider reports what it writes; where not, all that it did not read counts as written.

    Returns:
        ``None`` where the figures that it takes were not reported.
    """
    left = before.cache_write or 0 if writes else before.input
    return None if left is None else (before.cache_read or 0) + left


def figures(
    before: Known[Usage] | None,
    this: Known[Usage],
    *,
    writes: bool,
    reported: bool = True,
    idle_ms: int | None = None,
    ttl_ms: int = LIFETIME_MS,
    least: int = LEAST,
) -> Figures:
    """Return what the figures of a request say against those of the primary request before it.

    A request that read something is judged by what it read, however little could be read: its provider's minimum is lower then.

    Args:
        before: Usage of the primary request before it in time; ``None`` for the first.
        this: Usage of the request.
        writes: Whether the provider reports what it writes to the cache.
        reported: Whether any cache figure of this provider in the session is more than zero.
        idle_ms: Milliseconds between the two, where recorded.
        ttl_ms: How long a cache lives, milliseconds.
        least: Tokens below which the provider caches nothing.
    """
    if isinstance(this, Unavailable):
        return Figures(Cache.NOT_REPORTED, "unavailable", this.note)
    usage = this.value
    read = usage.cache_read
    written = usage.cache_write if writes else None
    if not reported:
        return Figures(Cache.NOT_REPORTED, "unavailable", SILENT)
    if read is None or not has_figures(this):
        return Figures(Cache.NOT_REPORTED, "unavailable", NO_READ)
    how = next((u.how for u in (this, before) if isinstance(u, Estimated)), None)
    evidence = "confirmed" if how is None else "estimated"
    if before is None:
        if read:
            return Figures(Cache.KEPT, "estimated", ELSEWHERE, read=read, written=written)
        return Figures(Cache.COLD, evidence, how, read=0, written=written)
    reusable = None if isinstance(before, Unavailable) else reusable_of(before.value, writes=writes)
    if reusable is None:
        return Figures(Cache.NOT_REPORTED, "unavailable", NO_REUSABLE, read=read, written=written)
    r = min(1.0, read / reusable) if reusable else None
    verdict = _verdict(read, reusable, least, expired=idle_ms is not None and idle_ms > ttl_ms)
    return Figures(verdict, evidence, how, r, read, written, reusable, max(0, reusable - read))


def _verdict(read: int, reusable: int, least: int, *, expired: bool) -> Cache:
    if not read:
        return Cache.NOT_CACHEABLE if reusable < least else Cache.COLD if expired else Cache.LOST
    return Cache.KEPT if read >= KEPT_FROM * reusable or reusable - read <= GRANULE else Cache.PARTIAL


RANK = (Cache.LOST, Cache.PARTIAL, Cache.COLD, Cache.KEPT, Cache.NOT_CACHEABLE, Cache.NOT_REPORTED)
"""Verdicts of the steps of a turn: the first that one of them has is the turn's."""


def badness(found: Figures) -> tuple[int, float]:
    """Return what the worst step of a turn has the least of: the verdict, then the share that was kept."""
    return RANK.index(found.verdict), 1.0 if found.r is None else found.r
