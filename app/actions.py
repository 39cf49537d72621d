"""What keys, clicks and the palette do. Mixed into the app."""

from __future__ import annotations

from ctx_inspect.app import keymap, themes
from ctx_inspect.app.board import Board
from ctx_inspect.app.panes.detail import TABS
from ctx_inspect.core.text.show import own
from ctx_inspect.widgets.lines import LinesView


class Actions(Board):
    """What can be done on the board."""

    def open_session(self, key: str) -> None:
        """Read a session and show it."""
        raise NotImplementedError

    # --- moving between panes --------------------------------------------------------------------------------

    def _panes(self) -> list[LinesView]:
        found = self.arrangement
        if found is None or found.drawer or self.empty.display:
            return []
        return [*([self.drawer.lines] if found.sessions else []), self.turns.lines, self.detail.lines]

    def _step_pane(self, by: int) -> None:
        panes = self._panes()
        if not panes or len(self.screen_stack) > 1:
            return
        at = next((i for i, p in enumerate(panes) if p.has_focus), 0)
        target = panes[(at + by) % len(panes)]
        self.whole = self.whole and target is self.detail.lines
        self._show_pane(target)

    def _show_pane(self, target: LinesView) -> None:
        # where one pane is seen at a time, the other must be seen before it can take the focus
        if target is self.detail.lines:
            self.detail.display = True
        elif target is self.turns.lines:
            self.turns.display = True
        target.focus()
        self.call_after_refresh(self.arrange)

    def action_next_pane(self) -> None:
        """Go to the next pane."""
        self._step_pane(1)

    def action_previous_pane(self) -> None:
        """Go to the pane before."""
        self._step_pane(-1)

    def action_open(self) -> None:
        """Open what is selected; in the detail: give it the whole height, or take that back."""
        pane = self.pane_name()
        if pane in {keymap.SESSIONS, keymap.FILTER}:
            self.drawer.open()
        elif pane == keymap.TIMELINE:
            self._show_pane(self.detail.lines)
        elif not self.detail.unfold():
            self.whole = not self.whole
            self.arrange()

    def action_unfold(self) -> None:
        """Show the turn's steps, or a category's other items."""
        if self.pane_name() == keymap.TIMELINE:
            self.turns.unfold(True)
        else:
            self.detail.unfold()

    def action_fold(self) -> None:
        """Hide the turn's steps; from the detail go back to the turn."""
        if self.pane_name() == keymap.TIMELINE:
            self.turns.unfold(False)
        elif self.detail.lines.has_focus:
            self._back_to_turns()

    def _back_to_turns(self) -> None:
        self.whole = False
        self._show_pane(self.turns.lines)

    def action_close(self) -> None:
        """Close, clear, back, or stop reading; never quit."""
        if self.drawer_open or self.pane_name() in {keymap.SESSIONS, keymap.FILTER}:
            self.drawer.end()
            self.close_drawer()
        elif self.desk.stop():
            self.say(own("reading was stopped: choose a session with s"))
            self.redraw()
        elif self.whole:
            self.whole = False
            self.arrange()
        elif self.detail.lines.has_focus:
            self._back_to_turns()
        elif self.trouble.dismiss():
            self.draw_foot()

    # --- session and turn ------------------------------------------------------------------------------------

    def action_follow(self) -> None:
        """Follow the newest turn, or stop following."""
        self.turns.set_follow(not self.turns.follow)
        self.redraw()

    def action_tab(self, name: str) -> None:
        """Show a tab."""
        if name not in TABS:
            return
        self.detail.choose(name)
        if not self.detail.display and not self.empty.display:
            self._show_pane(self.detail.lines)  # where one pane is seen at a time, it is asked for
        self.draw_foot()

    def action_turn(self, n: int) -> None:
        """Go to a turn."""
        self.turns.select(n)
        self._back_to_turns()

    def action_reveal(self) -> None:
        """Show the turn's texts, or hide them; they are seen while the pane has the focus, so it gets it."""
        if self.detail.tab != "text":
            self.say(own("v shows the text of a turn on the Text tab (6)"))
            return
        if self.empty.display:
            return
        if not self.detail.lines.has_focus:
            self._show_pane(self.detail.lines)
        self.detail.reveal()
        self.draw_foot()

    def action_sessions(self) -> None:
        """Open the sessions."""
        if self.empty.display:
            return
        self.drawer_open = True
        self.arrange()
        self.redraw()
        self.drawer.display = True
        self.drawer.ask()
        self.call_after_refresh(self.drawer.point)

    def close_drawer(self) -> None:
        """Close the sessions and go back to the turns."""
        self.drawer_open = False
        self.drawer.end()
        self.arrange()
        self.redraw()
        self._show_pane(self.turns.lines)

    def action_filter(self) -> None:
        """Filter the sessions."""
        if self.pane_name() == keymap.SESSIONS:
            self.drawer.ask()

    async def action_back(self) -> None:
        """Go back to the last session."""
        if self.previous is not None and self.previous in self.desk.infos:
            self.close_drawer()
            self.open_session(self.previous)

    # --- sheets over the screen: imported when they are used, which the first frame need not wait for ---------

    def action_palette(self) -> None:
        """List every action."""
        from ctx_inspect.app import menus

        menus.everything(self)

    def action_help(self) -> None:
        """List the keys of the focused pane."""
        from ctx_inspect.app import menus

        menus.keys(self)

    def action_theme(self) -> None:
        """Choose a theme."""
        from ctx_inspect.app import menus

        menus.theme(self)

    def action_use_theme(self, name: str) -> None:
        """Use a theme."""
        if name in themes.NAMES:
            self.theme = name

    def action_copy(self) -> None:
        """Choose what to copy."""
        from ctx_inspect.app import menus

        menus.copy(self)

    def action_why(self) -> None:
        """List what could not be read."""
        from ctx_inspect.app import menus

        menus.why(self)

    def action_dismiss(self) -> None:
        """Take the line about problems away."""
        self.trouble.dismiss()
        self.draw_foot()

    # --- files -----------------------------------------------------------------------------------------------

    def action_demo(self) -> None:
        """Look around with sample data."""
        if self.start.demo is not None and self.pane_name() == keymap.EMPTY:
            self.add_sources(self.start.demo(), None)

    def action_open_path(self) -> None:
        """Open a file or folder."""
        from ctx_inspect.app import menus

        menus.open_path(self)

    def action_save_picture(self) -> None:
        """Ask for a file and write a picture of the screen to it; revealed text is hidden first."""
        from ctx_inspect.app import menus

        if self.detail.revealed:
            self.detail.forget()
            self.detail.redraw()
        menus.save_picture(self)

    def deliver_screenshot(self, filename: str | None = None, path: str | None = None, time_format: str | None = None) -> str | None:
        """Stand in for the framework's own command, which knows nothing of revealed text."""
        self.action_save_picture()
        return None
