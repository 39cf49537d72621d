"""What changes turn out to be over a session."""

from __future__ import annotations

from ctx_inspect.core.diff.history import History
from ctx_inspect.core.diff.report import ChangeKind, Flag
from ctx_inspect.core.model import Category, Ledger, Model, Raw, Turn, replace

from tests.core.diff.contexts import context, items
from tests.core.ledgers import info, step

SYSTEM, TOOLS = Category.SYSTEM, Category.TOOLS


def session(*words: str, category: Category = SYSTEM, steps: int = 1) -> Ledger:
    """Make a session of a turn per list of items; the same words are the same tuple."""
    made = {w: context(items(category, w)) for w in words}
    turns = [
        Turn(
            n,
            f"u{n}",
            (f"u{n}",),
            n * 1000,
            tuple(step(f"a{n}.{i}", 100, i, at=n * 1000 + i, context=made[w]) for i in range(1, steps + 1)),
        )
        for n, w in enumerate(words, start=1)
    ]
    return Ledger(info(), turns=tuple(turns))


def flagged(ledger: Ledger) -> dict[int, tuple[Flag, ...]]:
    history = History(ledger)
    return {t.n: f for t in ledger.turns for f in history.flags(t.n).values()}


def test_a_clock_is_volatile_from_the_third_comparison_on() -> None:
    ledger = session("date=10:01", "date=10:02", "date=10:03", "date=10:04", "date=10:05")
    assert flagged(ledger) == {4: (Flag.VOLATILE,), 5: (Flag.VOLATILE,)}


def test_another_size_or_a_turn_without_change_is_no_clock() -> None:
    assert flagged(session("d=1", "d=2", "d=33", "d=4", "d=5")) == {}
    assert flagged(session("d=1", "d=2", "d=3", "d=3", "d=4", "d=5")) == {}


def test_what_comes_back_flaps_and_says_its_period() -> None:
    ledger = session("s=A", "s=B", "s=A", "s=B", "s=A")
    assert flagged(ledger) == {3: (Flag.FLAPPING,), 4: (Flag.FLAPPING,), 5: (Flag.FLAPPING,)}
    assert History(ledger).item(SYSTEM, Raw("s")).period == 2
    # with two in between
    three = session("s=A", "s=B", "s=C", "s=A")
    assert flagged(three) == {4: (Flag.FLAPPING,)}
    assert History(three).item(SYSTEM, Raw("s")).period == 3


def test_removed_and_added_again_is_no_flapping() -> None:
    assert flagged(session("s=A x=1", "x=1", "s=A x=1", "x=1")) == {}


def test_the_story_of_an_item() -> None:
    ledger = session("b=1", "a=1 b=1", "a=1 b=1", "a=2 b=1", "b=1", steps=2)
    story = History(ledger).item(SYSTEM, Raw("a"))
    assert story.first == 2
    assert [(d.turn, d.change.kind) for d in story.changes] == [(2, ChangeKind.ADDED), (4, ChangeKind.MODIFIED), (5, ChangeKind.REMOVED)]
    assert [(v.item.fp, v.requests) for v in story.versions] == [("1", 4), ("2", 2)]
    assert story.requests == 6


def test_inherited_requests_were_sent_by_another_session() -> None:
    ledger = session("a=1", "a=1")
    first = replace(ledger.turns[0], requests=tuple(replace(r, inherited=True) for r in ledger.turns[0].requests))
    assert History(replace(ledger, turns=(first, ledger.turns[1]))).item(SYSTEM, Raw("a")).requests == 1


def test_the_map_of_what_moved() -> None:
    ledger = session("a=1/1 b=1/1 c=1/1", "a=1/1 b=1/1 c=1/1", "c=1/1 a=1/1 b=1/1", "c=1/1 a=2/1 b=1/1 d=1/1", category=TOOLS)
    found = History(ledger).moved_map(3)
    assert found.turns == (2, 3, 4)
    assert [(r.k, r.cells) for r in found.rows] == [
        ("a", (None, None, ChangeKind.MODIFIED)),
        ("d", (None, None, ChangeKind.ADDED)),
        ("", (None, ChangeKind.MOVED, None)),
    ]
    assert History(ledger).moved_map(2, until=2).turns == (1, 2)
    assert History(ledger).moved_map(2, until=2).compared == (False, True)


def test_an_item_that_moved_tells_so_in_its_story() -> None:
    ledger = session("a=1/1 b=1/1 c=1/1", "c=1/1 a=1/1 b=1/1", category=TOOLS)
    assert [d.change.kind for d in History(ledger).item(TOOLS, Raw("c")).changes] == [ChangeKind.MOVED]
    assert History(ledger).item(TOOLS, Raw("a")).changes == ()


def told(*turns: tuple[str, str]) -> Ledger:
    """Make a session of (model, content of the block that names it) per turn."""
    ledger = session(*(f"line={fp} other=1" for _, fp in turns))
    models = [Model(Raw("p"), Raw(model)) for model, _ in turns]
    made = [replace(t, requests=tuple(replace(r, model=m) for r in t.requests)) for t, m in zip(ledger.turns, models, strict=True)]
    return replace(ledger, turns=tuple(made))


def following(ledger: Ledger) -> list[int]:
    history = History(ledger)
    return [t.n for t in ledger.turns if history.follows(t.n) == {(SYSTEM, Raw("line")): "model"}]


def test_a_block_that_is_again_what_it_was_under_that_model_follows_the_model() -> None:
    assert following(told(("a", "1"), ("b", "2"), ("a", "1"), ("a", "1"), ("b", "2"))) == [3, 5]


def test_a_block_that_changes_beside_the_model_is_not_known_to_follow_it() -> None:
    # once is no rule
    assert following(told(("a", "1"), ("b", "2"), ("c", "3"))) == []
    # another content under the same model
    assert following(told(("a", "1"), ("b", "2"), ("a", "3"))) == []
    # it comes and goes without the model too
    assert following(told(("a", "1"), ("a", "2"), ("b", "1"), ("a", "2"))) == []


def test_snapshots_of_two_points_are_not_compared() -> None:
    ledger = session("a=1", "a=2", "a=3")
    (request,) = ledger.turns[1].requests
    assert request.context is not None
    wire = replace(ledger.turns[1], requests=(replace(request, context=replace(request.context, point="wire")),))
    history = History(replace(ledger, turns=(ledger.turns[0], wire, ledger.turns[2])))
    assert [history.changes(n) for n in (1, 2, 3)] == [(), (), ()]
    assert history.moved_map(3).compared == (False, False, False)


def test_what_is_not_known_does_not_change() -> None:
    def changes(**coverage: tuple[Category, ...]) -> list[ChangeKind]:
        made = [context(items(TOOLS, w), **coverage) for w in ("a=1/1 b=1/1", "a=2/1 c=1/2")]
        turns = [Turn(n, f"u{n}", (f"u{n}",), n, (step(f"a{n}", 100, at=n, context=c),)) for n, c in enumerate(made, start=1)]
        return [change.kind for _, change in History(Ledger(info(), turns=tuple(turns))).changes(2)]

    assert changes() == [ChangeKind.MODIFIED, ChangeKind.REMOVED, ChangeKind.ADDED]
    assert changes(partly=(TOOLS,)) == [ChangeKind.MODIFIED]
    assert changes(unavailable=(TOOLS,)) == []
    assert changes(unavailable=(SYSTEM,)) == changes()
