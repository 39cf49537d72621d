"""A cache verdict as JSON: part of ``ctx-inspect/diff/1``."""

from __future__ import annotations

from ctx_inspect.core.cache.model import CacheVerdict
from ctx_inspect.core.model import Confirmed, Unavailable, grade, value_of
from ctx_inspect.core.schema.common import Clean, maybe
from msgspec import UNSET, Struct, UnsetType

PLACES = 4
"""Digits after the point of a ratio."""


class Against(Struct, kw_only=True):
    """The primary request before it in time.

    Attributes:
        turn: Number of its turn; absent where the turn is no longer on the active history.
        step: Its step.
        request: Its id.
    """

    turn: int | UnsetType = UNSET
    step: int | UnsetType = UNSET
    request: str | UnsetType = UNSET


class CacheCauseRow(Struct, kw_only=True):
    """Why a cache was lost.

    Attributes:
        code: See the table of codes.
        item: The item at the first difference.
        evidence: ``confirmed`` or ``estimated``.
        how: Of an estimate: what it was concluded from.
        explained: Whether the read ends where the unchanged prefix ends; only then what stands there is the cause.
    """

    code: str
    item: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    explained: bool


class StablePrefix(Struct, kw_only=True):
    """How much of the request stands as it stood in the request before it.

    Attributes:
        tokens: Tokens in front of the first difference.
        evidence: How well they are known.
        how: What counted.
        order: The order that is assumed: ``tools, system, messages``.
    """

    tokens: int
    evidence: str
    how: str | UnsetType = UNSET
    order: str


class Lifetime(Struct, kw_only=True):
    """How long the cache is taken to live.

    Attributes:
        ms: Milliseconds.
        evidence: ``confirmed`` where the request itself says so, else ``estimated``.
        how: Of an estimate: what it is taken from.
    """

    ms: int
    evidence: str
    how: str | UnsetType = UNSET


class CacheVerdictRow(Struct, kw_only=True):
    """The verdict on the newer request's prompt cache, against the primary request before it in time.

    Attributes:
        verdict: ``kept``, ``partial``, ``lost``, ``cold``, ``not_cacheable`` or ``not_reported``.
        evidence: How well it is known.
        how: Of an estimate: what is missing.
        why: Where it is unavailable: why.
        against: What it was compared with.
        cause: Why it was lost; absent where it was not.
        stable_prefix: What stood as it stood before.
        r: ``read / reusable``.
        read: Tokens read from the cache.
        written: Tokens written to it, where reported.
        reusable: Tokens that could have been read.
        rewritten: Tokens that had been in the cache and were sent anew.
        idle_ms: Milliseconds between the two requests.
        ttl: How long the cache is taken to live.
    """

    verdict: str
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    against: Against | UnsetType = UNSET
    cause: CacheCauseRow | UnsetType = UNSET
    stable_prefix: StablePrefix | UnsetType = UNSET
    r: float | UnsetType = UNSET
    read: int | UnsetType = UNSET
    written: int | UnsetType = UNSET
    reusable: int | UnsetType = UNSET
    rewritten: int | UnsetType = UNSET
    idle_ms: int | UnsetType = UNSET
    ttl: Lifetime | UnsetType = UNSET


def ratio(value: float | None) -> float | UnsetType:
    """Return a ratio with few digits; absent where it is not known."""
    return UNSET if value is None else round(value, PLACES)


def cache_of(verdict: CacheVerdict, clean: Clean) -> CacheVerdictRow:
    """Return a cache verdict."""
    cause, prefix = verdict.cause, value_of(verdict.prefix)
    unknown = verdict.evidence == "unavailable"
    row = CacheVerdictRow(
        verdict=verdict.verdict.value,
        evidence=verdict.evidence,
        how=UNSET if unknown else maybe(verdict.how),
        why=maybe(verdict.how) if unknown else UNSET,
        r=ratio(verdict.r),
        read=maybe(verdict.read),
        written=maybe(verdict.written),
        reusable=maybe(verdict.reusable),
        rewritten=maybe(verdict.rewritten),
        idle_ms=maybe(verdict.idle_ms),
    )
    if verdict.request is not None:
        row.against = Against(turn=maybe(verdict.turn), step=maybe(verdict.step), request=verdict.request)
    if cause is not None:
        item = UNSET if cause.item is None else clean(cause.item)
        row.cause = CacheCauseRow(
            code=cause.code.value, item=item, evidence=cause.evidence, how=maybe(cause.how), explained=cause.explained
        )
    if prefix is not None and not isinstance(prefix.tokens, Unavailable):
        how = UNSET if isinstance(prefix.tokens, Confirmed) else prefix.tokens.how
        row.stable_prefix = StablePrefix(tokens=prefix.tokens.value, evidence=grade(prefix.tokens), how=how, order=prefix.order)
    if verdict.ttl_ms is not None:
        row.ttl = Lifetime(ms=verdict.ttl_ms, evidence="confirmed" if verdict.ttl_how is None else "estimated", how=maybe(verdict.ttl_how))
    return row
