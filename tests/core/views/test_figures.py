from __future__ import annotations

import pytest
from ctx_inspect.core.model import Confirmed, Estimated, Unavailable, Why
from ctx_inspect.core.views import figures
from ctx_inspect.core.views.sheet import Tone


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0"),
        (812, "812"),
        (999, "999"),
        (1000, "1.0k"),
        (41_300, "41.3k"),
        (999_949, "999.9k"),
        (999_950, "1.0M"),
        (1_234_567, "1.2M"),
        (-62_900, "−62.9k"),
    ],
)
def test_tokens(n: int, words: str) -> None:
    assert figures.tokens(n) == words


@pytest.mark.parametrize(("n", "words"), [(200_000, "200k"), (183_616, "183.6k"), (1_000_000, "1M")])
def test_limits_are_round(n: int, words: str) -> None:
    assert figures.round_tokens(n) == words


def test_changes() -> None:
    assert [figures.change(n) for n in (0, 1200, -62_900, 5)] == ["·", "+1.2k", "−62.9k", "+5"]


def test_shares() -> None:
    assert [figures.share(n, 200_000) for n in (0, 900, 41_300, 200_000, 210_000)] == ["0%", "<1%", "21%", "100%", "105%"]


def test_ages() -> None:
    minute = 60_000
    assert [figures.age(m * minute) for m in (-5, 0, 2, 59, 60, 47 * 60, 48 * 60, 69 * 1440, 70 * 1440)] == [
        "now",
        "now",
        "2m",
        "59m",
        "1h",
        "47h",
        "2d",
        "69d",
        "10w",
    ]


def test_sizes() -> None:
    assert [figures.size(n) for n in (0, 999, 1000, 999_960, 2_000_000, 64_000_000_000)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.0 MB",
        "2.0 MB",
        "64.0 GB",
    ]


def test_evidence_is_seen() -> None:
    sure = figures.known(Confirmed(5))
    guess = figures.known(Estimated(5, "bytes/3.5"))
    none = figures.known(Unavailable(Why.NOT_RECORDED, "the store keeps none"))
    assert (sure.text, sure.italic, sure.tone) == ("5", False, Tone.TEXT)
    assert (guess.text, guess.italic, guess.tone) == ("≈5", True, Tone.DIM)
    assert (none.text, none.tone) == ("—", Tone.DIM)
    assert [figures.reason(k) for k in (Confirmed(1), Estimated(1, "how"), Unavailable(Why.GONE, "why"))] == ["store row", "how", "why"]


def test_counted() -> None:
    assert [figures.counted(1, "turn"), figures.counted(3120, "message"), figures.counted(2, "entry", "entries")] == [
        "1 turn",
        "3,120 messages",
        "2 entries",
    ]
