"""Turns, steps and recorded events of a session's rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from ctx_inspect.core.model import (
    Context,
    HiddenTurn,
    Known,
    Mark,
    MarkKind,
    Model,
    Purpose,
    Raw,
    Ref,
    Request,
    Turn,
    Unavailable,
    Usage,
    Why,
)
from ctx_inspect.core.model.evidence import Confirmed, Witness
from ctx_inspect.core.sources.opencode.classes import UserClass, classify, opens
from ctx_inspect.core.sources.opencode.constants import WORDS
from ctx_inspect.core.sources.opencode.records import Entry, MessageRow, raw
from msgspec import Struct, field

RETRIES = Unavailable(Why.NOT_RECORDED, WORDS + "retries")
NO_LIMIT = Unavailable(Why.NOT_RECORDED, WORDS + "a limit with a request")
RUNNING = Unavailable(Why.NOT_YET, "the answer is not there yet")
UNREPORTED = Unavailable(Why.NOT_REPORTED, "no usage was reported for this row")

_FINISH = {"stop": "stop", "length": "length", "tool-calls": "tool_calls", "error": "error"}
_ERRORS = {"MessageAbortedError": "aborted", "ProviderAuthError": "auth", "ContextOverflowError": "overflow"}


def kinds_of(entries: Sequence[Entry], known: Sequence[UserClass | None] = ()) -> list[UserClass | None]:
    """Return the class of each user row (``None`` for the others).

    Args:
        entries: The rows.
        known: The classes of the first ones, up to one that opens a turn, where they are known already.
    """
    kinds = list(known)
    prompt: Entry | None = entries[len(known) - 1] if known else None
    replay: Entry | None = None
    asked: Entry | None = None
    for entry in islice(entries, len(known), None):
        if entry.row.role != "user":
            if not (entry.row.summary and asked is not None and entry.row.parent == asked.row.id):
                replay = None
            kinds.append(None)
            continue
        kind = classify(entry, replay)
        kinds.append(kind)
        replay = None
        if kind is UserClass.COMPACTION:
            overflow = any(p.overflow for p in entry.parts if p.type == "compaction")
            replay, asked = (prompt if overflow else None), entry
        else:
            prompt = entry  # the newest user row before a compaction is what an overflow replays
    return kinds


def opening_rows(entries: Sequence[Entry], kinds: Sequence[UserClass | None]) -> list[bool]:
    """Tell of each row whether it opens a turn: the first of a run of authored rows; any assistant row ends a run."""
    found: list[bool] = []
    inside = False
    for entry, kind in zip(entries, kinds, strict=True):
        authored = kind is not None and opens(kind)
        found.append(authored and not inside)
        inside = authored or (inside and entry.row.role == "user")
    return found


def calls_model(entries: Sequence[Entry], kinds: Sequence[UserClass | None]) -> list[bool]:
    """Tell of each row whether a model was called for it; shell commands and subtasks leave rows without a call."""
    parents = {e.row.id: k for e, k in zip(entries, kinds, strict=True) if k in (UserClass.SHELL, UserClass.SUBTASK)}

    def without(entry: Entry) -> bool:
        return bool(entry.parts) and all(p.tool is not None for p in entry.parts) and entry.row.parent in parents

    return [e.row.role == "assistant" and (e.row.usage is not None or not without(e)) for e in entries]


def usage_of(row: MessageRow) -> Known[Usage]:
    """Return what the provider reported for a row."""
    if row.usage is not None:
        return Confirmed(row.usage, Witness.PROVIDER)
    return RUNNING if row.done is None and row.error is None else UNREPORTED


def error_of(row: MessageRow) -> str | None:
    """Return the class of a row's error: ``auth rate overflow server network aborted other``."""
    if row.error is None:
        return None
    if row.error in _ERRORS:
        return _ERRORS[row.error]
    match row.status:
        case 401 | 403:
            return "auth"
        case 429:
            return "rate"
        case int(code) if code >= 500:
            return "server"
        case None if row.error == "APIError":
            return "network"
        case _:
            return "other"


def finish_of(row: MessageRow) -> str | None:
    """Return how an answer ended, in the words of the model."""
    error = error_of(row)
    if error is not None:
        return "aborted" if error == "aborted" else "error"
    return _FINISH.get(row.finish, "other") if row.finish else None


def request_of(
    session: str,
    entry: Entry,
    *,
    step: int | None = None,
    call: bool = True,
    purpose: Purpose = Purpose.PRIMARY,
    context: Context | None = None,
    inherited: bool = False,
    overflow: bool = False,
) -> Request:
    """Make the request that an assistant row stands for.

    Args:
        session: The session's id.
        entry: The row and its parts.
        step: Its number within the turn.
        call: Whether a model was called.
        purpose: What it was for.
        context: What it carried.
        inherited: Whether it was copied from another session.
        overflow: Whether the provider refused it as too long (the row itself does not say so, the compaction after it does).
    """
    row = entry.row
    children = dict.fromkeys(p.tool.child for p in entry.parts if p.tool is not None and p.tool.child and p.tool.child != session)
    answer = next((p for p in entry.parts if p.type == "text" and p.size != 0), None)
    return Request(
        row.id,
        row.at,
        purpose,
        step,
        call,
        row.done,
        raw(row.agent),
        Model(raw(row.provider), raw(row.model)),
        NO_LIMIT,
        context,
        usage_of(row),
        "error" if overflow else finish_of(row),
        "overflow" if overflow else error_of(row),
        RETRIES,
        tuple(f"opencode:{c}" for c in children),
        tuple(Raw(p.tool.name) for p in entry.parts if p.tool is not None),
        inherited,
        Ref(session, answer.id, "text") if answer else None,
    )


def inputs_of(session: str, entries: Sequence[Entry]) -> tuple[Ref, ...]:
    """Return where the texts lie that a person wrote in these rows."""
    refs: list[Ref] = []
    for entry in entries:
        for p in entry.parts:
            if p.type == "text" and p.size != 0 and not p.synthetic and not p.ignored:
                refs.append(Ref(session, p.id, "text"))
            elif p.type == "subtask":
                refs.append(Ref(session, p.id, "prompt"))
    return tuple(refs)


class _Open(Struct):
    """A turn being read."""

    rows: list[Entry]
    requests: list[Request] = field(default_factory=list[Request])
    steps: int = 0
    made: Turn | None = None


class Assembly(Struct):
    """Rows put into turns, in order."""

    session: str
    born: int | None
    before: list[Request] = field(default_factory=list[Request])
    other: dict[int, list[Request]] = field(default_factory=dict[int, list[Request]])
    turns: list[_Open] = field(default_factory=list[_Open])
    last: str | None = None
    """The newest request so far."""

    def until(self, turns: int, last: str | None) -> Assembly:
        """Return one that goes on after the first turns.

        Args:
            turns: How many.
            last: The newest request until there.
        """
        other = {n: list(rows) for n, rows in self.other.items() if n <= turns}
        return Assembly(self.session, self.born, list(self.before), other, self.turns[:turns], last)

    @property
    def n(self) -> int | None:
        """Number of the turn that is open."""
        return len(self.turns) or None

    def copied(self, entry: Entry) -> bool:
        """Tell whether a row was copied from another session: it is older than this one."""
        return self.born is not None and entry.row.at is not None and entry.row.at < self.born

    def user(self, entry: Entry, kind: UserClass, opening: bool) -> None:
        """Add a user row."""
        if opening:
            self.turns.append(_Open([entry]))
        elif opens(kind) and self.turns:
            self.turns[-1].rows.append(entry)

    def assistant(self, entry: Entry, call: bool, context: Context | None, overflow: bool) -> None:
        """Add an assistant row."""
        inherited = self.copied(entry)
        if entry.row.summary:
            made = request_of(self.session, entry, purpose=Purpose.COMPACTION, inherited=inherited)
            self.other.setdefault(len(self.turns), []).append(made)
            return
        step = None
        if call:
            step = 1 + (self.turns[-1].steps if self.turns else sum(r.call for r in self.before))
        made = request_of(self.session, entry, step=step, call=call, context=context, inherited=inherited, overflow=overflow)
        self.last = made.id
        if not self.turns:
            self.before.append(made)
            return
        self.turns[-1].requests.append(made)
        self.turns[-1].steps += call

    def finished(self) -> tuple[Turn, ...]:
        """Return the turns, numbered from 1."""
        made: list[Turn] = []
        for n, turn in enumerate(self.turns, 1):
            if turn.made is None:
                first = turn.rows[0].row
                ids = tuple(e.row.id for e in turn.rows)
                inputs = inputs_of(self.session, turn.rows)
                turn.made = Turn(n, first.id, ids, first.at, tuple(turn.requests), inputs, inherited=self.copied(turn.rows[0]))
            made.append(turn.made)
        return tuple(made)


def hidden_of(
    session: str, entries: Sequence[Entry], state: str, context_of: Callable[[int], Context] | None = None
) -> tuple[HiddenTurn, ...]:
    """Put rows that are no longer on the active history into hidden turns.

    Args:
        session: The session's id.
        entries: The rows.
        state: ``reverted`` or ``abandoned``.
        context_of: Makes what the request of a row (by its place) carried; without it that is not known.
    """
    kinds = kinds_of(entries)
    opening = opening_rows(entries, kinds)
    calls = calls_model(entries, kinds)
    runs: list[tuple[list[Entry], list[Request]]] = []
    for n, (entry, kind, first, call) in enumerate(zip(entries, kinds, opening, calls, strict=True)):
        if first or not runs:
            runs.append(([], []))
        users, requests = runs[-1]
        if kind is not None and opens(kind):
            users.append(entry)
        elif entry.row.role == "assistant" and not entry.row.summary:
            step = 1 + sum(r.call for r in requests) if call else None
            context = context_of(n) if call and users and context_of is not None else None
            requests.append(request_of(session, entry, step=step, call=call, context=context))
    hidden: list[HiddenTurn] = []
    for users, requests in runs:
        if users:  # rows before the first prompt belonged to a turn that is still there
            ids = tuple(e.row.id for e in users)
            hidden.append(HiddenTurn(ids[0], ids, users[0].row.at, state, inputs_of(session, users), tuple(requests)))
    return tuple(hidden)


def compaction_mark(entry: Entry, summary: Entry | None, turn: int | None, after: str | None) -> Mark:
    """Make the event of a compaction's request row; ``summary`` answers it."""
    part = next(p for p in entry.parts if p.type == "compaction")
    refs = {"request": entry.row.id}
    status = "requested"
    if summary is not None:
        refs["summary"] = summary.row.id
        row = summary.row
        status = "failed" if row.error else "succeeded" if row.finish else "started"
    if part.tail:
        refs["tail"] = part.tail
    reason = "overflow" if part.overflow else "auto" if part.auto else "manual"
    return Mark(MarkKind.COMPACTION, entry.row.at, turn, after, reason, status, refs)
