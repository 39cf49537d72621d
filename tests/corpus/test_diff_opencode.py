"""Comparisons of turns of real OpenCode sessions, against what differs between the bodies that the model received.

Bodies are joined to rows as in :mod:`tests.corpus.test_opencode`; what differs between two is said by :mod:`tests.oracle`, which
knows nothing of the product. Generation 1 of the store keeps no prompt and no tools, so most of what differs cannot be said: it
must not be denied either. One of the stores was written beside a plugin that rewrites nearly every list behind it.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.report import CauseKind, State
from ctx_inspect.core.model import Category, Chain, Ledger, Purpose, Role
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.corpus import diffs
from tests.corpus.test_opencode import CORPUS, FOLDERS, PLUGIN, awaited, hidden_rows, requests_of, rows_of
from tests.oracle import Sent, read

PLAIN = [folder / "opencode.db" for folder in FOLDERS]
ASKED = {"provider", "model"}
"""Settings that stand in a body; the agent's name does not."""

pytestmark = pytest.mark.skipif(not PLAIN or not PLUGIN, reason=f"no OpenCode corpus in {CORPUS.name}")


@dataclass
class Logged:
    """A session whose bodies were logged; ``sent`` is the oracle's reading of each row's first body, by the row's id."""

    ledger: Ledger
    sent: dict[str, Sent]
    plugin: bool


def bodies(path: Path, plugin: bool) -> list[dict[str, Any]]:
    """Return the logged requests of a store, in time; ``t`` is in seconds."""
    if not plugin:
        return requests_of(path.parent)
    with gzip.open(path.parents[2] / "requests.json.gz", "rt", encoding="utf-8") as f:
        return [{**row, "t": row["receivedAt"] / 1000} for row in json.load(f)]


def logged(path: Path, plugin: bool) -> list[Logged]:
    source = OpenCodeSource(path)
    rows = bodies(path, plugin)
    made: list[Logged] = []
    for info in source.sessions().sessions:
        ledger = source.open(info.id)
        called = [r for r in (*rows_of(ledger), *hidden_rows(ledger)) if r.purpose is Purpose.PRIMARY]
        sent: dict[str, Sent] = {}
        for row in rows:
            if row["headers"].get("x-session-id") != info.id or not row["body"].get("tools"):
                continue
            for request in called:
                if awaited(request, row["t"]):
                    sent.setdefault(request.id, read(row["body"], row["path"], "opencode"))
        made.append(Logged(ledger, sent, plugin))
    return made


@pytest.fixture(scope="module")
def plain() -> list[Logged]:
    return [one for path in PLAIN for one in logged(path, plugin=False)]


@pytest.fixture(scope="module")
def beside() -> list[Logged]:
    return [one for path in PLUGIN for one in logged(path, plugin=True)]


ALL = (diffs.consecutive, diffs.steps, diffs.any_two)


def pairs(some: list[Logged], *how: Any) -> Iterator[tuple[Logged, diffs.Pair]]:
    for one in some:
        order = Order(one.ledger)
        for reports in how:
            for r in reports(one.ledger, order):
                if (p := diffs.pair(r, one.sent)) is not None:
                    yield one, p


def test_what_the_store_does_not_keep_is_unavailable_whatever_the_bodies_say(
    plain: list[Logged], beside: list[Logged], capsys: pytest.CaptureFixture[str]
) -> None:
    differ: Counter[str] = Counter()
    for _, pair in pairs([*plain, *beside], *ALL):
        differ["pairs"] += 1
        for category in diffs.RECORDED:
            group = pair.report.category(category)
            assert group.state is State.UNAVAILABLE, pair.where
            assert group.changes == group.before == group.after == group.lost == ()
            assert (group.coverage.note or "").startswith("OpenCode 1.x stores no "), group.coverage
            differ[f"of them with other {category}"] += bool(getattr(pair.bodies, category.value))
    assert all(differ[f"of them with other {category}"] for category in diffs.RECORDED)
    with capsys.disabled():
        print(f"\nOpenCode 1.x, unavailable: {dict(differ)}")


def test_model_and_provider_agree_with_the_bodies(plain: list[Logged], beside: list[Logged], capsys: pytest.CaptureFixture[str]) -> None:
    score = diffs.Score()
    other = 0
    for _, pair in pairs([*plain, *beside], *ALL):
        group = pair.report.category(Category.SETTINGS)
        said = diffs.said_of(pair.report, Category.SETTINGS)
        score.add("settings", pair.where, {c for c in said if c[1] != "agent"}, frozenset(c for c in pair.bodies.settings if c[1] in ASKED))
        assert {c[1] for c in said} <= {*ASKED, "agent"}
        assert {c.evidence for c in group.changes} <= {"confirmed"}
        assert "generation settings" in (group.coverage.note or "")
        other += bool(pair.bodies.other)
    with capsys.disabled():
        print(f"\nOpenCode 1.x: {score.figures()}; other settings, not stored, differ in {other} pairs")
    assert score.made_up == []
    assert score.missed == []
    assert score.right["settings"] > 0
    assert other > 0


# -- conversations --------------------------------------------------------------------------------------------------------


def test_nothing_is_confirmed_of_a_list_that_was_rewritten_behind_the_store(
    plain: list[Logged], beside: list[Logged], capsys: pytest.CaptureFixture[str]
) -> None:
    figures: Counter[str] = Counter()
    for one, pair in pairs([*plain, *beside], *ALL):
        talk = pair.report.conversation
        where = "beside a plugin" if one.plugin else "OpenCode alone"
        figures[f"{where}: bodies {pair.bodies.talk.kind}, said {talk.kind}"] += 1
        if pair.bodies.talk.kind == "rewritten" and talk.kind is not State.REWRITTEN:
            figures[f"{where}: rewritten behind the store"] += 1
            group = pair.report.category(Category.CONVERSATION)
            assert talk.coverage.grade == group.coverage.grade == "estimated", pair.where
            assert talk.coverage.how
            assert talk.causes == ()
        if pair.bodies.talk.kind == "growth" and talk.kind is State.REWRITTEN:
            # the plugin sent on what a compaction that the store records had folded: the event is a fact, the list an estimate
            assert one.plugin
            assert [c.kind for c in talk.causes] == [CauseKind.COMPACTION], pair.where
            assert talk.coverage.grade == "estimated"
    with capsys.disabled():
        print(f"\nOpenCode 1.x, conversation: {dict(figures)}")
    assert figures["beside a plugin: rewritten behind the store"] > 0
    # what OpenCode alone does behind its store is rebuilt by its rules
    assert figures["OpenCode alone: rewritten behind the store"] == 0


def joined_place(messages: Chain, place: int) -> int:
    """Return where a message stands once neighbours of one role are one message, as one of the dialects writes them."""
    count, last = -1, None
    for message in messages.messages()[: place + 1]:
        if not any(p.size for p in message.parts):
            continue
        if message.role is Role.TOOL or message.role is not last:
            count += 1
        last = message.role
    return count


def chains(pair: diffs.Pair) -> tuple[Chain, Chain]:
    """Return the two message lists, the older one first."""
    contexts = [side.request.context for side in (pair.report.before, pair.report.after) if side is not None and side.request is not None]
    before, after = (c.messages for c in contexts if c is not None)
    return before, after


def equal_words(pair: diffs.Pair) -> bool:
    """Tell whether the lists differ from an earlier message on than the bodies: rows made anew that happen to say the same.

    A compaction writes its pair of rows anew; a mock's summaries of two of them are the same words.
    """
    talk, bodies = pair.report.conversation, pair.bodies.talk
    if (talk.kind.value, bodies.kind) != ("rewritten", "rewritten") or talk.from_message is None or bodies.place is None:
        return False
    before, after = (chain.messages()[talk.from_message : bodies.place] for chain in chains(pair))
    anew = len(before) == len(after) == bodies.place - talk.from_message > 0 and all(
        a.id != b.id for a, b in zip(before, after, strict=True)
    )
    return anew and CauseKind.COMPACTION in {c.kind for c in talk.causes}


def test_conversations_agree_with_the_bodies(plain: list[Logged], capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    for how in ALL:
        figures: Counter[str] = Counter()
        wrong: list[str] = []
        for _, pair in pairs(plain, how):
            talk, bodies = pair.report.conversation, pair.bodies.talk
            place = talk.from_message
            if bodies.dialects and place is not None:
                place = joined_place(chains(pair)[0], place)
            if (talk.kind.value, place) == (bodies.kind, bodies.place):
                figures[f"{bodies.kind}, the same said"] += 1
            elif equal_words(pair):
                figures["rewritten, from later on in the bodies: rows made anew say the same words"] += 1
            else:
                wrong.append(f"{pair.where}: {talk.kind} {talk.from_message} ({place}) / {bodies}")
        lines.append(f"OpenCode 1.x, conversation, {how.__name__}: {dict(figures)}")
        assert wrong == [], "\n".join(wrong)
        assert figures
    with capsys.disabled():
        print("", *lines, sep="\n")


def test_causes_are_recorded_or_named_as_recognised(plain: list[Logged]) -> None:
    """The driver compacted twice, reverted once, and had a reminder move with each prompt once a plan was made."""
    causes: Counter[tuple[CauseKind, str]] = Counter()
    for one in plain:
        for _, pair in pairs([one], diffs.consecutive):
            causes.update((c.kind, c.evidence) for c in pair.report.conversation.causes)
    kinds = {kind for kind, _ in causes}
    assert {CauseKind.COMPACTION, CauseKind.REVERT, CauseKind.MODEL_SWITCH, CauseKind.REMINDER_MOVED} <= kinds
    recorded = {CauseKind.COMPACTION, CauseKind.REVERT, CauseKind.FORK, CauseKind.BRANCH, CauseKind.TRIM, CauseKind.EDIT, CauseKind.PRUNE}
    for kind, evidence in causes:
        assert evidence == ("confirmed" if kind in recorded else "unavailable" if kind is CauseKind.NOT_RECORDED else "estimated")


def test_baselines_are_the_requests_sent_last_before(plain: list[Logged], beside: list[Logged]) -> None:
    """By the bodies' own times: the first body of a turn, and the one of the turn whose first body was sent last before it."""
    checked = 0
    gone = 0
    for one in (*plain, *beside):
        turns = [*((t.requests, None) for t in one.ledger.turns), *((h.requests, h.state) for h in one.ledger.hidden)]
        firsts = [(next((r for r in rows if r.call and r.purpose is Purpose.PRIMARY), None), state) for rows, state in turns]
        in_time = sorted((r.at or 0, r.id, state) for r, state in firsts if r is not None)
        for r in diffs.consecutive(one.ledger, Order(one.ledger)):
            if r.after.request is None or r.before is None or r.before.request is None:
                continue
            place = [id for _, id, _ in in_time].index(r.after.request.id)
            assert r.before.request.id == in_time[place - 1][1], r.after.turn
            assert r.before.state == in_time[place - 1][2]
            checked += 1
            gone += r.before.state is not None
    assert checked > 0
    assert gone == 1


@pytest.mark.parametrize("path", [*PLAIN, *PLUGIN], ids=lambda p: "-".join(p.relative_to(CORPUS).parts[:2]))
def test_every_session_is_compared_through_and_through(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = OpenCodeSource(path)
    figures: Counter[str] = Counter()
    for info in source.sessions().sessions:
        figures["sessions"] += 1
        figures += diffs.run_all(source.open(info.id))
    with capsys.disabled():
        print(f"\n{path.name}: {dict(figures)}")
