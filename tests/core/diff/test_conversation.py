"""What a message list did, and why: only what is recorded, or recognised and said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.core.diff.conversation import compare, conversation_report
from ctx_inspect.core.diff.report import CauseKind, State
from ctx_inspect.core.model import (
    Category,
    Chain,
    Context,
    Coverage,
    Estimated,
    Mark,
    MarkKind,
    Message,
    Model,
    Part,
    PartKind,
    Raw,
    Role,
    Synthetic,
    replace,
    value_of,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.builders.opencode_parts import Usage, reasoning, tool
from tests.builders.pi import Call, PiFile, PiStore
from tests.core.diff.told import Store, causes, conversation, pair, read
from tests.core.ledgers import BIG, compaction, context

SMALL = Model(Raw("mock"), Raw("small"))


def fresh(*messages: Message | str) -> Context:
    made = tuple(m if isinstance(m, Message) else said(m) for m in messages)
    return replace(context(), messages=Chain(None, 0, made))


def said(id: str, role: Role = Role.USER, *parts: Part, fp: str = "") -> Message:
    return Message(id, role, fp or id + "".join(p.fp for p in parts), parts)


def part(fp: str, kind: PartKind = PartKind.TEXT, synthetic: Synthetic | None = None) -> Part:
    return Part(kind, fp, 9, synthetic=synthetic)


# -- growth, same, rewritten ---------------------------------------------------------------------------------


def test_the_same_list_and_a_longer_one() -> None:
    same = conversation_report(fresh("a", "b"), fresh("a", "b"), ())
    assert (same.kind, same.added, same.before, same.after, same.from_message, same.causes) == (State.SAME, 0, 2, 2, None, ())
    grown = conversation_report(fresh("a", "b"), fresh("a", "b", "c", "d"), (), steps=3)
    assert (grown.kind, grown.added, grown.steps, grown.causes) == (State.GROWTH, 2, 3, ())


def test_anything_else_is_rewritten_from_the_first_message_that_differs() -> None:
    for new, at in ((("a",), 1), (("a", "x"), 1), (("b", "a"), 0), ((), 0), (("a", "x", "b"), 1)):
        report = conversation_report(fresh("a", "b"), fresh(*new), ())
        assert (report.kind, report.from_message, report.from_id) == (State.REWRITTEN, at, "ab"[at]), new
        assert causes(report) == [CauseKind.NOT_RECORDED], new
        assert report.causes[0].evidence == "unavailable"


def test_a_shorter_list_or_another_first_message_is_no_compaction() -> None:
    report = conversation_report(fresh("a", "b", "c"), fresh("s"), ())
    assert causes(report) == [CauseKind.NOT_RECORDED]
    assert report.compaction is None


def test_where_a_list_is_not_known_nothing_is_said_of_it() -> None:
    unknown = replace(fresh("a"), coverage={Category.CONVERSATION: Coverage("unavailable", note="why")})
    for pair_ in ((unknown, fresh("b")), (fresh("b"), unknown)):
        report = conversation_report(*pair_, ())
        assert (report.kind, report.coverage.note) == (State.UNAVAILABLE, "why")


def test_the_weaker_coverage_counts() -> None:
    sure = replace(fresh("a"), coverage={Category.CONVERSATION: Coverage("confirmed")})
    rebuilt = replace(fresh("a"), coverage={Category.CONVERSATION: Coverage("estimated", "a rule")})
    for pair_ in ((sure, rebuilt), (rebuilt, sure)):
        assert conversation_report(*pair_, ()).coverage.how == "a rule"


_IDS = st.lists(st.sampled_from("abcdef"), max_size=8)


@given(_IDS, _IDS, st.booleans())
def test_counts_agree_with_a_plain_reading(old: list[str], new: list[str], chained: bool) -> None:
    """However the lists hang together, and with messages that repeat."""
    a, b = fresh(*old), fresh(*new)
    if chained:
        front = next((n for n, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), min(len(old), len(new)))
        b = replace(b, messages=Chain(a.messages, front, b.messages.messages()[front:]))
    report = conversation_report(a, b, ())
    if new == old:
        assert report.kind is State.SAME
    elif new[: len(old)] == old:
        assert report.kind is State.GROWTH
    else:
        assert report.kind is State.REWRITTEN
        assert report.from_message is not None
        assert old[: report.from_message] == new[: report.from_message]
        assert report.from_message == len(new) or old[report.from_message] != new[report.from_message]
    both = sum(min(old.count(x), new.count(x)) for x in set(old))
    if report.kind is State.REWRITTEN:
        assert (report.removed, report.added, report.changed) == (len(old) - both, len(new) - both, 0)
    else:
        assert report.added == len(new) - len(old)
    assert bool(report.causes) is (report.kind is State.REWRITTEN)


def test_a_message_with_other_content_is_changed_not_replaced() -> None:
    found = compare(fresh("a", "b", "c").messages, fresh("a", said("b", fp="B"), "c", "d").messages)
    assert ([(x.id, y.fp) for x, y in found.changed], len(found.removed), len(found.added), found.shifted) == ([("b", "B")], 0, 1, False)


# -- causes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["failed", "started", "requested", None])
def test_a_compaction_that_did_not_succeed_is_no_cause(status: str | None) -> None:
    marks = (replace(compaction(1, None), status=status),)
    assert causes(conversation_report(fresh("a", "b"), fresh("s"), marks)) == [CauseKind.NOT_RECORDED]
    grown = conversation_report(fresh("a"), fresh("a", "b"), marks)
    assert (grown.kind, grown.causes) == (State.GROWTH, ())


def test_an_event_that_accounts_for_nothing_is_no_cause() -> None:
    back = Mark(MarkKind.REVERT, 5, refs={"message": "later"})
    edit, prune = Mark(MarkKind.EDIT, 5, refs={"message": "z"}), Mark(MarkKind.PRUNE, 5)
    label = Mark(MarkKind.LABEL, 5, refs={"message": "b"})
    report = conversation_report(fresh("a", "b"), fresh("a", "x"), (back, edit, prune, label))
    assert causes(report) == [CauseKind.NOT_RECORDED]


def test_what_no_event_accounts_for_is_said_beside_the_causes() -> None:
    edit = Mark(MarkKind.EDIT, 5, refs={"message": "b"})
    report = conversation_report(fresh("a", "b", "c"), fresh("a", said("b", fp="B"), said("c", fp="C")), (edit,))
    assert causes(report) == [CauseKind.EDIT, CauseKind.NOT_RECORDED]
    assert [c.evidence for c in report.causes] == ["confirmed", "unavailable"]


def test_causes_stand_in_the_order_they_happened() -> None:
    edit, fold = Mark(MarkKind.EDIT, 5, refs={"message": "a"}), compaction(1, 4)
    report = conversation_report(fresh("a", "b"), fresh("s", said("a", fp="A")), (fold, edit))
    assert causes(report) == [CauseKind.COMPACTION, CauseKind.EDIT]


def test_a_model_switch_is_recognised_by_answers_alone() -> None:
    old = fresh("u", said("a", Role.ASSISTANT, part("think", PartKind.REASONING), part("call", PartKind.CALL)))
    inlined = said("a", Role.ASSISTANT, part("think:inlined"), part("call", PartKind.CALL))
    report = conversation_report(old, fresh("u", inlined, "more"), (), models=(BIG, SMALL))
    assert causes(report) == [CauseKind.MODEL_SWITCH]
    assert report.causes[0].evidence == "estimated"
    assert report.causes[0].how
    assert causes(conversation_report(old, fresh("u", inlined), (), models=(BIG, BIG))) == [CauseKind.NOT_RECORDED]
    for other in (
        fresh("u", said("a", Role.ASSISTANT, part("think:inlined"), part("CALL", PartKind.CALL))),  # a call changed
        fresh(said("u", fp="U"), inlined),  # a user message changed too
        fresh("u", said("a", Role.USER, part("think:inlined"), part("call", PartKind.CALL))),  # another role
        fresh("u", said("other", Role.ASSISTANT, part("think:inlined"))),  # another id
        fresh("u"),
    ):
        assert causes(conversation_report(old, other, (), models=(BIG, SMALL))) == [CauseKind.NOT_RECORDED]


def test_a_reminder_that_moved_is_recognised_by_it_alone() -> None:
    note = part("note", PartKind.TEXT, Synthetic.REMINDER)
    old = fresh(said("u", Role.USER, part("x"), note))
    report = conversation_report(old, fresh(said("u", Role.USER, part("x")), said("v", Role.USER, part("y"), note)), ())
    assert causes(report) == [CauseKind.REMINDER_MOVED]
    assert report.causes[0].evidence == "estimated"
    other = conversation_report(old, fresh(said("u", Role.USER, part("X")), said("v", Role.USER, part("y"), note)), ())
    assert causes(other) == [CauseKind.NOT_RECORDED]


# -- OpenCode ------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def pi(tmp_path: Path) -> PiFile:
    return PiStore(tmp_path).session()


def test_opencode_turns_only_add(store: Store) -> None:
    store.s.user("one")
    store.s.step("looking", tool("read", {}, "text"))
    store.s.step("done")
    store.s.turn("two")
    report = conversation(store.ledger(), 2)
    # the first step, its tool's result, the second step, the new prompt
    assert (report.kind, report.added, report.steps, report.coverage.grade) == (State.GROWTH, 4, 2, "estimated")
    assert report.coverage.how


@pytest.mark.parametrize("reason", ["manual", "auto", "overflow"])
def test_opencode_a_compaction_is_named_with_what_it_kept(store: Store, reason: str) -> None:
    store.s.turn("one", "first answer")
    store.s.user("two")
    store.s.step("second answer", usage=Usage(9000, 10))
    tail = store.s.messages()[2]  # the second prompt is kept
    store.s.compact(reason=reason, tail=tail)
    if reason != "manual":  # the harness goes on by itself
        store.s.step("goes on", usage=Usage(2000, 10))
    store.s.user("three")
    store.s.step("ok", usage=Usage(2500, 10))
    report = conversation(store.ledger(), 3)
    assert report.kind is State.REWRITTEN
    assert causes(report) == [CauseKind.COMPACTION]
    cause = report.causes[0]
    assert (cause.evidence, cause.mark and cause.mark.reason) == ("confirmed", reason)
    assert report.compaction is not None
    assert (report.compaction.nth, report.compaction.loop) == (1, False)
    assert value_of(report.compaction.before) == 9000
    assert value_of(report.compaction.after) == (2500 if reason == "manual" else 2000)
    # of the older list (prompt, answer, prompt) only the second prompt is still there
    assert (report.compaction.folded, report.compaction.kept) == (
        Estimated(2, report.coverage.how or ""),
        Estimated(1, report.coverage.how or ""),
    )
    assert (report.removed, report.from_message) == (2, 0)


@pytest.mark.parametrize("status", ["failed", "started", "requested"])
def test_opencode_a_compaction_that_failed_is_followed_by_growth(store: Store, status: str) -> None:
    store.s.turn("one")
    store.s.compact(status=status)
    store.s.turn("two")
    report = conversation(store.ledger(), 2)
    assert (report.kind, report.causes, report.compaction) == (State.GROWTH, (), None)


def test_opencode_a_revert_is_named_against_what_it_took_back(store: Store) -> None:
    store.s.turn("one", "answer")
    gone = store.s.turn("two", "wrong")
    store.s.revert(gone)
    store.s.cleanup()
    store.s.turn("two again", "right")
    led = store.ledger()
    report = conversation(led, 2)
    assert (report.kind, report.from_message, report.from_id, report.removed, report.added) == (State.REWRITTEN, 2, gone, 1, 1)
    assert causes(report) == [CauseKind.REVERT]
    assert report.causes[0].evidence == "confirmed"
    order, _, after = pair(led, 2)
    first = order.of_turn(1)
    assert first is not None
    assert first.request.context is not None
    assert after.request.context is not None
    between = order.between(first.request.id, after.request.id)
    assert [m.kind for m in between] == [MarkKind.REVERT]
    assert conversation_report(first.request.context, after.request.context, between).kind is State.GROWTH


def test_opencode_a_pruned_output_is_named(store: Store) -> None:
    store.s.user("one")
    step = store.s.step("looking", tool("read", {}, "long " * 50))
    store.s.step("done")
    store.s.turn("two")
    store.s.prune(step)
    store.s.turn("three")
    led = store.ledger()
    assert conversation(led, 2).kind is State.GROWTH
    report = conversation(led, 3)
    assert (report.kind, report.changed, report.removed) == (State.REWRITTEN, 1, 0)
    assert causes(report) == [CauseKind.PRUNE]
    assert report.from_message == 2


def test_opencode_a_model_switch_is_recognised(store: Store) -> None:
    store.s.turn("one", reasoning("let me think"), "answer")
    store.s.turn("two", "answer")
    store.s.user("three", model=("mock", "other"))
    store.s.step("ok")
    led = store.ledger()
    report = conversation(led, 3)
    assert (report.kind, report.from_message) == (State.REWRITTEN, 1)
    assert causes(report) == [CauseKind.MODEL_SWITCH]
    assert report.causes[0].evidence == "estimated"


def test_opencode_the_plan_reminder_moves_with_the_newest_prompt(store: Store) -> None:
    store.s.user("one", agent="plan")
    store.s.step("planned")
    store.s.user("two")
    store.s.step("planned again")
    report = conversation(store.ledger(), 2)
    assert (report.kind, report.from_message, report.changed) == (State.REWRITTEN, 0, 1)
    assert causes(report) == [CauseKind.REMINDER_MOVED]


def test_opencode_a_fork_goes_on_from_what_it_copied(store: Store) -> None:
    store.s.turn("one")
    store.s.turn("two")
    copy = store.s.fork()
    copy.turn("three")
    led = store.ledger(copy)
    assert [t.inherited for t in led.turns] == [True, True, False]
    order, before, after = pair(led, 3)
    assert [m.kind for m in order.between(before.request.id, after.request.id)] == [MarkKind.FORK]
    report = conversation(led, 3)
    assert (report.kind, report.causes) == (State.GROWTH, ())


def test_opencode_several_reverts_keep_each_what_stood_then(store: Store) -> None:
    one = store.s.turn("one", "1")
    two = store.s.turn("two", "2")
    three = store.s.turn("three", "3")
    store.s.revert(three)
    store.s.cleanup()
    four = store.s.turn("four", "4")
    store.s.revert(two)
    store.s.cleanup()
    store.s.turn("five", "5")
    led = store.ledger()

    def rows(message: str) -> list[str]:
        turn = next(h for h in led.hidden if h.id == message)
        assert turn.requests[0].context is not None
        return [m.id for m in turn.requests[0].context.messages if m.role is Role.USER]

    assert rows(three) == [one, two, three]
    assert rows(four) == [one, two, four]
    assert rows(two) == [one, two]
    report = conversation(led, 2)
    assert (causes(report), report.removed) == ([CauseKind.REVERT], 3)


# -- Pi ------------------------------------------------------------------------------------------------------


def test_pi_a_compaction_between_steps_lies_between_the_first_requests(pi: PiFile) -> None:
    pi.turn("one", answer="first")
    pi.user("two")
    call = pi.assistant(calls=[Call("bash", {}, "c1")])
    kept = pi.result("c1")
    pi.compaction("what was done", kept=call)
    pi.assistant("on it")
    pi.turn("three")
    led = read(pi)
    assert [t.n for t in led.turns] == [1, 2, 3]
    assert conversation(led, 2).kind is State.GROWTH
    report = conversation(led, 3)
    assert causes(report) == [CauseKind.COMPACTION]
    assert report.causes[0].evidence == "confirmed"
    assert report.compaction is not None
    assert (value_of(report.compaction.folded), value_of(report.compaction.kept)) == (3, 0)
    assert kept in {m.id for m in led.turns[2].requests[0].context.messages}  # type: ignore[union-attr]


def test_pi_an_overflow_is_one_event_and_the_edit_of_the_failed_answer_none(pi: PiFile) -> None:
    pi.turn("one")
    pi.user("two")
    failed = pi.assistant(error="too long")
    pi.context_edit(failed, None)
    pi.compaction("so far")
    pi.assistant("ok")
    pi.turn("three")
    report = conversation(read(pi), 3)
    assert causes(report) == [CauseKind.COMPACTION]


def test_pi_a_failed_answer_alone_is_followed_by_growth(pi: PiFile) -> None:
    pi.turn("one")
    pi.user("two")
    failed = pi.assistant(error="overloaded")
    pi.context_edit(failed, None)
    pi.assistant("ok")
    pi.turn("three")
    report = conversation(read(pi), 3)
    assert (report.kind, report.causes, report.steps) == (State.GROWTH, (), 2)


@pytest.mark.parametrize("text", ["shorter", None])
def test_pi_an_edit_is_named(pi: PiFile, text: str | None) -> None:
    pi.turn("one", answer="long answer")
    two = pi.turn("two", answer="another")
    pi.context_edit(two[0], text)
    pi.turn("three")
    report = conversation(read(pi), 3)
    assert (report.kind, report.from_id) == (State.REWRITTEN, two[0])
    assert (report.changed, report.removed) == ((1, 0) if text else (0, 1))
    assert causes(report) == [CauseKind.EDIT]
    assert report.causes[0].evidence == "confirmed"


@pytest.mark.parametrize("summary", [False, True])
def test_pi_a_branch_is_named_against_the_branch_that_was_left(pi: PiFile, summary: bool) -> None:
    one = pi.turn("one")
    left = pi.turn("two")
    pi.go(one[-1])
    if summary:
        pi.branch_summary("what was tried", origin=left[-1])
    pi.turn("another two")
    led = read(pi)
    report = conversation(led, 2)
    assert (report.kind, report.from_id, report.removed) == (State.REWRITTEN, left[0], 1)
    assert causes(report) == [CauseKind.BRANCH]


def test_pi_a_model_switch_is_recognised(pi: PiFile) -> None:
    pi.user("one")
    pi.assistant("answer", thinking="hm")
    pi.turn("two")
    pi.model("acme", "small")
    pi.turn("three")
    report = conversation(read(pi), 3)
    assert causes(report) == [CauseKind.MODEL_SWITCH]


def test_pi_a_fork_goes_on_from_what_it_copied(pi: PiFile) -> None:
    pi.turn("one")
    two = pi.turn("two")
    copy = pi.fork("copy", two[0])
    copy.turn("two in another way")
    led = read(copy)
    order, before, after = pair(led, 2)
    assert MarkKind.FORK in [m.kind for m in order.between(before.request.id, after.request.id)]
    assert conversation(led, 2).kind is State.GROWTH
