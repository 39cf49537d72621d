"""When to look: the one place that decides how often a source is asked.

Pure: it holds no clock and touches no file, so the rules are tested with made-up times (all in seconds).
"""

from __future__ import annotations

HOT_FOR = 5.0
"""After a change a source is looked at often for so long: agents write in bursts."""

HOT_GAP = 0.05
"""20 Hz: also the least time between two looks, so a burst of writes becomes at most 20 events a second."""

WARM_FOR = 1.0
"""So long after a notification looks go on at 20 Hz until one of them finds what it told of: a source with thousands of
files looks at a part of them at a time."""

WATCHED_HOT_GAP = 0.25
"""The same where notifications tell of each write, so that looks only complete them."""

IDLE_GAP = 1.0
"""A few ``stat`` once a second find what no notification told (network folders, memory-mapped writes)."""

WATCHED_GAP = 5.0
"""The same for a folder whose notifications work: there a look costs one ``stat`` per file."""

QUIET = {False: 0.02, True: 0.004}
"""After a notification nothing is read for so long (a folder: a shorter time), unless notifications go on for
``HOT_GAP``. A database that is read in the moment in which its writer closes it keeps side files that the
writer would have removed, and most writers that close do so right after their last row."""

SETTLE = 0.06
"""After a notification one more look is due so much later: file times have a grain of 4–10 ms, and a writer's
last notification may come just before what it tells of can be read."""

_COST_MOST = 0.1
"""However dear a look is, it is made every 40 s."""
_IDLE_SHARE = 1 / 400
_HOT_SHARE = 1 / 20
_HINT_SHARE = 1 / 4

DISCOVER_GAP = 0.5
DISCOVER_EMPTY_GAP = 0.25
"""Seconds between two looks for new stores (0.2 ms each). A first turn is to be on the screen within a second of its row,
and a new store is listed and opened before; where there is no store yet, somebody is waiting for it."""


def discover_gap(costs: tuple[float, float], *, empty: bool) -> float:
    """Return the seconds until the next look for new stores.

    Args:
        costs: Processor seconds of the last look and of the one before it (0 where there was none). The smaller one counts:
            a look that imports the readers of a kind of store, once, is no reason to look away for ten seconds.
        empty: Whether there is no store yet.
    """
    return max(DISCOVER_EMPTY_GAP if empty else DISCOVER_GAP, min(costs) / _IDLE_SHARE)


class Pace:
    """Follows the looks at one source and says when the next one is due."""

    def __init__(self, now: float, *, folder: bool = False) -> None:
        """Begin; the first look is due at once.

        Args:
            now: The time.
            folder: Whether a look costs one ``stat`` per file (else a handful).
        """
        self.folder = folder
        self._last = now
        self._cost = 0.0
        self._hot_until = now
        self._hints: tuple[float, float] | None = None  # the first and the last since the look before
        self._last_hint = now - HOT_GAP
        self._settle_at: float | None = None
        self._warm_until = now
        self._deaf = False  # a change came without a notification: they do not work here, whatever the system says
        self._first = True

    def hint(self, now: float) -> None:
        """Note that a notification came."""
        self._hints = (self._hints[0] if self._hints else now, now)
        self._last_hint = now
        self._settle_at = now + SETTLE
        self._deaf = False

    def looked(self, began: float, ended: float, *, cost: float, changed: bool) -> None:
        """Note a look.

        Args:
            began: When.
            ended: When.
            cost: Processor time it took: waiting for a lock is long and costs nothing.
            changed: Whether it found something new.
        """
        if changed:
            self._hot_until = ended + HOT_FOR
            self._warm_until = ended
            if self._hints is None and self._settle_at is None and not self._first:
                self._deaf = True
        elif self._hints is not None:
            self._warm_until = self._hints[1] + WARM_FOR
        self._first = False
        self._last, self._cost = ended, min(cost, _COST_MOST)
        if self._hints is not None and self._hints[1] <= began:
            self._hints = None
        if self._settle_at is not None and self._settle_at <= began:
            self._settle_at = None

    def calm(self, asked: float) -> float:
        """Return when a read that was asked for may begin: in a moment of quiet, or ``HOT_GAP`` later at most."""
        return asked if self.folder else max(asked, min(self._last_hint + QUIET[False], asked + HOT_GAP))

    def due(self, *, watched: bool) -> float:
        """Return when the next look is due.

        Args:
            watched: Whether notifications work for all of this source.
        """
        if self._first:
            return self._last
        told = watched and not self._deaf
        if self._last < max(self._hot_until, self._warm_until):
            slow = told and self._last >= self._warm_until
            due = self._last + max(WATCHED_HOT_GAP if slow else HOT_GAP, self._cost / _HOT_SHARE)
        else:
            due = self._last + max(WATCHED_GAP if told and self.folder else IDLE_GAP, self._cost / _IDLE_SHARE)
        least = self._last + max(HOT_GAP, self._cost / _HINT_SHARE)
        if self._hints is not None:  # not earlier either: a look that is due anyway waits for the quiet too
            first, last = self._hints
            return max(min(last + QUIET[self.folder], first + HOT_GAP), least)
        if self._settle_at is not None:
            due = min(due, max(self._settle_at, least))
        return due
