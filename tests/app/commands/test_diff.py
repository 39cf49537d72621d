"""``diff``: a comparison of stores written as the agents write them, in every form, with its exit codes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from ctx_inspect.core.model import ProblemCode
from ctx_inspect.core.sources.base import SourceError

from tests.app.commands.sample import LEDGER, SampleSource
from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import tool as used
from tests.builders.pi import PiStore, Spent, project_context, sections, tool
from tests.command import Call, Done
from tests.docs.fields import ANSWERS, structs_of

AGENTS = "/home/ann/shop/AGENTS.md"


@pytest.fixture
def pi(tmp_path: Path) -> Path:
    """Four turns: as it was, grown, AGENTS.md and a tool changed with another model, compacted."""
    store = PiStore(tmp_path / "pi")
    store.models({"acme": {"large": 200_000, "small": 100_000}})
    s = store.session(id="one")
    s.rename("Fix the build")
    search = tool("search", "Finds", query="string")
    s.system(sections(instructions={AGENTS: "Be brief."}), tools=[tool("read"), search, tool("old")])
    s.turn("hello there", answer="hi", usage=Spent(1000, 20, 0, 900))
    s.turn("and now", answer="yes", usage=Spent(100, 20, 1900, 50))
    s.model("acme", "small")
    s.system(
        {"project_context": project_context({AGENTS: "Be brief and kind, please."})},
        tools=[{**search, "parameters": {"type": "object", "properties": {}}}],
        removed=["old"],
    )
    s.turn("third", answer="ok", usage=Spent(2100, 20, 0, 900))
    kept = s.user("keep me")
    s.assistant("kept", usage=Spent(200, 20, 2900, 0))
    s.compaction("what was said", kept=kept, before=3120)
    s.turn("fifth", answer="ok", usage=Spent(900, 20, 0, 300))
    return s.path


@pytest.fixture
def opencode(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    with OpenCodeDB(path) as db:
        s = db.session("Fix the build", directory="/home/ann/shop", agent="build", model=("acme", "large"))
        s.user("hello there")
        s.step("hi", used("bash", {"command": "ls"}, "a b c"))
        s.step("done")
        s.turn("and now", "yes")
        s.user("with another", agent="plan", model=("acme", "small"))
        s.step("ok")
    return path


def call(cli: Call, path: Path, *args: str) -> Done:
    return cli("diff", "last", *args, "--source", str(path))


def squeezed(text: str) -> list[str]:
    return [re.sub(" +", " ", line).strip() for line in text.splitlines()]


def by(answer: dict[str, object]) -> dict[str, dict[str, object]]:
    return {c["category"]: c for c in answer["categories"]}  # type: ignore[union-attr,index,misc]


# -- what it says ----------------------------------------------------------------------------------------------------------


def test_a_change_of_sources(cli: Call, pi: Path) -> None:
    done = call(cli, pi, "3")
    assert done.code == 0
    lines = squeezed(done.out)
    assert lines[0] == "Context changes turn 2 → 3 pi · shop · store"
    agents = next(line for line in lines if line.startswith("~ AGENTS.md modified"))
    assert agents.endswith("est confirmed")
    assert any(line.startswith("~ search schema") for line in lines)
    assert any(line.startswith("- old removed") for line in lines)
    assert any(line.startswith("~ model large → small") for line in lines)
    assert "Rebuilt from the store, not the recorded request." in lines
    assert "Fix the build" not in done.out
    assert "third" not in done.out


def test_the_last_turn_is_the_default(cli: Call, pi: Path) -> None:
    assert call(cli, pi).out == call(cli, pi, "last").out == call(cli, pi, "-1").out == call(cli, pi, "5").out
    assert "Compacted" in call(cli, pi).out


def test_growth(cli: Call, pi: Path) -> None:
    lines = squeezed(call(cli, pi, "2").out)
    assert lines[1].startswith("· Only growth: 2 messages")
    assert any(line.startswith("Conversation growth") for line in lines)


def test_the_first_turn_has_nothing_to_compare_with(cli: Call, pi: Path) -> None:
    done = call(cli, pi, "1")
    assert done.code == 0
    assert "○ No comparable baseline: it is the first turn." in done.out
    answer = call(cli, pi, "1", "--json").json
    assert answer["baseline"] == {"comparable": False, "why": "first_turn"}
    assert {c["state"] for c in answer["categories"]} == {"no_baseline"}
    assert {c["baseline_why"] for c in answer["categories"]} == {"first_turn"}
    assert "before" not in answer
    assert not any(c["changes"] for c in answer["categories"])


def test_against_another_turn_and_by_message_id(cli: Call, pi: Path) -> None:
    answer = call(cli, pi, "4", "--against", "1", "--json").json
    assert (answer["before"]["turn"], answer["after"]["turn"]) == (1, 4)
    again = call(cli, pi, answer["after"]["id"], "--against", answer["before"]["id"], "--json").json
    assert again == answer
    assert by(answer)["instructions"]["state"] == "changed"


def test_a_comparison_goes_forward_in_time(cli: Call, pi: Path) -> None:
    forward, back = (call(cli, pi, a, "--against", b, "--json").json for a, b in (("3", "2"), ("2", "3")))
    assert (back["before"]["turn"], back["after"]["turn"]) == (2, 3)
    assert back["categories"] == forward["categories"]
    assert back["window"] == forward["window"]
    assert back["window"]["limit"] == 100_000


def test_steps_of_a_turn(cli: Call, opencode: Path) -> None:
    answer = call(cli, opencode, "1", "--step", "2", "--json").json
    assert [answer[s]["step"] for s in ("before", "after")] == [1, 2]
    assert [answer[s]["turn"] for s in ("before", "after")] == [1, 1]
    assert answer["conversation"]["kind"] == "growth"
    assert "turn 1, step 1 → 2" in call(cli, opencode, "1", "--step", "2").out


def test_what_opencode_does_not_store_is_not_known(cli: Call, opencode: Path) -> None:
    done = call(cli, opencode, "2")
    assert "? Not known: instructions, skills, tools, system" in done.out
    assert "Only growth" not in done.out
    answer = call(cli, opencode, "2", "--json").json
    states = {k: c["state"] for k, c in by(answer).items()}
    assert states == {
        "instructions": "unavailable",
        "skills": "unavailable",
        "tools": "unavailable",
        "settings": "same",
        "system": "unavailable",
        "conversation": "growth",
    }
    for name in ("instructions", "skills", "tools", "system"):
        assert by(answer)[name]["why"]
        assert by(answer)[name]["evidence"] == "unavailable"
        assert "delta" not in by(answer)[name]["tokens"]  # type: ignore[operator]


def test_settings_show_their_values(cli: Call, opencode: Path) -> None:
    changes = by(call(cli, opencode, "3", "--json").json)["settings"]["changes"]
    assert [(c["k"], c["before"], c["after"]) for c in changes] == [("model", "large", "small"), ("agent", "build", "plan")]  # type: ignore[attr-defined,index]


def test_json(cli: Call, pi: Path) -> None:
    done = call(cli, pi, "3", "--json")
    answer = done.json
    assert next(iter(answer)) == "schema"
    assert answer["schema"] == "ctx-inspect/diff/1"
    assert answer["session"] == "pi:one"
    assert "null" not in done.out
    assert [c["category"] for c in answer["categories"]] == ["instructions", "skills", "tools", "settings", "system", "conversation"]
    (agents,) = by(answer)["instructions"]["changes"]  # type: ignore[misc]
    assert (agents["change"], agents["k"], agents["evidence"], agents["src"]["kind"]) == ("modified", AGENTS, "confirmed", "file")
    assert agents["tokens"]["delta"] == agents["tokens"]["after"] - agents["tokens"]["before"] > 0
    tools = {c["k"]: c for c in by(answer)["tools"]["changes"]}  # type: ignore[attr-defined,index]
    assert (tools["search"]["change"], tools["search"]["parts"]) == ("modified", ["schema"])
    assert tools["old"]["change"] == "removed"
    assert answer["window"]["before"] == 2050
    assert answer["window"]["after"] == 3000
    assert answer["window"]["limit"] == 100_000
    assert answer["cache"]["verdict"] == "lost"
    assert answer["cache"]["against"]["turn"] == 2
    assert answer["not_recorded"]


def test_a_compaction(cli: Call, pi: Path) -> None:
    answer = call(cli, pi, "--json").json
    talk = answer["conversation"]
    assert (talk["kind"], talk["cause"], talk["causes"][0]["evidence"]) == ("rewritten", "compaction", "confirmed")
    assert talk["causes"][0]["event"]
    assert (talk["compaction"]["nth"], talk["compaction"]["loop"]) == (1, False)
    assert by(answer)["conversation"]["state"] == "rewritten"


def test_markdown(cli: Call, pi: Path) -> None:
    done = call(cli, pi, "3", "--markdown")
    assert done.code == 0
    assert done.out.startswith("### Context changes: turn 2 → 3\n\n`pi` · `shop` · store\n")
    assert "| `~` | `AGENTS.md` | modified |" in done.out
    assert "| `~` | `model` `large` → `small` | modified |  | confirmed |" in done.out


def test_svg(cli: Call, pi: Path) -> None:
    done = call(cli, pi, "3", "--svg")
    assert done.code == 0
    assert done.out.startswith("<svg ")
    assert "AGENTS.md" in done.out


def test_every_format_is_written_to_a_new_file(cli: Call, pi: Path, tmp_path: Path) -> None:
    for form in ([], ["--json"], ["--markdown"], ["--svg"]):
        path = tmp_path / f"out{len(form)}{form}"
        done = call(cli, pi, "3", *form, "-o", str(path))
        assert (done.code, done.out) == (0, "")
        assert path.read_text("utf-8") == call(cli, pi, "3", *form).out
        assert path.stat().st_mode & 0o777 == 0o600


def test_names_can_be_left_out(cli: Call, pi: Path) -> None:
    for form in ([], ["--json"], ["--markdown"], ["--svg"]):
        out = call(cli, pi, "3", "--redact-names", *form).out
        assert not re.search("AGENTS|search|small|large|acme|shop", out), form
        assert "file 1" in out
        assert "tool 1" in out


def test_a_key_in_a_name_is_shown_only_where_that_is_asked_for(cli: Call, tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab1" * 12
    s = PiStore(tmp_path).session()
    s.system(sections(), tools=[tool("read")])
    s.turn("one")
    s.system({}, tools=[tool(f"use-{key}")])
    s.turn("two")
    for form in ([], ["--json"], ["--markdown"], ["--svg"]):
        assert key not in call(cli, s.path, "2", *form).out
        assert key in call(cli, s.path, "2", *form, "--uncover").out


# -- exit codes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("2",), 0),
        (("2", "--category", "conversation"), 0),
        (("3",), 1),
        (("3", "--category", "instructions"), 1),
        (("3", "--category", "skills"), 0),
        (("3", "--category", "skills", "--category", "tools"), 1),
        (("5",), 1),
        (("5", "--category", "conversation"), 1),
        (("1",), 5),
        (("1", "--category", "tools"), 5),
    ],
)
def test_exit_codes_of_pi(cli: Call, pi: Path, args: tuple[str, ...], code: int) -> None:
    for form in ([], ["--json"], ["--markdown"], ["--svg"]):
        done = call(cli, pi, *args, "--exit-code", *form)
        assert done.code == code
        assert done.out
    plain = call(cli, pi, args[0])
    assert plain.code == 0


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("2",), 5),
        (("2", "--category", "conversation"), 0),
        (("2", "--category", "settings", "--category", "conversation"), 0),
        (("2", "--category", "tools"), 5),
        (("3",), 1),
        (("3", "--category", "tools"), 5),
        (("3", "--category", "tools", "--category", "settings"), 1),
    ],
)
def test_exit_codes_of_opencode(cli: Call, opencode: Path, args: tuple[str, ...], code: int) -> None:
    assert call(cli, opencode, *args, "--exit-code").code == code


@pytest.mark.parametrize(
    "args",
    [
        ("--json", "--markdown"),
        ("--markdown", "--svg"),
        ("--category", "tools"),
        ("--exit-code", "--category", "tool"),
        ("--against", "1", "--step", "2"),
        ("--step", "0"),
        ("--step", "x"),
        ("--nope",),
        ("2", "3"),
    ],
)
def test_usage(cli: Call, pi: Path, args: tuple[str, ...]) -> None:
    done = call(cli, pi, *args)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "args",
    [("9",), ("0",), ("nope",), ("2", "--against", "9"), ("2", "--against", "nope"), ("1", "--step", "9"), ("1", "--step", "1")],
)
def test_no_such_turn(cli: Call, pi: Path, args: tuple[str, ...]) -> None:
    for form in ([], ["--json"], ["--markdown"], ["--svg"], ["--exit-code"]):
        done = call(cli, pi, *args, *form)
        assert (done.code, done.out) == (4, "")
        assert "Traceback" not in done.err


def test_no_such_session_or_source(cli: Call, pi: Path) -> None:
    assert cli("diff", "nope", "--source", str(pi)).code == 4
    done = cli("diff", "last", "--source", str(pi) + "x")
    assert (done.code, done.out) == (3, "")
    assert cli("diff", "--nope").code == 2


def test_a_file_is_never_replaced(cli: Call, pi: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("mine")
    done = call(cli, pi, "--markdown", "-o", str(path))
    assert (done.code, done.out) == (2, "")
    assert "exists already" in done.err
    assert path.read_text() == "mine"
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert call(cli, pi, "-o", str(tmp_path / "link")).code == 2
    assert not (tmp_path / "nowhere").exists()
    assert call(cli, pi, "-o", str(tmp_path / "no" / "such")).code == 2
    assert call(cli, pi, "-o", "a\0b").code == 2


def test_a_turn_whose_first_request_failed_is_compared_all_the_same(cli: Call, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.system(sections(instructions={AGENTS: "x"}), tools=[tool("read")])
    s.turn("one")
    s.user("two")
    s.assistant("", error="503 overloaded")
    done = call(cli, s.path, "2", "--json")
    assert done.json["conversation"]["kind"] == "growth"


def test_a_turn_without_a_call_cannot_be_compared(cli: Call, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one")
    s.user("two")
    done = call(cli, s.path, "2", "--exit-code")
    assert done.code == 5
    assert "No comparable baseline" in done.out


# -- turns -----------------------------------------------------------------------------------------------------------------


def test_turns_say_what_changed(cli: Call, pi: Path) -> None:
    rows = cli("turns", "last", "--json", "--source", str(pi)).json["turns"]
    states = [{k: c["state"] for k, c in row["drift"].items()} for row in rows]
    assert set(states[0].values()) == {"no_baseline"}
    assert {c["baseline_why"] for c in rows[0]["drift"].values()} == {"first_turn"}
    assert states[1] == {**dict.fromkeys(("instructions", "skills", "tools", "settings", "system"), "same"), "conversation": "growth"}
    assert (states[2]["instructions"], states[2]["tools"], states[2]["settings"]) == ("changed", "changed", "changed")
    assert rows[2]["drift"]["instructions"]["modified"] == 1
    assert (rows[2]["drift"]["tools"]["modified"], rows[2]["drift"]["tools"]["removed"]) == (1, 1)
    assert rows[4]["drift"]["conversation"]["state"] == "rewritten"
    assert rows[4]["drift"]["conversation"]["cause"] == "compaction"
    assert [row["cache"]["verdict"] for row in rows[1:3]] == ["kept", "lost"]
    assert rows[2]["cache"]["read"] == 0


def test_turns_and_diff_agree(cli: Call, pi: Path, opencode: Path) -> None:
    for path in (pi, opencode):
        for row in cli("turns", "last", "--json", "--source", str(path)).json["turns"]:
            answer = call(cli, path, str(row["n"]), "--json").json
            for name, category in by(answer).items():
                drift = row["drift"][name]
                assert (drift["state"], drift["evidence"]) == (category["state"], category["evidence"]), (path, row["n"], name)
                if name != "conversation":
                    for kind in ("added", "removed", "modified", "renamed"):
                        assert drift.get(kind, 0) == sum(c["change"] == kind for c in category["changes"])  # type: ignore[attr-defined]


def test_every_field_of_the_json_is_documented(cli: Call, pi: Path, opencode: Path) -> None:
    from msgspec import structs

    known = {f.encode_name for s in structs_of(ANSWERS["diff"]) for f in structs.fields(s)}

    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {k for v in value.values() for k in keys(v)}
        return {k for v in value for k in keys(v)} if isinstance(value, list) else set()

    for path in (pi, opencode):
        for turn in ("1", "2", "3"):
            assert keys(json.loads(call(cli, path, turn, "--json").out)) <= known


def test_help(cli: Call) -> None:
    out = cli("diff", "--help").out
    for option in ("--against", "--step", "--markdown", "--svg", "--output", "--exit-code", "--category", "--redact-names", "--uncover"):
        assert option in out
    assert "diff" in cli("--help").out


def test_stores_are_not_written(cli: Call, pi: Path, opencode: Path) -> None:
    def state() -> list[tuple[str, float, bytes]]:
        roots = (pi.parent, opencode.parent)
        return [(str(p), os.stat(p).st_mtime, p.read_bytes()) for root in roots for p in sorted(root.iterdir()) if p.is_file()]

    before = state()
    for path in (pi, opencode):
        for form in ([], ["--json"], ["--markdown"], ["--svg"]):
            call(cli, path, *form)
    assert state() == before


@pytest.mark.parametrize("form", [(), ("--json",), ("--redact-names",), ("--json", "--redact-names")])
def test_what_cannot_be_read_is_said_in_every_form(cli: Call, form: tuple[str, ...]) -> None:
    broken, good = SampleSource(LEDGER), SampleSource(LEDGER)
    broken.broken = SourceError(ProblemCode.CORRUPT, "page 7 is damaged", Path("/x.db"))
    done = cli("diff", "last", *form, sources=[broken, good])
    assert done.code == 0
    assert "page 7 is damaged" in done.err
    assert ("/x.db" in done.err) == ("--redact-names" not in form)
    if "--json" in form:
        expected = "store" if "--redact-names" in form else "/x.db"
        assert {"source": expected, "code": "corrupt", "message": "page 7 is damaged"} in done.json["problems"]
