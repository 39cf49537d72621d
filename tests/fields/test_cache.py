"""Field reports 34-36 and 39 (docs/field-reports.md): what became of the prompt cache, through the command."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage, tool
from tests.builders.pi import PiStore, Spent
from tests.command import Call as Cli
from tests.fields.claims import diff, holds, turns
from tests.fields.meter import AGENTS, Meter, Session, text
from tests.fields.test_counting import BOTH, Write


def cached(answer: Any) -> list[Any]:
    """Return what is said of the cache of each turn."""
    return [turn["cache"] for turn in answer["turns"]]


def figures(answer: Any) -> list[Spent]:
    """Return what the provider reported for each step, in time."""
    found = [s["usage"] for t in answer["turns"] for s in t["steps"]]
    return [Spent(u["input"], u["output"], u["cache_read"], u["cache_write"]) for u in found]


def copied(cli: Cli, path: Path, folder: Path) -> Path:
    """Write a session with the same figures into a store that keeps no prompt."""
    with OpenCodeDB(folder / "opencode.db") as db:
        s = db.session()
        for n, u in enumerate(figures(turns(cli, path))):
            s.user(f"question {n}")
            s.step("ok", usage=Usage(u.input, u.output, u.read, u.write))
    return folder / "opencode.db"


@pytest.mark.field(34)
def test_reads_that_stay_at_one_figure_end_at_the_item_that_breaks(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, ticks: bool) -> Path:
        s = Session(tmp_path / name)
        for n in range(8):
            s.patch(clock=f"<clock>\nIt is 12:0{n if ticks else 0}.\n</clock>")
            s.turn(4_000)
        return s.path

    def claim(answer: tuple[Any, Any]) -> None:
        told, last = answer
        rows = cached(told)[1:]
        assert len({row["read"] for row in rows}) == 1
        assert [a["reusable"] < b["reusable"] for a, b in pairwise(rows)] == [True] * 6
        assert {row["verdict"] for row in rows} == {"partial"}
        cache = last["cache"]
        assert cache["cause"]["item"] == "clock"
        assert cache["cause"]["explained"] is True
        assert cache["stable_prefix"]["tokens"] == pytest.approx(cache["read"], rel=0.15)
        assert cache["stable_prefix"]["evidence"] == "estimated"

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path)

    broken = written("ticks", True)
    bare = both(copied(cli, broken, tmp_path / "bare"))
    holds(claim, both(broken), both(written("stands", False)), bare)
    assert "item" not in bare[1]["cache"]["cause"]


TURNS, EDITS, NAIVE = 225, 52, 221


@pytest.mark.field(35)
def test_of_what_a_naive_rule_flags_only_the_breaks_are_said(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, edits: int) -> Path:
        # reads are rounded down, so that nearly each one is less than what was read and written before
        s = Session(tmp_path / name, Meter(granule=128))
        s.turn()
        for n in range(1, TURNS + 1):
            if n % 4 == 0 and n // 4 <= edits:
                s.edit({AGENTS: text(f"agents, for the {n}th time", 8_000 + 40 * n)})
            s.turn(403)
        return s.path

    def naive(answer: Any) -> int:
        return sum(b.read < a.read + a.write for a, b in pairwise(figures(answer)))

    def claim(answer: tuple[Any, Any]) -> None:
        told, edited = answer
        assert naive(told) == NAIVE
        rows = cached(told)
        losses = [row for row in rows if row["verdict"] in ("partial", "lost")]
        assert Counter(row["cause"] for row in losses) == {"instructions": EDITS}
        assert {row["evidence"] for row in losses} == {"confirmed"}
        assert Counter(row["verdict"] for row in rows) == {"cold": 1, "kept": TURNS - EDITS, "partial": EDITS}
        assert edited["cache"]["cause"] == {**edited["cache"]["cause"], "code": "instructions", "item": AGENTS, "explained": True}

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path, "5")

    real = written("real", EDITS)
    unrecorded = copied(cli, real, tmp_path / "bare")
    holds(claim, both(real), both(written("fewer", EDITS - 1)), both(unrecorded))
    bare = cached(turns(cli, unrecorded))
    assert {row["evidence"] for row in bare} == {"estimated"}
    assert {row.get("cause") for row in bare} == {None, "unattributed"}


@pytest.mark.field(35)
def test_what_another_purpose_sent_in_between_is_no_baseline(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, title: bool) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            s.user("one")
            s.step("ok", usage=Usage(3, 10, 0, 40_000))
            if title:
                child = db.session("sub", parent=s)
                child.user("look")
                child.step("seen", usage=Usage(3, 10, 0, 9_000))
            else:
                s.user("two")
                s.step("ok", usage=Usage(3, 10, 0, 90_000))
            s.user("three")
            s.step("ok", usage=Usage(3, 10, 40_000, 500))
        return tmp_path / name / "opencode.db"

    def claim(answer: Any) -> None:
        assert cached(answer)[-1]["verdict"] == "kept"
        assert cached(answer)[-1]["reusable"] == 40_000

    holds(claim, turns(cli, written("beside", True)), turns(cli, written("between", False)))


@pytest.mark.field(36)
def test_a_turn_of_which_each_step_missed_is_not_well(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, hits: bool) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            sent = 40_000
            for n in range(4):
                s.user(f"question {n}")
                for i in range(4):
                    read = 0 if n == i == 0 else sent if i == 0 or hits else 1_200
                    parts = ["ok"] if i == 3 else [tool("bash", {"command": "ls"}, "a file")]
                    sent += 100
                    s.step(*parts, usage=Usage(3, 10, read, sent - read))
        return tmp_path / name / "opencode.db"

    def claim(answer: tuple[Any, Any]) -> None:
        told, newest = answer
        rows = cached(told)[1:]
        assert [row["verdict"] for row in rows] == ["partial"] * 3
        assert all(row["r"] < 0.04 and row["step"] in (2, 3, 4) for row in rows)
        # the first request of each turn went on from the step before it: by these alone all is well
        assert (newest["cache"]["verdict"], newest["cache"]["against"]["step"]) == ("kept", 4)

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path)

    holds(claim, both(written("misses", False)), both(written("hits", True)))


@pytest.mark.field(39)
@BOTH
def test_a_cache_that_is_not_reported_is_no_zero(cli: Cli, tmp_path: Path, write: Write) -> None:
    steps = [(40_000 + 500 * n, 10, 0, 0) for n in range(4)]

    def claim(answer: tuple[Any, Any, str]) -> None:
        told, newest, words = answer
        for row in (*cached(told), newest["cache"]):
            assert (row["verdict"], row["evidence"]) == ("not_reported", "unavailable")
            assert {"r", "read", "reusable", "cause"}.isdisjoint(row)
        assert newest["cache"]["why"].startswith("the provider reports no cache figures")
        assert "not reported" in words
        assert "0 %" not in words

    def all_of(path: Path) -> tuple[Any, Any, str]:
        return turns(cli, path), diff(cli, path), cli("diff", "last", "--source", str(path)).out

    once = [*steps[:3], (3, 10, 41_000, 900)]
    holds(claim, all_of(write(tmp_path / "a", *steps)), all_of(write(tmp_path / "b", *once)))


@pytest.mark.field(39)
def test_a_step_without_figures_among_others(cli: Cli, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one", usage=Spent(3, 10, 0, 40_000))
    s.user("two")
    s.assistant(error="overloaded")
    s.turn("three", usage=Spent(3, 10, 40_000, 500))
    found = cached(turns(cli, s.path))
    assert [row["verdict"] for row in found] == ["cold", "not_reported", "kept"]
    assert found[2]["evidence"] == "estimated"
