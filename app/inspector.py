"""The app: it wires panes, reader threads and keys together, and decides little else."""

from __future__ import annotations

import gc
import time
from typing import ClassVar

from ctx_inspect.app import keymap, themes
from ctx_inspect.app.actions import Actions
from ctx_inspect.app.app import Start
from ctx_inspect.app.desk import Desk, Listed, News, Read, Texts
from ctx_inspect.app.layout import Arrangement, arrange
from ctx_inspect.app.panes.detail import TABS, DetailPane
from ctx_inspect.app.panes.frame import EmptyPane, FootBand, HeadBand, ProblemBand
from ctx_inspect.app.panes.sessions import SessionsPane
from ctx_inspect.app.panes.timeline import TimelinePane
from ctx_inspect.app.state import log_crash, remember, remembered
from ctx_inspect.core.live import LiveEvent
from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.views.glyphs import POST, POST_TOP
from ctx_inspect.core.views.header import Header, Loading
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.band import Band, Divider
from ctx_inspect.widgets.tones import Toned
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.geometry import Size
from textual.timer import Timer

SETTLE = 0.3
"""Seconds after the first list until a session is chosen though other sources have not answered."""

PACE, AFTER_CURSOR, QUIET = 0.1, 0.02, 0.25
"""Seconds between two drawings of the details, from the cursor's line to them, and until what takes long is begun."""


class Inspector(Actions):
    """The terminal interface."""

    detail_due: Timer | None

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings()]
    CSS = """
    Screen { background: $ground; color: $ink; }
    #body, #main { height: 1fr; width: 1fr; }
    """

    def __init__(self, start: Start) -> None:
        """Make the app; nothing is read here, threads do it already."""
        Toned.ascii_only = start.ascii_only
        super().__init__()
        self.start = start
        self.desk = Desk(start.live, self.post_message, self.fault)
        self.memory = remembered(start.state)
        self.head, self.foot, self.trouble = HeadBand(), FootBand(), ProblemBand()
        self.turns, self.detail, self.drawer = TimelinePane(), DetailPane(), SessionsPane()
        line = (Span(POST_TOP, Tone.DIM),), (Span(POST, Tone.DIM),)
        self.divider, self.second = Divider(*line), Divider(*line)
        self.empty = EmptyPane(start.looked, self.empty_keys())
        self.drawer_open = self.whole = False
        self.chosen_at: float | None = None
        self.turn_wanted = start.turn
        self.detail_at, self.detail_due = 0.0, None
        self.cells: Size | None = None
        self.previous = self.memory.get("session")
        self.arrangement: Arrangement | None = None
        for name in themes.NAMES:
            self.register_theme(themes.theme(name))
        wanted = start.theme or self.memory.get("theme") or "dark"
        Toned.use(themes.paint(wanted if wanted in themes.NAMES else "dark"))
        self.theme = wanted if wanted in themes.NAMES else "dark"
        tab = start.tab or self.memory.get("tab") or "budget"
        self.detail.tab = tab if tab in TABS and (tab != "text" or start.tab) else "budget"
        if start.keys:
            self.set_keymap(start.keys)

    def compose(self) -> ComposeResult:
        """Header, panes, the line about problems, footer."""
        yield self.head
        with Horizontal(id="body"):
            yield self.drawer
            yield self.second
            with Container(id="main"):
                yield self.turns
                yield self.divider
                yield self.detail
            yield self.empty
        yield self.trouble
        yield self.foot

    def on_mount(self) -> None:
        """Take what the threads have read meanwhile."""
        self.turns.lines.focus()
        self.arrange()
        for source, future in self.start.listings:
            self.desk.expect(source, future)
        while not self.start.events.empty():
            self.post_message(News(self.start.events.get_nowait()))
        self.trouble.add([Problem(Raw("configuration"), ProblemCode.UNREADABLE_RECORD, note) for note in self.start.notes])
        self.theme_changed_signal.subscribe(self, self.repaint)
        self.set_interval(60, self.age)
        self.call_after_refresh(self.settled)
        if not self.start.listings:
            self.redraw()

    def repaint(self, _theme: object) -> None:
        """Draw everything in the colours of another theme."""
        Toned.use(themes.paint(self.theme))
        for screen in self.screen_stack:
            for widget in screen.query(Toned):
                widget.forget_colours()

    def settled(self) -> None:
        """Collect garbage again, now that the first frame is out."""
        gc.freeze()
        gc.enable()

    # --- what threads tell -----------------------------------------------------------------------------------

    def take_news(self, event: LiveEvent) -> None:
        """Take news from a thread."""
        self.post_message(News(event))

    @on(Listed)
    def listed(self, message: Listed) -> None:
        """Show the sessions; choose one once all sources have answered, or the slow ones have had their time."""
        self.trouble.add(self.desk.take_list(message))
        if self.desk.wanted is None:
            if self.desk.complete:
                self.choose_first()
            elif self.chosen_at is None and self.desk.sessions:
                self.chosen_at = time.monotonic()
                self.set_timer(SETTLE, self.choose_first)
        self.redraw()

    def choose_first(self) -> None:
        """Open the session that was named, or the one to open by itself; once."""
        if self.desk.wanted is not None or not self.desk.sessions:
            return
        key = self.desk.resolve(self.start.session, self.start.here)
        if key is None:
            self.say("no session has this name, or several have: choose one with s")
            return
        info = self.desk.infos[key]
        self.turns.follow = info.live and self.start.turn is None
        self.open_session(key)

    def open_session(self, key: str) -> None:
        """Read a session and show it."""
        if self.desk.wanted is not None and self.desk.wanted != key:
            self.previous, self.turns.follow = self.desk.wanted, self.desk.infos[key].live if key in self.desk.infos else False
            self.turns.show(None, True)
            self.detail.show(None, None)
        if self.desk.want(key):
            self.set_timer(SETTLE, self.progress)
        self.redraw()

    def progress(self) -> None:
        """While a read takes long, say so twice a second."""
        if self.desk.reading_since is not None:
            self.draw_head()
            self.set_timer(0.5, self.progress)

    @on(Read)
    def read(self, message: Read) -> None:
        """Show what was read."""
        fresh = self.turns.snapshot is None or self.turns.snapshot.ledger.key != message.key
        found = self.desk.take_read(message)
        if found is not None:
            self.trouble.add([found])
        snapshot = self.desk.snapshot
        if snapshot is not None and message.key == self.desk.wanted and not isinstance(message.found, BaseException):
            self.trouble.add(snapshot.ledger.problems)
            self.turns.show(snapshot, fresh, self.turn_wanted if fresh else None)
            self.turn_wanted = None
            self.detail.show(snapshot, self.turns.turn)
        if self.desk.behind:
            self.set_timer(0.1, self.desk.read_again)
        self.redraw()

    @on(News)
    def news(self, message: News) -> None:
        """Read again what may have changed."""
        if message.event.new:
            source = message.event.source
            self.desk.relist(source)
        found = self.desk.take_news(message.event)
        if found is not None:
            self.trouble.add([found])
        self.desk.read_again()
        self.redraw()

    @on(Texts)
    def texts(self, message: Texts) -> None:
        """Show texts, if they are still wanted."""
        self.detail.take(message.texts, message.done)

    def age(self) -> None:
        """Once a minute: ages, and whether sessions still live."""
        for source in {id(s): s for key, s in self.desk.sources.items() if self.desk.infos[key].live}.values():
            self.desk.relist(source)
        self.redraw()

    # --- what panes tell -------------------------------------------------------------------------------------

    @on(TimelinePane.Chosen)
    def turn_chosen(self, message: TimelinePane.Chosen) -> None:
        """Show the turn's details, after the cursor has been painted, and at most ten times a second."""
        self.draw_head()
        if self.detail_due is None:
            wait = max(AFTER_CURSOR, PACE - (time.monotonic() - self.detail_at))
            self.detail_due = self.set_timer(wait, self.draw_detail)

    def draw_detail(self) -> None:
        """Show the selected turn's details."""
        self.detail_due, self.detail_at = None, time.monotonic()
        self.detail.show(self.desk.snapshot, self.turns.turn)
        self.draw_foot()

    @on(TimelinePane.Enter)
    def turn_entered(self) -> None:
        """Go to the details."""
        self.action_open()

    @on(DetailPane.TabChosen)
    def tab_chosen(self, message: DetailPane.TabChosen) -> None:
        """Show the tab."""
        self.action_tab(message.name)

    @on(DetailPane.Uncounted)
    def shares_wanted(self, message: DetailPane.Uncounted) -> None:
        """Count a long message list in a thread, once the selection rests: it would hold up keys."""
        self.set_timer(QUIET, lambda: self.count_shares(message))

    def count_shares(self, message: DetailPane.Uncounted) -> None:
        """Count, unless another turn is selected by now."""
        if self.detail.counting == message.id:
            self.run_worker(lambda: self.call_from_thread(self.detail.take_shares, message.id, message.count()), thread=True)

    @on(DetailPane.Wanted)
    def texts_wanted(self, message: DetailPane.Wanted) -> None:
        """Read texts."""
        self.desk.ask_texts(message.refs)

    @on(SessionsPane.Wanted)
    def session_wanted(self, message: SessionsPane.Wanted) -> None:
        """Open the session and go back to its turns."""
        self.close_drawer()
        if message.key != self.desk.wanted:
            self.open_session(message.key)

    @on(SessionsPane.Closed)
    def drawer_closed(self) -> None:
        """Go back to the turns."""
        self.close_drawer()

    @on(Band.Clicked, "#foot")
    async def foot_clicked(self, message: Band.Clicked) -> None:
        """Do what the clicked key does."""
        await self.run_action(message.name)

    def on_descendant_focus(self) -> None:
        """Other keys are valid now; where one pane is seen at a time, it is another one."""
        self.arrange()
        self.draw_foot()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the panes anew."""
        self.cells = event.size  # the app's own size may still be the old one here
        self.arrange()

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
        self.query_one("#main").styles.layout = "horizontal" if found.side else "vertical"
        self.turns.styles.width = found.timeline_size or "1fr" if found.side else "1fr"
        self.turns.styles.height = found.timeline_size or "1fr" if not found.side else "1fr"
        self.drawer.styles.width = found.sessions_size or "1fr"
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
        self.query_one("#main").display = not empty and (found.timeline or found.detail)
        self.turns.display, self.detail.display = found.timeline, found.detail
        self.divider.display = found.side and found.timeline and found.detail
        self.drawer.display = found.sessions and not empty
        self.second.display = found.sessions and found.timeline | found.detail and not empty
        if empty and self.focused is not self.empty:
            self.empty.focus()
        elif not empty and self.focused in (None, self.empty):
            self.turns.lines.focus()
        if self.drawer.display:
            self.drawer.show(self.desk.sessions, self.start.here, self.desk.wanted, self.desk.gone_keys())
        self.turns.redraw()
        self.draw_head()
        self.draw_foot()

    def draw_head(self) -> None:
        """Draw the header anew."""
        desk, snapshot = self.desk, self.desk.snapshot
        turns = len(snapshot.timeline.turns) if snapshot is not None else 0
        seconds = time.monotonic() - desk.reading_since if desk.reading_since is not None else 0.0
        loading = Loading("reading the session", seconds=seconds) if seconds >= SETTLE and snapshot is None else None
        if not desk.complete and not desk.sessions:
            loading = Loading("looking for sessions")
        header = Header(desk.info, self.turns.turn, turns, self.turns.follow, self.turns.news, desk.gone_at, loading)
        gauge = snapshot.gauge(Toned.ascii_only) if snapshot is not None else None
        self.head.set(header, gauge, self.arrangement.header if self.arrangement is not None else 3)

    def draw_foot(self) -> None:
        """Draw the footer anew."""
        words = {"follow": "unfollow"} if self.turns.follow else {}
        if self.detail.revealed:
            words["reveal"] = "hide text"
        self.foot.set(self.pane_name(), self.start.keys, self.absent(), words)

    # --- troubles and memory ---------------------------------------------------------------------------------

    def say(self, words: str) -> None:
        """Say a sentence of our own on the line above the footer."""
        self.trouble.add([Problem(Raw("ctx-inspect"), ProblemCode.UNREADABLE_RECORD, words)])

    def fault(self, doing: str, error: BaseException) -> Problem:
        """Log an error nobody expected; return what is said of it."""
        log = log_crash(error, self.start.state, doing)
        where = f"; log: {log}" if log is not None else ""
        return Problem(Raw("ctx-inspect"), ProblemCode.UNREADABLE_RECORD, f"{doing} failed ({type(error).__name__}){where}")

    def _fatal_error(self) -> None:
        """End with one sentence; the framework's own report would print values of variables."""
        error = self._exception
        log = log_crash(error, self.start.state) if error is not None else None
        name = type(error).__name__ if error is not None else "unknown"
        self._exit_renderables.append(Text(f"ctx-inspect stopped by an error of its own ({name})." + (f" Log: {log}" if log else "")))
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        """Remember choices: ids and names, never a text."""
        tab = self.detail.tab if self.detail.tab != "text" else self.memory.get("tab")
        remember({"session": self.desk.wanted or self.memory.get("session"), "tab": tab, "theme": self.theme}, self.start.state)
