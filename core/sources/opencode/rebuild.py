"""Rebuilds the message list of each request as OpenCode builds it, as a chain of changes.

The rules are those of opencode-ai 1.18 (``filterCompacted``, the conversion of rows, the plan and build reminders,
pruned outputs). Nearly every step only appends; a compaction, a prune, a model switch or a moving reminder changes
what stands before. The cost is that of what changed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from copy import copy as shallow
from functools import partial
from threading import RLock
from typing import NamedTuple

from ctx_inspect.core.model import Chain, ChainBuilder, Message, Part, PartKind, Synthetic
from ctx_inspect.core.sources.late import LateChain
from ctx_inspect.core.sources.opencode.classes import UserClass
from ctx_inspect.core.sources.opencode.records import Entry
from ctx_inspect.core.sources.opencode.wire import (
    Target,
    assistant_messages,
    constant,
    depends_on_target,
    pruned_times,
    user_message,
)


def sent_order(entries: Sequence[Entry], until: int) -> list[int]:
    """Return which of the first ``until`` rows are sent after a compaction, and in which order.

    From the newest row back to the newest compaction that succeeded (its request row has an answered summary), and
    on to the first row of its tail; then the request and its summary first, the tail, and the rest.
    """
    picked: list[int] = []
    answered: set[str] = set()
    tail: str | None = None
    for i in range(until - 1, -1, -1):
        picked.append(i)
        entry = entries[i]
        row = entry.row
        if tail is not None:
            if row.id == tail:
                break
            continue
        if row.role == "user" and row.id in answered:
            asked = next((p for p in entry.parts if p.type == "compaction"), None)
            if asked is None:
                continue
            if not asked.tail or asked.tail == row.id:
                break
            tail = asked.tail
            continue
        if row.role == "assistant" and row.summary and row.finish and row.error is None and row.parent:
            answered.add(row.parent)
    picked.reverse()
    return _summary_first(entries, picked)


def _summary_first(entries: Sequence[Entry], picked: list[int]) -> list[int]:
    for at in range(len(picked) - 1, -1, -1):
        entry = entries[picked[at]]
        asked = next((p for p in entry.parts if p.type == "compaction" and p.tail is not None), None)
        if entry.row.role == "user" and asked is not None:
            break
    else:
        return picked
    ids = [entries[i].row for i in picked]
    answer = next((n for n in range(at + 1, len(ids)) if ids[n].role == "assistant" and ids[n].summary and ids[n].parent == ids[at].id), -1)
    start = next((n for n, row in enumerate(ids) if row.id == asked.tail), -1)
    if 0 <= start < at < answer:
        return [*picked[at : answer + 1], *picked[start:at], *picked[answer + 1 :]]
    return picked


class Rebuild:
    """Follows the list while rows are added in order; :meth:`request` takes it as a request carried it."""

    def __init__(self, session: str, entries: Sequence[Entry], kinds: Sequence[UserClass | None], opening: frozenset[str]) -> None:
        """Start before the first row.

        Args:
            session: The session's id.
            entries: All rows, in order.
            kinds: The class of each user row.
            opening: Ids of the rows that open a turn.
        """
        self._session, self._entries, self._kinds, self._opening = session, entries, kinds, opening
        self._list = ChainBuilder()
        self._order: list[int] = []
        self._shown: dict[int, tuple[Message, ...]] = {}
        self._start: dict[int, int] = {}
        self._target = Target(None, None)
        self._now = 0
        self._sensitive: set[int] = set()
        self._planned = False
        self._last_user: int | None = None
        self._reminded: int | None = None
        prunes = pruned_times(entries)
        self._prune_times, self._prune_rows = [t for t, _ in prunes], [i for _, i in prunes]
        self._pruned = 0

    def copy(self) -> Rebuild:
        """Return one that goes on from here on its own; lists taken before are shared."""
        other = shallow(self)
        other._list, other._order, other._sensitive = self._list.copy(), list(self._order), set(self._sensitive)
        other._shown, other._start = dict(self._shown), dict(self._start)
        return other

    def go_on(self, entries: Sequence[Entry], kinds: Sequence[UserClass | None], opening: frozenset[str]) -> Rebuild:
        """Return one that goes on from here with other rows, which begin with all that were added here.

        Only right after a request: what was pruned until then has been applied.
        """
        other = self.copy()
        fresh = Rebuild(self._session, entries, kinds, opening)
        other._entries, other._kinds, other._opening = entries, kinds, opening
        other._prune_times, other._prune_rows = fresh._prune_times, fresh._prune_rows
        other._pruned = bisect_right(other._prune_times, self._now)
        return other

    def add(self, index: int) -> None:
        """Add the next row."""
        entry = self._entries[index]
        self._now = max(self._now, entry.row.at or 0)
        self._show(index)
        if entry.row.role == "assistant" and entry.row.summary:
            self._relayout(sent_order(self._entries, index + 1))
            return
        self._order.append(index)
        self._start[index] = len(self._list.list)
        for message in self._shown[index]:
            self._list.append(message)
        self._note(index)

    def _note(self, index: int) -> None:
        """Keep what the reminders and a switch of the model look at."""
        entry = self._entries[index]
        if entry.row.role == "user":
            self._last_user = index
        elif entry.row.agent == "plan":
            self._planned = True
        if depends_on_target(entry):
            self._sensitive.add(index)

    def _show(self, index: int, extra: Sequence[Part] = ()) -> None:
        entry = self._entries[index]
        if entry.row.role == "assistant":
            self._shown[index] = assistant_messages(self._session, entry, self._target, self._now)
        else:
            kind = self._kinds[index] or UserClass.EMPTY
            made = user_message(self._session, entry, kind, extra, entry.row.id in self._opening)
            self._shown[index] = (made,) if made else ()

    def _relayout(self, order: list[int]) -> None:
        self._order = order
        before, self._start = self._start, {}
        messages: list[Message] = []
        self._planned, self._last_user, self._sensitive = False, None, set()
        for i in order:
            if i not in before:  # a tail may bring back what an earlier compaction left out, as it was written then
                self._show(i)
            self._start[i] = len(messages)
            messages.extend(self._shown[i])
            self._note(i)
        if self._reminded is not None and self._reminded not in self._start:
            self._reminded = None
        self._list.reset(messages)

    def _again(self, index: int, extra: Sequence[Part] = ()) -> bool:
        """Write a row anew where it changed; return whether that moved the rows after it."""
        old = self._shown[index]
        self._show(index, extra)
        new = self._shown[index]
        start = self._start.get(index)
        if start is None or new == old:
            return False
        if len(new) != len(old):
            return True
        for n, (a, b) in enumerate(zip(old, new, strict=True)):
            if a != b:
                self._list.replace(start + n, b)
        return False

    def request(self, at: int | None, target: Target, agent: str | None, into: Chain | None = None) -> Chain:
        """Return the list that a request carries.

        Args:
            at: When it is sent (epoch ms), where recorded.
            target: The model it goes to.
            agent: The agent that sends it.
            into: A chain that was handed out for it before.
        """
        self._now = max(self._now, at or 0)
        rows: set[int] = set()
        until = bisect_right(self._prune_times, self._now)
        while self._pruned < until:
            if self._prune_rows[self._pruned] in self._shown:
                rows.add(self._prune_rows[self._pruned])
            self._pruned += 1
        if target != self._target:
            before, self._target = self._target, target
            rows.update(i for i in self._sensitive if before.same(self._entries[i]) != target.same(self._entries[i]) or self._has_media(i))
        moved = [self._again(i) for i in sorted(rows)]
        moved.extend(self._remind(agent))
        if any(moved):
            self._relayout(self._order)
        return self._list.take(into)

    def _has_media(self, index: int) -> bool:
        return any(p.tool is not None and p.tool.attachments for p in self._entries[index].parts)

    def _remind(self, agent: str | None) -> list[bool]:
        """Put the reminder where it belongs now: on the newest user row of the list, even one that is not sent without it."""
        wanted: list[Part] = []
        if agent == "plan":
            wanted.append(constant(self._session, "plan-reminder", PartKind.TEXT, Synthetic.REMINDER))
        elif agent == "build" and self._planned:
            wanted.append(constant(self._session, "build-reminder", PartKind.TEXT, Synthetic.REMINDER))
        old, new = self._reminded, self._last_user if wanted else None
        moved: list[bool] = []
        if old is not None and old != new:
            moved.append(self._again(old))
        if new is not None:
            moved.append(self._again(new, wanted))
        self._reminded = new
        return moved


class Wish(NamedTuple):
    """A list that a request carried.

    Attributes:
        rows: How many rows were there.
        at: When it was sent (epoch ms), where recorded.
        target: The model it went to.
        agent: The agent that sent it.
    """

    rows: int
    at: int | None
    target: Target
    agent: str | None


class Replay:
    """Notes which requests were made, and plays the rows through a :class:`Rebuild` when somebody looks at a list.

    What was noted is kept: where playing fails half way, all of it is played again at the next look. For a session that
    grew, :meth:`go_on` takes over all lists but the one that the next request would carry.
    """

    def __init__(self, session: str, entries: Sequence[Entry], kinds: Sequence[UserClass | None], opening: frozenset[str]) -> None:
        """Take the rows; as of :class:`Rebuild`."""
        self._session = session
        self._begin = partial(Rebuild, session, entries, kinds, opening)
        self._wanted: list[tuple[Wish, LateChain]] = []
        self._kept = self._handed = self._first = 0
        self._rebuild: Rebuild | None = None
        self._there = self._done = 0
        self._saved: Rebuild | None = None  # as it was before the last list
        self._lock = RLock()

    def go_on(
        self,
        entries: Sequence[Entry],
        kinds: Sequence[UserClass | None],
        opening: frozenset[str],
        same: int,
        wish: Callable[[int], Wish | None],
    ) -> Replay | None:
        """Return a replay of the session as it is now, or ``None`` where nobody looked at a list yet or too much has changed.

        Args:
            entries: All rows now.
            kinds: Their classes.
            opening: Ids of the rows that open a turn.
            same: How many rows in front are as they were, and mean what they meant.
            wish: Tells of a row what list its request carried.
        """
        with self._lock:
            if self._saved is None:
                return None
            last = self._wanted[-2][0]
            if last.rows > same or last.rows >= len(entries) or wish(last.rows) != last:
                return None
            other = Replay(self._session, entries, kinds, opening)
            other._begin = partial(self._saved.go_on, entries, kinds, opening)
            other._wanted = self._wanted[:-1]
            other._kept = other._done = len(other._wanted)
            other._first = other._there = last.rows
            return other

    def skip(self, rows: int) -> None:
        """Go on as if the lists of all requests among the first rows had been asked for: they were, before."""
        self._handed = bisect_left(self._wanted, rows, 0, self._kept, key=lambda pair: pair[0].rows)

    def request(self, wish: Wish) -> Chain:
        """Return the list of a request; ask in order."""
        if self._handed < self._kept:
            self._handed += 1
            return self._wanted[self._handed - 1][1]
        chain = LateChain(self)
        self._wanted.append((wish, chain))
        return chain

    def run(self) -> None:
        """Make all lists."""
        with self._lock:
            try:
                self._play()
            except BaseException:
                # of the row that failed nobody knows which half was done
                self._rebuild, self._saved, self._there, self._done = None, None, self._first, self._kept
                raise

    def _play(self) -> None:
        if self._done == len(self._wanted):
            return
        rebuild = self._rebuild = self._rebuild or self._begin()
        while self._done < len(self._wanted):
            wish, chain = self._wanted[self._done]
            if 0 < self._done == len(self._wanted) - 1:
                self._saved = rebuild.copy()
            for n in range(self._there, wish.rows):
                rebuild.add(n)
            self._there = max(self._there, wish.rows)
            rebuild.request(wish.at, wish.target, wish.agent, None if chain.made else chain)
            chain.release()
            self._done += 1
        self._rebuild = None
