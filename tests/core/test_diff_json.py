"""``diff --json`` of what stores of today rarely hold: moves, flags, lost attributions, prefixes, reasons for no baseline."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ctx_inspect.core.cache.model import Cache, CacheVerdict, Prefix
from ctx_inspect.core.diff.drift import Moves, TurnDrift
from ctx_inspect.core.diff.report import CauseKind, ChangeKind, Flag, NoBaseline, Report, State, Tokens
from ctx_inspect.core.model import Category, Estimated, MarkKind, Problem, ProblemCode, Raw, Unavailable, Why, replace
from ctx_inspect.core.schema import diff_of, document
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.drift import drift_of, turn_cache_of
from msgspec import to_builtins

from tests.core.reports import (
    COMPACTED,
    KEPT,
    LOST,
    MISSING,
    NO_FIGURE,
    REBUILT,
    caused,
    change,
    est,
    item,
    mark,
    modified,
    opencode,
    part,
    report,
    setting,
    talk,
    without_baseline,
)

INSTRUCTIONS, SKILLS, TOOLS, SETTINGS, SYSTEM, CONVERSATION = Category


def answer(of: Report, problems: tuple[Problem, ...] = ()) -> dict[str, Any]:
    text = document(diff_of(of, problems, cleaner(False)))
    assert "null" not in text
    return json.loads(text)


def category(of: Report, name: str) -> dict[str, Any]:
    return next(c for c in answer(of)["categories"] if c["category"] == name)


def test_a_move_is_one_change_that_names_all() -> None:
    order = change(TOOLS, ChangeKind.MOVED, "b", moved=(Raw("b"), Raw("a")))
    (row,) = category(report(part(TOOLS, order)), "tools")["changes"]
    assert row == {"change": "moved", "count": 2, "items": ["b", "a"], "ev": "confirmed", "evidence": "confirmed"}


def test_what_a_change_says() -> None:
    read = modified(
        TOOLS, "read", 60, 80, parts=("description",), flags=(Flag.FLAPPING,), follows="mcp:mini", evidence="estimated", how="name"
    )
    (row,) = category(report(part(TOOLS, read, coverage=REBUILT)), "tools")["changes"]
    assert row == {
        "change": "modified",
        "k": "read",
        "src": {"kind": "file", "path": "read"},
        "ev": "estimated",
        "parts": ["description"],
        "evidence": "estimated",
        "how": "name",
        "tokens": {"before": 60, "after": 80, "delta": 20, "evidence": "estimated", "counter": "o200k_base"},
        "flags": ["flapping"],
        "follows": "mcp:mini",
    }
    renamed = change(SKILLS, ChangeKind.RENAMED, "new", 5, 5, from_k=Raw("old"))
    (row,) = category(report(part(SKILLS, renamed)), "skills")["changes"]
    assert (row["k"], row["from_k"]) == ("new", "old")
    (row,) = category(report(part(SETTINGS, setting("thinking", None, "high"))), "settings")["changes"]
    assert (row["change"], row["after"], "before" in row, "tokens" in row) == ("added", "high", False, False)


def test_a_value_of_anything_but_a_setting_is_no_value() -> None:
    one = replace(modified(TOOLS, "read", 1, 2), before=item(TOOLS, "read", shown="text"), after=item(TOOLS, "read", shown="text"))
    assert "text" not in json.dumps(answer(report(part(TOOLS, one))))


def test_lost_attributions() -> None:
    gone = item(SETTINGS, "thinking", shown="high")
    of = report(part(SETTINGS, before=(gone,), lost=(gone,)))
    assert category(of, "settings")["lost"] == [{"k": "thinking", "side": "before", "why": "attribution lost"}]
    assert "lost" not in category(of, "tools")


def test_a_figure_that_is_missing_says_why() -> None:
    gone = Tokens(est(60), NO_FIGURE, NO_FIGURE)
    of = report(part(TOOLS, modified(TOOLS, "read", 1, 2, tokens=gone), tokens=gone))
    assert category(of, "tools")["tokens"] == {"before": 60, "evidence": "unavailable", "why": "media: no counter tells its tokens"}
    otherwise = Tokens(est(60), est(80), Unavailable(Why.UNKNOWN, "counter_changed"))
    row = category(report(part(TOOLS, modified(TOOLS, "read", 1, 2), tokens=otherwise)), "tools")["tokens"]
    assert row == {"before": 60, "after": 80, "evidence": "estimated", "counter": "o200k_base", "why": "counter_changed"}


@pytest.mark.parametrize("why", NoBaseline)
def test_reasons_for_no_baseline(why: NoBaseline) -> None:
    found = answer(without_baseline(why))
    assert found["baseline"] == {"comparable": False, "why": why.value}
    assert "before" not in found
    assert found["conversation"] == {"kind": "no_baseline", "evidence": "unavailable", "how": REBUILT.how, "causes": []}
    assert all(c["evidence"] == "unavailable" for c in found["categories"])
    one = report(part(TOOLS, state=State.NO_BASELINE, baseline_why=why))
    assert answer(one)["baseline"] == {"comparable": True}
    assert category(one, "tools")["baseline_why"] == why.value
    assert "baseline_why" not in category(one, "skills")


def test_coverage() -> None:
    of = opencode()
    assert [(c["cov"], c["evidence"], c.get("why")) for c in answer(of)["categories"]] == [
        ("none", "unavailable", MISSING.note),
        ("none", "unavailable", MISSING.note),
        ("none", "unavailable", MISSING.note),
        ("all", "confirmed", None),
        ("none", "unavailable", MISSING.note),
        ("all", "estimated", None),
    ]


def test_a_rewritten_conversation() -> None:
    found = answer(report(conversation=COMPACTED))["conversation"]
    assert found == {
        "kind": "rewritten",
        "evidence": "confirmed",
        "added": 3,
        "removed": 178,
        "changed": 0,
        "from_message": 0,
        "messages_before": 184,
        "messages_after": 9,
        "steps": 1,
        "cause": "compaction",
        "causes": [
            {"cause": "compaction", "reason": "auto", "status": "succeeded", "at": "2026-09-21T14:13:20.000Z", "evidence": "confirmed"}
        ],
        "compaction": {"before": 104_200, "after": 41_300, "folded": 178, "kept": 6, "nth": 1, "loop": False},
    }
    causes = (
        caused(CauseKind.REVERT, mark(MarkKind.REVERT, refs={"message": "m7"})),
        caused(CauseKind.MODEL_SWITCH, evidence="estimated", how="only reasoning changed"),
    )
    found = answer(report(conversation=talk(State.REWRITTEN, causes=causes)))["conversation"]
    assert found["cause"] == "model_switch"
    assert found["causes"][0]["event"] == "m7"
    assert found["causes"][1] == {"cause": "model_switch", "evidence": "estimated", "how": "only reasoning changed"}


def test_the_cache() -> None:
    prefix = Estimated(Prefix(Estimated(9_000, "bytes/3.5"), "tools, system, messages"), "bytes/3.5")
    verdict = replace(LOST, prefix=prefix, idle_ms=90_000, ttl_ms=300_000, ttl_how="assumed")
    assert answer(report(cache=verdict))["cache"] == {
        "verdict": "lost",
        "evidence": "confirmed",
        "against": {"turn": 11, "step": 1, "request": "a11"},
        "cause": {"code": "tool_changed", "item": "filesystem_search", "evidence": "confirmed", "explained": True},
        "stable_prefix": {"tokens": 9_000, "evidence": "estimated", "how": "bytes/3.5", "order": "tools, system, messages"},
        "r": 0.0,
        "read": 0,
        "written": 1_300,
        "reusable": 41_200,
        "rewritten": 41_300,
        "idle_ms": 90_000,
        "ttl": {"ms": 300_000, "evidence": "estimated", "how": "assumed"},
    }
    said = answer(report(cache=replace(verdict, ttl_how=None)))["cache"]["ttl"]
    assert said == {"ms": 300_000, "evidence": "confirmed"}
    none = answer(report(cache=CacheVerdict(Cache.NOT_REPORTED, "unavailable", "no figures")))["cache"]
    assert none == {"verdict": "not_reported", "evidence": "unavailable", "why": "no figures"}
    guess = answer(report(cache=replace(KEPT, evidence="estimated", how="usage alone")))["cache"]
    assert (guess["how"], "why" in guess) == ("usage alone", False)


def test_window_and_estimate() -> None:
    found = answer(report())
    assert found["window"] == {"before": 39_400, "after": 41_300, "limit": 200_000, "evidence": "confirmed"}
    assert found["estimate"] == {"sum": 40_400, "provider": 41_300, "error": -0.022, "counter": "o200k_base"}
    gone = Unavailable(Why.UNKNOWN, "limit unknown")
    assert answer(report(limit=gone))["window"]["limit_why"] == "limit unknown"
    assert answer(report(window_after=gone))["window"] == {
        "before": 39_400,
        "limit": 200_000,
        "evidence": "unavailable",
        "why": "limit unknown",
    }
    none = answer(report(estimate=replace(report().estimate, sum=gone, error=gone)))["estimate"]
    assert none == {"provider": 41_300, "counter": "o200k_base", "why": "limit unknown"}


def test_problems_and_what_is_not_recorded() -> None:
    problem = Problem(Raw("/x.db"), ProblemCode.CORRUPT, "page 7")
    found = answer(report(), (problem, problem))
    assert found["problems"] == [{"source": "/x.db", "code": "corrupt", "message": "page 7"}]
    assert found["not_recorded"] == [{"what": "headers", "why": "they are not part of a request body"}]


def test_drift_of_a_turn() -> None:
    states = (State.CHANGED, State.SAME, State.CHANGED, State.SAME, State.UNAVAILABLE, State.REWRITTEN)
    kinds = (frozenset([ChangeKind.ADDED]), frozenset[ChangeKind](), frozenset([ChangeKind.MOVED]), *(frozenset[ChangeKind](),) * 3)
    counts = (Moves(added=1, renamed=2), Moves(), Moves(moved=5), Moves(), Moves(), Moves(removed=9))
    evidence = ("confirmed", "estimated", "estimated", "confirmed", "unavailable", "estimated")
    drift = TurnDrift(3, states, kinds, (True, False, False, False, False, False), evidence, counts, None, CauseKind.COMPACTION)
    assert to_builtins(drift_of(drift)) == {
        "instructions": {"state": "changed", "evidence": "confirmed", "added": 1, "renamed": 2, "volatile": True},
        "skills": {"state": "same", "evidence": "estimated"},
        "tools": {"state": "changed", "evidence": "estimated", "moved": 5},
        "settings": {"state": "same", "evidence": "confirmed"},
        "system": {"state": "unavailable", "evidence": "unavailable"},
        "conversation": {"state": "rewritten", "evidence": "estimated", "removed": 9, "cause": "compaction"},
    }
    first = TurnDrift(
        1, (State.NO_BASELINE,) * 6, (frozenset(),) * 6, (False,) * 6, ("unavailable",) * 6, (Moves(),) * 6, NoBaseline.FIRST_TURN
    )
    assert to_builtins(drift_of(first)["tools"]) == {"state": "no_baseline", "evidence": "unavailable", "baseline_why": "first_turn"}


def test_cache_of_a_turn() -> None:
    assert to_builtins(turn_cache_of(LOST, 2)) == {
        "verdict": "lost",
        "evidence": "confirmed",
        "step": 2,
        "r": 0.0,
        "read": 0,
        "reusable": 41_200,
        "cause": "tool_changed",
    }
    assert to_builtins(turn_cache_of(CacheVerdict(Cache.COLD, "estimated"), None)) == {"verdict": "cold", "evidence": "estimated"}
