"""What keys, clicks and the palette do. Mixed into the app."""

from __future__ import annotations

from collections.abc import Callable

from ctx_inspect.app import keymap, themes
from ctx_inspect.app.board import Board
from ctx_inspect.app.panes.detail import TABS
from ctx_inspect.core.text.show import joined, own, said
from ctx_inspect.core.views.drift import NOT_TOLD
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
        elif not self.detail.open():
            self.whole = not self.whole
            self.arrange()

    def action_unfold(self) -> None:
        """Show the turn's steps, or a category's other items."""
        if self.pane_name() == keymap.TIMELINE:
            self.turns.unfold(True)
        else:
            self.detail.unfold()

    def action_fold(self) -> None:
        """Hide the turn's steps; fold a category; else from the detail go back to the turn."""
        if self.pane_name() == keymap.TIMELINE:
            self.turns.unfold(False)
        elif self.detail.lines.has_focus and not self.detail.fold():
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
        elif self.detail.lines.has_focus and self.detail.close_card():
            self.draw_foot()
        elif self.whole:
            self.whole = False
            self.arrange()
        elif self.detail.lines.has_focus:
            self._back_to_turns()
        elif self.stop_comparing():
            self.say(own("comparing the turns was stopped"))
        elif self.trouble.dismiss():
            self.draw_foot()

    def stop_comparing(self) -> bool:
        """Stop comparing the turns; return whether they were being compared."""
        raise NotImplementedError

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
        """Show the turn's texts, or what changed in one; or hide them. They are seen while the pane has the focus, so it gets it."""
        if self.detail.tab not in {"text", "diff"}:
            self.say(own("v shows the text of a turn on the Text tab (6), and what changed in a text on the Diff tab (1)"))
            return
        if self.empty.display:
            return
        why = self.detail.reveal()
        if why is not None:
            self.say(said(why))
        elif not self.detail.lines.has_focus:
            self._show_pane(self.detail.lines)
        self.draw_foot()

    # --- what changed ----------------------------------------------------------------------------------------

    def action_changed(self, by: int) -> None:
        """Go to the next turn in which something changed, or the one before."""
        self._go_near(by, self.turns.told.changed, "in which anything but growth happened")

    def action_broken(self, by: int) -> None:
        """Go to the next turn in which the cache was lost, or the one before."""
        self._go_near(by, self.turns.told.broken, "in which the cache was lost")

    def _go_near(self, by: int, wanted: Callable[[int], bool], what: str) -> None:
        if self.turns.told is NOT_TOLD:
            self.say(own("the turns are still being compared"))
        elif not self.turns.near(by, wanted):
            self.say(said(f"there is no {'later' if by > 0 else 'earlier'} turn {what}"))

    def action_mark(self) -> None:
        """Compare other turns with this one, or with their own baselines again."""
        turn = self.turns.turn
        if turn is None or self.desk.partial:
            return
        revealed = self.detail.revealed
        marked = self.detail.diff.mark(turn)
        self.turns.mark(turn if marked else None)
        if revealed:
            self.detail.redraw()  # its text does not wait for the comparison that takes its place
        self.detail.show_turn()
        words = joined("each turn is compared with turn ", turn, " now; m on that turn ends it")
        self.say(words if marked else own("each turn is compared with the one before it again"))

    def action_change(self, by: int) -> None:
        """Go to the next change, or the one before."""
        if self.detail.tab == "diff":
            self.detail.next_change(by)

    def action_sides(self) -> None:
        """Show both sides beside each other, or names once."""
        if self.detail.tab == "diff" and not self.detail.toggle_sides():
            self.say(own("both sides stand beside each other where the pane is 80 columns wide"))

    def action_fold_all(self) -> None:
        """Unfold all that did not change, or fold it."""
        self.detail.fold_all()

    def action_moved(self) -> None:
        """Show or hide the map of what moved."""
        if self.mapped is None or len(self.screen_stack) > 1:
            self.say(own("the turns are still being compared"))
        elif self.arrangement is not None and self.arrangement.map:
            self.map_wanted = not self.map_wanted
            self.draw_map()
        else:
            from ctx_inspect.app.panes.moved import MovedSheet

            self.push_screen(MovedSheet(self.mapped, self.turns.turn))

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
