"""What can be done at the rows of the detail: unfold, open a card, go to the next change."""

from __future__ import annotations

from ctx_inspect.app.panes.budget import BudgetTab
from ctx_inspect.app.panes.diff import DiffTab
from ctx_inspect.app.panes.wishes import Story
from ctx_inspect.widgets.lines import LinesView
from textual.containers import Vertical

LOW = 16
"""Below so many lines headings and what did not change are left out."""


class Rows(Vertical):
    """The part of the detail's pane that acts on its selected row."""

    lines: LinesView
    diff: DiffTab
    budget: BudgetTab
    tab: str
    turn: int | None

    def redraw(self, keep: bool = True) -> None:
        """Lay everything out anew."""
        raise NotImplementedError

    def is_low(self) -> bool:
        """Tell whether there are few lines."""
        return 0 < self.lines.size.height < LOW

    def unfold(self) -> bool:
        """Show what is folded at the selected row; return whether there was anything."""
        key = self.lines.selected
        if self.tab == "diff" and self.diff.fold(key, on=True):
            self.redraw()
            return True
        if self.tab != "budget" or not (isinstance(key, tuple) and len(key) == 2 and key[1] == "more"):
            return False
        self.budget.opened |= {key[0]}
        self.redraw()
        return True

    def fold(self) -> bool:
        """Fold what is unfolded at the selected row, or close its card; return whether there was anything."""
        if self.tab != "diff" or not (self.diff.close() or self.diff.fold(self.lines.selected, on=False)):
            return False
        self.redraw()
        return True

    def open(self) -> bool:
        """Open what is at the selected row: a fold, or an item's card; return whether there was anything."""
        if self.unfold():
            return True
        if self.tab != "diff":
            return False
        was, wanted = self.diff.opened, self.diff.toggle(self.lines.selected)
        if wanted is None and was is None:
            return self.fold()
        self.redraw()
        if wanted is not None:
            self.post_message(Story(wanted))
        return True

    def close_card(self) -> bool:
        """Close the open card; return whether one was open."""
        if self.tab != "diff" or not self.diff.close():
            return False
        self.redraw()
        return True

    def fold_all(self) -> bool:
        """Unfold all unchanged items, or fold them; return whether this tab has any."""
        if self.tab != "diff":
            return False
        self.diff.fold_all()
        self.redraw()
        return True

    def toggle_sides(self) -> bool:
        """Show both sides beside each other, or names once; return whether there is room for both."""
        from ctx_inspect.core.views.diff import SIDES_FROM

        wide = self.lines.size.width >= SIDES_FROM
        now = wide and (not self.is_low() if self.diff.sides is None else self.diff.sides)
        self.diff.sides = not now
        self.redraw()
        return wide

    def next_change(self, by: int) -> bool:
        """Put the cursor on the next change, or the one before; return whether there is one."""
        keys = self.diff.changes(self.turn) if self.tab == "diff" else ()
        lines = self.lines.lines()
        if not keys or lines is None:
            return False
        at = self.lines.cursor
        places = [p for p in (lines.find(k) for k in keys) if p is not None]
        place = next((p for p in (places if by > 0 else places[::-1]) if (p > at if by > 0 else -1 < p < at)), None)
        if place is None:
            return False
        self.lines.select(lines.key(place), quiet=True)
        return True
