"""The lists of all requests against the same lists built the slow way, over random histories."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from ctx_inspect.core.model import Ledger, Request
from ctx_inspect.core.sources.opencode import OpenCodeSource
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.builders.opencode import OpenCodeDB, Session
from tests.builders.opencode_parts import image, reasoning, text, tool
from tests.core.sources.opencode import naive


def _pick(s: Session, n: int) -> str | None:
    ids = s.messages()
    return ids[n % len(ids)] if ids else None


def _compact(s: Session, n: int, reason: str, status: str = "succeeded") -> None:
    if s.last_user is None:
        return
    s.compact(f"summary {n}", reason=reason, tail=_pick(s, n) if n % 3 else None, status=status)


def _prune(s: Session, n: int) -> None:
    s.prune(*[m for m in s.messages() if (crc32(m.encode()) + n) % 3 == 0])


def _revert(s: Session, n: int) -> None:
    message = _pick(s, n)
    if message is not None:
        s.revert(message)
        s.cleanup()


def _steps(s: Session, n: int) -> None:
    if s.last_user is None:
        s.user("first")
    s.step(reasoning(f"think {n}"), "looking", tool("bash", {"command": f"ls {n} ü"}, f"out {n}\n…"), tool("read", {"n": n}, f"file {n}"))
    s.step("" if n % 2 else f"done {n}", error="MessageAbortedError" if n % 5 == 4 else None)


OPS: dict[str, Callable[[Session, int], object]] = {
    "turn": lambda s, n: s.turn(f"ask {n}"),
    "steps": _steps,
    "user": lambda s, n: s.user(f"note {n}", text("added", synthetic=True), text("plugin", ignored=True)),
    "ignored": lambda s, n: s.user(text(f"notice {n}", ignored=True)),
    "image": lambda s, n: (s.user("see", image()), s.step("a pixel")),
    "model": lambda s, n: s.user(f"switch {n}", model=("mock", ("big", "other")[n % 2])),
    "agent": lambda s, n: (s.user(f"agent {n}", agent=("build", "plan")[n % 2]), s.step("yes")),
    "shell": lambda s, n: s.shell("ls", f"listing {n}"),
    "subtask": lambda s, n: s.subtask(f"sub {n}", "general", "ses_child", f"result {n}"),
    "failed": lambda s, n: s.step(error="APIError") if s.last_user else None,
    "running": lambda s, n: (
        s.step(tool("bash", {"n": n}, status="running"), tool("x", {}, status="pending"), done=False) if s.last_user else None
    ),
    "tool error": lambda s, n: s.step(tool("bash", {"n": n}, f"no {n}", status="error")) if s.last_user else None,
    "manual": lambda s, n: _compact(s, n, "manual"),
    "auto": lambda s, n: _compact(s, n, "auto"),
    "overflow": lambda s, n: _compact(s, n, "overflow"),
    "compaction failed": lambda s, n: _compact(s, 0, "manual", "failed"),
    "compaction asked": lambda s, n: _compact(s, 0, "manual", "requested"),
    "prune": _prune,
    "revert": _revert,
}


def contexts(ledger: Ledger) -> list[Request]:
    return [r for r in [*ledger.before, *(r for t in ledger.turns for r in t.requests)] if r.context is not None]


def check(path: Path, session: str) -> Ledger:
    source = OpenCodeSource(path)
    ledger = source.open(session)
    rows = naive.stored(path, session)
    at = {m["id"]: n for n, m in enumerate(rows)}
    for r in contexts(ledger):
        n = at[r.id]
        assert r.context is not None
        assert naive.rebuilt(source, r.context) == naive.lines(rows[:n], rows[n]), r.id
    assert ledger.now is not None
    return ledger


@example([("agent", 0), ("agent", 1), ("auto", 0), ("auto", 1), ("agent", 0)])
@example([("steps", 0), ("steps", 1), ("manual", 0), ("model", 1), ("steps", 2), ("manual", 1), ("steps", 3)])
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(sorted(OPS)), st.integers(0, 40)), min_size=1, max_size=14))
def test_lists_are_those_of_the_slow_way(ops: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "opencode.db"
        with OpenCodeDB(path) as db:
            s = db.session()
            for name, n in ops:
                OPS[name](s, n)
        check(path, s.id)


def test_what_a_request_carried_before_and_after_a_prune(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.user("look")
        step = s.step(tool("bash", {}, "a long listing"))
        s.step("ok")
        s.prune(step)
        s.turn("again")
    ledger = check(tmp_path / "opencode.db", s.id)
    source = OpenCodeSource(tmp_path / "opencode.db")
    source.open(s.id)

    def results(r: Request) -> list[str]:
        assert r.context is not None
        return [t for _, kind, t in naive.rebuilt(source, r.context) if kind == "result"]

    before, after = ledger.turns[0].requests[1], ledger.turns[1].requests[0]
    assert results(before) == ["a long listing"]
    assert results(after) == ["[Old tool result content cleared]"]
    # the change is one message: what stands before it is shared
    assert after.context is not None
    assert after.context.messages.keep == 2


def test_the_request_and_summary_stand_first_then_the_tail(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.turn("one", "first answer")
        kept = s.turn("two", "second answer")
        s.compact("the summary", tail=kept)
        s.turn("three")
    source = OpenCodeSource(tmp_path / "opencode.db")
    r = source.open(s.id).turns[2].requests[0]
    assert r.context is not None
    assert [t for *_, t in naive.rebuilt(source, r.context)] == ["What did we do so far?", "the summary", "two", "second answer", "three"]
    assert [m.synthetic for m in r.context.messages][:3] == ["compaction", "summary", None]


def test_a_reminder_moves_to_the_newest_prompt(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session()
        s.user("plan it", agent="plan")
        s.step("the plan")
        s.user("do it", agent="build")
        s.step("done")
        s.turn("more")
    ledger = check(tmp_path / "opencode.db", s.id)
    marked = []
    for turn in ledger.turns:
        context = turn.requests[0].context
        assert context is not None
        marked.append([m.id for m in context.messages for p in m.parts if p.synthetic == "reminder"])
    assert marked == [[t.id] for t in ledger.turns]


def test_media_of_a_result_goes_where_the_model_takes_it(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        made = []
        for provider in ("mock", "anthropic"):
            s = db.session(model=(provider, "big"))
            s.user("look")
            s.step(tool("read", {}, "an image", attachments=[image()]))
            s.step("seen")
            made.append(s.id)
    source = OpenCodeSource(tmp_path / "opencode.db")
    shapes = []
    for id in made:
        context = source.open(id).turns[0].requests[1].context
        assert context is not None
        shapes.append([(m.role.value, [p.kind.value for p in m.parts]) for m in context.messages])
    outside, inside = shapes
    assert outside[2:] == [("tool", ["result"]), ("user", ["text", "media"])]
    assert inside[2:] == [("tool", ["result", "media"])]


@pytest.mark.parametrize("turns", [400])
def test_lists_cost_what_changes(tmp_path: Path, turns: int) -> None:
    """All lists together hold a small multiple of the messages, compactions and reminders included."""
    with OpenCodeDB(tmp_path / "opencode.db", log=False) as db:
        s = db.session()
        s.user("plan", agent="plan")
        s.step("planned")
        s.user("build", agent="build")
        for n in range(turns):
            s.turn(f"ask {n}")
            if n % 50 == 49:
                s.compact(tail=s.last_user)
    ledger = OpenCodeSource(tmp_path / "opencode.db").open(s.id)
    held = sum(len(r.context.messages.add) for r in contexts(ledger) if r.context)
    assert held < 6 * turns
