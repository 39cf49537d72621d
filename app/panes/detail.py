"""The detail's controller: one tab of the selected turn at a time, and texts only while they are revealed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.panes.budget import BudgetTab
from ctx_inspect.app.panes.diff import DiffTab
from ctx_inspect.app.panes.rows import Rows
from ctx_inspect.app.panes.text import TextTab
from ctx_inspect.app.panes.wishes import Compare, Countable, Entered, TabChosen, Texts, Uncounted, Wanted
from ctx_inspect.app.snapshot import Snapshot, standing
from ctx_inspect.core.model import Ref, Turn
from ctx_inspect.core.shares import Shares
from ctx_inspect.core.text.show import joined, said
from ctx_inspect.core.views.budget import NAME_LEAST, budget_sheet
from ctx_inspect.core.views.chart import chart_lines
from ctx_inspect.core.views.layout import Lines, fit, lay, line_width, pad, rule
from ctx_inspect.core.views.partial import reading_sheet
from ctx_inspect.core.views.sheet import Sheet, Span, Tone
from ctx_inspect.core.views.steps import steps_sheet
from ctx_inspect.core.views.text import Found
from ctx_inspect.widgets.band import Band, Drawing, Zone
from ctx_inspect.widgets.lines import LinesView
from textual import events, on
from textual.app import ComposeResult
from textual.timer import Timer

if TYPE_CHECKING:
    from ctx_inspect.app.study import Seen, Study
    from ctx_inspect.core.views.words import TextChange

TABS = {"diff": (1, "Diff"), "budget": (2, "Budget"), "cache": (3, "Cache"), "steps": (5, "Steps"), "text": (6, "Text")}
LEAST = {"diff": 10, "budget": NAME_LEAST, "cache": 14, "steps": 30, "text": 8}
COMPARED = frozenset({"diff", "cache"})
"""Tabs that show a comparison."""

CHART_HEIGHT = 13

LATE = 0.15
"""Seconds that a turn's tab may stay after another turn was chosen, until it is said that it is being compared."""


class DetailPane(Rows):
    """Shows a tab of the selected turn."""

    DEFAULT_CSS = """
    DetailPane { width: 1fr; height: 1fr; }
    DetailPane #chart { height: 13; }
    """

    def __init__(self) -> None:
        """Make an empty pane on the Diff tab."""
        super().__init__(id="detail")
        self.title, self.lines = Band(self._title), LinesView(id="sheet")
        self.chart = Band(self._chart, id="chart")
        self.snapshot: Snapshot | None = None
        self.turn: int | None = None
        self.tab = "diff"
        self.diff, self.text = DiffTab(), TextTab()
        self.budget = BudgetTab(
            lambda id_, count: self.post_message(Uncounted(id_, count)), lambda request: self.post_message(Countable(request))
        )
        self._low = False
        self._late: Timer | None = None

    def compose(self) -> ComposeResult:
        """Tabs, the sheet, and the chart where there is room."""
        yield self.title
        yield self.lines
        yield self.chart

    @property
    def revealed(self) -> bool:
        """Whether texts are on the screen."""
        return self.text.revealed or self.diff.revealed

    @property
    def covers(self) -> bool:
        """Whether a revealed text holds a key that is still covered."""
        return self.text.covers or self.diff.covers

    def _title(self, width: int) -> Drawing:
        focused = self.lines.has_focus
        left: list[Span] = []
        zones: list[Zone] = []
        for name, (number, word) in TABS.items():
            if left:
                left.append(pad(2))
            start = 2 + line_width(left)
            on_ = name == self.tab
            left += [Span(joined(number, " "), Tone.DIM), Span(said(word), Tone.FOCUS if on_ and focused else Tone.TEXT, strong=on_)]
            zones.append(Zone(0, start, 2 + line_width(left), name))
        numbered = self.turn is not None and not (self.snapshot is not None and self.snapshot.ledger.partial)
        words = self.diff.heading(self.turn) if self.tab == "diff" else joined("turn ", self.turn or 0)
        right = (Span(words, Tone.DIM),) if numbered else ()
        return Drawing((fit(rule(left, right, width, Tone.FOCUS if focused else Tone.DIM), width),), tuple(zones))

    def _chart(self, width: int) -> Drawing:
        if self.snapshot is None:
            return Drawing(())
        return Drawing(tuple(chart_lines(self.snapshot.chart, width, CHART_HEIGHT, self.turn)))

    def show(self, snapshot: Snapshot | None, turn: int | None) -> None:
        """Show a turn; texts of another turn are forgotten."""
        if snapshot is not None and snapshot is self.snapshot and turn == self.turn:
            return
        if turn != self.turn or snapshot is None or self.snapshot is None or snapshot.ledger.key != self.snapshot.ledger.key:
            self.forget()
            self.diff.close()
        if snapshot is None:
            self.budget.exact = self.budget.shown = None
            self.diff.begin(None, fresh=True)
        if self.snapshot is not snapshot:
            self.budget.clear()
            if self.snapshot is not None and snapshot is not None:
                self.diff.outdate(standing(self.snapshot, snapshot))
        moved = turn != self.turn
        before = self._row_turn()
        self.snapshot, self.turn = snapshot, turn
        self.show_turn(keep=not moved)
        if self.text.revealed and self._row_turn() is not before:
            self.text.outdate()
            self._read_again()

    def _row_turn(self) -> Turn | None:
        row = self.snapshot.row(self.turn) if self.snapshot is not None and self.turn is not None else None
        return row.turn if row is not None else None

    def _read_again(self) -> None:
        row = self.snapshot.row(self.turn) if self.snapshot is not None and self.turn is not None else None
        if self.text.stale and self.snapshot is not None and row is not None:
            self.post_message(Wanted(self.text.ask(self.snapshot, row), self.text.asked))

    def study(self, study: Study | None, *, fresh: bool) -> None:
        """Take where comparisons come from; the one on screen is asked for anew."""
        self.diff.begin(study, fresh=fresh)
        self.show_turn()

    def show_turn(self, keep: bool = True) -> None:
        """Lay the turn out, or ask for its comparison first: what was shown stays until it is there, or takes long."""
        if self.tab in COMPARED and self._ask():
            self.title.show(self._title)
            self.chart.show(self._chart)
            self._kept = keep
            if self._late is None:
                self._late = self.set_timer(LATE, self._show_late)
            return
        self.redraw(keep)

    _kept = True

    def _show_late(self) -> None:
        self._late = None
        if self.diff.seen(self.turn) is None:
            self.redraw(self._kept)

    def _ask(self) -> bool:
        """Ask for the comparison of the turn on screen, where it is not there; return whether it is on its way."""
        study = self.diff.study
        if self.turn is None or self._row_turn() is None or study is None or self.diff.seen(self.turn) is not None:
            return False
        if study.snapshot is self.snapshot:  # else that of this reading is not ready: it is asked as soon as it comes
            self.post_message(Compare(self.turn, self.diff.against(self.turn)))
        return True

    def compared(self, study: Study, found: Seen) -> None:
        """Take a comparison."""
        if self.diff.take(study, found) and found.turn == self.turn and self.tab in COMPARED and self.diff.seen(self.turn) is found:
            self.redraw(self._kept)
            self._kept = True

    def choose(self, tab: str) -> None:
        """Show another tab; leaving one forgets its texts."""
        if tab == self.tab:
            return
        self.forget()
        self.tab, self.budget.shown = tab, None
        self.show_turn(keep=False)

    def redraw(self, keep: bool = True) -> None:
        """Lay everything out anew."""
        self.title.show(self._title)
        self.chart.show(self._chart)
        self.lines.show(self._lay, keep)

    def _lay(self, width: int) -> Lines:
        return lay(self.sheet(width), width, gap=1, least=LEAST[self.tab])

    def on_resize(self, event: events.Resize) -> None:
        """Where there are few lines less is said."""
        if self.is_low() != self._low:
            self.redraw()

    def sheet(self, width: int = 100, *, hidden: bool = False) -> Sheet:
        """Return the tab as a sheet.

        Args:
            width: Cells that it will be laid out to.
            hidden: Without any revealed text.
        """
        snapshot, n = self.snapshot, self.turn
        row = snapshot.row(n) if snapshot is not None and n is not None else None
        if snapshot is None or row is None:
            return Sheet((), ())
        if not snapshot.whole:
            return reading_sheet()  # all tabs look into message lists, which would be made here
        ascii_only = self.title.look.ascii_only
        match self.tab:
            case "diff" | "cache" if snapshot.ledger.partial:
                return reading_sheet()
            case "diff":
                self._low = self.is_low()
                return self.diff.sheet(n, width, low=self._low, ascii_only=ascii_only, hidden=hidden)
            case "cache":
                return self.diff.cache_sheet(n)
            case "budget":
                return reading_sheet() if snapshot.ledger.partial else budget_sheet(self.budget.view(snapshot, row, ascii_only), width)
            case "steps":
                newest = row.turn.n == len(snapshot.ledger.turns)
                return steps_sheet(row, snapshot.ledger.other.get(row.turn.n, ()), newest=newest, live=snapshot.view.live)
            case _:
                return self.text.sheet(snapshot, row, hidden=hidden)

    def take_shares(self, id_: str, parts: Shares) -> None:
        """Take what was counted in a thread."""
        self.budget.take(id_, parts)
        self.redraw()

    def take_exact(self, exact: Exact) -> None:
        """Take what was counted by a vocabulary."""
        self.budget.exact = exact
        self.redraw()

    # --- texts -----------------------------------------------------------------------------------------------

    def reveal(self) -> str | None:
        """Ask for texts; then show keys too, where there are any; then hide all of it again.

        Returns:
            Why nothing can be shown, in our own words.
        """
        row = self.snapshot.row(self.turn) if self.snapshot is not None and self.turn is not None else None
        if self.covers:
            self.diff.uncovered = self.text.uncovered = True
        elif self.revealed or row is None or self.snapshot is None:
            self.forget()
        elif self.tab == "text":
            refs = self.text.ask(self.snapshot, row)
            self.redraw()
            self.post_message(Wanted(refs, self.text.asked))
            return None
        else:
            found = self.diff.text_of(self.turn, self.lines.selected)
            if found is None:
                return "the store keeps no text of what changed here"
            key, (before, after) = found
            asked = self.diff.reveal(key)
            self.redraw()
            self.lines.select(key, quiet=True)
            self.post_message(Texts(before, after, asked))
            return None
        self.redraw()
        return None

    def take(self, texts: Mapping[Ref, Found], done: bool) -> None:
        """Take texts that were read; they are dropped where they are not wanted any more."""
        if self.text.take(texts, done):
            self.redraw()
            self._read_again()

    def take_change(self, asked: int, change: TextChange) -> None:
        """Take what changed in a text; it is dropped where it is not wanted any more."""
        if self.diff.take_change(asked, change):
            self.redraw()

    def forget(self) -> None:
        """Forget all texts."""
        self.text.forget()
        if self.diff.revealed:
            self.diff.close()

    def picture(self) -> Sheet:
        """Return what a picture or copy of this pane may hold: never a revealed text."""
        return self.sheet(hidden=True)

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.post_message(Entered())

    @on(Band.Clicked)
    def _clicked(self, event: Band.Clicked) -> None:
        event.stop()
        self.post_message(TabChosen(event.name))

    @on(LinesView.Selected)
    def _selected(self, event: LinesView.Selected) -> None:
        event.stop()

    def on_descendant_focus(self) -> None:
        """Show that keys go here."""
        self.title.show(self._title)

    def on_descendant_blur(self) -> None:
        """Leaving the pane forgets its texts."""
        if self.revealed:
            self.forget()
            self.redraw()
        self.title.show(self._title)
