"""The message list of each request, rebuilt as Pi sends it."""

from __future__ import annotations

import tempfile
import time
from itertools import pairwise
from pathlib import Path

import pytest
from ctx_inspect.core.model import PartKind, Synthetic
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.builders.pi import Call, PiFile, PiStore, image
from tests.core.sources.pi import naive
from tests.core.sources.pi.reading import context_of, opened, rows_of, said, source_of


@pytest.fixture
def s(tmp_path: Path) -> PiFile:
    return PiStore(tmp_path).session()


def last(s: PiFile) -> list[tuple[str, ...]]:
    """Return the list of the newest request."""
    ledger = opened(s)
    return said(source_of(s), context_of(ledger, s.entries[-1]["id"]).messages)


def test_each_request_carries_what_stood_before_it(s: PiFile) -> None:
    s.turn("read it", calls=[Call("read", {"path": "ä.txt", "limit": 20}, result="text 数据")], answer="read")
    s.user("next")
    s.assistant("ok")
    assert last(s) == [
        ("user", "read it"),
        ("assistant", 'read({"path":"ä.txt","limit":20})'),
        ("tool", "text 数据"),
        ("assistant", "read"),
        ("user", "next"),
    ]


def test_failed_and_aborted_answers_are_left_out(s: PiFile) -> None:
    s.user("one")
    s.assistant("partial", stop="aborted")
    s.user("two")
    s.assistant(error="500")
    s.assistant("cut", stop="length")
    s.user("three")
    s.assistant("ok")
    assert last(s) == [("user", "one"), ("user", "two"), ("assistant", "cut"), ("user", "three")]


def test_a_call_without_a_result_gets_one(s: PiFile) -> None:
    s.user("go")
    s.assistant("two calls", calls=[Call("read", {}, "a"), Call("bash", {}, "b")])
    s.result("a", "answered")
    s.assistant("mid-way")
    s.user("next")
    s.assistant("ok")
    ledger = opened(s)
    chain = context_of(ledger, s.entries[-1]["id"]).messages
    assert [r[1] for r in said(source_of(s), chain)] == ["go", "two calls", "answered", "No result provided", "mid-way", "next"]
    made = chain.messages()[3]
    assert (made.synthetic, made.parts[0].call, made.parts[0].name) == (Synthetic.CARRIER, "b", "bash")


def test_a_result_that_comes_late_replaces_the_made_up_one(s: PiFile) -> None:
    s.user("go")
    s.assistant(calls=[Call("read", {}, "a"), Call("bash", {}, "b")])
    s.result("a", "first")
    early = s.assistant(error="terminated: socket")
    s.context_edit(early, None)
    s.result("b", "second")
    s.assistant("ok")
    assert [r[1] for r in last(s)] == ["go", "read({})", "first", "second"]


def test_users_own_commands_are_sent_as_text(s: PiFile) -> None:
    s.turn("hi")
    s.bash("echo x", "x\n")
    s.bash("secret", "y", excluded=True)
    s.bash("false", "", code=1)
    s.bash("sleep 9", "z", cancelled=True)
    s.bash("big", "cut", truncated=True, fullOutputPath="/tmp/out")
    s.user("next")
    s.assistant("ok")
    assert last(s)[2:-1] == [
        ("user", "Ran `echo x`\n```\nx\n\n```"),
        ("user", "Ran `false`\n(no output)\n\nCommand exited with code 1"),
        ("user", "Ran `sleep 9`\n```\nz\n```\n\n(command cancelled)"),
        ("user", "Ran `big`\n```\ncut\n```\n\n[Output truncated. Full output: /tmp/out]"),
    ]


def test_custom_messages_are_sent_also_when_hidden_and_custom_data_never(s: PiFile) -> None:
    s.user("go")
    s.custom_message("hidden", display=False)
    s.custom_message([{"type": "text", "text": "shown"}])
    s.custom({"secret": 1})
    s.assistant("ok")
    assert last(s) == [("user", "go"), ("user", "hidden"), ("user", "shown")]


@pytest.mark.parametrize("keep", ["tail", "nothing", "gone"])
def test_compaction_first_then_what_it_kept(s: PiFile, keep: str) -> None:
    s.turn("one")
    two = s.turn("two")
    s.compaction("the past", kept={"tail": two[0], "nothing": None, "gone": "ffffffff"}[keep])
    s.user("three")
    s.assistant("ok")
    kept = [("user", "two"), ("assistant", "ok")] if keep == "tail" else []
    head = "The conversation history before this point was compacted into the following summary:\n\n<summary>\nthe past\n</summary>"
    assert last(s) == [("user", head), *kept, ("user", "three")]


def test_an_older_compaction_in_the_kept_part_sends_nothing(s: PiFile) -> None:
    one = s.turn("one")
    s.compaction("first past", kept=one[0])
    s.turn("two")
    s.compaction("second past", kept=one[0])
    s.user("three")
    s.assistant("ok")
    rows = last(s)
    assert "second past" in rows[0][1]
    assert rows[1:] == [("user", "one"), ("assistant", "ok"), ("user", "two"), ("assistant", "ok"), ("user", "three")]


def test_context_edits_replace_and_take_out(s: PiFile) -> None:
    one = s.turn("one", calls=[Call("read", {}, result="very long")])
    two = s.turn("two")
    before = s.entries[-1]["id"]
    s.context_edit(one[2], "short")
    s.context_edit(two[0], None)
    s.context_edit(one[3], "other words")
    s.user("three")
    s.assistant("ok")
    assert last(s) == [
        ("user", "one"),
        ("assistant", "read({})"),
        ("tool", "short"),
        ("assistant", "other words"),
        ("assistant", "ok"),
        ("user", "three"),
    ]
    ledger = opened(s)
    assert said(source_of(s), context_of(ledger, before).messages)[2] == ("tool", "very long")
    part = context_of(ledger, s.entries[-1]["id"]).messages.messages()[2].parts[0]
    assert (part.kind, part.name, part.call) == (PartKind.RESULT, "read", "call_1")


def test_an_edit_before_the_kept_part_is_forgotten_with_it(s: PiFile) -> None:
    one = s.turn("one")
    s.context_edit(one[0], "edited")
    s.compaction("past", kept=one[0])
    s.user("two")
    s.assistant("ok")
    assert last(s)[1] == ("user", "edited")
    s.compaction("past", kept=s.entries[-2]["id"])
    s.user("three")
    s.assistant("ok")
    assert [r[1] for r in last(s)][1:] == ["two", "ok", "three"]


def test_thinking_is_sent_back_to_its_own_model_only(s: PiFile) -> None:
    s.user("one")
    s.assistant("a", thinking="deep")
    s.user("two")
    same = s.assistant("b")
    s.model("other", "tiny")
    s.user("three")
    away = s.assistant("c")
    s.model("acme", "large")
    s.user("four")
    back = s.assistant("d")
    ledger, source = opened(s), source_of(s)
    lists = {id: said(source, context_of(ledger, id).messages) for id in (same, away, back)}
    assert lists[same][1] == ("assistant", "deep", "a")
    assert lists[away][1] == ("assistant", "a")
    assert lists[back][1] == ("assistant", "deep", "a")
    prints = {id: context_of(ledger, id).messages.messages()[1].fp for id in lists}
    assert prints[same] == prints[back] != prints[away]


def test_images_are_media_with_their_bytes(s: PiFile) -> None:
    s.user("look", images=[image()])
    s.assistant(calls=[Call("read", {}, "r")])
    s.result("r", "an image", images=[image()])
    s.assistant("red")
    assert last(s) == [("user", "look", "[image/png 32]"), ("assistant", "read({})"), ("tool", "an image", "[image/png 32]")]


def test_odd_contents_open(s: PiFile) -> None:
    s.message("user", content=None)
    s.message("user", content=[{"type": "text"}, {"type": "video", "url": "x"}, 7, {"type": "text", "text": 5}])
    s.message("assistant", content="plain", provider=3, usage={"input": "many"}, stopReason=None)
    s.message("toolResult", toolCallId=None, content=[])
    s.message("bashExecution")
    s.put("compaction", {})
    s.put("context_edit", {})
    s.put("branch_summary", {})
    s.message("system", sections="none", toolsAdded=[3])
    s.user("fine")
    s.assistant("ok")
    ledger = opened(s)
    assert len(ledger.turns) == 2
    assert last(s)[-1] == ("user", "fine")


def test_requests_share_their_messages(s: PiFile) -> None:
    for n in range(50):
        s.turn(str(n))
    ledger = opened(s)
    chains = [r.context.messages for t in ledger.turns for r in t.requests if r.context]
    assert sum(len(c.add) for c in chains) == len(chains[-1])
    assert all(b.base is a for a, b in pairwise(chains))


def test_thousands_of_turns_cost_what_they_hold(tmp_path: Path) -> None:
    def seconds(turns: int) -> float:
        s = PiStore(tmp_path / str(turns)).session()
        with s.held() as lines:
            for n in range(turns):
                s.turn(str(n), calls=[Call("read", {"n": n})])
        s.raw(b"\n".join(lines) + b"\n")
        start = time.process_time()
        ledger = opened(s)
        assert len(ledger.turns) == turns
        assert len(context_of(ledger, s.entries[-1]["id"]).messages) == 4 * turns - 1
        return time.process_time() - start

    small, large = seconds(500), seconds(5_000)
    assert large < 30 * max(small, 0.02)


WORDS = st.text('abc ü\u2028"\\', min_size=1, max_size=8).map(lambda t: "x" + t)


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[object, ...]]:
    """Draw the steps of a session: entries of all kinds, edits, compactions, jumps in the tree."""
    kinds = st.sampled_from(
        [
            "user",
            "answer",
            "think",
            "call",
            "result",
            "fail",
            "custom",
            "shell",
            "compact",
            "edit",
            "out",
            "jump",
            "branch",
            "model",
            "label",
        ]
    )
    return draw(st.lists(st.tuples(kinds, WORDS, st.integers(0, 40)), min_size=1, max_size=40))


def build(s: PiFile, steps: list[tuple[object, ...]]) -> None:
    calls: list[str] = []
    for kind, words, pick in steps:
        real = [e["id"] for e in s.branch(s.leaf)]
        some = real[pick % len(real)] if real else None
        match kind:
            case "user":
                s.user(words, plain=pick % 2 == 0)
            case "answer":
                s.assistant(words)
            case "think":
                s.assistant(words if pick % 3 else "", thinking="deep " + words)
            case "call":
                made = [Call("read", {"q": words}, f"c{len(s.entries)}_{n}") for n in range(1 + pick % 2)]
                calls += [c.id for c in made]
                s.assistant(words if pick % 3 else "", calls=made)
            case "result":
                s.result(calls[-1 - pick % len(calls)] if calls else "none", words)
            case "fail":
                s.assistant(words, stop="error" if pick % 2 else "aborted")
            case "custom":
                s.custom_message(words)
            case "shell":
                s.bash(words, words, excluded=pick % 4 == 0)
            case "compact":
                s.compaction(words, kept=some if pick % 4 else None)
            case "edit":
                if some:
                    s.context_edit(some, words)
            case "out":
                if some:
                    s.context_edit(some, None)
            case "jump":
                if pick % 3 == 0:
                    s.go(some)
            case "branch":
                s.branch_summary(words)
            case "model":
                s.provider, s.model_id = ("acme", "large") if pick % 2 else ("other", "tiny")
            case _:
                if some:
                    s.label(some, words)


@given(steps=sessions())
@settings(max_examples=60, deadline=None)
def test_lists_equal_a_naive_rebuild(steps: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        s = PiFile(Path(folder))
        build(s, steps)
        source = source_of(s)
        (info,) = source.sessions().sessions
        ledger = source.open(info.id)
        rows = rows_of(ledger)
        for entry in s.entries:
            if naive.role(entry) != "assistant":
                continue
            m = entry["message"]
            want = naive.messages(naive.path_to(s.entries, entry["parentId"]), (m["provider"], m["api"], m["model"]))
            context = rows[entry["id"]].context
            assert context is not None
            assert said(source, context.messages) == want, entry["id"]


@given(steps=sessions(), cut=st.integers(1, 39))
@example(steps=[("user", "x", 0), ("branch", "x", 0)], cut=1)
@settings(max_examples=250, deadline=None)
def test_following_equals_reading_anew(steps: list[tuple[object, ...]], cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        s = PiFile(Path(folder))
        build(s, steps[:cut])
        source = source_of(s)
        (info,) = source.sessions().sessions
        prior = source.open(info.id)
        build(s, steps[cut:])
        followed = source.open(info.id, prior)
        anew = source_of(s).open(info.id)
        assert followed.turns == anew.turns or [_shape(t) for t in followed.turns] == [_shape(t) for t in anew.turns]
        assert followed.marks == anew.marks
        assert [h.id for h in followed.hidden] == [h.id for h in anew.hidden]
        assert followed.other == anew.other
        assert followed.now is not None
        assert anew.now is not None
        assert followed.now.messages.messages() == anew.now.messages.messages()
        for id, row in rows_of(anew).items():
            other = rows_of(followed)[id]
            if row.context is not None:
                assert other.context is not None
                assert other.context.messages.messages() == row.context.messages.messages()


def _shape(turn: object) -> object:
    return [(r.id, r.step, r.usage, r.finish) for r in turn.requests], turn.ids, turn.n, turn.input  # type: ignore[attr-defined]
