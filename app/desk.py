"""Between the reader threads and the screen: which sessions there are, which one is read, what was new.

Everything it is told by a thread comes back to the app as one message, so that only the app's own thread ever
touches what is kept here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from ctx_inspect.app.counting import Exact, Tally
from ctx_inspect.app.messages import Counted, Listed, Read, Texts
from ctx_inspect.app.snapshot import Snapshot, compose
from ctx_inspect.app.start import Windows, untouched
from ctx_inspect.core.choose import merged, pick
from ctx_inspect.core.live import Live, LiveEvent
from ctx_inspect.core.model import Known, Listing, Problem, Raw, Ref, Request, SessionInfo, Unavailable, Why, replace
from ctx_inspect.core.sources.base import Glances, NoSession, Source, SourceError
from ctx_inspect.core.views.text import TEXT_READ, Found, found
from textual.message import Message

LONG = 5_000
"""Requests of a session above which its turns are shown before its message lists are made: 16 µs each."""

TEXTS_AT_ONCE = 12
"""Texts read in one go, so that the first ones appear before the last are read."""

Post = Callable[[Message], object]
Explain = Callable[[str, BaseException], Problem]


class Desk:
    """Keeps the lists of all sources and reads the wanted session.

    Attributes:
        wanted: Key of the session that is to be shown.
        snapshot: What was read of it.
        reading_since: When a read began (monotonic seconds); ``None`` = none runs.
        gone_at: When the wanted session's store vanished, epoch milliseconds.
        listed: Sources that have answered.
        failed: What is wrong with those that could not be listed.
        reads: How many reads of sessions were begun.
    """

    def __init__(self, live: Live, post: Post, explain: Explain, limits: Callable[[Windows], Windows] = untouched) -> None:
        """Make an empty desk.

        Args:
            live: Reads and watches.
            post: Gives a message to the app, from any thread.
            explain: Logs an error nobody expected and says so in a sentence.
            limits: Puts the limits that the person has set beside a harness's own.
        """
        self.live, self.post, self.explain, self.limits = live, post, explain, limits
        self.listings: dict[tuple[str, str], Listing] = {}
        self.sources: dict[str, Source] = {}
        self.infos: dict[str, SessionInfo] = {}
        self.listed: set[tuple[str, str]] = set()
        self.failed: dict[tuple[str, str], Problem] = {}
        self.gone: set[tuple[str, str]] = set()
        self.wanted: str | None = None
        self.snapshot: Snapshot | None = None
        self.reading_since: float | None = None
        self.gone_at: int | None = None
        self.reads = self._taken = 0
        self._again = False
        self._future: Future[Snapshot] | None = None
        self._tally: tuple[str, Tally] | None = None

    # --- lists ---------------------------------------------------------------------------------------------

    def expect(self, source: Source, future: Future[Listing]) -> None:
        """Have a list posted when it comes."""
        future.add_done_callback(lambda f: None if f.cancelled() else self.post(Listed(source, f.exception() or f.result())))

    def relist(self, source: Source) -> None:
        """Read a source's list again."""
        self.expect(source, self.live.reader(source).sessions())

    def take_list(self, message: Listed) -> tuple[Problem, ...]:
        """Take a list; return what is to be said about it."""
        where = place_of(message.source)
        self.listed.add(where)
        self.failed.pop(where, None)
        if isinstance(message.found, BaseException):
            self.failed[where] = self.problem(message.found, message.source, "listing sessions")
            return (self.failed[where],)
        self.listings[where] = message.found
        had = (self.wanted or "") in self.sources
        self._index()
        mine = self.sources.get(self.wanted or "")
        back = not had or (self.gone_at is not None and where not in self.gone)
        if back and mine is not None and place_of(mine) == where and self.snapshot is not None:
            self._again = True  # it went away, or was no session, and is there again: its news could not be told by its name
        return message.found.problems

    def _index(self) -> None:
        self.infos.clear()
        self.sources.clear()
        by_key = {place_of(s): s for s in self.live.sources}
        for key, (source, info) in merged((by_key[where], listing.sessions) for where, listing in self.listings.items()).items():
            self.infos[key], self.sources[key] = info, source

    @property
    def complete(self) -> bool:
        """Whether all sources have answered."""
        return self.listed >= {place_of(s) for s in self.live.sources}

    @property
    def sessions(self) -> tuple[SessionInfo, ...]:
        """All sessions, newest first."""
        return tuple(sorted(self.infos.values(), key=lambda s: s.updated or 0, reverse=True))

    @property
    def info(self) -> SessionInfo | None:
        """The wanted session as the list has it."""
        return self.infos.get(self.wanted or "") or (self.snapshot.ledger.info if self.snapshot is not None else None)

    def gone_keys(self) -> frozenset[str]:
        """Return the keys of sessions whose store vanished."""
        return frozenset(key for key, source in self.sources.items() if place_of(source) in self.gone)

    def resolve(self, named: str | None, here: str | None) -> str | None:
        """Return the key of a named session (a key, an id, a unique prefix of one, ``last``), or of the one to open by itself."""
        if named == "last":
            named, here = None, None
        if named is None:
            found = pick(self.sessions, here)
            return found.key if found is not None else None
        if named in self.infos:
            return named
        same = [s.key for s in self.sessions if s.id == named] or [
            s.key for s in self.sessions if s.id.startswith(named) or s.key.startswith(named)
        ]
        return same[0] if len(same) == 1 else None

    # --- one session ---------------------------------------------------------------------------------------

    def want(self, key: str, *, read: bool = True) -> bool:
        """Read a session; return whether it is known.

        Args:
            key: Of the session.
            read: Begin at once; else :meth:`begin` does.
        """
        source = self.sources.get(key)
        if source is None:
            return False
        if key != self.wanted:
            self.snapshot, self._again, self.reading_since = None, False, None
        self.wanted = key
        self.gone_at = int(time.time() * 1000) if place_of(source) in self.gone else None
        if read:
            self._read(source, key)
        else:
            self._future, self.reading_since = None, time.monotonic()
        return True

    def begin(self) -> None:
        """Begin to read the wanted session, if that was put off and nothing else is read or was stopped meanwhile."""
        source = self.sources.get(self.wanted or "")
        if source is not None and self.wanted is not None and self._future is None and self.reading_since is not None:
            self._read(source, self.wanted)

    def _read(self, source: Source, key: str, *, rest: bool = False) -> None:
        self.reads += 1
        info = self.infos.get(key)
        before = self.snapshot
        prior = before.ledger if before is not None and not before.ledger.partial else None
        session = info.id if info is not None else key.partition(":")[2]
        self.reading_since = self.reading_since or time.monotonic()
        limits = self.limits

        def read(owner: Source) -> Snapshot:
            ahead = owner.glance(session) if before is None and isinstance(owner, Glances) else None
            if ahead is not None:
                return compose(owner, ahead, limits=limits)
            if rest and before is not None and not before.ledger.partial:
                return compose(owner, before.ledger, limits=limits)
            ledger = owner.open(session, prior)
            first = prior is None and sum(len(turn.requests) for turn in ledger.turns) > LONG
            return compose(owner, ledger, before=before, limits=limits, whole=not first)

        future = self.live.reader(source).ask(read, lane="open")
        self._future = future
        reads = self.reads
        future.add_done_callback(lambda f: None if f.cancelled() else self.post(Read(key, f.exception() or f.result(), reads)))

    def read_rest(self, reads: int) -> None:
        """Go on reading the wanted session, if not all of it is here and nobody stopped it.

        Args:
            reads: How many reads had been begun when the first part came.
        """
        source = self.sources.get(self.wanted or "")
        if reads != self.reads:
            return  # it was stopped and is read again already, with the news that came
        if source is not None and self.wanted is not None and self.unfinished and self.reading_since is not None:
            self._read(source, self.wanted, rest=True)

    @property
    def partial(self) -> bool:
        """Whether only the newest turns of the wanted session are read so far."""
        return self.snapshot is not None and self.snapshot.ledger.partial

    @property
    def unfinished(self) -> bool:
        """Whether more of the wanted session is to be read, or made of what was read."""
        return self.snapshot is not None and (self.snapshot.ledger.partial or not self.snapshot.whole)

    def take_read(self, message: Read) -> Problem | None:
        """Take a session that was read; return what is to be said."""
        if message.key != self.wanted or message.reads < self._taken:
            return None  # what a thread posts may come after what was posted later from here
        self._taken = message.reads
        if isinstance(message.found, Snapshot):
            self.snapshot = message.found
            source = self.sources.get(message.key)
            if source is not None and place_of(source) not in self.gone:
                self.gone_at = None
            info, read = self.infos.get(message.key), message.found.ledger.info
            if info is not None and not message.found.ledger.partial and info.title != read.title:
                self.infos[message.key] = replace(info, title=read.title)  # all of it was read, of which a list knows the ends
            if not self.unfinished:
                self.reading_since = None
            return None
        self.reading_since = None
        if isinstance(message.found, NoSession):
            self.gone_at = self.gone_at or int(time.time() * 1000)
            return None
        return self.problem(message.found, self.sources.get(message.key), "reading the session")

    def stop(self) -> bool:
        """Stop reading; return whether anything was being read. What is read already stays."""
        if self.reading_since is None:
            return False
        self.reading_since, self._again = None, False
        if self._future is not None:
            self._future.cancel()
        if self.snapshot is None:
            self.wanted = None
        return True

    def ask_texts(self, refs: tuple[Ref, ...], asked: int) -> None:
        """Read some texts of the session on screen; what of them is still to be read then stands in the message.

        Args:
            refs: Where they lie.
            asked: The pane's wish, handed back.
        """
        key = self.wanted or ""
        source = self.sources.get(key)
        if source is None or not refs:
            self.post(Texts(key, asked, {}))
            return
        first, rest = refs[:TEXTS_AT_ONCE], refs[TEXTS_AT_ONCE:]
        post = self.post

        def read(owner: Source) -> dict[Ref, Found]:
            return {ref: found(_text(owner, ref)) for ref in first}

        def done(future: Future[dict[Ref, Found]]) -> None:  # in the source's thread: it posts, and touches nothing
            if not future.cancelled():
                post(Texts(key, asked, future.exception() or future.result(), first, rest))

        self.live.reader(source).ask(read, lane="text").add_done_callback(done)

    def take_texts(self, message: Texts) -> tuple[Mapping[Ref, Found], Problem | None]:
        """Return texts that were read, and what is to be said: where reading them failed, each says so in its place."""
        if not isinstance(message.found, BaseException):
            return message.found, None
        failed = Found(Unavailable(Why.UNREADABLE, "reading it failed"))
        return dict.fromkeys(message.refs, failed), self.problem(message.found, self.sources.get(message.key), "reading texts")

    def ask_count(self, request: Request) -> None:
        """Count on what a request of the session on screen carried; it comes in a message."""
        key = self.wanted or ""
        source = self.sources.get(key)
        if source is None:
            return
        if self._tally is None or self._tally[0] != key:
            self._tally = key, Tally()
        tally, post = self._tally[1], self.post

        def done(future: Future[Exact | bool]) -> None:  # in the source's thread: it posts, and touches nothing
            if not future.cancelled():
                post(Counted(key, request, future.exception() or future.result()))

        self.live.reader(source).ask(lambda owner: tally.step(owner, request), lane="count").add_done_callback(done)

    # --- news ----------------------------------------------------------------------------------------------

    def take_news(self, event: LiveEvent) -> Problem | None:
        """Take news of a source: list and read again what may have changed; return what is to be said."""
        where = place_of(event.source)
        mine = self.sources.get(self.wanted or "")
        ours = mine is not None and place_of(mine) == where
        if event.error is not None:
            return event.error
        if event.gone:
            self.gone.add(where)
            if ours:
                self.gone_at = int(time.time() * 1000)
            return None
        if event.back:
            self.gone.discard(where)
            if ours:
                self.gone_at = None
        if event.listing or event.ids is None:
            self.relist(event.source)
        now = int(time.time() * 1000)
        for key, info in list(self.infos.items()):
            if event.ids is not None and info.id in event.ids and self.sources.get(key) is event.source:
                self.infos[key] = replace(info, live=True, updated=now)
        info = self.info
        if ours and info is not None and (event.ids is None or info.id in event.ids):
            self._again = True
        return None

    def read_again(self) -> bool:
        """Read the session on screen again if there was news and no read runs; return whether one was begun."""
        source = self.sources.get(self.wanted or "")
        if not self._again or self.reading_since is not None or source is None or self.wanted is None:
            return False
        self._again = False
        self._read(source, self.wanted)
        return True

    @property
    def behind(self) -> bool:
        """Whether there is news that has not been read."""
        return self._again

    def problem(self, error: BaseException, source: Source | None, doing: str) -> Problem:
        """Return a sentence about an error: the source's own, or that something unexpected happened."""
        if isinstance(error, SourceError):
            return Problem(Raw(str(error.path)), error.code, error.message)
        found = self.explain(doing, error)
        return replace(found, source=Raw(str(source.path))) if source is not None else found


def _text(source: Source, ref: Ref) -> Known[Raw]:
    try:
        return source.text(ref, TEXT_READ)
    except (SourceError, NoSession):
        return Unavailable(Why.UNREADABLE, "it could not be read")


def place_of(source: Source) -> tuple[str, str]:
    """Return what tells a source from others: its kind and path."""
    return source.kind, str(source.path)
