"""The JSON of each command, field by field, and the same as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.model import Estimated, Problem, ProblemCode, Raw, Unavailable, Why, replace
from ctx_inspect.core.schema import Check, Doctor, document

from tests.app.commands.sample import KEY, LEDGER, TURN1, SampleSource, info
from tests.builders.pi import PiStore
from tests.command import Call
from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert


def no_null(value: Any) -> bool:
    if isinstance(value, dict):
        return all(no_null(v) for v in value.values())
    return all(map(no_null, value)) if isinstance(value, list) else value is not None


def test_sessions(cli: Call) -> None:
    fork = SampleSource(
        LEDGER,
        replace(
            LEDGER,
            info=info(
                "ses_fork",
                forked_from=Estimated("opencode:ses_one", "equal message times"),
                parent="opencode:ses_one",
                title=None,
                updated=None,
            ),
            turns=(replace(TURN1, inherited=True, requests=tuple(replace(r, inherited=True) for r in TURN1.requests)),),
        ),
    )
    done = cli("sessions", "--json", sources=[fork])
    assert no_null(done.json)
    assert done.out.startswith('{"schema":"ctx-inspect/sessions/1"')
    assert done.out.count("\n") == 1
    first, second = done.json["sessions"]
    assert first["key"] == "opencode:ses_one"
    assert first["project"] == {"path": "/home/ann/shop"}
    assert (first["started"], first["updated"]) == ("2026-09-21T14:13:20.000Z", "2026-09-22T14:13:20.000Z")
    assert (first["turns"], first["steps"]) == (2, 5)
    assert first["hidden"] == {"reverted": 1, "abandoned": 0}
    assert first["sent"] == {"requests": 3, "unreported": 1, "input": 150, "output": 30, "cache_read": 7000, "cache_write": 400}
    assert first["source"] == {"kind": "opencode", "path": "/home/ann/.local/share/opencode/opencode.db", "format": "opencode-1"}
    assert first["captured"] is False
    assert second["forked_from"] == {"key": "opencode:ses_one", "evidence": "estimated", "how": "equal message times"}
    assert second["parent"] == "opencode:ses_one"
    assert "title" not in second
    assert "updated" not in second
    assert (second["turns"], second["inherited"]) == (1, 1)
    assert second["sent"]["requests"] == 0  # what was copied was counted where it was sent


def test_turns(cli: Call) -> None:
    done = cli("turns", "last", "--json", sources=[SampleSource(LEDGER)])
    answer = done.json
    assert no_null(answer)
    assert list(answer)[:2] == ["schema", "session"]
    assert answer["schema"] == "ctx-inspect/turns/1"
    one, two = answer["turns"]
    assert (one["n"], one["id"], one["ids"], one["boundary"]) == (1, "msg_u1", ["msg_u1"], "estimated (message order)")
    assert one["model"] == {"provider": "acme", "id": "large"}
    assert "text" not in one
    assert [(s["id"], s.get("n"), s.get("call")) for s in one["steps"]] == [
        ("msg_a1", 1, None),
        ("msg_sh", None, False),
        ("msg_a2", 2, None),
    ]
    assert one["steps"][0]["usage"] == {"input": 100, "output": 20, "reasoning": 5, "cache_read": 3000, "cache_write": 400}
    assert one["steps"][2]["usage"] == {"input": 50, "output": 10, "cache_read": 4000}
    assert one["other"] == [
        {
            "purpose": "title",
            "id": "msg_t1",
            "at": "2026-09-21T14:13:20.010Z",
            "model": {"provider": "acme", "id": "large"},
            "usage": {"input": 10, "output": 1},
        }
    ]
    limit = {"value": 200_000, "kind": "context", "evidence": "confirmed", "source": "opencode.json"}
    assert one["window"] == {"tokens": 4050, "limit": limit, "evidence": "confirmed"}
    assert one["events"] == [
        {
            "type": "compaction",
            "reason": "auto",
            "status": "succeeded",
            "at": "2026-09-21T14:13:23.000Z",
            "evidence": "confirmed",
            "by": "store row",
            "ref": "msg_c1",
            "tokens": {"before": 4500, "after": 900},
        }
    ]
    assert two["window"] == {"limit": limit, "evidence": "unavailable", "why": "no usage was reported for this row"}
    assert two["steps"][0]["error"] == {"class": "rate"}
    assert two["ids"] == ["msg_u2", "msg_u2b"]
    assert answer["before"][0]["id"] == "msg_a0"
    assert answer["hidden"][0] == {"id": "msg_h1", "ids": ["msg_h1"], "at": "2026-09-21T14:13:24.000Z", "state": "reverted", "steps": []}
    assert answer["threshold"] == {"tokens": 180_000, "evidence": "estimated", "how": "context - 20,000"}
    assert answer["forecast"] == {"evidence": "unavailable", "why": "no turn has grown yet"}
    assert answer["problems"] == [{"source": "/home/ann/x.db", "code": "unreadable_record", "message": "row msg_x is no JSON: left out"}]


def test_no_text_is_read_unasked(cli: Call) -> None:
    source = SampleSource(LEDGER)
    for args in (["sessions"], ["turns", "last"], ["show", "last", "1"]):
        cli(*args, sources=[source])
        cli(*args, "--json", sources=[source])
    assert source.read == []


def test_turns_text(cli: Call) -> None:
    answer = cli("turns", "last", "--json", "--text", sources=[SampleSource(LEDGER)]).json
    assert [t["text"] for t in answer["turns"]] == ["please fix the build", "and use [redacted:anthropic-key]"]
    assert answer["hidden"][0]["text"] == "never mind"
    uncovered = cli("turns", "last", "--json", "--text", "--uncover", sources=[SampleSource(LEDGER)]).json
    assert uncovered["turns"][1]["text"] == f"and use {KEY}"


def test_a_key_at_the_cut_is_not_halved_into_the_open(cli: Call) -> None:
    source = SampleSource(LEDGER, texts={"prt_1": "x" * 190 + " " + KEY, "prt_5": "y" * 300})
    texts = [t.get("text") for t in cli("turns", "last", "--json", "--text", sources=[source]).json["turns"]]
    assert texts == ["x" * 190 + " [redacted…", "y" * 200 + "…"]


def test_show(cli: Call) -> None:
    answer = cli("show", "last", "1", "--step", "2", "--json", sources=[SampleSource(LEDGER)]).json
    assert no_null(answer)
    assert answer["schema"] == "ctx-inspect/show/1"
    assert (answer["session"], answer["turn"], answer["step"], answer["request"], answer["point"]) == (
        "opencode:ses_one",
        1,
        2,
        "msg_a2",
        "store",
    )
    assert answer["window"]["tokens"] == 4050
    by = {c["category"]: c for c in answer["categories"]}
    assert list(by) == ["instructions", "skills", "tools", "settings", "system", "conversation"]
    assert by["instructions"] == {
        "category": "instructions",
        "evidence": "unavailable",
        "why": "OpenCode 1.x does not store the system prompt",
        "cov": "none",
        "tokens": {"evidence": "unavailable", "why": "OpenCode 1.x does not store the system prompt"},
        "items": [],
    }
    assert by["tools"]["tokens"] == {"count": 100, "evidence": "estimated", "counter": "bytes/3.5"}
    assert by["tools"]["items"][0] == {
        "k": "bash",
        "src": {"kind": "mcp", "path": "/srv/mini", "name": "mini"},
        "ev": "estimated",
        "tokens": {"count": 100, "evidence": "estimated", "counter": "bytes/3.5"},
        "bytes": 350,
    }
    assert by["settings"]["items"][0]["value"] == "acme/large"
    assert "count" not in by["settings"]["tokens"]
    assert [(i["k"], i["role"], i["tokens"]["count"]) for i in by["conversation"]["items"]] == [
        ("msg_u1", "user", 10),
        ("msg_a1", "assistant", 30),
        ("msg_a1/c1", "tool", 200),
    ]
    assert by["conversation"]["tokens"]["count"] == 240
    assert all("text" not in p for i in by["conversation"]["items"] for p in i["parts"])
    assert answer["not_recorded"] == [{"what": "system prompt", "why": "OpenCode 1.x does not store it"}]


def test_show_takes_the_first_step(cli: Call) -> None:
    assert cli("show", "last", "1", "--json", sources=[SampleSource(LEDGER)]).json["request"] == "msg_a1"


def test_media_is_no_text(cli: Call) -> None:
    by = {c["category"]: c for c in cli("show", "last", "2", "--json", sources=[SampleSource(LEDGER)]).json["categories"]}
    message = by["conversation"]["items"][3]
    assert message["parts"][1]["tokens"] == {"evidence": "unavailable", "why": "media: no counter tells its tokens"}
    assert message["parts"][1]["bytes"] == 90_000
    assert message["tokens"]["count"] == 10
    assert message["tokens"]["why"] == "1 of 2 parts not counted: media: no counter tells its tokens"
    assert by["conversation"]["tokens"]["count"] == 250


def test_show_text(cli: Call) -> None:
    answer = cli("show", "last", "2", "--json", "--text", sources=[SampleSource(LEDGER)]).json
    parts = [p for i in answer["categories"][5]["items"] for p in i["parts"]]
    assert [p.get("text") for p in parts] == [
        "please fix the build",
        "looking",
        '{"command":"make"}',
        "no rule",
        "and use [redacted:anthropic-key]",
        None,
    ]
    assert parts[-1]["text_why"] == "the row is gone"
    plain = cli("show", "last", "2", "--text", sources=[SampleSource(LEDGER)]).out
    assert KEY not in plain
    assert "no rule" in plain
    assert KEY in cli("show", "last", "2", "--text", "--uncover", sources=[SampleSource(LEDGER)]).out


def test_a_turn_without_a_request(cli: Call) -> None:
    waiting = SampleSource(replace(LEDGER, turns=(replace(TURN1, requests=()),), marks=(), other={}, problems=()))
    answer = cli("show", "last", "--json", sources=[waiting]).json
    assert "request" not in answer
    assert {c["evidence"] for c in answer["categories"]} == {"unavailable"}
    assert answer["window"]["why"] == "no model was called in this turn"
    assert cli("show", "last", sources=[waiting]).code == 0


def test_a_turn_whose_record_is_unreadable_does_not_say_that_nothing_was_called(cli: Call, tmp_path: Path) -> None:
    def told(name: str, torn: bool) -> tuple[str, str, set[str]]:
        session = PiStore(tmp_path / name).session()
        session.turn("one")
        session.user("two")
        session.assistant("answer")
        if torn:
            whole = session.path.read_text().splitlines()
            session.path.write_text("\n".join([*whole[:-1], whole[-1][:40]]) + "\n")
        session.user("three")
        named = ("--source", str(session.path), "--json")
        listed = cli("turns", "last", *named).json["turns"][1]["window"]
        answer = cli("show", "last", "2", *named).json
        return listed.get("why", ""), answer["window"].get("why", ""), {c.get("why", "") for c in answer["categories"]}

    line, window, categories = told("torn", True)
    assert line == window
    assert window.startswith("unreadable record: no model call of this turn can be read (of this session: line 7: ")
    assert categories == {window}
    assert "unreadable record" not in str(told("whole", False))


def test_show_says_which_request_it_is_of(cli: Call) -> None:
    source = SampleSource(LEDGER)
    first, last = cli("show", "last", "1", sources=[source]).out, cli("show", "last", "1", "--step", "2", sources=[source]).out
    assert "step 1 of 2" in first
    assert "the turn's first request; Budget and the timeline show its last one: --step 2" in first
    assert "step 2 of 2" in last
    assert "the turn's last request, as in Budget and the timeline" in last
    assert "first request" not in cli("show", "last", "2", sources=[source]).out
    answer = cli("show", "last", "1", "--json", sources=[source]).json
    assert (answer["step"], answer["steps"]) == (1, 2)


def test_what_was_sent_in_total_says_what_is_not_in_it(cli: Call) -> None:
    out = cli("turns", "last", sources=[SampleSource(LEDGER)]).out
    assert "sent in total 7.5k in 3 steps (without title and compaction requests)" in out


def test_doctor_and_sessions_name_the_sessions_with_damaged_records(cli: Call, tmp_path: Path) -> None:
    store = PiStore(tmp_path)
    store.session(id="sound").turn("one")
    torn, glued = store.session(id="torn"), store.session(id="glued")
    torn.turn("one")
    with torn.path.open("a") as file:
        file.write('{"type":"message","id\n' * 9)
    torn.turn("two")
    glued.turn("one")
    whole = glued.path.read_text().splitlines()
    glued.path.write_text("\n".join([*whole[:-2], whole[-2] + whole[-1]]) + "\n")
    named = ("--source", str(store.sessions))
    checks = [c for c in cli("doctor", "--json", *named).json["checks"] if "session pi:" in c["message"]]
    assert sorted((c["state"], c["name"].rsplit("/", 1)[-1]) for c in checks) == [
        ("note", glued.path.name),
        ("problem", torn.path.name),
    ]
    message = next(c["message"] for c in checks if c["state"] == "problem")
    assert message.startswith("session pi:torn: unreadable_record: line")
    assert "▲" in next(line for line in cli("doctor", *named).out.splitlines() if "pi:torn" in line)

    done = cli("sessions", *named)
    assert {line.split()[0] for line in done.out.splitlines() if "▲" in line} == {"pi:torn", "pi:glued"}
    assert "2 sessions with damaged records (▲): pi:" in done.err
    assert "pi:torn" in done.err
    assert "pi:sound" not in done.err
    rows = {s["id"]: s.get("damaged", 0) for s in cli("sessions", "--json", *named).json["sessions"]}
    assert rows["sound"] == 0
    assert rows["torn"] > 0
    assert rows["glued"] > 0


def test_doctor_says_once_what_holds_for_a_whole_store(cli: Call) -> None:
    newer = Problem(Raw("/home/ann/opencode.db"), ProblemCode.SCHEMA_NEWER, "a newer schema")
    source = SampleSource(*(replace(LEDGER, info=info(f"ses_{i}"), problems=(newer,)) for i in range(3)))
    source.problems = (newer,)
    checks = cli("doctor", "--json", sources=[source]).json["checks"]
    assert sum("a newer schema" in c["message"] for c in checks) == 1


def test_doctor(cli: Call) -> None:
    source = SampleSource(LEDGER)
    done = cli("doctor", "--json", sources=[source])
    checks = {c["name"]: c for c in done.json["checks"]}
    assert done.json["schema"] == "ctx-inspect/doctor/1"
    assert {c["state"] for c in done.json["checks"]} <= {"ok", "note", "problem"}
    assert next(c["message"] for c in done.json["checks"] if c["name"] == "/home/ann/opencode.db") == "opencode-1, 1 session"
    assert "bytes/3.5" in checks["token counter"]["message"]
    assert "--fetch-vocabulary" in checks["token counter"]["next"]
    text = cli("doctor", sources=[source]).out
    assert "bytes/3.5" in text


def test_doctor_where_nothing_is(cli: Call) -> None:
    names = [c["name"] for c in cli("doctor", "--json").json["checks"]]
    assert any(n.startswith("opencode: ") for n in names)
    assert any(n.startswith("pi: ") for n in names)


@pytest.mark.parametrize("args", [["sessions"], ["turns", "last", "--text"], ["show", "last", "2", "--text"], ["doctor"], []])
def test_hostile_text_is_inert_in_every_answer(cli: Call, args: list[str]) -> None:
    for text in HOSTILE.values():
        raw = Raw(text)
        named = replace(LEDGER.turns[0].requests[0], agent=raw, tools=(raw,))
        ledger = replace(
            LEDGER,
            info=info(title=raw, directory=raw, project=raw, path=raw, agent=raw),
            turns=(replace(TURN1, requests=(named, *TURN1.requests[1:])), LEDGER.turns[1]),
            marks=tuple(replace(m, detail=raw) for m in LEDGER.marks),
            problems=(replace(LEDGER.problems[0], source=raw),),
        )
        source = SampleSource(ledger, texts=dict.fromkeys(("prt_1", "prt_2", "prt_3", "prt_4", "prt_5", "prt_h"), text))
        source.problems = ledger.problems
        plain = cli(*args, sources=[source])
        assert plain.code == 0
        assert inert(plain.out.replace("\n", "")), plain.out
        assert inert(plain.err.replace("\n", "")), plain.err
        data = cli(*args, "--json", sources=[source])
        assert data.code == 0
        assert inert(data.out.removesuffix("\n"))
        if args and args[0] == "sessions":
            # what is no secret comes back as it was
            assert data.json["sessions"][0]["title"] == text


def test_secrets_reach_no_answer(cli: Call) -> None:
    raw = Raw(f"use {KEY}")
    ledger = replace(
        LEDGER,
        info=info(title=raw, directory=raw, project=raw, path=raw, agent=raw),
        turns=(replace(TURN1, requests=tuple(replace(r, agent=raw, tools=(raw,)) for r in TURN1.requests)), LEDGER.turns[1]),
        marks=tuple(replace(m, detail=raw) for m in LEDGER.marks),
        problems=(replace(LEDGER.problems[0], source=raw),),
    )
    source = SampleSource(ledger, texts=dict.fromkeys(("prt_1", "prt_2", "prt_3", "prt_4", "prt_5", "prt_h"), raw))
    source.problems = ledger.problems
    for args in (["sessions"], ["turns", "last", "--text"], ["show", "last", "2", "--text"], ["doctor"], []):
        for json in ([], ["--json"]):
            done = cli(*args, *json, sources=[source])
            assert done.code == 0
            assert KEY not in done.out + done.err, args


def test_no_escape_where_stdout_is_no_terminal(cli: Call) -> None:
    for args in (["sessions"], ["turns", "last"], ["show", "last"], ["doctor"]):
        assert "\x1b" not in cli(*args, sources=[SampleSource(LEDGER)]).out


def test_unknown_is_never_nothing(cli: Call) -> None:
    turns = tuple(
        replace(t, requests=tuple(replace(r, usage=Unavailable(Why.NOT_REPORTED, "none")) for r in t.requests)) for t in LEDGER.turns
    )
    plain = cli("turns", "last", sources=[SampleSource(replace(LEDGER, turns=turns, marks=()))]).out
    assert "window —" in plain
    assert "0%" not in plain


def test_a_locale_without_unicode(cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from ctx_inspect.app.commands import output

    class Ascii:
        encoding = "ascii"

        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str) -> None:
            self.text += text.encode("ascii").decode()

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return False

    stdout = Ascii()
    monkeypatch.setattr(output.sys, "stdout", stdout)
    output._write("重构 ✓\n")
    assert stdout.text == "\\u91cd\\u6784 \\u2713\n"
    stdout.text = ""
    output.write_json(Check(name="é重🚀", state="ok", message=""))
    assert stdout.text == '{"name":"\\u00e9\\u91cd\\ud83d\\ude80","state":"ok","message":""}\n'


def test_a_document_is_one_line() -> None:
    assert document(Doctor(checks=[Check(name="a\nb", state="ok", message="\ud83d")])) == (
        '{"schema":"ctx-inspect/doctor/1","checks":[{"name":"a\\nb","state":"ok","message":"\\ud83d"}]}'
    )
