"""What is said of each request's cache from a store alone, against the bodies that were sent: a real session of 106 requests.

The bodies say which requests could not go on from what was cached, and where they differ; the store holds the provider's figures,
the models and the message list before a plugin rewrote it. A loss must be one in both; a cause must never say more than is known.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from ctx_inspect.core.cache.figures import KEPT_FROM
from ctx_inspect.core.cache.model import Cache, CacheCode, CacheVerdict
from ctx_inspect.core.cache.verdict import verdicts
from ctx_inspect.core.diff.baseline import Order, Placed
from ctx_inspect.core.model import Unavailable
from ctx_inspect.core.sources.opencode import OpenCodeSource

from tests.conftest import corpus_folder
from tests.oracle.cache import Reach, Stood, in_turn, reaches

FOLDER = corpus_folder() / "magic-context" / "drive-90k"
DATABASE = FOLDER / "data" / "opencode" / "opencode.db"
pytestmark = pytest.mark.skipif(not DATABASE.exists(), reason=f"no store of a long drive in {FOLDER.parent.name}")

LOSSES = (Cache.PARTIAL, Cache.LOST)


@dataclass(frozen=True)
class Case:
    """A request: what its body says and what the store says."""

    placed: Placed
    body: dict[str, Any]
    stood: Stood | None
    reach: Reach
    verdict: CacheVerdict

    @property
    def where(self) -> str:
        return f"turn {self.placed.turn} step {self.placed.request.step}"

    @property
    def expected(self) -> Cache:
        """The verdict by the bodies: how far an earlier request's marks reach, of what the request before left."""
        if self.stood is None:
            return Cache.COLD
        if not self.reach.size:
            return Cache.LOST
        return Cache.KEPT if self.reach.size >= KEPT_FROM * self.stood.before else Cache.PARTIAL


@cache
def cases() -> list[Case]:
    source = OpenCodeSource(DATABASE)
    info = next(i for i in source.sessions().sessions if i.parent is None)
    ledger = source.open(info.id)
    with gzip.open(FOLDER / "requests.json.gz", "rt", encoding="utf-8") as file:
        logged = [r for r in json.load(file) if r["headers"].get("x-session-id") == info.id and r["body"].get("tools")]
    order = Order(ledger).requests
    assert len(order) == len(logged)
    for placed, sent in zip(order, logged, strict=True):
        assert placed.request.at <= sent["receivedAt"] <= placed.request.done
    told, bodies = verdicts(ledger), [r["body"] for r in logged]
    rows = zip(order, bodies, in_turn(bodies), reaches(bodies), strict=True)
    return [Case(*row, told.of(row[0].request.id)) for row in rows]


def test_a_loss_in_the_figures_is_one_in_the_bodies() -> None:
    assert [(c.where, c.verdict.verdict) for c in cases()] == [(c.where, c.expected) for c in cases()]
    # a request after which all that was cached stands again loses nothing, whichever way the verdict is worked out
    assert [c.where for c in cases() if c.stood and c.stood.part is None and c.verdict.verdict is not Cache.KEPT] == []


def test_no_item_is_named_where_the_prefix_is_not_recorded() -> None:
    for case in cases():
        assert isinstance(case.verdict.prefix, Unavailable)
        assert case.verdict.evidence == "estimated", case.where
        cause = case.verdict.cause
        assert (cause is None) == (case.verdict.verdict not in LOSSES), case.where
        assert cause is None or (cause.item is None and not cause.explained), case.where


def test_a_cause_that_is_recorded_is_the_one_in_the_bodies() -> None:
    before: str | None = None
    for case in cases():
        model, cause = case.body["model"], case.verdict.cause
        if cause is not None:
            assert (cause.code is CacheCode.MODEL) == (model != before), case.where
        if cause is not None and cause.code is CacheCode.HISTORY_REWRITTEN:
            assert case.stood is not None
            assert case.stood.part == "messages", case.where
            assert case.stood.share == pytest.approx(case.verdict.r, abs=0.05), case.where
        before = model


def test_what_the_figures_say_and_what_they_leave_open(capsys: pytest.CaptureFixture[str]) -> None:
    agreed = Counter((c.expected.value, c.verdict.verdict.value) for c in cases())
    causes = Counter((c.verdict.cause.code.value, c.stood.part) for c in cases() if c.verdict.cause and c.stood)
    late = [c for c in cases() if c.stood and c.stood.part and c.verdict.verdict is Cache.KEPT]
    with capsys.disabled():
        print(f"\ncache, {FOLDER.name}: {len(cases())} requests, verdict by (bodies, store): {dict(agreed)}")
        for (code, part), n in sorted(causes.items(), key=str):
            why = "" if code != CacheCode.UNATTRIBUTED else ": the store does not record it, or not as it was sent"
            print(f"  {n:3} losses first differ in {part}, said {code}{why}")
        for c in late:
            assert c.stood is not None
            lost = c.stood.before - c.stood.size
            print(f"  {c.where}: kept, though {lost} of {c.stood.before} bytes in front of its last mark differ: within the tolerance")
    assert all(c.stood and c.stood.share >= KEPT_FROM for c in late)
    assert all(part for _, part in causes)
