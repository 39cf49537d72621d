"""Which two requests are compared: primary requests of a session in time, hidden turns included, and the events between them."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.diff.report import NoBaseline, Side
from ctx_inspect.core.model import Ledger, Mark, Request
from msgspec import Struct


class Placed(Struct, frozen=True):
    """A primary request where it stands in time.

    Attributes:
        place: 0… among the session's primary requests, in the order they were sent.
        request: The request.
        turn: Its turn's number; ``None`` where that is hidden or the row stands before the first turn.
        id: Id of the message that opened its turn; empty before the first turn.
        state: ``reverted`` or ``abandoned``, where the turn is gone since.
        first: Whether it is the first primary request of its turn.
    """

    place: int
    request: Request
    turn: int | None
    id: str
    state: str | None = None
    first: bool = False


class Order:
    """The primary requests of a session in the order they were sent, those of hidden turns included.

    Attributes:
        requests: All of them.
        firsts: The first of each turn, in the same order.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Put a session's requests in order."""
        self.requests: tuple[Placed, ...] = ()
        self.firsts: tuple[Placed, ...] = ()

    def placed(self, request: str) -> Placed | None:
        """Return a primary request by its id."""
        raise NotImplementedError

    def previous(self, request: str) -> Placed | None:
        """Return the primary request that was sent last before this one, whatever turn it is of."""
        raise NotImplementedError

    def between(self, before: str, after: str) -> Sequence[Mark]:
        """Return the events between two requests (their ids), in the order they were recorded."""
        raise NotImplementedError

    def steps(self, before: str, after: str) -> int:
        """Return how many primary requests were sent from one (included) to another (not included)."""
        raise NotImplementedError


def baseline_of(ledger: Ledger, turn: int, order: Order | None = None) -> Side | NoBaseline:
    """Return what a turn is compared with: the turn's first primary request that was sent last before its own, in time.

    Raises:
        LookupError: There is no such turn.
    """
    raise NotImplementedError


def side_of(ledger: Ledger, turn: int, step: int | None = None) -> Side:
    """Return the first primary request of a turn, or one of its steps, as a side of a comparison.

    Raises:
        LookupError: There is no such turn or step.
    """
    raise NotImplementedError
