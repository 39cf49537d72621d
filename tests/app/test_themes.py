from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.app import themes
from ctx_inspect.core.views.sheet import Tone
from rich.color import Color
from textual.color import Color as Css

from tests.app.fakes import FakeSource, sample
from tests.app.screens import running

TABLE = """
cat.instructions #6cb6ff #0b5fb0   change.added #7fd88f #1a7f37
cat.skills #d49bd4 #8a3f8a         change.removed #f28b82 #b3261e
cat.tools #f0a35e #9a5200          change.modified #f2cc60 #8a6100
cat.settings #9aa4b2 #56606e       change.moved #7fd5ea #0a6c84
cat.system #e3d26f #7a6500         sev.alert #ff7b72 #b3261e
cat.conversation #5fc9a8 #0b6e52   sev.warn #f2cc60 #8a6100
text #d7dae0 #1f2430               focus #8ab4f8 #1f5fbf
dim #8b93a5 #5d6675
"""


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_tokens_are_those_of_the_page() -> None:
    words = TABLE.split()
    wanted = {words[i]: (words[i + 1], words[i + 2]) for i in range(0, len(words), 3)}
    assert {t.value: (themes.DARK[t], themes.LIGHT[t]) for t in Tone} == wanted


@pytest.mark.parametrize("tone", list(Tone))
def test_every_token_can_be_read(tone: Tone) -> None:
    assert contrast(themes.DARK[tone], "#121318") >= 4.5
    assert contrast(themes.LIGHT[tone], "#ffffff") >= 4.5
    assert contrast(themes.HIGH_CONTRAST[tone], "#000000") >= 7


@pytest.mark.parametrize("tone", list(Tone))
def test_text_can_be_read_on_a_selection_too(tone: Tone) -> None:
    for name in ("dark", "light", "high-contrast"):
        _, selected, blurred, band = themes.GROUNDS[name]
        for ground in (selected, blurred, band):
            assert contrast(themes.TABLES[name][tone], ground) >= 3.5, (name, ground)


def test_nothing_is_dim_in_high_contrast() -> None:
    assert themes.HIGH_CONTRAST[Tone.DIM] == themes.HIGH_CONTRAST[Tone.TEXT]


def test_ansi_uses_the_terminals_own_colours() -> None:
    for colour in [*themes.ANSI.values(), *themes.GROUNDS["ansi"]]:
        found = Color.parse(colour)
        assert found.is_default or (found.number is not None and found.number < 16)
    assert themes.theme("ansi").ansi


@pytest.mark.parametrize("name", themes.NAMES)
async def test_every_theme_draws(name: str, tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, theme=name) as (app, pilot):
        await pilot.pause(0.1)
        styles = [seg.style for strip in app.screen._compositor.render_strips() for seg in strip if seg.style]
        fore = {s.color.name for s in styles if s.color is not None}
        assert themes.TABLES[name][Tone.CONVERSATION] in fore
        assert Css.parse("#123456")


async def test_changing_the_theme_draws_everything_anew(tmp_path: Path) -> None:
    async with running([FakeSource(sample())], tmp_path, theme="dark") as (app, pilot):
        app.action_use_theme("light")
        await pilot.pause(0.1)
        await pilot.pause()
        styles = [seg.style for strip in app.screen._compositor.render_strips() for seg in strip if seg.style]
        fore = {s.color.name for s in styles if s.color is not None}
        assert themes.LIGHT[Tone.CONVERSATION] in fore
        assert themes.DARK[Tone.CONVERSATION] not in fore


async def test_without_colours_the_selection_is_still_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running([FakeSource(sample())], tmp_path) as (app, pilot):
        await pilot.pause(0.1)
        assert any(strip.text.startswith("▌") for strip in app.screen._compositor.render_strips())
        assert app.no_color
