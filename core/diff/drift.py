"""What changed in each turn of a session, for the timeline: states and kinds by category, without reports."""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.core.diff.report import CauseKind, ChangeKind, NoBaseline, State
from ctx_inspect.core.model import Ledger
from msgspec import Struct


class Moves(Struct, frozen=True, gc=False):
    """How many items of a category changed, by what happened to them."""

    added: int = 0
    removed: int = 0
    modified: int = 0
    moved: int = 0
    renamed: int = 0


NO_MOVES = Moves()


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
        cause: The newest cause of a rewritten conversation.
    """

    turn: int
    states: tuple[State, ...]
    kinds: tuple[frozenset[ChangeKind], ...]
    volatile: tuple[bool, ...]
    evidence: tuple[str, ...]
    counts: tuple[Moves, ...]
    why: NoBaseline | None = None
    cause: CauseKind | None = None


class Drift(Struct, frozen=True):
    """What changed in each turn of a session: ``turns[n - 1]`` is turn n.

    Attributes:
        turns: Of each turn, in order.
        stopped: The work was called off: later turns are missing.
    """

    turns: tuple[TurnDrift, ...] = ()
    stopped: bool = False


def drift(ledger: Ledger, before: tuple[Ledger, Drift] | None = None, stop: Callable[[], bool] = lambda: False) -> Drift:
    """Tell what changed in each turn.

    Args:
        ledger: The session.
        before: How it was a moment ago and what was said of it: turns that did not change are taken over.
        stop: Asked now and then; once it says so the work ends with what there is.
    """
    raise NotImplementedError
