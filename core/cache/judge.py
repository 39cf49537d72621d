"""The verdict on one request's cache: figures, prefix and recorded events, put together.

Figures say what became of a cache, the prefix says where the two requests differ, and both are told apart: only where the read
ends where the prefix ends is the thing there the cause.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.cache.causes import (
    AGENT,
    ENDS_AT,
    ENDS_BEFORE,
    ENDS_BEHIND,
    ENDS_THERE,
    EVENT_BETWEEN,
    NO_FRONT,
    UNCHANGED,
    Flags,
    at_item,
    idle,
    model_changed,
    rewritten,
    settings_changed,
)
from ctx_inspect.core.cache.figures import LEAST, LIFETIME_MS, Figures, figures
from ctx_inspect.core.cache.model import NO_PREFIX, Cache, CacheCause, CacheCode, CacheVerdict, Prefix
from ctx_inspect.core.cache.prefix import ORDER, TALK, Difference, comparable, covers, difference, explains, fits_the_end, prefix_of
from ctx_inspect.core.diff.conversation import Differences, compare
from ctx_inspect.core.model import Estimated, Known, Mark, Request, Unavailable
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale
from msgspec import Struct

ASSUMED = "lifetime of 5 minutes assumed"
FIGURES_ALONE = "from the provider's figures alone: what stands in front of the conversation is not recorded"
SKIPPED = "the primary request right before it reported no usage: compared with the newest one that did"


class Setting(Struct, frozen=True):
    """What is known of a request's cache besides the two requests.

    Attributes:
        flags: What changes of items turn out to be over several turns.
        writes: Whether the provider reports what it writes to the cache; ``None``: told by the two requests alone.
        reported: Whether any cache figure of the provider in this session is more than zero.
        idle_ms: Milliseconds since the primary request before it was sent, whether that one reported usage or not; ``None``: told by
            the times of the two.
        ttl_ms: The lifetime that the request itself asks for, milliseconds.
        last_breakpoint: Tokens of the request before up to its last cache breakpoint, where a capture holds it: what differs behind
            it is no break.
        breakpoints_moved: A capture shows that the breakpoints of the two requests stand at other places of what both have.
        reason: The provider gave a diagnosis of its own.
        least: Tokens below which the provider caches nothing.
        gone: The older request's turn is no longer on the active history.
        skipped: The request right before it reported nothing, and an older one stands in.
    """

    flags: Flags = {}
    writes: bool | None = None
    reported: bool = True
    idle_ms: int | None = None
    ttl_ms: int | None = None
    last_breakpoint: int | None = None
    breakpoints_moved: bool = False
    reason: bool = False
    least: int = LEAST
    gone: bool = False
    skipped: bool = False


NOTHING_MORE = Setting()


def idle_between(before: Request | None, this: Request) -> int | None:
    """Return the milliseconds between the starts of two requests: a provider caches what it gets when it gets it."""
    if before is None or before.at is None or this.at is None:
        return None
    return max(0, this.at - before.at)


def verdict(
    before: Request | None,
    this: Request,
    between: Sequence[Mark] = (),
    *,
    known: Setting = NOTHING_MORE,
    counter: BytesCounter | None = None,
    scale: Scale | None = None,
) -> CacheVerdict:
    """Return the verdict on a request against the primary request before it.

    Args:
        before: The primary request before it in time; ``None`` for the first of its session.
        this: The request.
        between: Events recorded between the two.
        known: What is known besides.
        counter: Counts tokens of the prefix by size.
        scale: Weighs message lists; one that weighed this session's lists before does it faster.
    """
    counter, scale = counter or BytesCounter(), scale or Scale()
    idle_ms = idle_between(before, this) if known.idle_ms is None else known.idle_ms
    found = figures_of(before, this, known, idle_ms)
    told = CacheVerdict(
        found.verdict,
        found.evidence,
        found.how,
        step=None if before is None else before.step,
        request=None if before is None else before.id,
        r=found.r,
        read=found.read,
        written=found.written,
        reusable=found.reusable,
        rewritten=found.rewritten,
        idle_ms=idle_ms,
        ttl_ms=LIFETIME_MS if known.ttl_ms is None else known.ttl_ms,
        ttl_how=ASSUMED if known.ttl_ms is None else None,
    )
    return _Case(before, this, between, known, found, counter, scale).told(told)


def figures_of(before: Request | None, this: Request, known: Setting, idle_ms: int | None) -> Figures:
    """Return what the figures of two requests say; costs nothing but that."""
    writes = known.writes
    if writes is None:
        writes = any(not isinstance(u, Unavailable) and u.value.cache_write for u in (this.usage, before.usage if before else this.usage))
    return figures(
        None if before is None else before.usage,
        this.usage,
        writes=writes,
        reported=known.reported,
        idle_ms=idle_ms,
        ttl_ms=LIFETIME_MS if known.ttl_ms is None else known.ttl_ms,
        least=known.least,
    )


class _Case:
    """Two requests, what their figures say, and where they differ."""

    def __init__(
        self,
        before: Request | None,
        this: Request,
        between: Sequence[Mark],
        known: Setting,
        found: Figures,
        counter: BytesCounter,
        scale: Scale,
    ) -> None:
        self.before, self.this, self.between, self.known, self.found, self.counter = before, this, between, known, found, counter
        old, new = None if before is None else before.context, this.context
        # of the first request nothing can differ: what it carried says how well that is known
        self.why = comparable(new if before is None else old, new)
        self.talk: Differences | None = None
        if old is not None and new is not None and covers(old, TALK) and covers(new, TALK):
            self.talk = compare(old.messages, new.messages)
        self.differs: Difference | None = None
        if self.why is None and old is not None and new is not None:
            self.differs = difference(old, new, scale, self.talk)

    def told(self, base: CacheVerdict) -> CacheVerdict:
        """Return the whole verdict: how well it is known, the prefix and the cause."""
        lost = self.found.verdict in (Cache.LOST, Cache.PARTIAL, Cache.COLD)
        cause = self._cause() if lost and self.before is not None else None
        evidence, how = base.evidence, base.how
        if base.verdict is not Cache.NOT_REPORTED:
            assumed = base.ttl_how if base.verdict is Cache.COLD and self.before is not None else None
            reasons = [base.how, SKIPPED if self.known.skipped else None, FIGURES_ALONE if self.why is not None else None, assumed]
            given = [r for r in reasons if r]
            evidence, how = ("estimated", "; ".join(given)) if given else (evidence, how)
        return CacheVerdict(
            base.verdict,
            evidence,
            how,
            None,
            base.step,
            base.request,
            base.r,
            base.read,
            base.written,
            base.reusable,
            base.rewritten,
            self._prefix(),
            cause,
            base.idle_ms,
            base.ttl_ms,
            base.ttl_how,
        )

    def _prefix(self) -> Known[Prefix]:
        if self.differs is None:
            return self.why or FIRST
        return Estimated(prefix_of(self.differs, self.counter), f"order {ORDER} assumed")

    def _cause(self) -> CacheCause | None:
        """Return the first cause that applies; none for a cache that was never filled."""
        assert self.before is not None
        if self.known.reason:
            return CacheCause(CacheCode.PROVIDER_REASON, "confirmed")
        return model_changed(self.before, self.this) or (self._by_figures() if self.differs is None else self._by_prefix(self.differs))

    def _idle(self) -> CacheCause | None:
        ttl = self.known.ttl_ms
        idle_ms = idle_between(self.before, self.this) if self.known.idle_ms is None else self.known.idle_ms
        return idle(idle_ms, LIFETIME_MS if ttl is None else ttl, ASSUMED if ttl is None else None)

    def _rewritten(self, how: str, *, explained: bool = False) -> CacheCause | None:
        assert self.before is not None
        return rewritten(self.before, self.this, self.between, self.talk, gone=self.known.gone, explained=explained, how=how)

    def _moved(self) -> CacheCause | None:
        return CacheCause(CacheCode.BREAKPOINTS, "confirmed") if self.known.breakpoints_moved else None

    def _by_figures(self) -> CacheCause:
        """Return a cause that is recorded: without what stands in front nothing can be said to differ first, and no item is named."""
        assert self.before is not None
        changed = settings_changed(self.before, self.this)
        agents = {self.before.agent, self.this.agent}
        unknown = AGENT if len(agents) == 2 and None not in agents else NO_FRONT
        return (
            (self._idle() if self.found.verdict is Cache.COLD else None)
            or self._event()
            or changed
            or self._moved()
            or (self._rewritten(ENDS_AT) if self._fits() else None)
            or self._idle()
            or CacheCause(CacheCode.UNATTRIBUTED, "estimated", how=unknown)
        )

    def _event(self) -> CacheCause | None:
        """Return a recorded event that rewrote the conversation: that it is rewritten says by itself not that the cache was lost there."""
        found = self._rewritten(EVENT_BETWEEN)
        return None if found is None or found.code is CacheCode.HISTORY_REWRITTEN else found

    def _fits(self) -> bool:
        return self.talk is not None and fits_the_end(self.found.rewritten or 0, self.talk.rest, self.counter)

    def _by_prefix(self, differs: Difference) -> CacheCause:
        """Return what stands at the first difference where the read ends there; else never an item."""
        assert self.before is not None
        read, reusable = self.found.read or 0, self.found.reusable or 0
        stable = self.counter.of_size(differs.size)
        behind = self.known.last_breakpoint is not None and stable >= self.known.last_breakpoint
        breaks = not differs.whole and not behind
        explained = breaks and explains(read, reusable, differs, self.counter, self.known.least)
        beyond = breaks and not explained and read > stable
        there = at_item(differs, self.known.flags, self.counter.name, explained=explained, beyond=beyond) if breaks else None
        if there is None and explained:
            there = self._rewritten(ENDS_THERE + self.counter.name, explained=True)
        unknown = UNCHANGED if not breaks else ENDS_BEHIND if beyond else ENDS_BEFORE
        return (
            there
            or settings_changed(self.before, self.this)
            or self._moved()
            or self._idle()
            or (self._event() if breaks and differs.message is not None else None)
            or CacheCause(CacheCode.UNATTRIBUTED, "estimated", how=unknown)
        )


FIRST = Unavailable(NO_PREFIX.why, "there is no request before it")
