"""Items that are blamed for a lost cache in real Pi sessions, against the bodies that were sent.

The provider behind these sessions reports what it really had of each request, rounded down to 128 tokens. Where an item is named,
the two bodies must differ there first; where our first difference is another one than theirs, that must be known of the model (some
take changes of the prompt as messages) or have been done by an extension behind the store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.cache.model import Cache, CacheVerdict, Prefix
from ctx_inspect.core.cache.verdict import verdicts
from ctx_inspect.core.diff.baseline import Order, Placed
from ctx_inspect.core.model import Estimated
from ctx_inspect.core.sources.pi import PiSource

from tests.corpus import pi_wire as wire
from tests.corpus.test_diff_pi import behind
from tests.corpus.test_pi import CORPUS, FOLDERS, Rebuilt, joined, read_log
from tests.oracle import compare, read
from tests.oracle.cache import Stood, stood

LOGS = sorted(CORPUS.glob("pi/requests-main.jsonl.gz"))
pytestmark = pytest.mark.skipif(not LOGS or not FOLDERS, reason=f"no Pi corpus in {CORPUS.name}/pi")


@dataclass(frozen=True)
class Case:
    """Two requests that were sent one after the other, both logged and to one endpoint."""

    session: str
    placed: Placed
    verdict: CacheVerdict
    bodies: tuple[dict[str, Any], dict[str, Any]]
    path: str
    stood: Stood
    excuse: str | None

    @property
    def where(self) -> str:
        return f"{self.session[-8:]} turn {self.placed.turn} step {self.placed.request.step}"

    @property
    def prefix(self) -> Prefix | None:
        return self.verdict.prefix.value if isinstance(self.verdict.prefix, Estimated) else None

    @property
    def part(self) -> str | None:
        """Where the two differ first by the store, in the words of the bodies."""
        words = {"conversation": "messages", "tools": "tools", None: None}
        assert self.prefix is not None
        return words.get(self.prefix.category, "system")


@cache
def cases() -> list[Case]:
    found: list[Case] = []
    for path in LOGS:
        log = read_log(path)
        for source in (PiSource(folder, one_shot=True) for folder in FOLDERS):
            for info in source.sessions().sessions:
                raw = wire.RawSession(Path(info.path))
                rows = dict(joined(log, raw))
                ledger = source.open(info.id)
                order, told = Order(ledger), verdicts(ledger)
                for placed in order.requests:
                    verdict = told.of(placed.request.id)
                    old, new = rows.get(verdict.request or ""), rows.get(placed.request.id)
                    if old is None or new is None or old["path"] != new["path"]:
                        continue
                    excuse = "a model that takes changes of the prompt as messages" if new["body"]["model"] in log.inline else None
                    for id, row in ((verdict.request or "", old), (placed.request.id, new)):
                        context = (order.placed(id) or placed).request.context
                        if context is not None and (hidden := behind(log, raw, id, row["body"], Rebuilt(source, context))):
                            excuse = f"an extension behind the store: {', '.join(hidden)}"
                    bodies = old["body"], new["body"]
                    found.append(Case(info.id, placed, verdict, bodies, new["path"], stood(*bodies), excuse))
    return found


def test_the_prefix_ends_where_the_bodies_differ_first(capsys: pytest.CaptureFixture[str]) -> None:
    compared = [c for c in cases() if c.prefix is not None]
    excused = Counter(c.excuse for c in compared if c.part != c.stood.part)
    assert [f"{c.where}: {c.part}, not {c.stood.part}" for c in compared if c.part != c.stood.part and c.excuse is None] == []
    same = Counter(c.part for c in compared if c.part == c.stood.part)
    assert {"tools", "system", "messages", None} <= set(same)
    with capsys.disabled():
        print(f"\nprefix, Pi: {len(compared)} pairs of requests; the first difference is the bodies' in {sum(same.values())}: {dict(same)}")
        for excuse, n in excused.items():
            print(f"  in {n} it is not: {excuse}")


def test_an_item_that_is_named_is_the_one_in_the_bodies(capsys: pytest.CaptureFixture[str]) -> None:
    named: Counter[str] = Counter()
    errors: list[float] = []
    for case in cases():
        cause, prefix = case.verdict.cause, case.prefix
        if cause is None or cause.item is None:
            continue
        assert prefix is not None
        assert case.verdict.verdict is Cache.PARTIAL
        assert case.part == case.stood.part, case.where
        bodies = compare(*(read(body, case.path, "pi") for body in case.bodies))
        differ: frozenset[tuple[str, str]] = getattr(bodies, prefix.category or "")
        assert cause.item in {k for _, k in differ}, case.where
        named[cause.code.value] += 1
        assert isinstance(prefix.tokens, Estimated)
        errors.append(prefix.tokens.value / (case.verdict.read or 1) - 1)
    assert {"instructions", "skills", "tools_added_removed"} <= set(named)
    with capsys.disabled():
        spread = f"{min(errors):+.0%} to {max(errors):+.0%}"
        print(f"\ncache, Pi: items named {dict(named)}, all of them right; the prefix is {spread} off what was read")


def test_what_stands_whole_in_the_bodies_is_blamed_on_nothing() -> None:
    for case in cases():
        cause = case.verdict.cause
        if case.stood.part is None and cause is not None:
            assert cause.item is None, case.where
            assert not cause.explained, case.where
