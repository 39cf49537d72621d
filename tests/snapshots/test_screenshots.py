"""The pictures in ``screenshots/`` are what the program draws, and hold nothing remote."""

from __future__ import annotations

import difflib
import re

import pytest

from tests.snapshots.shots import FOLDER, SHOTS, Shot, take


@pytest.mark.parametrize("shot", SHOTS, ids=lambda s: s.name)
async def test_the_picture_is_not_stale(shot: Shot) -> None:
    drawn = await take(shot)
    kept = (FOLDER / f"{shot.name}.svg").read_text(encoding="utf-8")
    if drawn != kept:
        lines = difflib.unified_diff(_words(kept), _words(drawn), "screenshots/" + shot.name, "drawn now", lineterm="", n=0)
        pytest.fail("stale; run python -m tests.snapshots\n" + "\n".join([*lines][:30]))


@pytest.mark.parametrize("shot", SHOTS, ids=lambda s: s.name)
def test_the_picture_needs_nothing_from_elsewhere(shot: Shot) -> None:
    kept = (FOLDER / f"{shot.name}.svg").read_text(encoding="utf-8")
    assert not re.findall(r"(?:https?:)?//(?!www\.w3\.org/)[\w.-]+|@import|@font-face|<image|<script|<foreignObject", kept)


def test_no_picture_is_left_over() -> None:
    assert {p.stem for p in FOLDER.glob("*.svg")} == {s.name for s in SHOTS}


def _words(svg: str) -> list[str]:
    return re.findall(r">([^<>\n]+)</text>", svg)
