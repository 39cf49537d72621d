"""Limits and the compaction threshold, from OpenCode's own configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ctx_inspect.core.model import Confirmed, Estimated, Model, Raw, Unavailable, Window, Witness, value_of
from ctx_inspect.core.sources.opencode import OpenCodeSource
from ctx_inspect.core.sources.opencode.config import window
from ctx_inspect.core.text.jsonc import plain_json
from ctx_inspect.core.timeline import timeline

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage

MODEL = Model(Raw("mock"), Raw("big"))


def limit(**tokens: int) -> dict[str, object]:
    return {"provider": {"mock": {"options": {"apiKey": "sk-secret"}, "models": {"big": {"limit": tokens}}}}}


def put(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def ask(home: Path, directory: Path | None = None, **env: str) -> Window:
    return window(MODEL, env, home, str(directory) if directory else None)


def test_nothing_is_known_without_a_file(tmp_path: Path) -> None:
    known = ask(tmp_path)
    assert known.claims == ()
    assert isinstance(known.threshold, Unavailable)


def test_the_global_file_is_configuration(tmp_path: Path) -> None:
    put(tmp_path / ".config/opencode/opencode.json", limit(context=200_000, output=64_000))
    known = ask(tmp_path)
    (claim,) = known.claims
    assert (claim.tokens, claim.kind, claim.source) == (Confirmed(200_000, Witness.CONFIG), "context", "opencode.json")
    assert known.threshold == Estimated(168_000, "OpenCode's rule: context − 32,000 for output")
    assert "sk-secret" not in repr(known)


@pytest.mark.parametrize(
    ("tokens", "compaction", "threshold"),
    [
        ({"context": 200_000, "output": 8_000}, {}, 192_000),
        ({"context": 200_000}, {}, 168_000),
        ({"context": 200_000, "output": 64_000, "input": 150_000}, {}, 130_000),
        ({"context": 200_000, "output": 8_000, "input": 150_000}, {}, 142_000),
        ({"context": 200_000, "output": 64_000, "input": 150_000}, {"reserved": 5_000}, 145_000),
        ({"context": 200_000, "output": 64_000}, {"reserved": 5_000}, 168_000),
        ({"context": 200_000}, {"auto": False}, None),
        ({"context": 0}, {}, None),
    ],
)
def test_when_it_compacts_by_itself(tmp_path: Path, tokens: dict[str, int], compaction: dict[str, object], threshold: int | None) -> None:
    put(tmp_path / ".config/opencode/opencode.json", {**limit(**tokens), "compaction": compaction})
    known = ask(tmp_path).threshold
    assert (known.value if isinstance(known, Estimated) else None) == threshold


def test_an_environment_variable_switches_it_off(tmp_path: Path) -> None:
    put(tmp_path / ".config/opencode/opencode.json", limit(context=200_000))
    assert isinstance(ask(tmp_path, OPENCODE_DISABLE_AUTOCOMPACT="1").threshold, Unavailable)


def test_the_project_wins_over_the_global_file_and_comments_are_allowed(tmp_path: Path) -> None:
    put(tmp_path / ".config/opencode/opencode.json", limit(context=200_000))
    project = tmp_path / "app"
    (project / ".git").mkdir(parents=True)
    put(project / "opencode.jsonc", "// ours\n" + json.dumps(limit(context=100_000))[:-1] + ', /* "x" */ }')
    (project / "sub").mkdir()
    assert ask(tmp_path, project / "sub").claims[0].tokens == Confirmed(100_000, Witness.CONFIG)
    assert ask(tmp_path, tmp_path / "elsewhere").claims[0].tokens == Confirmed(200_000, Witness.CONFIG)


def test_a_catalogue_is_an_estimate_and_configuration_wins(tmp_path: Path) -> None:
    put(tmp_path / ".cache/opencode/models.json", {"mock": {"models": {"big": {"limit": {"context": 300_000, "output": 1_000}}}}})
    known = ask(tmp_path)
    assert known.claims[0].tokens == Estimated(300_000, "catalogue file")
    assert known.claims[0].source == "catalogue"
    put(tmp_path / ".config/opencode/opencode.json", limit(context=200_000, output=2_000))
    assert ask(tmp_path).claims[0].tokens == Confirmed(200_000, Witness.CONFIG)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"provider": []}', "\0" * 10, "[" * 9_999, '{"provider":{"mock":{"models":{"big":{"limit":{"context":"a"}}}}}}'],
)
def test_a_bad_file_counts_as_absent(tmp_path: Path, text: str) -> None:
    put(tmp_path / ".config/opencode/opencode.json", text)
    assert ask(tmp_path).claims == ()


def test_a_pipe_or_a_huge_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".config/opencode").mkdir(parents=True)
    os.mkfifo(tmp_path / ".config/opencode/opencode.json")
    put(tmp_path / ".config/opencode/opencode.jsonc", "/*" + " " * 2_000_000 + "*/" + json.dumps(limit(context=200_000)))
    assert ask(tmp_path).claims == ()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": "// no // comment", /* b */ "c": 1,}', '{"a": "// no // comment",  "c": 1}'),
        ('["\\"/*", 2, // x\n]', '["\\"/*", 2 ]'),
        ('{"a": [1,2, ] , }', '{"a": [1,2 ]  }'),
        ('"unclosed', '"unclosed'),
        ("/* unclosed", ""),
    ],
)
def test_comments_and_trailing_commas_are_taken_out(text: str, plain: str) -> None:
    assert plain_json(text) == plain


def test_a_source_asks_with_the_directory_of_the_session(tmp_path: Path) -> None:
    project = tmp_path / "app"
    (project / ".git").mkdir(parents=True)
    put(project / "opencode.json", limit(context=123_000))
    with OpenCodeDB(tmp_path / "opencode.db", directory=str(project)) as db:
        s = db.session()
        s.turn("hello")
    source = OpenCodeSource(tmp_path / "opencode.db", {}, tmp_path)
    assert source.window(MODEL, s.id).claims == ()
    source.open(s.id)
    assert source.window(MODEL, s.id).claims[0].tokens == Confirmed(123_000, Witness.CONFIG)


def test_a_limit_never_comes_from_another_project(tmp_path: Path) -> None:
    for name, tokens in (("one", 123_000), ("two", 64_000)):
        (tmp_path / name / ".git").mkdir(parents=True)
        put(tmp_path / name / "opencode.json", limit(context=tokens))
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        ids = [db.session(directory=str(tmp_path / name)) for name in ("one", "two", "three")]
        for s in ids:
            s.turn("hello")
    source = OpenCodeSource(tmp_path / "opencode.db", {}, tmp_path)
    source.sessions()
    for s in (ids[0], ids[1], ids[2]):
        source.open(s.id)
    assert [value_of(c.tokens) for s in ids for c in source.window(MODEL, s.id).claims] == [123_000, 64_000]
    assert source.window(MODEL).claims == ()


def test_a_file_of_any_name_is_named_by_its_variable(tmp_path: Path) -> None:
    put(tmp_path / "ann's secret plan.json", limit(context=200_000))
    known = ask(tmp_path, OPENCODE_CONFIG=str(tmp_path / "ann's secret plan.json"))
    assert known.claims[0].source == "$OPENCODE_CONFIG"


@pytest.mark.parametrize("stated", [0, 6_748, 10**9])
def test_no_forecast_comes_of_a_limit_that_nobody_believes(tmp_path: Path, stated: int) -> None:
    put(tmp_path / ".config/opencode/opencode.json", limit(context=stated))
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        for n in (10_000, 12_000):
            s.user("hello")
            s.step("hi", usage=Usage(n))
    source = OpenCodeSource(tmp_path / "opencode.db", {}, tmp_path)
    found = timeline(source.open(s.id), lambda m: source.window(m, s.id))
    assert isinstance(found.limit, Unavailable)
    assert isinstance(found.threshold, Unavailable)
    assert isinstance(found.forecast, Unavailable)
