"""From 20×6 to 250×70: nothing crashes, no line is too long, every cut cell says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.app.layout import arrange
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.glyphs import CUT

from tests.app.fakes import FakeSource, ledger, sample
from tests.app.screens import running, screen

SIZES = [
    (20, 6),
    (20, 13),
    (34, 10),
    (40, 20),
    (60, 14),
    (80, 24),
    (99, 30),
    (100, 30),
    (120, 40),
    (159, 45),
    (160, 50),
    (200, 60),
    (250, 70),
    (250, 6),
    (20, 70),
]

NAMES = ["Fix login 500", "Timeline", "Budget", "Instructions", "AGENTS.md", "filesystem_search", "compacted (auto): 184 → 9 messages"]


def cut_ends(lines: list[str]) -> list[str]:
    """Return places where a known name was cut without a mark: its beginning stands there, not followed by its rest or ``…``."""
    bad = []
    for line in lines:
        for name in NAMES:
            beginning = name[: max(4, len(name) // 2)]
            at = line.find(beginning)
            if at < 0 or name in line:
                continue
            rest = line[at:]
            whole = next(i for i in range(len(rest) + 1) if i == len(rest) or i >= len(name) or rest[i] != name[i])
            if rest[whole : whole + 1] != CUT:
                bad.append(line)
    return bad


@pytest.mark.parametrize("size", SIZES, ids=lambda s: f"{s[0]}x{s[1]}")
async def test_every_size(size: tuple[int, int], tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=size) as (app, pilot):
        for keys in ((), ("tab",), ("5",), ("6", "v"), ("enter",), ("escape", "escape"), ("s",), ("escape",), ("question_mark",)):
            await pilot.press(*keys)
            await pilot.pause()
            lines = screen(app)
            assert len(lines) == size[1]
            assert {cells(line) for line in lines} == {size[0]}, keys
            if len(app.screen_stack) > 1:
                # what lies under the sheet is covered, not cut; the sheet's own lines are looked at alone
                box = app.screen.query_one("#choices").region
                lines = [line[box.x : box.right] for line in lines[box.y : box.bottom]]
            assert cut_ends(lines) == [], keys


async def test_at_the_smallest_the_gauge_and_the_selected_turn_are_seen(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(20, 6)) as (app, pilot):
        await pilot.pause(0.1)
        lines = screen(app)
        assert lines[0].startswith("41k/200k 21%")
        assert any(line.startswith("▌") and " 47 " in line for line in lines)


async def test_resizing_keeps_the_selection_in_sight(tmp_path: Path) -> None:
    async with running([FakeSource([ledger("pi:a", "Long", 300)])], tmp_path, size=(200, 60)) as (app, pilot):
        await pilot.press("g", *["j"] * 40)
        for size in ((80, 24), (20, 6), (120, 40), (250, 70)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert app.turns.turn == 41
            assert any("▌" in line and " 41 " in line for line in screen(app)), size


async def test_in_ascii_everything_is_ascii(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(200, 60), ascii_only=True) as (app, pilot):
        for keys in ((), ("5",), ("tab", "6", "v"), ("question_mark",)):
            await pilot.press(*keys)
            await pilot.pause()
            text = "\n".join(screen(app))
            foreign = {c for c in text if not c.isascii()}
            assert not foreign, (keys, foreign)


@pytest.mark.parametrize("drawer", [True, False])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("focused", [True, False])
def test_arrangements_always_show_something_and_never_more_than_there_is(drawer: bool, whole: bool, focused: bool) -> None:
    for width in range(10, 260, 3):
        for height in range(3, 80):
            found = arrange(width, height, drawer=drawer, whole=whole, detail_focused=focused)
            assert found.timeline or found.detail or found.sessions
            if found.timeline and found.detail:
                room = width - (found.sessions_size + 1 if found.sessions else 0) if found.side else height - found.header - found.footer
                assert 0 < found.timeline_size < room


def test_the_columns_of_the_page() -> None:
    wide = arrange(160, 50, drawer=False, whole=False, detail_focused=False)
    assert wide.sessions
    assert not wide.drawer
    assert arrange(120, 40, drawer=False, whole=False, detail_focused=False).side
    assert not arrange(80, 24, drawer=False, whole=False, detail_focused=False).side
    low = arrange(80, 13, drawer=False, whole=False, detail_focused=True)
    assert low.detail
    assert not low.timeline
