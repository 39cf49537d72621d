"""Prompts that are sent while a turn runs: queued, steered, followed up. Turns, steps and baselines are those of the wire."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ctx_inspect.core.diff.baseline import Order, baseline_of
from ctx_inspect.core.diff.report import CauseKind, NoBaseline, Side, State
from ctx_inspect.core.model import Ledger
from ctx_inspect.core.sources.opencode import OpenCodeSource
from ctx_inspect.core.sources.pi import PiSource

from tests.agents import install
from tests.agents.mock_model import Json, MockModel, Received, Say, Use
from tests.agents.opencode_agent import OpenCode
from tests.agents.pi_agent import Pi
from tests.agents.wire import Text, rebuilt, same, sent
from tests.core.diff.told import causes, conversation

pytestmark = [pytest.mark.agents, pytest.mark.timeout(400)]

SLOW = "word " * 60


def runs(body: Json) -> int:
    """Return how often the user spoke, messages right after each other counted once: the turn that a request is of."""
    roles = [kind for kind, *_ in sent(body)]
    return sum(role == "user" and (n == 0 or roles[n - 1] != "user") for n, role in enumerate(roles))


def check(ledger: Ledger, received: Sequence[Received], text: Text) -> list[list[str | None]]:
    """Compare turns, steps, baselines and lists with what the model received; return the scenes of each active turn."""
    placed = Order(ledger).requests
    assert len(placed) == len(received)
    got = {row.request.id: request for row, request in zip(placed, received, strict=True)}
    steps: dict[int, list[Received]] = {}
    firsts: list[Received] = []
    for row in placed:
        request = got[row.request.id]
        assert row.request.context is not None
        ours = rebuilt(row.request.context.messages.messages(), text)
        same(ours, sent(request.body), f"{row.request.id} = request {request.n} ({request.scene})")
        if row.state is None:
            steps.setdefault(runs(request.body), []).append(request)
            assert row.turn == runs(request.body), request.scene
            assert row.request.step == len(steps[runs(request.body)]), request.scene
        if row.request.step == 1:
            firsts.append(request)
    assert [t.n for t in ledger.turns] == sorted(steps)
    for turn in ledger.turns:
        found = baseline_of(ledger, turn.n)
        if turn.n == 1:
            assert found is NoBaseline.FIRST_TURN
            continue
        assert isinstance(found, Side)
        assert found.request is not None
        after = steps[turn.n][0]
        before = firsts[firsts.index(after) - 1]
        assert got[found.request.id] is before
        report = conversation(ledger, turn.n)
        if found.state is None:
            assert (report.kind, report.added) == (State.GROWTH, len(sent(after.body)) - len(sent(before.body)))
        else:
            assert causes(report) == [CauseKind.REVERT]
    return [[r.scene for r in steps[n]] for n in sorted(steps)]


def test_opencode(tmp_path: Path, model: MockModel) -> None:
    install.opencode()
    with OpenCode(tmp_path / "home", model) as agent:
        session = agent.session()
        look = [Use("bash", command="ls", description="list")]

        def say(name: str, *lines: Say) -> str:
            return f"{name} {model.scene(name, *lines)}"

        agent.prompt(session, say("first", Say("", calls=look), Say("Done.")))
        # one that comes while tools still run: the next step carries it
        agent.prompt(session, say("tools", Say(SLOW, calls=look, pause=0.1)), wait=False)
        model.heard("tools")
        agent.prompt(session, say("steering", Say("", calls=look), Say("I was told.")))
        # one that comes while the last answer is written, then two at once
        agent.prompt(session, say("talking", Say(SLOW, pause=0.1)), wait=False)
        model.heard("talking")
        agent.prompt(session, say("queued", Say(SLOW, pause=0.1)), wait=False)
        model.heard("queued")
        agent.prompt(session, say("one"), wait=False)
        agent.prompt(session, say("two", Say("Both of you.")))
        agent.prompt(session, say("last", Say("The end.")))
        # taken back with its steps, and another one in its place
        agent.prompt(session, say("wrong", Say("", calls=look), Say("That was wrong.")))
        wrong = [m["info"]["id"] for m in agent.messages(session) if m["info"]["role"] == "user"][-1]
        agent.call("POST", f"/session/{session}/revert", {"messageID": wrong})
        agent.prompt(session, say("instead", Say("Right.")))
        told = [m["info"] for m in agent.messages(session)]
    source = OpenCodeSource(agent.database)
    ledger = source.open(session)
    scenes = check(ledger, model.of(session=session), source.text)
    assert scenes == [["first", "first"], ["tools"], ["steering", "steering"], ["talking"], ["queued"], ["two"], ["last"], ["instead"]]
    assert [len(t.ids) for t in ledger.turns] == [1, 1, 1, 1, 1, 2, 1, 1]
    assert [(h.id, h.state, len(h.requests)) for h in ledger.hidden] == [(wrong, "reverted", 2)]
    # OpenCode's own rows say the same: each step's parent is the newest prompt of its turn
    parents = {m["id"]: m["parentID"] for m in told if m["role"] == "assistant"}
    assert all(parents[r.id] == t.ids[-1] for t in ledger.turns for r in t.requests)


def test_pi(tmp_path: Path, model: MockModel) -> None:
    install.pi()
    with Pi(tmp_path / "home", model) as pi:
        look = [Use("bash", command="ls")]

        def say(name: str, *lines: Say) -> str:
            return f"{name} {model.scene(name, *lines)}"

        pi.prompt(say("first", Say("", calls=look), Say("Done.")))
        # steered while tools still run; followed up once all of that is done
        pi.prompt(say("tools", Say(SLOW, calls=look, pause=0.1)), wait=False)
        model.heard("tools")
        pi.command("follow_up", message=say("later", Say("", calls=look), Say("Later it is.")))
        pi.command("steer", message=say("steered", Say("", calls=look), Say("I was told.")))
        pi.settle()
        # two of each, all at once
        pi.command("set_steering_mode", mode="all")
        pi.command("set_follow_up_mode", mode="all")
        pi.prompt(say("more", Say(SLOW, calls=look, pause=0.1)), wait=False)
        model.heard("more")
        for kind in ("steer", "follow_up"):
            pi.command(kind, message=say(f"{kind}-1"))
            pi.command(kind, message=say(f"{kind}-2", Say(f"Both of {kind}.")))
        pi.settle()
        pi.prompt(say("last", Say("The end.")))
        file, key = pi.file(), pi.command("get_state")["sessionId"]
    source = PiSource(file)
    ledger = source.open(key)
    scenes = check(ledger, model.of(), source.text)
    assert scenes == [
        ["first", "first"],
        ["tools"],
        ["steered", "steered"],
        ["later", "later"],
        ["more"],
        ["steer-2"],
        ["follow_up-2"],
        ["last"],
    ]
    assert [len(t.ids) for t in ledger.turns] == [1, 1, 1, 1, 1, 2, 2, 1]
