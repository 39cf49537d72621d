"""Field reports 29-33, 37 and 38 (docs/field-reports.md): what changed between two turns, through the command."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage
from tests.builders.opencode_parts import tool as called
from tests.builders.pi import PiStore, Spent, tool
from tests.command import Call as Cli
from tests.fields.claims import diff, holds, turns
from tests.fields.meter import AGENTS, HOME, Session, text


def category(answer: Any, name: str) -> Any:
    return next(c for c in answer["categories"] if c["category"] == name)


def changes(answer: Any) -> dict[str, list[Any]]:
    """Return what changed, by category; those without a change are left out."""
    return {c["category"]: c["changes"] for c in answer["categories"] if c["changes"]}


def kinds(answer: Any) -> list[tuple[str, str, str | None]]:
    return [(name, c["change"], c.get("k")) for name, found in changes(answer).items() for c in found]


@pytest.mark.field(29)
def test_a_clock_in_the_prompt_is_a_volatile_block(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, *clock: str) -> Path:
        s = Session(tmp_path / name)
        for said in clock:
            s.patch(clock=f"<clock>\n{said}\n</clock>")
            s.turn(4_000)
        return s.path

    def claim(answer: Any) -> None:
        told, compared = answer
        assert kinds(compared) == [("system", "modified", "clock")]
        assert category(compared, "system")["changes"][0]["flags"] == ["volatile"]
        assert compared["cache"]["cause"]["code"] == "volatile_block"
        assert compared["cache"]["cause"]["item"] == "clock"
        assert [t["cache"].get("cause") for t in told["turns"]] == [
            None,
            "system_changed",
            "system_changed",
            "volatile_block",
            "volatile_block",
        ]
        assert [t["drift"]["system"].get("volatile") for t in told["turns"]] == [None, None, None, True, True]

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path)

    ticks = ["12:00:01", "12:00:09", "12:01:17", "12:02:40", "12:03:02"]
    holds(
        claim,
        both(written("ticks", *ticks)),
        both(written("grows", *("tick " * n for n in range(1, 6)))),
        both(written("once", *["12:00:01"] * 4, "12:00:02")),
        both(written("flips", *["12:00:01", "12:00:02"] * 3)),
        both(written("stands", *["12:00:01"] * 5)),
    )
    flips = diff(cli, written("flips again", *["12:00:01", "12:00:02"] * 3))
    assert category(flips, "system")["changes"][0]["flags"] == ["flapping"]
    assert flips["cache"]["cause"]["code"] == "flapping"


@pytest.mark.field(30)
def test_tools_in_another_order_are_one_change(cli: Cli, tmp_path: Path) -> None:
    names = [f"mcp_{c}" for c in "abcdef"]
    orders = [list(p) for p in list(permutations(names))[::2][:261]]

    def written(name: str, *, also: bool = False) -> Path:
        """287 turns with 261 orders of the same tools."""
        declared = {n: tool(n, text(n, 2_000)) for n in names}
        s = Session(tmp_path / name, tools=[declared[n] for n in orders[0]])
        for n in range(287):
            if 0 < n < 261:
                s.declare(*(declared[k] for k in orders[n]))
            if also and n == 260:
                s.declare(tool("mcp_g", "Another one"))
            s.turn()
        return s.path

    def claim(answer: tuple[Any, Any]) -> None:
        told, moved = answer
        drift = Counter(tuple(sorted(t["drift"]["tools"].items())) for t in told["turns"][1:])
        assert sum(dict(row).get("moved", 0) > 0 for row in drift.elements()) == 260
        assert all({"added", "removed", "modified", "renamed"}.isdisjoint(dict(row)) for row in drift)
        (change,) = category(moved, "tools")["changes"]
        assert (change["change"], change["count"]) == ("moved", len(change["items"]))
        assert moved["cache"]["cause"]["code"] == "tools_reordered"
        assert "item" not in moved["cache"]["cause"]

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path, "261")

    holds(claim, both(written("orders")), both(written("one more", also=True)))


@pytest.mark.field(31)
@pytest.mark.parametrize(
    ("edited", "parts"),
    [
        (tool("grep", "Finds text, faster", pattern="string"), ["description"]),
        (tool("grep", "Finds text", pattern="string", limit="integer"), ["schema"]),
        (tool("grep", "Finds text, faster", pattern="string", limit="integer"), ["description", "schema"]),
    ],
    ids=["description", "schema", "both"],
)
def test_which_part_of_which_tool_was_edited(cli: Cli, tmp_path: Path, edited: dict[str, Any], parts: list[str]) -> None:
    whole = [tool("read", text("read", 4_000)), tool("grep", "Finds text", pattern="string")]

    def written(name: str, *patch: dict[str, Any]) -> Path:
        s = Session(tmp_path / name, tools=whole)
        s.turn()
        if patch:
            s.declare(*patch)
        s.turn()
        return s.path

    def claim(answer: Any) -> None:
        assert kinds(answer) == [("tools", "modified", "grep")]
        assert category(answer, "tools")["changes"][0]["parts"] == parts
        assert answer["cache"]["cause"] == {**answer["cache"]["cause"], "code": "tool_changed", "item": "grep", "explained": True}

    holds(
        claim,
        diff(cli, written("edited", edited)),
        diff(cli, written("same", whole[1])),
        diff(cli, written("another", tool("read", "Reads less"), edited)),
    )


@pytest.mark.field(32)
def test_a_file_put_in_front_is_one_that_was_added(cli: Cli, tmp_path: Path) -> None:
    first, more = f"{HOME}/.pi/AGENTS.md", f"{HOME}/web/AGENTS.md"
    files = {AGENTS: text("agents", 8_000), more: text("web", 4_000)}

    def written(name: str, now: dict[str, str]) -> Path:
        s = Session(tmp_path / name, files=files)
        s.turn()
        s.edit(now)
        s.turn()
        return s.path

    def claim(answer: Any) -> None:
        assert kinds(answer) == [("instructions", "added", first)]
        assert answer["cache"]["cause"]["item"] == first

    holds(
        claim,
        diff(cli, written("front", {first: text("home", 2_000), **files})),
        diff(cli, written("edited", {first: text("home", 2_000), AGENTS: text("others", 8_000), more: files[more]})),
        diff(cli, written("instead", {first: text("home", 2_000), more: files[more]})),
    )


@pytest.mark.field(33)
def test_outputs_that_were_cleared_are_a_prune_from_the_first_of_them_on(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, prune: bool, rewritten: int = 9_000) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            s.user("one")
            outputs = [
                s.step(called("bash", {"command": f"cat {n}"}, text(f"file {n}", 12_000)), usage=Usage(3, 10, 0, 9_000)) for n in "ab"
            ]
            s.step("ok", usage=Usage(3, 10, 9_000, 6_000))
            s.user("two")
            s.step("ok", usage=Usage(3, 10, 15_000, 100))
            if prune:
                s.prune(*outputs)
            s.user("three")
            s.step("ok", usage=Usage(3, 10, 15_100 - rewritten, 200))
        return tmp_path / name / "opencode.db"

    def claim(answer: Any) -> None:
        talk, cache = answer["conversation"], answer["cache"]
        assert (talk["kind"], talk["cause"], talk["causes"][0]["evidence"]) == ("rewritten", "prune", "confirmed")
        assert talk["from_message"] == 2  # the prompt and the call stand
        assert (talk["changed"], talk["removed"]) == (2, 0)
        assert (cache["verdict"], cache["cause"]["code"], cache["rewritten"]) == ("partial", "prune", 9_000)
        assert "item" not in cache["cause"]

    holds(
        claim,
        diff(cli, written("pruned", True)),
        diff(cli, written("not", False)),
        diff(cli, written("kept", True, rewritten=0)),
    )


@pytest.mark.field(37)
def test_compactions_that_follow_each_other_are_a_loop(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, times: int, prompts: int = 1) -> Path:
        s = PiStore(tmp_path / name).session()
        for _ in range(3):
            s.turn("work", usage=Spent(150_000))
        for _ in range(times):
            for _ in range(prompts):
                last = s.turn("more", usage=Spent(150_000))
            s.compaction("what was done", kept=last[0], before=150_000)
        s.turn("on", usage=Spent(60_000))
        return s.path

    def claim(answer: Any) -> None:
        done = answer["conversation"]["compaction"]
        assert (done["loop"], done["nth"]) == (True, 3)
        assert answer["conversation"]["cause"] == "compaction"

    holds(
        claim,
        diff(cli, written("loop", 3)),
        diff(cli, written("twice", 2)),
        diff(cli, written("seldom", 3, prompts=4)),
    )
    assert "ompaction loop" in cli("diff", "last", "--source", str(written("again", 3))).out


@pytest.mark.field(38)
@pytest.mark.parametrize("reason", ["manual", "auto", "overflow"])
def test_two_records_of_one_compaction_are_one_event(cli: Cli, tmp_path: Path, reason: str) -> None:
    def written(name: str, times: int) -> Path:
        """The request for it and its summary are rows of their own, and the event log tells of both."""
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            s.user("one")
            s.step("ok", usage=Usage(150_000, 10))
            for _ in range(times):
                s.compact(reason=reason)
            s.user("two")
            s.step("ok", usage=Usage(9_000, 10))
        return tmp_path / name / "opencode.db"

    def claim(answer: tuple[Any, Any]) -> None:
        told, compared = answer
        events = [e for t in told["turns"] for e in t["events"] if e["type"] == "compaction"]
        assert [(e["reason"], e["status"]) for e in events] == [(reason, "succeeded")]
        assert [c["cause"] for c in compared["conversation"]["causes"]] == ["compaction"]
        assert compared["conversation"]["compaction"]["nth"] == 1

    def both(path: Path) -> tuple[Any, Any]:
        return turns(cli, path), diff(cli, path)

    holds(claim, both(written("once", 1)), both(written("twice", 2)))
