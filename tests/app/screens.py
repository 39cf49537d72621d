"""Runs the interface on sources in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ctx_inspect.app.inspector import Inspector
from ctx_inspect.app.start import Mailbox, Start, begin
from ctx_inspect.core.sources.base import Source
from textual.pilot import Pilot


@asynccontextmanager
async def running(
    sources: Sequence[Source], state: Path, size: tuple[int, int] = (120, 40), wait: bool = True, **options: Any
) -> AsyncIterator[tuple[Inspector, Pilot[None]]]:
    """Run the app until the block ends.

    Args:
        sources: What it reads.
        state: Folder for what it remembers.
        size: Cells and lines.
        wait: Until a session is on the screen.
        options: Of :class:`Start`; ``discover`` looks for more sources.
    """
    box = Mailbox()
    live, listings = begin(sources, box, discover=options.pop("discover", None))
    try:
        app = Inspector(Start(live, listings, box.waiting, state=state, **options))
        box.to = app.take_news
        async with app.run_test(size=size) as pilot:
            if wait:
                await until(pilot, lambda: app.desk.snapshot is not None and app.turns.snapshot is not None)
            yield app, pilot
    finally:
        live.close(5)


async def until(pilot: Pilot[None], true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something is so; fail where it does not come."""
    for _ in range(int(seconds / 0.02)):
        if true():
            await pilot.pause()
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come")


def screen(app: Inspector) -> list[str]:
    """Return what is on the screen, line by line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]
