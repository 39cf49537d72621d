"""``ctx-inspect demo``: the interface on bundled sample sessions."""

from __future__ import annotations

import os
import sys

import click
from ctx_inspect.app.commands.options import CRASHED, Settings, command
from ctx_inspect.app.commands.stores import config


@command("demo", hidden=frozenset({"sources", "as_json"}))
@click.option("--ascii", is_flag=True, help="Draw in ASCII.")
def demo(settings: Settings, ascii: bool) -> None:
    """Open the interface on bundled sample sessions, one of them growing. Needs no agent."""
    if settings.sources:
        raise click.UsageError("the demo has its own sessions: --source cannot be used with it")
    if settings.json:
        raise click.UsageError("the demo is the interface: it has no JSON")
    if os.environ.get("TERM") == "dumb" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("the demo needs a terminal")
    from ctx_inspect.app.demo import run
    from ctx_inspect.app.keymap import user_keys

    mine = config()
    if run(ascii=ascii, theme=mine.theme, no_color=not settings.color, keys=user_keys(mine.keys)[0]):
        raise click.exceptions.Exit(CRASHED)
