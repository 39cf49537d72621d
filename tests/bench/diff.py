"""Comparing two requests of the stated size, and all turns of a long session; in memory, at any scale the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from ctx_inspect.core.model import Category, Chain, Context, Item, Ledger, Message, Part, PartKind, Raw, Role, Turn

from tests.bench.bench import Bench, median, paired, timed
from tests.bench.results import Result
from tests.core.diff.contexts import WHOLE
from tests.core.ledgers import info, step

ITEMS, MESSAGES, TURNS = 200, 5_000, 10_000

CATEGORIES = (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM)

COVERAGE = dict.fromkeys(Category, WHOLE)


def _items(numbers: Sequence[int], version: str = "") -> tuple[Item, ...]:
    """Make items of four categories, the system prompt's without names that stay; every third one has a content of its version."""
    made: list[Item] = []
    blocks = 0
    for n in numbers:
        category = CATEGORIES[n % 4]
        block = category is Category.SYSTEM
        made.append(Item(category, Raw(f"block:{blocks}" if block else f"item{n}"), f"{n}{'' if n % 3 else version}", size=100 + n))
        blocks += block
    return tuple(made)


def _messages(version: str = "") -> Chain:
    made = [Message(f"m{n}", Role.USER, f"{n}{version}", (Part(PartKind.TEXT, f"{n}{version}", 100 + n % 7),)) for n in range(MESSAGES)]
    return Chain(None, 0, tuple(made))


def _session(contexts: Sequence[Context]) -> Ledger:
    turns = [
        Turn(n, f"u{n}", (f"u{n}",), n * 1000, (step(f"a{n}", 100, at=n * 1000, context=context),))
        for n, context in enumerate(contexts, start=1)
    ]
    return Ledger(info(), turns=tuple(turns))


def _walked(before: Context, after: Context) -> int:
    """Look at each item and message of both sides once, which nothing that compares them can do without."""
    items = sum(a.fp != b.fp for a, b in zip(before.items, after.items, strict=True))
    return items + sum(a.fp != b.fp for a, b in zip(before.messages, after.messages, strict=True))


def _differing(contexts: Sequence[Context]) -> int:
    """Tell only which of them carry other items than the one before."""
    return sum(a.items != b.items for a, b in pairwise(contexts))


def pairs() -> Iterator[Result]:
    """Compare two requests whose lists were read apart from each other."""
    from ctx_inspect.core.cache.verdict import verdicts
    from ctx_inspect.core.diff.baseline import Order
    from ctx_inspect.core.diff.engine import report
    from ctx_inspect.core.diff.history import History
    from ctx_inspect.core.diff.report import State
    from ctx_inspect.core.diff.tokens import StoreCounts
    from ctx_inspect.core.measure import Measure
    from ctx_inspect.core.text.tokens import BytesCounter

    # half of the items stand elsewhere, a third are modified, some came and some went
    order = [*range(ITEMS // 2, ITEMS), *range(ITEMS // 2 - 10), *range(ITEMS, ITEMS + 10)]
    before = Context(_items(range(ITEMS)), _messages(), COVERAGE)
    for name, messages, state in (
        (f"diff of {ITEMS} items and {MESSAGES:,} messages", _messages(), State.SAME),
        (f"diff of {ITEMS} items and {MESSAGES:,} messages, each rewritten", _messages("new"), State.REWRITTEN),
    ):
        after = Context(_items(order, "new"), messages, COVERAGE)
        session = _session([before, after])
        turns, counts = Order(session), StoreCounts(Measure(BytesCounter()))
        history = History(session, turns)
        known = verdicts(session, order=turns, flags=history.flags)
        made = partial(report, session, 2, counts=counts, order=turns, verdicts=known, history=history)  # as the pane does
        found = made()
        kinds = {change.kind for c in found.categories for change in c.changes}
        changes = sum(len(c.changes) for c in found.categories)
        took, limit = paired(25, partial(timed, made), partial(timed, partial(_walked, before, after)))
        alone = median(5, partial(timed, partial(report, session, 2)))
        bad = found.conversation.kind is not state or len(kinds) < 4
        yield Result(
            name,
            took,
            limit,
            "looking at each item and message once",
            budget=10,
            note=f"{changes} changes of {len(kinds)} kinds; with the session's order, history and cache verdict {alone:.1f} ms",
            fault=f"{found.conversation.kind}, {sorted(kinds)}" if bad else "",
            floor=3,
        )


def session() -> Iterator[Result]:
    """Compare all turns of a long session, in which a block of the system prompt is a clock."""
    from ctx_inspect.core.diff.drift import drift

    still, messages = _items(range(ITEMS - 1)), _messages()
    clock = [Item(Category.SYSTEM, Raw("date"), f"date{n}", size=5) for n in range(TURNS)]
    for name, contexts in (
        (f"what changed in {TURNS:,} turns, a clock in each", [Context((*still, c), messages, COVERAGE) for c in clock]),
        (f"what changed in {TURNS:,} turns, nothing", [Context(still, messages, COVERAGE)] * TURNS),
    ):
        made = _session(contexts)
        found = drift(made)
        changed = sum(bool(t.kinds[list(Category).index(Category.SYSTEM)]) for t in found.turns)
        expected = TURNS - 1 if contexts[0] is not contexts[1] else 0
        took, limit = paired(3, partial(timed, partial(drift, made)), partial(timed, partial(_differing, contexts)))
        again = median(3, partial(timed, partial(drift, made, (made, found))))
        yield Result(
            name,
            took,
            limit,
            "telling for each turn that its items differ",
            note=f"{ITEMS} items; nothing new: {again:.0f} ms",
            fault="" if changed == expected else f"{changed} turns changed, not {expected}",
            floor=50,
        )


def diffs(_: Bench) -> Iterator[Result]:
    """Compare."""
    yield from pairs()
    yield from session()
