"""Field reports 40, 42-44: what is shown, and what is listed at all, through the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import terminal
from rich.cells import cell_len

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import tool as oc_tool
from tests.builders.pi import Call, PiStore, folder_of, sections, tool
from tests.command import Call as Cli
from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert
from tests.fields.claims import holds, sessions, show, turns

SURROGATES = {n: t for n, t in HOSTILE.items() if "surrogate" in n}
STORED = {n: t for n, t in HOSTILE.items() if n not in SURROGATES}
"""A store in UTF-8 cannot hold lone surrogates but as JSON escapes; these have a test of their own."""


@pytest.mark.field(40)
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_hostile_text_of_pi_is_visible_and_inert(cli: Cli, tmp_path: Path, text: str) -> None:
    s = PiStore(tmp_path).session(cwd="/home/ann/" + text.replace("\0", ""))
    path = s.path
    s.rename(text)
    s.system(sections=sections(instructions={"/x/AGENTS.md": text}), tools=[tool(text or "t", text)])
    s.turn(text, calls=[Call(text or "t", {"command": text}, result=text)], answer=text)
    _inert_everywhere(cli, path, text)
    listed = sessions(cli, path)["sessions"][0]
    if text.strip():
        assert listed["title"].strip() == text.strip()


@pytest.mark.field(40)
@pytest.mark.parametrize("text", STORED.values(), ids=STORED)
def test_hostile_text_of_opencode_is_visible_and_inert(cli: Cli, tmp_path: Path, text: str) -> None:
    with OpenCodeDB(tmp_path / "opencode.db") as db:
        s = db.session(text, directory="/home/ann/" + text.replace("\0", ""), agent=text)
        s.user(text or "x")
        s.step(text, oc_tool(text or "t", {"command": text}, text))
        s.step(text)
    _inert_everywhere(cli, tmp_path / "opencode.db", text)
    # SQLite ends a text at NUL where it is asked for one
    assert sessions(cli, tmp_path / "opencode.db")["sessions"][0].get("title", "") in (text, text.split("\0")[0])


def _inert_everywhere(cli: Cli, path: Path, text: str) -> None:
    for args in (
        ["sessions"],
        ["turns", "last", "--text"],
        ["show", "last", "1", "--text"],
        ["show", "last", "1", "--step", "2", "--text"],
    ):
        plain = cli(*args, "--source", str(path))
        assert plain.code == 0, plain.err
        assert inert((plain.out + plain.err).replace("\n", ""))
        data = cli(*args, "--json", "--source", str(path))
        assert inert(data.out.removesuffix("\n"))
        json.loads(data.out)
    # the mutation: without the border the same check fails wherever there is anything to obey
    assert inert(text) == (terminal(Raw(text)) == text) or "marks" in text or text in _ONLY_BY_PLACE


_ONLY_BY_PLACE = {HOSTILE[n] for n in ("a tower of marks", "a mark with nothing below", "flags and skin")}
"""Harmless code points, made visible because of where they stand."""


@pytest.mark.field(40)
@pytest.mark.parametrize("text", SURROGATES.values(), ids=SURROGATES)
def test_lone_surrogates_of_a_file(cli: Cli, tmp_path: Path, text: str) -> None:
    s = PiStore(tmp_path).session()
    with s.held() as lines:
        s.user("HERE")
    s.raw(b"".join(line.replace(b"HERE", json.dumps(text)[1:-1].encode()) + b"\n" for line in lines))
    s.assistant("ok")
    done = cli("turns", "last", "--text", "--source", str(s.path))
    assert done.code == 0
    done.out.encode()
    assert inert(done.out.replace("\n", ""))
    assert len(turns(cli, s.path)["turns"]) == 1


@pytest.mark.field(42)
def test_the_project_is_what_the_records_say(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, cwd: str) -> Path:
        store = PiStore(tmp_path / name)
        s = store.session(cwd="/home/ann/a-b/c")
        path = s.path
        s.turn("one")
        lines = path.read_bytes().split(b"\n")
        lines[0] = json.dumps({**json.loads(lines[0]), "cwd": cwd}).encode()
        path.write_bytes(b"\n".join(lines))
        return store.sessions

    # three directories with one folder name
    assert folder_of("/home/ann/a-b/c") == folder_of("/home/ann/a/b/c") == folder_of("/home/ann/a:b/c")

    def claim(answer: Any) -> None:
        assert answer["sessions"][0]["project"]["path"] == "/home/ann/a/b/c"
        assert answer["sessions"][0]["directory"] == "/home/ann/a/b/c"

    holds(claim, sessions(cli, written("right", "/home/ann/a/b/c")), sessions(cli, written("other", "/home/ann/a:b/c")))


@pytest.mark.field(43)
@pytest.mark.parametrize("kind", ["tool row first", "no user row", "only settings"])
def test_a_session_without_a_beginning_is_listed_from_pi(cli: Cli, tmp_path: Path, kind: str) -> None:
    store = PiStore(tmp_path)
    ordinary = store.session(id="ordinary")
    ordinary.turn("one")
    s = store.session(id="odd")
    if kind == "tool row first":
        s.result("call_x", "late")
        s.turn("then", answer="ok")
    elif kind == "no user row":
        s.assistant("hello")

    def claim(answer: Any) -> None:
        assert {row["id"] for row in answer["sessions"]} == {"ordinary", "odd"}

    right = sessions(cli, store.sessions)
    s.path.unlink()
    holds(claim, right, sessions(cli, store.sessions))


@pytest.mark.field(43)
@pytest.mark.parametrize("kind", ["tool row first", "no user row", "no row"])
def test_a_session_without_a_beginning_is_listed_from_opencode(cli: Cli, tmp_path: Path, kind: str) -> None:
    def written(name: str, odd: bool) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            db.session("ordinary").turn("one")
            if odd:
                s = db.session("odd")
                if kind == "tool row first":
                    s.step(oc_tool("bash", {"command": "ls"}, "x"))
                    s.turn("then")
                elif kind == "no user row":
                    s.step("hello")
        return tmp_path / name / "opencode.db"

    def claim(answer: Any) -> None:
        assert {row["title"] for row in answer["sessions"]} == {"ordinary", "odd"}

    holds(claim, sessions(cli, written("odd", True)), sessions(cli, written("plain", False)))


@pytest.mark.field(44)
def test_wide_text_keeps_columns(cli: Cli, tmp_path: Path) -> None:
    titles = ["plain words", "重构认证模块", "🚀 ship it", "cafe\u0301 ＡＢＣ", "한국어 제목"]
    store = PiStore(tmp_path)
    for i, title in enumerate(titles):
        s = store.session(id=f"s-{i}", cwd="/srv/" + title)
        s.rename(title)
        s.turn(title, calls=[Call("工具🔧", {})])

    def column(lines: list[str]) -> set[int]:
        """Return the cells before each title."""
        out: set[int] = set()
        for line in lines:
            # a title stands at the end, its project before it
            title = next((t for t in titles if line.endswith(t)), None)
            if title is not None:
                out.add(cell_len(line[: -len(title)]))
        return out

    lines = cli("sessions", "--source", str(store.sessions)).out.splitlines()
    assert len(lines) == 1 + len(titles)

    def claim(lines: list[str]) -> None:
        assert len(column(lines)) == 1

    # the mutation: the same columns padded by code points
    parts = [line.split("/srv/") for line in lines[1:]]
    wrong = [a + "/srv/" + b.split("  ")[0].ljust(20) + b.split("  ")[-1] for a, b in parts]
    holds(claim, lines, wrong)
    told = show(cli, store.sessions, "1")
    assert told["turn"] == 1
