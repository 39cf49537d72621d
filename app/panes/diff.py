"""The controller of what changed: which comparison is on the Diff and Cache tabs, what of it is unfolded, opened and revealed.

The engine and its views are imported when the first comparison is there, which the first frame need not wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctx_inspect.core.model import Category, Ref
from ctx_inspect.core.text.show import joined, own, said
from ctx_inspect.core.views.glyphs import MARKED
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ctx_inspect.app.study import Seen, Study
    from ctx_inspect.core.cache.model import CacheVerdict
    from ctx_inspect.core.diff.history import ItemHistory
    from ctx_inspect.core.diff.report import Change
    from ctx_inspect.core.model import Request, Shown
    from ctx_inspect.core.views.cache import Sums
    from ctx_inspect.core.views.diff import ItemKey
    from ctx_inspect.core.views.words import TextChange

KEPT = 64
"""Comparisons that are kept: going back and forth costs nothing."""

COMPARING = own("  comparing…")


class DiffTab:
    """Keeps the comparisons of a session and what is shown of the one on screen.

    Attributes:
        study: Where they come from; ``None`` = nothing is compared yet.
        sums: What the session's caches came to; ``None``: on its way.
        marked: The turn that a person marked as the older side.
        sides: Both sides beside each other; ``None`` = where there is room.
        asked: How often a text was asked for.
        uncovered: Keys in a revealed text are shown too.
    """

    def __init__(self) -> None:
        """Make an empty tab."""
        self.study: Study | None = None
        self.sums: Sums | None = None
        self.marked: int | None = None
        self.sides: bool | None = None
        self._seen: dict[tuple[int, int | None], Seen] = {}
        self._unfolded: frozenset[Category | None] = frozenset()
        self.opened: ItemKey | None = None
        self._story: ItemHistory | None = None
        self._revealed = False
        self._change: TextChange | None = None
        self.uncovered = False
        self.asked = 0
        self.width = 0
        """Cells of the pane when it was laid out last."""

    # --- comparisons -----------------------------------------------------------------------------------------

    def begin(self, study: Study | None, *, fresh: bool) -> None:
        """Compare what was read; ``fresh``: it is another session."""
        self.study = study
        self._seen = {}
        if fresh:
            self.marked, self.sums, self._unfolded = None, None, frozenset()
            self.close()

    def outdate(self, turns: int) -> None:
        """Forget what is known of turns after so many in front: their numbers mean other turns now, or none; so may the mark's."""
        self._seen = {key: found for key, found in self._seen.items() if key[0] <= turns and (key[1] or 0) <= turns}
        if self.marked is not None and self.marked > turns:
            self.marked = None
            self.close()

    def against(self, turn: int) -> int | None:
        """Return the turn that a turn is compared with, where one was marked."""
        return self.marked if self.marked != turn else None

    def seen(self, turn: int | None) -> Seen | None:
        """Return what is known of a turn; ``None``: it is not compared yet."""
        return None if turn is None else self._seen.get((turn, self.against(turn)))

    def take(self, study: Study, found: Seen) -> bool:
        """Take a comparison; return whether it is of the session as it is on screen."""
        if study is not self.study:
            return False
        while len(self._seen) >= KEPT:
            self._seen.pop(next(iter(self._seen)))
        self._seen[found.turn, found.against] = found
        return True

    def mark(self, turn: int) -> bool:
        """Make a turn the older side, or not any more; return whether it is one now."""
        self.marked = None if self.marked == turn else turn
        self.close()
        return self.marked is not None

    def heading(self, turn: int | None) -> Shown:
        """Return the two turns: ``46 → 47``, ``12 ⇢ 47``."""
        if turn is None:
            return NOTHING
        marked, seen = self.against(turn), self.seen(turn)
        if marked is not None:
            return joined(min(marked, turn), " ", MARKED, " ", max(marked, turn))
        before = seen.report.before if seen is not None else None
        if before is None:
            return joined("turn ", turn)
        was = joined(before.turn) if before.turn is not None else said(before.state or "earlier")
        return joined(was, " → ", turn)

    # --- sheets ----------------------------------------------------------------------------------------------

    def sheet(self, turn: int | None, width: int, *, low: bool, ascii_only: bool, hidden: bool = False) -> Sheet:
        """Return the Diff tab.

        Args:
            turn: The turn on screen.
            width: Cells that it is laid out to.
            low: There are few lines.
            ascii_only: Draw what ASCII can.
            hidden: Without any text.
        """
        seen, study = self.seen(turn), self.study
        if seen is None or study is None:
            return waiting()
        from ctx_inspect.core.views.diff import DiffView, diff_sheet

        self.width = width
        under = self._under(seen, hidden=hidden)
        view = DiffView(seen.report, seen.counts.item, self._unfolded, self.sides, low, self.opened, under, ascii_only)
        return diff_sheet(view, width)

    def cache_sheet(self, turn: int | None) -> Sheet:
        """Return the Cache tab."""
        seen, study = self.seen(turn), self.study
        if seen is None or study is None or turn is None:
            return waiting()
        from ctx_inspect.core.views.cache import CacheView, cache_sheet

        steps: tuple[tuple[Request, CacheVerdict], ...] = seen.steps
        info = study.ledger.info
        return cache_sheet(CacheView(turn, steps, self.sums, study.snapshot.sent, info.project or info.directory))

    def _under(self, seen: Seen, *, hidden: bool) -> tuple[Row, ...]:
        if self.opened is None:
            return ()
        from ctx_inspect.core.views.card import card_rows
        from ctx_inspect.core.views.diff import change_of
        from ctx_inspect.core.views.words import words_rows

        if self._revealed and not hidden:
            return tuple(words_rows(self._change, uncovered=self.uncovered))
        change = change_of(seen.report, self.opened)
        return card_rows(self._story, change, seen.counts.item, readable=bool(_refs(change)))

    # --- folding and opening ---------------------------------------------------------------------------------

    def fold(self, key: Hashable, *, on: bool) -> bool:
        """Fold or unfold the unchanged items at a row; return whether anything changed."""
        from ctx_inspect.core.views.diff import FoldKey, ItemKey

        if not isinstance(key, FoldKey | ItemKey) or (isinstance(key, ItemKey) and (on or key.changed)):
            return False
        if (key.category in self._unfolded) == on:
            return False
        self._unfolded = self._unfolded ^ {key.category}
        return True

    def fold_all(self) -> None:
        """Unfold everything, or fold it again."""
        self._unfolded = frozenset() if self._unfolded else frozenset((*Category, None))

    def toggle(self, key: Hashable) -> ItemKey | None:
        """Open an item's card or close it; return whose story is wanted now."""
        from ctx_inspect.core.views.diff import ItemKey

        if not isinstance(key, ItemKey) or key.category is Category.CONVERSATION or key == self.opened:
            self.close()
            return None
        self.close()
        self.opened = key
        return key

    def close(self) -> bool:
        """Close the card, and forget any text; return whether one was open."""
        was, self.opened, self._story = self.opened is not None, None, None
        self.forget()
        return was

    def take_story(self, key: ItemKey, story: ItemHistory) -> bool:
        """Take an item's story; return whether it is wanted."""
        if key != self.opened:
            return False
        self._story = story
        return True

    def changes(self, turn: int | None) -> tuple[ItemKey, ...]:
        """Return the keys of the rows that are changes."""
        seen = self.seen(turn)
        if seen is None:
            return ()
        from ctx_inspect.core.views.diff import changed_keys

        return changed_keys(seen.report)

    # --- texts -----------------------------------------------------------------------------------------------

    @property
    def revealed(self) -> bool:
        """Whether a text is on the screen."""
        return self._revealed

    @property
    def covers(self) -> bool:
        """Whether the text on screen holds a key that is still covered."""
        return self._revealed and not self.uncovered and self._change is not None and self._change.uncovered is not None

    def text_of(self, turn: int | None, key: Hashable) -> tuple[ItemKey, tuple[Ref | None, Ref | None]] | None:
        """Return the change whose text can be shown at a row (without one: the first that has any), and where its texts lie."""
        seen = self.seen(turn)
        if seen is None:
            return None
        from ctx_inspect.core.views.diff import ItemKey, change_of

        if key is None:
            wanted = self.changes(turn)
        else:  # a row that was chosen and is no change has no text of its own: nothing else is shown in its place
            wanted = [key] if isinstance(key, ItemKey) and change_of(seen.report, key) is not None else []
        for one in wanted:
            if refs := _refs(change_of(seen.report, one)):
                return one, refs
        return None

    def reveal(self, key: ItemKey) -> int:
        """Begin to wait for the comparison of a change's texts; return the number of the wish."""
        self.close()
        self.opened, self._revealed = key, True
        self.asked += 1
        return self.asked

    def take_change(self, asked: int, change: TextChange) -> bool:
        """Take what changed in a text; it is dropped where it is not wanted any more, which is returned."""
        if not self._revealed or asked != self.asked:
            return False
        self._change = change
        return True

    def forget(self) -> None:
        """Forget any text."""
        self._revealed, self._change, self.uncovered = False, None, False


def _refs(change: Change | None) -> tuple[Ref | None, Ref | None] | None:
    """Return where the texts of both sides of a change lie; ``None`` where one of them is not kept."""
    if change is None or (change.before is None and change.after is None) or not change.k:
        return None
    sides = [None if i is None else i.ref for i in (change.before, change.after)]
    if any(ref is None for item, ref in zip((change.before, change.after), sides, strict=True) if item is not None):
        return None
    return sides[0], sides[1]


def waiting() -> Sheet:
    """Return what stands there until a comparison is ready."""
    return Sheet((Column(NOTHING, 0),), (Row((Cell((Span(COMPARING, Tone.DIM),)),), RowKind.NOTE),))
