"""Makes the ledger of a session from its rows: contexts, turns, events, and what is not on the active history."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ctx_inspect.core.model import (
    Category,
    Context,
    Coverage,
    HiddenTurn,
    Item,
    Ledger,
    Mark,
    MarkKind,
    Problem,
    Raw,
    SessionInfo,
    Why,
    value_of,
)
from ctx_inspect.core.sources.opencode import turns as t
from ctx_inspect.core.sources.opencode.classes import UserClass, opens
from ctx_inspect.core.sources.opencode.constants import NOT_STORED, RULES, WORDS
from ctx_inspect.core.sources.opencode.log import Log
from ctx_inspect.core.sources.opencode.rebuild import Replay
from ctx_inspect.core.sources.opencode.records import Entry, MessageRow
from ctx_inspect.core.sources.opencode.wire import Target, pruned_times

_LATEST = 2**62

COPIED = "rows older than the session: OpenCode records no fork"


def _missing(what: str) -> Coverage:
    return Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x stores no " + what)


COVERAGE = {
    Category.INSTRUCTIONS: _missing("instruction files"),
    Category.SKILLS: _missing("list of skills"),
    Category.TOOLS: _missing("tool schemas"),
    Category.SETTINGS: Coverage("confirmed", note="model, provider and agent; " + WORDS + "generation settings"),
    Category.SYSTEM: _missing("system prompt"),
    Category.CONVERSATION: Coverage("estimated", how=RULES, all=True),
}


@dataclass(frozen=True, slots=True)
class Pending:
    """A revert that the next prompt will make final."""

    message: str
    part: str | None = None


@dataclass(slots=True)
class _Where:
    """Finds the turn and the request that an event stands after."""

    times: list[int] = field(default_factory=list[int])
    places: list[tuple[int | None, str | None]] = field(default_factory=list[tuple[int | None, str | None]])
    ids: list[str] = field(default_factory=list[str])

    def add(self, row: MessageRow, turn: int | None, after: str | None) -> None:
        at, last = row.at or 0, self.newest
        self.times.append(max(at, last))
        self.places.append((turn, after))
        self.ids.append(row.id)

    @property
    def newest(self) -> int:
        """Time of the newest row so far; of rows without one that of those before them."""
        return self.times[-1] if self.times else 0

    def at(self, time: int) -> tuple[int | None, str | None]:
        n = bisect_right(self.times, time)
        return self.places[n - 1] if n else (None, None)

    def before(self, message: str) -> tuple[int | None, str | None, int]:
        """Return the place, and its time, right before where a message stood that is gone: ids ascend as rows are made."""
        n = next((n for n in range(len(self.ids), 0, -1) if self.ids[n - 1] < message), 0)
        return (*self.places[n - 1], self.times[n - 1]) if n else (None, None, 0)


class _Contexts:
    """Makes contexts; equal settings share one tuple of items."""

    def __init__(self) -> None:
        self._items: dict[tuple[str | None, str | None, str | None], tuple[Item, ...]] = {}

    def items(self, provider: str | None, model: str | None, agent: str | None) -> tuple[Item, ...]:
        """Return the settings that the row of a request records."""
        key = provider, model, agent
        if key not in self._items:
            named = (("provider", provider), ("model", model), ("agent", agent))
            self._items[key] = tuple(Item(Category.SETTINGS, Raw(k), f"{k}={v}", shown=Raw(v)) for k, v in named if v is not None)
        return self._items[key]


def build(
    info: SessionInfo, entries: list[Entry], pending: Pending | None, log: Log, problems: Sequence[Problem], private: object
) -> Ledger:
    """Make the ledger.

    Args:
        info: The session's row in the list.
        entries: All its rows, in the harness's order.
        pending: A revert that is not final yet.
        log: Reverts that are.
        problems: What could not be read.
        private: What the source keeps for the next time.
    """
    session, born = info.id, info.started
    active, hidden_rows, trimmed = _cut(entries, pending)
    kinds = t.kinds_of(active)
    opening = t.opening_rows(active, kinds)
    calls = t.calls_model(active, kinds)
    replay = Replay(session, trimmed, kinds, frozenset(e.row.id for e, o in zip(active, opening, strict=True) if o))
    contexts = _Contexts()
    rows = t.Assembly(session, born)
    where = _Where()
    marks: list[tuple[int, Mark]] = []  # with what orders them: their time, else that of the row before them
    summaries = {e.row.parent: e for e in active if e.row.role == "assistant" and e.row.summary}
    overflowed = _overflowed(active, kinds)
    prompt: MessageRow | None = None
    for n, (entry, kind, call) in enumerate(zip(active, kinds, calls, strict=True)):
        row = entry.row
        if kind is not None:
            if kind is UserClass.COMPACTION:
                marks.append((row.at or where.newest, t.compaction_mark(entry, summaries.get(row.id), rows.n, rows.last)))
            elif opens(kind):
                marks.extend((row.at or where.newest, m) for m in _switches(prompt, row, rows.n, rows.last))
                prompt = row
            rows.user(entry, kind, opening[n])
        else:
            context = None
            if call and not row.summary:
                chain = replay.request(n, row.at, Target(row.provider, row.model), row.agent)
                context = Context(contexts.items(row.provider, row.model, row.agent), chain, COVERAGE)
            rows.assistant(entry, call, context, row.id in overflowed)
        where.add(row, rows.n, rows.last)
    made = rows.finished()
    marks.extend((m.at or 0, m) for m in _prunes(active, where))
    hidden = list(t.hidden_of(session, hidden_rows, "reverted"))
    if pending is not None and hidden_rows:
        refs = {"message": pending.message, **({"part": pending.part} if pending.part else {})}
        # the session's row tells that it is there, not since when
        mark = Mark(MarkKind.REVERT, None, rows.n, rows.last, status="pending", refs=refs, counts=_counts(hidden, hidden_rows))
        marks.append((_LATEST, mark))
    for revert in log.reverts:
        gone = t.hidden_of(session, revert.entries, "reverted")
        hidden.extend(gone)
        turn, after, order = (*where.at(revert.at), revert.at) if revert.at is not None else where.before(revert.message)
        reason, refs = (None if revert.asked else "messages deleted"), {"message": revert.message}
        counts = _counts(gone, revert.entries)
        marks.append((order, Mark(MarkKind.REVERT, revert.at, turn, after, reason, "succeeded", refs, counts=counts)))
    copied = sum(map(rows.copied, active))
    if copied and born is not None:
        turn, after = where.at(born - 1)
        origin = value_of(info.forked_from)
        refs = {"parent": origin} if origin else {}
        marks.append((born, Mark(MarkKind.FORK, born, turn, after, refs=refs, counts={"messages": copied}, how=COPIED)))
    marks.sort(key=lambda pair: pair[0])
    not_recorded = list(NOT_STORED)
    if not log.complete:
        not_recorded.append(("reverted messages", "the event log no longer holds all of them, or is too long to search"))
    return Ledger(
        info,
        tuple(rows.before),
        made,
        {n: tuple(r) for n, r in rows.other.items()},
        tuple(m for _, m in marks),
        tuple(sorted(hidden, key=lambda h: h.at or 0)),
        _next(info, active, replay, contexts),
        tuple(problems),
        tuple(not_recorded),
        private,
    )


def _next(info: SessionInfo, active: Sequence[Entry], replay: Replay, contexts: _Contexts) -> Context:
    """Return what the next request would carry: a reminder too, where its prompt is there already."""
    user = next((e.row for e in reversed(active) if e.row.role == "user"), None)
    provider = user.provider if user else info.model.provider
    model = user.model if user else info.model.id
    agent = user.agent if user else info.agent
    waiting = bool(active) and active[-1].row.role == "user"
    chain = replay.request(len(active), _LATEST, Target(provider, model), agent if waiting else None)
    return Context(contexts.items(provider, model, agent), chain, COVERAGE)


def _cut(entries: list[Entry], pending: Pending | None) -> tuple[list[Entry], list[Entry], list[Entry]]:
    """Return the active rows, the reverted ones, and the active ones as the next request has them."""
    at = next((n for n, e in enumerate(entries) if pending is not None and e.row.id == pending.message), None)
    if at is None or pending is None:
        return entries, [], entries
    if pending.part is None:
        return entries[:at], entries[at:], entries[:at]
    whole = entries[at]
    keep = next((n for n, p in enumerate(whole.parts) if p.id == pending.part), len(whole.parts))
    return entries[: at + 1], entries[at + 1 :], [*entries[:at], Entry(whole.row, whole.parts[:keep])]


def _overflowed(active: Sequence[Entry], kinds: Sequence[UserClass | None]) -> set[str]:
    """Return the rows that the provider refused as too long: empty ones right before an overflow compaction."""
    found: set[str] = set()
    for n, kind in enumerate(kinds):
        if kind is UserClass.COMPACTION and n and any(p.overflow for p in active[n].parts):
            row = active[n - 1].row
            if row.role == "assistant" and row.finish is None and row.error is None:
                found.add(row.id)
    return found


def _switches(before: MessageRow | None, now: MessageRow, turn: int | None, after: str | None) -> list[Mark]:
    if before is None:
        return []
    marks: list[Mark] = []
    if now.model is not None and (before.provider, before.model) != (now.provider, now.model):
        detail = Raw(f"{now.provider}/{now.model}" if now.provider else now.model)
        marks.append(Mark(MarkKind.MODEL, now.at, turn, after, refs={"message": now.id}, detail=detail))
    if now.agent is not None and before.agent != now.agent:
        marks.append(Mark(MarkKind.AGENT, now.at, turn, after, refs={"message": now.id}, detail=Raw(now.agent)))
    return marks


def _prunes(active: Sequence[Entry], where: _Where) -> list[Mark]:
    """Make one event of all outputs that were pruned between the same two rows."""
    marks: list[Mark] = []
    for at in sorted(at for e in active for at in pruned_times(e)):
        turn, after = where.at(at)
        if marks and marks[-1].after == after and marks[-1].turn == turn:
            last = marks[-1]
            marks[-1] = Mark(MarkKind.PRUNE, last.at, turn, after, status="succeeded", counts={"parts": last.counts["parts"] + 1})
        else:
            marks.append(Mark(MarkKind.PRUNE, at, turn, after, status="succeeded", counts={"parts": 1}))
    return marks


def _counts(turns: Sequence[HiddenTurn], rows: Sequence[Entry]) -> dict[str, int]:
    return {"turns": sum(1 for turn in turns if turn.ids), "messages": len(rows)}
