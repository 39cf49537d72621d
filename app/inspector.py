"""The app: it wires panes, reader threads and keys together, and decides little else."""

from __future__ import annotations

import gc
import time
import unicodedata
from typing import ClassVar

from ctx_inspect.app import keymap
from ctx_inspect.app.board import MOST_READS
from ctx_inspect.app.desk import place_of
from ctx_inspect.app.findings import Findings
from ctx_inspect.app.messages import Faulted, Listed, News, Read
from ctx_inspect.app.panes.sessions import SessionsPane
from ctx_inspect.app.panes.timeline import TimelinePane
from ctx_inspect.app.panes.wishes import Entered, TabChosen
from ctx_inspect.app.start import Fault
from ctx_inspect.app.state import log_crash, remember
from ctx_inspect.core.choose import pick, project_key
from ctx_inspect.core.live import LiveEvent
from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.views.names import named
from ctx_inspect.widgets.band import Band
from rich.text import Text
from textual import events, on
from textual.binding import BindingType

SETTLE = 0.3
"""Seconds after the first list until a session is chosen though other sources have not answered."""

PACE, AFTER_CURSOR = 0.1, 0.02
"""Seconds between two drawings of the details, and from the cursor's line to them."""


class Inspector(Findings):
    """The terminal interface."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*keymap.bindings()]

    def on_mount(self) -> None:
        """Take what the threads have read meanwhile."""
        self.turns.lines.focus()
        self.arrange()
        for source, future in self.start.listings:
            self.desk.expect(source, future)
        while not self.start.events.empty():
            self.take_news(self.start.events.get_nowait())
        self.trouble.add([Problem(Raw("configuration"), ProblemCode.UNREADABLE_RECORD, note) for note in self.start.notes])
        self.theme_changed_signal.subscribe(self, self.repaint)
        self.set_interval(60, self.age)
        self.call_after_refresh(self.settled)
        if not self.start.listings:
            self.redraw()

    def settled(self) -> None:
        """Collect garbage again, now that the first frame is out."""
        gc.freeze()
        gc.enable()

    # --- what threads tell -----------------------------------------------------------------------------------

    def take_news(self, event: LiveEvent | Fault) -> None:
        """Take news from a thread."""
        self.post_message(Faulted(event) if isinstance(event, Fault) else News(event))

    @on(Listed)
    def listed(self, message: Listed) -> None:
        """Show the sessions; choose one once all sources have answered, or the slow ones have had their time."""
        self.trouble.add(self.desk.take_list(message))
        if place_of(message.source) in self.newest_of:
            self.open_newest(message)
        elif self.desk.wanted is None:
            if self.desk.complete:
                self.choose_first()
            elif self.chosen_at is None and self.desk.sessions:
                self.chosen_at = time.monotonic()
                self.set_timer(SETTLE, self.choose_first)
        self.redraw()

    def open_newest(self, message: Listed) -> None:
        """Open the newest session of a store that was asked for, or say that it has none."""
        self.newest_of.discard(place_of(message.source))
        if isinstance(message.found, BaseException):
            return  # what is wrong with it is said already
        newest = pick(message.found.sessions, None)
        if newest is None:
            self.say(joined("there is no session in ", named(Raw(str(message.source.path)))))
        elif newest.key == self.desk.wanted:
            self.say(own("its newest session is on the screen already"))
        else:
            self.open_session(newest.key)

    def choose_first(self) -> None:
        """Open the session that was named, or the one to open by itself; once."""
        if self.desk.wanted is not None or not self.desk.sessions:
            return
        key = self.desk.resolve(self.start.session, self.start.here)
        if key is None:
            self.say(own("no session has this name, or several have: choose one with s"))
            return
        info = self.desk.infos[key]
        if (
            self.start.session is None
            and self.start.command == ("ctx-inspect",)  # no store was named either
            and self.start.here is not None
            and project_key(info) != unicodedata.normalize("NFC", self.start.here)
        ):
            self.say(own("this directory has no session: the newest of all is shown; s lists them"))
        self.turns.follow = info.live and self.start.turn is None
        self.open_session(key)

    def open_session(self, key: str) -> None:
        """Read a session and show it."""
        if self.desk.wanted is not None and self.desk.wanted != key:
            self.previous, self.turns.follow = self.desk.wanted, self.desk.infos[key].live if key in self.desk.infos else False
            self.turns.show(None, True)
            self.detail.show(None, None)
            self.study(None)
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
            self.turns.show(snapshot, fresh, None if self.desk.partial else self.turn_wanted)
            if self.desk.partial:
                self.call_after_refresh(self.desk.read_rest)
            else:
                self.turn_wanted = None
            self.detail.show(snapshot, self.turns.turn)
            self.study(snapshot)
        self.catch_up()
        self.redraw()

    def catch_up(self) -> None:
        """Read again where there is news: at once, but at most ten times in any second."""
        if not self.desk.behind or self.desk.reading_since is not None:
            return
        now = time.monotonic()
        wait = self.reads[0] + 1 - now if len(self.reads) == MOST_READS else 0
        if wait > 0:
            self.set_timer(wait, self.catch_up)
        elif self.desk.read_again():
            self.reads.append(now)

    @on(News)
    def news(self, message: News) -> None:
        """Read again what may have changed."""
        if message.event.new:
            source = message.event.source
            self.desk.relist(source)
        found = self.desk.take_news(message.event)
        if found is not None:
            self.trouble.add([found])
        self.catch_up()
        if message.event.listing or message.event.gone or message.event.error is not None or message.event.back:
            self.redraw()

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

    @on(TimelinePane.Enter)
    def turn_entered(self) -> None:
        """Go to the details."""
        self.action_open()

    @on(TabChosen)
    def tab_chosen(self, message: TabChosen) -> None:
        """Show the tab."""
        self.action_tab(message.name)

    @on(Entered)
    def row_entered(self) -> None:
        """Open what was double-clicked."""
        self.action_open()

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

    # --- troubles and memory ---------------------------------------------------------------------------------

    def _fatal_error(self) -> None:
        """End with one sentence; the framework's own report would print values of variables."""
        error = self._exception
        log = log_crash(error, self.start.state) if error is not None else None
        name = type(error).__name__ if error is not None else "unknown"
        where = joined(" Log: ", terminal(Raw(str(log)))) if log is not None else own("")
        self._exit_renderables.append(Text(joined("ctx-inspect stopped by an error of its own (", said(name), ").", where)))
        self._close_messages_no_wait()

    def on_unmount(self) -> None:
        """Remember choices: ids and names, never a text."""
        self.closing = True
        self.close_lanes()
        tab = self.detail.tab if self.detail.tab != "text" else self.memory.get("tab")
        remember({"session": self.desk.wanted or self.memory.get("session"), "tab": tab, "theme": self.theme}, self.start.state)
