"""The Diff tab as a person uses it: changes, folds, cards, sides, marks, and texts that are shown only while they are asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.diff.report import Report
from ctx_inspect.core.model import Category, Confirmed, Item, Ledger, Origin, Raw, Ref, Request, Turn, replace
from ctx_inspect.core.views.diff import FoldKey, ItemKey

from tests.app.fakes import ITEMS, FakeSource, ledger
from tests.app.screens import running, screen, until

AGENTS, SEARCH = Raw("AGENTS.md"), Raw("filesystem_search")
OLD, NEW = Ref("s", "old", "agents"), Ref("s", "new", "agents")
KEY = "sk-ant-api03-" + "Ab3" * 20


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


def written(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


def with_items(turn: Turn, items: tuple[Item, ...]) -> Turn:
    def carrying(request: Request) -> Request:
        return replace(request, context=replace(request.context, items=items)) if request.context is not None else request

    return replace(turn, requests=tuple(carrying(r) for r in turn.requests))


def edited(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """AGENTS.md grew, a tool's schema changed, a skill came, and the first two tools changed places."""
    out = [replace(i, fp="a2", size=9000, ref=NEW) if i.k == AGENTS else i for i in items]
    out = [replace(i, fp="fs2", aspects=(("description", "d"), ("schema", "s2"))) if i.k == SEARCH else i for i in out]
    at = next(n for n, i in enumerate(out) if i.category is Category.TOOLS)
    out[at], out[at + 1] = out[at + 1], out[at]
    return (*out, Item(Category.SKILLS, Raw("link-check"), "l", origin=Origin("file", Raw("skills/link-check")), size=300))


def session(key: str = "pi:main", turns: int = 12, at: int = 9) -> Ledger:
    """A session whose items change at one turn."""
    made = ledger(key, "A session", turns)
    first = tuple(
        replace(i, ref=OLD) if i.k == AGENTS else replace(i, aspects=(("description", "d"), ("schema", "s"))) if i.k == SEARCH else i
        for i in ITEMS
    )
    second = edited(first)
    return replace(made, turns=tuple(with_items(t, first if t.n < at else second) for t in made.turns))


@pytest.fixture
def source() -> FakeSource:
    found = FakeSource([session()])
    found.texts = {
        OLD: Confirmed(Raw("# Rules\n\nuse tabs\nkeep it short\n")),
        NEW: Confirmed(Raw("# Rules\n\nuse blanks\nkeep it short\n")),
    }
    return found


async def compared(app: Inspector, pilot: object, turn: int) -> Report:
    """Wait until a turn is compared and on the screen, and return the comparison."""
    await until(pilot, lambda: app.detail.diff.seen(turn) is not None and app.detail.turn == turn)  # type: ignore[arg-type]
    found = app.detail.diff.seen(turn)
    assert found is not None
    return found.report


async def test_what_changed_is_there_without_a_key(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=9) as (app, pilot):
        assert app.detail.tab == "diff"
        await compared(app, pilot, 9)
        await until(pilot, lambda: "▸" in seen(app))
        text = seen(app)
        for words in (
            "8 → 9",
            "turn 8",
            "turn 9",
            "~ AGENTS.md",
            "schema",
            "+ link-check",
            "1 reordered: ",
            "▸ 1 unchanged",
            "Instructions",
        ):
            assert words in text, words


async def test_the_timeline_tells_each_turns_drift_and_cache(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, size=(160, 40), turn=9) as (app, pilot):
        await until(pilot, lambda: len(app.turns.told.drift) == 12)
        rows = {int(m[1]): line for line in screen(app) if (m := re.match(r".*?[█┊?] +(\d+) +\d\d:\d\d ", line))}
        assert "○○○○○○" in rows[1]
        assert "······" in rows[8]
        assert "~+±···" in rows[9]
        assert "●" in rows[8]


async def test_keys_go_to_turns_in_which_something_changed(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, lambda: len(app.turns.told.drift) == 12)
        await pilot.press("left_square_bracket")
        assert app.turns.turn == 9
        await pilot.press("comma")
        await pilot.pause()
        assert app.turns.turn == 9
        assert "there is no earlier turn" in seen(app)
        await pilot.press("g", "full_stop")
        assert app.turns.turn == 9


async def test_n_goes_through_the_changes_of_a_turn(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        passed = []
        for _ in range(6):
            await pilot.press("n")
            passed.append(app.detail.lines.selected)
        assert passed[:5] == [
            ItemKey(Category.INSTRUCTIONS, AGENTS),
            ItemKey(Category.SKILLS, Raw("link-check")),
            ItemKey(Category.TOOLS, SEARCH),
            ItemKey(Category.TOOLS, Raw("")),
            ItemKey(Category.CONVERSATION, Raw("")),
        ]
        assert passed[5] == passed[4]
        await pilot.press("N")
        assert app.detail.lines.selected == passed[3]
        assert app.turns.turn == 9


async def test_what_did_not_change_is_folded(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, size=(120, 60), turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await until(pilot, lambda: "▸ 1 unchanged" in seen(app))
        assert "docs/AGENTS.md" not in seen(app)
        app.detail.lines.select(FoldKey(Category.INSTRUCTIONS))
        await pilot.press("tab", "right")
        await pilot.pause()
        assert "▾ 1 unchanged" in seen(app)
        assert "docs/AGENTS.md" in seen(app)
        await pilot.press("left")
        await pilot.pause()
        assert "docs/AGENTS.md" not in seen(app)
        assert app.detail.lines.has_focus  # it folded; once more goes back to the turns
        await pilot.press("z")
        await pilot.pause()
        assert "▸" not in seen(app)
        await pilot.press("z")
        await pilot.pause()
        assert "docs/AGENTS.md" not in seen(app)


async def test_a_card_says_when_an_item_changed_and_what_it_cost(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await pilot.press("tab", "n", "enter")
        await until(pilot, lambda: "sent so far" in seen(app))
        text = seen(app)
        requests = [sum(len(t.requests) for t in source.ledgers["main"].turns if (t.n < 9) == early) for early in (True, False)]
        assert "there since turn 1 · changed in turn 9" in text
        assert re.search(rf"≈[\d,]+ × {requests[0]} \+ ≈[\d,]+ × {requests[1]} requests = ≈[\d.]+k sent so far", text)
        await pilot.press("escape")
        await pilot.pause()
        assert "sent so far" not in seen(app)
        assert app.detail.lines.has_focus
        await pilot.press("enter", "k", "enter")  # the card of another row closes this one's
        await pilot.pause()
        assert app.detail.diff.opened != ItemKey(Category.INSTRUCTIONS, AGENTS)


@pytest.mark.parametrize(("size", "two"), [((200, 60), True), ((120, 40), False), ((80, 24), False), ((80, 60), True)])
async def test_both_sides_stand_beside_each_other_where_the_pane_has_room(
    size: tuple[int, int], two: bool, source: FakeSource, tmp_path: Path
) -> None:
    async with running([source], tmp_path, size=size, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await until(pilot, lambda: "AGENTS.md" in seen(app))
        lines = [line for line in screen(app) if "~ AGENTS.md" in line]
        assert any(line.count("AGENTS.md") == 2 for line in lines) == two
        await pilot.press("u")
        await pilot.pause()
        wide = app.detail.lines.size.width >= 80
        assert any(line.count("AGENTS.md") == 2 for line in screen(app) if "~ AGENTS.md" in line) == (wide and not two)
        assert ("80 columns wide" in seen(app)) == (not wide)


async def test_a_marked_turn_is_the_other_side_of_every_comparison(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=3) as (app, pilot):
        await compared(app, pilot, 3)
        await pilot.press("m")
        await pilot.pause()
        assert "before: turn 3" in seen(app)
        await pilot.press("G")
        report = await compared(app, pilot, 12)
        assert report.before is not None
        assert (report.before.turn, report.after.turn) == (3, 12)
        await until(pilot, lambda: "3 ⇢ 12" in seen(app))
        assert "~ AGENTS.md" in seen(app)
        app.action_turn(3)
        await pilot.press("m")
        report = await compared(app, pilot, 3)
        assert report.before is not None
        assert report.before.turn == 2
        assert "⇢" not in seen(app)


# --- texts -------------------------------------------------------------------------------------------------


async def test_what_changed_in_a_text_is_shown_by_words_and_forgotten(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        assert source.asked == []
        await pilot.press("v")
        await until(pilot, lambda: "use blanks" in seen(app))
        assert app.detail.lines.has_focus
        text = seen(app)
        assert "- use tabs" in text
        assert "+ use blanks" in text
        spans = [s for row in app.detail.sheet().rows for cell in row.cells for s in cell.spans if s.strong]
        assert {"tabs", "blanks"} <= {s.text for s in spans}
        assert "use blanks" not in str(app.detail.picture())
        await pilot.press("tab")
        await pilot.pause()
        assert "use blanks" not in seen(app)
        assert not app.detail.revealed
        await pilot.press("shift+tab")
        assert "use blanks" not in seen(app)


@pytest.mark.parametrize("leave", [("escape",), ("2",), ("m",), ("v",)])
async def test_everything_that_leaves_it_forgets_a_text(leave: tuple[str, ...], source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await pilot.press("v")
        await until(pilot, lambda: "use blanks" in seen(app))
        await pilot.press(*leave)
        await pilot.pause(0.1)
        assert "use blanks" not in seen(app)
        assert not app.detail.revealed


async def test_keys_in_a_text_are_covered_until_they_are_asked_for(source: FakeSource, tmp_path: Path) -> None:
    source.texts[NEW] = Confirmed(Raw(f"# Rules\n\nuse blanks\ntoken {KEY}\n"))
    async with running([source], tmp_path, size=(160, 50), turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await pilot.press("v")
        await until(pilot, lambda: "v uncovers it" in seen(app))
        assert KEY[:24] not in seen(app)
        await pilot.press("v")
        await until(pilot, lambda: KEY[:24] in seen(app))
        await pilot.press("v")
        await pilot.pause()
        assert KEY[:24] not in seen(app)
        assert "use blanks" not in seen(app)


async def test_a_text_never_reaches_a_file_or_the_clipboard(source: FakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running([source], tmp_path / "state", turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        await pilot.press("v")
        await until(pilot, lambda: "use blanks" in seen(app))
        await pilot.press("y", *"this tab", "enter")
        await pilot.pause()
        assert "AGENTS.md" in app.clipboard
        assert "blanks" not in app.clipboard
        assert "use blanks" in seen(app)
        app.action_save_picture()
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "ctx-inspect-1.svg").exists())
    assert not [p for p in written(tmp_path) if b"blanks" in p.read_bytes()]


async def test_where_the_store_keeps_no_text_v_says_so(tmp_path: Path) -> None:
    async with running([FakeSource([ledger("opencode:main", "x", 5)])], tmp_path) as (app, pilot):
        await compared(app, pilot, 5)
        await pilot.press("v")
        await pilot.pause()
        assert "the store keeps no text of what changed here" in seen(app)


# --- threads -----------------------------------------------------------------------------------------------


async def test_keys_work_while_turns_are_compared_and_esc_stops_it(
    source: FakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctx_inspect.app import study

    started, ended = threading.Event(), threading.Event()

    def endless(made: Ledger, before: object, stop: Callable[[], bool], **_known: object) -> object:
        started.set()
        while not stop():
            ended.wait(0.01)
        ended.set()
        return study.Drift((), stopped=True)

    monkeypatch.setattr(study, "drift", endless)
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, started.is_set)
        await until(pilot, lambda: "comparing " in seen(app) and "Esc stops" in seen(app))
        await pilot.press("k", "k")
        assert app.turns.turn == 10
        await compared(app, pilot, 10)  # a turn's own comparison waits for nothing
        await pilot.press("escape")
        await until(pilot, ended.is_set)
        assert "comparing the turns was stopped" in seen(app)
        assert "Esc stops" not in seen(app)


async def test_an_error_while_comparing_is_said_and_the_rest_goes_on(
    source: FakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ctx_inspect.app import study

    def broken(*_: object, **__: object) -> object:
        raise ZeroDivisionError("sk-secret-in-a-message")

    monkeypatch.setattr(study, "report", broken)
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, lambda: "comparing a turn failed (ZeroDivisionError)" in seen(app))
        assert "sk-secret" not in seen(app)
        await pilot.press("2")
        await pilot.pause()
        assert "Sum of the above" in seen(app)


async def test_news_are_compared_too(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path) as (app, pilot):
        await until(pilot, lambda: len(app.turns.told.drift) == 12)
        source.ledgers["main"] = session(turns=14, at=13)
        source.news, source.version = frozenset({"main"}), 1
        await until(pilot, lambda: len(app.turns.told.drift) == 14)
        assert app.turns.told.changed(13)
        assert not app.turns.told.changed(9)


async def test_what_moved_is_a_panel_where_there_is_room_else_a_sheet(source: FakeSource, tmp_path: Path) -> None:
    async with running([source], tmp_path, size=(200, 60)) as (app, pilot):
        await until(pilot, lambda: "What moved" in seen(app))
        row = next(line[:34] for line in screen(app) if line.startswith(" AGENTS.md") and "·" in line)
        assert row.split()[1] == "·······~···"  # turn 1 has nothing to compare
        await pilot.press("w")
        await pilot.pause()
        assert "What moved" not in seen(app)
    async with running([source], tmp_path, size=(80, 24)) as (app, pilot):
        await until(pilot, lambda: app.mapped is not None)
        await pilot.press("w")
        await pilot.pause()
        assert "tool order" in seen(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "tool order" not in seen(app)


async def test_the_report_is_copied_in_each_form_and_written_as_a_picture(
    source: FakeSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running([source], tmp_path / "state", turn=9) as (app, pilot):
        await compared(app, pilot, 9)
        for words, beginning in (
            ("as text", "Context changes"),
            ("as markdown", "### Context changes"),
            ("changed, as json", '{"schema":"ctx-inspect/diff/1"'),
        ):
            await pilot.press("y", *words, "enter")
            await pilot.pause()
            assert app.clipboard.startswith(beginning)
            assert "A session" not in app.clipboard
        await pilot.press("y", *"prints the report", "enter")
        await pilot.pause()
        assert app.clipboard == "ctx-inspect diff --against 8 pi:main 9"
        await pilot.press("y", *"picture", "enter")
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: (tmp_path / "ctx-inspect-1.svg").exists())
        assert "AGENTS.md" in (tmp_path / "ctx-inspect-1.svg").read_text()
