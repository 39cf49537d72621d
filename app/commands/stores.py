"""Which stores a command reads, which session and which turn its words mean."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import click
from ctx_inspect.app.commands.options import Settings
from ctx_inspect.core.choose import merged, pick
from ctx_inspect.core.config import Config, load
from ctx_inspect.core.model import Ledger, Listing, Model, Problem, ProblemCode, Raw, SessionInfo, Turn, Window
from ctx_inspect.core.sources.base import Looked, NoSession, Source, SourceError
from ctx_inspect.core.sources.discovery import discover, open_sources
from ctx_inspect.core.text.show import terminal
from msgspec import Struct

AMBIGUOUS_SHOWN = 5


class NoSource(click.ClickException):
    """A source that the user named cannot be read; what came from outside in the sentence is made visible when it is written."""

    exit_code = 3


class NotFound(click.ClickException):
    """There is no such session or turn; what came from outside in the sentence is made visible when it is written."""

    exit_code = 4


def no_source(error: SourceError) -> NoSource:
    """Return the refusal of a source that the user named."""
    return NoSource(f"{error.path}: {error.message}")


def config() -> Config:
    """Read the user's own file."""
    from platformdirs import user_config_path

    return load(user_config_path("ctx-inspect", appauthor=False) / "config.toml")


class Found(Struct, frozen=True):
    """A session of the list and the store it lies in."""

    source: Source
    info: SessionInfo


class Stores:
    """The stores of one call."""

    def __init__(self, sources: Sequence[Source], looked: Sequence[Looked], problems: Sequence[Problem], named: bool) -> None:
        """Take stores that are open; see :func:`stores`."""
        self.sources, self.looked, self.named = tuple(sources), tuple(looked), named
        self.problems: list[Problem] = list(problems)
        self.config = config()
        self._found: list[Found] | None = None

    def sessions(self) -> list[Found]:
        """List all sessions, newest first, each once; what cannot be read is a problem.

        Raises:
            NoSource: A source that the user named cannot be read.
        """
        if self._found is None:
            best = merged((source, self._listing(source).sessions) for source in self.sources)
            self._found = sorted((Found(*one) for one in best.values()), key=lambda f: (-(f.info.updated or 0), f.info.key))
        return self._found

    def _listing(self, source: Source) -> Listing:
        try:
            listing = source.sessions()
        except SourceError as error:
            if self.named:
                raise no_source(error) from None
            self.problems.append(Problem(Raw(str(error.path)), error.code, error.message))
            return Listing()
        self.problems += listing.problems
        return listing

    def readable(self) -> tuple[list[Found], set[Problem]]:
        """List all sessions of the stores that can be read, and what is wrong with those stores; the others are left out."""
        listed: list[tuple[Source, Sequence[SessionInfo]]] = []
        problems: set[Problem] = set()
        for source in self.sources:
            with suppress(SourceError):
                listing = source.sessions()
                listed.append((source, listing.sessions))
                problems.update(listing.problems)
        return [Found(*one) for one in merged(listed).values()], problems

    def session(self, word: str) -> Found:
        """Return the session that a word means: a key, an id, a unique beginning of one, or ``last``.

        Raises:
            NotFound: There is none, or more than one.
        """
        found = self.sessions()
        if word == "last":
            chosen = pick([f.info for f in found], None)
            if chosen is None:
                raise NotFound("no session was found")
            return next(f for f in found if f.info is chosen)
        exact = [f for f in found if word in (f.info.key, f.info.id)]
        if len(exact) == 1:
            return exact[0]
        begun = exact or [f for f in found if word and (f.info.key.startswith(word) or f.info.id.startswith(word))]
        if len(begun) == 1:
            return begun[0]
        if not begun:
            raise NotFound(f"no session {word!r}; ctx-inspect sessions lists those that were found")
        keys = [terminal(Raw(f.info.key), 200) for f in begun[:AMBIGUOUS_SHOWN]]
        more = f" and {len(begun) - AMBIGUOUS_SHOWN} more" if len(begun) > AMBIGUOUS_SHOWN else ""
        raise NotFound(f"{word!r} is the beginning of several sessions: {', '.join(keys)}{more}")

    def open(self, found: Found) -> Ledger:
        """Read a session whole.

        Raises:
            NoSource: It cannot be read.
            NotFound: It is gone since it was listed.
        """
        try:
            return found.source.open(found.info.id)
        except NoSession:
            raise NotFound(f"the session {found.info.key} is gone") from None
        except SourceError as error:
            raise no_source(error) from None

    def try_open(self, found: Found) -> Ledger | None:
        """Read a session whole; where it cannot be read that is a problem."""
        try:
            return found.source.open(found.info.id)
        except NoSession:
            self.problems.append(Problem(found.info.path, ProblemCode.GONE, f"the session {found.info.id} went while it was read"))
        except SourceError as error:
            self.problems.append(Problem(Raw(str(error.path)), error.code, error.message))
        return None

    def window_for(self, found: Found) -> Callable[[Model], Window]:
        """Return how the harness treats a model's window, with the user's own limits."""
        return self.config.window_for(lambda model: found.source.window(model, found.info.id))


def stores(settings: Settings, *, one_shot: bool = True) -> Stores:
    """Open the stores that the user named, else those that are found.

    Args:
        settings: What the call was told.
        one_shot: They are read once; the interface goes on watching instead.

    Raises:
        NoSource: One that the user named cannot be read.
    """
    if settings.sources:
        try:
            return Stores(open_sources(settings.sources, one_shot=one_shot), (), (), named=True)
        except SourceError as error:
            raise no_source(error) from None
    found = discover(os.environ, Path.home(), one_shot=one_shot)
    return Stores(found.sources, found.looked, found.problems, named=False)


def turn_named(ledger: Ledger, word: str) -> Turn:
    """Return the turn that a word means: a number from 1, negative from the end, a message's id, or ``last``.

    Raises:
        NotFound: There is none.
        click.UsageError: It looks like an option.
    """
    turns = ledger.turns
    if not turns:
        raise NotFound(f"the session {ledger.key} has no turn yet")
    if word == "last":
        return turns[-1]
    if word.lstrip("-").isdecimal() and word.isascii():
        n = int(word[:20])
        if 1 <= n <= len(turns):
            return turns[n - 1]
        if -len(turns) <= n <= -1:
            return turns[n]
        raise NotFound(f"no turn {word}: the session {ledger.key} has {len(turns)}")
    for turn in turns:
        if word in turn.ids or any(r.id == word for r in turn.requests):
            return turn
    for hidden in ledger.hidden:
        if word in hidden.ids or any(r.id == word for r in hidden.requests):
            raise NotFound(f"the turn of {word!r} is {hidden.state}: it is no longer on the active history")
    if word.startswith("-"):
        raise click.UsageError(f"no such option: {word}")
    raise NotFound(f"no turn {word!r} in the session {ledger.key}")
