"""Field report 41, as far as there are ways out: secrets in every place of a store, and every byte that a command writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

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
