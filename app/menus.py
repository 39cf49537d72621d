"""The sheets over the screen: what each lists and what comes of a choice."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from inspect import isawaitable
from pathlib import Path

from ctx_inspect.app import copying, palette, svg, themes
from ctx_inspect.app.board import Board
from ctx_inspect.app.desk import place_of
from ctx_inspect.app.palette import Choice, Picker
from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.views.names import named

PICTURES = 1000
"""Names that are tried for a picture."""


def _over(app: Board, picker: Picker) -> None:
    async def run(action: Hashable | None) -> None:
        if isinstance(action, str):
            await app.run_action(action)

    _ask(app, picker, run)


def _ask(app: Board, picker: Picker, take: Callable[[Hashable | None], object]) -> None:
    """Show a sheet, if none is shown; the footer has its keys meanwhile."""

    async def taken(result: Hashable | None) -> None:
        app.draw_foot()
        found = take(result)
        if isawaitable(found):
            await found

    if len(app.screen_stack) == 1:
        app.push_screen(picker, taken)
        app.draw_foot()


def everything(app: Board) -> None:
    """List every action with its key."""
    turns = len(app.desk.snapshot.timeline.turns) if app.desk.snapshot is not None and not app.desk.partial else 0
    choices = palette.palette_choices(app.start.keys, app.absent(), turns, themes.NAMES)
    _over(app, Picker(own("Everything"), choices, hint="an action, or a turn's number"))


def keys(app: Board) -> None:
    """List the keys of the focused pane."""
    pane = app.pane_name()
    _over(app, Picker(joined("Keys: ", said(pane)), palette.help_choices(pane, app.start.keys), sign="?"))


def theme(app: Board) -> None:
    """List the themes."""
    _over(app, Picker(own("Theme"), palette.filtered([Choice(f"use_theme('{n}')", own(n)) for n in themes.NAMES])))


def why(app: Board) -> None:
    """List what could not be read."""
    rows = [
        Choice(None, terminal(Raw(p.message)), joined(p.code.value), terminal(p.source, 200), long=True)
        for p in reversed(app.trouble.problems)
    ]
    if rows:
        _over(app, Picker(own("What could not be read"), palette.filtered(rows), sign="!"))


def copy(app: Board) -> None:
    """List what can be copied, and copy what is chosen."""
    snapshot = app.desk.snapshot
    if snapshot is None or len(app.screen_stack) > 1:
        return
    program = app.command_for(snapshot.source)
    seen = app.detail.diff.seen(app.turns.turn)
    report = seen.report if seen is not None else None
    found = copying.copies(snapshot, app.turns.turn, app.detail.tab, app.detail.picture(), program, report)

    def take(name: Hashable | None) -> None:
        if name == copying.PICTURE and report is not None:
            app.call_after_refresh(save_report, app, copying.drawn(report))
        elif isinstance(name, str) and name in found:
            what, text = found[name]
            app.copy_to_clipboard(text)
            # the terminal does not tell whether it took it: what it was sent stands here too
            app.say(joined("sent to the terminal's clipboard: ", what if "\n" in text else said(text)))

    _ask(app, Picker(own("Copy"), palette.filtered(copying.copy_choices(found)), sign="y"), take)


def open_path(app: Board) -> None:
    """Ask for a path and read what is there."""
    opener = app.start.open_path
    if opener is None or len(app.screen_stack) > 1:
        return

    def take(typed: Hashable | None) -> None:
        if not isinstance(typed, str) or not typed.strip():
            return
        path = Path(typed.strip()).expanduser().absolute()
        try:
            found = list(opener(path))
        except Exception as e:
            app.trouble.add([app.desk.problem(e, None, "opening it")])
            app.draw_foot()
            return
        app.newest_of |= {place_of(source) for source in found}
        app.add_sources(found, ("ctx-inspect", "--source", str(path)))

    _ask(app, Picker(own("Open a file or folder"), palette.filtered(()), sign="o", hint="its path", words=""), take)


def free_name() -> str:
    """Return a name for a picture that no file in the current folder has."""
    return next((n for i in range(1, PICTURES) if not os.path.lexists(n := f"ctx-inspect-{i}.svg")), "ctx-inspect.svg")


def save_picture(app: Board) -> None:
    """Ask for the name of a file, and write a picture of the screen to it; one that exists is never replaced."""

    def take(typed: Hashable | None) -> None:
        if isinstance(typed, str) and typed.strip():
            app.call_after_refresh(_write_picture, app, Path(typed.strip()).expanduser())  # the sheet is gone then

    _ask(app, Picker(own("Write a picture of this screen"), palette.filtered(()), sign=">", hint="a file's name", words=free_name()), take)


def save_report(app: Board, document: str) -> None:
    """Ask for the name of a file, and write a picture of a comparison to it; one that exists is never replaced."""

    def take(typed: Hashable | None) -> None:
        if isinstance(typed, str) and typed.strip():
            _write(app, Path(typed.strip()).expanduser(), document)

    _ask(app, Picker(own("Write what changed as a picture"), palette.filtered(()), sign=">", hint="a file's name", words=free_name()), take)


def _write_picture(app: Board, path: Path) -> None:
    _write(app, path, svg.export(app, "ctx-inspect"))


def _write(app: Board, path: Path, document: str) -> None:
    shown = named(Raw(str(path)))
    try:
        svg.write(path, document)
    except FileExistsError:
        app.say(joined("nothing was written: ", shown, " exists already"))
    except OSError:
        app.say(joined("the picture could not be written to ", shown))
    else:
        app.say(joined("picture written: ", shown))
