"""The top line: program, session, whether it lives, FOLLOW, and where the selection stands."""

from __future__ import annotations

from ctx_inspect.core.model import SessionInfo, Unavailable
from ctx_inspect.core.text.clock import time_of_day
from ctx_inspect.core.text.show import joined, numeral, own, padded, said
from ctx_inspect.core.views.glyphs import GONE, LIVE, meter
from ctx_inspect.core.views.layout import Line, fit, pad, spread
from ctx_inspect.core.views.sessions import project_name, title_of
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct


class Loading(Struct, frozen=True):
    """A read that takes longer.

    Attributes:
        what: In our own words (``reading``).
        done: How many are done, where known.
        of: How many there are, where known.
        seconds: How long it has taken.
    """

    what: str
    done: int | None = None
    of: int | None = None
    seconds: float = 0.0


class Header(Struct, frozen=True):
    """What the top line says.

    Attributes:
        info: The session on screen.
        turn: Number of the selected turn.
        turns: How many there are.
        follow: FOLLOW is on.
        news: Turns that came in since the selection left the newest.
        gone_at: Epoch milliseconds when the store vanished.
        loading: A read that takes longer.
        ascii_only: Arrows are spelled.
    """

    info: SessionInfo | None
    turn: int | None = None
    turns: int = 0
    follow: bool = False
    news: int = 0
    gone_at: int | None = None
    loading: Loading | None = None
    ascii_only: bool = False


def header_line(header: Header, width: int) -> Line:
    """Return the top line."""
    left: list[Span] = [pad(1)]
    if width >= 100:
        left += [Span(own("ctx-inspect"), Tone.FOCUS, strong=True), pad(3)]
    info = header.info
    if info is not None:
        if width >= 50:
            left += [Span(said(info.harness), Tone.TEXT), Span(own(" · "), Tone.DIM)]
            left += [Span(project_name(info)), Span(own(" · "), Tone.DIM)]
        left.append(Span(title_of(info), strong=True))
        if info.parent is not None:
            left.append(Span(own("  subagent"), Tone.DIM))
        if not isinstance(info.forked_from, Unavailable):
            left.append(Span(own("  fork"), Tone.DIM))
    elif header.loading is None and width < 100:
        left.append(Span(own("ctx-inspect"), Tone.FOCUS, strong=True))
    right = _right(header, width)
    line = spread(left, (*right, pad(1)) if right else (), width)
    if right and line[-1].text != " " and width >= 40:
        # too long for both: the title is cut, what the session does is not
        room = width - sum(len(s.text) for s in right) - 3
        line = spread(fit(left, max(8, room)), (*right, pad(1)), width)
    return fit(line, width)


def _right(header: Header, width: int) -> tuple[Span, ...]:
    out: list[Span] = []

    def say(*spans: Span) -> None:
        if out:
            out.append(pad(2 if width < 150 else 3))
        out.extend(spans)

    if header.loading is not None:
        say(*loading_spans(header.loading))
        return tuple(out)
    info = header.info
    if info is None:
        return ()
    if header.news and not header.follow:
        say(Span(joined(header.news, " new below (f)" if header.ascii_only else " new ↓ (f)"), Tone.ADDED, strong=True))
    if header.gone_at is not None:
        say(Span(GONE, Tone.WARN), Span(joined(" deleted ", time_of_day(header.gone_at)), Tone.WARN))
    elif info.live:
        say(Span(LIVE, Tone.ADDED), Span(own(" LIVE"), Tone.ADDED))
    if header.follow:
        say(Span(own("FOLLOW"), Tone.FOCUS, strong=True))
    if header.turn is not None and width >= 40:
        words = "turn " if width >= 150 else ""
        say(Span(joined(words), Tone.DIM), Span(joined(header.turn), strong=True), Span(joined("/", header.turns), Tone.DIM))
    return tuple(out)


def loading_spans(loading: Loading) -> tuple[Span, ...]:
    """Return a read's progress: ``reading 214 / 1,250 turns ▇▇▇▇░░░  Esc stops``."""
    spans = [Span(said(loading.what), Tone.DIM)]
    if loading.done is not None and loading.of:
        full = meter(loading.done / loading.of, 14)
        spans += [
            Span(joined(" ", numeral(loading.done), " / ", numeral(loading.of), " "), Tone.TEXT),
            Span(joined(padded(full, 14)), Tone.FOCUS),
        ]
    elif loading.seconds:
        spans.append(Span(joined(" ", numeral(loading.seconds, ".0f"), " s"), Tone.TEXT))
    return (*spans, Span(own("  Esc stops"), Tone.DIM))
