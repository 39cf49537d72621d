"""What the provider's figures alone say of one request's cache."""

from __future__ import annotations

from ctx_inspect.core.cache.model import Cache
from ctx_inspect.core.model import Request
from msgspec import Struct

KEPT_FROM = 0.95
"""Share of what could have been read from which on a cache is kept."""
GRANULE = 128
"""Tokens by which providers round what they keep."""
LEAST = 1024
"""Tokens below which providers cache nothing."""
LIFETIME_MS = 5 * 60_000
"""How long a cache is taken to live where the request does not say so."""


class Figures(Struct, frozen=True, gc=False):
    """What two requests' figures say.

    Attributes:
        verdict: The verdict.
        evidence: ``confirmed``, ``estimated`` or ``unavailable``.
        how: Of an estimate: what it rests on; of an unavailable one: why.
        r: ``read / reusable``.
        read: Tokens read from the cache.
        written: Tokens written to it; ``None`` where writes are not reported.
        reusable: Tokens that could have been read.
        rewritten: ``reusable - read``, never negative.
        idle_ms: Milliseconds between the two requests.
    """

    verdict: Cache
    evidence: str
    how: str | None = None
    r: float | None = None
    read: int | None = None
    written: int | None = None
    reusable: int | None = None
    rewritten: int | None = None
    idle_ms: int | None = None


def figures(
    before: Request | None, this: Request, *, writes: bool, reported: bool = True, ttl_ms: int = LIFETIME_MS, least: int = LEAST
) -> Figures:
    """Return what the figures of a request say against those of the primary request before it.

    Args:
        before: The primary request before it in time; ``None`` for the first.
        this: The request.
        writes: Whether the session's provider reports what it writes to the cache.
        reported: Whether any cache figure of the session is more than zero.
        ttl_ms: How long a cache lives.
        least: Tokens below which the provider caches nothing.
    """
    raise NotImplementedError
