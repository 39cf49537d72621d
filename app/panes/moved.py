"""The controller of the map of what moved: a panel under the sessions, or a sheet over the screen where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ctx_inspect.core.text.show import own
from ctx_inspect.core.views.layout import fit, rule
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.band import Band, Drawing
from ctx_inspect.widgets.lines import LinesView
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

if TYPE_CHECKING:
    from ctx_inspect.app.study import Study
    from ctx_inspect.core.views.moved import MovedLines

MOST_ROWS = 12
"""Items that the panel shows at once."""


class MovedMapView(Vertical):
    """Shows items by turns."""

    DEFAULT_CSS = """
    MovedMapView { width: 1fr; height: 1fr; }
    """

    def __init__(self, closes: bool = False) -> None:
        """Make an empty map.

        Args:
            closes: It is a sheet, which Esc closes.
        """
        super().__init__()
        self.title, self.lines, self.legend = Band(self._title), LinesView(cursor=False), Band(self._legend)
        self.lines.can_focus = closes
        self.closes = closes
        self.most = 1_000 if closes else MOST_ROWS
        self.study: Study | None = None
        self.turn: int | None = None

    def compose(self) -> ComposeResult:
        """Title, map, and what its signs mean."""
        yield self.title
        yield self.lines
        yield self.legend

    def _title(self, width: int) -> Drawing:
        left = (Span(own("What moved"), Tone.FOCUS if self.closes else Tone.TEXT, strong=True),)
        right = (Span(own("Esc closes" if self.closes else "w hides"), Tone.DIM),)
        return Drawing((fit(rule(left, right, width, Tone.FOCUS if self.closes else Tone.DIM), width),))

    def _legend(self, width: int) -> Drawing:
        if self.study is None:
            return Drawing(())
        from ctx_inspect.core.views.moved import legend

        return Drawing((legend(width),))

    def show(self, study: Study | None, turn: int | None) -> None:
        """Show a session's map.

        Args:
            study: The session, its turns compared; ``None`` = nothing.
            turn: The turn on screen: the map reaches back to it.
        """
        if study is self.study and turn == self.turn:
            return
        self.study, self.turn = study, turn
        self.lines.show(self._lay)
        self.legend.show(self._legend)

    def _lay(self, width: int) -> MovedLines:
        from ctx_inspect.core.diff.history import MovedMap
        from ctx_inspect.core.views.moved import MovedLines, turns_in

        study, room = self.study, turns_in(width)
        if study is None:
            return MovedLines(MovedMap((), (), ()), width)
        count = len(study.ledger.turns)
        until = None if self.turn is None or self.turn > count - room else min(count, self.turn + room // 2)
        info = study.ledger.info
        return MovedLines(study.moved(room, until), width, info.project or info.directory, self.turn)

    def rows(self, width: int) -> int:
        """Return how many lines the panel takes at a width: title, headings, items, signs."""
        return min(len(self._lay(width)), self.most) + 3


class MovedSheet(ModalScreen[None]):
    """The map over the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,w,q", "dismiss(None)", show=False),
        Binding("ctrl+c", "app.quit", show=False),
    ]

    DEFAULT_CSS = """
    MovedSheet { align: center middle; background: $ground 60%; }
    MovedSheet > Vertical { width: 96%; max-width: 120; height: auto; max-height: 92%; background: $ground; border: solid $edge; }
    MovedSheet > .-ascii { border: ascii $edge; }
    """

    def __init__(self, study: Study, turn: int | None) -> None:
        """Make the sheet."""
        super().__init__()
        self.study, self.turn = study, turn
        self.map = MovedMapView(closes=True)

    def compose(self) -> ComposeResult:
        """The map."""
        with Vertical() as box:
            box.set_class(self.map.title.look.ascii_only, "-ascii")
            yield self.map

    def on_mount(self) -> None:
        """Fill it."""
        self.map.show(self.study, self.turn)
        self.map.lines.focus()
        self.fit()

    def on_resize(self) -> None:
        """Take as many lines as there are items."""
        self.fit()

    def fit(self) -> None:
        """Take as many lines as there are items, within the screen."""
        width = min(120, round(self.size.width * 0.96)) - 2
        self.map.styles.height = max(4, min(self.map.rows(width), self.size.height - 4))
