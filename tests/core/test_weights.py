"""A list that grew is weighed by what it grew by, and comes out as if it was weighed whole."""

from __future__ import annotations

import random

import pytest
from ctx_inspect.core.model import Chain, ChainBuilder, Message, Part, PartKind, Role
from ctx_inspect.core.weights import Scale


def message(n: int, size: int | None = 10, media: bool = False) -> Message:
    parts = (Part(PartKind.TEXT, f"{n}", size), *([Part(PartKind.MEDIA, f"{n}m", 100)] if media else []))
    return Message(f"m{n}", Role.USER, f"{n}", parts)


def plainly(chain: Chain) -> tuple[list[int], list[tuple[int, int]]]:
    parts = [(i, p) for i, m in enumerate(chain.messages()) for p in m.parts]
    sizes = [-1 if p.size is None else p.size for _, p in parts if p.kind is not PartKind.MEDIA]
    return sizes, [(i, p.size or 0) for i, p in parts if p.kind is PartKind.MEDIA]


@pytest.mark.parametrize("seed", range(20))
def test_any_order_of_lists_gives_what_each_holds(seed: int) -> None:
    chance = random.Random(seed)
    builder, chains, scale = ChainBuilder(), list[Chain](), Scale()
    for n in range(60):
        match chance.randrange(6):
            case 0 if builder.list:
                builder.replace(chance.randrange(len(builder.list)), message(1000 + n, 7))
            case 1:
                builder.reset(builder.list[: chance.randrange(len(builder.list) + 1)])
            case _:
                builder.append(message(n, chance.choice([1, 50, None]), chance.random() < 0.2))
        chains.append(builder.take())
        for chain in (chains[-1], chance.choice(chains)):
            weights = scale.weigh(chain)
            assert (list(weights.sizes), weights.media) == plainly(chain)
            assert len(weights.ends) == len(chain)
            sizes, media = plainly(chain)
            assert weights.total() == (None if media or -1 in sizes else sum(sizes))


def test_shared_tells_what_both_have_in_front() -> None:
    builder = ChainBuilder()
    for n in range(5):
        builder.append(message(n))
    old = builder.take()
    builder.append(message(5))
    middle = builder.take()
    builder.replace(2, message(9))
    new = builder.take()
    assert old.shared(middle) == middle.shared(old) == 5
    assert old.shared(new) == new.shared(old) == 2
    assert new.since(4) == new.messages()[4:]
    assert new.since(6) == ()
    assert old.shared(ChainBuilder().take()) is None
    assert new.shared(new) == 6
