from __future__ import annotations

import pytest
from ctx_inspect.core.model import Chain, ChainBuilder, Message, Role
from hypothesis import given
from hypothesis import strategies as st


def msg(n: int) -> Message:
    return Message(str(n), Role.USER, str(n), ())


@given(st.lists(st.tuples(st.sampled_from(["append", "replace", "reset", "take"]), st.integers(0, 5)), max_size=40))
def test_each_taken_chain_keeps_the_list_of_its_moment(steps: list[tuple[str, int]]) -> None:
    builder, naive, taken = ChainBuilder(), [], []
    for i, (what, n) in enumerate(steps):
        if what == "append":
            builder.append(msg(i))
            naive.append(msg(i))
        elif what == "replace" and naive:
            builder.replace(n % len(naive), msg(1000 + i))
            naive[n % len(naive)] = msg(1000 + i)
        elif what == "reset":
            naive = [*naive[:n], msg(2000 + i), *naive[-n:]] if n else []
            builder.reset(naive)
        elif what == "take":
            taken.append((builder.take(), list(naive)))
    for chain, want in taken:
        assert list(chain) == want
        assert len(chain) == len(want)


def test_what_stays_in_front_is_not_held_twice() -> None:
    builder = ChainBuilder()
    for i in range(3):
        builder.append(msg(i))
    first = builder.take()
    assert builder.take() is first
    builder.append(msg(3))
    second = builder.take()
    assert (second.keep, len(second.add)) == (3, 1)
    builder.replace(1, msg(9))
    third = builder.take()
    assert (third.keep, len(third.add)) == (1, 3)


def test_a_long_session_does_not_recurse() -> None:
    builder = ChainBuilder()
    for i in range(20_000):
        builder.append(msg(i))
        chain = builder.take()
    assert len(chain.messages()) == 20_000


def test_a_keep_beyond_the_base_is_refused() -> None:
    with pytest.raises(ValueError, match="keep 1"):
        Chain(None, 1, ())
