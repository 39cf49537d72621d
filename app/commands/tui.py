"""``ctx-inspect [SESSION]``: the interface; without a terminal the same answers as plain text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click
from ctx_inspect.app.commands.options import CRASHED, Settings, command
from ctx_inspect.app.commands.stores import NotFound, stores, turn_named
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.sources.discovery import discover, open_sources

TABS = ("diff", "budget", "cache", "steps", "text")


@command("ctx-inspect", context_settings={"ignore_unknown_options": False})
@click.argument("session")
@click.option("--turn", metavar="TURN", help="Open this turn.")
@click.option("--tab", metavar="NAME", help="Open this tab.")
@click.option("--ascii", is_flag=True, help="Draw in ASCII.")
def tui(settings: Settings, session: str, turn: str | None, tab: str | None, ascii: bool) -> None:
    """Open the interface on SESSION."""
    try:
        _open(settings, session, turn, tab, ascii)
    except NotFound as error:
        from difflib import get_close_matches

        from ctx_inspect.app.main import COMMANDS

        near = get_close_matches(session, COMMANDS, 1)
        if not near:
            raise
        raise NotFound(f"{error.format_message()}; is the command {near[0]} meant?") from None


def _open(settings: Settings, session: str, turn: str | None, tab: str | None, ascii: bool) -> None:
    settings.ascii |= ascii
    settings.turn = turn or settings.turn
    settings.tab = tab or settings.tab
    start(settings, session)


def start(settings: Settings, session: str | None) -> None:
    """Open the interface, or print what it would show first where there is no terminal.

    Args:
        settings: What the call was told.
        session: The words that name a session.

    Raises:
        click.ClickException: A named source, the session or the turn is not there; a tab or turn that cannot be.
    """
    if settings.tab is not None and settings.tab not in TABS:
        raise click.UsageError(f"no tab {settings.tab!r}; there are {', '.join(TABS)}")
    turn = _number(settings.turn) if session is None else None
    # a dumb terminal cannot move its cursor: what is drawn there would be one long line of signs
    if settings.json or os.environ.get("TERM") == "dumb" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _plain(settings, session)
        return
    # everything that can refuse comes first: a refusal leaves the terminal as it was
    found = stores(settings, one_shot=False)
    key: str | None = None
    if session is not None:
        one = found.session(session)
        key = one.info.key
        if settings.turn is not None:
            turn = turn_named(found.open(one), settings.turn).n
    from ctx_inspect.app.app import run
    from ctx_inspect.app.keymap import user_keys

    keys, ignored = user_keys(found.config.keys)
    code = run(
        found.sources,
        looked=found.looked,
        session=key,
        turn=turn,
        tab=settings.tab,
        ascii=settings.ascii,
        theme=found.config.theme,
        no_color=not settings.color,
        keys=keys,
        notes=(*found.config.problems, *ignored, *(f"{p.source}: {p.message}" for p in found.problems)),
        discover=None if found.named else (lambda: discover(os.environ, Path.home()).sources),
        demo=_samples,
        open_path=lambda path: open_sources([str(path)]),
        limits=found.config.window_for,
        command=("ctx-inspect", *(word for source in settings.sources for word in ("--source", source))),
    )
    if code:
        raise click.exceptions.Exit(CRASHED)


def _samples() -> Iterable[Source]:
    """Return the sample sessions; what makes them is imported only when they are asked for."""
    from ctx_inspect.app.demo import sources

    return sources()


def _number(word: str | None) -> int | None:
    """Return the turn to open in whatever session is opened by itself."""
    if word is None:
        return None
    if word == "last":
        return -1
    if word.lstrip("-").isdecimal() and word.isascii() and word.strip("-0"):
        return int(word[:20])
    raise click.UsageError("--turn takes a number or last; a message id needs its SESSION")


def _plain(settings: Settings, session: str | None) -> None:
    """Print a session's timeline, or the list of sessions: what a script or a pipe can use of the interface."""
    context = click.get_current_context()
    if session is None:
        from ctx_inspect.app.commands.sessions import sessions

        context.invoke(sessions, project=None, uncover=False, **_none())
    elif settings.turn is not None:
        from ctx_inspect.app.commands.show import show

        context.invoke(show, session=session, turn=settings.turn, step=None, text=False, uncover=False, **_none())
    else:
        from ctx_inspect.app.commands.turns import turns

        context.invoke(turns, session=session, text=False, uncover=False, **_none())


def _none() -> dict[str, object]:
    """Return the common options as if none was given: the settings have them already."""
    return {"sources": (), "as_json": False, "no_color": False}
