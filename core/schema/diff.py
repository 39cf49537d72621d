"""``diff SESSION [TURN] --json``: ``ctx-inspect/diff/1``."""

from __future__ import annotations

from collections.abc import Iterable

from ctx_inspect.core import model
from ctx_inspect.core.diff.report import CategoryReport, Change, ChangeKind, ConversationReport, Report, Side, State, Tokens, main_cause
from ctx_inspect.core.model import Category, Coverage, Estimated, Item, Unavailable, grade, value_of
from ctx_inspect.core.phrases import ATTRIBUTION_LOST
from ctx_inspect.core.schema.cache import cache_of, ratio
from ctx_inspect.core.schema.common import Clean, NotRecorded, maybe, problems_of
from ctx_inspect.core.schema.diff_rows import (
    Baseline,
    CategoryDiff,
    CauseRow,
    ChangeRow,
    CompactionRow,
    ConversationRow,
    Diff,
    EstimateRow,
    LostRow,
    SideRow,
    TokenChange,
    WindowChange,
)
from ctx_inspect.core.schema.show import Src
from ctx_inspect.core.schema.turns import event_of
from ctx_inspect.core.text.clock import iso
from msgspec import UNSET, UnsetType


def diff_of(report: Report, problems: Iterable[model.Problem], clean: Clean) -> Diff:
    """Return a comparison.

    Args:
        report: It.
        problems: What could not be read of the session.
        clean: What names and paths pass through.
    """
    return Diff(
        session=report.session,
        before=UNSET if report.before is None else _side(report.before),
        after=_side(report.after),
        baseline=Baseline(comparable=report.comparable, why=UNSET if report.why is None else report.why.value),
        categories=[_category(report, c, clean) for c in report.categories],
        conversation=_conversation(report.conversation, clean),
        window=_window(report),
        estimate=EstimateRow(
            sum=maybe(value_of(report.estimate.sum)),
            provider=maybe(value_of(report.estimate.provider)),
            error=ratio(value_of(report.estimate.error)),
            counter=report.counter,
            why=report.estimate.sum.note if isinstance(report.estimate.sum, Unavailable) else UNSET,
        ),
        cache=cache_of(report.cache, clean),
        not_recorded=[NotRecorded(what, why) for what, why in report.not_recorded],
        problems=problems_of(problems, clean),
    )


def _side(side: Side) -> SideRow:
    return SideRow(
        turn=maybe(side.turn),
        id=side.id,
        state=maybe(side.state),
        step=maybe(side.step),
        request=UNSET if side.request is None else side.request.id,
        at=maybe(iso(side.at)),
        point=side.point,
    )


def _tokens(tokens: Tokens) -> TokenChange:
    delta = tokens.delta
    known = delta if not isinstance(delta, Unavailable) else tokens.after
    return TokenChange(
        before=maybe(value_of(tokens.before)),
        after=maybe(value_of(tokens.after)),
        delta=maybe(value_of(delta)),
        evidence=grade(known),
        counter=known.how if isinstance(known, Estimated) else UNSET,
        why=delta.note if isinstance(delta, Unavailable) else UNSET,
    )


def _coverage(coverage: Coverage, items: bool) -> str:
    if coverage.grade == "unavailable":
        return "some" if items else "none"
    return "all" if coverage.all else "some"


def _category(report: Report, part: CategoryReport, clean: Clean) -> CategoryDiff:
    coverage = part.coverage
    unknown = part.state is State.UNAVAILABLE
    return CategoryDiff(
        category=part.category.value,
        state=part.state.value,
        evidence="unavailable" if unknown or part.state is State.NO_BASELINE else coverage.grade,
        point=report.after.point,
        baseline_why=_why(report, part),
        how=maybe(coverage.how),
        why=(coverage.note or "not recorded") if unknown else UNSET,
        cov=_coverage(coverage, bool(part.before or part.after)),
        tokens=_tokens(part.tokens),
        changes=[_change(part, c, clean) for c in part.changes],
        lost=[LostRow(k=clean(i.k), side="before" if i in part.before else "after", why=ATTRIBUTION_LOST) for i in part.lost] or UNSET,
    )


def _why(report: Report, part: CategoryReport) -> str | UnsetType:
    if part.state is not State.NO_BASELINE:
        return UNSET
    why = part.baseline_why or report.why
    return UNSET if why is None else why.value


def _src(item: Item | None, clean: Clean) -> Src | UnsetType:
    origin = None if item is None else item.origin
    if origin is None:
        return UNSET
    return Src(
        kind=origin.kind,
        path=UNSET if origin.path is None else clean(origin.path),
        name=UNSET if origin.name is None else clean(origin.name),
    )


def _value(part: CategoryReport, item: Item | None, clean: Clean) -> str | UnsetType:
    """Return a setting's value; nothing else of an item is a value."""
    return UNSET if part.category is not Category.SETTINGS or item is None or item.shown is None else clean(item.shown)


def _change(part: CategoryReport, change: Change, clean: Clean) -> ChangeRow:
    moved = change.kind is ChangeKind.MOVED
    return ChangeRow(
        change=change.kind.value,
        k=UNSET if moved and len(change.moved) > 1 else clean(change.k),
        from_k=UNSET if change.from_k is None else clean(change.from_k),
        count=len(change.moved) if moved else UNSET,
        items=[clean(k) for k in change.moved] if moved else UNSET,
        src=_src(change.after or change.before, clean),
        ev=part.coverage.grade,
        parts=list(change.parts) or UNSET,
        before=_value(part, change.before, clean),
        after=_value(part, change.after, clean),
        evidence=change.evidence,
        how=maybe(change.how),
        tokens=UNSET if moved or part.category is Category.SETTINGS else _tokens(change.tokens),
        flags=[f.value for f in change.flags] or UNSET,
        follows=UNSET if change.follows is None else clean(model.Raw(change.follows)),
    )


def _conversation(talk: ConversationReport, clean: Clean) -> ConversationRow:
    known = talk.kind in (State.GROWTH, State.REWRITTEN, State.SAME)
    causes: list[CauseRow] = []
    for cause in talk.causes:
        row = CauseRow(cause=cause.kind.value, evidence=cause.evidence, how=maybe(cause.how))
        if cause.mark is not None:
            event = event_of(cause.mark, clean)
            row.event, row.status, row.at = event.ref, event.status, event.at
            row.reason = event.reason
        causes.append(row)
    done = talk.compaction
    return ConversationRow(
        kind=talk.kind.value,
        evidence=talk.coverage.grade if known else "unavailable",
        how=maybe(talk.coverage.how),
        why=(talk.coverage.note or "not recorded") if talk.kind is State.UNAVAILABLE else UNSET,
        added=talk.added if known else UNSET,
        removed=talk.removed if known else UNSET,
        changed=talk.changed if known else UNSET,
        from_message=maybe(talk.from_message),
        messages_before=talk.before if known else UNSET,
        messages_after=talk.after if known else UNSET,
        steps=talk.steps if known else UNSET,
        cause=main_cause(talk).kind.value if talk.causes else UNSET,
        causes=causes,
        compaction=UNSET
        if done is None
        else CompactionRow(
            before=maybe(value_of(done.before)),
            after=maybe(value_of(done.after)),
            folded=maybe(value_of(done.folded)),
            kept=maybe(value_of(done.kept)),
            nth=done.nth,
            loop=done.loop,
        ),
    )


def _window(report: Report) -> WindowChange:
    now, limit = report.window_after, report.limit
    return WindowChange(
        before=maybe(value_of(report.window_before)),
        after=maybe(value_of(now)),
        limit=maybe(value_of(limit)),
        limit_why=limit.note if isinstance(limit, Unavailable) else UNSET,
        evidence=grade(now),
        how=now.how if isinstance(now, Estimated) else UNSET,
        why=now.note if isinstance(now, Unavailable) else UNSET,
    )
