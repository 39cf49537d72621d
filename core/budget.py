"""What fills the window and when it runs over: limits by rank, windows, growth, shares by category. Pure.

The window is ``input + cache read + cache write`` of a primary request; what was sent in total is another
figure and never mixed with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import is_
from statistics import median

from ctx_inspect.core.model import (
    Confirmed,
    Estimated,
    Known,
    Ledger,
    LimitClaim,
    Purpose,
    Request,
    Turn,
    Unavailable,
    Why,
    Window,
    value_of,
)
from ctx_inspect.core.model.limits import BELIEVED, RANK_HARNESS
from msgspec import Struct, field

GROWING_TURNS = 10
"""How many growing turns the forecast looks back on."""


class Limit(Struct, frozen=True):
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
    """Return the limit that counts: the first believable claim by rank (:mod:`ctx_inspect.core.model.limits`).

    Args:
        claims: All that is said of the model, in any order; of one rank the first counts.
    """
    claim = believed(claims)
    match claim and claim.tokens:
        case Confirmed(value=tokens, by=by) if claim is not None:
            return Confirmed(Limit(tokens, claim.kind, claim.source), by)
        case Estimated(value=tokens, how=how) if claim is not None:
            return Estimated(Limit(tokens, claim.kind, claim.source), how)
        case _:
            pass
    for doubted in sorted(claims, key=lambda c: c.rank):
        if not isinstance(doubted.tokens, Unavailable):
            return Unavailable(
                Why.UNKNOWN,
                f"limit unknown: {doubted.source} says {doubted.tokens.value:,}, outside {BELIEVED[0]:,}–{BELIEVED[-1]:,} none is believed",
            )
    return Unavailable(Why.UNKNOWN, "limit unknown: neither the harness's configuration nor [limits] names this model")


def believed(claims: Sequence[LimitClaim]) -> LimitClaim | None:
    """Return the claim that counts, if any is believed."""
    for claim in sorted(claims, key=lambda c: c.rank):
        if not isinstance(claim.tokens, Unavailable) and claim.tokens.value in BELIEVED:
            return claim
    return None


def threshold_of(window: Window, limit: Known[Limit]) -> Known[int]:
    """Return where the harness compacts by itself, if it reckons with the limit that is believed.

    A harness computes its threshold from its own claim; where that one does not count, because nobody believes it or
    because another one outranks it, the threshold says nothing of this model.

    Args:
        window: How the harness treats the model's window.
        limit: Its limit (:func:`limit_of`).
    """
    threshold = window.threshold
    if isinstance(threshold, Unavailable):
        return threshold
    if isinstance(limit, Unavailable):
        return Unavailable(Why.UNKNOWN, "the harness reckons with a limit that is not believed")
    claim, tokens = believed(window.claims), limit.value.tokens
    if claim is None or claim.rank != RANK_HARNESS:
        return Unavailable(Why.UNKNOWN, f"the harness reckons with another limit than the {tokens:,} of {limit.value.source}")
    if threshold.value > tokens:
        return Unavailable(Why.UNKNOWN, "the harness's configuration has it compact above the model's limit")
    return threshold


NO_INPUT = Unavailable(Why.NOT_REPORTED, "the provider reported no input")

NO_CACHE_FIGURE = "without what was read from the cache: it was not reported"


def request_window(request: Request) -> Known[int]:
    """Return the tokens in context of one request: input + cache read + cache write, output never."""
    match request.usage:
        case Confirmed(value=usage) | Estimated(value=usage):
            tokens = usage.window
            if tokens is None:
                return NO_INPUT
            if usage.cache_read is None:  # where writes are not reported the input holds them
                return Estimated(tokens, NO_CACHE_FIGURE)
            return Estimated(tokens, request.usage.how) if isinstance(request.usage, Estimated) else Confirmed(tokens, request.usage.by)
        case Unavailable() as unknown:
            return unknown


def steps_of(turn: Turn) -> tuple[Request, ...]:
    """Return the turn's primary requests: no shell rows, no subtasks."""
    rows = turn.requests
    for r in rows:
        if not r.call or r.purpose is not Purpose.PRIMARY:
            return tuple([r for r in rows if r.call and r.purpose is Purpose.PRIMARY])
    return rows


def window_step(turn: Turn) -> Request | None:
    """Return the step that a turn's window is of: the newest one with a figure, else its last; ``None`` where there is none."""
    return window_and_step(turn)[1]


def turn_window(turn: Turn) -> Known[int]:
    """Return the window of a turn: its last step's.

    Where the last step reported nothing (it failed, was aborted or still runs), the newest figure of the
    turn stands in, named as what it is.
    """
    return window_and_step(turn)[0]


def window_and_step(turn: Turn) -> tuple[Known[int], Request | None]:
    """Return :func:`turn_window` and :func:`window_step` of a turn at once."""
    steps = steps_of(turn)
    if not steps:
        return Unavailable(Why.NOT_RECORDED, "no model was called in this turn"), None
    last: Known[int] | None = None
    for back, step in enumerate(reversed(steps)):
        window = request_window(step)
        if isinstance(window, Unavailable):
            last = last or window
        elif back == 0:
            return window, step
        else:
            return Estimated(window.value, f"step {len(steps) - back} of {len(steps)}; later ones reported none"), step
    return last or NO_INPUT, steps[-1]


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


FIGURES = ("input", "output", "cache_read", "cache_write")
"""What of a request's usage is added up, in this order."""


class Sent(Struct, frozen=True):
    """What a session's own steps sent and got, in tokens, each request counted once; never the window.

    Attributes:
        requests: How many.
        input: Of those that reported it; ``None`` where none did. So are the other three.
        output: Tokens of the answers.
        cache_read: Tokens read from the cache.
        cache_write: Tokens written to it.
        unreported: Requests whose usage nobody reported: they sent something too.
        reporting: How many requests reported each figure.
    """

    requests: int = 0
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    unreported: int = 0
    reporting: tuple[int, ...] = field(default=(0, 0, 0, 0))

    @property
    def tokens(self) -> int | None:
        """All that was sent, cached or not, as far as it was reported; ``None`` where nothing was."""
        known = [n for n in (self.input, self.cache_read, self.cache_write) if n is not None]
        return sum(known) if known else None


class _Sum:
    """Adds up requests, and takes some away again."""

    def __init__(self, known: Sent | None = None) -> None:
        start = known or Sent()
        self.requests, self.unreported = start.requests, start.unreported
        self.figures = [getattr(start, name) or 0 for name in FIGURES]
        self.reporting = list(start.reporting)

    def add(self, rows: Iterable[Request], sign: int = 1) -> None:
        figures, reporting = self.figures, self.reporting
        for row in rows:
            if row.inherited or not row.call:
                continue
            self.requests += sign
            usage = value_of(row.usage)
            if usage is None:
                self.unreported += sign
                continue
            for place, figure in enumerate((usage.input, usage.output, usage.cache_read, usage.cache_write)):
                if figure is not None:
                    figures[place] += sign * figure
                    reporting[place] += sign

    def result(self) -> Sent:
        known = [n if times else None for n, times in zip(self.figures, self.reporting, strict=True)]
        return Sent(self.requests, *known, unreported=self.unreported, reporting=tuple(self.reporting))


def sent(ledger: Ledger, before: tuple[Ledger, Sent] | None = None) -> Sent:
    """Add up the session's own steps: active, reverted and abandoned ones; inherited ones were counted elsewhere.

    Args:
        ledger: The session.
        before: How it was a moment ago and what that added up to: then only turns that changed are added.
    """
    if before is not None and before[0].hidden == ledger.hidden and before[0].before == ledger.before:
        old, known = before
        start = unchanged(old.turns, ledger.turns)
        total = _Sum(known)
        total.add((r for t in old.turns[start:] for r in t.requests), -1)
        total.add(r for t in ledger.turns[start:] for r in t.requests)
        return total.result()
    total = _Sum()
    total.add([*ledger.before, *(r for t in ledger.turns for r in t.requests), *(r for h in ledger.hidden for r in h.requests)])
    return total.result()


def unchanged(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many in front are the same objects in both."""
    same = list(map(is_, old, new))
    return same.index(False) if False in same else len(same)
