"""Contexts of requests whose messages were taken back, rebuilt by the same rules when somebody looks at one.

Such a request carried the rows that stood before what was reverted, and the reverted ones. The list of each is made in one
pass over the active rows that branches off where they differ; nothing of it is done when a session is opened.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from threading import RLock

from ctx_inspect.core.model import Context, HiddenTurn
from ctx_inspect.core.sources.late import LateChain
from ctx_inspect.core.sources.opencode import turns as t
from ctx_inspect.core.sources.opencode.log import Log, Revert
from ctx_inspect.core.sources.opencode.rebuild import Rebuild, Wish
from ctx_inspect.core.sources.opencode.records import Entry
from ctx_inspect.core.sources.opencode.story import COVERAGE, Story
from ctx_inspect.core.sources.opencode.wire import Target
from msgspec import Struct, field

REVERTED = "reverted"


def _key(entry: Entry) -> tuple[int, str]:
    return entry.row.created, entry.row.id


class _Branch(Struct):
    """Rows that were taken back.

    Attributes:
        cut: How many active rows stood before them.
        between: Rows that stood before them too and were taken back later.
        rows: Themselves.
        wanted: The lists that their requests carried.
    """

    cut: int
    between: Sequence[Entry]
    rows: Sequence[Entry]
    wanted: list[tuple[Wish, LateChain]] = field(default_factory=list[tuple[Wish, LateChain]])


class Aside:
    """Makes the message lists of requests that were taken back."""

    def __init__(self, session: str, told: Story) -> None:
        """Take the session's active rows."""
        self._session, self._told = session, told
        self._branches: list[_Branch] = []
        self._lock = RLock()

    def turns(self, cut: int, between: Sequence[Entry], rows: Sequence[Entry], *, known: bool = True) -> tuple[HiddenTurn, ...]:
        """Put rows that were taken back into turns.

        Args:
            cut: How many active rows stood before them.
            between: Rows that stood before them too and were taken back later, in order.
            rows: Themselves, in order.
            known: Whether that is all that stood before them; else what their requests carried is not known.
        """
        return t.hidden_of(self._session, rows, REVERTED, self._contexts(_Branch(cut, between, rows)) if known else None)

    def _contexts(self, branch: _Branch) -> Callable[[int], Context]:
        self._branches.append(branch)
        front = branch.cut + len(branch.between)

        def context(n: int) -> Context:
            row = branch.rows[n].row
            chain = LateChain(self)
            branch.wanted.append((Wish(front + n, row.at, Target(row.provider, row.model), row.agent), chain))
            return Context(self._told.contexts.items(row.provider, row.model, row.agent), chain, COVERAGE)

        return context

    def run(self) -> None:
        """Make all lists."""
        with self._lock:
            todo = [(b, *self._stood(b)) for b in self._branches if any(not chain.made for _, chain in b.wanted)]
            if todo:
                self._play(sorted(todo, key=lambda row: row[2]))

    def _stood(self, branch: _Branch) -> tuple[list[Entry], int]:
        """Return all rows of a branch, and how many of them in front are the active ones."""
        active = self._told.entries[: branch.cut]
        if not branch.between:
            return [*active, *branch.rows], branch.cut
        same = bisect_left(active, _key(branch.between[0]), key=_key)
        return [*sorted([*active, *branch.between], key=_key), *branch.rows], same

    def _play(self, todo: Sequence[tuple[_Branch, list[Entry], int]]) -> None:
        told = self._told
        kinds = [kind for kind, *_ in told.meant]
        opened = frozenset(e.row.id for e, (_, opening, *_) in zip(told.entries, told.meant, strict=True) if opening)
        rebuild = Rebuild(self._session, told.entries, kinds, opened)
        there = looked = 0
        for branch, rows, same in todo:
            for n in range(looked, same):
                wish = told.wish(n)  # only right after a request a list can be gone on with by other rows
                if wish is not None:
                    there = _go_to(rebuild, there, wish)
                    rebuild.request(wish.at, wish.target, wish.agent)
            looked = max(looked, same)
            kinds = t.kinds_of(rows)
            opening = frozenset(e.row.id for e, first in zip(rows, t.opening_rows(rows, kinds), strict=True) if first)
            other, at = rebuild.go_on(rows, kinds, opening), there
            for wish, chain in branch.wanted:
                at = _go_to(other, at, wish)
                other.request(wish.at, wish.target, wish.agent, None if chain.made else chain)
                chain.release()


def _go_to(rebuild: Rebuild, there: int, wish: Wish) -> int:
    for n in range(there, wish.rows):
        rebuild.add(n)
    return max(there, wish.rows)


def taken_back(aside: Aside, told: Story, log: Log, before: Story | None) -> list[tuple[HiddenTurn, ...]]:
    """Return the turns of each revert that is final.

    Args:
        aside: Makes their lists.
        told: The session's active rows.
        log: The reverts.
        before: What was read of the session a moment ago: turns whose rows are the same are the same objects.
    """
    same = before is not None and told.same > 0 and list(map(id, before.reverts)) == list(map(id, log.reverts))
    made: list[tuple[HiddenTurn, ...]] = []
    for place, revert in enumerate(log.reverts):
        if not revert.entries:
            made.append(())
            continue
        cut = bisect_left(told.entries, _key(revert.entries[0]), key=_key)
        if same and before is not None and cut <= told.same:
            made.append(before.gone[place])
            continue
        between = sorted((e for r in log.reverts[place + 1 :] for e in r.entries if _key(e) < _key(revert.entries[0])), key=_key)
        made.append(aside.turns(cut, between, revert.entries, known=_known(log.reverts, place)))
    told.reverts, told.gone = log.reverts, made
    return made


def _known(reverts: Sequence[Revert], place: int) -> bool:
    """Tell whether all rows are known that stood before a revert's: also those that were taken back after it."""
    later, first = reverts[place:], reverts[place].entries[0]
    if any(not r.whole or r.inside for r in later):
        return False
    # single messages that were deleted before it: whether the request still carried them is not known
    return not any(not r.asked and any(_key(e) < _key(first) for e in r.entries) for r in reverts[:place])
