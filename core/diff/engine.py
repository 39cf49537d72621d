"""The comparison of two requests of a session: everything that is said of it, composed. Pure."""

from __future__ import annotations

from ctx_inspect.core.budget import request_window
from ctx_inspect.core.cache.model import NOT_REPORTED, CacheVerdict
from ctx_inspect.core.cache.verdict import NO_FLAGS, Flags, Verdicts
from ctx_inspect.core.cache.verdict import verdicts as verdicts_of
from ctx_inspect.core.diff.baseline import Order, baseline_of, side_of
from ctx_inspect.core.diff.categories import NO_KNOCK_ONS, category_report, with_knock_ons
from ctx_inspect.core.diff.compactions import Compactions, newest
from ctx_inspect.core.diff.conversation import NO_COVERAGE, conversation_report
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.diff.report import (
    CategoryReport,
    ConversationReport,
    Estimate,
    NoBaseline,
    Report,
    Side,
    State,
    Tokens,
)
from ctx_inspect.core.diff.tokens import Counts, difference
from ctx_inspect.core.model import Category, Context, Estimated, Known, Ledger, Mark, Unavailable, Why, replace

LIMIT_NOT_ASKED = Unavailable(Why.UNKNOWN, "limit unknown: it was not asked for")

NO_REQUEST = Unavailable(Why.NOT_RECORDED, "no model was called in this turn")

NO_REQUEST_BEFORE = Unavailable(Why.NOT_RECORDED, "there is no request to compare with")

NOT_COUNTED = "not counted"

REBUILT = ("request", "rebuilt from the store, not the recorded request")


def report(
    ledger: Ledger,
    turn: int,
    *,
    against: int | None = None,
    step: int | None = None,
    counts: Counts | None = None,
    limit: Known[int] = LIMIT_NOT_ASKED,
    order: Order | None = None,
    verdicts: Verdicts | None = None,
    history: History | None = None,
) -> Report:
    """Compare the first primary request of a turn with its baseline.

    A comparison goes forward in time: against a later turn, the turn itself is the older side.

    Args:
        ledger: The session.
        turn: Number of the turn, 1….
        against: Number of another turn to compare with, in place of the baseline.
        step: Compare this step of the turn with the one before it instead.
        counts: Counts tokens of items and categories; without it they are not counted.
        limit: Of the newer request's model, tokens.
        order: The session's requests in time, where they were put in order before.
        verdicts: Its cache verdicts, where they were made before.
        history: Its history of changes, where it was made before: flags of changes come from it.

    Raises:
        LookupError: There is no such turn or step, nothing before step 1, or a step was asked for against another turn.
    """
    order = order or Order(ledger)
    before, after, why = sides(ledger, turn, against=against, step=step, order=order)
    old, new = _context(before), _context(after)
    if why is None and (old is None or new is None):
        why = NoBaseline.NOT_RECORDED
    elif old is not None and new is not None and old.point != new.point:
        why = NoBaseline.POINT_CHANGED
    history = history or History(ledger, order)
    between: tuple[Mark, ...] = ()
    steps = 0
    if before is not None and before.request is not None and after.request is not None:
        between = order.between(before.request.id, after.request.id)
        steps = order.steps(before.request.id, after.request.id)
    if why is not None or old is None or new is None or before is None:
        categories = tuple(_nothing(c, new, why or NoBaseline.NOT_RECORDED, counts) for c in Category)
        talk = ConversationReport(State.NO_BASELINE, categories[-1].coverage, after=new.messages.length if new else 0)
    else:
        talk = _talk(ledger, before, after, old, new, between, steps)
        spoken = CategoryReport(Category.CONVERSATION, talk.kind, talk.coverage, tokens=_tokens(old, new, Category.CONVERSATION, counts))
        usual = against is None and step is None
        flags: Flags = history.flags(turn) if usual else NO_FLAGS
        items = [category_report(c, old, new, counts) for c in Category if c is not Category.CONVERSATION]
        follows = with_knock_ons(items, history.follows(turn) if usual else NO_KNOCK_ONS)
        categories = (*[_flagged(c, flags) for c in follows], spoken)
    window = NO_REQUEST if after.request is None else request_window(after.request)
    return Report(
        ledger.key,
        ledger.info.harness,
        ledger.info.project or ledger.info.directory,
        before,
        after,
        why,
        categories,
        talk,
        between,
        NO_REQUEST_BEFORE if before is None or before.request is None else request_window(before.request),
        window,
        limit,
        estimate(new, window, counts),
        _cache(ledger, after, order, verdicts, history),
        counts.name if counts is not None else NOT_COUNTED,
        (*ledger.not_recorded, REBUILT) if after.point == "store" else ledger.not_recorded,
    )


def sides(
    ledger: Ledger, turn: int, *, against: int | None = None, step: int | None = None, order: Order | None = None
) -> tuple[Side | None, Side, NoBaseline | None]:
    """Return the two requests of a comparison, the older one first, and why there is no older one.

    Args:
        ledger: The session.
        turn: Number of the turn.
        against: Number of another turn.
        step: A step of the turn, against the one before it.
        order: The session's requests in time.

    Raises:
        LookupError: As of :func:`report`.
    """
    order = order or Order(ledger)
    after = side_of(ledger, turn, step)
    if step is not None:
        if against is not None:
            raise LookupError("a step is compared with the step before it in its turn, not with another turn")
        if step == 1:
            raise LookupError(f"step 1 of turn {turn} has no step before it; the turn itself is compared with the turn before")
        return side_of(ledger, turn, step - 1), after, None
    if against is None:
        found = baseline_of(ledger, turn, order)
        return (None, after, found) if isinstance(found, NoBaseline) else (found, after, None)
    other = side_of(ledger, against)
    why = NoBaseline.NOT_RECORDED if other.request is None or after.request is None else None
    return (after, other, why) if against > turn else (other, after, why)


def estimate(context: Context | None, provider: Known[int], counts: Counts | None) -> Estimate:
    """Return the counted sum of a request beside the provider's figure.

    Args:
        context: What it carried.
        provider: The provider's figure for the whole request, tokens.
        counts: Counts.
    """
    total = _sum(context, counts)
    error: Known[float]
    if isinstance(total, Unavailable):
        error = total
    elif isinstance(provider, Unavailable):
        error = provider
    elif provider.value <= 0:
        error = Unavailable(Why.NOT_REPORTED, "the provider reported an empty request")
    else:
        error = Estimated(total.value / provider.value - 1, total.how)
    return Estimate(total, provider, error)


def _sum(context: Context | None, counts: Counts | None) -> Estimated[int] | Unavailable:
    """Return the tokens of all categories together; unavailable where one of them is not counted."""
    if counts is None:
        return Unavailable(Why.NOT_YET, NOT_COUNTED)
    if context is None:
        return Unavailable(Why.NOT_RECORDED, "what the request carried is not recorded")
    total = 0
    for category in Category:
        if category is Category.SETTINGS:
            continue  # they take no tokens of their own
        known = counts.category(context, category)
        if isinstance(known, Unavailable):
            return Unavailable(known.why, f"{category}: {known.note}")
        total += known.value
    return Estimated(total, counts.name)


def _context(side: Side | None) -> Context | None:
    return side.request.context if side is not None and side.request is not None else None


def _talk(
    ledger: Ledger, before: Side, after: Side, old: Context, new: Context, between: tuple[Mark, ...], steps: int
) -> ConversationReport:
    assert before.request is not None
    assert after.request is not None
    last = newest(between)
    return conversation_report(
        old,
        new,
        between,
        models=(before.request.model, after.request.model),
        gone=before.state is not None,
        steps=steps,
        compaction=None if last is None else Compactions(ledger).of(last),
    )


def _nothing(category: Category, context: Context | None, why: NoBaseline, counts: Counts | None) -> CategoryReport:
    """Return a category that has nothing to compare with; what the newer side carries is said."""
    if context is None:
        return CategoryReport(category, State.NO_BASELINE, NO_COVERAGE, why)
    coverage = context.coverage.get(category, NO_COVERAGE)
    items = tuple([i for i in context.items if i.category is category])
    tokens = Tokens() if counts is None else Tokens(NO_REQUEST_BEFORE, counts.category(context, category), NO_REQUEST_BEFORE)
    return CategoryReport(category, State.NO_BASELINE, coverage, why, after=items, tokens=tokens)


def _tokens(before: Context, after: Context, category: Category, counts: Counts | None) -> Tokens:
    return Tokens() if counts is None else difference(counts.category(before, category), counts.category(after, category))


def _cache(ledger: Ledger, after: Side, order: Order, verdicts: Verdicts | None, history: History) -> CacheVerdict:
    if after.request is None:
        return replace(NOT_REPORTED, how=NO_REQUEST.note)
    if verdicts is None:
        verdicts = verdicts_of(ledger, order=order, flags=history.flags)
    return verdicts.of(after.request.id)


def _flagged(found: CategoryReport, flags: Flags) -> CategoryReport:
    """Return a category whose changes say what they turn out to be over several turns."""
    if not found.changes or not flags:
        return found
    return replace(found, changes=tuple([replace(c, flags=flags.get((found.category, c.k), ())) for c in found.changes]))
