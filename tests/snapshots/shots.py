"""The pictures of the README: the demo's sessions at a fixed clock, drawn without a terminal.

``python -m tests.snapshots`` makes ``screenshots/*.svg`` anew; a test fails when they differ from what the program draws.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from ctx_inspect.app import svg
from ctx_inspect.app.demo import Feed, Stage, live_lines, stage
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.app.panes.detail import COMPARED
from ctx_inspect.app.start import Mailbox, Start, begin
from ctx_inspect.core.sources import discovery
from ctx_inspect.core.text.tokens import BytesCounter
from textual.pilot import Pilot

FOLDER = Path(__file__).resolve().parents[2] / "screenshots"
NOW = 1_791_986_940_000
"""2026-10-14 14:09:00 UTC, the moment at which all pictures are taken."""

PATIENCE = 20.0
"""Seconds that a picture may take."""


@dataclass(frozen=True)
class Shot:
    """One picture.

    Attributes:
        name: File name without ending.
        size: Columns and rows.
        says: What it shows, for the reader of the list.
        keys: Pressed before it is taken.
        session: Title of the session; the main one by default.
        start: Further fields of :class:`Start`.
        grown: Entries that the growing session has got already.
        empty: No store at all.
    """

    name: str
    size: tuple[int, int]
    says: str
    keys: tuple[str, ...] = ()
    session: str | None = None
    start: dict[str, object] = field(default_factory=dict)
    grown: int = 4
    empty: bool = False


SHOTS = (
    Shot("120x40", (120, 40), "a day's work at 120×40"),
    Shot("80x24", (80, 24), "the same in a small terminal"),
    Shot("200x60", (200, 60), "the same with sessions, detail and the window over time"),
    Shot("diff", (200, 60), "what changed, both sides beside each other", session="Rewrite guide", start={"turn": 12}),
    Shot("card", (120, 40), "an item's card: when it changed and what it cost", ("tab", "n", "enter"), "Rewrite guide", {"turn": 13}),
    Shot("words", (120, 40), "what changed in a text, shown because it was asked for", ("tab", "n", "v"), "Rewrite guide", {"turn": 4}),
    Shot("cache", (120, 40), "what became of the cache, and why", session="Rewrite guide", start={"tab": "cache", "turn": 8}),
    Shot("moved", (80, 24), "what moved, items by turns", ("w",), "Rewrite guide"),
    Shot("budget", (120, 52), "what fills the window, by category", session="Rewrite guide", start={"tab": "budget"}),
    Shot("live", (120, 40), "a session that grows while it is watched", session="Release notes 2.4", grown=24),
    Shot("steps", (120, 40), "the requests of a turn", start={"tab": "steps", "turn": 37}),
    Shot("text", (120, 40), "the text of a turn, shown because it was asked for", keys=("tab", "v"), start={"tab": "text", "turn": 24}),
    Shot("sessions", (80, 24), "the sessions, as a drawer", keys=("s",)),
    Shot("help", (100, 30), "help", keys=("question_mark",)),
    Shot("palette", (100, 30), "every action with its key", keys=("colon",)),
    Shot("empty", (80, 24), "no agent on the machine", empty=True),
    Shot("light", (120, 40), "the light theme", start={"theme": "light"}),
    Shot("ascii", (80, 24), "where there is nothing but ASCII", start={"ascii_only": True}),
)


@contextmanager
def frozen(home: Path) -> Iterator[None]:
    """Stop the clock, live in UTC, and have no home but ``home``."""
    variables = {"HOME": str(home), "TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    gone = (
        "NO_COLOR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
        "TIKTOKEN_CACHE_DIR",
        "OPENCODE_DB",
        "PI_CODING_AGENT_DIR",
    )
    zone = os.environ.get("TZ")
    with (
        mock.patch.dict(os.environ, variables),
        mock.patch("time.time", return_value=NOW / 1000),
        mock.patch("time.time_ns", return_value=NOW * 1_000_000),
        mock.patch("ctx_inspect.core.sources.opencode.listing.time", return_value=NOW / 1000),
        mock.patch("ctx_inspect.core.text.tokens.pick", BytesCounter),  # whatever lies on this machine
    ):
        for name in gone:
            os.environ.pop(name, None)
        time.tzset()
        try:
            yield
        finally:
            if zone is None:
                os.environ.pop("TZ", None)
            else:
                os.environ["TZ"] = zone
            time.tzset()


def _touch(made: Stage, shot: Shot) -> None:
    """Let the growing session grow, and make what is live look as if it had just been written."""
    if shot.grown:
        Feed(made.live, live_lines()[: shot.grown], every=0.0, clock=lambda: NOW - 1000).run()
    for path in (made.live, made.database):
        os.utime(path, (NOW / 1000, NOW / 1000))


async def _settled(pilot: Pilot[object], ready: Callable[[], bool]) -> None:
    for _ in range(int(PATIENCE / 0.02)):
        await pilot.pause(0.02)
        if ready():
            break
    else:
        raise TimeoutError("the screen did not get ready")
    await pilot.pause(0.3)


async def take(shot: Shot) -> str:
    """Take one picture."""
    with tempfile.TemporaryDirectory(prefix="ctx-inspect-shot-") as folder:
        home = Path(folder)
        with frozen(home):
            return await _empty(shot, home) if shot.empty else await _demo(shot, home)


async def _empty(shot: Shot, home: Path) -> str:
    found = discovery.discover(dict(os.environ), home)
    return await _picture(shot, home, (), looked=found.looked, demo=tuple, open_path=lambda _: ())


async def _demo(shot: Shot, home: Path) -> str:
    with stage(NOW, home) as made:
        _touch(made, shot)
        sources = made.sources(clock=lambda: NOW / 1000)
        wanted = made.main
        if shot.session is not None:
            wanted = next(i.key for s in sources for i in s.sessions().sessions if i.title == shot.session)
        return await _picture(shot, home, sources, session=wanted)


async def _picture(shot: Shot, home: Path, sources: tuple[object, ...], **fields: object) -> str:
    mailbox = Mailbox()
    live, listings = begin(sources, mailbox)  # type: ignore[arg-type]
    try:
        start = Start(live, listings, mailbox.waiting, state=home / "state", **{**fields, **shot.start})  # type: ignore[arg-type]
        app = Inspector(start)
        async with app.run_test(size=shot.size) as pilot:
            await _settled(pilot, lambda: shot.empty or (app.desk.complete and _compared(app)))
            for key in shot.keys:
                await pilot.press(key)
                await pilot.pause(0.1)
            await _settled(pilot, lambda: shot.empty or _compared(app))
            return svg.export(app, f"ctx-inspect: {shot.says}")
    finally:
        live.close(1)


def _compared(app: Inspector) -> bool:
    """Tell whether all that is compared in threads is on the screen."""
    lanes = (app.turns_lane, app.turn_lane, app.item_lane, app.text_lane)
    told = app.mapped is not None and app.mapped is app.studied and app.studied.snapshot is app.desk.snapshot
    shown = app.detail.tab not in COMPARED or app.detail.diff.seen(app.turns.turn) is not None
    return told and shown and not any(lane.busy for lane in lanes)


def take_now(shot: Shot) -> str:
    """Take one picture, from code that is not asynchronous."""
    return asyncio.run(take(shot))
