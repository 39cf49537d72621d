"""Counting what a session carried: by text, by size, calibrated."""

from __future__ import annotations

import pytest
from ctx_inspect.core.measure import Measure, calibrated_on
from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    Item,
    Known,
    Ledger,
    Message,
    Part,
    PartKind,
    Raw,
    Ref,
    Request,
    Role,
    SessionInfo,
    Turn,
    Unavailable,
    Usage,
    Why,
    replace,
)
from ctx_inspect.core.text.tokens import BytesCounter

WHOLE = {c: Coverage("estimated", how="rules", all=True) for c in Category}


class Words:
    """A counter that needs the text: words."""

    name = "words"
    needs_text = True

    def of_text(self, text: str) -> int:
        return len(text.split())

    def of_size(self, size: int) -> int:
        return BytesCounter().of_size(size)


def part(fp: str, size: int | None, kind: PartKind = PartKind.TEXT, ref: bool = True) -> Part:
    return Part(kind, fp, size, ref=Ref("s", fp, "text") if ref else None)


def test_a_counter_of_texts_reads_each_content_once() -> None:
    read: list[str] = []

    def text(ref: Ref, limit: int) -> Known[Raw]:
        read.append(ref.row)
        return Confirmed(Raw("one two three"))

    measure = Measure(Words(), text)
    assert [measure.part(part("a", 13)), measure.part(part("a", 13)), measure.part(part("b", 13))] == [Estimated(3, "words")] * 3
    assert read == ["a", "b"]


def test_what_cannot_be_read_is_estimated_by_size_and_says_so() -> None:
    measure = Measure(Words(), lambda ref, limit: Unavailable(Why.GONE, "gone"))
    assert measure.part(part("a", 70)) == Estimated(20, "bytes/3.5")
    assert measure.part(part("b", 70, ref=False)) == Estimated(20, "bytes/3.5")
    assert isinstance(measure.part(part("c", None)), Unavailable)


def test_media_and_settings_have_no_tokens() -> None:
    measure = Measure(BytesCounter())
    assert isinstance(measure.part(part("a", 70, PartKind.MEDIA)), Unavailable)
    assert isinstance(measure.item(Item(Category.SETTINGS, Raw("model"), "m", size=70)), Unavailable)
    assert measure.item(Item(Category.TOOLS, Raw("bash"), "t", size=70)) == Estimated(20, "bytes/3.5")


def ledger(*requests: Request) -> Ledger:
    info = SessionInfo("pi:s", "pi", "s", None, None, 0, 0, Raw("/x"), "pi-3")
    return Ledger(info, turns=(Turn(1, "u", ("u",), 0, requests),))


def request(size: int | None, tokens: int | None, coverage: dict[Category, Coverage] = WHOLE, media: bool = False) -> Request:
    parts = (part("a", size), *((part("m", 900_000, PartKind.MEDIA),) if media else ()))
    context = Context((Item(Category.SYSTEM, Raw("x"), "x", size=400),), Chain(None, 0, (Message("u", Role.USER, "u", parts),)), coverage)
    usage: Known[Usage] = Unavailable(Why.NOT_REPORTED, "none") if tokens is None else Confirmed(Usage(tokens, 5))
    return Request("r", 0, step=1, context=context, usage=usage)


def test_a_session_calibrates_the_estimator() -> None:
    assert calibrated_on(ledger(request(3600, 1000))).ratio == 4


@pytest.mark.parametrize(
    "untold",
    [
        request(3600, None),
        request(None, 1000),
        request(3600, 1000, media=True),
        request(3600, 1000, {**WHOLE, Category.SYSTEM: Coverage("unavailable", note="not stored")}),
        replace(request(3600, 1000), inherited=True),
        replace(request(3600, 1000), context=None),
    ],
    ids=["no usage", "no size", "media", "no system prompt", "copied", "no context"],
)
def test_what_does_not_tell_all_calibrates_nothing(untold: Request) -> None:
    assert calibrated_on(ledger(untold)).ratio == 3.5
    assert calibrated_on(ledger(request(3600, 1000), untold)).ratio == 4
