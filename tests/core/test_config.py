"""The user's file."""

import os
from pathlib import Path

import pytest
from ctx_inspect.core.budget import limit_of
from ctx_inspect.core.config import Config, load
from ctx_inspect.core.model import Confirmed, LimitClaim, Model, Unavailable, Why, Window, value_of
from ctx_inspect.core.model.limits import RANK_HARNESS

NO_THRESHOLD = Unavailable(Why.UNKNOWN, "none")


def written(tmp_path: Path, text: str | bytes) -> Config:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(path)


def test_limits(tmp_path: Path) -> None:
    config = written(tmp_path, '[limits]\n"acme/large" = 200_000\nlarge = 100000\n')
    assert config.problems == ()
    assert config.limit(Model("acme", "large")) == 200_000
    assert config.limit(Model("other", "large")) == 100_000
    assert config.limit(Model(None, "large")) == 100_000
    assert config.limit(Model("acme", "small")) is None
    assert config.limit(Model(None, None)) is None


def test_the_harness_goes_before_the_user(tmp_path: Path) -> None:
    config = written(tmp_path, "[limits]\nlarge = 100000\n")
    own = LimitClaim(Confirmed(150_000), "context", "models.json", RANK_HARNESS)
    known = config.window_for(lambda model: Window((own,), NO_THRESHOLD))(Model("acme", "large"))
    assert value_of(limit_of(known.claims)).tokens == 150_000
    unknown = config.window_for(lambda model: Window((), NO_THRESHOLD))(Model("acme", "large"))
    assert value_of(limit_of(unknown.claims)).tokens == 100_000
    assert value_of(limit_of(unknown.claims)).source == "[limits]"


def test_keys_and_theme(tmp_path: Path) -> None:
    config = written(tmp_path, 'theme = "light"\n[keys]\nfollow = "F"\n')
    assert (config.keys, config.theme, config.problems) == ({"follow": "F"}, "light", ())


def test_no_file(tmp_path: Path) -> None:
    config = load(tmp_path / "config.toml")
    assert (config.limits, config.problems) == ({}, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[limits\n", "not valid TOML"),
        (b"\xff\xfe", "not UTF-8"),
        ("limits = 3", "1 of [limits]"),
        ("keys = {a = 1}", "1 of [keys]"),
        ("theme = 1", "theme must be a name"),
        ('[limits]\na = "200k"\nb = true\nc = -1\nd = 1.5\ne = 50000', "4 of [limits]"),
        ("#" * 1_000_001, "larger than 1 MB"),
        ("a = " + "[" * 100_000, "not valid TOML"),
    ],
    ids=["broken", "encoding", "no table", "no keys", "no theme", "no numbers", "huge", "deep"],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str | bytes, problem: str) -> None:
    config = written(tmp_path, text)
    assert problem in config.problems[0]
    assert set(config.limits) <= {"e"}


@pytest.mark.timeout(10)
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    assert load(tmp_path / "config.toml").problems == ("config.toml is no file: not read",)
    (tmp_path / "below").mkdir()
    assert load(tmp_path / "below").problems == ("config.toml is no file: not read",)


def test_a_limit_that_is_not_believed_is_said(tmp_path: Path) -> None:
    config = written(tmp_path, "[limits]\nsmall = 100\nlarge = 9_000_000\ngood = 200_000\n")
    assert config.problems == ("config.toml: 2 of [limits] are not believed: a window has 20,000 to 3,000,000 tokens",)
    assert config.limit(Model(None, "good")) == 200_000
