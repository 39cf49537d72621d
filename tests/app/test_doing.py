"""What keys do says what it did: notices, the text tab from everywhere, small screens, copying, opening, going to a turn."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.app.palette import Picker
from ctx_inspect.core.model import Listing, ProblemCode
from ctx_inspect.core.sources.base import SourceError
from textual import events

from tests.app.fakes import FakeSource, ledger, sample
from tests.app.screens import running, screen, until
from tests.builders.pi import PiStore


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


def foot(app: Inspector) -> str:
    return "".join(span.text for line in app.foot.drawing().lines for span in line)


# --- the Text tab ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (80, 12), (40, 10), (20, 8)])
async def test_text_is_revealed_from_the_turns(size: tuple[int, int], tmp_path: Path) -> None:
    source = FakeSource(sample())
    async with running([source], tmp_path, size=size) as (app, pilot):
        await pilot.press("6", "v")
        await until(pilot, lambda: "the text of" in seen(app))
        assert app.focused is app.detail.lines


async def test_text_is_revealed_from_the_palette(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("6", "colon", *"turn's text")
        await pilot.press("enter")
        await until(pilot, lambda: "the text of u47" in seen(app))


async def test_v_elsewhere_says_where_it_works(tmp_path: Path) -> None:
    source = FakeSource(sample())
    async with running([source], tmp_path) as (app, pilot):
        await pilot.press("2", "v")
        await pilot.pause()
        assert "on the Text tab (6), and what changed in a text on the Diff tab (1)" in seen(app)
        assert source.asked == []


@pytest.mark.parametrize("size", [(80, 12), (40, 10), (20, 6)])
@pytest.mark.parametrize(("key", "name"), [("1", "diff"), ("2", "budget"), ("3", "cache"), ("5", "steps"), ("6", "text")])
async def test_a_tab_is_shown_where_one_pane_is_seen_at_a_time(size: tuple[int, int], key: str, name: str, tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=size) as (app, pilot):
        assert not app.detail.display
        await pilot.press(key)
        await pilot.pause()
        assert app.detail.display
        assert not app.turns.display
        assert app.detail.tab == name
        await pilot.press("escape")
        await pilot.pause()
        assert app.turns.display


# --- notices -----------------------------------------------------------------------------------------------


async def test_copying_says_what_was_sent_and_is_no_problem(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("y", *"session's key", "enter")
        await pilot.pause()
        assert "sent to the terminal's clipboard: opencode:main" in seen(app)
        assert app.clipboard == "opencode:main"
        assert not app.trouble.problems
        assert "▲" not in seen(app)
        await pilot.press("x")
        await pilot.pause()
        assert "sent to" not in seen(app)


async def test_a_notice_goes_by_itself_and_a_problem_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctx_inspect.app.panes.frame.NOTICE", 0.2)

    class Broken(FakeSource):
        def sessions(self) -> Listing:
            raise SourceError(ProblemCode.CORRUPT, "a page of the database is corrupt", self.path)

    async with running([FakeSource(sample()), Broken([], name="broken")], tmp_path) as (app, pilot):
        await until(pilot, lambda: "/nonexistent/broken: a page of the database is corrupt" in seen(app))
        await pilot.press("2", "v")
        await pilot.pause()
        assert "on the Text tab" in seen(app)
        assert "corrupt" not in seen(app)
        await until(pilot, lambda: "a page of the database is corrupt" in seen(app))


# --- copying commands --------------------------------------------------------------------------------------


async def test_commands_name_the_sources_that_were_named(tmp_path: Path) -> None:
    command = ("ctx-inspect", "--source", "/tmp/my stores/a.jsonl")
    async with running([FakeSource(sample())], tmp_path, command=command) as (app, pilot):
        await pilot.press("y", *"opens it here", "enter")
        await pilot.pause()
        assert app.clipboard == "ctx-inspect --source '/tmp/my stores/a.jsonl' --turn 47 --tab diff opencode:main"
        await pilot.press("y", *"turns as json", "enter")
        await pilot.pause()
        assert app.clipboard == "ctx-inspect --source '/tmp/my stores/a.jsonl' turns --json opencode:main"


async def test_where_no_command_finds_the_session_again_none_is_offered(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, command=None) as (app, pilot):
        await pilot.press("y")
        await pilot.pause()
        assert "the session's key" in seen(app)
        assert "command" not in seen(app)


async def test_copied_commands_run(tmp_path: Path) -> None:
    store = PiStore(tmp_path / "my store")
    one = store.session(id="grows")
    for n in range(3):
        one.turn(f"do {n}")
    from ctx_inspect.core.sources.pi import PiSource

    command = ("ctx-inspect", "--source", str(one.path))
    async with running([PiSource(one.path)], tmp_path, command=command) as (app, pilot):
        copied: list[str] = []
        for words in ("opens it here", "turns as json"):
            await pilot.press("y", *words, "enter")
            await pilot.pause()
            copied.append(app.clipboard)
    for text, expected in zip(copied, ("grows", '"schema":"ctx-inspect/turns/1"'), strict=True):
        words = shlex.split(text)
        assert words[0] == "ctx-inspect"
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-m", "ctx_inspect", *words[1:]], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout


# --- opening -----------------------------------------------------------------------------------------------


def opener(path: Path) -> Sequence[FakeSource]:
    match path.name:
        case "more":
            return [FakeSource([ledger("pi:old", "Old one", 2), ledger("pi:new", "Newest of it", 3)], name="more")]
        case "empty":
            return [FakeSource([], name="empty")]
        case _:
            raise SourceError(ProblemCode.GONE, "no such file or folder", path)


async def test_opening_a_further_store_shows_its_newest_session(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, open_path=opener) as (app, pilot):
        assert app.desk.wanted == "opencode:main"
        await pilot.press("o", *"/tmp/more", "enter")
        await until(pilot, lambda: "Newest of it" in screen(app)[0])
        assert app.desk.wanted == "pi:new"
        await pilot.press("y", *"opens it", "enter")
        await pilot.pause()
        assert app.clipboard.startswith("ctx-inspect --source /tmp/more ")
        await pilot.press("o", *"/tmp/more", "enter")
        await until(pilot, lambda: "on the screen already" in seen(app))


async def test_opening_a_store_without_sessions_says_so(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, open_path=opener) as (app, pilot):
        await pilot.press("o", *"/tmp/empty", "enter")
        await until(pilot, lambda: "there is no session in /nonexistent/empty" in seen(app))
        assert app.desk.wanted == "opencode:main"


async def test_what_is_not_there_is_named_and_the_footer_stays_right(tmp_path: Path) -> None:
    async with running([], tmp_path, wait=False, open_path=opener, demo=lambda: [FakeSource(sample())]) as (app, pilot):
        await until(pilot, lambda: "No agent session" in seen(app))
        before = foot(app)
        assert before.split()[:4] == ["d", "demo", "o", "open"]
        await pilot.press("o")
        await pilot.pause()
        assert "Esc close" in foot(app)
        assert "demo" not in foot(app)
        await pilot.press(*"/tmp/nothing", "enter")
        await until(pilot, lambda: "/tmp/nothing: no such file or folder" in seen(app))
        assert foot(app).split()[:4] == ["d", "demo", "o", "open"]
        await pilot.press("d")
        await until(pilot, lambda: app.turns.snapshot is not None)
        await pilot.press("y")
        await pilot.pause()
        assert "command" not in seen(app)  # nothing finds sample sessions again


async def test_another_projects_session_is_opened_with_a_word(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, here="/home/ann/elsewhere") as (app, pilot):
        await until(pilot, lambda: "this directory has no session: the newest of all is shown" in seen(app))
    async with running([FakeSource(sample())], tmp_path, here="/home/ann/my-app") as (app, pilot):
        await pilot.pause()
        assert "this directory has no session" not in seen(app)


# --- sheets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["colon", "question_mark", "y"])
async def test_sheets_have_their_own_footer_and_give_it_back(key: str, tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        before = foot(app)
        await pilot.press(key)
        await pilot.pause()
        assert foot(app).split() == ["↓", "↑", "choose", "PgUp", "PgDn", "page", "⏎", "take", "Esc", "close"]
        await pilot.press("escape")
        await pilot.pause()
        assert foot(app) == before


async def test_a_sheet_says_how_much_more_there_is_and_moves_by_pages_and_to_its_ends(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(80, 24)) as (app, pilot):
        await pilot.press("question_mark")
        await pilot.pause()
        sheet = app.screen
        lines = sheet.lines  # type: ignore[attr-defined]
        total = len(lines.lines())
        assert f"▾ {total - lines.page} more" in seen(app)
        await pilot.press("pagedown")
        await pilot.pause()
        assert lines.cursor == 10
        await pilot.press("end")
        await pilot.pause()
        assert lines.cursor == total - 1
        assert "▾" not in seen(app)
        assert f"▴ {total - lines.page} more" in seen(app)
        await pilot.press("pageup")
        assert lines.cursor == total - 11
        await pilot.press("home")
        await pilot.pause()
        assert lines.cursor == 0
        assert "▴" not in seen(app)


async def test_a_turn_that_is_not_there_says_how_many_there_are(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("colon", *"99")
        await pilot.pause()
        assert "there are 47" in seen(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.turns.turn == 47


async def test_ctrl_c_quits_from_a_sheet(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("colon")
        await pilot.pause()
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert not app.is_running


async def test_in_ascii_keys_are_spelled(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, ascii_only=True) as (app, pilot):
        assert "right steps" in foot(app)
        await pilot.press("tab")
        await pilot.pause()
        assert "enter open" in foot(app)
        await pilot.press("shift+tab", "question_mark")
        await pilot.pause()
        assert "more below" in seen(app)
        await pilot.press(*"next line")
        await pilot.pause()
        text = seen(app)
        assert text.isascii()
        assert "j down" in text


# --- keys that come in one burst ---------------------------------------------------------------------------


def burst(app: Inspector, keys: str) -> None:
    """Press keys as a terminal hands on what was pasted or typed fast: without a frame between them."""
    for key in keys:
        name = {":": "colon", "\r": "enter"}.get(key, key)
        app.post_message(events.Key(name, None if key == "\r" else key))


@pytest.mark.parametrize("apart", [True, False])
async def test_enter_right_behind_a_turns_number_goes_to_it(apart: bool, tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        for n in (12, 31, 7):
            if apart:
                await pilot.press("colon")
                burst(app, f"{n}\r")
            else:
                burst(app, f":{n}\r")
            await until(pilot, lambda: app.turns.turn == n and len(app.screen_stack) == 1)  # noqa: B023


async def test_enter_right_behind_words_takes_what_they_match_first(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("colon")
        burst(app, "theme: light\r")
        await until(pilot, lambda: app.theme == "light" and len(app.screen_stack) == 1)
        await pilot.press("colon")
        burst(app, "no such words\r")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        assert app.theme == "light"


# --- what the palette lists --------------------------------------------------------------------------------


def listed(app: Inspector) -> set[object]:
    assert isinstance(app.screen, Picker)
    return {c.id for c in app.screen.found}


async def test_the_palette_has_no_entry_that_does_nothing(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, demo=lambda: ()) as (app, pilot):
        await pilot.press("2", "colon")
        await pilot.pause()
        assert not listed(app) & {"demo", "filter", "back", "reveal", "why", "sides", "fold_all"}
        assert {"follow", "copy", "sessions", "unfold"} <= listed(app)
        await pilot.press("escape", "s", "tab")
        await pilot.pause()
    async with running([], tmp_path, wait=False, demo=lambda: (), looked=()) as (app, pilot):
        await until(pilot, lambda: app.empty.display)
        await pilot.press("colon")
        await pilot.pause()
        assert "demo" in listed(app)
        assert not listed(app) & {"sessions", "follow", "copy", "filter", "tab('steps')", "reveal", "next_pane", "open"}


async def test_the_filter_is_in_the_palette_where_the_sessions_are_focused(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(200, 60)) as (app, pilot):
        app.drawer.lines.focus()
        await pilot.pause()
        await pilot.press("colon")
        await pilot.pause()
        assert "filter" in listed(app)
        assert not listed(app) & {"unfold", "fold"}
        await pilot.press(*"filter the", "enter")
        await until(pilot, lambda: app.focused is app.drawer.filter)
