"""``check``: a gate over stores written as the agents write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.core.model import ProblemCode
from ctx_inspect.core.sources.base import SourceError

from tests.app.commands.sample import LEDGER, SampleSource
from tests.builders.opencode import OpenCodeDB
from tests.builders.pi import PiStore, Spent, sections, tool
from tests.command import Call, Done


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Sessions: ``calm`` (growth alone), ``moved`` (tools reordered), ``edited`` (a recorded edit), ``heavy`` (writes much)."""
    home = PiStore(tmp_path / "pi")
    many = [tool(n, f"Does {n} " * 20) for n in ("a", "b", "c")]
    calm = home.session(id="calm")
    calm.system(sections(), tools=many)
    calm.turn("one", usage=Spent(100, 5, 0, 900))
    calm.turn("two", usage=Spent(100, 5, 1000, 100))
    moved = home.session(id="moved")
    moved.system(sections(), tools=many)
    moved.turn("one")
    moved.system({}, removed=["a"])
    moved.system({}, tools=[many[0]])
    moved.turn("two")
    edited = home.session(id="edited")
    edited.system(sections(), tools=many)
    first = edited.turn("one")
    edited.turn("two")
    edited.context_edit(first[1], "shorter")
    edited.turn("three")
    heavy = home.session(id="heavy")
    heavy.system(sections(), tools=many)
    for text in ("one", "two", "three", "four"):
        heavy.turn(text, usage=Spent(0, 5, 0, 1000))
    return home.sessions


@pytest.fixture
def opencode(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    with OpenCodeDB(path) as db:
        s = db.session("Fix the build")
        s.turn("one", "1")
        s.turn("two", "2")
    return path


def call(cli: Call, path: Path, *args: str) -> Done:
    return cli("check", *args, "--source", str(path))


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("calm", "--no-reorder", "--no-rewrite", "--max-rewrite", "1", "--budget", "tools=10k"), 0),
        (("moved", "--no-reorder"), 1),
        (("moved", "--no-rewrite"), 0),
        (("edited", "--no-rewrite"), 0),
        (("edited", "--no-reorder"), 0),
        (("heavy", "--max-rewrite", "4"), 0),
        (("heavy", "--max-rewrite", "3.99"), 1),
        (("calm", "--budget", "tools=50"), 1),
        (("calm", "--budget", "tools=50", "--allow-unavailable"), 1),
        (("calm", "--budget", "instructions=0"), 0),
        (("calm", "moved", "--no-reorder"), 1),
        (("moved", "--max-rewrite", "1"), 5),
        (("moved", "--max-rewrite", "1", "--allow-unavailable"), 0),
        (("moved", "--max-rewrite", "1", "--no-reorder"), 1),
    ],
)
def test_exit_codes(cli: Call, store: Path, args: tuple[str, ...], code: int) -> None:
    plain, data = call(cli, store, *args), call(cli, store, *args, "--json")
    assert (plain.code, data.code) == (code, code), plain.out + plain.err
    assert data.json["passed"] is (code == 0)
    last = plain.out.splitlines()[-1]
    assert last.startswith({0: "passed", 1: "failed", 5: "cannot tell"}[code])


def test_what_fails_is_named(cli: Call, store: Path) -> None:
    answer = call(cli, store, "calm", "moved", "--no-reorder", "--json").json
    assert list(answer) == ["schema", "passed", "failures", "cannot_tell"]
    assert answer["schema"] == "ctx-inspect/check/1"
    assert answer["failures"] == [
        {"session": "pi:moved", "turn": 2, "rule": "no-reorder", "category": "tools", "message": "tools reordered: 1 of them moved"}
    ]
    assert answer["cannot_tell"] == []
    lines = call(cli, store, "calm", "moved", "--no-reorder").out.splitlines()
    assert lines == ["✗ pi:moved turn 2  no-reorder  tools reordered: 1 of them moved", "failed · 2 sessions · 1 failure"]


def test_a_budget_names_the_counter(cli: Call, store: Path) -> None:
    (failure,) = call(cli, store, "calm", "--budget", "tools=50", "--json").json["failures"]
    assert failure["rule"] == "budget"
    assert failure["message"].startswith("tools take ≈")
    assert "by bytes/3.5" in failure["message"]
    assert failure["message"].endswith("more than 50; 2 turns are over it")


def test_what_opencode_does_not_store_cannot_be_told(cli: Call, opencode: Path) -> None:
    done = call(cli, opencode, "last", "--no-reorder", "--budget", "tools=15k", "--json")
    assert done.code == 5
    assert done.json["failures"] == []
    assert {(r["rule"], r["category"]) for r in done.json["cannot_tell"]} == {
        ("budget", "tools"),
        *(("no-reorder", c) for c in ("instructions", "skills", "tools", "system")),
    }
    assert all(r["message"] for r in done.json["cannot_tell"])
    allowed = call(cli, opencode, "last", "--no-reorder", "--budget", "tools=15k", "--allow-unavailable", "--json")
    assert allowed.code == 0
    assert allowed.json["cannot_tell"] == done.json["cannot_tell"]
    assert call(cli, opencode, "last", "--no-rewrite").code == 0
    assert call(cli, opencode, "last", "--no-reorder").out.splitlines()[-1] == "cannot tell · 1 session · 4 rules that cannot be told"


def test_one_session_named_twice_is_one(cli: Call, store: Path) -> None:
    assert len(call(cli, store, "moved", "pi:moved", "--no-reorder", "--json").json["failures"]) == 1


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--no-reorder",),
        ("calm",),
        ("calm", "--allow-unavailable"),
        ("calm", "--budget", "tools"),
        ("calm", "--budget", "tool=5"),
        ("calm", "--budget", "settings=5"),
        ("calm", "--budget", "tools=5x"),
        ("calm", "--max-rewrite", "x"),
        ("calm", "--max-rewrite", "-1"),
        ("calm", "--max-rewrite", "nan"),
        ("calm", "--max-rewrite", "inf"),
        ("calm", "--nope", "--no-reorder"),
    ],
)
def test_usage(cli: Call, store: Path, args: tuple[str, ...]) -> None:
    done = call(cli, store, *args)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_no_such_session_or_source(cli: Call, store: Path) -> None:
    for args, code in ((("calm", "nope", "--no-reorder"), 4), (("calm", "--no-reorder", "--source", "/no/such"), 3)):
        done = call(cli, store, *args)
        assert (done.code, done.out) == (code, "")


def test_help(cli: Call) -> None:
    out = cli("check", "--help").out
    for option in ("--budget", "--no-reorder", "--no-rewrite", "--max-rewrite", "--allow-unavailable"):
        assert option in out
    assert "check" in cli("--help").out


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_cannot_be_read_is_said_in_every_form(cli: Call, form: tuple[str, ...]) -> None:
    broken, good = SampleSource(LEDGER), SampleSource(LEDGER)
    broken.broken = SourceError(ProblemCode.CORRUPT, "page 7 is damaged", Path("/x.db"))
    done = cli("check", "last", *form, "--no-rewrite", "--allow-unavailable", sources=[broken, good])
    assert "page 7 is damaged" in done.err
    assert not form or "passed" in done.json
