"""The thread that owns a source: it alone reads it, for the screen and for the watch."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from ctx_inspect.core.live.events import LiveEvent
from ctx_inspect.core.live.hints import Wake
from ctx_inspect.core.live.pace import IDLE_GAP, Pace
from ctx_inspect.core.model import Known, Ledger, Listing, Problem, ProblemCode, Raw, Ref
from ctx_inspect.core.sources.base import Change, Source, SourceError
from msgspec import Struct

T = TypeVar("T")

Fault = Callable[[str, BaseException], None]
"""Told of an error nobody expected: where (our own words), and the exception (log its type, never its text)."""


_RENEW_GAP = 1.5 * IDLE_GAP
"""More than the gap between idle looks, which do it by the way, so that one wake serves both."""


class _Job(Struct, frozen=True):
    lane: Hashable | None
    future: Future[Any]
    read: Callable[[Source], Any]
    asked: float


class SourceThread:
    """Runs everything that touches one source in one thread: looks for news, and reads on request.

    Requests are answered newest first, because the newest is what the person looks at now. A request in the same *lane* as
    an older one that has not begun takes its place; the older one's future is cancelled. Cancelling a future
    that has not begun keeps it from being run.
    """

    def __init__(
        self,
        source: Source,
        on_change: Callable[[LiveEvent], None],
        *,
        on_fault: Fault | None = None,
        wake: Wake | None = None,
        announce: bool = False,
    ) -> None:
        """Prepare; :meth:`start` begins.

        Args:
            source: What is watched and read.
            on_change: Called in this thread with each event; it should return at once.
            on_fault: Told of unexpected errors, in this thread.
            wake: How to sleep; by default with the system's notifications.
            announce: Post an event with ``new`` once the first look is done.
        """
        self.source = source
        self._post_to, self._fault = on_change, on_fault
        self._wake = wake or Wake()
        self._announce = announce
        self._lock = threading.Lock()
        self._jobs: list[_Job] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name=f"ctx-inspect {source.kind}", daemon=True)
        self._cursor: object | None = None
        self._based = False  # whether a first look told what to compare with
        self._gone = False
        self._error: ProblemCode | None = None
        self._wanted: tuple[object, ...] = ()
        self._want_next = 0.0
        self._renewed = 0.0

    # requests, from any thread

    def ask(self, read: Callable[[Source], T], *, lane: Hashable | None = None) -> Future[T]:
        """Have something read in the source's own thread.

        Args:
            read: Gets the source; runs in its thread.
            lane: Supersedes the waiting request of the same lane, if there is one.

        Returns:
            The result to come, with the error that ``read`` raised, or cancelled when superseded or closed.
        """
        future: Future[T] = Future()
        stale: list[Future[Any]] = []
        with self._lock:
            if self._stopping:
                stale.append(future)
            else:
                if lane is not None:
                    stale += [job.future for job in self._jobs if job.lane == lane]
                    self._jobs = [job for job in self._jobs if job.lane != lane]
                self._jobs.append(_Job(lane, future, read, time.monotonic()))
        for old in stale:  # outside the lock: a cancelled future calls its callbacks here
            old.cancel()
        self._wake.wake()
        return future

    def sessions(self) -> Future[Listing]:
        """List the sessions (:meth:`Source.sessions`)."""
        return self.ask(lambda source: source.sessions(), lane="sessions")

    def open(self, session: str, prior: Ledger | None = None, *, lane: Hashable | None = None) -> Future[Ledger]:
        """Open a session (:meth:`Source.open`).

        Args:
            session: The harness's session id.
            prior: What was read of it before.
            lane: By default a waiting request for the same session is superseded; give one lane to all requests of a
                pane that shows one session at a time.
        """
        return self.ask(lambda source: source.open(session, prior), lane=("open", session) if lane is None else lane)

    def text(self, ref: Ref, limit: int, *, lane: Hashable | None = None) -> Future[Known[Raw]]:
        """Read a text (:meth:`Source.text`); with a lane, a newer request supersedes a waiting one."""
        return self.ask(lambda source: source.text(ref, limit), lane=lane)

    # life

    def start(self) -> None:
        """Begin to watch and to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end, without waiting; waiting requests are cancelled."""
        with self._lock:
            self._stopping = True
            jobs, self._jobs = self._jobs, []
        for job in jobs:
            job.future.cancel()
        self._wake.wake()

    def join(self, seconds: float) -> bool:
        """Wait for the end; return whether it came (a long read is not interrupted)."""
        if self._thread.ident is None:
            self._wake.close()
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # the thread

    def _run(self) -> None:
        pace = Pace(time.monotonic(), folder=self._is_folder())
        try:
            self._renew(time.monotonic())
            while not self._stopping:
                try:
                    self._turn(pace)
                except Exception as e:
                    self._report("watching", e)
                    self._wake.wait(1.0)
        finally:
            self._wake.close()

    def _turn(self, pace: Pace) -> None:
        now = time.monotonic()
        due = min(pace.due(watched=self._wake.watched), self._renewed + _RENEW_GAP, self._job_due(pace))
        if self._wake.wait(max(0.0, due - now)):
            pace.hint(time.monotonic())
        now = time.monotonic()
        if self._stopping:
            return
        if now >= self._renewed + _RENEW_GAP and self._renew(now):
            pace.hint(now)  # what is watched is another now, so something happened
        if pace.due(watched=self._wake.watched) <= now:
            if not self._wake.watched or now >= self._renewed + IDLE_GAP / 2:
                self._renew(now)  # before the look: what comes after it is told, and what came before is seen
            began = time.thread_time()
            changed = self._look()
            pace.looked(now, time.monotonic(), cost=time.thread_time() - began, changed=changed)
        if self._job_due(pace) <= time.monotonic():
            self._answer_one()

    def _job_due(self, pace: Pace) -> float:
        with self._lock:
            return pace.calm(self._jobs[-1].asked) if self._jobs else math.inf

    def _answer_one(self) -> None:
        with self._lock:
            if not self._jobs:
                return
            job = self._jobs.pop()
        if not job.future.set_running_or_notify_cancel():
            return
        try:
            result = job.read(self.source)
        except BaseException as e:  # it goes to who asked; this thread lives on
            job.future.set_exception(e)
            del e
        else:
            job.future.set_result(result)

    def _is_folder(self) -> bool:
        try:
            return any(p.is_dir() for p in self.source.watch_paths())
        except Exception as e:
            self._report("asking what to watch", e)
            return False

    def _renew(self, now: float) -> bool:
        """Watch what is to be watched now, and return whether that is another than before.

        Where something is missing it is tried again once a second (rarer where that is dear).
        """
        self._renewed = now
        try:
            paths = tuple(self.source.watch_paths())
        except Exception as e:
            self._report("asking what to watch", e)
            return False
        if not self._wake.watched and paths == self._wanted and now < self._want_next:
            return False
        self._wanted = paths
        changed = self._wake.want(paths)
        self._want_next = now + max(IDLE_GAP, 100 * (time.monotonic() - now))
        return changed

    def _look(self) -> bool:
        """Ask the source what is new, tell it, and return whether anything was."""
        first = not self._based
        try:
            change = self.source.changed(self._cursor)
        except SourceError as e:
            return self._failed(Problem(Raw(str(e.path)), e.code, e.message))
        except Exception as e:
            self._report("looking for news", e)
            where = Raw(str(self.source.path))
            return self._failed(Problem(where, ProblemCode.CORRUPT, f"could not be checked for news ({type(e).__name__}); trying again"))
        self._cursor, self._based = change.cursor, True
        if change.gone:
            return self._vanished()
        back = self._gone or self._error is not None
        self._gone, self._error = False, None
        if back:
            self._post(LiveEvent(self.source, ids=None, listing=True, back=True))
        elif self._announce:
            self._post(LiveEvent(self.source, ids=None, listing=True, new=True))
        elif change.any and not first:
            self._post(_event(self.source, change))
        self._announce = False
        return back or (change.any and not first)

    def _vanished(self) -> bool:
        if self._gone:
            return False
        self._gone, self._error = True, None
        self._post(LiveEvent(self.source, ids=None, listing=True, gone=True))
        return True

    def _failed(self, problem: Problem) -> bool:
        if problem.code is ProblemCode.GONE:
            return self._vanished()
        if self._error == problem.code:
            return False
        self._error = problem.code
        self._post(LiveEvent(self.source, error=problem))
        return True

    def _post(self, event: LiveEvent) -> None:
        try:
            self._post_to(event)
        except Exception as e:  # an app that is closing refuses messages; the next event may be wanted again
            self._report("telling of news", e)

    def _report(self, where: str, error: BaseException) -> None:
        if self._fault is not None:
            try:
                self._fault(where, error)
            except Exception:
                self._fault = None  # a listener that fails itself is not asked again


def _event(source: Source, change: Change) -> LiveEvent:
    return LiveEvent(source, ids=change.ids, listing=change.listing)
