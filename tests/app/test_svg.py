from __future__ import annotations

import errno
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from ctx_inspect.app import svg
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.text.width import cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tests.app.fakes import FakeSource, ledger, sample
from tests.app.screens import running, screen, until

NS = "{http://www.w3.org/2000/svg}"


def draw(*segments: Segment, width: int = 20) -> ET.Element:
    return ET.fromstring(svg.picture([Strip(segments)], width, "#121318", "#d7dae0", "t", cells))


def test_hostile_text_is_text() -> None:
    root = draw(Segment('</text><script>x</script>&amp;"\u202e\x00'))
    assert not list(root.iter(NS + "script"))
    text = "".join(root.find(f".//{NS}text").itertext())  # type: ignore[union-attr]
    assert text.startswith('</text><script>x</script>&amp;"')
    assert "\u202e" not in text


def test_columns_stand_where_they_are_whatever_the_font() -> None:
    root = draw(Segment("帮我 x", Style(bold=True)))
    text = root.find(f".//{NS}text")
    assert text is not None
    assert float(text.get("textLength", "0")) == pytest.approx(6 * svg.CELL_W, abs=0.1)
    assert text.get("font-weight") == "bold"


def test_blocks_are_drawn_without_seams() -> None:
    root = draw(Segment("a█▌b", Style(color="#5fc9a8")))
    boxes = [r for r in root.iter(NS + "rect") if r.get("fill") == "#5fc9a8"]
    assert [round(float(b.get("width", "0")) / svg.CELL_W, 1) for b in boxes] == [1.0, 0.5]
    assert ["".join(t.itertext()) for t in root.iter(NS + "text")] == ["a", "b"]


def test_reverse_swaps_the_colours() -> None:
    root = draw(Segment("x", Style(color="#ffffff", bgcolor="#000000", reverse=True)))
    assert any(r.get("fill") == "#ffffff" for r in root.iter(NS + "rect"))


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_the_screen_is_well_formed_xml_and_a_picture_never_replaces_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil = ledger("pi:a", 'bad <title> & "quotes" \x1b[31m', 3)
    async with running([FakeSource([evil, *sample()])], tmp_path / "state", session="pi:a") as (app, pilot):
        (tmp_path / "ctx-inspect-1.svg").write_text("mine")
        app.deliver_screenshot()
        await pilot.pause()
        await pilot.press("enter")  # a name that is free stands there already
        await until(pilot, lambda: "picture written: ctx-inspect-2.svg" in seen(app))
        assert not app.trouble.problems
        app.deliver_screenshot()
        await pilot.pause()
        await pilot.press("ctrl+u", *"ctx-inspect-1.svg", "enter")
        await until(pilot, lambda: "ctx-inspect-1.svg exists already" in seen(app))
        app.deliver_screenshot()
        await pilot.pause()
        await pilot.press("ctrl+u", *"no/such/folder.svg", "enter")
        await until(pilot, lambda: "could not be written to no/such/folder.svg" in seen(app))
    assert (tmp_path / "ctx-inspect-1.svg").read_text() == "mine"
    root = ET.fromstring((tmp_path / "ctx-inspect-2.svg").read_text())
    assert any("bad <title>" in "".join(t.itertext()) for t in root.iter(NS + "text"))


def test_half_of_a_picture_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    def opened(path: Path, mode: str, encoding: str) -> Full:
        path.touch(exist_ok=False)
        return Full()

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(OSError, match="No space"):
        svg.write(tmp_path / "x.svg", "picture")
    assert list(tmp_path.iterdir()) == []
