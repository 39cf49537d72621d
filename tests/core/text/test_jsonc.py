"""Comments and trailing commas go; strings stay as they are."""

from __future__ import annotations

import json

import pytest
from ctx_inspect.core.text.jsonc import plain_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, // one\n "b": [2, 3,],}', {"a": 1, "b": [2, 3]}),
        ('{"a": "// no comment /* nor this */ ,]"}', {"a": "// no comment /* nor this */ ,]"}),
        (r'{"a": "\"//\\"}', {"a": '"//\\'}),
        ("[1 /* , */ , /**/ 2 /*/ still a comment */ ]", [1, 2]),
        ("[1, /* x */ ]", [1]),
        ('[",", ]', [","]),
        ("[] // to the end", []),
    ],
)
def test_what_is_left_is_json(text: str, value: object) -> None:
    assert json.loads(plain_json(text)) == value


def test_what_is_torn_ends() -> None:
    for text in ('"a', "/* a", "// a", '"a\\', ",]", "]", "/"):
        plain_json(text)
