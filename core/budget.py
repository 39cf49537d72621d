"""What fills the window and when it runs over: limits by rank, windows, growth, shares by category. Pure.

The window is ``input + cache read + cache write`` of a primary request; what was sent in total is another
figure and never mixed with it (spec page 1, "window").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from statistics import median

from ctx_inspect.core.model import (
    Category,
    Confirmed,
    Context,
    Estimated,
    Known,
    Ledger,
    LimitClaim,
    PartKind,
    Purpose,
    Request,
    Turn,
    Unavailable,
    Why,
    value_of,
)
from ctx_inspect.core.weights import UNKNOWN, Weights

BELIEVED = range(20_000, 3_000_001)
"""Limits outside are not believed: real files hold 0, 6,748 and 10⁹ (field report 23)."""

GROWING_TURNS = 10
"""How many growing turns the forecast looks back on."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A model's limit.

    Attributes:
        tokens: Tokens.
        kind: ``context`` or ``usable``.
        source: Who says so.
    """

    tokens: int
    kind: str
    source: str


def limit_of(claims: Sequence[LimitClaim]) -> Known[Limit]:
    """Return the limit that counts: the first believable claim by rank (spec page 1, "limit").

    Args:
        claims: All that is said of the model, in any order; of one rank the first counts.
    """
    doubted: LimitClaim | None = None
    for claim in sorted(claims, key=lambda c: c.rank):
        match claim.tokens:
            case Confirmed(value=tokens, by=by) if tokens in BELIEVED:
                return Confirmed(Limit(tokens, claim.kind, claim.source), by)
            case Estimated(value=tokens, how=how) if tokens in BELIEVED:
                return Estimated(Limit(tokens, claim.kind, claim.source), how)
            case Unavailable():
                continue
            case _:
                doubted = doubted or claim
    if doubted is not None:
        return Unavailable(
            Why.UNKNOWN,
            f"limit unknown: {doubted.source} says {value_of(doubted.tokens):,}, outside {BELIEVED[0]:,}–{BELIEVED[-1]:,} none is believed",
        )
    return Unavailable(Why.UNKNOWN, "limit unknown: neither the harness's configuration nor [limits] names this model")


def request_window(request: Request) -> Known[int]:
    """Return the tokens in context of one request: input + cache read + cache write, output never."""
    match request.usage:
        case Confirmed(value=usage, by=by):
            tokens = usage.window
            if tokens is None:
                return Unavailable(Why.NOT_REPORTED, "the provider reported no input")
            return Confirmed(tokens, by)
        case Estimated(value=usage, how=how):
            tokens = usage.window
            if tokens is None:
                return Unavailable(Why.NOT_REPORTED, "the provider reported no input")
            return Estimated(tokens, how)
        case Unavailable() as unknown:
            return unknown


def steps_of(turn: Turn) -> tuple[Request, ...]:
    """Return the turn's primary requests: no shell rows, no subtasks."""
    rows = turn.requests
    for r in rows:
        if not r.call or r.purpose is not Purpose.PRIMARY:
            return tuple([r for r in rows if r.call and r.purpose is Purpose.PRIMARY])
    return rows


def turn_window(turn: Turn) -> Known[int]:
    """Return the window of a turn: its last step's.

    Where the last step reported nothing (it failed, was aborted or still runs), the newest figure of the
    turn stands in, named as what it is.
    """
    steps = steps_of(turn)
    if not steps:
        return Unavailable(Why.NOT_RECORDED, "no model was called in this turn")
    for back, step in enumerate(reversed(steps)):
        window = request_window(step)
        if isinstance(window, Unavailable):
            continue
        if back == 0:
            return window
        return Estimated(window.value, f"step {len(steps) - back} of {len(steps)}; later ones reported none")
    return request_window(steps[-1])


def growth(windows: Sequence[Known[int]]) -> Estimated[int] | Unavailable:
    """Return tokens per turn: the median over the last 10 turns that grew."""
    grown: list[int] = []
    after: int | None = None
    for window in reversed(windows):  # from the newest on: there may be a hundred thousand
        if isinstance(window, Unavailable):
            continue
        if after is not None and after > window.value:
            grown.append(after - window.value)
            if len(grown) == GROWING_TURNS:
                break
        after = window.value
    if not grown:
        return Unavailable(Why.NOT_YET, "no turn has grown yet")
    return Estimated(round(median(grown)), f"median growth of the last {len(grown)} growing turns")


def forecast(windows: Sequence[Known[int]], current: Known[int], ceiling: Known[int]) -> Known[int]:
    """Return how many turns are left until the ceiling (the compaction threshold, else the limit).

    Args:
        windows: The turns' windows, oldest first, tokens.
        current: Tokens in the window now.
        ceiling: Tokens.
    """
    rate = growth(windows)
    if isinstance(rate, Unavailable):
        return rate
    if isinstance(current, Unavailable):
        return current
    if isinstance(ceiling, Unavailable):
        return ceiling
    return Estimated(max(0, ceiling.value - current.value) // max(1, rate.value), f"+{rate.value:,} a turn, {rate.how}")


@dataclass(frozen=True, slots=True)
class Sent:
    """What a session's own steps sent and got, in tokens, each request counted once (field report 25)."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0


def sent(ledger: Ledger, before: tuple[Ledger, Sent] | None = None) -> Sent:
    """Add up the session's own steps: active, reverted and abandoned ones; inherited ones were counted elsewhere.

    Args:
        ledger: The session.
        before: How it was a moment ago and what that added up to: then only turns that changed are added.
    """
    if before is not None and before[0].hidden == ledger.hidden and before[0].before == ledger.before:
        old, known = before
        start = unchanged(old.turns, ledger.turns)
        less = _sum(r for t in old.turns[start:] for r in t.requests)
        more = _sum(r for t in ledger.turns[start:] for r in t.requests)
        total = [a - b + c for a, b, c in zip(_figures(known), less, more, strict=True)]
        return Sent(*total)
    rows = [*ledger.before, *(r for t in ledger.turns for r in t.requests), *(r for h in ledger.hidden for r in h.requests)]
    return Sent(*_sum(rows))


def unchanged(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many in front are the same objects in both."""
    same = list(map(is_, old, new))
    return same.index(False) if False in same else len(same)


def _figures(known: Sent) -> tuple[int, ...]:
    return known.requests, known.input, known.output, known.cache_read, known.cache_write


def _sum(rows: Iterable[Request]) -> list[int]:
    total = [0, 0, 0, 0, 0]
    for row in rows:
        if row.inherited or not row.call:
            continue
        total[0] += 1
        usage = value_of(row.usage)
        if usage is not None:
            for place, figure in enumerate((usage.input, usage.output, usage.cache_read, usage.cache_write), start=1):
                total[place] += figure or 0
    return total


Count = Callable[[str, int], int | None]
"""Tokens of the content with this fingerprint and size in UTF-8 bytes; ``None`` where it cannot be counted (yet)."""


@dataclass(frozen=True, slots=True)
class Share:
    """One category's part of a window.

    Attributes:
        category: Which.
        tokens: Its tokens: estimated by a named counter, or unavailable; never 0 for what is not known.
        items: Items or messages counted.
    """

    category: Category
    tokens: Known[int]
    items: int


@dataclass(frozen=True, slots=True)
class Shares:
    """A window by category.

    Attributes:
        shares: The six categories, in order.
        media: Number of media parts.
        media_bytes: Their bytes; their tokens are unavailable (field report 26).
        sum: The known shares together.
        rest: The provider's figure less the sum: what unavailable categories, media and the counter's error hold.
        complete: Whether every category is known.
    """

    shares: tuple[Share, ...]
    media: int
    media_bytes: int
    sum: int
    rest: Known[int]
    complete: bool


def shares(context: Context, provider: Known[int], count: Count, counter: str, weights: Weights | None = None) -> Shares:
    """Split a window by category.

    Args:
        context: What the request carried.
        provider: The provider's own figure for the whole window, tokens.
        count: Counts one content.
        counter: Its name, shown beside each number.
        weights: The messages by size, for a counter that goes by size alone: they are not looked at one by one then.
    """
    totals: dict[Category, int] = {}
    items: dict[Category, int] = {}
    uncounted: dict[Category, int] = {}

    def add(category: Category, fp: str, size: int | None) -> None:
        tokens = None if size is None else count(fp, size)
        if tokens is None:
            uncounted[category] = uncounted.get(category, 0) + 1
        else:
            totals[category] = totals.get(category, 0) + tokens

    for item in context.items:
        items[item.category] = items.get(item.category, 0) + 1
        if item.category is not Category.SETTINGS:
            add(item.category, item.fp, item.size)
    media = media_bytes = 0
    if weights is not None:
        items[Category.CONVERSATION] = len(weights.ends)
        media, media_bytes = len(weights.media), sum(size for _, size in weights.media)
        for size, times in weights.by_size().items():
            each = None if size == UNKNOWN else count("", size)
            kept, more = (uncounted, times) if each is None else (totals, times * each)
            kept[Category.CONVERSATION] = kept.get(Category.CONVERSATION, 0) + more
    for message in context.messages if weights is None else ():
        items[Category.CONVERSATION] = items.get(Category.CONVERSATION, 0) + 1
        for part in message.parts:
            if part.kind is PartKind.MEDIA:
                media, media_bytes = media + 1, media_bytes + (part.size or 0)
            else:
                add(Category.CONVERSATION, part.fp, part.size)
    result: list[Share] = []
    for category in Category:
        coverage = context.coverage.get(category)
        tokens: Known[int]
        if category is Category.SETTINGS:
            tokens = Unavailable(Why.UNKNOWN, "settings take no tokens of their own")
        elif coverage is None or coverage.grade == "unavailable":
            tokens = Unavailable(
                coverage.why or Why.NOT_RECORDED if coverage else Why.NOT_RECORDED, (coverage and coverage.note) or "not recorded"
            )
        else:
            left_out = uncounted.get(category, 0)
            tokens = Estimated(totals.get(category, 0), counter + (f", {left_out} not counted" if left_out else ""))
        result.append(Share(category, tokens, items.get(category, 0)))
    known = [s.tokens.value for s in result if not isinstance(s.tokens, Unavailable)]
    complete = all(not isinstance(s.tokens, Unavailable) for s in result if s.category is not Category.SETTINGS)
    rest: Known[int] = (
        provider if isinstance(provider, Unavailable) else Estimated(provider.value - sum(known), f"provider's figure less {counter}")
    )
    return Shares(tuple(result), media, media_bytes, sum(known), rest, complete)
