"""Where a vocabulary is on this machine, the opened turn is counted by it; its name stands beside the numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from ctx_inspect.app import counting
from ctx_inspect.app.counting import Exact, Tally
from ctx_inspect.app.inspector import Inspector
from ctx_inspect.core.model import Category, Confirmed, Known, Raw, Ref, replace, value_of
from ctx_inspect.core.text import tokens
from ctx_inspect.core.text.tokens import BytesCounter

from tests.app.fakes import FakeSource, ledger
from tests.app.screens import running, screen, until


class Letters:
    """Counts letters: a vocabulary whose numbers are known."""

    name, needs_text = "letters", True

    def of_text(self, text: str) -> int:
        return len(text)

    def of_size(self, size: int) -> int:
        return size


def readable(turns: int = 4):  # type: ignore[no-untyped-def]
    """Return a session whose items and messages have texts of their sizes."""
    made = ledger("pi:a", "x", turns)
    steps = tuple(
        replace(
            t,
            requests=tuple(
                replace(r, context=replace(r.context, items=tuple(replace(i, ref=Ref("s", i.k, "text")) for i in r.context.items)))
                if r.context is not None
                else r
                for r in t.requests
            ),
        )
        for t in made.turns
    )
    source = FakeSource([replace(made, turns=steps)])
    return source


def seen(app: Inspector) -> str:
    return "\n".join(screen(app))


async def test_the_opened_turn_is_counted_and_the_counter_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)
    source = readable()
    source.texts = {Ref("s", "AGENTS.md", "text"): Confirmed(Raw("x" * 1234))}
    async with running([source], tmp_path, size=(160, 60), tab="budget") as (app, pilot):
        await until(pilot, lambda: "tokens by letters" in seen(app))
        assert any("AGENTS.md" in line and "≈1,234" in line for line in screen(app))
        assert "≈ by letters" in seen(app)  # the gauge goes along where the newest turn is shown
        asked = len(source.asked)
        await pilot.press("k")
        await until(pilot, lambda: app.detail.turn == 3)
        await until(pilot, lambda: "tokens by letters" in seen(app))
        assert len(source.asked) == asked  # all of it was counted already
        await pilot.press("5", "2")
        await pilot.pause()
        assert "tokens by letters" in seen(app)


async def test_without_a_vocabulary_sizes_are_all_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", BytesCounter)
    source = readable()
    async with running([source], tmp_path, size=(160, 60), tab="budget") as (app, pilot):
        await pilot.pause(0.5)
        assert "tokens by bytes/" in seen(app)
        assert source.asked == []


def test_counting_goes_on_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)
    monkeypatch.setattr(counting, "STEP", -1.0)
    source = readable(2)
    request = source.ledgers["a"].turns[-1].requests[-1]
    tally, steps = Tally(), 0
    while (found := tally.step(source, request)) is True:
        steps += 1
    assert steps == len(list(counting.contents(request.context)))
    assert isinstance(found, Exact)
    by = {s.category: value_of(s.tokens) for s in found.shares.shares}
    assert by[Category.INSTRUCTIONS] == len("the text of AGENTS.md\nsecond line") + len("the text of docs/AGENTS.md\nsecond line")


def test_a_text_that_cannot_be_read_is_estimated_by_its_size_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)

    class Mute(FakeSource):
        def text(self, ref: Ref, limit: int) -> Known[Raw]:
            from ctx_inspect.core.model import Unavailable, Why

            return Unavailable(Why.UNREADABLE, "no")

    source = Mute(list(readable(2).ledgers.values()))
    found = Tally().step(source, source.ledgers["a"].turns[-1].requests[-1])
    assert isinstance(found, Exact)
    assert all("bytes/3.5" in s.tokens.how for s in found.shares.shares if hasattr(s.tokens, "how"))


def test_what_is_too_large_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)
    monkeypatch.setattr(counting, "MOST_PARTS", 10)
    source = readable(12)
    assert Tally().step(source, source.ledgers["a"].turns[-1].requests[-1]) is False
    assert source.asked == []


async def test_another_session_is_counted_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)
    first = readable()
    other = replace(first.ledgers["a"], info=replace(first.ledgers["a"].info, key="pi:b", id="b", title=Raw("Other one")))
    source = FakeSource([first.ledgers["a"], other])
    async with running([source], tmp_path, size=(160, 60), session="pi:a", tab="budget") as (app, pilot):
        await until(pilot, lambda: "tokens by letters" in seen(app))
        await pilot.press("s", *"other", "enter")
        await until(pilot, lambda: app.desk.wanted == "pi:b" and app.detail.snapshot is not None)
        await until(pilot, lambda: "tokens by letters" in seen(app))


async def test_a_comparison_is_counted_by_the_vocabulary_on_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "pick", Letters)
    source = readable()
    source.texts = {Ref("s", "AGENTS.md", "text"): Confirmed(Raw("x" * 1234))}
    async with running([source], tmp_path, size=(160, 60)) as (app, pilot):
        await until(pilot, lambda: "by letters" in seen(app) and "counted: ≈" in seen(app))
        report = app.detail.diff.seen(app.detail.turn).report  # type: ignore[union-attr]
        assert report.counter == "letters"
        tokens_ = report.category(Category.INSTRUCTIONS).tokens
        assert value_of(tokens_.before) == value_of(tokens_.after) == 1234 + len("the text of docs/AGENTS.md\nsecond line")
        assert "≈ by letters" in seen(app)  # the gauge too: one figure for one category everywhere
        await pilot.press("z")
        await pilot.pause()
        assert any("AGENTS.md" in line and "≈1,234" in line for line in screen(app))
