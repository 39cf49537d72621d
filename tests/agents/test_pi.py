"""A real Pi, driven against a mock model while its store is watched."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path

import pytest
from ctx_inspect.core.budget import request_window
from ctx_inspect.core.model import Category, MarkKind, Request, value_of
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.sources.pi import PiSource

from tests.agents import install
from tests.agents.conftest import lock_errors
from tests.agents.mock_model import Fail, MockModel, Received, Say, Use
from tests.agents.pi_agent import Pi
from tests.agents.watch import Watch
from tests.agents.wire import rebuilt, same, sent, tool_names

pytestmark = [pytest.mark.agents, pytest.mark.timeout(400)]


def entries(file: Path) -> dict[str, dict[str, object]]:
    """Return the entries of a session file by id, read without any of our own code."""
    rows = [json.loads(line) for line in file.read_text().split("\n") if line]
    return {row["id"]: row for row in rows if row["type"] != "session"}


def written(file: Path) -> dict[str, float]:
    """Return when each entry says that it was written, in seconds since the epoch."""
    return {id: datetime.fromisoformat(str(row["timestamp"])).timestamp() for id, row in entries(file).items()}


def answers(file: Path, requests: list[Request], model: MockModel) -> list[tuple[Request, Received]]:
    """Join each request of a session with what the model received: by the id of the answer, a refusal by its order."""
    rows = entries(file)
    refused = [r for r in model.of() if r.status != 200]
    joined: list[tuple[Request, Received]] = []
    for request in requests:
        message: dict[str, str] = rows[request.id]["message"]  # type: ignore[assignment]
        answer = message.get("responseId")
        joined.append((request, model.requests[int(answer.removeprefix("mock-")) - 1] if answer else refused.pop(0)))
    return joined


def test_a_session(tmp_path: Path, model: MockModel) -> None:
    install.pi()
    home = tmp_path / "home"

    def discover() -> list[Source]:
        folder = home / ".pi" / "agent" / "sessions"
        return [PiSource(folder)] if folder.is_dir() else []

    with Watch(discover) as watch, Pi(home, model) as pi:
        # turns with tools, a refusal and its retry, an abort, another model
        read = [Use("read", path="notes.txt"), Use("bash", command="ls")]
        pi.prompt("Look at the notes " + model.scene("notes", Say("Looking. 👀", think="Two calls.", calls=read), Say("Milk and bread.")))
        main = pi.file()
        key = pi.command("get_state")["sessionId"]
        watch.saw(key, 1)
        pi.prompt("Once more " + model.scene("retry", Fail(500), Say("Here again.")))
        watch.saw(key, 2)
        pi.prompt("Slowly " + model.scene("slow", Say("word " * 200, pause=0.1)), wait=False)
        watch.saw(key, 3, done=False)
        model.heard("slow")
        time.sleep(0.5)
        pi.command("abort")
        watch.saw(key, 3)
        pi.command("set_model", provider="mockanthropic", modelId="claude-mock")
        calls = [Use("bash", command="echo one; false")]
        pi.prompt("On another model " + model.scene("other", Say("Other here.", think="Hm.", calls=calls), Say("lorem " * 300)))
        watch.saw(key, 4)
        pi.command("set_model", provider="mock", modelId="big")
        pi.prompt("Back on the first " + model.scene("first", Say("First here.")))
        watch.saw(key, 5)

        # another branch, and back with a summary of it
        rows, leaf = pi.entries()
        users = [e["id"] for e in rows if e["type"] == "message" and e["message"]["role"] == "user"]
        pi.slash(f"goto {users[1]} plain")
        pi.prompt("On a branch " + model.scene("branch", Say("Branched.")))
        watch.saw(key, 2)
        assert [h.id for h in watch.ledgers[key].hidden] == users[1:5]
        pi.slash(f"goto {leaf} summarize")
        pi.prompt("Back again " + model.scene("back", Say("Back. " + "dolor " * 300)))
        watch.saw(key, 6)
        ledger = watch.ledgers[key]
        assert [t.id for t in ledger.turns[:5]] == users
        assert [h.state for h in ledger.hidden] == ["abandoned"]

        pi.command("compact")
        pi.prompt("Go on " + model.scene("after", Say("", calls=[Use("bash", command="pwd")]), Say("Done.")))
        watch.saw(key, 7)

        # copies
        pi.command("clone")
        clone = pi.command("get_state")["sessionId"]
        pi.prompt("In the clone " + model.scene("clone", Say("Cloned.")))
        watch.saw(clone, 8)
        clone_file = pi.file()
        before = pi.command("get_fork_messages")["messages"][-2]["entryId"]
        pi.command("fork", entryId=before)
        fork = pi.command("get_state")["sessionId"]
        pi.prompt("In the fork " + model.scene("fork", Say("Forked.")))
        watch.saw(fork, 7)
        fork_file = pi.file()
        time.sleep(0.5)
        log = pi.log()

        check_turns(watch, key, clone, fork)
        check_requests(watch, model, {key: main, clone: clone_file, fork: fork_file})
        files = (main, clone_file, fork_file)
        late = watch.late({id: at for file in files for id, at in written(file).items()})
        print({k: round(v, 3) for k, v in late.items()})
        assert max(late.values()) < 1.0, late
        assert watch.trouble == []
        assert lock_errors(log) == []
        assert log.strip() == ""


def check_turns(watch: Watch, key: str, clone: str, fork: str) -> None:
    ledger = watch.ledgers[key]
    assert [[r.finish for r in t.requests] for t in ledger.turns] == [
        ["tool_calls", "stop"],
        ["error", "stop"],
        ["aborted"],
        ["tool_calls", "stop"],
        ["stop"],
        ["stop"],
        ["tool_calls", "stop"],
    ]
    assert [[r.step for r in t.requests] for t in ledger.turns] == [[1, 2], [1, 2], [1], [1, 2], [1], [1], [1, 2]]
    assert [t.n for t in ledger.turns] == [1, 2, 3, 4, 5, 6, 7]
    assert [str(t.requests[-1].model.id) for t in ledger.turns] == ["big", "big", "big", "claude-mock", "big", "big", "big"]
    kinds = [m.kind for m in ledger.marks]
    assert kinds.count(MarkKind.COMPACTION) == 1
    assert kinds.count(MarkKind.BRANCH) >= 1
    assert kinds.count(MarkKind.EDIT) >= 1, "the failed try is taken out before the retry"
    for id, own, inherited in ((clone, 1, 7), (fork, 1, 6)):
        turns = watch.ledgers[id].turns
        assert [t.inherited for t in turns] == [True] * inherited + [False] * own
    assert watch.infos[clone].forked_from.value == f"pi:{key}"  # type: ignore[union-attr]
    assert watch.infos[fork].forked_from.value == f"pi:{clone}"  # type: ignore[union-attr]


def check_requests(watch: Watch, model: MockModel, files: dict[str, Path]) -> None:
    """Each request that a session sent itself: messages, tools and usage are the ones that the model received."""
    compared: set[int] = set()
    for id, file in files.items():
        requests = [r for r in watch.steps_of(id) if not r.inherited]
        requests += [r for h in watch.ledgers[id].hidden for r in h.requests if r.call and not r.inherited]
        for request, received in answers(file, requests, model):
            assert request.context is not None
            compared.add(received.n)
            text = watch.text(id)
            where = f"{request.id} = request {received.n} ({received.scene})"
            same(rebuilt(request.context.messages.messages(), text), sent(received.body), where)  # type: ignore[arg-type]
            assert (value_of(request.usage) is not None) == (received.tokens is not None), request.id
            if received.tokens is not None:
                assert value_of(request_window(request)) == received.tokens
            names = [str(i.k) for i in request.context.items if i.category is Category.TOOLS]
            assert names == tool_names(received.body)
    assert compared == {r.n for r in model.of()}, "every primary request was compared"
