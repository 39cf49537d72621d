"""Which two requests are compared: primary requests of a session in time, hidden turns included, and the events between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from ctx_inspect.core.budget import steps_of
from ctx_inspect.core.diff.report import NoBaseline, Side
from ctx_inspect.core.model import Ledger, Mark, Purpose, Request


class Placed(NamedTuple):
    """A primary request where it stands in time.

    Attributes:
        place: 0… among the session's primary requests, in the order they were sent.
        request: The request.
        turn: Its turn's number; ``None`` where that is hidden or the row stands before the first turn.
        id: Id of the message that opened its turn; empty where none did.
        state: ``reverted`` or ``abandoned``, where the turn is gone since.
        first: Whether it is the first primary request of its turn.
        row: Place among the active rows: its own, or of the one that a hidden request was sent before.
    """

    place: int
    request: Request
    turn: int | None
    id: str
    state: str | None
    first: bool
    row: int

    def side(self, step: int | None = None) -> Side:
        """Return it as a side of a comparison."""
        point = self.request.context.point if self.request.context is not None else "store"
        return Side(self.turn, self.id, self.request.at, self.request, self.state, step, point)


def is_primary(request: Request) -> bool:
    """Tell whether a request may be compared: a model was called, and for a step of a turn."""
    return request.call and request.purpose is Purpose.PRIMARY


class Order:
    """The primary requests of a session in the order they were sent, those of hidden turns included.

    Active requests keep the order of the ledger, whatever their clocks said. A hidden one stands where its time says; without
    one, or at equal times, where the event stands that hid it.

    Attributes:
        requests: All of them.
        firsts: The first of each turn, in the same order.
    """

    def __init__(self, ledger: Ledger) -> None:
        """Put a session's requests in order."""
        rows: list[tuple[Request, int | None, str, bool]] = [(r, None, "", False) for r in ledger.before]
        for turn in ledger.turns:
            first = True
            for request in turn.requests:
                primary = is_primary(request)
                rows.append((request, turn.n, turn.id, first and primary))
                first = first and not primary
        self._rows = {row[0].id: place for place, row in enumerate(rows)}
        hidden = _hidden(ledger, rows, self._rows) if ledger.hidden else []
        made: list[Placed] = []
        waiting = 0
        for place, (request, turn, id, first) in enumerate(rows):
            while waiting < len(hidden) and hidden[waiting][0] <= place:
                made.append(Placed(len(made), *hidden[waiting][1], hidden[waiting][0]))
                waiting += 1
            if is_primary(request):
                made.append(Placed(len(made), request, turn, id, None, first, place))
        for row, rest in hidden[waiting:]:
            made.append(Placed(len(made), *rest, row))
        self.requests = tuple(made)
        self.firsts = tuple([p for p in made if p.first])
        self._placed = {p.request.id: p for p in made}
        self._of_turn = {p.turn: p for p in self.firsts if p.turn is not None}
        self._first_places = [p.place for p in self.firsts]
        self._marks = ledger.marks
        ends = {row[1]: place for place, row in enumerate(rows)}
        stands = ((self._stands(mark, ends), n) for n, mark in enumerate(ledger.marks))
        self._at = sorted(stands)

    def _stands(self, mark: Mark, ends: Mapping[int | None, int]) -> int:
        """Return the place of the active row that an event stands after; -1 before the first."""
        if mark.after is None:
            return -1
        place = self._rows.get(mark.after)
        return ends.get(mark.turn, -1) if place is None else place

    def placed(self, request: str) -> Placed | None:
        """Return a primary request by its id."""
        return self._placed.get(request)

    def of_turn(self, turn: int) -> Placed | None:
        """Return the first primary request of an active turn; ``None`` where no model was called in it."""
        return self._of_turn.get(turn)

    def previous(self, request: str) -> Placed | None:
        """Return the primary request that was sent last before this one, whatever turn it is of."""
        placed = self._placed.get(request)
        return None if placed is None or placed.place == 0 else self.requests[placed.place - 1]

    def baseline(self, placed: Placed) -> Placed | None:
        """Return the first primary request of a turn that was sent last before this request."""
        found = bisect_left(self._first_places, placed.place)
        return self.firsts[found - 1] if found else None

    def between(self, before: str, after: str) -> tuple[Mark, ...]:
        """Return the events between two primary requests, in the order they were recorded; the ids in the order the two were sent."""
        a, b = self._placed[before], self._placed[after]
        # an event stands after its row: that of the older request counts, that of the newer one does not
        low = a.row if a.state is None else a.row - 1
        start, stop = bisect_left(self._at, (low, -1)), bisect_left(self._at, (b.row, -1))
        found = sorted(n for _, n in self._at[start:stop])
        return tuple([mark for mark in (self._marks[n] for n in found) if _after(mark, a) and _before(mark, b)])

    def steps(self, before: str, after: str) -> int:
        """Return how many primary requests were sent from one (included) to another (not included)."""
        return self._placed[after].place - self._placed[before].place


def _after(mark: Mark, hidden: Placed) -> bool:
    """Tell whether an event that stands near a hidden request came after it: an active one's place says so already."""
    return hidden.state is None or mark.at is None or hidden.request.at is None or mark.at >= hidden.request.at


def _before(mark: Mark, hidden: Placed) -> bool:
    """Tell whether an event came before a hidden request; where that is not recorded it may be what hid it."""
    return hidden.state is None or (mark.at is not None and hidden.request.at is not None and mark.at < hidden.request.at)


_Hidden = tuple[int, tuple[Request, None, str, str, bool]]


def _hidden(ledger: Ledger, rows: list[tuple[Request, int | None, str, bool]], places: Mapping[str, int]) -> list[_Hidden]:
    """Return the primary requests of hidden turns in time, each with the place of the active row that it was sent before."""
    times: list[int] = []
    for request, *_ in rows:
        times.append(max(request.at or 0, times[-1] if times else 0))
    hid = {m.refs["message"]: m for m in ledger.marks if "message" in m.refs}
    found: list[tuple[int, int, int, _Hidden]] = []
    least = 0
    for turn in ledger.hidden:
        mark = next((hid[i] for i in (turn.id, *turn.ids, *(r.id for r in turn.requests)) if i in hid), None)
        floor = places.get(mark.after or "", -1) + 1 if mark is not None else least
        first, last = bool(turn.ids), 0
        for request in turn.requests:
            if not is_primary(request):
                continue
            at = request.at or turn.at
            last = max(last, at or 0)
            place = floor if at is None else bisect_left(times, last)
            if place < floor and times[floor - 1] <= last:
                place = floor
            while mark is not None and place > floor and rows[place - 1][0].at is None:
                place -= 1
            least = place
            row = (request, None, turn.id if turn.ids else "", turn.state, first)
            found.append((place, last, len(found), (place, row)))
            first = False
    found.sort(key=lambda h: h[:3])
    return [h[3] for h in found]


def no_such_turn(ledger: Ledger, turn: int) -> LookupError:
    """Return the error for a turn that is not there."""
    return LookupError(f"there is no turn {turn}: the session has {len(ledger.turns)}")


def baseline_of(ledger: Ledger, turn: int, order: Order | None = None) -> Side | NoBaseline:
    """Return what a turn is compared with: the first primary request of the turn whose first one was sent last before its own.

    That turn may be reverted or abandoned since. A turn without a request (a shell command, a prompt without a reply) is no
    baseline and has none. Whether what the two requests carried is recorded is not looked at here.

    Args:
        ledger: The session.
        turn: Number of the turn, 1….
        order: Its requests in time, where they were put in order before.

    Raises:
        LookupError: There is no such turn.
    """
    if not 0 < turn <= len(ledger.turns):
        raise no_such_turn(ledger, turn)
    order = order or Order(ledger)
    placed = order.of_turn(turn)
    if placed is None:
        return NoBaseline.NOT_RECORDED
    found = order.baseline(placed)
    if found is None:  # of a part of a session nobody knows whether turns stand before it
        return NoBaseline.NOT_RECORDED if ledger.partial else NoBaseline.FIRST_TURN
    return found.side()


def side_of(ledger: Ledger, turn: int, step: int | None = None) -> Side:
    """Return the first primary request of a turn, or one of its steps, as a side of a comparison.

    Raises:
        LookupError: There is no such turn or step.
    """
    if not 0 < turn <= len(ledger.turns):
        raise no_such_turn(ledger, turn)
    found = ledger.turns[turn - 1]
    steps = steps_of(found)
    if step is not None and not 0 < step <= len(steps):
        has = f"it has {len(steps)}" if steps else "no model was called in it"
        raise LookupError(f"there is no step {step} in turn {turn}: {has}")
    if not steps:
        return Side(turn, found.id, None, None)
    request = steps[(step or 1) - 1]
    point = request.context.point if request.context is not None else "store"
    return Side(turn, found.id, request.at, request, None, step, point)
