"""The ``ctx-inspect`` command. Importing it must stay cheap: no Textual before it is needed."""

from __future__ import annotations

import click
from ctx_inspect import __version__


@click.group(invoke_without_command=True)
@click.version_option(__version__, prog_name="ctx-inspect")
def main() -> None:
    """See, turn by turn, what a coding agent's model was really sent."""
