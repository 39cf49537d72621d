"""The parts of the timeline's lines: what names a line, what stands under an opened turn, and a step in words."""

from __future__ import annotations

from collections.abc import Hashable

from ctx_inspect.core.budget import Limit
from ctx_inspect.core.model import Estimated, Known, Request, value_of
from ctx_inspect.core.text.show import joined, own
from ctx_inspect.core.timeline import TurnRow
from ctx_inspect.core.views.events import RUNNING, UNFINISHED, error_words, not_called, tool_words, unfinished
from ctx_inspect.core.views.figures import counted, share
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct


class TurnKey(Struct, frozen=True):
    """Names a turn's line."""

    n: int


class StepKey(Struct, frozen=True):
    """Names the line of a step of an opened turn."""

    n: int
    id: str


def turn_of(key: Hashable) -> int | None:
    """Return the number of the turn that a line belongs to."""
    return key.n if isinstance(key, TurnKey | StepKey) else None


def rows_of_turn(row: TurnRow, other: tuple[Request, ...] = ()) -> tuple[Request, ...]:
    """Return what stands under an opened turn: its steps and rows, then title, summary and compaction requests, by time."""
    if not other:
        return row.turn.requests
    # a row without a time stays behind the one before it
    rows, at = list[tuple[int, Request]](), 0
    for r in row.turn.requests:
        at = at if r.at is None else r.at
        rows.append((at, r))
    rows += [(at if r.at is None else r.at, r) for r in other]
    return tuple(r for _, r in sorted(rows, key=lambda pair: pair[0]))


def percent(window: Known[int], limit: Known[Limit], tone: Tone = Tone.TEXT) -> Span:
    """Return the window's share of its limit; no base, no percentage."""
    n, most = value_of(window), value_of(limit)
    if n is None or most is None:
        return Span(NONE, Tone.DIM)
    guessed = isinstance(window, Estimated) or isinstance(limit, Estimated)
    return Span(share(n, most.tokens), Tone.DIM if guessed else tone, italic=guessed)


def step_words(request: Request, live: bool = False) -> tuple[Span, ...]:
    """Return what a step did: its purpose where it is no step, its failure, the tools it called.

    Args:
        request: The step.
        live: The session lives: what is not finished runs.
    """
    out: list[Span] = []
    if request.purpose.value != "primary":
        out.append(Span(joined(request.purpose.value, " request"), Tone.DIM, italic=True))
    elif not request.call:
        out.append(Span(not_called(request), Tone.DIM, italic=True))
    failed = error_words(request)
    if failed is not None:
        out.append(Span(failed, Tone.WARN))
    elif unfinished(request):
        out.append(Span(RUNNING if live else UNFINISHED, Tone.DIM))
    if request.tools:
        out.append(Span(tool_words(request.tools), Tone.DIM))
    if request.children:
        out.append(Span(counted(len(request.children), "subagent"), Tone.TEXT))
    spaced: list[Span] = []
    for span in out:
        spaced.extend((Span(own(" · "), Tone.DIM), span) if spaced else (span,))
    return tuple(spaced)
