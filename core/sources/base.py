"""The contract of a source: the same verbs for every store (and, later, for streams)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ctx_inspect.core.model import Known, Ledger, Listing, Model, ProblemCode, Raw, Ref, Window
from msgspec import Struct


class SourceError(Exception):
    """A store that cannot be read at all.

    Attributes:
        code: What kind of problem.
        message: One sentence of our own words: what, where, what to do next. It never holds text of the
            store nor ``str()`` of another exception.
        path: The file or folder.
    """

    def __init__(self, code: ProblemCode, message: str, path: Path) -> None:
        """Make the error; see the attributes."""
        super().__init__(message)
        self.code, self.message, self.path = code, message, path


class NoSession(Exception):
    """The session is not (or no longer) in this store."""


class Change(Struct, frozen=True):
    """What a source found new.

    Attributes:
        cursor: Hand it to the next ``changed``; opaque.
        ids: Session ids with news; ``None`` = cannot tell, look at all.
        listing: Whether the list itself changed (a session came, went, or got another title).
        gone: Whether the store vanished.
    """

    cursor: object
    ids: frozenset[str] | None = frozenset()
    listing: bool = False
    gone: bool = False

    @property
    def any(self) -> bool:
        """Whether anything is new."""
        return self.listing or self.gone or self.ids is None or bool(self.ids)


class Source(Protocol):
    """One store (a database, a sessions folder, one session file), read-only.

    All methods may block on I/O and belong to one worker thread per source. None of them writes,
    locks, migrates or checkpoints anything, and no connection or file handle outlives a call.
    """

    @property
    def kind(self) -> str:
        """``opencode`` or ``pi``."""
        ...

    @property
    def path(self) -> Path:
        """The database file, sessions folder or session file."""
        ...

    def watch_paths(self) -> Sequence[Path]:
        """Files whose ``stat`` tells of news (a database and its ``-wal``), or folders to be watched."""
        ...

    def sessions(self) -> Listing:
        """List the sessions, newest first. Cheap: opens none of them.

        Raises:
            SourceError: Nothing of the store can be read.
        """
        ...

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        """Read a session whole; with ``prior``, only what is new since.

        Raises:
            NoSession: It is not (or no longer) there.
            SourceError: The store cannot be read.
        """
        ...

    def changed(self, since: object | None) -> Change:
        """Tell what is new since the cursor of an earlier call; costs a few ``stat`` where nothing is."""
        ...

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        """Read the text a ref points to, as the model got it, at most ``limit`` characters of it."""
        ...

    def window(self, model: Model, session: str | None = None) -> Window:
        """Tell how the harness treats this model's window, from its own configuration.

        Args:
            model: Provider and id.
            session: Id of the session that asks, for its project's own configuration; without one that of no project counts.
        """
        ...


@runtime_checkable
class Glances(Protocol):
    """A source that can tell a session's newest turns before all of it is read; one verb more than :class:`Source`."""

    def glance(self, session: str) -> Ledger | None:
        """Read the newest turns alone.

        Returns:
            A ledger with ``partial`` set; ``None`` where opening the session whole is as good.

        Raises:
            NoSession: It is not (or no longer) there.
            SourceError: The store cannot be read.
        """
        ...


Environment = Mapping[str, str]
"""Environment variables that discovery looks at (``HOME``, ``XDG_DATA_HOME``, ``OPENCODE_DB``, …)."""


class Looked(Struct, frozen=True):
    """A place where discovery looked, for the empty screen and ``doctor``.

    Attributes:
        kind: ``opencode``, ``pi``.
        label: ``OpenCode``, ``Pi``.
        place: The path or pattern, home written ``~``.
        found: What was found there: paths of stores.
        why: Why nothing (``no such folder``, ``no permission``, ``empty``).
    """

    kind: str
    label: str
    place: str
    found: tuple[Path, ...] = ()
    why: str | None = None

    @property
    def denied(self) -> bool:
        """Whether it may be there and cannot be looked at: that is a problem, not an absence."""
        return self.why is not None and self.why.startswith("no permission")
