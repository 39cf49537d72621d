"""Composing a session again after it grew gives what composing it whole gives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from ctx_inspect.app.snapshot import Snapshot, compose
from ctx_inspect.core.sources.pi import PiSource
from ctx_inspect.core.timeline import timeline

from tests.builders.pi import Call, PiFile, PiStore, Spent


def step(s: PiFile, chance: random.Random, n: int) -> None:
    match chance.randrange(9):
        case 0:
            s.compaction(f"so far {n}", kept=s.leaf, before=9_000 + n)
        case 1:
            s.context_edit(chance.choice(s.ids), None if chance.random() < 0.5 else "shorter")
        case 2:
            s.model("acme", chance.choice(["large", "small"]))
        case 3:
            s.thinking(chance.choice(["low", "high"]))
        case 4:
            s.go(chance.choice(s.ids))
            s.branch_summary("left that", origin=s.leaf)
        case 5:
            s.user(f"and {n}")
        case 6:
            s.assistant(calls=[Call("bash", {"command": "make"}, f"call_{n}")], usage=Spent(100 + n, 10, 1000 + n))
        case _:
            s.turn(f"do {n}", usage=Spent(100 + n, 10, 1000 + 50 * n))


class Kept(list[str]):
    """Ids that were written, for edits and branches."""


@pytest.mark.parametrize("seed", range(12))
def test_what_is_taken_over_is_what_would_be_made(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    s = PiStore(tmp_path).session(id="grows")
    s.ids = Kept()  # type: ignore[attr-defined]
    for n in range(6):
        s.ids += s.turn(f"do {n}", usage=Spent(100, 10, 1000 + n))  # type: ignore[attr-defined]
    source = PiSource(s.path)
    ledger, before = source.open("grows"), None
    for n in range(25):
        step(s, chance, n)
        s.ids.append(s.leaf)  # type: ignore[attr-defined]
        ledger = source.open("grows", ledger)
        again: Snapshot = compose(source, ledger, before=before)
        whole = compose(source, ledger)
        assert again.timeline == whole.timeline, n
        assert again.timeline == timeline(ledger, source.window)
        assert again.sent == whole.sent
        assert again.counter.name != whole.counter.name or again.shares == whole.shares
        before = again


def test_rows_that_did_not_change_are_the_same_objects(tmp_path: Path) -> None:
    s = PiStore(tmp_path).session(id="grows")
    for n in range(20):
        s.turn(f"do {n}")
    source = PiSource(s.path)
    first = source.open("grows")
    before = compose(source, first)
    s.turn("one more")
    after = compose(source, source.open("grows", first), before=before)
    kept = [a is b for a, b in zip(before.timeline.turns, after.timeline.turns, strict=False)]
    assert kept[:18] == [True] * 18
