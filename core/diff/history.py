"""What the changes of single comparisons turn out to be over a session: clocks, flapping, an item's story. Pure.

Comparisons of consecutive turns that share their items (the same tuple) cost nothing, so a session of ten thousand turns is
looked through at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.items import item_changes
from ctx_inspect.core.diff.report import Change, ChangeKind, Flag
from ctx_inspect.core.model import Category, Coverage, Item, Ledger, Model, Raw, Request
from msgspec import Struct

Key = tuple[Category, Raw]
"""An item over time; an empty key stands for a category's order."""

Found = tuple[Category, Change]
"""A change and the category it is of; a move names no single item."""

IN_A_ROW = 3
"""Consecutive comparisons at equal size that make a modified item volatile."""

ITEMS = tuple(c for c in Category if c is not Category.CONVERSATION)


class Dated(Struct, frozen=True):
    """A change and the turn it came with."""

    turn: int
    change: Change


class Version(Struct, frozen=True):
    """One content that an item had.

    Attributes:
        item: The item with that content.
        requests: Primary requests of the session's own that carried it.
    """

    item: Item
    requests: int


class ItemHistory(Struct, frozen=True):
    """An item over the session.

    Attributes:
        category: Its category.
        k: Its key.
        first: The first turn whose first request carried it; ``None`` where it only came with a later step.
        changes: What happened to it, by turn.
        versions: Its contents in the order they were first sent, each with the requests that carried it; an item whose content
            came back has it once.
        period: Of a flapping item: comparisons from one return to the next.
    """

    category: Category
    k: Raw
    first: int | None
    changes: tuple[Dated, ...]
    versions: tuple[Version, ...]
    period: int | None = None

    @property
    def requests(self) -> int:
        """Requests that carried it."""
        return sum(v.requests for v in self.versions)


class MovedRow(Struct, frozen=True):
    """One line of the map of what moved.

    Attributes:
        category: The item's category.
        k: Its key; of a line that stands for a category's order: empty.
        cells: For each turn what happened; ``None`` = nothing, or nothing to compare.
        volatile: For each turn whether that is volatile or flapping.
    """

    category: Category
    k: Raw
    cells: tuple[ChangeKind | None, ...]
    volatile: tuple[bool, ...]


class MovedMap(Struct, frozen=True):
    """Items by turns.

    Attributes:
        turns: Numbers of the turns, oldest first.
        compared: For each whether there was anything to compare.
        rows: Items that changed in any of them, by category, then the one that changed last first.
    """

    turns: tuple[int, ...]
    compared: tuple[bool, ...]
    rows: tuple[MovedRow, ...]


class History:
    """The changes of all items of a session, turn by turn, each turn against its baseline."""

    def __init__(self, ledger: Ledger, order: Order | None = None) -> None:
        """Compare each turn with its baseline.

        Args:
            ledger: The session.
            order: Its requests in time, where they were put in order before.
        """
        self._order = order or Order(ledger)
        self._changes: dict[int, tuple[Found, ...]] = {}
        self._compared: list[bool] = []
        self._flags: dict[int, dict[Key, tuple[Flag, ...]]] = {}
        self._follows: dict[int, dict[Key, str]] = {}
        self._periods: dict[Key, int] = {}
        self._uses: dict[int, tuple[tuple[Item, ...], int]] | None = None
        known: dict[tuple[int, int, int, int], tuple[Found, ...]] = {}
        runs: dict[Key, tuple[int, int]] = {}  # the comparison of its last modification at equal size, and how many in a row
        seen: dict[Key, dict[str, int]] = {}  # the comparison at which each content was last there
        under: dict[Key, dict[Model, str] | None] = {}  # the content that each model had; None: it changed without the model
        grouped_of: tuple[Item, ...] = ()
        grouped = _grouped(grouped_of)
        at = 0
        for turn in ledger.turns:
            placed = self._order.of_turn(turn.n)
            base = self._order.baseline(placed) if placed is not None else None
            before = base.request.context if base is not None else None
            after = placed.request.context if placed is not None else None
            comparable = before is not None and after is not None and before.point == after.point
            self._compared.append(comparable)
            if base is None or placed is None or before is None or after is None or not comparable:
                continue
            at += 1
            if before.items is after.items and before.coverage is after.coverage:
                continue
            pair = (id(before.items), id(after.items), id(before.coverage), id(after.coverage))
            changes = known.get(pair)
            if changes is None:
                old = grouped if grouped_of is before.items else _grouped(before.items)
                grouped_of, grouped = after.items, _grouped(after.items)
                changes = known[pair] = _changes(old, grouped, before.coverage, after.coverage)
            if not changes:
                continue
            self._changes[turn.n] = changes
            flags = {key: f for category, change in changes if (f := self._flag(key := _key(category, change), change, at, runs, seen))}
            if flags:
                self._flags[turn.n] = flags
            models = (base.request.model, placed.request.model)
            follows = [_key(category, change) for category, change in changes if _with_model(category, change, models, under)]
            if follows:
                self._follows[turn.n] = dict.fromkeys(follows, "model")

    def _flag(
        self, key: Key, change: Change, at: int, runs: dict[Key, tuple[int, int]], seen: dict[Key, dict[str, int]]
    ) -> tuple[Flag, ...]:
        """Tell what one change is over the comparisons before it; only what was known by then counts."""
        if change.kind is not ChangeKind.MODIFIED or change.before is None or change.after is None:
            return ()
        contents = seen.setdefault(key, {})
        contents[change.before.fp] = at - 1
        last, times = runs.get(key, (0, 0))
        equal = change.before.size is not None and change.before.size == change.after.size
        times = (times + 1 if last == at - 1 else 1) if equal else 0
        runs[key] = (at, times)
        came_back = contents.get(change.after.fp)
        if came_back is not None:
            self._periods[key] = at - came_back
            return (Flag.FLAPPING,)
        return (Flag.VOLATILE,) if times >= IN_A_ROW else ()

    def changes(self, turn: int) -> tuple[Found, ...]:
        """Return what happened to items between a turn and its baseline, each with its category."""
        return self._changes.get(turn, ())

    def flags(self, turn: int) -> Mapping[Key, tuple[Flag, ...]]:
        """Return what the changes of a turn are over several comparisons; items without anything to say are absent."""
        return self._flags.get(turn, {})

    def follows(self, turn: int) -> Mapping[Key, str]:
        """Return which changes of a turn are known to be knock-ons, and of what.

        ``model``: a block of the system prompt that is again what it was under the model that was changed to, and that never
        changed while the model stayed.
        """
        return self._follows.get(turn, {})

    def item(self, category: Category, k: Raw) -> ItemHistory:
        """Return an item's story."""
        key = (category, k)
        dated = [Dated(n, c) for n, changes in self._changes.items() for of, c in changes if _names(of, c, key)]
        first: int | None = None
        versions: dict[str, Version] = {}
        looked: dict[int, tuple[Item, ...]] = {}
        for items, requests in self._carried().values():
            for item in items:
                if item.category is category and item.k == k:
                    held = versions.get(item.fp)
                    versions[item.fp] = Version(item, requests + (held.requests if held else 0))
        for placed in self._order.firsts:
            context = placed.request.context
            if placed.turn is None or context is None or id(context.items) in looked:
                continue
            looked[id(context.items)] = context.items
            if any(i.category is category and i.k == k for i in context.items):
                first = placed.turn
                break
        return ItemHistory(category, k, first, tuple(dated), tuple(versions.values()), self._periods.get(key))

    def _carried(self) -> Mapping[int, tuple[tuple[Item, ...], int]]:
        """Return each tuple of items that was sent, and how many of the session's own requests carried it, oldest first."""
        if self._uses is None:
            times: Counter[int] = Counter()
            held: dict[int, tuple[Item, ...]] = {}
            for placed in self._order.requests:
                request: Request = placed.request
                if request.context is not None and not request.inherited:
                    held.setdefault(id(request.context.items), request.context.items)
                    times[id(request.context.items)] += 1
            self._uses = {i: (items, times[i]) for i, items in held.items()}
        return self._uses

    def moved_map(self, last: int, until: int | None = None) -> MovedMap:
        """Return which items changed when.

        Args:
            last: How many turns.
            until: Number of the last turn of the map; without it the newest.
        """
        end = len(self._compared) if until is None else max(0, min(until, len(self._compared)))
        turns = tuple(range(max(1, end - last + 1), end + 1))
        cells: dict[Key, dict[int, ChangeKind]] = {}
        newest: dict[Key, int] = {}
        for n in turns:
            for category, change in self._changes.get(n, ()):
                key = _key(category, change)
                cells.setdefault(key, {})[n] = change.kind
                newest[key] = n
        names = sorted(cells, key=lambda key: (ITEMS.index(key[0]), -newest[key]))
        rows = [
            MovedRow(
                key[0], key[1], tuple([cells[key].get(n) for n in turns]), tuple([bool(self._flags.get(n, {}).get(key)) for n in turns])
            )
            for key in names
        ]
        return MovedMap(turns, tuple([self._compared[n - 1] for n in turns]), tuple(rows))


def _key(category: Category, change: Change) -> Key:
    return category, Raw("") if change.kind is ChangeKind.MOVED else change.k


def _with_model(category: Category, change: Change, models: tuple[Model, Model], under: dict[Key, dict[Model, str] | None]) -> bool:
    """Tell whether a content came back with its model; notes what each model had."""
    if category is not Category.SYSTEM or change.kind is not ChangeKind.MODIFIED or change.before is None or change.after is None:
        return False
    key, (was, now) = _key(category, change), models
    if was == now:
        under[key] = None
    held = under.setdefault(key, {})
    if held is None:
        return False
    held[was] = change.before.fp
    return held.get(now) == change.after.fp


def _names(category: Category, change: Change, key: Key) -> bool:
    if category is not key[0]:
        return False
    return key[1] in (change.moved if change.kind is ChangeKind.MOVED else (change.k, change.from_k))


_Grouped = Mapping[Category, Sequence[Item]]


def _grouped(items: tuple[Item, ...]) -> _Grouped:
    groups: dict[Category, list[Item]] = {c: [] for c in ITEMS}
    for item in items:
        groups[item.category].append(item)
    return groups


def _changes(before: _Grouped, after: _Grouped, known: Mapping[Category, Coverage], now: Mapping[Category, Coverage]) -> tuple[Found, ...]:
    found: list[Found] = []
    for category in ITEMS:
        old, new = before[category], after[category]
        if old == new:
            continue
        was, is_ = known.get(category), now.get(category)
        if was is None or is_ is None or "unavailable" in (was.grade, is_.grade):
            continue
        found += [(category, change) for change in item_changes(old, new, complete=was.all and is_.all)[0]]
    return tuple(found)
