"""What changed in a turn and what became of its cache: part of ``ctx-inspect/turns/1``."""

from __future__ import annotations

from ctx_inspect.core.cache.model import CacheVerdict
from ctx_inspect.core.diff.drift import TurnDrift
from ctx_inspect.core.diff.report import State
from ctx_inspect.core.model import Category
from ctx_inspect.core.schema.cache import ratio
from ctx_inspect.core.schema.common import maybe
from msgspec import UNSET, Struct, UnsetType


class DriftRow(Struct, kw_only=True):
    """What a category did between a turn and its baseline.

    Attributes:
        state: ``same``, ``changed``, ``growth``, ``rewritten``, ``unavailable`` or ``no_baseline``.
        evidence: How well that is known.
        added: Items (of the conversation: messages) that are new; absent where none is. So are the next five.
        removed: Items that are gone.
        modified: Items with other content.
        moved: Items at another place.
        renamed: Items under another key.
        lost: Items on one side only while absence proves nothing there; a `same` beside it is not known to be.
        volatile: `true` where a change is one of each turn, or comes and goes.
        baseline_why: Why the turn has no baseline; see `diff`.
        cause: Of a rewritten conversation: the cause that is told first; see `diff`.
        unexplained: `not_recorded`, or what it is recognised as, where no event accounts for a part of a rewriting.
    """

    state: str
    evidence: str
    added: int | UnsetType = UNSET
    removed: int | UnsetType = UNSET
    modified: int | UnsetType = UNSET
    moved: int | UnsetType = UNSET
    renamed: int | UnsetType = UNSET
    lost: int | UnsetType = UNSET
    volatile: bool | UnsetType = UNSET
    baseline_why: str | UnsetType = UNSET
    cause: str | UnsetType = UNSET
    unexplained: str | UnsetType = UNSET


class CacheRow(Struct, kw_only=True):
    """The verdict on the prompt cache of the turn's worst step.

    Attributes:
        verdict: ``kept``, ``partial``, ``lost``, ``cold``, ``not_cacheable`` or ``not_reported``.
        evidence: How well it is known.
        step: Which step it is of.
        r: ``read / reusable``.
        read: Tokens read from the cache.
        reusable: Tokens that could have been read.
        cause: Why it was lost; see the table of codes.
    """

    verdict: str
    evidence: str
    step: int | UnsetType = UNSET
    r: float | UnsetType = UNSET
    read: int | UnsetType = UNSET
    reusable: int | UnsetType = UNSET
    cause: str | UnsetType = UNSET


def drift_of(drift: TurnDrift) -> dict[str, DriftRow]:
    """Return what each of the six categories did."""
    rows: dict[str, DriftRow] = {}
    for place, category in enumerate(Category):
        state, counts = drift.states[place], drift.counts[place]
        rows[category.value] = DriftRow(
            state=state.value,
            evidence=drift.evidence[place],
            added=counts.added or UNSET,
            removed=counts.removed or UNSET,
            modified=counts.modified or UNSET,
            moved=counts.moved or UNSET,
            renamed=counts.renamed or UNSET,
            lost=drift.lost[place] or UNSET,
            volatile=drift.volatile[place] or UNSET,
            baseline_why=drift.why.value if state is State.NO_BASELINE and drift.why is not None else UNSET,
            cause=drift.cause.value if state is State.REWRITTEN and drift.cause is not None else UNSET,
            unexplained=drift.unexplained.value if state is State.REWRITTEN and drift.unexplained is not None else UNSET,
        )
    return rows


def turn_cache_of(verdict: CacheVerdict, step: int | None) -> CacheRow:
    """Return the verdict of a turn.

    Args:
        verdict: Of its worst step.
        step: Which step that is.
    """
    return CacheRow(
        verdict=verdict.verdict.value,
        evidence=verdict.evidence,
        step=maybe(step),
        r=ratio(verdict.r),
        read=maybe(verdict.read),
        reusable=maybe(verdict.reusable),
        cause=UNSET if verdict.cause is None else verdict.cause.code.value,
    )
