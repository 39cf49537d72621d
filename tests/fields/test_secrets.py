"""Field report 41, as far as there are ways out: secrets in every place of a store, and every byte that a command writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ctx_inspect.core.model import Raw, replace
from ctx_inspect.core.views.sessions import project_name

from tests.app.fakes import info
from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import reasoning
from tests.builders.opencode_parts import tool as oc_tool
from tests.builders.pi import Call, PiStore, sections, tool
from tests.command import Call as Cli
from tests.fields.claims import holds

BODY = "Zx9" * 14


def secrets() -> Iterator[str]:
    """Yield keys of several shapes, each another one."""
    n = 0
    while True:
        n += 1
        yield (f"sk-ant-api03-{n:04d}{BODY}", f"ghp_{n:04d}{BODY}"[:44], f"AKIA{n:04d}ABCDEFGHIJKL", f"xoxb-{n:04d}-{BODY}")[n % 4]


class Planter:
    def __init__(self) -> None:
        self.made: list[str] = []
        self._next = secrets()

    def __call__(self, frame: str = "use {} now") -> str:
        secret = next(self._next)
        self.made.append(secret)
        return frame.format(secret)


def pi(folder: Path, p: Planter) -> Path:
    store = PiStore(folder)
    store.models({"acme": {"large": 200_000}})
    s = store.session(cwd="/home/ann/" + p("{}"))
    s.rename(p())
    s.system(sections=sections(instructions={"/x/" + p("{}"): p()}, cwd=p()), tools=[tool(p("{}"), p())])
    s.turn(p(), calls=[Call(p("{}"), {"command": p()}, result=p())], answer=p())
    s.custom_message(p())
    s.compaction(p())
    s.bash(p(), p())
    s.assistant(p(), thinking=p(), error=p("401 bad key {}"))
    s.model(p("{}"), p("{}"))
    s.turn(p())
    return store.sessions


def opencode(folder: Path, p: Planter) -> Path:
    path = folder / "opencode.db"
    with OpenCodeDB(path) as db:
        db.secrets(p("{}"), p("{}"))
        s = db.session(p(), directory="/home/ann/" + p("{}"), agent=p("{}"), model=(p("{}"), p("{}")))
        s.user(p(), system=p())
        s.step(p(), reasoning(p()), oc_tool(p("{}"), {"command": p()}, p()))
        s.step(p(), error="APIError")
        s.shell(p(), p())
        s.compact(p())
        s.turn(p(), p())
    return path


CUTS = (40, 60, 80, 120, 200, 800, 4_000)
"""Characters at which some text is cut on its way: titles, names, beginnings of inputs."""


def straddling(p: Planter, cut: int) -> str:
    """Return a text in which a key lies across a cut, so that a part of it is before it whatever a few words more or less."""
    return ("word " * cut)[: cut - 13] + " " + p("{}") + " and more"


def pi_cuts(folder: Path, p: Planter) -> Path:
    store = PiStore(folder)
    for cut in CUTS:
        s = store.session(cwd="/home/ann/" + straddling(p, min(cut, 120)))
        s.turn(straddling(p, cut), calls=[Call(straddling(p, cut), {"command": straddling(p, cut)}, result=straddling(p, cut))])
        s.model("acme", straddling(p, cut))
        s.label(s.turn(straddling(p, cut))[0], straddling(p, cut))
    named = store.session(cwd="/home/ann/shop")
    named.turn("one")
    named.rename(straddling(p, 200))
    return store.sessions


def opencode_cuts(folder: Path, p: Planter) -> Path:
    path = folder / "opencode.db"
    with OpenCodeDB(path) as db:
        for cut in CUTS:
            s = db.session(straddling(p, cut), directory="/home/ann/" + straddling(p, cut), agent=straddling(p, cut))
            s.user(straddling(p, cut), agent=straddling(p, cut), model=("acme", straddling(p, cut)))
            s.step(straddling(p, cut), oc_tool(straddling(p, cut), {"command": straddling(p, cut)}, straddling(p, cut)))
    return path


@pytest.mark.field(41)
@pytest.mark.parametrize("write", [pi_cuts, opencode_cuts])
def test_no_part_of_a_key_is_left_where_a_text_is_cut(cli: Cli, tmp_path: Path, write: object) -> None:
    plant = Planter()
    path = write(tmp_path / "store", plant)  # type: ignore[operator]

    def everything(*more: str) -> str:
        out = cli("sessions", *more, "--source", str(path)).out + cli("sessions", "--json", *more, "--source", str(path)).out
        keys = [s["key"] for s in cli("sessions", "--json", "--source", str(path)).json["sessions"]]
        assert len(keys) >= len(CUTS)
        for key in keys:
            for call in (["turns", key, "--text"], ["show", key, "1", "--text"], ["show", key, "--text"]):
                for form in ([], ["--json"]):
                    done = cli(*call, *form, *more, "--source", str(path))
                    assert done.code == 0, done.err
                    out += done.out + done.err
        return out

    def claim(out: str) -> None:
        # so many characters of a key are one, whatever stands before them
        assert [s for s in plant.made if s[:9] in out] == []
        assert "[redacted:" in out

    holds(claim, everything(), everything("--uncover"))


@pytest.mark.field(41)
def test_what_is_left_of_a_text_after_its_keys_are_covered_does_not_end_in_half_a_key(cli: Cli, tmp_path: Path) -> None:
    plant = Planter()
    s = PiStore(tmp_path).session()
    block = "-----BEGIN PRIVATE KEY-----\n" + "Ab1+" * 950 + "\n-----END PRIVATE KEY-----\n"
    text = block + "x " * ((4_000 - len(block) - 12) // 2) + " " + plant("{}")
    assert len(text) > 4_000 > len(text) - len(plant.made[0])
    s.turn(text)

    def claim(out: str) -> None:
        assert plant.made[0][:9] not in out
        assert "[redacted:private-key]" in out

    calls = [cli(*call, "--source", str(s.path)).out for call in (["turns", "last", "--text"], ["sessions"], ["sessions", "--json"])]
    for out in calls:
        claim(out)


@pytest.mark.field(41)
def test_a_folder_inside_a_key_is_no_project_name() -> None:
    where = Raw("/srv/hooks.slack.com/services/T0123ABCD/B0123ABCD/" + BODY[:24])
    assert BODY[:6] not in project_name(replace(info("pi:s", None), project=where, directory=where))


@pytest.mark.field(41)
@pytest.mark.parametrize("write", [pi, opencode])
def test_no_secret_is_in_anything_that_is_written(cli: Cli, tmp_path: Path, write: object) -> None:
    plant = Planter()
    path = write(tmp_path / "store", plant)  # type: ignore[operator]
    assert len(plant.made) > 15

    def everything(*more: str) -> str:
        out = ""
        calls = [["sessions"], ["turns", "last", "--text"], ["doctor"], ["last"]]
        calls += [["show", "last", turn, "--text"] for turn in ("1", "-1", "last")]
        calls += [["show", "last", "99"], ["turns", "nope"]]
        for call in calls:
            extra = more if call[0] in ("sessions", "turns", "show") else ()
            for form in ([], ["--json"]):
                done = cli(*call, *form, *extra, "--source", str(path))
                assert done.code in (0, 4), done.err
                out += done.out + done.err
        for file in Path(os.environ["HOME"]).rglob("*"):
            if file.is_file():
                out += file.read_bytes().decode("utf-8", "replace")
        return out

    def claim(out: str) -> None:
        assert [s for s in plant.made if s in out] == []
        assert "[redacted:" in out
        assert "never-show-this" not in out

    holds(claim, everything(), everything("--uncover"))
