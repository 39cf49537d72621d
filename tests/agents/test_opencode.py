"""A real OpenCode, driven against a mock model while its database is watched."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ctx_inspect.core.budget import request_window
from ctx_inspect.core.model import MarkKind, value_of
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.agents import install
from tests.agents.conftest import lock_errors
from tests.agents.mock_model import Fail, MockModel, Say, Use
from tests.agents.opencode_agent import OpenCode
from tests.agents.watch import Watch
from tests.agents.wire import rebuilt, same, sent

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]


def test_sessions(tmp_path: Path, model: MockModel) -> None:
    install.opencode()
    home = tmp_path / "home"
    database = home / ".local" / "share" / "opencode" / "opencode.db"

    def discover() -> list[Source]:
        return [OpenCodeSource(database)] if database.exists() else []

    with Watch(discover) as watch, OpenCode(home, model) as agent:
        # turns with tools, a refusal and its retry, an abort, other models, another agent, a subagent
        main = agent.session()
        read = [Use("read", filePath=str(agent.project / "notes.txt")), Use("bash", command="ls", description="list")]
        agent.prompt(
            main, "Look at the notes " + model.scene("notes", Say("Looking. 👀", think="Two.", calls=read), Say("Milk and bread."))
        )
        watch.saw(main, 1)
        agent.prompt(main, "Once more " + model.scene("retry", Fail(500), Say("Here again.")))
        watch.saw(main, 2)
        agent.prompt(main, "Slowly " + model.scene("slow", Say("word " * 200, pause=0.1)), wait=False)
        watch.saw(main, 3, done=False)
        model.heard("slow")  # an abort before that would leave a row without a request
        time.sleep(0.7)
        agent.call("POST", f"/session/{main}/abort")
        watch.saw(main, 3)
        calls = [Use("bash", command="echo one; false", description="fail")]
        other = model.scene("other", Say("Other here.", think="Hm.", calls=calls), Say("lorem " * 50))
        agent.prompt(main, "On another model " + other, model="mockanthropic/claude-mock")
        watch.saw(main, 4)
        agent.prompt(main, "Back on the first " + model.scene("first", Say("First here.")), model="mock/big")
        watch.saw(main, 5)
        agent.prompt(main, "Make a plan " + model.scene("plan", Say("The plan.")), agent="plan")
        watch.saw(main, 6)
        agent.prompt(main, "Do it " + model.scene("build", Say("Built.")), agent="build")
        watch.saw(main, 7)
        model.scene("sub", Say("", calls=[Use("bash", command="pwd", description="where")]), Say("It is here."))
        task = Use("task", description="look around", prompt="Look around (scene sub)", subagent_type="general")
        agent.prompt(main, "Delegate " + model.scene("task", Say("", calls=[task]), Say("It was found.")))
        watch.saw(main, 8)

        # taken back, then replaced
        users = [m["info"]["id"] for m in agent.messages(main) if m["info"]["role"] == "user"]
        agent.prompt(main, "A wrong turn " + model.scene("wrong", Say("Wrong.")))
        watch.saw(main, 9)
        wrong = [m["info"]["id"] for m in agent.messages(main) if m["info"]["role"] == "user"][-1]
        agent.call("POST", f"/session/{main}/revert", {"messageID": wrong})
        watch.saw(main, 8)
        assert [h.id for h in watch.ledgers[main].hidden] == [wrong]
        agent.prompt(main, "Instead " + model.scene("instead", Say("Right.")))
        watch.saw(main, 9)
        assert [(h.id, h.state) for h in watch.ledgers[main].hidden] == [(wrong, "reverted")]

        fork = agent.call("POST", f"/session/{main}/fork", {"messageID": users[2]})["id"]
        agent.prompt(fork, "In the fork " + model.scene("fork", Say("Forked.")))
        watch.saw(fork, 3)

        agent.call("POST", f"/session/{main}/summarize", {"providerID": "mock", "modelID": "big"})
        again = Say("", calls=[Use("bash", command="pwd", description="where")])
        agent.prompt(main, "Go on " + model.scene("after", again, Say("Done.")))
        watch.saw(main, 10)
        time.sleep(0.5)
        log = agent.log()

        check_turns(watch, main, fork)
        check_requests(watch, model)
        late = watch.late(agent.written())
        print({k: round(v, 3) for k, v in late.items()})
        assert max(late.values()) < 1.0, late
        assert watch.trouble == []
        assert lock_errors(log) == []


def check_turns(watch: Watch, main: str, fork: str) -> None:
    ledger = watch.ledgers[main]
    assert [[r.finish for r in t.requests if r.call] for t in ledger.turns] == [
        ["tool_calls", "stop"],
        ["stop"],
        ["aborted"],
        ["tool_calls", "stop"],
        ["stop"],
        ["stop"],
        ["stop"],
        ["tool_calls", "stop"],
        ["stop"],
        ["tool_calls", "stop"],
    ]
    assert [t.n for t in ledger.turns] == list(range(1, 11))
    models = [str(t.requests[-1].model.id) for t in ledger.turns]
    assert models == ["big"] * 3 + ["claude-mock"] + ["big"] * 6
    assert [str(t.requests[-1].agent) for t in ledger.turns][5:7] == ["plan", "build"]
    kinds = [m.kind for m in ledger.marks]
    assert kinds.count(MarkKind.COMPACTION) == 1
    assert kinds.count(MarkKind.REVERT) == 1
    compaction = next(m for m in ledger.marks if m.kind is MarkKind.COMPACTION)
    assert compaction.reason == "manual"
    assert len(watch.infos) == 3
    (child,) = (i for i in watch.infos.values() if i.parent is not None)
    assert child.parent == f"opencode:{main}"
    assert [[r.finish for r in t.requests] for t in watch.ledgers[child.id].turns] == [["tool_calls", "stop"]]
    assert [r.children for r in ledger.turns[7].requests] == [(child.key,), ()]
    assert [t.inherited for t in watch.ledgers[fork].turns] == [True, True, False]
    assert value_of(watch.infos[fork].forked_from) in (None, f"opencode:{main}")


def check_requests(watch: Watch, model: MockModel) -> None:
    """Each request whose messages still exist carried what was received; the figures are the reported ones."""
    compared: set[int] = set()
    for id in watch.ledgers:
        received = [r for r in model.of(session=id) if r.status == 200 and r.scene != "wrong"]
        requests = [r for r in watch.steps_of(id) if not r.inherited]
        assert len(received) == len(requests), id
        for request, got in zip(requests, received, strict=True):
            assert request.context is not None
            text = watch.text(id)
            same(rebuilt(request.context.messages.messages(), text), sent(got.body), f"{request.id} = request {got.n} ({got.scene})")  # type: ignore[arg-type]
            assert value_of(request_window(request)) == got.tokens
            compared.add(got.n)
    assert compared == {r.n for r in model.of() if r.status == 200 and r.scene != "wrong"}, "every one of them was compared"
