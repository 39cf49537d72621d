"""Starts the terminal interface: reading begins before the framework is imported, so the first frame holds data.

Nothing here may import Textual at the top.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ctx_inspect.app.leaving import ended
from ctx_inspect.app.start import Mailbox, Start, Windows, begin, untouched
from ctx_inspect.core.model import Raw
from ctx_inspect.core.project import project_of
from ctx_inspect.core.sources.base import Looked, Source
from ctx_inspect.core.views.glyphs import needs_ascii

FRAMEWORK_VARIABLES = (
    "TEXTUAL",
    "TEXTUAL_LOG",
    "TEXTUAL_DEBUG",
    "TEXTUAL_SCREENSHOT",
    "TEXTUAL_SCREENSHOT_LOCATION",
    "TEXTUAL_SCREENSHOT_FILENAME",
    "TEXTUAL_PRESS",
    "TEXTUAL_SHOW_RETURN",
    "TEXTUAL_DEVTOOLS_HOST",
    "TEXTUAL_DEVTOOLS_PORT",
    "TEXTUAL_DRIVER",
    "COLUMNS",
    "LINES",
)
"""They make the framework write logs or pictures, send the screen elsewhere, or draw another size than the terminal's: removed at start."""

FRAMES = "120"
"""The framework paints at most so often a second; at its usual 60 a key waits 8 ms for nothing."""

SWITCH = 0.001
"""Seconds after which a busy reader thread lets the screen's go on; Python's own 0.005 is felt as lag."""


def run(
    sources: Iterable[Source],
    *,
    looked: Sequence[Looked] = (),
    session: str | None = None,
    turn: int | None = None,
    tab: str | None = None,
    ascii: bool = False,
    theme: str | None = None,
    keys: dict[str, str] | None = None,
    notes: tuple[str, ...] = (),
    discover: Callable[[], Iterable[Source]] | None = None,
    demo: Callable[[], Iterable[Source]] | None = None,
    open_path: Callable[[Path], Iterable[Source]] | None = None,
    state: Path | None = None,
    no_color: bool = False,
    limits: Callable[[Windows], Windows] = untouched,
    command: tuple[str, ...] | None = ("ctx-inspect",),
) -> int:
    """Run the terminal interface until it is left.

    Args:
        sources: What was found or named.
        looked: Where discovery looked, for the empty screen.
        session: Open this session: a key or an id.
        turn: Select this turn; negative from the end.
        tab: ``diff``, ``budget``, ``cache``, ``steps`` or ``text``.
        ascii: Draw in ASCII; also where the terminal asks for it by itself.
        theme: ``dark``, ``light``, ``high-contrast`` or ``ansi``.
        keys: Keys set by the person, by id.
        notes: Sentences of our own to show at start.
        discover: Looks for sources again, now and then.
        demo: Gives sources of sample data.
        open_path: Gives the sources at a path.
        state: Folder for what is remembered; the usual one by default.
        no_color: Name no colour to the terminal; also where ``NO_COLOR`` is set.
        limits: Puts the limits that the person has set beside a harness's own.
        command: The words that begin a command on these sources; ``None`` = no command finds them again.

    Returns:
        The exit code: 0, or 1 after an internal error.

    Raises:
        SystemExit: A signal asked the program to end (143, 129, …); the terminal is given back first.
        KeyboardInterrupt: It was interrupted; the terminal is given back as well.
    """
    sys.setswitchinterval(SWITCH)
    gc.disable()  # importing makes many objects that live for ever; the interface turns it on after its first frame
    mailbox = Mailbox()
    live, listings = begin(sources, mailbox, discover=discover)
    for name in FRAMEWORK_VARIABLES:
        os.environ.pop(name, None)
    os.environ["TEXTUAL_FPS"] = FRAMES
    # From here on threads read while the framework is imported.
    start = Start(
        live,
        listings,
        mailbox.waiting,
        looked=looked,
        session=session,
        turn=turn,
        tab=tab,
        ascii_only=ascii or needs_ascii(),
        no_color=no_color,
        theme=theme,
        here=_here(),
        keys=keys or {},
        notes=notes,
        demo=demo,
        open_path=open_path,
        state=state,
        limits=limits,
        command=command,
    )
    try:
        with ended():
            from ctx_inspect.app.inspector import Inspector

            inspector = Inspector(start)
            mailbox.to = inspector.take_news
            inspector.run()
            if inspector.return_code is None:  # it was cancelled, and the framework takes that for an end like any other
                raise KeyboardInterrupt
            return inspector.return_code
    finally:
        gc.enable()
        live.close(0.5)


def _here() -> str | None:
    try:
        return project_of(Raw(os.getcwd()))
    except OSError:
        return None
