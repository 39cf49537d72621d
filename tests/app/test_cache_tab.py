"""The Cache tab and the keys to cache breaks."""

from __future__ import annotations

import re
from pathlib import Path

from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.model import Confirmed, Ledger, Usage, Witness, replace

from tests.app.fakes import FakeSource, ledger
from tests.app.screens import running, screen, until


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


def broken(turns: int = 12, at: tuple[int, ...] = (5, 9)) -> Ledger:
    """A session whose cache is lost in part at the first step of some turns: after six minutes a whole loss would be no break."""
    made = ledger("pi:main", "Breaks", turns)

    def lost(n: int, usage: Usage) -> Usage:
        read = usage.cache_read or 0
        return Usage(usage.input, usage.output, None, read // 4, read - read // 4) if n in at else usage

    return replace(
        made,
        turns=tuple(
            replace(
                t,
                requests=tuple(
                    replace(r, usage=Confirmed(lost(t.n, r.usage.value), Witness.PROVIDER)) if i == 0 else r  # type: ignore[union-attr]
                    for i, r in enumerate(t.requests)
                ),
            )
            for t in made.turns
        ),
    )


async def test_each_step_of_the_turn_has_its_verdict_and_the_session_its_sums(tmp_path: Path) -> None:
    async with running([FakeSource([broken()])], tmp_path, tab="cache", turn=5) as (app, pilot):
        await until(pilot, lambda: "Sent anew" in seen(app))
        text = seen(app)
        steps = len(app.desk.snapshot.ledger.turns[4].requests)  # type: ignore[union-attr]
        assert len(re.findall(r"^.*│ +\d +([●◐○◌–]) ", text, re.MULTILINE)) == steps == 3
        assert "◐ kept in part" in text
        assert "● kept" in text
        assert re.search(r"Breaks +2 +0 whole, 2 in part", text)
        assert "in turns 5, 9" in text


async def test_keys_go_to_the_breaks(tmp_path: Path) -> None:
    async with running([FakeSource([broken()])], tmp_path) as (app, pilot):
        await until(pilot, lambda: len(app.turns.told.cache) == 12)
        await pilot.press("left_curly_bracket")
        assert app.turns.turn == 9
        assert not app.turns.follow
        await pilot.press("less_than_sign")
        assert app.turns.turn == 5
        await pilot.press("less_than_sign")
        await pilot.pause()
        assert app.turns.turn == 5
        assert "there is no earlier turn in which the cache was lost" in seen(app)
        await pilot.press("right_curly_bracket")
        assert app.turns.turn == 9


async def test_the_tab_follows_the_selection(tmp_path: Path) -> None:
    async with running([FakeSource([broken()])], tmp_path) as (app, pilot):
        await pilot.press("3")
        await until(pilot, lambda: "Whole session" in seen(app))
        assert "◐ kept in part" not in seen(app)
        await until(pilot, lambda: len(app.turns.told.cache) == 12)
        await pilot.press("left_curly_bracket")
        await until(pilot, lambda: "◐ kept in part" in seen(app))
        assert "turn 9─" in seen(app)


async def test_a_provider_that_reports_nothing_is_no_healthy_cache(tmp_path: Path) -> None:
    made = ledger("pi:main", "Silent", 4)
    silent = replace(
        made,
        turns=tuple(
            replace(t, requests=tuple(replace(r, usage=Confirmed(Usage(1000, 5), Witness.PROVIDER)) for r in t.requests))
            for t in made.turns
        ),
    )
    async with running([FakeSource([silent])], tmp_path, tab="cache") as (app, pilot):
        await until(pilot, lambda: "no request reported what it read" in seen(app))
        assert "– not reported" in seen(app)
        assert "●" not in seen(app).replace("● LIVE", "")
