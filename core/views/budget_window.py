"""The lower part of the Budget tab: the window's limits, trend and forecast, and what was sent in total."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctx_inspect.core.budget import Sent
from ctx_inspect.core.model import Estimated, Known, Shown, Unavailable, value_of
from ctx_inspect.core.text.show import joined, part_of, said
from ctx_inspect.core.timeline import Timeline, TurnRow
from ctx_inspect.core.views.figures import change, counted, known, reason, round_tokens, share, tokens, whole
from ctx_inspect.core.views.glyphs import NONE, RISING
from ctx_inspect.core.views.sheet import Cell, Row, RowKind, Span, Tone


def note(words: str, tone: Tone = Tone.DIM) -> Row:
    """Return a line of our own words."""
    return Row((Cell((Span(said(words), tone),)),), RowKind.NOTE)


def window_rows(line: Timeline, row: TurnRow, rate: Known[int] | None, how: int) -> list[Row]:
    """Return how full the window is, where it is compacted, what a turn adds and how many are left.

    Args:
        line: Where the session stands.
        row: The turn.
        rate: Tokens that a turn adds, and over which turns that was taken.
        how: Cells of the words beside a figure; 0 = they stand below it.
    """
    provider = value_of(row.window)
    rows: list[Row] = [_head("Window")]
    limit = row.limit
    if isinstance(limit, Unavailable):
        rows += _reasoned("Limit", limit, limit.note, how)
    else:
        sign = "≈" if isinstance(limit, Estimated) else ""
        text = Span(joined(sign, round_tokens(limit.value.tokens)), Tone.DIM if sign else Tone.TEXT, italic=bool(sign))
        rows += _worded("Limit", (text,), f"{limit.value.kind}, from {limit.value.source}", how)
        if provider is not None:
            rows.append(_words("In use, of the limit", (Span(share(provider, limit.value.tokens)),), ""))
    rows += _reasoned("Compacts at", line.threshold, reason(line.threshold), how, round_tokens)
    rows += _trend(line, row, rate, how)
    rows += _reasoned("Turns left", line.forecast, reason(line.forecast), how, whole)
    return rows


TREND = 24
"""Turns of the trend."""


def _trend(line: Timeline, row: TurnRow, rate: Known[int] | None, room: int) -> list[Row]:
    """Return how the window has moved over the newest turns, and what a turn adds."""
    windows = [value_of(t.window) for t in line.turns[max(0, row.turn.n - TREND) : row.turn.n]]
    most = max((w or 0 for w in windows), default=0)
    if len(windows) < 2 or not most or rate is None:
        return []
    signs = [part_of(RISING, n, n + 1) for n in (max(0, min(7, round(8 * (w or 0) / most) - 1)) for w in windows)]
    bars = Span(joined("    ", *signs), Tone.CONVERSATION)
    words = Span(joined("  turn ", row.turn.n - len(windows) + 1, " to ", row.turn.n), Tone.DIM)
    rows = _reasoned("A turn adds", rate, reason(rate), room, change)
    return [*rows, Row((Cell((bars, words)),), RowKind.NOTE)]


def _reasoned(name: str, found: Known[int], why: str, room: int, write: Callable[[int], Shown] = whole) -> list[Row]:
    """Return a figure with the words beside it, or below it where they are long."""
    return _worded(name, (known(found, write),), why, room)


def _worded(name: str, value: tuple[Span, ...], why: str, room: int) -> list[Row]:
    if len(why) <= room:
        return [_words(name, value, why)]
    return [_words(name, value, ""), note("    " + why)]


def sent_rows(sent: Sent) -> list[Row]:
    """Return what the session sent in total: another figure than the window, never mixed with it."""
    parts: Sequence[tuple[str, int | None]] = (
        ("Input, uncached", sent.input),
        ("Read from cache", sent.cache_read),
        ("Written to cache", sent.cache_write),
        ("Output", sent.output),
    )
    rows = [_head(f"Sent in total, in {counted(sent.requests, 'request')}")]
    none = "no request reported it" if sent.requests else "no request yet"
    rows += [
        _words(name, (Span(NONE, Tone.DIM),), none) if n is None else _words(name, (Span(tokens(n)),), "provider usage")
        for name, n in parts
    ]
    if sent.unreported:
        rows.append(note(f"    {counted(sent.unreported, 'request')} reported no usage: what they sent is not in these figures"))
    return rows


def _head(words: str) -> Row:
    return Row((Cell((Span(said("  " + words), strong=True),)),), RowKind.NOTE)


def _words(name: str, value: tuple[Span, ...], how: str) -> Row:
    return Row((Cell((Span(said("  " + name)),)), Cell(), Cell(value), Cell(), Cell((Span(said(how), Tone.DIM),))))
