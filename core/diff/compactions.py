"""Compactions of a session: which one it is, what it saved, and whether they come in a loop. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ctx_inspect.core.compacted import measured
from ctx_inspect.core.diff.report import Compacted
from ctx_inspect.core.model import Ledger, Mark, MarkKind, Unavailable, Why, value_of

NOT_COMPARED = Unavailable(Why.NOT_YET, "the two message lists were not compared")

LOOP_OF = 3
"""So many compactions in a row, with fewer than :data:`TURNS_BETWEEN` user turns between each, are a loop."""

TURNS_BETWEEN = 2

SAVES = 0.1
"""Two in a row that save less than this share each are a loop too."""


def succeeded(mark: Mark) -> bool:
    """Tell whether an event is a compaction that succeeded; a failed or aborted one rewrites nothing."""
    return mark.kind is MarkKind.COMPACTION and mark.status == "succeeded"


def newest(between: Sequence[Mark]) -> Mark | None:
    """Return the newest succeeded compaction among some events."""
    return next((m for m in reversed(between) if succeeded(m)), None)


class Compactions:
    """The succeeded compactions of a session, in order; inherited ones count: the session's history holds them."""

    def __init__(self, ledger: Ledger) -> None:
        """Find them."""
        self._ledger = ledger
        self._marks = [m for m in ledger.marks if succeeded(m)]
        self._nth = {id(m): n for n, m in enumerate(self._marks)}

    def of(self, mark: Mark) -> Compacted | None:
        """Return what a compaction did, its messages not counted yet; ``None`` for one that did not succeed.

        Args:
            mark: One of the ledger's own events.
        """
        place = self._nth.get(id(mark))
        if place is None:
            return None
        known = measured(mark, self._ledger)
        return Compacted(known.before, known.then, NOT_COMPARED, NOT_COMPARED, place + 1, self._loops(place))

    def _loops(self, place: int) -> bool:
        """Tell whether a compaction ends a loop: those after it are not looked at."""
        near = self._marks[max(0, place + 1 - LOOP_OF) : place + 1]
        turns = [m.turn or 0 for m in near]  # turns that were open: the difference is how many prompts came between
        if len(near) == LOOP_OF and all(b - a < TURNS_BETWEEN for a, b in pairwise(turns)):
            return True
        return len(near) > 1 and all(self._saved_little(m) for m in near[-2:])

    def _saved_little(self, mark: Mark) -> bool:
        known = measured(mark, self._ledger)
        before, after = value_of(known.before), value_of(known.then)
        return before is not None and after is not None and before > 0 and (before - after) / before < SAVES
