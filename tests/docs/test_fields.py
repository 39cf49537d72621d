"""``docs/json.md`` says of every field what it is, and is never stale."""

from __future__ import annotations

import msgspec
import pytest

from tests.docs.fields import ANSWERS, BEGIN, END, PAGE, meanings, page, structs_of

STRUCTS = list(dict.fromkeys(s for answer in ANSWERS.values() for s in structs_of(answer)))


def test_the_page_is_what_the_structs_say() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert text == page(text), "stale: run python -m tests.docs"


@pytest.mark.parametrize("struct", STRUCTS)
def test_each_field_has_a_meaning(struct: type[msgspec.Struct]) -> None:
    about, said = meanings(struct)
    assert about
    assert list(said) == [f.name for f in msgspec.structs.fields(struct)]


def test_each_name_is_one_thing() -> None:
    assert len({s.__name__ for s in STRUCTS}) == len(STRUCTS)
