"""Makes the ledger of a session from its rows: contexts, turns, events, and what is not on the active history."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.model import (
    Context,
    HiddenTurn,
    Ledger,
    Mark,
    MarkKind,
    Problem,
    SessionInfo,
    value_of,
)
from ctx_inspect.core.sources.opencode import turns as t
from ctx_inspect.core.sources.opencode.aside import Aside, taken_back
from ctx_inspect.core.sources.opencode.constants import NOT_STORED
from ctx_inspect.core.sources.opencode.log import Log
from ctx_inspect.core.sources.opencode.rebuild import Replay, Wish
from ctx_inspect.core.sources.opencode.records import Entry
from ctx_inspect.core.sources.opencode.story import COVERAGE, Contexts, Story, Where, story
from ctx_inspect.core.sources.opencode.wire import Target, pruned_times
from msgspec import Struct

_LATEST = 2**62

COPIED = "rows older than the session: OpenCode records no fork"


class Pending(Struct, frozen=True):
    """A revert that the next prompt will make final."""

    message: str
    part: str | None = None


def build(
    info: SessionInfo,
    entries: list[Entry],
    pending: Pending | None,
    log: Log,
    problems: Sequence[Problem],
    before: Story | None = None,
) -> tuple[Ledger, Story]:
    """Make the ledger.

    Args:
        info: The session's row in the list.
        entries: All its rows, in the harness's order.
        pending: A revert that is not final yet.
        log: Reverts that are.
        problems: What could not be read.
        before: What was returned with an earlier ledger of this session: turns that have not changed since are the same objects.

    Returns:
        The ledger, and what the next one can go on from.
    """
    session, born = info.id, info.started
    active, hidden_rows, trimmed = _cut(entries, pending)
    told = story(session, born, active, trimmed, before)
    rows, where = told.rows, told.where
    summaries = {e.row.parent: e for e in active if e.row.role == "assistant" and e.row.summary}
    marks = [  # with what orders them: their time, else that of the row before them
        (at, m if isinstance(m, Mark) else t.compaction_mark(m.entry, summaries.get(m.entry.row.id), m.turn, m.after))
        for _, at, m in told.marks
    ]
    made = rows.finished()
    marks.extend((m.at or 0, m) for m in _prunes(active, where))
    aside = Aside(session, told)
    hidden = list(aside.turns(len(active), (), hidden_rows))
    if pending is not None and hidden_rows:
        refs = {"message": pending.message, **({"part": pending.part} if pending.part else {})}
        # the session's row tells that it is there, not since when
        mark = Mark(MarkKind.REVERT, None, rows.n, rows.last, status="pending", refs=refs, counts=_counts(hidden, hidden_rows))
        marks.append((_LATEST, mark))
    for revert, gone in zip(log.reverts, taken_back(aside, told, log, before), strict=True):
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
    ledger = Ledger(
        info,
        tuple(rows.before),
        made,
        {n: tuple(r) for n, r in rows.other.items()},
        tuple(m for _, m in marks),
        tuple(sorted(hidden, key=lambda h: h.at or 0)),
        _next(info, active, told.replay, told.contexts),
        tuple(problems),
        tuple(not_recorded),
    )
    return ledger, told


def _next(info: SessionInfo, active: Sequence[Entry], replay: Replay, contexts: Contexts) -> Context:
    """Return what the next request would carry: a reminder too, where its prompt is there already."""
    user = next((e.row for e in reversed(active) if e.row.role == "user"), None)
    provider = user.provider if user else info.model.provider
    model = user.model if user else info.model.id
    agent = user.agent if user else info.agent
    waiting = bool(active) and active[-1].row.role == "user"
    chain = replay.request(Wish(len(active), _LATEST, Target(provider, model), agent if waiting else None))
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


def _prunes(active: Sequence[Entry], where: Where) -> list[Mark]:
    """Make one event of all outputs that were pruned between the same two rows."""
    marks: list[Mark] = []
    for at, _ in pruned_times(active):
        turn, after = where.at(at)
        if marks and marks[-1].after == after and marks[-1].turn == turn:
            last = marks[-1]
            marks[-1] = Mark(MarkKind.PRUNE, last.at, turn, after, status="succeeded", counts={"parts": last.counts["parts"] + 1})
        else:
            marks.append(Mark(MarkKind.PRUNE, at, turn, after, status="succeeded", counts={"parts": 1}))
    return marks


def _counts(turns: Sequence[HiddenTurn], rows: Sequence[Entry]) -> dict[str, int]:
    return {"turns": sum(1 for turn in turns if turn.ids), "messages": len(rows)}
