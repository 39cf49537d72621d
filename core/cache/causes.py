"""Why a cache was lost: what stands at the first difference, or what is recorded between two requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctx_inspect.core.cache.model import CacheCause, CacheCode
from ctx_inspect.core.cache.prefix import ORDER, Difference
from ctx_inspect.core.diff.conversation import Differences, causes_of
from ctx_inspect.core.diff.report import CAUSE_OF, Cause, CauseKind, Flag
from ctx_inspect.core.model import Category, Context, Mark, MarkKind, Raw, Request
from ctx_inspect.core.model.ledger import NO_MODEL

Flags = Mapping[tuple[Category, Raw], tuple[Flag, ...]]
"""What changes of items turn out to be over several turns (:meth:`History.flags` of the newer request's turn)."""

REWRITES = (CauseKind.COMPACTION, CauseKind.REVERT, CauseKind.BRANCH, CauseKind.TRIM, CauseKind.EDIT, CauseKind.PRUNE)
"""Recorded events by what is told first."""

SENT = frozenset(
    {"thinking", "thinking_level", "thinking_budget", "reasoning_effort", "tool_choice", "parallel_tool_calls", "service_tier"}
)
"""Settings that a request holds and that a provider may keep caches apart by; of any other one that is not known."""

ENDS_THERE = f"the read ends where what differs first stands; order {ORDER} assumed, tokens by "
EVENT_BETWEEN = "recorded between the two requests; that the read ends there is not known"
SETTING_BETWEEN = "a setting that is sent changed; that the cache was lost by it is not known"
UNCHANGED = "nothing that was sent before differs: the provider's side is possible"
ENDS_AT = "as much was not read as stands behind the first message that differs"
ENDS_BEFORE = "less was read than stands unchanged: nothing that differs explains it"
ENDS_BEHIND = "more was read than stands unchanged: it comes from an earlier request"
NO_FRONT = "no recorded event accounts for it; what stands in front of the conversation is not recorded"
AGENT = "no recorded event accounts for it; the agent changed, but what its prompt and tools are is not recorded"


def model_changed(before: Request, this: Request) -> CacheCause | None:
    """Return a change of model or provider: caches are kept by model."""
    old, new = before.model, this.model
    if NO_MODEL in (old, new):
        return None
    if old.id != new.id and None not in (old.id, new.id):
        return CacheCause(CacheCode.MODEL, "confirmed")
    if old.provider != new.provider and None not in (old.provider, new.provider):
        return CacheCause(CacheCode.PROVIDER, "confirmed")
    return None


def _values(context: Context | None) -> Mapping[Raw, str]:
    items = () if context is None else context.items
    return {i.k: i.fp for i in items if i.category is Category.SETTINGS and i.k in SENT}


def settings_changed(before: Request, this: Request) -> CacheCause | None:
    """Return a change of a setting that both requests hold (thinking, tool choice, parallel calls, tier); a missing one says nothing.

    It is concluded: a setting stands nowhere in the prefix, so no read ends at it.
    """
    old, new = _values(before.context), _values(this.context)
    changed = any(k in new and new[k] != fp for k, fp in old.items())
    return CacheCause(CacheCode.SETTINGS, "estimated", how=SETTING_BETWEEN) if changed else None


def idle(idle_ms: int | None, ttl_ms: int, ttl_how: str | None) -> CacheCause | None:
    """Return idleness, where the time between two requests is longer than a cache lives."""
    if idle_ms is None or idle_ms <= ttl_ms:
        return None
    return CacheCause(CacheCode.IDLE, "estimated" if ttl_how else "confirmed", how=ttl_how)


def rewritten(
    before: Request,
    this: Request,
    between: Sequence[Mark],
    talk: Differences | None,
    *,
    gone: bool = False,
    explained: bool = False,
    how: str,
) -> CacheCause | None:
    """Return what rewrote the conversation between two requests.

    Args:
        before: The older request.
        this: The newer one.
        between: Events recorded between the two.
        talk: How their message lists differ; ``None`` where one of them is not known.
        gone: Whether the older request's turn is no longer on the active history.
        explained: Whether the read ends where the lists begin to differ.
        how: What a cause that is not explained is concluded from.

    Returns:
        A recorded event, else that the lists differ; ``None`` where neither is so.
    """
    if talk is None:
        found = tuple(Cause(CAUSE_OF[m.kind], "confirmed", m, m.how) for m in between if _rewrites(m))
    elif not talk.rewritten:
        return None
    else:
        found = causes_of(talk, between, (before.model, this.model), gone=gone)
    recorded = [c for kind in REWRITES for c in found if c.kind is kind]
    if recorded:
        cause = recorded[0]
        sure = explained and cause.evidence == "confirmed"
        code = CacheCode(cause.kind.value)
        return CacheCause(code, "confirmed" if sure else "estimated", how=None if sure else cause.how or how, explained=explained)
    if talk is None:
        return None
    guess = next((c.how for c in found if c.how), None) or f"the message list differs from message {talk.same + 1} on"
    return CacheCause(CacheCode.HISTORY_REWRITTEN, "estimated", how=f"{guess}; {how}", explained=explained)


def _rewrites(mark: Mark) -> bool:
    return CAUSE_OF.get(mark.kind) in REWRITES and (mark.kind is not MarkKind.COMPACTION or mark.status == "succeeded")


def at_item(found: Difference, flags: Flags, counter: str, *, explained: bool, beyond: bool) -> CacheCause | None:
    """Return the item that differs first as the cause.

    An item whose earlier content returned is one also where more was read than stands unchanged since the request before: the
    rest was cached when the item had that content.

    Args:
        found: What the two requests have in front.
        flags: What changes of items turn out to be over several turns.
        counter: Name of what counted the prefix.
        explained: Whether the read ends there.
        beyond: Whether it ends behind it.

    Returns:
        ``None`` where what differs first is no item, or the read does not end there.
    """
    if found.code is None or found.category is None:
        return None
    marks = () if found.item is None else flags.get((found.category, found.item), ())
    if explained:
        code = CacheCode.FLAPPING if Flag.FLAPPING in marks else CacheCode.VOLATILE_BLOCK if Flag.VOLATILE in marks else found.code
        return CacheCause(code, "estimated", found.item, ENDS_THERE + counter, explained=True)
    if beyond and Flag.FLAPPING in marks:
        return CacheCause(CacheCode.FLAPPING, "estimated", found.item, ENDS_BEHIND)
    return None
