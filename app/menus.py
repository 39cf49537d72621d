"""The sheets over the screen: what each lists and what comes of a choice."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from ctx_inspect.app import copying, palette, svg, themes
from ctx_inspect.app.board import Board
from ctx_inspect.app.palette import Choice, Picker
from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import joined, own, said, terminal

PICTURES = 1000
"""Names that are tried for a picture."""


def _over(app: Board, picker: Picker) -> None:
    async def run(action: Hashable | None) -> None:
        if isinstance(action, str):
            await app.run_action(action)

    if len(app.screen_stack) == 1:
        app.push_screen(picker, run)


def everything(app: Board) -> None:
    """List every action with its key."""
    turns = len(app.desk.snapshot.timeline.turns) if app.desk.snapshot is not None and not app.desk.partial else 0
    choices = palette.palette_choices(app.start.keys, app.absent(), turns)
    _over(app, Picker(own("Everything"), choices, hint="an action, or a turn's number"))


def keys(app: Board) -> None:
    """List the keys of the focused pane."""
    pane = app.pane_name()
    _over(app, Picker(joined("Keys: ", said(pane)), palette.help_choices(pane, app.start.keys, app.absent()), sign="?"))


def theme(app: Board) -> None:
    """List the themes."""
    _over(app, Picker(own("Theme"), palette.filtered([Choice(f"use_theme('{n}')", said(n)) for n in themes.NAMES])))


def why(app: Board) -> None:
    """List what could not be read."""
    rows = [Choice(None, terminal(Raw(p.message)), joined(p.code.value), terminal(p.source, 60)) for p in reversed(app.trouble.problems)]
    if rows:
        _over(app, Picker(own("What could not be read"), palette.filtered(rows), sign="!"))


def copy(app: Board) -> None:
    """List what can be copied, and copy what is chosen."""
    snapshot = app.desk.snapshot
    if snapshot is None or len(app.screen_stack) > 1:
        return
    found = copying.copies(snapshot, app.turns.turn, app.detail.tab, app.detail.picture())

    def take(name: Hashable | None) -> None:
        if isinstance(name, str) and name in found:
            app.copy_to_clipboard(found[name][1])

    app.push_screen(Picker(own("Copy"), palette.filtered(copying.copy_choices(found)), sign="y"), take)


def open_path(app: Board) -> None:
    """Ask for a path and read what is there."""
    opener = app.start.open_path
    if opener is None or len(app.screen_stack) > 1:
        return

    def take(typed: Hashable | None) -> None:
        if isinstance(typed, str) and typed.strip():
            try:
                app.add_sources(list(opener(Path(typed.strip()).expanduser())))
            except Exception as e:
                app.trouble.add([app.desk.problem(e, None, "opening it")])

    app.push_screen(Picker(own("Open a file or folder"), lambda _typed: [], sign="o", hint="its path", free=True), take)


def save_picture(app: Board) -> None:
    """Write a picture of the screen to a new file in the current folder."""
    for i in range(1, PICTURES):
        path = Path(f"ctx-inspect-{i}.svg")
        try:
            svg.write(path, svg.export(app, "ctx-inspect"))
        except FileExistsError:
            continue
        except OSError:
            app.say("the picture could not be written into the current folder")
        else:
            app.say(f"picture written: {path.name}")
        return
