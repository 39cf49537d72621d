"""The board: all panes, where they stand at a size, and what is drawn anew when something changes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ctx_inspect.app import keymap, themes
from ctx_inspect.app.colourless import Colourless
from ctx_inspect.app.desk import Desk, place_of
from ctx_inspect.app.layout import Arrangement, arrange
from ctx_inspect.app.panes.detail import TABS, DetailPane
from ctx_inspect.app.panes.frame import EmptyPane, FootBand, HeadBand, ProblemBand
from ctx_inspect.app.panes.moved import MovedMapView
from ctx_inspect.app.panes.sessions import SessionsPane
from ctx_inspect.app.panes.timeline import TimelinePane
from ctx_inspect.app.start import Start
from ctx_inspect.app.state import log_crash, remembered
from ctx_inspect.core.model import Problem, ProblemCode, Raw, Shown
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.views.glyphs import POST, POST_TOP
from ctx_inspect.core.views.header import Header, Loading
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.band import Divider
from ctx_inspect.widgets.tones import Look, Toned
from textual.app import App, ComposeResult
from textual.containers import Container, Horizontal
from textual.geometry import Size
from textual.timer import Timer

if TYPE_CHECKING:
    from ctx_inspect.app.study import Study

SETTLE = 0.3
"""Seconds until something that takes longer is said to."""

MOST_READS = 10
"""Reads of the session on screen within any second."""


class Board(App[None]):
    """The panes of the app and their arrangement."""

    CSS = """
    Screen { background: $ground; color: $ink; }
    Picker, MovedSheet { background: $ground 60%; }
    #body, #main { height: 1fr; width: 1fr; }
    #left { height: 1fr; width: 34; }
    """

    def __init__(self, start: Start) -> None:
        """Make the app; nothing is read here, threads do it already."""
        super().__init__()
        self.start = start
        self.desk = Desk(start.live, self.post_message, self.fault, start.limits)
        self.memory = remembered(start.state)
        self.head, self.foot, self.trouble = HeadBand(), FootBand(), ProblemBand()
        self.turns, self.detail, self.drawer = TimelinePane(), DetailPane(), SessionsPane()
        self.main, self.left = Container(id="main"), Container(id="left")
        self.map = MovedMapView()
        self.map_wanted = True
        self.mapped: Study | None = None
        """What the map of what moved is made from."""
        line = (Span(POST_TOP, Tone.DIM),), (Span(POST, Tone.DIM),)
        self.divider, self.second = Divider(*line), Divider(*line)
        self.empty = EmptyPane(start.looked, self.empty_keys())
        self.drawer_open = self.whole = False
        self.chosen_at: float | None = None
        self.turn_wanted = start.turn
        self.detail_at = 0.0
        self.detail_due: Timer | None = None
        self.cells: Size | None = None
        self.reads: deque[float] = deque(maxlen=MOST_READS)
        self.previous = self.memory.get("session")
        self.commands: dict[tuple[str, str], tuple[str, ...] | None] = {}
        self.newest_of: set[tuple[str, str]] = set()
        """Stores whose newest session is to be opened as soon as they are listed."""
        self.arrangement: Arrangement | None = None
        for name in themes.NAMES:
            self.register_theme(themes.theme(name))
        wanted = start.theme or self.memory.get("theme") or "dark"
        self.theme = wanted if wanted in themes.NAMES else "dark"
        plain = start.no_color or self.no_color
        self.look = Look(themes.paint(self.theme), ascii_only=start.ascii_only, plain=plain)
        if plain:
            # the last step before the terminal: also what the framework draws by itself
            self._filters = [Colourless()]
        tab = start.tab or self.memory.get("tab") or "diff"
        self.detail.tab = tab if tab in TABS and (tab != "text" or start.tab) else "diff"
        if start.keys:
            self.set_keymap(start.keys)

    def compose(self) -> ComposeResult:
        """Header, panes, the line about problems, footer."""
        yield self.head
        with Horizontal(id="body"):
            with self.left:
                yield self.drawer
                yield self.map
            yield self.second
            with self.main:
                yield self.turns
                yield self.divider
                yield self.detail
            yield self.empty
        yield self.trouble
        yield self.foot

    # --- what there is ---------------------------------------------------------------------------------------

    def pane_name(self) -> str:
        """Return which pane has the focus."""
        focused = self.focused if self.screen_stack else None  # a timer may still fire while the app ends
        if self.empty.display:
            return keymap.EMPTY
        if focused is self.detail.lines:
            return {"text": keymap.TEXT, "diff": keymap.DIFF}.get(self.detail.tab, keymap.DETAIL)
        if focused is self.drawer.lines:
            return keymap.SESSIONS
        if focused is self.drawer.filter:
            return keymap.FILTER
        return keymap.TIMELINE

    def absent(self) -> frozenset[str]:
        """Return ids of keys that do nothing now."""
        out: set[str] = set()
        if self.start.demo is None:
            out.add("demo")
        if self.start.open_path is None:
            out.add("open_path")
        if not self.trouble.display:
            out |= {"dismiss"}
        if not self.trouble.problems:
            out |= {"why"}
        if self.previous is None:
            out.add("back")
        if self.detail.tab not in {"text", "diff"}:
            out.add("reveal")
        if self.detail.tab != "diff":
            out |= {"next_change", "change_before", "sides", "fold_all"}
        return frozenset(out)

    def empty_keys(self) -> list[tuple[str, str]]:
        """Return what the empty screen offers."""
        keys: list[tuple[str, str]] = []
        if self.start.demo is not None:
            keys.append(("d", "look around with sample data"))
        if self.start.open_path is not None:
            keys.append(("o", "open a file or folder"))
        return [*keys, ("ctx-inspect doctor", "says more")]

    # --- drawing ---------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        """Put the panes where they belong at this size."""
        if not self.screen_stack:
            return
        width, height = self.cells or self.size
        focused = self.detail.lines.has_focus
        found = arrange(width, height, drawer=self.drawer_open, whole=self.whole, detail_focused=focused)
        if found == self.arrangement:
            return
        self.arrangement = found
        # styles are set one by one: a class would have every widget below searched for rules again
        self.main.styles.layout = "horizontal" if found.side else "vertical"
        self.turns.styles.width = found.timeline_size or "1fr" if found.side else "1fr"
        self.turns.styles.height = found.timeline_size or "1fr" if not found.side else "1fr"
        self.left.styles.width = found.sessions_size or "1fr"
        self.turns.legend.display, self.detail.chart.display, self.foot.display = found.legend, found.chart, found.footer
        for pane in (self.turns, self.detail, self.drawer):
            pane.title.display = found.titles
        self.redraw()

    def redraw(self) -> None:
        """Draw header, sessions and footer anew, and show what is to be seen."""
        found = self.arrangement
        if found is None or not self.screen_stack:
            return
        empty = self.desk.complete and not self.desk.sessions and self.desk.snapshot is None
        self.empty.display = empty
        self.main.display = not empty and (found.timeline or found.detail)
        self.turns.display, self.detail.display = found.timeline, found.detail
        self.divider.display = found.side and found.timeline and found.detail
        self.left.display = self.drawer.display = found.sessions and not empty
        self.second.display = found.sessions and found.timeline | found.detail and not empty
        if empty and self.focused is not self.empty:
            self.empty.focus()
        elif not empty and self.focused in (None, self.empty):
            self.turns.lines.focus()
        if self.drawer.display:
            self.drawer.show(self.desk.sessions, self.start.here, self.desk.wanted, self.desk.gone_keys())
        self.draw_map()
        self.turns.redraw()
        self.draw_head()
        self.draw_foot()

    def draw_map(self) -> None:
        """Show the map of what moved under the sessions, where there is room and something in it."""
        found = self.arrangement
        room = found is not None and found.map and self.map_wanted and self.mapped is not None and not self.drawer_open
        self.map.display = room
        if room and found is not None:
            self.map.show(self.mapped, self.turns.turn)
            self.map.styles.height = self.map.rows(found.sessions_size)

    def draw_head(self) -> None:
        """Draw the header anew."""
        desk, snapshot = self.desk, self.desk.snapshot
        turns = len(snapshot.timeline.turns) if snapshot is not None else 0
        seconds = time.monotonic() - desk.reading_since if desk.reading_since is not None else 0.0
        loading = (
            Loading("reading the session", seconds=seconds)
            if desk.reading_since is not None and (desk.partial or (seconds >= SETTLE and snapshot is None))
            else None
        )
        if not desk.complete and not desk.sessions:
            loading = Loading("looking for sessions")
        header = Header(
            desk.info,
            None if desk.partial else self.turns.turn,
            turns,
            self.turns.follow,
            self.turns.news,
            desk.gone_at,
            loading,
            self.look.ascii_only,
        )
        gauge = snapshot.gauge(self.look.ascii_only, self.detail.budget.exact) if snapshot is not None else None
        self.head.set(header, gauge, self.arrangement.header if self.arrangement is not None else 3)

    def draw_foot(self) -> None:
        """Draw the footer anew."""
        words = {"follow": "unfollow"} if self.turns.follow else {}
        if self.detail.revealed:
            words["reveal"] = "uncover keys" if self.detail.covers else "hide text"
        pane = keymap.SHEET if len(self.screen_stack) > 1 else self.pane_name()
        unseen = {"reveal"} if pane == keymap.TIMELINE and self.detail.tab != "text" else set[str]()
        self.foot.set(pane, self.start.keys, self.absent() | unseen, words)

    def draw_detail(self) -> None:
        """Show the selected turn's details."""
        self.detail_due, self.detail_at = None, time.monotonic()
        self.detail.show(self.desk.snapshot, self.turns.turn)
        self.draw_map()
        self.draw_foot()

    def repaint(self, _theme: object) -> None:
        """Draw everything in the colours of another theme."""
        self.look.use(themes.paint(self.theme))
        for screen in self.screen_stack:
            for widget in screen.query(Toned):
                widget.forget_colours()

    def add_sources(self, sources: Iterable[Source], command: tuple[str, ...] | None) -> None:
        """Read and watch more sources.

        Args:
            sources: Which.
            command: The words that begin a command on them; ``None`` = no command finds them again.
        """
        for source in sources:
            self.commands[place_of(source)] = command
            self.desk.live.add(source)
            self.desk.relist(source)

    def command_for(self, source: Source) -> tuple[str, ...] | None:
        """Return the words that begin a command on a source; ``None`` = no command finds it again."""
        return self.commands.get(place_of(source), self.start.command)

    # --- troubles --------------------------------------------------------------------------------------------

    def say(self, words: Shown) -> None:
        """Say what was done, or why nothing was, on the line above the footer; it goes by itself."""
        self.trouble.tell(words)
        self.draw_foot()

    def fault(self, doing: str, error: BaseException) -> Problem:
        """Log an error nobody expected; return what is said of it."""
        log = log_crash(error, self.start.state, doing)
        where = f"; log: {log}" if log is not None else ""
        return Problem(Raw("ctx-inspect"), ProblemCode.UNREADABLE_RECORD, f"{doing} failed ({type(error).__name__}){where}")
