"""What changed in each turn of a session, for the timeline: states and kinds by category, without reports. Pure.

Made in the background for thousands of turns. Of turns that share their items nothing is compared twice, and a session that
grew costs what is new.
"""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.core.budget import unchanged
from ctx_inspect.core.diff.baseline import Order, Placed
from ctx_inspect.core.diff.categories import category_report
from ctx_inspect.core.diff.conversation import conversation_report
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.diff.report import (
    CategoryReport,
    CauseKind,
    ChangeKind,
    ConversationReport,
    NoBaseline,
    State,
    main_cause,
    unexplained_by,
)
from ctx_inspect.core.model import Category, Context, Ledger, Raw
from msgspec import Struct

ASK_EVERY = 64
"""Turns after which it is asked whether to stop."""


class Moves(Struct, frozen=True, gc=False):
    """How many items of a category changed, by what happened to them."""

    added: int = 0
    removed: int = 0
    modified: int = 0
    moved: int = 0
    renamed: int = 0


NO_MOVES = Moves()

NONE_LOST = (0,) * len(Category)

_NO_KINDS: frozenset[ChangeKind] = frozenset()

_ITEMS = tuple(c for c in Category if c is not Category.CONVERSATION)


class TurnDrift(Struct, frozen=True):
    """What changed between a turn and its baseline.

    Attributes:
        turn: Its number.
        states: Of the six categories, in the order of :class:`Category`.
        kinds: What happened to items of each; empty for the conversation.
        volatile: Whether a change of each is volatile or flapping over the turns before.
        evidence: ``confirmed``, ``estimated`` or ``unavailable``: how each state is known.
        counts: Items (of the conversation: messages) by what happened to them.
        why: Why the turn has nothing to compare with.
        cause: Of a rewritten conversation the cause that is told first (:func:`main_cause`).
        against: Id of the request that it was compared with.
        unexplained: What stands for the part of a rewriting that no event accounts for, also beside causes that are recorded.
        lost: Items of each category that are on one side only while absence proves nothing there: a category that is the same
            otherwise is not known to be.
    """

    turn: int
    states: tuple[State, ...]
    kinds: tuple[frozenset[ChangeKind], ...]
    volatile: tuple[bool, ...]
    evidence: tuple[str, ...]
    counts: tuple[Moves, ...]
    why: NoBaseline | None = None
    cause: CauseKind | None = None
    against: str | None = None
    unexplained: CauseKind | None = None
    lost: tuple[int, ...] = NONE_LOST


class Drift(Struct, frozen=True):
    """What changed in each turn of a session: ``turns[n - 1]`` is turn n.

    Attributes:
        turns: Of each turn, in order.
        stopped: The work was called off: later turns are missing.
    """

    turns: tuple[TurnDrift, ...] = ()
    stopped: bool = False


class _Items(Struct, frozen=True):
    """What the items of two requests say: of the five categories that have any."""

    states: tuple[State, ...]
    kinds: tuple[frozenset[ChangeKind], ...]
    evidence: tuple[str, ...]
    counts: tuple[Moves, ...]
    changed: frozenset[tuple[Category, Raw]]
    lost: tuple[int, ...]


def drift(
    ledger: Ledger,
    before: tuple[Ledger, Drift] | None = None,
    stop: Callable[[], bool] = lambda: False,
    *,
    order: Order | None = None,
    history: History | None = None,
) -> Drift:
    """Tell what changed in each turn.

    Args:
        ledger: The session.
        before: How it was a moment ago and what was said of it: turns that did not change are taken over.
        stop: Asked now and then; once it says so the work ends with what there is.
        order: Its requests in time, where they were put in order before.
        history: Its history of changes, where it was made before.
    """
    order = order or Order(ledger)
    held = _held(ledger, before)
    known: dict[tuple[int, int, int, int], _Items] = {}
    history = history or History(ledger, order)
    made: list[TurnDrift] = []
    for place, turn in enumerate(ledger.turns):
        if place % ASK_EVERY == 0 and stop():
            return Drift(tuple(made), stopped=True)
        after = order.of_turn(turn.n)
        base = order.baseline(after) if after is not None else None
        if place < len(held) and held[place].against == (None if base is None else base.request.id):
            made.append(held[place])
        else:
            made.append(_turn(ledger, turn.n, base, after, order, known, history))
    return Drift(tuple(made))


def _held(ledger: Ledger, before: tuple[Ledger, Drift] | None) -> tuple[TurnDrift, ...]:
    """Return what was said of the turns in front that are the same, with the same events."""
    if before is None or before[0].partial or ledger.partial:
        return ()
    old = before[0]
    start = unchanged(old.turns, ledger.turns)
    pairs = zip(old.marks, ledger.marks, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a is not b and a != b), min(len(old.marks), len(ledger.marks)))
    for mark in (*old.marks[same:], *ledger.marks[same:]):
        start = min(start, max(0, (mark.turn or 0) - 1))
    return before[1].turns[:start]


def _turn(
    ledger: Ledger,
    n: int,
    base: Placed | None,
    placed: Placed | None,
    order: Order,
    known: dict[tuple[int, int, int, int], _Items],
    history: History,
) -> TurnDrift:
    against = None if base is None else base.request.id
    before = base.request.context if base is not None else None
    after = placed.request.context if placed is not None else None
    if base is None or placed is None or before is None or after is None:
        first = placed is not None and base is None and not ledger.partial
        return _without(n, NoBaseline.FIRST_TURN if first else NoBaseline.NOT_RECORDED, against)
    key = (id(before.items), id(after.items), id(before.coverage), id(after.coverage))
    items = known.get(key)
    if items is None:
        items = known[key] = _items(before, after)
    talk = conversation_report(
        before,
        after,
        order.between(base.request.id, placed.request.id),
        models=(base.request.model, placed.request.model),
        gone=base.state is not None,
    )
    flagged: set[Category] = set()
    if items.changed:
        flagged = {key[0] for key in history.flags(n) if key in items.changed}
    return TurnDrift(
        n,
        (*items.states, talk.kind),
        (*items.kinds, _NO_KINDS),
        tuple([c in flagged for c in Category]),
        (*items.evidence, talk.coverage.grade),
        (*items.counts, _messages(talk)),
        None,
        main_cause(talk).kind if talk.causes else None,
        against,
        unexplained_by(talk),
        (*items.lost, 0),
    )


def _without(n: int, why: NoBaseline, against: str | None) -> TurnDrift:
    size = len(Category)
    return TurnDrift(
        n,
        (State.NO_BASELINE,) * size,
        (_NO_KINDS,) * size,
        (False,) * size,
        ("unavailable",) * size,
        (NO_MOVES,) * size,
        why,
        None,
        against,
    )


def _items(before: Context, after: Context) -> _Items:
    found = [category_report(c, before, after) for c in _ITEMS]
    return _Items(
        tuple([c.state for c in found]),
        tuple([frozenset([change.kind for change in c.changes]) for c in found]),
        tuple([c.coverage.grade for c in found]),
        tuple([_count(c) for c in found]),
        frozenset([(c.category, change.k) for c in found for change in c.changes]),
        tuple([len(c.lost) for c in found]),
    )


def _count(report: CategoryReport) -> Moves:
    if not report.changes:
        return NO_MOVES
    kinds = [c.kind for c in report.changes]
    moved = sum(len(c.moved) or 1 for c in report.changes if c.kind is ChangeKind.MOVED)
    added, removed = kinds.count(ChangeKind.ADDED), kinds.count(ChangeKind.REMOVED)
    return Moves(added, removed, kinds.count(ChangeKind.MODIFIED), moved, kinds.count(ChangeKind.RENAMED))


def _messages(talk: ConversationReport) -> Moves:
    return Moves(talk.added, talk.removed, talk.changed) if talk.kind in (State.GROWTH, State.REWRITTEN) else NO_MOVES
