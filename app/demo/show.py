"""Opens the interface on the sample sessions, and on nothing else."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from ctx_inspect.app.demo.feed import Feed, wall_clock
from ctx_inspect.app.demo.stage import Stage, live_lines, stage
from ctx_inspect.app.leaving import ended
from ctx_inspect.core.sources.base import Source


@contextmanager
def playing() -> Iterator[Stage]:
    """Set the sample sessions up, let one of them grow, and take all of it away again."""
    with stage(wall_clock()) as made:
        feed = Feed(made.live, live_lines())
        feed.start()
        try:
            yield made
        finally:
            feed.stop()


def run(*, ascii: bool = False, theme: str | None = None, no_color: bool = False, keys: dict[str, str] | None = None) -> int:
    """Run the interface on the sample sessions until it is left.

    Args:
        ascii: Draw in ASCII.
        theme: Name of a theme.
        no_color: Name no colour to the terminal.
        keys: Keys set by the person, by id.

    Returns:
        The exit code.
    """
    from ctx_inspect.app.app import run as run_interface

    with ExitStack() as stack, ended(stack.close):
        made = stack.enter_context(playing())
        try:
            # what is remembered of sample sessions goes away with them
            return run_interface(
                made.sources(),
                session=made.main,
                ascii=ascii,
                theme=theme,
                no_color=no_color,
                keys=keys,
                state=made.home / "state",
                command=None,  # nothing of it is there any more when a command is pasted
            )
        finally:
            stack.close()
            made.remove()  # after a signal the interface still wrote what it remembers


def sources() -> tuple[Source, ...]:
    """Return sources of sample sessions that last until the program ends (for the key on the empty screen)."""
    stack = ExitStack()
    atexit.register(stack.close)
    made = stack.enter_context(playing())
    # The guard outlives this function: it ends with the program.
    atexit.register(_guard(stack).close)
    return made.sources()


def _guard(stack: ExitStack) -> ExitStack:
    guard = ExitStack()
    guard.enter_context(ended(stack.close))
    return guard
