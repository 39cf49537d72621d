"""The least a Textual program can be that shows a long list: the limit that the screen's figures are divided by.

Run as a program: 100,000 rows by the line API, `j` and `k` move a cursor, `q` ends. It reads nothing and watches nothing.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

ROWS = 100_000
TITLE = "the barest list there is"


class Rows(ScrollView, can_focus=True):
    """The list."""

    BINDINGS: ClassVar = [Binding("j", "move(1)"), Binding("k", "move(-1)")]
    cursor = ROWS - 1

    def on_mount(self) -> None:
        self.virtual_size = Size(80, ROWS)
        self.scroll_to(y=ROWS, animate=False, immediate=True)

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        style = Style(reverse=True) if row == self.cursor else Style()
        return Strip([Segment(f"{row:7} {TITLE} 12:34 ████████░░░░ 41 % 82,000 +1,200".ljust(self.size.width), style)])

    def action_move(self, by: int) -> None:
        old, self.cursor = self.cursor, max(0, min(ROWS - 1, self.cursor + by))
        top = self.scroll_offset.y
        if not top <= self.cursor < top + self.size.height:
            self.scroll_to(y=self.cursor, animate=False, immediate=True)
        for row in (old, self.cursor):
            self.refresh(Region(0, row - self.scroll_offset.y, self.size.width, 1))


class Bare(App[None]):
    """The program."""

    BINDINGS: ClassVar = [Binding("q", "quit")]
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Rows()


if __name__ == "__main__":
    Bare().run()
