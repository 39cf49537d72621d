from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.app import keymap, themes
from ctx_inspect.app.board import Board
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.app.palette import help_choices, palette_choices
from ctx_inspect.widgets.lines import LinesView

from tests.app.fakes import FakeSource, sample
from tests.app.screens import running

PANES = sorted(keymap.EVERYWHERE | {keymap.FILTER})
SILENT = {keymap.FILTER, keymap.SHEET}
"""Where words are typed: every letter is a letter."""


def test_ids_are_unique_and_every_action_is_there() -> None:
    ids = [k.id for k in keymap.KEYS]
    assert len(set(ids)) == len(ids)
    for key in keymap.KEYS:
        if key.action:
            assert hasattr(Inspector, "action_" + key.action.partition("(")[0]), key.id


def test_keys_of_widgets_are_in_the_table_with_the_same_keys() -> None:
    ours = {k.id: k.keys for k in keymap.KEYS if not k.action and k.keys}
    assert {b.id: b.key for b in LinesView.BINDINGS if not isinstance(b, tuple)} == ours


@pytest.mark.parametrize("pane", PANES)
def test_no_key_means_two_things_in_a_pane(pane: str) -> None:
    seen: dict[str, str] = {}
    for key in keymap.KEYS:
        if pane in key.panes:
            for one in key.keys.split(","):
                assert one == "" or one not in seen, (one, key.id, seen.get(one))
                seen[one] = key.id


@pytest.mark.parametrize("pane", [*PANES, keymap.SHEET])
def test_the_footer_has_at_most_nine_keys_and_all_are_valid_there(pane: str) -> None:
    left, right = keymap.footer(pane, {})
    assert 3 <= len(left) + len(right) <= 9
    assert all(pane in k.panes for k, _ in (*left, *right))
    assert [k.id for k, _ in right] == ([] if pane in SILENT else ["palette", "help", "quit"])


def test_keys_of_later_features_are_nowhere() -> None:
    words = " ".join(f"{k.id} {k.does}" for k in keymap.KEYS).lower()
    for later in ("recall", "trim", "replay"):
        assert later not in words
    assert "4" not in [k.keys for k in keymap.KEYS]


@pytest.mark.parametrize(
    ("table", "good", "told"),
    [
        ({"follow": "F, ctrl+f"}, {"follow": "F,ctrl+f"}, 0),
        ({"nothing": "x", "follow": 5, "quit": " "}, {}, 1),
        (["x"], {}, 1),
        ({}, {}, 0),
    ],
)
def test_the_users_own_keys(table: object, good: dict[str, str], told: int) -> None:
    found, notes = keymap.user_keys(table)
    assert found == good
    assert len(notes) == told


@pytest.mark.parametrize(
    ("table", "ids"),
    [
        ({"follow": "y"}, [("follow", "copy")]),
        ({"follow": "e", "copy": "e,y"}, [("follow", "copy")]),
        ({"follow": "d"}, []),  # the demo's, which is valid in another pane
        ({"copy": "f", "follow": "y"}, []),  # they changed places
        ({"open": "ctrl+d"}, [("half_down", "open")]),
    ],
)
def test_a_key_that_is_set_for_two_things_is_told(table: dict[str, str], ids: list[tuple[str, str]]) -> None:
    assert keymap.user_keys(table)[1] == tuple(f"[keys]: {a} and {b} have the same key: it does one of them only" for a, b in ids)


def test_the_palette_lists_every_action_with_its_key() -> None:
    choices = palette_choices({}, frozenset(), 47)("")
    assert {c.id for c in choices} == {k.action for k in keymap.KEYS if k.action and k.id not in {"palette", "close"}}
    assert any(c.words.startswith("Budget") and c.left == "2" for c in choices)


@pytest.mark.parametrize(("typed", "n"), [("12", 12), ("1", 1), ("47", 47), ("-1", 47), ("-3", 45), ("-47", 1), (" 5 ", 5)])
def test_a_number_goes_to_that_turn(typed: str, n: int) -> None:
    assert [c.id for c in palette_choices({}, frozenset(), 47)(typed)] == [f"turn({n})"]


@pytest.mark.parametrize("typed", ["99", "48", "0", "-48", "1" * 30])
def test_a_number_beyond_the_turns_says_how_many_there_are(typed: str) -> None:
    (choice,) = palette_choices({}, frozenset(), 47)(typed)
    assert choice.id is None
    assert choice.words == "there is no such turn: there are 47"


def test_the_palette_finds_themes_by_name() -> None:
    find = palette_choices({}, frozenset(), 47, themes.NAMES)
    assert [c.id for c in find("high")] == ["use_theme('high-contrast')"]
    assert [c.id for c in find("theme dark")] == ["use_theme('dark')"]


def test_the_help_lists_every_key_with_its_place() -> None:
    found = help_choices(keymap.TIMELINE, {})("")
    lefts = {c.left for c in found}
    assert {"v", "S", "d", "o", "x", "!", "q ctrl+c", "/"} <= lefts
    signs = [c.words for c in found if c.left in {"iktsyc", "cache"}]
    assert {k.does for k in keymap.KEYS if k.shown and keymap.SHEET not in k.panes} == {c.words for c in found} - set(signs)
    assert all(any(sign in words for words in signs) for sign in "·+-~⇄→±!?○≋●◐◌–")
    assert next(c.note for c in found if c.left == "d") == "while there is no session"
    assert not next(c.note for c in found if c.left == "v")


def test_keys_are_spelled_where_signs_cannot_be_drawn() -> None:
    for key in keymap.KEYS:
        assert keymap.shown(key, {}, True).isascii(), key.id
    assert keymap.shown(keymap.BY_ID["down"], {}, True) == "j down"
    assert keymap.shown(keymap.BY_ID["open"], {"open": "right,enter"}, True) == "right enter"


@pytest.mark.parametrize("typed", ["٣", "-", "1.5", "12a"])
def test_what_is_no_number_is_a_word(typed: str) -> None:
    assert not any(str(c.id).startswith("turn(") for c in palette_choices({}, frozenset(), 47)(typed))


async def test_every_action_of_the_palette_runs_in_every_pane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running([FakeSource(sample())], tmp_path / "state") as (app, pilot):
        for keys in ((), ("tab",), ("6",), ("s",)):
            await pilot.press(*keys)
            for key in keymap.KEYS:
                if key.action and key.id not in {"quit"}:
                    await app.run_action(key.action)
                    await pilot.pause()
                    while len(app.screen_stack) > 1:
                        app.pop_screen()
        assert app.is_running


def test_the_board_has_no_actions_of_its_own() -> None:
    assert not [n for n in vars(Board) if n.startswith("action_")]


def test_help_and_palette_find_the_words_of_the_footer() -> None:
    assert "reveal" in {c.id for c in palette_choices({}, frozenset(), 47)("reveal text")}
    assert "v" in {c.left for c in help_choices("timeline", {})("reveal text")}
