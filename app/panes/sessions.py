"""The sessions' controller: a drawer, or a column on wide screens; typing filters it."""

from __future__ import annotations

import time
from functools import partial

from ctx_inspect.core.model import SessionInfo
from ctx_inspect.core.text.show import own
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.layout import fit, lay, rule
from ctx_inspect.core.views.sessions import SessionKey, SessionsView, sessions_sheet
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.band import Band, Drawing
from ctx_inspect.widgets.filterline import FilterLine
from ctx_inspect.widgets.lines import LinesView
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message


class SessionsPane(Vertical):
    """Shows all sessions and says which one is wanted."""

    DEFAULT_CSS = """
    SessionsPane { width: 34; height: 1fr; }
    """

    class Wanted(Message):
        """A session is to be opened.

        Attributes:
            key: Its key.
        """

        def __init__(self, key: str) -> None:
            """Make the message."""
            super().__init__()
            self.key = key

    class Closed(Message):
        """The drawer is to be closed."""

    def __init__(self) -> None:
        """Make an empty pane."""
        super().__init__(id="sessions")
        self.title, self.lines = Band(self._title), LinesView(id="list")
        self.filter = FilterLine()
        self.view = SessionsView((), 0)

    def compose(self) -> ComposeResult:
        """Title, filter, list."""
        yield self.title
        yield self.filter
        yield self.lines

    def on_mount(self) -> None:
        """The filter appears when it is used."""
        self.filter.display = False

    def _title(self, width: int) -> Drawing:
        focused = self.lines.has_focus or self.filter.has_focus
        left = (Span(own("Sessions"), Tone.FOCUS if focused else Tone.TEXT, strong=True),)
        count = Span(counted(len(self.view.sessions), "session"), Tone.DIM)
        return Drawing((fit(rule(left, (count,), width, Tone.FOCUS if focused else Tone.DIM), width),))

    def show(self, sessions: tuple[SessionInfo, ...], here: str | None, current: str | None, gone: frozenset[str]) -> None:
        """Show sessions.

        Args:
            sessions: All of them.
            here: Project of the current directory.
            current: Key of the one on screen.
            gone: Keys of sessions whose store vanished.
        """
        another = current != self.view.current
        self.view = SessionsView(sessions, int(time.time() * 1000), here, self.filter.words, current, gone)
        self.redraw()
        if another and not (self.lines.has_focus or self.filter.has_focus):
            self.point()  # the list may have come before it was known which session opens

    def redraw(self, keep: bool = True) -> None:
        """Lay the list out anew."""
        self.title.show(self._title)
        self.lines.show(partial(lay, sessions_sheet(self.view), gap=1), keep)
        if self.lines.selected is None:
            self.point()

    def point(self) -> None:
        """Put the cursor on the session on screen, else on the first."""
        if self.view.current is None or not self.lines.select(SessionKey(self.view.current), quiet=True):
            self.lines.go_first()

    def ask(self) -> None:
        """Begin to filter."""
        self.filter.clear()
        self.filter.display = True
        self.filter.focus()

    def end(self) -> None:
        """Stop filtering; the whole list comes back."""
        self.filter.clear()
        self.filter.display = False
        self._filter("")

    def _filter(self, words: str) -> None:
        view = self.view
        self.view = SessionsView(view.sessions, view.now, view.here, words, view.current, view.gone)
        self.redraw(keep=not words)
        if words:
            self._first_match()

    def _first_match(self) -> None:
        lines = self.lines.lines()
        if lines is None:
            return
        words = self.view.filter.casefold().split()
        by_key = {s.key: s for s in self.view.sessions}
        for index in range(len(lines)):
            key = lines.key(index)
            if isinstance(key, SessionKey):
                info = by_key[key.key]
                text = f"{info.title or ''} {info.project or info.directory or ''}".casefold()
                if all(w in text for w in words):
                    self.lines.select(key, quiet=True)
                    return
        self.lines.go_first()

    def open(self) -> None:
        """Ask for the selected session."""
        key = self.lines.selected
        if isinstance(key, SessionKey):
            self.post_message(self.Wanted(key.key))

    @on(FilterLine.Changed)
    def _changed(self, event: FilterLine.Changed) -> None:
        event.stop()
        self._filter(event.words)

    @on(FilterLine.Moved)
    def _moved(self, event: FilterLine.Moved) -> None:
        event.stop()
        self.lines.move(event.by)

    @on(FilterLine.Done)
    def _done(self, event: FilterLine.Done) -> None:
        event.stop()
        self.open()

    @on(FilterLine.Left)
    def _left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.end()
        self.post_message(self.Closed())

    @on(LinesView.Selected)
    def _selected(self, event: LinesView.Selected) -> None:
        event.stop()

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.open()

    def on_descendant_focus(self) -> None:
        """Show that keys go here."""
        self.title.show(self._title)

    def on_descendant_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.title.show(self._title)
