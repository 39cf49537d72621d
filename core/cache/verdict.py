"""The cache verdicts of a session: each primary request against the one before it in time."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from ctx_inspect.core.budget import steps_of
from ctx_inspect.core.cache.causes import Flags
from ctx_inspect.core.cache.figures import Figures, badness, has_figures
from ctx_inspect.core.cache.judge import Setting, figures_of, idle_between, verdict
from ctx_inspect.core.cache.model import Cache, CacheVerdict
from ctx_inspect.core.diff.baseline import Order, Placed
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.measure import calibrated_on
from ctx_inspect.core.model import Ledger, Mark, Raw, Request, Unavailable, replace
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale
from msgspec import Struct

NONE_REPORTED = "no primary request before it reported usage"
STILL_READING = "the requests before it are not read yet"

NO_FLAGS: Flags = {}


class _Pair(Struct, frozen=True):
    """A request and what it is compared with: everything that its verdict follows from.

    Attributes:
        this: The request.
        before: The newest one before it that reported usage; ``None`` where there is none.
        known: What is known besides.
        why: Why there is nothing to compare with although it is not the first.
    """

    this: Request
    before: Placed | None
    known: Setting
    why: str | None = None


class _Made(Struct, frozen=True):
    pair: _Pair
    between: tuple[Mark, ...]
    counter: str
    verdict: CacheVerdict

    def stands(self, pair: _Pair, between: tuple[Mark, ...], counter: str) -> bool:
        """Tell whether a verdict made before still follows from the same."""
        old, mine = self.pair, pair
        same = old.this is mine.this and _request(old.before) is _request(mine.before) and _turn(old.before) == _turn(mine.before)
        return same and old.known == mine.known and old.why == mine.why and self.between == between and self.counter == counter


def _request(placed: Placed | None) -> Request | None:
    return None if placed is None else placed.request


def _turn(placed: Placed | None) -> int | None:
    return None if placed is None else placed.turn


class Verdicts:
    """The verdicts of a session's primary requests; each is made when it is asked for, and kept. Any thread may ask."""

    def __init__(
        self,
        ledger: Ledger,
        order: Order | None = None,
        flags: Callable[[int], Flags] | None = None,
        counter: BytesCounter | None = None,
        before: Verdicts | None = None,
    ) -> None:
        """Prepare them; costs a look at each request's usage.

        Args:
            ledger: The session.
            order: Its requests in time.
            flags: What changes of a turn turn out to be over several turns; without it the history is looked through when that is needed.
            counter: Counts tokens of prefixes by size; without it one is calibrated on the session when a prefix is asked for.
            before: Those of the session a moment ago: what still follows from the same is taken over.
        """
        self._ledger, self._flags, self._counter = ledger, flags, counter
        self._order = order or Order(ledger)
        # the lock is shared because the scale is; what was made is not: requests that are gone would be held for ever
        self._lock = RLock() if before is None else before._lock
        self._scale = Scale() if before is None else before._scale
        self._made: dict[str, _Made] = {} if before is None else before._kept(self._order)
        placed = self._order.requests
        self._newest: list[int] = []  # of each place: the newest one before it that reported usage, or -1
        newest = -1
        self._reads: set[Raw | None] = set()
        self._writes: set[Raw | None] = set()
        for place, row in enumerate(placed):
            self._newest.append(newest)
            if has_figures(row.request.usage):
                newest = place
            self._look(row.request)
        for rows in ledger.other.values():
            for request in rows:
                self._look(request)

    def _kept(self, order: Order) -> dict[str, _Made]:
        """Return what was made of requests that are the same objects in another order."""
        with self._lock:
            placed = ((id, made, order.placed(id)) for id, made in self._made.items())
            return {id: made for id, made, now in placed if now is not None and now.request is made.pair.this}

    def _look(self, request: Request) -> None:
        usage = request.usage
        if isinstance(usage, Unavailable):
            return
        if usage.value.cache_read or usage.value.cache_write:
            self._reads.add(request.model.provider)
        if usage.value.cache_write:
            self._writes.add(request.model.provider)

    def of(self, request_id: str) -> CacheVerdict:
        """Return the verdict on a request.

        Raises:
            LookupError: The session has no such primary request.
        """
        pair = self._pair(self._placed(request_id), flagged=True)
        between = () if pair.before is None else self._order.between(pair.before.request.id, request_id)
        with self._lock:
            if self._counter is None:
                self._counter = calibrated_on(self._ledger)
            made = self._made.get(request_id)
            if made is None or not made.stands(pair, between, self._counter.name):
                found = _Made(pair, between, self._counter.name, self._make(pair, between, self._counter))
                self._made[request_id] = made = found
        return made.verdict

    def glance(self, request_id: str) -> Figures:
        """Return what the figures alone say of a request: its verdict is the same, its cause is not looked for.

        Raises:
            LookupError: The session has no such primary request.
        """
        pair = self._pair(self._placed(request_id), flagged=False)
        if pair.why is not None:
            return Figures(Cache.NOT_REPORTED, "unavailable", pair.why)
        return figures_of(_request(pair.before), pair.this, pair.known, pair.known.idle_ms)

    def glance_turn(self, n: int) -> Figures | None:
        """Return what the figures alone say of a turn's worst step; ``None`` where no model was called in it."""
        worst = self._worst(n)
        return None if worst is None else self.glance(worst.id)

    def turn(self, n: int) -> CacheVerdict | None:
        """Return the verdict of a turn's worst step: a turn of which each step missed is not well because its first one did not.

        Returns:
            ``None`` where no model was called in the turn.
        """
        worst = self._worst(n)
        return None if worst is None else self.of(worst.id)

    def step_of(self, n: int) -> int | None:
        """Return which step of a turn its verdict is of; ``None`` where no model was called in it."""
        worst = self._worst(n)
        return None if worst is None else worst.step

    def _worst(self, n: int) -> Request | None:
        if not 0 < n <= len(self._ledger.turns):
            raise LookupError(f"there is no turn {n}: the session has {len(self._ledger.turns)}")
        return min(steps_of(self._ledger.turns[n - 1]), key=lambda r: badness(self.glance(r.id)), default=None)

    def _placed(self, request_id: str) -> Placed:
        placed = self._order.placed(request_id)
        if placed is None:
            raise LookupError("the session has no such primary request")
        return placed

    def _flags_of(self, turn: int) -> Flags:
        if self._flags is None:
            self._flags = History(self._ledger, self._order).flags
        return self._flags(turn)

    def _pair(self, placed: Placed, *, flagged: bool) -> _Pair:
        this, place = placed.request, placed.place
        newest = self._newest[place]
        before = self._order.requests[newest] if newest >= 0 else None
        last = self._order.requests[place - 1].request if place else None
        flags = self._flags_of(placed.turn) if flagged and placed.turn is not None else NO_FLAGS
        mine = this.model.provider
        provider = mine if before is None else before.request.model.provider
        known = Setting(
            flags=flags,
            writes=provider in self._writes,
            # one that never reports anything says nothing; but what another one cached is lost when it is turned to
            reported=mine in self._reads or (provider != mine and provider in self._reads),
            idle_ms=idle_between(last, this),
            gone=before is not None and before.state is not None,
            skipped=before is not None and newest != place - 1,
        )
        why = None
        if before is None and known.reported:
            why = STILL_READING if self._ledger.partial else NONE_REPORTED if place else None
        return _Pair(this, before, known, why)

    def _make(self, pair: _Pair, between: tuple[Mark, ...], counter: BytesCounter) -> CacheVerdict:
        if pair.why is not None:
            return CacheVerdict(Cache.NOT_REPORTED, "unavailable", pair.why)
        made = verdict(_request(pair.before), pair.this, between, known=pair.known, counter=counter, scale=self._scale)
        return made if pair.before is None else replace(made, turn=pair.before.turn)


def verdicts(
    ledger: Ledger,
    before: tuple[Ledger, Verdicts] | None = None,
    *,
    order: Order | None = None,
    flags: Callable[[int], Flags] | None = None,
    counter: BytesCounter | None = None,
) -> Verdicts:
    """Return the verdicts of a session's primary requests; each one is made when it is first asked for.

    Args:
        ledger: The session.
        before: How it was a moment ago and what was said of it: verdicts that still follow from the same are taken over.
        order: Its requests in time, where they were put in order before.
        flags: What changes of a turn turn out to be (:meth:`History.flags`), where a history was made before.
        counter: Counts tokens of prefixes by size; without it one is calibrated on the session.
    """
    return Verdicts(ledger, order, flags, counter, None if before is None else before[1])


__all__ = ["Setting", "Verdicts", "verdict", "verdicts"]
