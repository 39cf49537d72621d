"""What is said of one request's prompt cache: its figures, the prefix that stayed, and the verdict with its cause."""

from __future__ import annotations

from enum import StrEnum

from ctx_inspect.core.model import Known, Raw, Unavailable, Why
from msgspec import Struct

NO_PREFIX = Unavailable(Why.NOT_RECORDED, "what stands in front of the conversation is not recorded")


class Cache(StrEnum):
    """Verdicts."""

    KEPT = "kept"
    PARTIAL = "partial"
    LOST = "lost"
    COLD = "cold"
    NOT_CACHEABLE = "not_cacheable"
    NOT_REPORTED = "not_reported"


class CacheCode(StrEnum):
    """Causes of a loss."""

    PROVIDER_REASON = "provider_reason"
    MODEL = "model"
    PROVIDER = "provider"
    COMPACTION = "compaction"
    REVERT = "revert"
    BRANCH = "branch"
    TRIM = "trim"
    EDIT = "edit"
    PRUNE = "prune"
    SETTINGS = "settings"
    INSTRUCTIONS = "instructions"
    SKILLS = "skills"
    TOOL_CHANGED = "tool_changed"
    TOOLS_REORDERED = "tools_reordered"
    TOOLS_ADDED_REMOVED = "tools_added_removed"
    SYSTEM_CHANGED = "system_changed"
    VOLATILE_BLOCK = "volatile_block"
    FLAPPING = "flapping"
    BREAKPOINTS = "breakpoints"
    HISTORY_REWRITTEN = "history_rewritten"
    IDLE = "idle"
    UNATTRIBUTED = "unattributed"


class Prefix(Struct, frozen=True):
    """How much of a request stands as it stood in the request before it.

    Attributes:
        tokens: Tokens in front of the first difference; estimated.
        order: The order that is assumed: ``tools, system, messages``.
        whole: Nothing of the older request differs: the newer one only goes on from it.
        item: Key of the item that differs first; ``None`` where that is a message or nothing.
        category: The category of what differs first, as its word.
        message: 0-based position of the message that differs first.
    """

    tokens: Known[int]
    order: str
    whole: bool = False
    item: Raw | None = None
    category: str | None = None
    message: int | None = None


class CacheCause(Struct, frozen=True):
    """Why a cache was lost, wholly or in part.

    Attributes:
        code: What.
        evidence: ``confirmed``, ``estimated``.
        item: The item at the first difference, where it is one.
        how: Of an estimate: what it was concluded from.
        explained: Whether the read ends where the unchanged prefix ends; only then the thing there is the cause.
    """

    code: CacheCode
    evidence: str
    item: Raw | None = None
    how: str | None = None
    explained: bool = False


class CacheVerdict(Struct, frozen=True):
    """The verdict on one request.

    Attributes:
        verdict: The verdict.
        evidence: ``confirmed`` (figures of both requests and recorded cause or prefix), else ``estimated``; ``unavailable`` where
            nothing was reported.
        how: Of an estimate: what is missing; of an unavailable one: why.
        turn: Number of the turn of the request it was compared with; ``None`` where there is none or it is hidden.
        step: Its step.
        request: Its id; ``None`` where there was none.
        r: ``read / reusable``; ``None`` where it cannot be said.
        read: Tokens read from the cache.
        written: Tokens written to it; ``None`` where writes are not reported.
        reusable: Tokens that could have been read.
        rewritten: Tokens that had been in the cache and were sent anew: ``reusable - read``, never negative.
        prefix: What stood as it stood before.
        cause: Why it was lost; ``None`` where it was not.
        idle_ms: Milliseconds between the two requests.
        ttl_ms: How long the cache is taken to live.
        ttl_how: What that is taken from; ``None`` where the request itself says so.
    """

    verdict: Cache
    evidence: str
    how: str | None = None
    turn: int | None = None
    step: int | None = None
    request: str | None = None
    r: float | None = None
    read: int | None = None
    written: int | None = None
    reusable: int | None = None
    rewritten: int | None = None
    prefix: Known[Prefix] = NO_PREFIX
    cause: CacheCause | None = None
    idle_ms: int | None = None
    ttl_ms: int | None = None
    ttl_how: str | None = None


NOT_REPORTED = CacheVerdict(Cache.NOT_REPORTED, "unavailable", "the provider reports no cache figures in this session")
