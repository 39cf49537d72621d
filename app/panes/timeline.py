"""The timeline's controller: which turns are opened, which one is selected, whether it follows the newest."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from ctx_inspect.app.snapshot import Snapshot, standing
from ctx_inspect.core.text.show import joined, numeral, own
from ctx_inspect.core.views.drift import NOT_TOLD, Told
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.layout import fit, rule
from ctx_inspect.core.views.partial import NUMBER
from ctx_inspect.core.views.rail import rail_legend
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.core.views.timeline import StepKey, TimelineView, TurnKey, turn_of
from ctx_inspect.widgets.band import Band, Drawing
from ctx_inspect.widgets.lines import LinesView
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message


class TimelinePane(Vertical):
    """Shows a snapshot's turns and says which one is selected."""

    DEFAULT_CSS = """
    TimelinePane { width: 1fr; height: 1fr; }
    """

    class Chosen(Message):
        """Another turn is selected.

        Attributes:
            n: Its number.
        """

        def __init__(self, n: int) -> None:
            """Make the message."""
            super().__init__()
            self.n = n

    class Enter(Message):
        """A turn was double-clicked."""

    def __init__(self) -> None:
        """Make an empty pane."""
        super().__init__(id="timeline")
        self.title, self.lines = Band(self._title), LinesView(id="turns")
        self.legend = Band(lambda width: Drawing((fit((Span(own(" ")), *rail_legend(width - 1)), width),)), id="legend")
        self.snapshot: Snapshot | None = None
        self.view: TimelineView | None = None
        self.told = NOT_TOLD
        """What changed in each turn, as far as it is ready."""
        self.marked: int | None = None
        self.comparing: int | None = None
        """How many turns are compared so far, where that takes long."""
        self.follow = False
        self.seen = 0
        """Turns there were when the selection was last on the newest."""

    def compose(self) -> ComposeResult:
        """Title, lines, and what the rail's signs mean where there is room."""
        yield self.title
        yield self.lines
        yield self.legend

    def _title(self, width: int) -> Drawing:
        focused = self.lines.has_focus
        tone = Tone.FOCUS if focused else Tone.DIM
        left = (Span(own("Timeline"), Tone.FOCUS if focused else Tone.TEXT, strong=True),)
        partial = self.snapshot is not None and self.snapshot.ledger.partial
        words = NUMBER if partial or self.snapshot is None else counted(len(self.snapshot.timeline.turns), "turn")
        marked = (Span(joined("before: turn ", self.marked), Tone.FOCUS), Span(own(" · "), Tone.DIM)) if self.marked is not None else ()
        if self.comparing is not None:
            words = joined("comparing ", numeral(self.comparing), " of ", words, " · Esc stops")
        right = (*marked, Span(words, Tone.DIM)) if self.snapshot is not None else ()
        return Drawing((fit(rule(left, right, width, tone), width),))

    @property
    def turn(self) -> int | None:
        """Number of the selected turn."""
        return turn_of(self.lines.selected)

    @property
    def news(self) -> int:
        """Turns that came in since the newest was selected."""
        return max(0, len(self.snapshot.timeline.turns) - self.seen) if self.snapshot is not None else 0

    def show(self, snapshot: Snapshot | None, fresh: bool, turn: int | None = None) -> None:
        """Show a snapshot.

        Args:
            snapshot: The session; ``None`` = nothing.
            fresh: It is another session: opened turns and selection start anew.
            turn: Select this one.
        """
        before, self.snapshot = self.snapshot, snapshot
        if fresh or numbered_anew(before, snapshot):
            self.told, self.marked = NOT_TOLD, None
        elif before is not None and snapshot is not None:
            same = standing(before, snapshot)
            self.told = told_of(self.told, same)
            self.marked = self.marked if self.marked is not None and self.marked <= same else None
        if snapshot is None:
            self.view = None
            self.lines.show(_nothing, keep=False)
            self.redraw()
            return
        opened = frozenset[int]() if fresh or self.view is None else self.view.opened
        above = self.lines.above
        numbered = not fresh and numbered_anew(before, snapshot)
        if before is not None and numbered:
            opened = self._number(before, snapshot, opened)
        shown = snapshot.view
        self.view = TimelineView(
            snapshot.timeline, opened, snapshot.ledger.other, shown.places, shown.live, self.told, self.marked, shown.time_width
        )
        self.lines.show(self.view.sized, keep=not fresh)
        if numbered:
            self.lines.hold(above)
        count = len(snapshot.timeline.turns)
        if turn is not None and count:
            self.select(turn)
        elif count and (fresh or self.follow or self.lines.selected is None):
            self.lines.select(TurnKey(count), quiet=not self.follow)
            self.lines.go_last() if fresh else None
        if self.turn == count or fresh:
            self.seen = count
        self.redraw()

    def tell(self, told: Told) -> None:
        """Show what changed in each turn."""
        self.told = told
        self._again()

    def mark(self, n: int | None) -> None:
        """Show which turn others are compared with."""
        self.marked = n
        self._again()
        self.redraw()

    def _again(self) -> None:
        if self.view is not None:
            self.view = self.view.tell(self.told, self.marked)
            self.lines.show(self.view.sized)

    def near(self, by: int, wanted: Callable[[int], bool]) -> bool:
        """Go to the next turn of a kind, or the one before; return whether there is one."""
        n = self.told.near(self.turn, by, wanted) if self.turn is not None else None
        if n is None:
            return False
        self.select(n)
        return True

    def _number(self, before: Snapshot, after: Snapshot, opened: frozenset[int]) -> frozenset[int]:
        """Give the turns that were shown ahead of the rest their numbers: the selection stays on its turn, and what is open stays open.

        Returns:
            The opened turns as they are numbered now.
        """
        shown = {turn.id: turn.n for turn in before.ledger.turns}
        numbers = {shown[turn.id]: turn.n for turn in after.ledger.turns if turn.id in shown}
        count = len(after.ledger.turns)
        self.seen = numbers.get(self.seen, count)
        match self.lines.selected:
            case TurnKey(n=n):
                self.lines.selected = TurnKey(numbers.get(n, count))
            case StepKey(n=n, id=id_):
                self.lines.selected = StepKey(numbers.get(n, count), id_)
            case _:
                pass
        return frozenset(numbers[n] for n in opened if n in numbers)

    def select(self, n: int, quiet: bool = False) -> None:
        """Select a turn; numbers beyond the ends give the first or last, negative ones count from the end."""
        if self.snapshot is None or not self.snapshot.timeline.turns:
            return
        count = len(self.snapshot.timeline.turns)
        n = count + 1 + n if n < 0 else n
        self.lines.select(TurnKey(max(1, min(count, n))), quiet)

    def set_follow(self, on_: bool) -> None:
        """Follow the newest turn, or not."""
        self.follow = on_
        if on_ and self.snapshot is not None:
            self.select(len(self.snapshot.timeline.turns))
            self.seen = len(self.snapshot.timeline.turns)

    def unfold(self, on_: bool) -> bool:
        """Show or hide the selected turn's steps; return whether anything changed."""
        n = self.turn
        if self.view is None or n is None or (n in self.view.opened) == on_:
            return False
        if not on_ and isinstance(self.lines.selected, StepKey):
            self.lines.selected = TurnKey(n)
        self.view = self.view.toggle(n, on_)
        self.lines.show(self.view.sized)
        if on_:
            self.lines.reveal_under(self.view.under(n))
        return True

    def redraw(self) -> None:
        """Draw the title anew."""
        self.title.show(self._title)

    @on(LinesView.Selected)
    def _selected(self, event: LinesView.Selected) -> None:
        event.stop()
        n = turn_of(event.key)
        if n is None or self.snapshot is None:
            return
        count = len(self.snapshot.timeline.turns)
        if n == count:
            self.seen = count
        elif self.follow:
            self.follow = False
        self.post_message(self.Chosen(n))

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.post_message(self.Enter())

    def on_descendant_focus(self) -> None:
        """Show that keys go here."""
        self.redraw()

    def on_descendant_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.redraw()


def numbered_anew(before: Snapshot | None, after: Snapshot | None) -> bool:
    """Tell whether turns get other numbers: until now only the newest ones were read."""
    return before is not None and after is not None and before.ledger.partial and not after.ledger.partial


def told_of(told: Told, turns: int) -> Told:
    """Return what is told of so many turns in front: later numbers mean other turns by now."""
    if turns >= max(len(told.drift), len(told.cache)):
        return told
    return Told(told.drift[:turns], told.cache[:turns], told.step, lambda n: told.named(n) if n <= turns else None)


class _Nothing:
    def __len__(self) -> int:
        return 0

    def head(self) -> None:
        return None

    def line(self, index: int) -> tuple[Span, ...]:
        return ()

    def key(self, index: int) -> Hashable | None:
        return None

    def find(self, key: Hashable) -> int | None:
        return None


def _nothing(_width: int) -> _Nothing:
    return _Nothing()
