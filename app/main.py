"""The ``ctx-inspect`` command. Importing it must stay cheap: no Textual and no store before one is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click
from ctx_inspect import __version__
from ctx_inspect.app.commands.options import CRASHED, OutputLost, Settings, common, settings_of

INTERRUPTED = 130

COMMANDS = {
    "sessions": "List the sessions that were found.",
    "turns": "Show the timeline of a session.",
    "show": "Show what a turn's request carried.",
    "diff": "Show what changed in the context between two turns.",
    "check": "Tell whether sessions keep rules: a gate for CI.",
    "demo": "Open the interface on bundled sample sessions.",
    "doctor": "Tell what was found, what is unreadable, and why.",
}
"""Their one line of help stands here, so that ``--help`` imports none of them."""


class Commands(click.Group):
    """Loads a command's module when it is called; what is no command is a session to open."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        return getattr(import_module(f"ctx_inspect.app.commands.{cmd_name}"), cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Take the first word for a command, else for a session."""
        if args and args[0] in COMMANDS:
            return super().resolve_command(ctx, args)
        from ctx_inspect.app.commands.tui import tui

        return "", tui, args

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the words after ``Usage: ctx-inspect``."""
        return ["[OPTIONS]", "[SESSION] | COMMAND [ARGS]..."]


EPILOG = "SESSION is a key (opencode:ses_…), an id, a unique beginning of one, or last."


@click.group(
    cls=Commands,
    invoke_without_command=True,
    subcommand_metavar="",
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="ctx-inspect")
@click.option("--turn", metavar="TURN", help="Open this turn: a number (1…, negative from the end), a message id, or last.")
@click.option("--tab", metavar="NAME", help="Open this tab: diff, budget, cache, steps or text.")
@click.option("--ascii", is_flag=True, help="Draw in ASCII.")
@common
@click.pass_context
def cli(ctx: click.Context, turn: str | None, tab: str | None, ascii: bool, **options: Any) -> None:
    """See, turn by turn, what a coding agent's model was really sent.

    Without a command it opens the interface on all sessions that are found, or on SESSION.
    """
    settings = settings_of(ctx, options)
    settings.turn, settings.tab, settings.ascii = turn, tab, ascii
    if ctx.invoked_subcommand is None:
        from ctx_inspect.app.commands.tui import start

        start(settings, None)
    elif (turn or tab or ascii) and ctx.invoked_subcommand in COMMANDS:
        raise click.UsageError("--turn, --tab and --ascii belong to the interface, not to a command")


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code (:func:`run`)."""
    sys.exit(run(args))


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        args: Arguments; those of the process by default.

    Returns:
        0 done, 1 it differs or a rule is broken, 2 usage, 3 a named source cannot be read, 4 no such session or turn, 5 cannot tell,
        130 interrupted,
        70 the program itself failed (a bug of ours, whose log is named, or an output that cannot be written).
    """
    settings = Settings()
    if sys.stdout is None or sys.stderr is None:  # closed by the caller: nobody reads, which is no failure
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (it lives as long as the process)
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    try:
        result = cli.main(args=None if args is None else list(args), prog_name="ctx-inspect", standalone_mode=False, obj=settings)
        sys.stdout.flush()
    except click.ClickException as error:
        _say(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _quiet()
        return 0
    except OutputLost:
        click.echo("ctx-inspect: the output could not be written (is the disk full?)", err=True)
        _quiet()
        return CRASHED
    except Exception as error:
        return _crashed(error, settings.doing)
    return result if isinstance(result, int) else 0


def _say(error: click.ClickException) -> None:
    """Write a refusal to stderr: what came from outside is made visible."""
    from ctx_inspect.core.model import Raw
    from ctx_inspect.core.text.show import terminal

    text = terminal(Raw(error.format_message()))
    hint = ""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        hint = f"\nTry '{error.ctx.command_path.strip()} --help'."
    with suppress(OSError):  # where it cannot be said, the status still says it
        click.echo(f"ctx-inspect: {text}{hint}", err=True)


def _quiet() -> None:
    """Keep Python from writing to a pipe that nobody reads when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _crashed(error: Exception, doing: str) -> int:
    """Write type and frames of a bug to a log and say one sentence: its message could hold text of a store."""
    from ctx_inspect.app.state import log_crash
    from ctx_inspect.core.model import Raw
    from ctx_inspect.core.text.show import terminal

    path = log_crash(error, doing=doing)
    where = f"where it happened is in {terminal(Raw(str(path)))}" if path else "its log could not be written"
    click.echo(f"ctx-inspect: a bug in ctx-inspect stopped it ({type(error).__name__}); {where}", err=True)
    return CRASHED
