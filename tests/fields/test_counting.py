"""Field reports 21-28 (docs/field-reports.md): what is counted, from both stores, through the command."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.builders.opencode import OpenCodeDB
from tests.builders.opencode_parts import Usage
from tests.builders.opencode_parts import image as oc_image
from tests.builders.pi import PiStore, Spent, image
from tests.command import Call as Cli
from tests.fields.claims import holds, sessions, show, texts, turns

Figures = tuple[int, int, int, int]
"""Input (without the cached part), output, cache read, cache write."""


def pi(folder: Path, *steps: Figures) -> Path:
    s = PiStore(folder).session()
    for i, (new, out, read, write) in enumerate(steps):
        s.turn(f"question {i}", usage=Spent(new, out, read, write))
    return s.path


def opencode(folder: Path, *steps: Figures) -> Path:
    with OpenCodeDB(folder / "opencode.db") as db:
        s = db.session()
        for i, (new, out, read, write) in enumerate(steps):
            s.user(f"question {i}")
            s.step("ok", usage=Usage(new, out, read, write))
    return folder / "opencode.db"


BOTH = pytest.mark.parametrize("write", [pi, opencode])
Write = Callable[..., Path]


@pytest.mark.field(21)
@BOTH
def test_the_window_holds_what_was_cached(cli: Cli, tmp_path: Path, write: Write) -> None:
    def claim(answer: Any) -> None:
        assert answer["turns"][0]["window"]["tokens"] == 44_000
        assert answer["current"]["tokens"] == 44_000

    holds(
        claim,
        turns(cli, write(tmp_path / "a", (3, 20, 43_000, 997))),
        turns(cli, write(tmp_path / "b", (3, 20, 0, 0))),
        turns(cli, write(tmp_path / "c", (3, 20, 43_000, 0))),
    )


@pytest.mark.field(22)
@BOTH
def test_output_is_no_part_of_the_window(cli: Cli, tmp_path: Path, write: Write) -> None:
    def claim(answer: Any) -> None:
        assert answer["turns"][0]["window"]["tokens"] == 190_000
        assert answer["turns"][0]["steps"][0]["usage"]["output"] == 20_000

    holds(
        claim,
        turns(cli, write(tmp_path / "a", (10_000, 20_000, 180_000, 0))),
        turns(cli, write(tmp_path / "b", (30_000, 20_000, 180_000, 0))),
    )


@pytest.mark.field(23)
@pytest.mark.parametrize("stated", [None, 0, 6_748, 10**9])
def test_a_limit_that_cannot_be_is_unknown(cli: Cli, tmp_path: Path, stated: int | None) -> None:
    def written(name: str, limit: int | None) -> Path:
        store = PiStore(tmp_path / name)
        if limit is not None:
            store.models({"acme": {"large": limit}})
        s = store.session()
        s.turn("one", usage=Spent(50_000))
        return s.path

    def claim(answer: tuple[Any, str]) -> None:
        window = answer[0]["turns"][0]["window"]
        assert "limit" not in window
        assert window["limit_why"].startswith("limit unknown")
        assert window["tokens"] == 50_000
        assert "%" not in answer[1]

    def both(path: Path) -> tuple[Any, str]:
        return turns(cli, path), cli("turns", "last", "--source", str(path)).out

    known = both(written("known", 200_000))
    assert known[0]["turns"][0]["window"]["limit"]["value"] == 200_000
    holds(claim, both(written("unknown", stated)), known)


@pytest.mark.field(24)
def test_after_a_compaction_the_meter_waits_for_an_answer(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, answered: bool, compacted: bool = True) -> Path:
        s = PiStore(tmp_path / name).session()
        ids = s.turn("one", usage=Spent(150_000))
        if compacted:
            s.compaction("summary", kept=ids[0], before=150_000)
        if answered:
            s.turn("two", usage=Spent(9_000))
        return s.path

    def claim(answer: Any) -> None:
        assert answer["current"]["evidence"] == "unavailable"
        assert "tokens" not in answer["current"]
        assert "next response" in answer["current"]["why"]

    holds(
        claim,
        turns(cli, written("waits", False)),
        turns(cli, written("answered", True)),
        turns(cli, written("none", False, compacted=False)),
    )
    assert turns(cli, written("again", True))["current"]["tokens"] == 9_000


@pytest.mark.field(24)
def test_after_a_compaction_of_opencode(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, answered: bool, compacted: bool = True) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            s.user("one")
            s.step("ok", usage=Usage(150_000, 10))
            if compacted:
                s.compact(go_on=False)
            if answered:
                s.user("two")
                s.step("ok", usage=Usage(9_000, 10))
        return tmp_path / name / "opencode.db"

    def claim(answer: Any) -> None:
        assert answer["current"].get("tokens") != 150_000
        assert answer["current"]["evidence"] != "confirmed"

    holds(
        claim,
        turns(cli, written("waits", False)),
        turns(cli, written("none", False, compacted=False)),
        turns(cli, written("answered", True)),
    )


@pytest.mark.field(25)
@BOTH
def test_the_window_and_what_was_sent_are_two_figures(cli: Cli, tmp_path: Path, write: Write) -> None:
    steps = [(100, 10, 1_000 * i, 50) for i in range(1, 21)]

    def claim(answer: tuple[Any, Any]) -> None:
        listed, told = answer
        assert listed["sessions"][0]["sent"] == {
            "requests": 20,
            "unreported": 0,
            "input": 2_000,
            "output": 200,
            "cache_read": 210_000,
            "cache_write": 1_000,
        }
        assert told["current"]["tokens"] == 20_150
        assert told["turns"][-1]["window"]["tokens"] == 20_150

    def both(path: Path) -> tuple[Any, Any]:
        return sessions(cli, path), turns(cli, path)

    holds(claim, both(write(tmp_path / "a", *steps)), both(write(tmp_path / "b", *steps, (100, 10, 20_000, 50))))


@pytest.mark.field(26)
def test_an_image_is_not_text_of_pi(cli: Cli, tmp_path: Path) -> None:
    blob = "A" * 1_400_000

    def written(name: str, as_text: bool) -> Path:
        s = PiStore(tmp_path / name).session()
        s.user("look" + (blob if as_text else ""), images=[] if as_text else [image(blob)])
        s.assistant("ok")
        return s.path

    holds(_media_claim, show(cli, written("image", False)), show(cli, written("text", True)))


@pytest.mark.field(26)
def test_an_image_is_not_text_of_opencode(cli: Cli, tmp_path: Path) -> None:
    blob = "A" * 1_400_000

    def written(name: str, as_text: bool) -> Path:
        with OpenCodeDB(tmp_path / name / "opencode.db") as db:
            s = db.session()
            s.user(*(["look" + blob] if as_text else ["look", oc_image(data=blob)]))
            s.step("ok")
        return tmp_path / name / "opencode.db"

    holds(_media_claim, show(cli, written("image", False)), show(cli, written("text", True)))


def _media_claim(answer: Any) -> None:
    conversation = next(c for c in answer["categories"] if c["category"] == "conversation")
    media = [p for i in conversation["items"] for p in i["parts"] if p["kind"] == "media"]
    assert [(p["tokens"]["evidence"], "count" in p["tokens"], p["mime"]) for p in media] == [("unavailable", False, "image/png")]
    assert conversation["tokens"]["count"] < 100


@pytest.mark.field(27)
def test_the_branch_goes_by_parents_not_by_lines(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, back: bool) -> Path:
        s = PiStore(tmp_path / name).session()
        one = s.turn("one", usage=Spent(100))
        s.turn("left", usage=Spent(200))
        if back:
            s.go(one[-1])
        s.turn("right", usage=Spent(300))
        return s.path

    def claim(answer: Any) -> None:
        assert texts(answer) == ["one", "right"]
        assert [(h["state"], h["text"]) for h in answer["hidden"]] == [("abandoned", "left")]
        assert [t["n"] for t in answer["turns"]] == [1, 2]

    holds(claim, turns(cli, written("tree", True), "last", "--text"), turns(cli, written("line", False), "last", "--text"))


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


@pytest.mark.field(28)
@pytest.mark.parametrize(
    ("name", "at", "iso", "day", "clock"),
    [
        ("Asia/Kathmandu", ms(2026, 11, 30, 18, 15), "2026-11-30T18:15:00.000Z", "2026-12-01", "00:00"),
        ("Asia/Kathmandu", ms(2026, 11, 30, 18, 14), "2026-11-30T18:14:00.000Z", "2026-11-30", "23:59"),
        ("America/New_York", ms(2026, 11, 1, 5, 30), "2026-11-01T05:30:00.000Z", "2026-11-01", "01:30 -04:00"),
        ("America/New_York", ms(2026, 11, 1, 6, 30), "2026-11-01T06:30:00.000Z", "2026-11-01", "01:30 -05:00"),
    ],
)
def test_stored_utc_shown_local(
    cli: Cli, tmp_path: Path, zone: Callable[[str], None], name: str, at: int, iso: str, day: str, clock: str
) -> None:
    s = PiStore(tmp_path).session(at=at - 60_000)
    user = s.user("one", at=at)
    s.assistant("ok", at=at + 1000)
    zone(name)

    def claim(answer: tuple[Any, str]) -> None:
        told, text = answer
        assert [t["at"] for t in told["turns"]] == [iso]
        assert told["turns"][0]["id"] == user
        assert f"\n  {day}\n" in text
        assert f" {clock} " in text

    here = turns(cli, s.path), cli("turns", "last", "--source", str(s.path)).out
    zone("UTC")
    utc = turns(cli, s.path), cli("turns", "last", "--source", str(s.path)).out
    assert utc[0] == here[0]  # the JSON knows no zone
    holds(claim, here, utc)
