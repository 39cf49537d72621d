"""The active rows of a session, read in order into turns, events and contexts, and read on as the session grows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import eq

from ctx_inspect.core.model import Category, Context, Coverage, HiddenTurn, Item, Mark, MarkKind, Raw, Why
from ctx_inspect.core.sources.opencode import turns as t
from ctx_inspect.core.sources.opencode.classes import UserClass, opens
from ctx_inspect.core.sources.opencode.constants import RULES, WORDS
from ctx_inspect.core.sources.opencode.log import Revert
from ctx_inspect.core.sources.opencode.rebuild import Replay, Wish
from ctx_inspect.core.sources.opencode.records import Entry, MessageRow
from ctx_inspect.core.sources.opencode.wire import Target
from msgspec import Struct, field


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


class Where(Struct):
    """Finds the turn and the request that an event stands after."""

    times: list[int] = field(default_factory=list[int])
    places: list[tuple[int | None, str | None]] = field(default_factory=list[tuple[int | None, str | None]])
    ids: list[str] = field(default_factory=list[str])

    def until(self, rows: int) -> Where:
        """Return one that knows the first rows only."""
        return Where(self.times[:rows], self.places[:rows], self.ids[:rows])

    def add(self, row: MessageRow, turn: int | None, after: str | None) -> None:
        """Add a row with the turn and the request it stands after."""
        at, last = row.at or 0, self.newest
        self.times.append(max(at, last))
        self.places.append((turn, after))
        self.ids.append(row.id)

    @property
    def newest(self) -> int:
        """Time of the newest row so far; of rows without one that of those before them."""
        return self.times[-1] if self.times else 0

    def last(self, rows: int) -> str | None:
        """Return the newest request among the first rows."""
        return self.places[rows - 1][1] if rows else None

    def at(self, time: int) -> tuple[int | None, str | None]:
        """Return the turn and the request that something at this time stands after."""
        n = bisect_right(self.times, time)
        return self.places[n - 1] if n else (None, None)

    def before(self, message: str) -> tuple[int | None, str | None, int]:
        """Return the place, and its time, right before where a message stood that is gone: ids ascend as rows are made."""
        n = next((n for n in range(len(self.ids), 0, -1) if self.ids[n - 1] < message), 0)
        return (*self.places[n - 1], self.times[n - 1]) if n else (None, None, 0)


class Contexts:
    """Makes contexts; equal settings share one tuple of items."""

    def __init__(self) -> None:
        """Start without any."""
        self._items: dict[tuple[str | None, str | None, str | None], tuple[Item, ...]] = {}

    def items(self, provider: str | None, model: str | None, agent: str | None) -> tuple[Item, ...]:
        """Return the settings that the row of a request records."""
        key = provider, model, agent
        if key not in self._items:
            named = (("provider", provider), ("model", model), ("agent", agent))
            self._items[key] = tuple(Item(Category.SETTINGS, Raw(k), f"{k}={v}", shown=Raw(v)) for k, v in named if v is not None)
        return self._items[key]


class Asked(Struct, frozen=True):
    """A compaction's request row; its event is made when all rows are read, since its answer follows."""

    entry: Entry
    turn: int | None
    after: str | None


class Story(Struct):
    """The active rows of a session, read in order: what a ledger is made of, and what a later one goes on from.

    Attributes:
        entries: The rows.
        meant: What each was taken for: class, whether it opens a turn, whether it called a model, whether it ran over.
        replay: Makes the message lists.
        rows: The rows put into turns.
        where: Finds what an event stands after.
        marks: Per event its row's place, what orders it, and itself.
        contexts: Makes contexts.
        same: How many rows in front are those of the story that this one goes on from.
        reverts: The final reverts.
        gone: The turns of each.
    """

    entries: list[Entry]
    meant: list[tuple[UserClass | None, bool, bool, bool]]
    replay: Replay
    rows: t.Assembly
    where: Where = field(default_factory=Where)
    marks: list[tuple[int, int, Mark | Asked]] = field(default_factory=list[tuple[int, int, "Mark | Asked"]])
    contexts: Contexts = field(default_factory=Contexts)
    whole: bool = True
    """Whether its lists are made of these rows as they are (a revert within a message cuts its last one)."""
    same: int = 0
    reverts: Sequence[Revert] = ()
    gone: Sequence[tuple[HiddenTurn, ...]] = ()

    def wish(self, n: int) -> Wish | None:
        """Return what list the request of a row carried."""
        row = self.entries[n].row
        if not self.meant[n][2] or row.summary:
            return None
        return Wish(n, row.at, Target(row.provider, row.model), row.agent)

    def read(self, start: int) -> None:
        """Read the rows from ``start`` on."""
        rows, where = self.rows, self.where
        prompt = next((e.row for n, e in _back(self.entries, start) if (k := self.meant[n][0]) is not None and _prompts(k)), None)
        for n in range(start, len(self.entries)):
            entry, (kind, opening, call, overflow) = self.entries[n], self.meant[n]
            row = entry.row
            if kind is not None:
                if kind is UserClass.COMPACTION:
                    self.marks.append((n, row.at or where.newest, Asked(entry, rows.n, rows.last)))
                elif opens(kind):
                    self.marks.extend((n, row.at or where.newest, m) for m in _switches(prompt, row, rows.n, rows.last))
                    prompt = row
                rows.user(entry, kind, opening)
            else:
                wish, context = self.wish(n), None
                if wish is not None:
                    context = Context(self.contexts.items(row.provider, row.model, row.agent), self.replay.request(wish), COVERAGE)
                rows.assistant(entry, call, context, overflow)
            where.add(row, rows.n, rows.last)


def _back(entries: Sequence[Entry], start: int) -> Iterator[tuple[int, Entry]]:
    return ((n, entries[n]) for n in range(start - 1, -1, -1))


def _prompts(kind: UserClass) -> bool:
    return kind is not UserClass.COMPACTION and opens(kind)


def story(session: str, born: int | None, active: list[Entry], trimmed: list[Entry], before: Story | None) -> Story:
    """Read the active rows; of those that are as they were a moment ago only the turn that was open then.

    Args:
        session: The session's id.
        born: When it was made (epoch ms).
        active: The rows.
        trimmed: The same as the next request has them.
        before: What was read then.
    """
    known = _known(before, active)
    kinds = t.kinds_of(active, known)
    opening = t.opening_rows(active, kinds)
    calls = t.calls_model(active, kinds)
    overflowed = _overflowed(active, kinds)
    opened = frozenset(e.row.id for e, o in zip(active, opening, strict=True) if o)
    meant = [(k, o, c, e.row.id in overflowed) for e, k, o, c in zip(active, kinds, opening, calls, strict=True)]
    whole = trimmed is active
    if before is not None and before.whole and whole and before.rows.born == born:
        same = min(_alike(before.entries, active), _alike(before.meant, meant))
        # a turn that is over ends where the rows ended, or where another one began
        over = same == len(before.entries) or before.meant[same][1]
        start = next((n for n in range(min(same if over else same - 1, len(active) - 1), -1, -1) if opening[n]), 0)
        rows = before.rows.until(sum(opening[:start]), before.where.last(start)) if start else t.Assembly(session, born)
        made = Story(active, meant, before.replay, rows, before.where.until(start))
        replay = before.replay.go_on(active, kinds, opened, same, made.wish)
        if replay is not None:
            replay.skip(start)
            made.replay, made.contexts, made.same = replay, before.contexts, same
            made.marks = [m for m in before.marks if m[0] < start]
            made.read(start)
            return made
    made = Story(active, meant, Replay(session, trimmed, kinds, opened), t.Assembly(session, born), whole=whole)
    made.read(0)
    return made


def _known(before: Story | None, active: Sequence[Entry]) -> list[UserClass | None]:
    """Return the classes of the rows up to a prompt that is as it was a moment ago: what follows depends on nothing before it."""
    if before is None:
        return []
    same = _alike(before.entries, active)
    end = next((n for n in range(same - 1, -1, -1) if before.meant[n][1]), -1)
    return [kind for kind, *_ in before.meant[: end + 1]]


def _alike(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many in front are equal in both."""
    same = list(map(eq, old, new))
    return same.index(False) if False in same else len(same)


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
