"""A scrolling pane of lines with a cursor, on the line API: a line is made when it is drawn, nothing is kept per row."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

from ctx_inspect.core.views.glyphs import MARK
from ctx_inspect.core.views.layout import Lines
from ctx_inspect.core.views.sheet import Tone
from ctx_inspect.widgets.tones import BLURRED, GROUND, SELECTED, Toned
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

Content = Callable[[int], Lines]
"""Lays the pane's lines out for a width."""

STRIPS_KEPT = 1_000


class LinesView(Toned, ScrollView, can_focus=True):
    """Draws lines; the cursor moves over those that have a key.

    The selection is a key, not a place: what comes in above or below never moves it.
    """

    DEFAULT_CSS = """
    LinesView { height: 1fr; width: 1fr; scrollbar-size: 0 0; overflow-x: hidden; overflow-y: scroll; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "next line", show=False, id="down"),
        Binding("k,up", "move(-1)", "line before", show=False, id="up"),
        Binding("g,home", "first", "first line", show=False, id="first"),
        Binding("G,end", "last", "last line", show=False, id="last"),
        Binding("ctrl+d,pagedown", "page(1)", "half a page down", show=False, id="half_down"),
        Binding("ctrl+u,pageup", "page(-1)", "half a page up", show=False, id="half_up"),
    ]

    class Selected(Message):
        """The cursor stands on another line, by a key or the mouse.

        Attributes:
            view: The pane.
            key: The line's key.
        """

        def __init__(self, view: LinesView, key: Hashable) -> None:
            """Make the message."""
            super().__init__()
            self.view, self.key = view, key

        @property
        def control(self) -> LinesView:
            """The pane."""
            return self.view

    class Opened(Selected):
        """A line was double-clicked."""

    def __init__(self, *, id: str | None = None, cursor: bool = True) -> None:
        """Make an empty pane.

        Args:
            id: Of the widget.
            cursor: Whether lines can be selected; without, keys scroll.
        """
        super().__init__(id=id)
        self._content: Content | None = None
        self._lines: Lines | None = None
        self._width = 0
        self._strips: LRUCache[tuple[int, int], Strip] = LRUCache(STRIPS_KEPT)
        self._with_cursor = cursor
        self.selected: Hashable | None = None
        self.cursor = -1

    # --- content -------------------------------------------------------------------------------------------

    def show(self, content: Content, keep: bool = True) -> None:
        """Show other lines.

        Args:
            content: Lays them out for a width.
            keep: Keep selection and scroll position; else start at the top.
        """
        self._content = content
        if not keep:
            self.selected, self.cursor = None, -1
            self.put_top(0)
        self._lay(keep)

    def lines(self) -> Lines | None:
        """Return the lines at the present width."""
        return self._lines

    def _lay(self, keep: bool = True) -> None:
        before, was = self._seen(), self._width
        self._strips.clear()
        self._width = self.size.width
        if self._content is None or self._width <= 0:
            self._lines = None
            return
        top = self._top_key() if keep else None
        self._lines = self._content(self._width)
        self._head = 0 if self._lines.head() is None else 1
        # set without the framework's own reaction, a layout of the whole screen: there are no scrollbars to place
        self.set_reactive(Widget.virtual_size, Size(self._width, len(self._lines) + self._head))  # type: ignore[arg-type]
        self._place(top)
        after = self._seen()
        if was != self._width or len(before) != len(after):
            self.refresh()
            return
        # most of what is shown again is the same: only what is not is drawn
        changed = [y for y, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        if changed:
            self.refresh(Region(0, changed[0], self._width, changed[-1] - changed[0] + 1))

    def _seen(self) -> list[tuple[object, ...]]:
        """Return what stands on each line of the screen now."""
        lines = self._lines
        if lines is None:
            return []
        top = int(self.scroll_offset.y)
        out: list[tuple[object, ...]] = [(lines.head(),)] if self._head else []
        for y in range(self.size.height - self._head):
            index = top + y
            out.append((lines.line(index), index == self.cursor) if index < len(lines) else ())
        return out

    def _top_key(self) -> tuple[Hashable, int] | None:
        """Return a key that is on the screen and its distance from the top, to hold the picture still."""
        lines = self._lines
        if lines is None:
            return None
        first = int(self.scroll_offset.y)
        for index in range(first, min(len(lines), first + self.size.height)):
            key = lines.key(index)
            if key is not None:
                return key, index - first
        return None

    def _place(self, top: tuple[Hashable, int] | None) -> None:
        lines = self._lines
        if lines is None:
            return
        if top is not None:
            index = lines.find(top[0])
            if index is not None and index - top[1] != int(self.scroll_offset.y):
                self.put_top(index - top[1])
        if self.selected is not None:
            found = lines.find(self.selected)
            if found is None:
                self.cursor = self._nearest(min(max(self.cursor, 0), len(lines) - 1), 1) if len(lines) else -1
                self.selected = lines.key(self.cursor) if self.cursor >= 0 else None
            else:
                self.cursor = found
        limit = max(0, len(lines) + self._head - max(1, self.size.height))
        if int(self.scroll_offset.y) > limit:
            self.put_top(limit)

    def put_top(self, y: int) -> None:
        """Put a line at the top, at once."""
        self.scroll_to(y=max(0, y), animate=False, force=True, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        """Lay out anew where the width changed; keep the cursor in sight."""
        if self.size.width != self._width:
            self._lay()
        if self.cursor >= 0:
            self.reveal()

    def forget_colours(self) -> None:
        """Draw anew, in the colours of now."""
        self._strips.clear()
        self.refresh()

    # --- cursor --------------------------------------------------------------------------------------------

    @property
    def page(self) -> int:
        """Lines that are seen at once."""
        return max(1, self.size.height - (self._head if self._lines is not None else 0))

    def action_move(self, by: int) -> None:
        """Move the cursor by lines."""
        self.move(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half a page."""
        self.move(direction * max(1, self.page // 2))

    def action_first(self) -> None:
        """Go to the first line."""
        self.go_first()

    def action_last(self) -> None:
        """Go to the last line."""
        self.go_last()

    def _nearest(self, index: int, step: int) -> int:
        """Return the nearest line that can be selected, looking on in the direction of ``step`` first; -1 = none."""
        lines = self._lines
        if lines is None:
            return -1
        for direction in (step, -step):
            at = index
            while 0 <= at < len(lines):
                if lines.key(at) is not None:
                    return at
                at += direction
        return -1

    def move(self, by: int) -> None:
        """Move the cursor by lines (without a cursor: scroll)."""
        lines = self._lines
        if lines is None or not len(lines):
            return
        if not self._with_cursor:
            self.put_top(int(self.scroll_offset.y) + by)
            return
        step = 1 if by > 0 else -1
        start = self.cursor if self.cursor >= 0 else (-1 if by > 0 else len(lines))
        target = max(0, min(len(lines) - 1, start + by))
        index = self._nearest(target, step)
        if index == self.cursor or index < 0:
            # nothing to select further on: let words at the end be read
            self.put_top(int(self.scroll_offset.y) + by)
            return
        self._go(index)

    def go_first(self) -> None:
        """Go to the first line."""
        if self._with_cursor and (index := self._nearest(0, 1)) >= 0:
            self._go(index)
        self.put_top(0)

    def go_last(self) -> None:
        """Go to the last line."""
        lines = self._lines
        if lines is None:
            return
        if self._with_cursor and (index := self._nearest(len(lines) - 1, -1)) >= 0:
            self._go(index)
        self.put_top(len(lines) + self._head - self.size.height)

    def select(self, key: Hashable, quiet: bool = False) -> bool:
        """Put the cursor on a key.

        Args:
            key: The line's key.
            quiet: Post nothing.

        Returns:
            Whether the line is there.
        """
        index = self._lines.find(key) if self._lines is not None else None
        if index is None:
            self.selected = key
            return False
        self._go(index, quiet)
        return True

    def _go(self, index: int, quiet: bool = False) -> None:
        lines = self._lines
        if lines is None:
            return
        before, top = self.cursor, int(self.scroll_offset.y)
        changed = lines.key(index) != self.selected
        self.cursor, self.selected = index, lines.key(index)
        self.reveal()
        if int(self.scroll_offset.y) == top:
            for place in {before, index}:
                self.refresh(Region(0, place - top + self._head, self._width, 1))
        if changed and not quiet and self.selected is not None:
            self.post_message(self.Selected(self, self.selected))

    @property
    def above(self) -> int:
        """Lines on the screen above the cursor."""
        return self.cursor - int(self.scroll_offset.y)

    def hold(self, above: int) -> None:
        """Scroll so that the cursor has as many lines above it as it had, though all are counted anew."""
        if self.cursor >= 0:
            self.put_top(self.cursor - above)
            self.reveal()

    def reveal(self) -> None:
        """Scroll so that the cursor is seen."""
        top, page = int(self.scroll_offset.y), self.page
        if self.cursor < top:
            self.put_top(self.cursor)
        elif self.cursor >= top + page:
            self.put_top(self.cursor - page + 1)

    def reveal_under(self, count: int) -> None:
        """Scroll so that so many lines under the cursor are seen too, as far as there is room."""
        bottom = min(self.cursor + count, self.cursor + self.page - 1)
        if bottom >= int(self.scroll_offset.y) + self.page:
            self.put_top(bottom - self.page + 1)

    def hidden_above(self) -> int:
        """Return how many lines are above the first one seen."""
        return 0 if self._lines is None else int(self.scroll_offset.y)

    def hidden_below(self) -> int:
        """Return how many lines are below the last one seen."""
        return 0 if self._lines is None else max(0, len(self._lines) - int(self.scroll_offset.y) - self.page)

    # --- drawing -------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Return the line at a place on the screen."""
        lines, width = self._lines, self.size.width
        if lines is None or width != self._width:
            return Strip.blank(width, self.style_of(Tone.TEXT))
        if self._head and y == 0:
            head = lines.head()
            return self.strip_of(head or (), width)
        index = int(self.scroll_offset.y) + y - self._head
        if not 0 <= index < len(lines):
            return Strip.blank(width, self.style_of(Tone.TEXT))
        state = 0 if index != self.cursor or not self._with_cursor else (2 if self.has_focus else 1)
        cached = self._strips.get((index, state))
        if cached is None:
            cached = self._strip(lines, index, state, width)
            self._strips[(index, state)] = cached
        return cached

    def _strip(self, lines: Lines, index: int, state: int, width: int) -> Strip:
        ground = (GROUND, BLURRED, SELECTED)[state]
        strip = self.strip_of(lines.line(index), width, ground)
        if not state:
            return strip
        mark = Segment(self.look.written(MARK), self.style_of(Tone.FOCUS if state == 2 else Tone.DIM, strong=True, ground=ground))
        return Strip.join([Strip([mark]), strip.crop(1)]).adjust_cell_length(width)

    def on_focus(self) -> None:
        """Show that keys go here."""
        self.refresh()

    def on_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.refresh()

    # --- mouse ---------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Select the clicked line; a second click opens it."""
        lines = self._lines
        if lines is None:
            return
        index = int(self.scroll_offset.y) + event.y - self._head
        if event.y < self._head or not 0 <= index < len(lines) or lines.key(index) is None:
            return
        event.stop()
        self._go(index)
        if event.chain == 2 and self.selected is not None:
            self.post_message(self.Opened(self, self.selected))

    _head = 0
