"""What every command takes: sources, ``--json``, ``--no-color``; before or after the command's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

CRASHED = 70
"""Exit code of a bug of ours: none of the codes that a script can act on."""


class OutputLost(Exception):
    """Stdout takes no more, for another reason than a reader that left."""


F = TypeVar("F", bound=Callable[..., Any])


class Settings:
    """What one call of the command line was told.

    Attributes:
        sources: Stores that were named; empty = those that are found.
        json: One JSON object on stdout.
        color: Whether colours may be used where stdout is a terminal.
        turn: Where to open the interface.
        tab: What to open in the interface.
        ascii: Draw the interface in ASCII.
        doing: What is being done, in our own words and with ids only: for the log of a crash.
    """

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.sources: list[str] = []
        self.json, self.color, self.ascii = False, True, False
        self.turn: str | None = None
        self.tab: str | None = None
        self.doing = ""


def common(function: F) -> F:
    """Add the options that every command takes."""
    for option in (
        click.option("--no-color", is_flag=True, help="Use no colours."),
        click.option("--json", "as_json", is_flag=True, help="Write one JSON object."),
        click.option(
            "--source",
            "sources",
            metavar="[KIND:]PATH",
            multiple=True,
            help="Read this store instead of those that are found; repeatable. KIND is opencode or pi.",
        ),
    ):
        function = option(function)
    return function


def settings_of(ctx: click.Context, options: dict[str, Any]) -> Settings:
    """Add what these options say to what those before the command's name said."""
    settings = ctx.ensure_object(Settings)
    for source in options["sources"]:
        if not source.strip() or source in ("opencode:", "pi:"):
            raise click.UsageError("--source names no path; leave it out to read the stores that are found", ctx)
    settings.sources += options["sources"]
    settings.json |= options["as_json"]
    settings.color &= not options["no_color"]
    return settings


def command(name: str, *, hidden: frozenset[str] = frozenset(), **settings: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command that takes the common options; its function gets :class:`Settings` first.

    Args:
        name: Of the command.
        hidden: Names of common options that it refuses: its help does not list them.
        settings: Of click's command.
    """

    def made(function: Callable[..., None]) -> click.Command:
        @click.pass_context
        def call(ctx: click.Context, **options: Any) -> None:
            given = settings_of(ctx, options)
            given.doing = name
            function(given, **{k: v for k, v in options.items() if k not in ("sources", "as_json", "no_color")})

        call.__doc__ = function.__doc__
        params = getattr(function, "__click_params__", [])
        call.__click_params__ = params  # type: ignore[attr-defined]
        finished = click.command(name, **settings)(common(call))
        for param in finished.params:
            if isinstance(param, click.Option) and param.name in hidden:
                param.hidden = True
        return finished

    return made
