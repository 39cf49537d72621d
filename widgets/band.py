"""A band: a few lines that do not scroll, some of their cells clickable (header, titles, tabs, footer)."""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.core.views.layout import Line
from ctx_inspect.widgets.tones import BAND, GROUND, Toned
from msgspec import Struct
from textual import events
from textual.message import Message
from textual.strip import Strip


class Zone(Struct, frozen=True):
    """Cells that can be clicked.

    Attributes:
        line: Line of the band.
        start: First cell.
        end: Cell after the last.
        name: What is posted.
    """

    line: int
    start: int
    end: int
    name: str


class Drawing(Struct, frozen=True):
    """What a band shows at one width."""

    lines: tuple[Line, ...]
    zones: tuple[Zone, ...] = ()


Draw = Callable[[int], Drawing]


class Band(Toned):
    """Draws what a function gives for its width."""

    DEFAULT_CSS = """
    Band { height: 1; width: 1fr; }
    """

    class Clicked(Message):
        """Somebody clicked a zone.

        Attributes:
            name: The zone's name.
        """

        def __init__(self, band: Band, name: str) -> None:
            """Make the message."""
            super().__init__()
            self.band, self.name = band, name

        @property
        def control(self) -> Band:
            """The band."""
            return self.band

    def __init__(self, draw: Draw | None = None, *, raised: bool = False, id: str | None = None) -> None:
        """Make a band.

        Args:
            draw: What it shows.
            raised: Its first line has the band's background.
            id: Of the widget.
        """
        super().__init__(id=id)
        self._draw = draw
        self._drawn: tuple[int, Drawing] | None = None
        self._raised = raised

    def show(self, draw: Draw) -> None:
        """Show something else."""
        before, self._draw, self._drawn = self._drawn, draw, None
        if before is None or before[0] != self.size.width or self.drawing() != before[1]:
            self.refresh()

    def drawing(self) -> Drawing:
        """Return what is shown at the present width."""
        width = self.size.width
        if self._drawn is None or self._drawn[0] != width:
            self._drawn = (width, self._draw(width) if self._draw is not None and width > 0 else Drawing(()))
        return self._drawn[1]

    def render_line(self, y: int) -> Strip:
        """Return a line of the band."""
        lines = self.drawing().lines
        return self.strip_of(lines[y] if y < len(lines) else (), self.size.width, BAND if self._raised and y == 0 else GROUND)

    def on_click(self, event: events.Click) -> None:
        """Say which zone was clicked."""
        for zone in self.drawing().zones:
            if zone.line == event.y and zone.start <= event.x < zone.end:
                event.stop()
                self.post_message(self.Clicked(self, zone.name))
                return


class Divider(Toned):
    """A vertical line between panes, joined to the title rules at its top."""

    DEFAULT_CSS = """
    Divider { width: 1; height: 1fr; }
    """

    def __init__(self, top: Line, post: Line) -> None:
        """Make a divider of one cell for its top and one for the rest."""
        super().__init__()
        self._top, self._post = top, post

    def render_line(self, y: int) -> Strip:
        """Return one cell of it."""
        return self.strip_of(self._post if y else self._top, self.size.width)
