"""Tokens of both sides by one counter, and their difference."""

from __future__ import annotations

from ctx_inspect.core.diff.report import Tokens
from ctx_inspect.core.diff.tokens import OTHER_COUNTER, StoreCounts, difference
from ctx_inspect.core.measure import Measure
from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Estimated,
    Item,
    Known,
    Message,
    Part,
    PartKind,
    Raw,
    Ref,
    Role,
    Unavailable,
    Why,
    replace,
    value_of,
)
from ctx_inspect.core.shares import NO_MEDIA, NO_SETTING, shares
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale
from hypothesis import given
from hypothesis import strategies as st

from tests.core.diff.contexts import context, item, items, said

TOOLS, SYSTEM, SETTINGS, TALK = Category.TOOLS, Category.SYSTEM, Category.SETTINGS, Category.CONVERSATION
BYTES = BytesCounter().name


class Words:
    """A counter that needs the text: words."""

    name = "words"
    needs_text = True

    def of_text(self, text: str) -> int:
        return len(text.split())

    def of_size(self, size: int) -> int:
        return BytesCounter().of_size(size)


def by_size() -> StoreCounts:
    return StoreCounts(Measure(BytesCounter()))


def with_text(made: Item) -> Item:
    return replace(made, ref=Ref("s", made.fp, "text"))


def of_words(texts: dict[str, str]) -> StoreCounts:
    """Count words; of what has no text here only its size is known."""

    def read(ref: Ref, limit: int) -> Known[Raw]:
        return Confirmed(Raw(texts[ref.row])) if ref.row in texts else Unavailable(Why.GONE, "gone")

    return StoreCounts(Measure(Words(), read))


def test_a_category_is_the_sum_of_its_items_and_of_no_other() -> None:
    made = context(items(TOOLS, f"a={'x' * 35} b={'y' * 70}"), items(SYSTEM, f"c={'z' * 350}"), messages=said("m" * 7, "n" * 14))
    counts = by_size()
    assert [counts.category(made, c) for c in (TOOLS, SYSTEM, TALK)] == [Estimated(n, BYTES) for n in (30, 100, 6)]
    assert counts.category(made, Category.SKILLS) == Estimated(0, BYTES)
    assert counts.item(item(TOOLS, f"a={'x' * 35}")) == Estimated(10, BYTES)


def test_settings_take_no_tokens() -> None:
    made = context(items(SETTINGS, "model=big"))
    for counts in (by_size(), of_words({})):
        assert counts.category(made, SETTINGS) == NO_SETTING
        assert counts.item(made.items[0]) == NO_SETTING


def test_what_is_not_known_is_no_zero() -> None:
    made = context(unavailable=(TOOLS,))
    for counts in (by_size(), of_words({})):
        assert counts.category(made, TOOLS) == Unavailable(Why.NOT_RECORDED, "the test does not record it")
    unsized = context((replace(item(TOOLS, "a=1"), size=None),))
    assert isinstance(by_size().category(unsized, TOOLS), Unavailable)


def with_image() -> Chain:
    parts = (Part(PartKind.TEXT, "t", 35), Part(PartKind.MEDIA, "image", 90_000))
    return Chain(None, 0, (Message("m0", Role.USER, "m0", parts),))


def test_media_are_left_out_and_said_so() -> None:
    how = f"{BYTES}, 1 of 2 parts not counted"
    assert by_size().category(context(messages=with_image()), TALK) == Estimated(10, how)
    words = of_words({})
    assert words.category(context(messages=with_image()), TALK) == Estimated(10, how)
    only = Chain(None, 0, (Message("m0", Role.USER, "m0", (Part(PartKind.MEDIA, "image", 90_000),)),))
    assert words.category(context(messages=only), TALK) == Unavailable(Why.UNKNOWN, NO_MEDIA.note)


def test_texts_are_read_where_the_counter_needs_them() -> None:
    here, gone = with_text(item(TOOLS, "a=here")), with_text(item(TOOLS, f"b={'x' * 35}"))
    counts = of_words({"here": "one two three"})
    assert counts.name == "words"
    assert counts.category(context((here,)), TOOLS) == Estimated(3, "words")
    # of the other only the size is known: the sum says that two counters counted
    both = counts.category(context((here, gone)), TOOLS)
    assert both == Estimated(13, f"{BYTES}, words")
    assert difference(counts.category(context((here,)), TOOLS), both).delta == OTHER_COUNTER


def test_many_contexts_are_each_counted_for_what_they_are() -> None:
    made = [context(items(TOOLS, f"a={'x' * 35 * n}"), messages=said("m" * 70 * n)) for n in range(1, 9)]
    counts = by_size()
    for order in (made, made[::-1]):
        for context_ in order:
            n = made.index(context_) + 1
            assert counts.category(context_, TOOLS) == Estimated(10 * n, BYTES)
            assert counts.category(context_, TALK) == Estimated(20 * n, BYTES)


def test_a_diff_counts_as_the_window_does() -> None:
    """The budget tab and a comparison must not say two numbers of one request."""
    made = context(items(TOOLS, "a=123456 b=12"), items(SYSTEM, "block:0=abc"), messages=with_image())
    nobody = Unavailable(Why.UNKNOWN, "not asked for")
    known = {s.category: s.tokens for s in shares(made, nobody, lambda _fp, size: BytesCounter().of_size(size), BYTES).shares}
    assert {c: StoreCounts(Measure(BytesCounter()), Scale()).category(made, c) for c in Category} == known


def test_a_difference_takes_two_figures_of_one_counter() -> None:
    assert difference(Estimated(5, "a"), Estimated(9, "a")).delta == Estimated(4, "a")
    assert difference(Estimated(5, "a"), Estimated(9, "b")).delta == OTHER_COUNTER
    assert difference(Confirmed(5), Confirmed(9)).delta == Confirmed(4)
    assert difference(Confirmed(5), Estimated(9, "a")).delta == OTHER_COUNTER
    assert difference(Estimated(5, "bytes/3.5, calibrated"), Estimated(9, "bytes/3.5")).delta == OTHER_COUNTER


def test_a_side_that_is_not_known_leaves_no_difference_and_says_why() -> None:
    gone = Unavailable(Why.GONE, "gone")
    for before, after in ((gone, Confirmed(9)), (Confirmed(9), gone), (gone, gone)):
        assert difference(before, after) == Tokens(before, after, gone)


def test_what_was_left_out_on_either_side_is_said_of_the_difference() -> None:
    gap = "1 of 9 parts not counted"
    came = difference(Estimated(5, BYTES), Estimated(9, f"{BYTES}, {gap}"))
    went = difference(Estimated(9, f"{BYTES}, {gap}"), Estimated(5, BYTES))
    assert came.delta == Estimated(4, f"{BYTES}, {gap}")
    assert went.delta == Estimated(-4, f"{BYTES}, before: {gap}")


KNOWN = st.one_of(
    st.builds(Confirmed, st.integers(0, 10**6)),
    st.builds(Estimated, st.integers(0, 10**6), st.sampled_from(["a", "b"])),
    st.just(Unavailable(Why.GONE, "gone")),
)


@given(KNOWN, KNOWN)
def test_the_reverse_difference_is_the_negative(before: Known[int], after: Known[int]) -> None:
    there, back = value_of(difference(before, after).delta), value_of(difference(after, before).delta)
    assert (there is None) == (back is None)
    assert there is None or there == -(back or 0)
