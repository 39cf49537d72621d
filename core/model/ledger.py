"""What a source tells of a session: its requests, turns, events and problems; nothing derived.

Drift, tiers, rows of a screen and sums are composed from a :class:`Ledger` by pure functions elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec
from ctx_inspect.core.model.context import Chain, Context, Ref
from ctx_inspect.core.model.evidence import Known, Raw, Unavailable, Why, Witness
from msgspec import Struct, field

NO_LIMIT = Unavailable(Why.NOT_RECORDED, "the store keeps no limit with a request")
NO_FIGURE = Unavailable(Why.NOT_RECORDED, "no figure was recorded")
NO_RETRIES = Unavailable(Why.NOT_RECORDED, "the store keeps no retries")
NO_ORIGIN = Unavailable(Why.NOT_RECORDED, "no origin is recorded")
NO_USAGE = Unavailable(Why.NOT_REPORTED, "no usage was reported for this row")


class Purpose(StrEnum):
    """What a request is for. Only primary requests can be a baseline."""

    PRIMARY = "primary"
    TITLE = "title"
    SUMMARY = "summary"
    COMPACTION = "compaction"
    OTHER = "other"


class MarkKind(StrEnum):
    """Kinds of recorded events."""

    COMPACTION = "compaction"
    REVERT = "revert"
    FORK = "fork"
    BRANCH = "branch"
    PRUNE = "prune"
    EDIT = "edit"
    """One entry of the context was replaced or taken out (Pi ``context_edit``)."""
    MODEL = "model"
    THINKING = "thinking"
    AGENT = "agent"
    SYSTEM = "system"
    """The recorded system prompt or tool list changed (Pi ``system`` patch)."""
    RELOAD = "reload"
    LABEL = "label"


class ProblemCode(StrEnum):
    """What can be wrong with a source (docs/json.md says what each means)."""

    UNREADABLE_RECORD = "unreadable_record"
    RECOVERED_RECORD = "recovered_record"
    LOCKED = "locked"
    WAL_NOT_READABLE = "wal_not_readable"
    CORRUPT = "corrupt"
    SCHEMA_NEWER = "schema_newer"
    SCHEMA_UNKNOWN = "schema_unknown"
    PERMISSION = "permission"
    GONE = "gone"
    TOO_LARGE = "too_large"
    NOT_A_STORE = "not_a_store"


class Problem(Struct, frozen=True):
    """Something that could not be read; the rest was.

    Attributes:
        source: The file or folder, as found (hostile: pass it through ``show``).
        code: What kind of problem.
        message: One sentence of our own words: what, where (line, row id) and what to do next. Never text of a store or of an exception.
    """

    source: Raw
    code: ProblemCode
    message: str


class Usage(msgspec.Struct, frozen=True, gc=False):
    """What a provider reported for one request, in tokens; ``None`` where it reported nothing.

    ``input`` is without the cached part, so the window is ``input + cache_read + cache_write``.
    """

    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def window(self) -> int | None:
        """Tokens that were in the context; ``None`` where the provider reported no input: its cached part alone is no window.

        Cache figures that were not reported count as none here; whoever says the window says that too (``budget.request_window``).
        """
        if self.input is None:
            return None
        return self.input + (self.cache_read or 0) + (self.cache_write or 0)


class Model(msgspec.Struct, frozen=True, gc=False):
    """A model as the harness names it."""

    provider: Raw | None
    id: Raw | None


NO_MODEL = Model(None, None)


class Request(msgspec.Struct, frozen=True, gc=False):
    """One row that a model call (or, with ``call`` false, a shell command or subtask) left in the store.

    Attributes:
        id: The store's row or entry id.
        step: 1… within its turn; ``None`` where ``call`` is false.
        call: Whether a model was called for it.
        purpose: What it was for.
        at: Epoch milliseconds of its start, where recorded.
        done: Epoch milliseconds of its completion.
        agent: The agent's name.
        model: Provider and model.
        limit: Context limit recorded with it, tokens.
        context: What it carried, rebuilt from the store. Only primary requests have one.
        usage: What the provider reported.
        finish: ``stop length tool_calls error aborted preempted other``; ``None`` while it runs or where not recorded.
        error: ``auth rate overflow server network aborted other``.
        attempts: How often it was sent; unavailable where retries leave no record.
        children: Keys of sessions that it started.
        tools: Names of the tools it called, in order.
        inherited: Copied here from another session: its usage was counted there.
        ref: Where its own text lies.
    """

    id: str
    at: int | None
    purpose: Purpose = Purpose.PRIMARY
    step: int | None = None
    call: bool = True
    done: int | None = None
    agent: Raw | None = None
    model: Model = NO_MODEL
    limit: Known[int] = NO_LIMIT
    context: Context | None = None
    usage: Known[Usage] = NO_USAGE
    finish: str | None = None
    error: str | None = None
    attempts: Known[int] = NO_RETRIES
    children: tuple[str, ...] = ()
    tools: tuple[Raw, ...] = ()
    inherited: bool = False
    ref: Ref | None = None


class Mark(Struct, frozen=True):
    """An event: recorded, or worked out of what is recorded.

    Attributes:
        kind: What happened.
        at: Epoch milliseconds, where its time is recorded.
        turn: Number of the turn that was open when it began; ``None`` before the first.
        after: Id of the newest active request before it; ``None`` where there is none. It stands after that request.
        reason: ``auto manual overflow threshold`` … where recorded.
        status: ``requested started succeeded failed`` … where recorded.
        refs: Ids by role (``request``, ``summary``, ``tail``, ``message``, ``parent``).
        before: Tokens before it, where recorded.
        then: Tokens after it, where recorded.
        counts: Numbers by name (``messages_before``, ``messages_after``, ``turns``, ``parts``).
        detail: A short raw value to show (a model's or agent's name).
        by: What recorded it.
        how: Of an event that no record tells of by itself: what it was worked out from. It is estimated then.
    """

    kind: MarkKind
    at: int | None
    turn: int | None = None
    after: str | None = None
    reason: str | None = None
    status: str | None = None
    refs: Mapping[str, str] = field(default_factory=dict[str, str])
    before: Known[int] = NO_FIGURE
    then: Known[int] = NO_FIGURE
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    detail: Raw | None = None
    by: Witness = Witness.STORE
    how: str | None = None


class Turn(msgspec.Struct, frozen=True, gc=False):
    """What one admission of user input started.

    Attributes:
        n: 1… on the active history.
        id: Message that opened it.
        ids: All consecutive user-authored messages that opened it.
        at: Epoch milliseconds of the first of them, where recorded.
        requests: Its steps and other rows, in order.
        input: Where the text of its input lies (one ref per message part that a person wrote).
        boundary: ``confirmed`` where the harness records admission, else ``estimated (message order)``.
        inherited: Copied here from another session.
    """

    n: int
    id: str
    ids: tuple[str, ...]
    at: int | None
    requests: tuple[Request, ...] = ()
    input: tuple[Ref, ...] = ()
    boundary: str = "estimated (message order)"
    inherited: bool = False


class HiddenTurn(Struct, frozen=True):
    """A turn that is no longer on the active history; it takes no number."""

    id: str
    ids: tuple[str, ...]
    at: int | None
    state: str
    """``reverted`` or ``abandoned``."""
    input: tuple[Ref, ...] = ()
    requests: tuple[Request, ...] = ()


class SessionInfo(Struct, frozen=True):
    """A session as the list shows it; made without opening the session.

    Attributes:
        key: ``harness:id``.
        harness: ``opencode`` or ``pi``.
        id: The harness's own id.
        title: As recorded.
        directory: As recorded.
        project: Real path of the project (:func:`ctx_inspect.core.project.project_of`).
        project_id: The harness's own project id.
        parent: Key of the session that started it.
        forked_from: Key of the session it was copied from, and how that is known.
        started: Epoch milliseconds.
        updated: Epoch milliseconds.
        path: The file it lies in.
        format: The store's format (``opencode-1``, ``pi-3``).
        live: ``held`` by the harness or changed within the last 60 s.
        agent: Newest agent.
        model: Newest model.
        helper: Name of the plugin that runs it as a hidden helper, if any: listed collapsed.
    """

    key: str
    harness: str
    id: str
    title: Raw | None
    directory: Raw | None
    started: int | None
    updated: int | None
    path: Raw
    format: str
    project: Raw | None = None
    project_id: Raw | None = None
    parent: str | None = None
    forked_from: Known[str] = NO_ORIGIN
    live: bool = False
    agent: Raw | None = None
    model: Model = NO_MODEL
    helper: str | None = None


class Listing(Struct, frozen=True):
    """The sessions of a source and what could not be read of it."""

    sessions: tuple[SessionInfo, ...] = ()
    problems: tuple[Problem, ...] = ()


class Ledger(Struct, frozen=True):
    """A session, whole.

    Attributes:
        info: Its row in the list.
        before: Rows before the first turn, in order.
        turns: Active turns, numbered 1….
        other: Requests that are no step (title, summary, compaction), by the turn they belong to (0 = before the first).
        marks: Recorded events, in order.
        hidden: Turns no longer on the active history.
        now: What the next request would carry, as far as the store tells.
        problems: What could not be read.
        not_recorded: (what, why) pairs that hold for the whole session, in our own words.
        private: What the source needs to continue from here (:meth:`Source.open` with ``prior``); nobody else looks inside.
        partial: Only the newest turns, read ahead of the rest (:meth:`Source.glance`): their numbers count from 1 here and are not
            those of the session, nothing can be added up, and what is not here may still exist.
    """

    info: SessionInfo
    before: tuple[Request, ...] = ()
    turns: tuple[Turn, ...] = ()
    other: Mapping[int, tuple[Request, ...]] = field(default_factory=dict[int, tuple[Request, ...]])
    marks: tuple[Mark, ...] = ()
    hidden: tuple[HiddenTurn, ...] = ()
    now: Context | None = None
    problems: tuple[Problem, ...] = ()
    not_recorded: tuple[tuple[str, str], ...] = ()
    private: object = None
    partial: bool = False

    @property
    def key(self) -> str:
        """``harness:id``."""
        return self.info.key

    def last_chain(self) -> Chain | None:
        """The message list of ``now``, if known."""
        return self.now.messages if self.now else None
