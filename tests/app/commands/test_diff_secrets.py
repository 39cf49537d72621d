"""No report, in whatever format, holds a secret, an escape sequence, a title or a text of the context; and its picture is its text."""

from __future__ import annotations

import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.app.svg import BASELINE, CELL_H, CELL_W
from ctx_inspect.core.text.width import cells

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import reasoning
from tests.builders.opencode_parts import tool as oc_tool
from tests.builders.pi import Call as Use
from tests.builders.pi import PiStore, project_context, sections, skills_section, tool
from tests.command import Call
from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert

NS = "{http://www.w3.org/2000/svg}"
FORMATS = ((), ("--json",), ("--markdown",), ("--svg",))
BODY = "Zx9" * 14


class Plant:
    """Makes texts that must not be seen: keys of several shapes, and words that only a title or a text of the context has."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.words: list[str] = []
        self._n = itertools.count(1000)

    def key(self, frame: str = "{}") -> str:
        """Return a text with a key in it, for where names stand."""
        n = next(self._n)
        self.keys.append((f"sk-ant-api03-{n}{BODY}", f"ghp_{n}{BODY}"[:44], f"AKIA{n}ABCDEFGHIJKL", f"xoxb-{n}-{BODY}")[n % 4])
        return frame.format(self.keys[-1])

    def text(self) -> str:
        """Return a text with a word and a key in it, for where texts stand."""
        self.words.append(f"marzipan{next(self._n)}")
        return self.key(f"say {self.words[-1]} \x1b[31m and {{}} now")


def pi(folder: Path, p: Plant) -> Path:
    store = PiStore(folder)
    s = store.session(cwd="/home/ann/" + p.key())
    s.rename(p.text())
    same = "/x/" + p.key()
    kept = tool(p.key(), p.text(), city="string")
    gone = tool(p.key(), p.text())
    s.system(sections(instructions={same: p.text(), "/y/" + p.key(): p.text()}, skills={p.key(): (p.text(), "/s")}), tools=[kept, gone])
    first = s.turn(p.text(), calls=[Use(p.key(), {"command": p.text()}, result=p.text())], answer=p.text())
    s.turn(p.text())
    s.go(first[-1])
    s.branch_summary(p.text())
    s.system(
        {
            "project_context": project_context({"/z/" + p.key(): p.text(), same: p.text()}),
            "skills": skills_section({p.key(): (p.text(), "/t")}),
            p.key("driver-{}"): p.text(),
        },
        tools=[{**kept, "description": p.text()}, tool(p.key(), p.text())],
        removed=[gone["name"]],
    )
    s.model(p.key(), p.key())
    s.thinking(p.key())
    s.turn(p.text(), answer=p.text(), thinking=p.text())
    s.context_edit(first[1], p.text())
    s.compaction(p.text(), kept=first[-1])
    s.turn(p.text(), error=p.text())
    return store.sessions


def opencode(folder: Path, p: Plant) -> Path:
    path = folder / "opencode.db"
    with OpenCodeDB(path) as db:
        s = db.session(p.text(), directory="/home/ann/" + p.key(), agent=p.key(), model=(p.key(), p.key()))
        s.user(p.text(), system=p.text())
        s.step(p.text(), reasoning(p.text()), oc_tool(p.key(), {"command": p.text()}, p.text()))
        s.step(p.text())
        s.user(p.text(), agent=p.key(), model=(p.key(), p.key()))
        s.step(p.text(), oc_tool(p.key(), {"command": p.text()}, p.text()))
        s.compact(p.text())
        s.turn(p.text(), p.text())
        s.user(p.text())
        s.step(p.text(), error="APIError")
    return path


def every_report(cli: Call, path: Path, *more: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (arguments, all that is written) of reports of each turn, of a pair and of steps, in every format."""
    turns = [t["n"] for t in cli("turns", "last", "--json", "--source", str(path)).json["turns"]]
    assert len(turns) > 1
    calls = [("diff", "last", str(n)) for n in turns] + [
        ("diff", "last", str(turns[-1]), "--against", "1"),
        ("diff", "last", "1", "--step", "2"),
    ]
    for call, form in itertools.product(calls, FORMATS):
        done = cli(*call, *form, *more, "--source", str(path))
        assert done.code in (0, 4, 5), (call, form, done.err)
        yield (*call, *form), done.out + done.err


def checked(cli: Call, path: Path) -> Iterator[str]:
    """Yield all that ``check`` writes, with rules that are broken and rules of which that cannot be told."""
    rules = ["--budget", "instructions=1", "--budget", "tools=1", "--no-reorder", "--no-rewrite", "--max-rewrite", "1"]
    for form in ((), ("--json",)):
        done = cli("check", "last", *rules, *form, "--source", str(path))
        assert done.code in (1, 5), done.err
        yield done.out + done.err


@pytest.mark.field(41)
@pytest.mark.parametrize("write", [pi, opencode])
@pytest.mark.parametrize("more", [(), ("--redact-names",)], ids=["names", "no names"])
def test_no_report_holds_a_secret_a_title_or_a_text(
    cli: Call, tmp_path: Path, write: Callable[[Path, Plant], Path], more: tuple[str, ...]
) -> None:
    plant = Plant()
    path = write(tmp_path / "store", plant)
    whole = ""
    for args, out in every_report(cli, path, *more):
        assert [k for k in plant.keys if k[:13] in out or k in out] == [], args
        assert [w for w in plant.words if w in out] == [], args
        assert "\x1b" not in out
        whole += out
    assert "Conversation" in whole
    if not more:
        assert "[redacted:" in whole
    for out in checked(cli, path):
        assert [k for k in plant.keys if k[:13] in out] == []
        assert [w for w in plant.words if w in out] == []
        assert "\x1b" not in out
    # uncovered, names are there, and still no text and no title
    uncovered = "".join(out for _, out in every_report(cli, path, "--uncover"))
    assert any(k in uncovered for k in plant.keys)
    assert [w for w in plant.words if w in uncovered] == []
    assert "\x1b" not in uncovered
    # the same words are found where they are asked for
    shown = cli("turns", "last", "--text", "--uncover", "--source", str(path)).out
    assert any(w in shown for w in plant.words)
    assert any(k in shown for k in plant.keys)


@pytest.mark.field(41)
def test_names_are_left_out_where_that_is_asked_for(cli: Call, tmp_path: Path) -> None:
    store = PiStore(tmp_path)
    s = store.session(cwd="/home/ann/walnut")
    s.system(sections(instructions={"/home/ann/almond.md": "1"}, skills={"hazel": ("d", "/s")}), tools=[tool("pecan", "d")])
    s.turn("one")
    s.system(
        {
            "project_context": project_context({"/home/ann/almond.md": "2"}),
            "skills": skills_section({"macadamia": ("d", "/s")}),
            "cashew": "<cashew>\nx\n</cashew>",
        },
        tools=[tool("pecan", "e")],
    )
    s.turn("two")
    names = ("almond", "hazel", "pecan", "macadamia", "cashew", "walnut")
    for form in FORMATS:
        out = cli("diff", "last", "2", *form, "--source", str(s.path)).out
        assert [n for n in names[:-1] if n not in out] == [], form
        out = cli("diff", "last", "2", *form, "--redact-names", "--source", str(s.path)).out
        assert [n for n in names if n in out] == [], form


STORED = {n: t for n, t in HOSTILE.items() if "surrogate" not in n}


@pytest.mark.field(40)
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_hostile_names_are_visible_and_inert(cli: Call, tmp_path: Path, text: str) -> None:
    s = PiStore(tmp_path).session(cwd="/home/ann/" + text.replace("\0", ""))
    name = text or "t"
    s.system(sections(instructions={"/x/" + text: "1"}, skills={name: (text, text)}), tools=[tool(name, text), tool("b" + text, text)])
    s.turn(text)
    s.model(name, name)
    s.system(
        {"project_context": project_context({"/x/" + text: "2", text + "/y": "3"}), name: text},
        tools=[tool(name, "d" + text)],
        removed=["b" + text],
    )
    s.turn(text)
    _inert_in_every_format(cli, s.path)


@pytest.mark.field(40)
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_hostile_names_of_opencode_are_visible_and_inert(cli: Call, tmp_path: Path, text: str) -> None:
    path = tmp_path / "opencode.db"
    with OpenCodeDB(path) as db:
        s = db.session(text, directory="/home/ann/" + text.replace("\0", ""), agent=text, model=(text, text))
        s.user(text or "x", system=text)
        s.step(text, oc_tool(text or "t", {"command": text}, text))
        s.user(text or "x", agent="b" + text, model=("b" + text, text + "b"))
        s.step(text)
    _inert_in_every_format(cli, path)


def _inert_in_every_format(cli: Call, path: Path) -> None:
    for form in FORMATS:
        for more in ((), ("--redact-names",), ("--uncover",)):
            done = cli("diff", "last", "2", *form, *more, "--source", str(path))
            assert done.code == 0, done.err
            out = done.out.removesuffix("\n") if form == ("--json",) else done.out.replace("\n", "")
            assert inert(out), form
            if form == ("--json",):
                json.loads(done.out)
            if form == ("--svg",):
                tags = {e.tag.removeprefix(NS) for e in ET.fromstring(done.out).iter()}
                assert tags <= {"svg", "title", "desc", "g", "rect", "circle", "text", "tspan", "path", "line"}


# -- the picture ----------------------------------------------------------------------------------------------------------

BLOCK = re.compile("[▏▎▍▌▋▊▉█▁▂▃▄▅▆▇]")


def grid(svg: str) -> dict[tuple[int, int], str]:
    """Return what stands in each cell of a picture; the second cell of a wide character is not there."""
    found: dict[tuple[int, int], str] = {}
    for element in ET.fromstring(svg).iter(NS + "text"):
        x, y = float(element.get("x", "nan")) / CELL_W, (float(element.get("y", "nan")) - BASELINE) / CELL_H
        assert x == pytest.approx(round(x), abs=0.02)
        assert y == pytest.approx(round(y), abs=0.02)
        text = "".join(element.itertext())
        assert float(element.get("textLength", "nan")) == pytest.approx(cells(text) * CELL_W, abs=0.1)
        for place, char in columns(text, round(x)):
            assert (round(y), place) not in found
            found[round(y), place] = char
    return {at: char for at, char in found.items() if char != " "}


def columns(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (cell, character with the marks on it) of a line."""
    at = start
    held = ""
    for char in text:
        if held and cells(held + char) == cells(held):
            held += char
            continue
        if held:
            yield at, held
            at += cells(held)
        held = char
    if held:
        yield at, held


def drawn(text: str) -> dict[tuple[int, int], str]:
    """Return what stands in each cell of a text; blocks are drawn as rectangles, not as text."""
    lines = text.removesuffix("\n").split("\n")
    return {(y, x): c for y, line in enumerate(lines) for x, c in columns(line) if c != " " and not BLOCK.match(c)}


def compare_pictures(cli: Call, path: Path, *args: str) -> None:
    text = cli("diff", "last", *args, "--source", str(path))
    svg = cli("diff", "last", *args, "--svg", "--source", str(path))
    assert (text.code, svg.code) == (0, 0), text.err + svg.err
    want, got = drawn(text.out), grid(svg.out)
    assert len(want) > 100
    assert got == want


@pytest.mark.parametrize("write", [pi, opencode])
def test_a_picture_shows_what_the_text_says_cell_by_cell(cli: Call, tmp_path: Path, write: Callable[[Path, Plant], Path]) -> None:
    path = write(tmp_path / "store", Plant())
    for args in (("1",), ("2",), ("3",), ("2", "--against", "1"), ("1", "--step", "2"), ("2", "--redact-names")):
        compare_pictures(cli, path, *args)


@pytest.mark.parametrize("name", ["帮我", "é" * 3, "a\u0301b", "‹", "x" * 300, "重构" * 60])
def test_wide_and_long_names_stand_where_the_text_has_them(cli: Call, tmp_path: Path, name: str) -> None:
    s = PiStore(tmp_path).session()
    s.system(sections(instructions={f"/x/{name}.md": "1"}), tools=[tool(name, "d")])
    s.turn("one")
    s.system({"project_context": project_context({f"/x/{name}.md": "2"})}, tools=[tool(name, "e")])
    s.turn("two")
    compare_pictures(cli, s.path, "2")


def test_a_file_is_written_where_that_is_asked_for_and_never_over_another(cli: Call, tmp_path: Path) -> None:
    path = pi(tmp_path / "store", Plant())
    for form in ("--markdown", "--svg"):
        out: Any = tmp_path / f"report{form}"
        on_screen = cli("diff", "last", "2", form, "--source", str(path)).out
        done = cli("diff", "last", "2", form, "-o", str(out), "--source", str(path))
        assert done.code == 0, done.err
        assert out.read_text("utf-8") == on_screen
        again = cli("diff", "last", "1", form, "-o", str(out), "--source", str(path))
        assert again.code != 0
        assert out.read_text("utf-8") == on_screen
