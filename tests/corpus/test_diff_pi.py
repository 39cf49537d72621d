"""Comparisons of turns of real Pi sessions, against what differs between the bodies that the model received.

Bodies are joined to requests as in :mod:`tests.corpus.test_pi`; what differs between two is said by :mod:`tests.oracle`, which
knows nothing of the product. What an extension did behind the store is recognised by :mod:`tests.corpus.pi_wire` and listed:
the category that it touched is not scored for that request, the others are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.engine import report
from ctx_inspect.core.diff.report import CauseKind, NoBaseline, Report, State
from ctx_inspect.core.model import Category, Ledger
from ctx_inspect.core.sources.pi import PiSource

from tests.corpus import diffs
from tests.corpus import pi_wire as wire
from tests.corpus.test_pi import CORPUS, FOLDERS, Log, Rebuilt, all_requests, joined, read_log
from tests.oracle import Sent, read

MODERN = sorted(CORPUS.glob("pi/requests-main.jsonl.gz"))
OLD = sorted(CORPUS.glob("pi/requests-v0742.jsonl.gz"))
SCORED = (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SETTINGS, Category.SYSTEM)
SETTINGS = {"provider", "model", "thinking"}

pytestmark = pytest.mark.skipif(not MODERN or not OLD or not FOLDERS, reason=f"no Pi corpus in {CORPUS.name}/pi")


@dataclass
class Logged:
    """A session whose bodies were logged.

    Attributes:
        ledger: The session.
        raw: The same as plain JSON.
        sent: The oracle's reading of each body, by the id of the row that answers it.
        behind: What an extension did to it behind the store: category → how.
    """

    ledger: Ledger
    raw: wire.RawSession
    sent: dict[str, Sent]
    behind: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.ledger.info.id


def behind(log: Log, raw: wire.RawSession, id: str, body: dict[str, Any], rebuilt: Rebuilt) -> dict[str, str]:
    """Return what an extension did to a request behind the store, by the category that it touched."""
    case = wire.Case(raw, id, body, body["model"] in log.inline)
    found: dict[str, str] = {}
    if rebuilt.records_prompt() and "forced" in (how := wire.compare_prompt(case, rebuilt.prompt()).how):
        found["system"] = how
    if "pruned" in (how := wire.compare_messages(case, rebuilt.messages()).how):
        found["conversation"] = how
    strange = sorted(k for k in body if k.startswith("driver"))
    if strange:
        found["other settings"] = f"{', '.join(strange)} put into the body"
    return found


def logged(path: Path) -> list[Logged]:
    log = read_log(path)
    made: list[Logged] = []
    for source in (PiSource(folder, one_shot=True) for folder in FOLDERS):
        for info in source.sessions().sessions:
            raw = wire.RawSession(Path(info.path))
            rows = dict(joined(log, raw))
            if not rows:
                continue
            ledger = source.open(info.id)
            one = Logged(ledger, raw, {id: read(row["body"], row["path"], "pi") for id, row in rows.items()})
            for id, request in all_requests(ledger).items():
                if (
                    id in rows
                    and request.context is not None
                    and (how := behind(log, raw, id, rows[id]["body"], Rebuilt(source, request.context)))
                ):
                    one.behind[id] = how
            made.append(one)
    return made


@pytest.fixture(scope="module")
def modern() -> list[Logged]:
    return [one for path in MODERN for one in logged(path)]


@pytest.fixture(scope="module")
def old() -> list[Logged]:
    return [one for path in OLD for one in logged(path)]


def pairs(one: Logged, reports: Iterator[Report]) -> Iterator[diffs.Pair]:
    for r in reports:
        if (p := diffs.pair(r, one.sent)) is not None:
            yield p


def touched(one: Logged, pair: diffs.Pair, category: str) -> bool:
    """Tell whether an extension changed this category of one of the two bodies behind the store."""
    return any(category in one.behind.get(id, {}) for id in (pair.before, pair.after))


def scored(one: Logged, reports: Iterator[Report], score: diffs.Score) -> Counter[str]:
    figures: Counter[str] = Counter()
    for pair in pairs(one, reports):
        figures["pairs"] += 1
        figures["pairs with changes"] += bool(pair.bodies.instructions | pair.bodies.skills | pair.bodies.tools | pair.bodies.settings)
        figures["pairs in which other settings differ"] += bool(pair.bodies.other)
        for category in SCORED:
            said = diffs.said_of(pair.report, category)
            if touched(one, pair, category.value):
                figures[f"pairs not scored for {category}"] += 1
                continue
            true: frozenset[diffs.Named] = getattr(pair.bodies, category.value)
            if category is Category.SETTINGS:
                assert {name for _, name in said} <= SETTINGS
                for one_of in sorted(SETTINGS):
                    score.add(one_of, pair.where, {c for c in said if c[1] == one_of}, frozenset(c for c in true if c[1] == one_of))
            else:
                score.add(category.value, pair.where, said, true)
            moved = any(c.moved for c in pair.report.category(category).changes)
            assert moved == (category.value in pair.bodies.order), f"{pair.where}: {category} moved"
            assert pair.report.category(category).lost == ()
            # what the store records by itself is confirmed; that it is all of the category is not
            assert {c.evidence for c in pair.report.category(category).changes} <= {"confirmed"}
            assert pair.report.category(category).coverage.grade == "estimated"
    return figures


def test_changes_agree_with_the_bodies(modern: list[Logged], capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    listed = {f"{one.name} {id}: {what}: {by}" for one in modern for id, how in one.behind.items() for what, by in how.items()}
    for how in (diffs.consecutive, diffs.steps, diffs.any_two):
        score, figures = diffs.Score(), Counter[str]()
        for one in modern:
            figures += scored(one, how(one.ledger, Order(one.ledger)), score)
        lines.append(f"{how.__name__}: {dict(figures)}: {score.figures()}")
        assert score.made_up == []
        assert score.missed == []
        if how is not diffs.steps:
            assert all(score.right[name] > 0 for name in ("instructions", "skills", "tools", "system", *SETTINGS))
    with capsys.disabled():
        print("\nPi 1.6:", *lines, "not scored, rewritten by an extension behind the store:", *sorted(listed), sep="\n  ")


def test_other_settings_are_said_to_be_unavailable(modern: list[Logged]) -> None:
    differ = 0
    for one in modern:
        for pair in pairs(one, diffs.consecutive(one.ledger, Order(one.ledger))):
            group = pair.report.category(Category.SETTINGS)
            assert {str(i.k) for i in (*group.before, *group.after)} <= SETTINGS
            assert {str(c.k) for c in group.changes} <= SETTINGS
            assert not group.coverage.all
            assert "generation settings are not recorded" in (group.coverage.note or "")
            differ += bool(pair.bodies.other)
    assert differ > 0


def test_what_an_extension_rewrote_is_listed(modern: list[Logged]) -> None:
    """The driver of this corpus pruned one request, forced the prompt of one and changed the body of one."""
    rewritten = {id: set(what) for one in modern for id, what in one.behind.items()}
    assert sorted(map(sorted, rewritten.values())) == [["conversation"], ["other settings"], ["system"]]


# -- which two are compared --------------------------------------------------------------------------------------------


def expected_baselines(raw: wire.RawSession) -> dict[str, str | None]:
    """Return what each turn's first request is compared with, from the entries alone.

    A turn is a run of user messages; its first request the answer that was begun first. The baseline is the one of another turn
    that was begun last before it, whether or not it is on the branch that is active now.
    """

    def run(id: str) -> str | None:
        """Return the first of the user messages that an answer hangs off."""
        found: str | None = None
        for entry in reversed(raw.path(raw.entries[id]["parentId"])):
            role = (entry.get("message") or {}).get("role")
            if role == "user":
                found = entry["id"]
            elif found is not None and role == "assistant":
                break
        return found

    begun: dict[str, tuple[int, str]] = {}
    for id, entry in raw.entries.items():
        message = entry.get("message") or {}
        if message.get("role") == "assistant" and (turn := run(id)) is not None:
            begun[turn] = min(begun.get(turn, (message["timestamp"], id)), (message["timestamp"], id))
    row = sorted(begun.values())
    return {id: row[n - 1][1] if n else None for n, (_, id) in enumerate(row)}


def test_baselines_are_the_requests_sent_last_before(modern: list[Logged], old: list[Logged]) -> None:
    seen: Counter[str] = Counter()
    for one in (*modern, *old):
        expected = expected_baselines(one.raw)
        for r in diffs.consecutive(one.ledger, Order(one.ledger)):
            if r.after.request is None:
                continue
            before = r.before.request.id if r.before is not None and r.before.request is not None else None
            assert before == expected[r.after.request.id], (one.name, r.after.turn)
            assert (r.why is NoBaseline.FIRST_TURN) == (before is None)
            seen["compared"] += before is not None
            seen["with a turn that is gone since"] += bool(r.before and r.before.state)
    assert seen["with a turn that is gone since"] > 0


# -- conversations --------------------------------------------------------------------------------------------------------


def disagreement(one: Logged, pair: diffs.Pair) -> str | None:
    """Return why a report and the bodies say different things of the conversation; ``None`` where they say the same."""
    talk, bodies = pair.report.conversation, pair.bodies.talk
    if (talk.kind.value, talk.from_message) == (bodies.kind, bodies.place):
        return None
    if touched(one, pair, "conversation"):
        return "an extension sent another list than the store's"
    return "unexplained"


def test_conversations_agree_with_the_bodies(modern: list[Logged], old: list[Logged], capsys: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    for name, some in (("1.6", modern), ("0.74", old)):
        for how in (diffs.consecutive, diffs.steps, diffs.any_two):
            figures: Counter[str] = Counter()
            wrong: list[str] = []
            for one in some:
                for pair in pairs(one, how(one.ledger, Order(one.ledger))):
                    why = disagreement(one, pair)
                    figures[f"{pair.bodies.talk.kind}, the same said" if why is None else why] += 1
                    if why == "unexplained":
                        wrong.append(
                            f"{pair.where}: {pair.report.conversation.kind} {pair.report.conversation.from_message} / {pair.bodies.talk}"
                        )
            lines.append(f"Pi {name}, conversation, {how.__name__}: {dict(figures)}")
            assert wrong == [], "\n".join(wrong)
            assert figures
    with capsys.disabled():
        print("", *lines, sep="\n")


def test_a_rewritten_conversation_has_its_recorded_cause(modern: list[Logged], old: list[Logged]) -> None:
    """Where the bodies were rewritten the store has an event for it, but for a switch of the model; growth has none."""
    causes: Counter[CauseKind] = Counter()
    for one in (*modern, *old):
        for pair in pairs(one, diffs.consecutive(one.ledger, Order(one.ledger))):
            if pair.bodies.talk.kind != "rewritten" or touched(one, pair, "conversation"):
                continue
            kinds = [c.kind for c in pair.report.conversation.causes]
            causes.update(kinds)
            assert CauseKind.NOT_RECORDED not in kinds, pair.where
            if pair.bodies.talk.dialects and pair.bodies.talk.thinking:
                assert kinds == [CauseKind.MODEL_SWITCH], pair.where
            else:
                assert {c.evidence for c in pair.report.conversation.causes} == {"confirmed"}, pair.where
    assert {CauseKind.COMPACTION, CauseKind.BRANCH, CauseKind.EDIT, CauseKind.MODEL_SWITCH} <= set(causes)


# -- Pi 0.74, and all that is there --------------------------------------------------------------------------------------


def test_what_an_older_pi_does_not_record_is_unavailable(old: list[Logged]) -> None:
    told = 0
    for one in old:
        for pair in pairs(one, diffs.consecutive(one.ledger, Order(one.ledger))):
            told += 1
            for category in diffs.RECORDED:
                group = pair.report.category(category)
                assert group.state is State.UNAVAILABLE, pair.where
                assert group.changes == group.lost == ()
                assert "before 0.86 does not record" in (group.coverage.note or "")
            said = diffs.said_of(pair.report, Category.SETTINGS)
            assert said == {c for c in pair.bodies.settings if c[1] != "thinking"}
    assert told > 0


def test_every_session_is_compared_through_and_through(capsys: pytest.CaptureFixture[str]) -> None:
    figures: Counter[str] = Counter()
    for folder in FOLDERS:
        source = PiSource(folder, one_shot=True)
        for info in source.sessions().sessions:
            figures["sessions"] += 1
            figures += diffs.run_all(source.open(info.id))
    with capsys.disabled():
        print(f"\nPi: {dict(figures)}")


def test_a_turn_that_is_not_there_is_no_comparison(modern: list[Logged]) -> None:
    ledger = modern[0].ledger
    last = ledger.turns[-1].n
    for turn, more in ((0, {}), (last + 1, {}), (1, {"step": 99}), (last, {"against": last + 1}), (1, {"step": 1})):
        with pytest.raises(LookupError):
            report(ledger, turn, **more)
