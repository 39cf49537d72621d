"""The interface as a person uses it, with few keys."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.model import Confirmed, Listing, ProblemCode, Raw, replace
from ctx_inspect.core.sources.base import Looked, SourceError
from ctx_inspect.core.views.sessions import SessionKey
from ctx_inspect.core.views.timeline import TurnKey

from tests.app.fakes import FakeSource, ledger, sample
from tests.app.screens import running, screen, until


def written(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_what_is_seen_without_a_key(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.pause(0.1)
        text = seen(app)
        for words in ("Fix login 500", "● LIVE", "FOLLOW", "47/47", "41.3k of 200k", "compacts at", "Instructions", "compacted (auto)"):
            assert words in text, words
        assert app.focused is app.turns.lines


async def test_moving_leaves_follow_and_the_detail_comes_along(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        assert app.turns.follow
        await pilot.press("k")
        assert app.turns.turn == 46
        assert not app.turns.follow
        await until(pilot, lambda: app.detail.turn == 46)
        await pilot.press("f")
        assert app.turns.follow
        assert app.turns.turn == 47


async def test_steps_open_under_their_turn_and_close(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        lines = len(app.turns.view or ())
        await pilot.press("right", "j")
        assert len(app.turns.view or ()) == lines + 2
        assert app.turns.turn == 47
        await pilot.press("left")
        assert len(app.turns.view or ()) == lines
        assert app.turns.lines.selected == TurnKey(47)


async def test_text_is_read_only_when_asked_for_and_forgotten_when_left(tmp_path: Path) -> None:
    source = FakeSource(sample())
    async with running([source], tmp_path) as (app, pilot):
        await pilot.press("6")
        assert source.asked == []
        assert "v shows it here" in seen(app)
        assert "v reveal text" in seen(app)
        await pilot.press("v")  # the turns have the focus: the pane gets it, for leaving it hides the texts again
        await until(pilot, lambda: "the text of u47" in seen(app))
        assert app.focused is app.detail.lines
        assert "v hide text" in seen(app)
        await pilot.press("tab")
        await pilot.pause()
        assert "the text of u47" not in seen(app)
        await pilot.press("tab")
        assert "the text of u47" not in seen(app)


async def test_text_never_reaches_the_state_or_a_picture(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)
    source = FakeSource(sample())
    async with running([source], tmp_path / "state") as (app, pilot):
        await pilot.press("6", "tab", "v")
        await until(pilot, lambda: "the text of u47" in seen(app))
        app.action_save_picture()
        await pilot.pause()
        assert "ctx-inspect-1.svg" in seen(app)
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "ctx-inspect-1.svg").exists())
    assert not [p for p in written(tmp_path) if b"the text of" in p.read_bytes()]


async def test_keys_in_texts_and_titles_are_covered(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab3" * 20
    made = ledger("pi:a", f"use {key} now", 3)
    source = FakeSource([made])
    source.texts = {made.turns[2].input[0]: Confirmed(Raw(f"token {key}"))}
    async with running([source], tmp_path, size=(160, 50)) as (app, pilot):
        assert key[:24] not in seen(app)
        await pilot.press("6", "tab", "v")
        await until(pilot, lambda: "v uncovers it" in seen(app))
        assert key not in seen(app)
        await pilot.press("v")
        await pilot.pause()
        assert key[:24] in seen(app)  # the rest is on the next line
        await pilot.press("v")
        await pilot.pause()
        assert key not in seen(app)
        assert not app.detail.revealed


async def test_another_session_is_five_keys_away_and_back_is_one(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("s", "t", "e", "r", "enter")
        await until(pilot, lambda: app.desk.wanted == "pi:drift" and app.turns.snapshot is not None)
        assert "Terraform drift" in screen(app)[0]
        assert app.focused is app.turns.lines
        await pilot.press("S")
        await until(pilot, lambda: app.desk.wanted == "opencode:main" and app.turns.snapshot is not None)


async def test_the_drawer_closes_without_choosing_and_escape_never_quits(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(80, 24)) as (app, pilot):
        await pilot.press("s")
        await pilot.pause()
        assert "type to filter" in seen(app)
        await pilot.press("escape", "escape", "escape")
        await pilot.pause()
        assert app.is_running
        assert app.desk.wanted == "opencode:main"
        assert "Timeline" in seen(app)


async def test_the_drawers_cursor_goes_with_the_session_on_screen_unless_somebody_is_there(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(200, 60)) as (app, pilot):
        drawer, all_of_them = app.drawer, app.drawer.view.sessions
        drawer.show(all_of_them, None, None, frozenset())
        drawer.lines.go_first()
        drawer.show(all_of_them, None, "pi:drift", frozenset())
        assert drawer.lines.selected == SessionKey("pi:drift")
        drawer.lines.focus()
        await pilot.pause()
        drawer.lines.go_first()
        kept = drawer.lines.selected
        drawer.show(all_of_them, None, None, frozenset())
        drawer.show(all_of_them, None, "pi:drift", frozenset())
        assert drawer.lines.selected == kept != SessionKey("pi:drift")


async def test_the_palette_has_every_action_and_goes_to_a_turn(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("colon", "1", "2", "enter")
        await pilot.pause()
        assert app.turns.turn == 12
        await pilot.press("ctrl+p", *"steps:")
        await pilot.press("enter")
        await pilot.pause()
        assert app.detail.tab == "steps"


async def test_help_lists_the_keys_of_the_pane_and_filters(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Keys: timeline" in seen(app)
        await pilot.press(*"follow")
        await pilot.pause()
        assert "follow the newest turn" in seen(app)
        assert "half a page" not in seen(app)
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


async def test_copying_takes_ids_and_figures_and_no_text(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        copied: list[str] = []
        app.copy_to_clipboard = copied.append  # type: ignore[method-assign]
        await pilot.press("y", *"summary")
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("y", *"opens it here")
        await pilot.press("enter")
        await pilot.pause()
        assert copied[0].startswith("opencode · 47 turns · 41.3k in the window of 200k (21%)")
        assert "Fix login" not in copied[0]
        assert copied[1] == "ctx-inspect --turn 47 --tab diff opencode:main"


async def test_news_never_moves_the_selection(tmp_path: Path) -> None:
    source = FakeSource([ledger("pi:a", "Live one", 12)])
    async with running([source], tmp_path) as (app, pilot):
        await pilot.press("k", "k", "k")
        source.ledgers["a"] = replace(ledger("pi:a", "Live one", 15))
        source.news, source.version = frozenset({"a"}), 1
        await until(pilot, lambda: app.turns.snapshot is not None and len(app.turns.snapshot.timeline.turns) == 15)
        await pilot.pause()
        assert app.turns.turn == 9
        assert "3 new ↓ (f)" in screen(app)[0]
        await pilot.press("f")
        assert app.turns.turn == 15
        await pilot.pause()
        assert "FOLLOW" in screen(app)[0]
        assert "new ↓" not in screen(app)[0]


async def test_following_goes_along(tmp_path: Path) -> None:
    source = FakeSource([ledger("pi:a", "Live one", 12, live=True)])
    async with running([source], tmp_path) as (app, pilot):
        source.ledgers["a"] = ledger("pi:a", "Live one", 13, live=True)
        source.news, source.version = frozenset({"a"}), 1
        await until(pilot, lambda: app.turns.turn == 13)
        await until(pilot, lambda: app.detail.turn == 13)


async def test_a_new_session_appears_by_itself(tmp_path: Path) -> None:
    source = FakeSource([])
    async with running([source], tmp_path, wait=False) as (app, pilot):
        await until(pilot, lambda: "No agent session found yet" in seen(app))
        source.ledgers["a"] = ledger("pi:a", "First one", 1, live=True)
        source.news, source.version = frozenset({"a"}), 1
        await until(pilot, lambda: app.turns.snapshot is not None)
        assert "First one" in screen(app)[0]
        assert app.focused is app.turns.lines


async def test_a_deleted_store_is_said_and_what_was_read_stays(tmp_path: Path) -> None:
    source = FakeSource([ledger("pi:a", "Live one", 12)])
    async with running([source], tmp_path) as (app, pilot):
        source.vanished = True
        await until(pilot, lambda: "◇ deleted" in screen(app)[0])
        assert "12 turns" in seen(app)


async def test_a_source_that_cannot_be_listed_is_a_line_and_the_rest_goes_on(tmp_path: Path) -> None:
    class Broken(FakeSource):
        def sessions(self) -> Listing:
            raise SourceError(ProblemCode.CORRUPT, "a page of the database is corrupt; its sessions cannot be listed", self.path)

    async with running([FakeSource(sample()), Broken([], name="broken")], tmp_path) as (app, pilot):
        await until(pilot, lambda: "a page of the database is corrupt" in seen(app))
        assert "Fix login 500" in seen(app)
        await pilot.press("exclamation_mark")
        await pilot.pause()
        assert "/nonexistent/broken" in seen(app)
        await pilot.press("escape", "x")
        await pilot.pause()
        assert "a page of the database is corrupt" not in seen(app)


async def test_an_unexpected_error_is_one_sentence_and_its_text_is_written_nowhere(tmp_path: Path) -> None:
    class Faulty(FakeSource):
        def open(self, session: str, prior=None):  # type: ignore[no-untyped-def]
            raise KeyError("sk-secret-in-a-message")

    async with running([Faulty(sample())], tmp_path, wait=False) as (app, pilot):
        await until(pilot, lambda: "reading the session failed (KeyError)" in seen(app))
        assert "sk-secret" not in seen(app)
    log = (tmp_path / "crash.log").read_text()
    assert "KeyError" in log
    assert "app/desk.py" in log
    assert "sk-secret" not in log
    assert stat.S_IMODE((tmp_path / "crash.log").stat().st_mode) == 0o600


async def test_empty_teaches_where_it_looked(tmp_path: Path) -> None:
    looked = [Looked("pi", "Pi", "~/.pi/agent/sessions", (), "no such folder")]
    async with running([], tmp_path, wait=False, looked=looked, demo=lambda: [FakeSource(sample())]) as (app, pilot):
        await until(pilot, lambda: "~/.pi/agent/sessions" in seen(app))
        assert "no such folder" in seen(app)
        assert "look around with sample data" in seen(app)
        await pilot.press("d")
        await until(pilot, lambda: app.turns.snapshot is not None)
        assert "Fix login 500" in screen(app)[0]


async def test_a_path_can_be_opened_from_the_empty_screen(tmp_path: Path) -> None:
    def opener(path: Path) -> list[FakeSource]:
        if path.name != "good":
            raise SourceError(ProblemCode.NOT_A_STORE, "this is no store of an agent", path)
        return [FakeSource(sample())]

    async with running([], tmp_path, wait=False, open_path=opener) as (app, pilot):
        await until(pilot, lambda: "No agent session" in seen(app))
        await pilot.press("o", *"bad", "enter")
        await until(pilot, lambda: "this is no store of an agent" in seen(app))
        await pilot.press("o", *"good", "enter")
        await until(pilot, lambda: app.turns.snapshot is not None)


async def test_what_was_named_is_opened_right_there(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, session="retries", turn=-3, tab="steps") as (app, pilot):
        await pilot.pause(0.1)
        assert app.desk.wanted == "opencode:retries"
        assert app.turns.turn == 10
        assert app.detail.tab == "steps"
        assert not app.turns.follow


async def test_choices_are_remembered_but_never_the_text_tab(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.press("5")
        app.action_use_theme("light")
        await pilot.pause()
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        assert app.detail.tab == "steps"
        assert app.theme == "light"
        await pilot.press("6")
    kept = json.loads((tmp_path / "screen.json").read_text())
    assert kept == {"session": "opencode:main", "tab": "steps", "theme": "light"}
    assert stat.S_IMODE((tmp_path / "screen.json").stat().st_mode) == 0o600


async def test_the_mouse_selects_and_chooses_tabs(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.click(app.turns.lines, offset=(10, 3))
        assert app.turns.turn != 47
        title = "".join(span.text for line in app.detail.title.drawing().lines for span in line)
        await pilot.click(app.detail.title, offset=(title.index("Steps"), 0))
        assert app.detail.tab == "steps"
        await pilot.click(app.foot, offset=(2, 0))
        assert app.turns.follow


async def test_hostile_text_is_drawn_and_never_obeyed(tmp_path: Path) -> None:
    evil = "broken [/nope] [red]x \x1b]0;t\x07 \u202e 帮"
    source = FakeSource([ledger("pi:a", evil, 3)])
    source.texts = {}
    async with running([source], tmp_path) as (app, pilot):
        text = seen(app)
        assert "broken [/nope] [red]x" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        await pilot.press("s")
        await pilot.pause()
        assert "[/nope]" in seen(app)


async def test_pages_move_by_half_and_ends_are_one_key_away(tmp_path: Path) -> None:
    async with running([FakeSource([ledger("pi:a", "Long", 300)])], tmp_path) as (app, pilot):
        await pilot.press("g")
        assert app.turns.turn == 1
        await pilot.press("ctrl+d")
        assert app.turns.turn == 1 + app.turns.lines.page // 2
        await pilot.press("G")
        assert app.turns.turn == 300


async def test_enter_opens_the_detail_then_gives_it_the_whole_height(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, size=(80, 24)) as (app, pilot):
        await pilot.press("enter")
        assert app.focused is app.detail.lines
        await pilot.press("enter")
        await pilot.pause()
        assert not app.turns.display
        await pilot.press("escape")
        await pilot.pause()
        assert app.turns.display


async def test_reading_can_be_stopped(tmp_path: Path) -> None:
    import threading

    gate = threading.Event()

    class Slow(FakeSource):
        def open(self, session: str, prior=None):  # type: ignore[no-untyped-def]
            gate.wait(10)
            return super().open(session, prior)

    async with running([Slow(sample())], tmp_path, wait=False) as (app, pilot):
        try:
            await until(pilot, lambda: "reading the session" in seen(app))
            await pilot.press("escape")
            await until(pilot, lambda: "reading was stopped" in seen(app))
        finally:
            gate.set()
        await pilot.pause(0.2)
        assert app.turns.snapshot is None


async def test_user_keys(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, keys={"tab_steps": "ctrl+t"}) as (app, pilot):
        await pilot.press("ctrl+t")
        assert app.detail.tab == "steps"
        await pilot.press("question_mark", *"steps: the")
        await pilot.pause()
        assert "ctrl+t" in seen(app)
