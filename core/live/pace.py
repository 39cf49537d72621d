"""When to look: the one place that decides how often a source is asked.

Pure: it holds no clock and touches no file, so the rules are tested with made-up times (all in seconds).
"""

from __future__ import annotations

HOT_FOR = 5.0
"""After a change a source is looked at often for so long: agents write in bursts."""

HOT_GAP = 0.05
"""20 Hz: also the least time between two looks, so a burst of writes becomes at most 20 events a second."""

IDLE_GAP = 1.0
"""A few ``stat`` once a second find what no notification told (network folders, memory-mapped writes)."""

WATCHED_GAP = 5.0
"""The same for a folder whose notifications work: there a look costs one ``stat`` per file."""

SETTLE = 0.06
"""After a notification one more look is due so much later: file times have a grain of 4–10 ms, and a writer's
last notification may come just before what it tells of can be read."""

_IDLE_SHARE = 1 / 400
_HOT_SHARE = 1 / 20
_HINT_SHARE = 1 / 4


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
        self._hinted_at: float | None = None
        self._settle_at: float | None = None
        self._first = True

    def hint(self, now: float) -> None:
        """Note that a notification came."""
        if self._hinted_at is None:
            self._hinted_at = now
        self._settle_at = now + SETTLE

    def looked(self, began: float, ended: float, *, changed: bool) -> None:
        """Note a look and whether it found something new."""
        self._first = False
        self._last, self._cost = ended, ended - began
        if changed:
            self._hot_until = ended + HOT_FOR
        if self._hinted_at is not None and self._hinted_at <= began:
            self._hinted_at = None
        if self._settle_at is not None and self._settle_at <= began:
            self._settle_at = None

    def due(self, *, watched: bool) -> float:
        """Return when the next look is due.

        Args:
            watched: Whether notifications work for all of this source.
        """
        if self._first:
            return self._last
        hint_gap = max(HOT_GAP, self._cost / _HINT_SHARE)
        if self._last < self._hot_until:
            due = self._last + max(HOT_GAP, self._cost / _HOT_SHARE)
        else:
            gap = WATCHED_GAP if watched and self.folder else IDLE_GAP
            due = self._last + max(gap, self._cost / _IDLE_SHARE)
        if self._hinted_at is not None:
            due = min(due, max(self._hinted_at, self._last + hint_gap))
        if self._settle_at is not None:
            due = min(due, max(self._settle_at, self._last + hint_gap))
        return due
