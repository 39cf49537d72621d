"""The detail's controller: one tab of the selected turn at a time, and texts only while they are revealed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.snapshot import Snapshot, count_by, last_request
from ctx_inspect.core.budget import request_window
from ctx_inspect.core.model import Category, Context, Ref, Request, Turn
from ctx_inspect.core.shares import Count, Shares, shares
from ctx_inspect.core.text.show import joined, said
from ctx_inspect.core.timeline import TurnRow
from ctx_inspect.core.views.budget import NAME_LEAST, BudgetView, budget_sheet
from ctx_inspect.core.views.chart import chart_lines
from ctx_inspect.core.views.layout import Lines, fit, lay, line_width, pad, rule
from ctx_inspect.core.views.partial import reading_sheet
from ctx_inspect.core.views.sheet import Sheet, Span, Tone
from ctx_inspect.core.views.steps import steps_sheet
from ctx_inspect.core.views.text import Found, pieces_of, text_sheet
from ctx_inspect.core.weights import Scale
from ctx_inspect.widgets.band import Band, Drawing, Zone
from ctx_inspect.widgets.lines import LinesView
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

TABS = {"budget": (2, "Budget"), "steps": (5, "Steps"), "text": (6, "Text")}
LEAST = {"budget": NAME_LEAST, "steps": 30, "text": 8}
CHART_HEIGHT = 13
AT_ONCE = 5_000
"""Messages that are counted between two frames; longer lists are counted in a thread."""


class DetailPane(Vertical):
    """Shows a tab of the selected turn."""

    DEFAULT_CSS = """
    DetailPane { width: 1fr; height: 1fr; }
    DetailPane #chart { height: 13; }
    """

    class Wanted(Message):
        """Texts are to be read.

        Attributes:
            refs: Where they lie.
            asked: Handed back with the texts, so that those of an earlier wish are told from these.
        """

        def __init__(self, refs: tuple[Ref, ...], asked: int) -> None:
            """Make the message."""
            super().__init__()
            self.refs, self.asked = refs, asked

    class Uncounted(Message):
        """A message list is too long to be counted between two frames.

        Attributes:
            id: Of the request.
            count: Counts it; takes long.
        """

        def __init__(self, id_: str, count: Callable[[], Shares]) -> None:
            """Make the message."""
            super().__init__()
            self.id, self.count = id_, count

    class Countable(Message):
        """A request is shown that could be counted by a vocabulary.

        Attributes:
            request: Which.
        """

        def __init__(self, request: Request) -> None:
            """Make the message."""
            super().__init__()
            self.request = request

    class TabChosen(Message):
        """A tab was clicked.

        Attributes:
            name: Its name.
        """

        def __init__(self, name: str) -> None:
            """Make the message."""
            super().__init__()
            self.name = name

    def __init__(self) -> None:
        """Make an empty pane on the Budget tab."""
        super().__init__(id="detail")
        self.title, self.lines = Band(self._title), LinesView(id="sheet")
        self.chart = Band(self._chart, id="chart")
        self.snapshot: Snapshot | None = None
        self.turn: int | None = None
        self.tab = "budget"
        self.opened: frozenset[Category] = frozenset()
        self._revealed: dict[Ref, Found] | None = None
        self.uncovered = False
        self._waiting = self._stale = False
        self.asked = 0
        """How often texts were asked for."""
        self._counted: dict[str, Shares] = {}
        self.counting: str | None = None
        """Id of the request that is counted in a thread."""
        self.exact: Exact | None = None
        """The request that was counted last by a vocabulary."""
        self.shown: Request | None = None
        """The request that the Budget tab shows."""

    def compose(self) -> ComposeResult:
        """Tabs, the sheet, and the chart where there is room."""
        yield self.title
        yield self.lines
        yield self.chart

    @property
    def revealed(self) -> bool:
        """Whether texts are on the screen."""
        return self._revealed is not None

    @property
    def covers(self) -> bool:
        """Whether a revealed text holds a key that is still covered."""
        return self._revealed is not None and not self.uncovered and any(t.keys for t in self._revealed.values())

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
        right = (Span(joined("turn ", self.turn or 0), Tone.DIM),) if numbered else ()
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
        if snapshot is None:
            self.exact = self.shown = None
        if self.snapshot is not snapshot:
            self._counted = {}
        moved = turn != self.turn
        before = self._row_turn()
        self.snapshot, self.turn = snapshot, turn
        self.redraw(keep=not moved)
        if self.revealed and self._row_turn() is not before:
            self._read_texts()  # another state of the store may say otherwise, or say again what was gone

    def _row_turn(self) -> Turn | None:
        row = self.snapshot.row(self.turn) if self.snapshot is not None and self.turn is not None else None
        return row.turn if row is not None else None

    def _read_texts(self) -> None:
        """Ask for the texts of the turn; while some are still to come, once they are here."""
        if self._waiting:
            self._stale = True
            return
        turn = self._row_turn()
        if turn is None or self.snapshot is None:
            return
        self._waiting, self._stale = True, False
        pieces = pieces_of(self.snapshot.ledger, turn)
        self.asked += 1
        self.post_message(self.Wanted(tuple(p.ref for p in pieces if p.ref is not None and p.who != "media"), self.asked))

    def choose(self, tab: str) -> None:
        """Show another tab; leaving Text forgets its texts."""
        if tab == self.tab:
            return
        self.forget()
        self.tab, self.shown = tab, None
        self.redraw(keep=False)

    def redraw(self, keep: bool = True) -> None:
        """Lay everything out anew."""
        self.title.show(self._title)
        self.chart.show(self._chart)
        self.lines.show(self._lay, keep)

    def _lay(self, width: int) -> Lines:
        return lay(self.sheet(width), width, gap=1, least=LEAST[self.tab])

    def sheet(self, width: int = 100) -> Sheet:
        """Return the tab as a sheet.

        Args:
            width: Cells that it will be laid out to.
        """
        snapshot, n = self.snapshot, self.turn
        row = snapshot.row(n) if snapshot is not None and n is not None else None
        if snapshot is None or row is None:
            return Sheet((), ())
        if not snapshot.whole:
            return reading_sheet()  # all tabs look into message lists, which would be made here
        if self.tab == "budget":
            return reading_sheet() if snapshot.ledger.partial else budget_sheet(self._budget(snapshot, row), width)
        if self.tab == "steps":
            newest = row.turn.n == len(snapshot.ledger.turns)
            return steps_sheet(row, snapshot.ledger.other.get(row.turn.n, ()), newest=newest, live=snapshot.view.live)
        return text_sheet(pieces_of(snapshot.ledger, row.turn), self._revealed, self._waiting, self.uncovered)

    def _budget(self, snapshot: Snapshot, row: TurnRow) -> BudgetView:
        request = last_request(row)
        count = count_by(snapshot.counter)
        context = request.context if request is not None else None
        parts, counter = None, snapshot.counter.name
        exact = self.exact if self.exact is not None and self.exact.request is request else None
        if exact is None and context is not None and request is not None and request is not self.shown:
            self.post_message(self.Countable(request))
        self.shown = request
        if exact is not None:
            parts, counter, count = exact.shares, exact.counter, exact.count
        elif request is not None and context is not None:
            parts = snapshot.shares if request.id == snapshot.newest else self._counted.get(request.id)
            if parts is None:
                make = partial(_shares, context, request, count, snapshot.counter.name)
                if len(context.messages) > AT_ONCE:
                    if self.counting != request.id:
                        self.counting = request.id
                        self.post_message(self.Uncounted(request.id, make))
                else:
                    parts = make()
        return BudgetView(
            snapshot.timeline,
            row,
            context,
            parts,
            count,
            counter,
            snapshot.sent,
            ascii_only=self.title.look.ascii_only,
            opened=self.opened,
            live=snapshot.view.live,
            directory=snapshot.ledger.info.directory,
            home=os.path.expanduser("~"),
        )

    def take_shares(self, id_: str, parts: Shares) -> None:
        """Take what was counted in a thread."""
        self._counted, self.counting = {id_: parts}, None
        self.redraw()

    @property
    def exact_shown(self) -> Exact | None:
        """What is on the screen by a vocabulary's count."""
        return self.exact if self.exact is not None and self.exact.request is self.shown else None

    def take_exact(self, exact: Exact) -> None:
        """Take what was counted by a vocabulary."""
        self.exact = exact
        self.redraw()

    def reveal(self) -> None:
        """Ask for the turn's texts; then show keys too, where there are any; then hide all of it again."""
        if self.tab != "text" or self.snapshot is None or self.turn is None:
            return
        row = self.snapshot.row(self.turn)
        if self.covers:
            self.uncovered = True
            self.redraw()
            return
        if self.revealed or row is None:
            self.forget()
            self.redraw()
            return
        self._revealed, self._waiting = {}, False
        self._read_texts()
        self.redraw()

    def wants(self, asked: int) -> bool:
        """Tell whether the texts of a wish are still wanted."""
        return self._revealed is not None and asked == self.asked

    def take(self, texts: Mapping[Ref, Found], done: bool) -> None:
        """Take texts that were read; they are dropped where they are not wanted any more."""
        if self._revealed is None:
            return
        self._revealed = {**self._revealed, **texts}
        self._waiting = not done
        self.redraw()
        if done and self._stale:
            self._read_texts()

    def forget(self) -> None:
        """Forget all texts."""
        self._revealed, self._waiting, self._stale, self.uncovered = None, False, False, False

    def unfold(self) -> bool:
        """Show all items of the selected category; return whether there were more."""
        key = self.lines.selected
        if self.tab != "budget" or not (isinstance(key, tuple) and len(key) == 2 and key[1] == "more"):
            return False
        self.opened |= {key[0]}
        self.redraw()
        return True

    def picture(self) -> Sheet:
        """Return what a picture or copy of this pane may hold: never a revealed text."""
        held, self._revealed = self._revealed, None
        try:
            return self.sheet()
        finally:
            self._revealed = held

    @on(Band.Clicked)
    def _clicked(self, event: Band.Clicked) -> None:
        event.stop()
        self.post_message(self.TabChosen(event.name))

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


def _shares(context: Context, request: Request, count: Count, counter: str) -> Shares:
    """Split a window by category, by sizes alone: equal sizes are counted once."""
    return shares(context, request_window(request), count, counter, Scale().weigh(context.messages))
