"""With what the interface starts, and the reading that begins before it is there."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path

from ctx_inspect.core.live import Live, LiveEvent
from ctx_inspect.core.model import Listing, Model, Window
from ctx_inspect.core.sources.base import Looked, Source
from msgspec import Struct

Windows = Callable[[Model], Window]
"""How a model's window is treated."""


def untouched(windows: Windows) -> Windows:
    """Return a harness's own windows: the person has set no limits."""
    return windows


class Fault(Struct, frozen=True):
    """An error that nobody expected, in a thread that reads or watches.

    Attributes:
        doing: What was being done, in our own words.
        error: It; only its type and frames are ever used.
    """

    doing: str
    error: BaseException


class Start(Struct, frozen=True):
    """With what the interface starts.

    Attributes:
        live: Reads and watches all sources.
        listings: The first lists of sessions, on their way.
        events: News from before the interface was there.
        looked: Where discovery looked.
        session: Open this key or id.
        turn: Select this turn; negative from the end.
        tab: Show this tab.
        ascii_only: Draw in ASCII.
        no_color: Name no colour to the terminal.
        theme: Name of a theme.
        here: Project of the current directory.
        keys: Keys set by the person, by id.
        notes: Sentences of our own to show at start.
        demo: Gives sources of sample data.
        open_path: Gives the sources at a path.
        state: Folder for what is remembered; ``None`` = the usual one.
        limits: Puts the limits that the person has set beside a harness's own (:meth:`Config.window_for`).
        command: The words that begin a command on these sources; ``None`` = no command finds them again (the demo).
    """

    live: Live
    listings: Sequence[tuple[Source, Future[Listing]]]
    events: queue.SimpleQueue[LiveEvent | Fault]
    looked: Sequence[Looked] = ()
    session: str | None = None
    turn: int | None = None
    tab: str | None = None
    ascii_only: bool = False
    no_color: bool = False
    theme: str | None = None
    here: str | None = None
    keys: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    demo: Callable[[], Iterable[Source]] | None = None
    open_path: Callable[[Path], Iterable[Source]] | None = None
    state: Path | None = None
    limits: Callable[[Windows], Windows] = untouched
    command: tuple[str, ...] | None = ("ctx-inspect",)


class Mailbox:
    """Keeps news until the interface is there, then hands them on."""

    def __init__(self) -> None:
        """Make an empty one."""
        self.waiting: queue.SimpleQueue[LiveEvent | Fault] = queue.SimpleQueue()
        self.to: Callable[[LiveEvent | Fault], object] | None = None

    def fault(self, doing: str, error: BaseException) -> None:
        """Take an error that nobody expected; runs in any thread."""
        self(Fault(doing, error))

    def __call__(self, event: LiveEvent | Fault) -> None:
        """Take news; runs in any thread."""
        if self.to is None:
            self.waiting.put(event)
        else:
            self.to(event)


def begin(
    sources: Iterable[Source],
    mailbox: Mailbox,
    *,
    discover: Callable[[], Iterable[Source]] | None = None,
) -> tuple[Live, list[tuple[Source, Future[Listing]]]]:
    """Start to read and to watch.

    Args:
        sources: What was found or named.
        mailbox: Gets the news.
        discover: Looks for sources again.
    """
    live = Live(sources, mailbox, discover=discover, on_fault=mailbox.fault).start()
    return live, [(source, live.reader(source).sessions()) for source in live.sources]
