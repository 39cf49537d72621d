from __future__ import annotations

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from ctx_inspect.core.model import Shown
from ctx_inspect.core.views.layout import Line, fit
from ctx_inspect.core.views.sheet import Span
from ctx_inspect.widgets.lines import LinesView
from textual.app import App, ComposeResult
from textual.pilot import Pilot


class Numbers:
    """Lines ``first`` … with a line of words (no key) at every tenth place."""

    def __init__(self, first: int, count: int, width: int, log: list[int] | None = None) -> None:
        self.first, self.count, self.width, self.log = first, count, width, log

    def __len__(self) -> int:
        return self.count

    def head(self) -> Line | None:
        return fit((Span(Shown("  number")),), self.width)

    def line(self, index: int) -> Line:
        if self.log is not None:
            self.log.append(index)
        return fit((Span(Shown(f"  {self.first + index}")),), self.width)

    def key(self, index: int) -> Hashable | None:
        n = self.first + index
        return None if n % 10 == 0 else n

    def find(self, key: Hashable) -> int | None:
        return key - self.first if isinstance(key, int) and 0 <= key - self.first < self.count else None


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.view = LinesView()
        self.got: list[Hashable] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_lines_view_selected(self, event: LinesView.Selected) -> None:
        self.got.append(event.key)


@asynccontextmanager
async def host(count: int = 100, first: int = 1) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=(30, 11)) as pilot:
        app.view.show(lambda width: Numbers(first, count, width))
        app.view.focus()
        await pilot.pause()
        yield app, pilot


def texts(app: Host) -> list[str]:
    return [s.text.rstrip() for s in app.screen._compositor.render_strips()]


async def test_the_heading_stays_and_lines_scroll() -> None:
    async with host() as (app, pilot):
        await pilot.press("G")
        await pilot.pause()
        shown = texts(app)
        assert shown[0] == "  number"
        assert shown[-1].strip("▌ ") == "100"
        assert app.view.selected == 99  # the last line has no key: it is shown, the one before is selected


async def test_the_cursor_skips_lines_without_a_key() -> None:
    async with host() as (app, pilot):
        app.view.select(9)
        await pilot.press("j")
        assert app.view.selected == 11
        await pilot.press("k")
        assert app.view.selected == 9
        assert app.got == [9, 11, 9]


async def test_rows_put_in_above_move_neither_selection_nor_picture() -> None:
    async with host() as (app, pilot):
        app.view.select(55)
        await pilot.pause()
        before = texts(app)
        app.view.show(lambda width: Numbers(-199, 300, width))
        await pilot.pause()
        assert app.view.selected == 55
        assert texts(app) == before


async def test_rows_put_in_below_are_quiet() -> None:
    async with host() as (app, pilot):
        app.view.select(5)
        await pilot.pause()
        app.got.clear()
        app.view.show(lambda width: Numbers(1, 5000, width))
        await pilot.pause()
        assert app.view.selected == 5
        assert app.got == []


async def test_a_selected_line_that_went_gives_its_place_to_the_nearest() -> None:
    async with host() as (app, pilot):
        app.view.select(95)
        app.view.show(lambda width: Numbers(1, 50, width))
        await pilot.pause()
        assert app.view.selected == 49


async def test_only_what_is_seen_is_made() -> None:
    log: list[int] = []
    app = Host()
    async with app.run_test(size=(30, 11)) as pilot:
        app.view.show(lambda width: Numbers(1, 1_000_000, width, log))
        await pilot.pause()
        app.view.focus()
        await pilot.press("G", "g", "j")
        await pilot.pause()
        assert len(set(log)) < 60


async def test_an_empty_list_takes_every_key() -> None:
    async with host(0) as (app, pilot):
        await pilot.press("j", "k", "g", "G", "ctrl+d", "ctrl+u")
        assert app.view.selected is None


async def test_a_selected_line_has_a_mark_and_a_background() -> None:
    async with host() as (app, pilot):
        app.view.select(3)
        await pilot.pause()
        assert texts(app)[3].startswith("▌ 3")


async def test_other_lines_start_at_the_top_whatever_stood_there_before() -> None:
    """A row that was on the screen holds the picture still only where the same thing is shown again."""
    async with host(first=1) as (app, pilot):
        app.view.show(lambda width: Numbers(-40, 100, width), keep=False)  # key 1 stands far below now
        await pilot.pause()
        assert int(app.view.scroll_offset.y) == 0
        app.view.show(lambda width: Numbers(-45, 100, width))
        await pilot.pause()
        assert int(app.view.scroll_offset.y) == 5
