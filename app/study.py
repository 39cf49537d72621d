"""What is worked out of a session beside its rows: comparisons, verdicts, stories of items. Made in lanes, never in the app's own thread.

Imported by them: the first frame need not wait for the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.snapshot import Snapshot
from ctx_inspect.core.budget import steps_of
from ctx_inspect.core.cache.figures import Figures
from ctx_inspect.core.cache.model import Cache, CacheVerdict
from ctx_inspect.core.cache.verdict import Verdicts
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.drift import ASK_EVERY, Drift, drift
from ctx_inspect.core.diff.engine import report
from ctx_inspect.core.diff.history import History, ItemHistory, MovedMap
from ctx_inspect.core.diff.report import Report
from ctx_inspect.core.diff.tokens import NO_PROVIDER, Counts, StoreCounts
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import Category, Confirmed, Context, Estimated, Item, Known, Ledger, Raw, Request, Shown, Unavailable, Why
from ctx_inspect.core.shares import NO_SETTING, NOT_COUNTED, Share, shares
from ctx_inspect.core.views.cache import Sums
from ctx_inspect.core.views.drift import Told
from ctx_inspect.core.views.moved import changes_named


class Seen:
    """What is shown of one turn.

    Attributes:
        turn: Its number.
        against: The turn that was marked; ``None`` = its baseline.
        report: The comparison.
        steps: The turn's steps with the verdicts on their caches.
        counts: What counted both sides.
    """

    def __init__(
        self, turn: int, against: int | None, found: Report, steps: tuple[tuple[Request, CacheVerdict], ...], counts: Counts
    ) -> None:
        """Hold them."""
        self.turn, self.against, self.report, self.steps, self.counts = turn, against, found, steps, counts

    @property
    def requests(self) -> tuple[Request, ...]:
        """The two requests, as far as what they carried is known."""
        sides = (self.report.before, self.report.after)
        return tuple([s.request for s in sides if s is not None and s.request is not None and s.request.context is not None])


class Vocabulary:
    """Counts what was counted by a vocabulary before: in the source's thread, where texts are read."""

    def __init__(self, exact: Exact) -> None:
        """Count by what counted a request."""
        self.name, self._count = exact.counter, exact.count
        self._known: dict[int, tuple[Context, tuple[Share, ...]]] = {}

    def item(self, item: Item) -> Known[int]:
        """Return the tokens of an item."""
        if item.category is Category.SETTINGS:
            return NO_SETTING
        found = self._count(item.fp, item.size or 0)
        return NOT_COUNTED if found is None else Estimated(found, self.name) if isinstance(found, int) else found

    def category(self, context: Context, category: Category) -> Known[int]:
        """Return the tokens of a category."""
        held = self._known.get(id(context))
        if held is None or held[0] is not context:
            held = self._known[id(context)] = (context, shares(context, NO_PROVIDER, self._count, self.name).shares)
        return next(s.tokens for s in held[1] if s.category is category)


class Study:
    """Works things out of one snapshot; any lane may ask, and one waits for another where both need the same."""

    def __init__(self, snapshot: Snapshot, before: Study | None = None) -> None:
        """Prepare; costs nothing yet.

        Args:
            snapshot: The session, read whole.
            before: That of the session a moment ago.
        """
        self.snapshot = snapshot
        self.ledger: Ledger = snapshot.ledger
        self._held: Verdicts | None = None  # not the study itself: each would hold all before it
        if before is not None and before.ledger.key == self.ledger.key:
            self._held = before._verdicts if before._verdicts is not None else before._held
        self._lock, self._counting = RLock(), RLock()
        self._order: Order | None = None
        self._history: History | None = None
        self._verdicts: Verdicts | None = None
        self.drift: Drift | None = None
        self._counts = StoreCounts(Measure(snapshot.counter))

    @property
    def order(self) -> Order:
        """The session's requests in time."""
        with self._lock:
            if self._order is None:
                self._order = Order(self.ledger)
            return self._order

    @property
    def history(self) -> History:
        """What changed over the session."""
        with self._lock:
            if self._history is None:
                self._history = History(self.ledger, self.order)
            return self._history

    @property
    def verdicts(self) -> Verdicts:
        """The verdicts on all caches."""
        with self._lock:
            if self._verdicts is None:
                self._verdicts = Verdicts(self.ledger, self.order, self.history.flags, before=self._held)
                self._held = None
            return self._verdicts

    def see(self, turn: int, against: int | None, exact: Exact | None = None) -> Seen:
        """Compare a turn with its baseline, or with another turn.

        Args:
            turn: Its number.
            against: Number of the other turn; ``None`` = its baseline.
            exact: A vocabulary counted both sides; else their sizes tell.

        Raises:
            LookupError: There is no such turn.
        """
        counts: Counts = self._counts if exact is None else Vocabulary(exact)
        limit = self._limit(turn)
        with self._counting:
            found = report(
                self.ledger,
                turn,
                against=against,
                counts=counts,
                limit=limit,
                order=self.order,
                verdicts=self.verdicts,
                history=self.history,
            )
        steps = steps_of(self.ledger.turns[turn - 1])
        return Seen(turn, against, found, tuple([(r, self.verdicts.of(r.id)) for r in steps]), counts)

    def _limit(self, turn: int) -> Known[int]:
        row = self.snapshot.row(turn)
        match row.limit if row is not None else Unavailable(Why.UNKNOWN, "limit unknown"):
            case Confirmed(value=value, by=by):
                return Confirmed(value.tokens, by)
            case Estimated(value=value, how=how):
                return Estimated(value.tokens, how)
            case Unavailable() as unknown:
                return unknown

    def story(self, category: Category, k: Raw) -> ItemHistory:
        """Return an item over the session."""
        return self.history.item(category, k)

    def moved(self, last: int, until: int | None = None) -> MovedMap:
        """Return which items changed in the last turns."""
        return self.history.moved_map(last, until)

    def tell(self, stop: Callable[[], bool], before: Study | None = None) -> Told | None:
        """Tell what changed in each turn and what became of its cache.

        Args:
            stop: Asked now and then; once it says so the work is called off.
            before: The last study that told it of the session to the end: what did not change since is taken over.

        Returns:
            ``None`` where it was called off.
        """
        known = None
        if before is not None and before.ledger.key == self.ledger.key and before.drift is not None:
            known = (before.ledger, before.drift)
        found = drift(self.ledger, known, stop, order=self.order, history=self.history)
        if found.stopped:
            return None
        self.drift = found
        cache: list[Figures | None] = []
        for turn in self.ledger.turns:
            if turn.n % ASK_EVERY == 0 and stop():
                return None
            cache.append(self.verdicts.glance_turn(turn.n))
        return Told(found.turns, cache, self._glance, self._named)

    def _named(self, turn: int) -> Shown | None:
        if turn > len(self.ledger.turns):  # it came since
            return None
        info = self.ledger.info
        return changes_named(self.history.changes(turn), info.project or info.directory)

    def _glance(self, id_: str) -> Figures | None:
        try:
            return self.verdicts.glance(id_)
        except LookupError:
            return None

    def sums(self) -> Sums:
        """Add up what the caches of the session came to."""
        judged = lost = partial = rewritten = 0
        turns: list[int] = []
        for placed in self.order.requests:
            found = self.verdicts.glance(placed.request.id)
            if found.verdict is not Cache.NOT_REPORTED:
                judged += 1
            if found.verdict not in (Cache.LOST, Cache.PARTIAL):
                continue
            lost += found.verdict is Cache.LOST
            partial += found.verdict is Cache.PARTIAL
            rewritten += found.rewritten or 0
            if placed.turn is not None and (not turns or turns[-1] != placed.turn):
                turns.append(placed.turn)
        return Sums(len(self.order.requests), judged, lost, partial, rewritten, tuple(turns))
