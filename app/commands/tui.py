"""``ctx-inspect [SESSION]``: the interface; without a terminal the same answers as plain text."""

from __future__ import annotations

import sys

import click
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.stores import stores


@command("ctx-inspect", context_settings={"ignore_unknown_options": False})
@click.argument("session")
@click.option("--turn", metavar="TURN", help="Open this turn.")
@click.option("--tab", metavar="NAME", help="Open this tab.")
def tui(settings: Settings, session: str, turn: str | None, tab: str | None) -> None:
    """Open the interface on SESSION."""
    settings.turn = turn or settings.turn
    settings.tab = tab or settings.tab
    start(settings, session)


def start(settings: Settings, session: str | None) -> None:
    """Open the interface, or print what it would show first where there is no terminal.

    Args:
        settings: What the call was told.
        session: The words that name a session.
    """
    if settings.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _plain(settings, session)
        return
    # everything that can refuse comes first: a refusal leaves the terminal as it was
    found = stores(settings)
    key: str | None = None
    if session is not None:
        one = found.session(session)
        key = one.info.key
        if settings.turn is not None:
            from ctx_inspect.app.commands.stores import turn_named

            settings.turn = str(turn_named(found.open(one), settings.turn).n)
    from ctx_inspect.app.app import run

    run(found.sources, session=key, turn=settings.turn, tab=settings.tab, looked=found.looked, color=settings.color)


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
