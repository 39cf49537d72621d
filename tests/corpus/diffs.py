"""What the tests of comparisons over real stores share: reports of all turns, and how they are scored against the oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.categories import category_report
from ctx_inspect.core.diff.drift import drift
from ctx_inspect.core.diff.engine import report
from ctx_inspect.core.diff.report import Change, ChangeKind, Report, State
from ctx_inspect.core.model import Category, Ledger

from tests.oracle import Differences, Sent, compare

Named = tuple[str, str]

MIRROR = {ChangeKind.ADDED: ChangeKind.REMOVED, ChangeKind.REMOVED: ChangeKind.ADDED}
RECORDED = (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM)
"""Categories that Pi records from 0.86 on, and OpenCode 1.x does not."""


def named(change: Change) -> Named:
    """Return a change as the oracle names it."""
    what = " ".join(change.parts) if change.kind is ChangeKind.MODIFIED and change.parts else change.kind.value
    return what, str(change.k)


@dataclass(frozen=True)
class Pair:
    """A report, and what the oracle says of the two bodies."""

    report: Report
    before: str
    after: str
    bodies: Differences

    @property
    def where(self) -> str:
        """Name it in a message."""
        r = self.report
        sides = [f"{s.turn or s.state}/{s.step or '-'}" if s else "-" for s in (r.before, r.after)]
        return f"{r.session} {' → '.join(sides)} ({self.before} → {self.after})"


def pair(r: Report, sent: dict[str, Sent]) -> Pair | None:
    """Return a report with what its bodies say; ``None`` where one of them was not logged."""
    before, after = (s.request.id if s is not None and s.request is not None else "" for s in (r.before, r.after))
    if r.why is not None or before not in sent or after not in sent:
        return None
    return Pair(r, before, after, compare(sent[before], sent[after]))


def consecutive(ledger: Ledger, order: Order) -> Iterator[Report]:
    """Yield the report of each turn."""
    for turn in ledger.turns:
        yield report(ledger, turn.n, order=order)


def steps(ledger: Ledger, order: Order) -> Iterator[Report]:
    """Yield the report of each step that has one before it in its turn."""
    for turn in ledger.turns:
        for n in sorted(r.step for r in turn.requests if r.step is not None):
            if n > 1:
                yield report(ledger, turn.n, step=n, order=order)


def any_two(ledger: Ledger, order: Order) -> Iterator[Report]:
    """Yield the report of each turn against each turn before it."""
    for turn in ledger.turns:
        for other in range(1, turn.n):
            yield report(ledger, turn.n, against=other, order=order)


@dataclass
class Score:
    """How often reports and bodies name the same, by category."""

    right: Counter[str] = field(default_factory=Counter[str])
    made_up: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, category: str, where: str, said: set[Named], true: frozenset[Named]) -> None:
        """Count one pair's changes of a category."""
        self.right[category] += len(said & true)
        self.made_up += [f"{category}: {where}: {c}" for c in sorted(said - true)]
        self.missed += [f"{category}: {where}: {c}" for c in sorted(true - said)]

    def figures(self) -> str:
        """Return precision and recall by category."""
        out = []
        for category, right in self.right.items():
            wrong, gone = (sum(line.startswith(category + ":") for line in lines) for lines in (self.made_up, self.missed))
            precision = f"{right / (right + wrong):.3f}" if right + wrong else "—"
            recall = f"{right / (right + gone):.3f}" if right + gone else "—"
            out.append(f"{category} {right} right, {wrong} made up, {gone} missed (precision {precision}, recall {recall})")
        return "; ".join(out)


def said_of(r: Report, category: Category) -> set[Named]:
    """Return a report's changes of a category as the oracle names them; moves stand apart."""
    return {named(c) for c in r.category(category).changes if c.kind is not ChangeKind.MOVED}


def mirrored(r: Report) -> None:
    """Check that the items of a report's two requests say the same compared the other way round."""
    assert r.before is not None
    assert r.before.request is not None
    assert r.after.request is not None
    old, new = r.before.request.context, r.after.request.context
    assert old is not None
    assert new is not None
    for there in r.categories:
        if there.category is Category.CONVERSATION:
            continue
        again = category_report(there.category, new, old)
        assert there.state is again.state, there.category
        one = Counter((c.kind, c.from_k or c.k if c.kind is ChangeKind.RENAMED else c.k, c.parts) for c in there.changes if not c.moved)
        two = Counter((MIRROR.get(c.kind, c.kind), c.k, c.parts) for c in again.changes if not c.moved)
        assert one == two, there.category
        assert [len(c.moved) for c in there.changes if c.moved] == [len(c.moved) for c in again.changes if c.moved]
        assert {i.k for i in there.lost} == {i.k for i in again.lost}


def run_all(ledger: Ledger) -> Counter[str]:
    """Make every report of a session and check what holds for each; return how many there were."""
    order = Order(ledger)
    figures: Counter[str] = Counter()
    made: dict[int, Report] = {}
    for r in consecutive(ledger, order):
        assert r.after.turn is not None
        made[r.after.turn] = r
        sound(r)
        figures["turns"] += 1
    for r in steps(ledger, order):
        sound(r)
        figures["steps"] += 1
    for r in any_two(ledger, order):
        sound(r)
        assert r.before is not None
        assert r.after.turn is not None
        assert r.before.turn is not None
        back = report(ledger, r.before.turn, against=r.after.turn, order=order)
        assert (back.before, back.after, back.conversation, back.categories) == (r.before, r.after, r.conversation, r.categories)
        if r.comparable:
            mirrored(r)
        figures["pairs, each way"] += 1
    for turn in ledger.turns:
        r = report(ledger, turn.n, against=turn.n, order=order)
        sound(r)
        unchanged(r)
        figures["turns with themselves"] += 1
    drawn = drift(ledger).turns
    assert [d.turn for d in drawn] == list(made)
    for d in drawn:
        r = made[d.turn]
        assert d.states == tuple(c.state for c in r.categories), d.turn
        assert d.why == r.why
        assert d.kinds == tuple(frozenset(c.kind for c in g.changes) for g in r.categories)
    return figures


def sound(r: Report) -> None:
    """Check what holds for every report of a store."""
    assert [c.category for c in r.categories] == list(Category)
    talk = r.conversation
    assert r.category(Category.CONVERSATION).state is talk.kind
    for c in r.categories:
        assert (c.state is State.UNAVAILABLE) == (c.coverage.grade == "unavailable" and r.why is None), c.category
        if c.state in (State.UNAVAILABLE, State.NO_BASELINE):
            assert c.changes == ()
        if c.state is State.UNAVAILABLE:
            assert c.coverage.note
        if c.category is not Category.CONVERSATION:
            assert c.state not in (State.GROWTH, State.REWRITTEN)
            assert (c.state is State.CHANGED) == bool(c.changes), c.category
        for change in c.changes:
            assert change.evidence in ("confirmed", "estimated")
            assert change.evidence == "confirmed" or change.how
    if talk.kind in (State.GROWTH, State.SAME):
        assert talk.coverage.grade == "estimated"
        assert talk.coverage.how
    assert bool(talk.causes) == (talk.kind is State.REWRITTEN)
    assert (talk.from_message is not None) == (talk.kind is State.REWRITTEN)
    for cause in talk.causes:
        assert (cause.evidence == "confirmed") <= (cause.mark is not None)
        assert cause.evidence != "estimated" or cause.how
    if r.why is not None:
        assert {c.state for c in r.categories} == {State.NO_BASELINE}


def unchanged(r: Report) -> None:
    """Check that a comparison of a request with itself names nothing."""
    assert all(c.changes == () and c.lost == () for c in r.categories)
    assert {c.state for c in r.categories} <= {State.SAME, State.UNAVAILABLE, State.NO_BASELINE}
    assert r.conversation.added == r.conversation.removed == r.conversation.changed == 0
