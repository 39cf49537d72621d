"""Rules that a session keeps or breaks, for ``check``: budgets, order, rewriting. Pure.

What nobody can tell is no success: it is named beside the failures, and the caller decides what it counts for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

from ctx_inspect.core.budget import request_window, steps_of
from ctx_inspect.core.diff.drift import TurnDrift
from ctx_inspect.core.diff.report import RECOGNISED, CauseKind, ChangeKind, NoBaseline, State
from ctx_inspect.core.model import Category, Context, Estimated, Known, Ledger, Request, Turn, Unavailable, value_of
from ctx_inspect.core.text.show import own
from msgspec import Struct

Count = Callable[[Context, Category], Known[int]]
"""Counts the tokens of a category."""

BUDGET, NO_REORDER, NO_REWRITE, MAX_REWRITE = own("budget"), own("no-reorder"), own("no-rewrite"), own("max-rewrite")

ORDERED = (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM)
"""Categories whose items have an order that a model sees."""

PLACE = list(Category).index

_SUFFIXES = {"k": 1_000, "m": 1_000_000}
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


class Rules(Struct, frozen=True):
    """What is asked of a session.

    Attributes:
        budgets: Tokens that a category may take in the first request of a turn at most.
        no_reorder: No item may change its place.
        no_rewrite: The conversation may not be rewritten without a recorded cause.
        max_rewrite: Tokens written to the cache by the largest window, at most.
    """

    budgets: tuple[tuple[Category, int], ...] = ()
    no_reorder: bool = False
    no_rewrite: bool = False
    max_rewrite: float | None = None

    @property
    def any(self) -> bool:
        """Whether there is any rule."""
        return bool(self.budgets) or self.no_reorder or self.no_rewrite or self.max_rewrite is not None

    @property
    def compares(self) -> bool:
        """Whether a rule needs turns compared."""
        return self.no_reorder or self.no_rewrite


class Finding(Struct, frozen=True):
    """What breaks a rule, or why nobody can tell.

    Attributes:
        session: Key of the session.
        turn: Number of the turn; ``None`` = the whole session.
        rule: The rule, as its option.
        message: A sentence of our own words.
        category: The category.
    """

    session: str
    turn: int | None
    rule: str
    message: str
    category: Category | None = None


class Outcome(Struct, frozen=True):
    """What came of the rules over one session."""

    failures: tuple[Finding, ...] = ()
    cannot_tell: tuple[Finding, ...] = ()


def budget_of(word: str) -> tuple[Category, int]:
    """Read ``CATEGORY=N``; ``k`` and ``M`` stand for thousands and millions.

    Raises:
        ValueError: It is no budget; its message says what is wrong, in our own words.
    """
    name, equals, number = word.partition("=")
    category = next((c for c in Category if c.value == name), None)
    if category is None or not equals:
        names = ", ".join(c.value for c in Category if c is not Category.SETTINGS)
        raise ValueError(f"a budget is CATEGORY=N; CATEGORY is one of {names}")
    if category is Category.SETTINGS:
        raise ValueError("settings take no tokens of their own")
    factor = _SUFFIXES.get(number[-1:].lower(), 1)
    digits = number[:-1] if factor > 1 else number
    tokens = Decimal(digits) * factor if _NUMBER.fullmatch(digits) else None
    if tokens is None or tokens % 1:
        raise ValueError("a budget is a whole number of tokens: 15000, 15k, 1.5k or 1M")
    return category, int(tokens)


def gate(ledger: Ledger, rules: Rules, drifts: Sequence[TurnDrift], count: Count) -> Outcome:
    """Tell which rules a session breaks.

    Args:
        ledger: The session.
        rules: What is asked of it.
        drifts: What changed in each turn; needed where ``rules.compares``.
        count: Counts the tokens of a category.
    """
    failures: list[Finding] = []
    unknown: list[Finding] = []
    for category, most in rules.budgets:
        _budget(ledger, category, most, count, failures, unknown)
    if rules.no_reorder:
        _no_reorder(ledger, drifts, failures, unknown)
    if rules.no_rewrite:
        _no_rewrite(ledger, drifts, failures, unknown)
    if rules.max_rewrite is not None:
        _max_rewrite(ledger, rules.max_rewrite, failures, unknown)
    return Outcome(tuple(failures), tuple(unknown))


def _firsts(ledger: Ledger) -> Iterator[tuple[Turn, Request]]:
    for turn in ledger.turns:
        steps = steps_of(turn)
        if steps:
            yield turn, steps[0]


def _budget(ledger: Ledger, category: Category, most: int, count: Count, failures: list[Finding], unknown: list[Finding]) -> None:
    over: list[tuple[int, int]] = []
    untold: list[tuple[int, str]] = []
    seen: tuple[object, Known[int]] | None = None
    how = ""
    for turn, request in _firsts(ledger):
        context = request.context
        if context is None:
            untold.append((turn.n, "no request of this turn could be rebuilt from the store"))
            continue
        # the items of most turns are those of the turn before, the same object: they are counted once
        what: object = context.messages if category is Category.CONVERSATION else (id(context.items), context.coverage.get(category))
        if seen is None or seen[0] != what:
            seen = (what, count(context, category))
        known = seen[1]
        if isinstance(known, Unavailable):
            untold.append((turn.n, known.note))
        elif known.value > most:
            over.append((known.value, turn.n))
            how = known.how if isinstance(known, Estimated) else ""
    name = category.value
    if over:
        tokens, n = max(over, key=lambda o: (o[0], -o[1]))
        turns = "" if len(over) == 1 else f"; {len(over):,} turns are over it"
        by = f" by {how}" if how else ""
        sign = "≈" if how else ""
        failures.append(Finding(ledger.key, n, BUDGET, f"{name} take {sign}{tokens:,} tokens{by}, more than {most:,}{turns}", category))
    if untold:
        unknown.append(_untold(ledger, BUDGET, untold, category))


def _untold(ledger: Ledger, rule: str, untold: list[tuple[int, str]], category: Category) -> Finding:
    """Say once of several turns that nobody can tell."""
    n, why = untold[0]
    turns = "" if len(untold) == 1 else f" ({len(untold):,} turns)"
    return Finding(ledger.key, n, rule, f"{category.value}: {why}{turns}", category)


def _unknown_states(ledger: Ledger, rule: str, drifts: Sequence[TurnDrift], category: Category) -> list[Finding]:
    """Name the turns of which it is not known what a category did; a first turn has nothing that could have changed."""
    coverages = {t.n: r.context.coverage.get(category) for t, r in _firsts(ledger) if r.context is not None}
    untold: list[tuple[int, str]] = []
    for drift in drifts:
        state = drift.states[PLACE(category)]
        if state is State.UNAVAILABLE:
            coverage = coverages.get(drift.turn)
            untold.append((drift.turn, (coverage.note if coverage is not None else None) or "not recorded"))
        elif state is State.NO_BASELINE and drift.why is not NoBaseline.FIRST_TURN:
            untold.append((drift.turn, f"no comparable baseline ({drift.why.value if drift.why is not None else 'not_recorded'})"))
    return [_untold(ledger, rule, untold, category)] if untold else []


def _no_reorder(ledger: Ledger, drifts: Sequence[TurnDrift], failures: list[Finding], unknown: list[Finding]) -> None:
    found: list[Finding] = []
    for category in ORDERED:
        place = PLACE(category)
        for drift in drifts:
            if ChangeKind.MOVED in drift.kinds[place]:
                count = drift.counts[place].moved
                noun = "1 of them" if count == 1 else f"{count:,} of them"
                found.append(Finding(ledger.key, drift.turn, NO_REORDER, f"{category.value} reordered: {noun} moved", category))
        unknown += _unknown_states(ledger, NO_REORDER, drifts, category)
    failures += sorted(found, key=lambda f: f.turn or 0)


def _no_rewrite(ledger: Ledger, drifts: Sequence[TurnDrift], failures: list[Finding], unknown: list[Finding]) -> None:
    place = PLACE(Category.CONVERSATION)
    for drift in drifts:
        left = drift.unexplained
        if drift.states[place] is State.REWRITTEN and (left is not None or drift.cause is None):
            as_what = f" (recognised as {left.value})" if left is not None and left in RECOGNISED else ""
            partly = drift.cause not in (None, left, CauseKind.NOT_RECORDED)
            beside = f" for a part of it, beside {drift.cause.value}" if partly and drift.cause is not None else ""
            message = f"the conversation was rewritten and no cause is recorded{beside}{as_what}"
            failures.append(Finding(ledger.key, drift.turn, NO_REWRITE, message, Category.CONVERSATION))
    unknown += _unknown_states(ledger, NO_REWRITE, drifts, Category.CONVERSATION)


def _max_rewrite(ledger: Ledger, most: float, failures: list[Finding], unknown: list[Finding]) -> None:
    steps = [r for t in (*ledger.turns, *ledger.hidden) for r in t.requests if r.call and not r.inherited]
    steps += [r for r in ledger.before if r.call and not r.inherited]
    usages = [u for r in steps if (u := value_of(r.usage)) is not None]
    largest = max((w for r in steps if (w := value_of(request_window(r))) is not None), default=0)
    written = sum(u.cache_write or 0 for u in usages)
    why = None
    if not steps:
        return  # nothing was sent: nothing was written
    if not largest:
        why = "no request reported its window"
    elif not written and not any(u.cache_read for u in usages):
        why = "the provider reports no cache figures in this session"
    elif not written:
        why = "the provider reports what it reads from the cache, not what it writes"
    if why is not None:
        unknown.append(Finding(ledger.key, None, MAX_REWRITE, why))
    elif written / largest > most:
        times = f"{written:,} tokens written to the cache, {written / largest:.2f} times the largest window of {largest:,}"
        failures.append(Finding(ledger.key, None, MAX_REWRITE, f"{times}; at most {most:g} are allowed"))
