"""The Cache tab: what became of the provider's cache in each step of a turn, why, and what it came to in the session."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.budget import Sent
from ctx_inspect.core.cache.model import Cache, CacheCode, CacheVerdict
from ctx_inspect.core.model import Estimated, Raw, Request, Shown, Unavailable, value_of
from ctx_inspect.core.phrases import CACHE_CAUSES, CACHE_SIGNS, CACHE_WORDS, Name, figure, span_of_time
from ctx_inspect.core.saying import AT_ITEMS
from ctx_inspect.core.text.show import joined, numeral, own, padded, safe_join, said
from ctx_inspect.core.views.card import turns_words
from ctx_inspect.core.views.diff_cells import blank
from ctx_inspect.core.views.drift import CACHE_TONES, share_of
from ctx_inspect.core.views.figures import counted, tokens, whole
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone
from ctx_inspect.core.views.timeline import StepKey
from msgspec import Struct

LABEL = 19
"""Cells of the words before a sum."""


class Sums(Struct, frozen=True):
    """What the caches of a session came to.

    Attributes:
        requests: Primary requests of the session.
        judged: Of them those with a verdict from reported figures.
        lost: Breaks: the cache was lost wholly.
        partial: The cache was lost in part.
        rewritten: Tokens that were sent anew although they had been in the cache.
        turns: Turns with a break, oldest first.
    """

    requests: int = 0
    judged: int = 0
    lost: int = 0
    partial: int = 0
    rewritten: int = 0
    turns: tuple[int, ...] = ()


class CacheView(Struct, frozen=True):
    """What the tab shows.

    Attributes:
        turn: The turn's number.
        steps: Its steps with their verdicts.
        sums: Of the session; ``None``: they are on their way.
        sent: What the session sent.
        project: Paths below it are shown from there.
        name: Makes names from outside harmless.
    """

    turn: int
    steps: Sequence[tuple[Request, CacheVerdict]]
    sums: Sums | None
    sent: Sent
    project: Raw | None = None
    name: Name = named


def cache_sheet(view: CacheView) -> Sheet:
    """Return the tab as a sheet of (step, verdict, share, read, written, reusable, idle)."""
    rows: list[Row] = []
    if not view.steps:
        rows.append(_note(own(" No model was called in this turn.")))
    for request, verdict in view.steps:
        rows.append(_step(view, request, verdict))
        rows += _why(view, verdict)
    rows += [blank(), *_sums(view)]
    columns = (
        Column(own(" step"), 5, right=True),
        Column(own(" cache"), 0),
        Column(own("kept"), 4, right=True),
        Column(own("read"), 7, right=True),
        Column(own("written"), 7, right=True, leaves=2),
        Column(own("reusable"), 8, right=True, leaves=3),
        Column(own("idle"), 7, right=True, leaves=1),
        Column(NOTHING, 1),
    )
    return Sheet(columns, tuple(rows))


def _note(words: Shown, tone: Tone = Tone.DIM) -> Row:
    return Row((Cell((Span(words, tone),)),), RowKind.NOTE)


def _step(view: CacheView, request: Request, verdict: CacheVerdict) -> Row:
    guessed = verdict.evidence == "estimated"
    tone = CACHE_TONES[verdict.verdict]
    words = (Span(own(" ")), Span(CACHE_SIGNS[verdict.verdict], tone), Span(joined(" ", CACHE_WORDS[verdict.verdict]), italic=guessed))

    def number(n: int | None) -> Cell:
        return Cell((Span(NONE, Tone.DIM) if n is None else Span(tokens(n), Tone.TEXT),))

    share = Span(NONE, Tone.DIM) if verdict.r is None else Span(share_of(verdict.r), Tone.TEXT, italic=guessed)
    idle = Span(NOTHING) if verdict.idle_ms is None else Span(span_of_time(verdict.idle_ms), Tone.DIM)
    cells = (
        Cell((Span(joined(request.step) if request.step is not None else NONE),)),
        Cell(words),
        Cell((share,)),
        number(verdict.read),
        number(verdict.written),
        number(verdict.reusable),
        Cell((idle,)),
        Cell(),
    )
    return Row(cells, key=StepKey(view.turn, request.id))


def _why(view: CacheView, verdict: CacheVerdict) -> list[Row]:
    """Return the lines below a step: its cause, where the requests differ, and what it was compared with."""
    rows: list[Row] = []
    cause = verdict.cause
    if cause is not None:
        words = _cause(view, verdict)
        known = own("confirmed") if cause.evidence == "confirmed" else own("estimated")
        loud = verdict.verdict in (Cache.LOST, Cache.PARTIAL)
        right = Span(known, Tone.DIM, italic=cause.evidence != "confirmed")
        rows.append(
            Row((Cell((Span(own("       ")), Span(words, Tone.TEXT if loud else Tone.DIM, strong=loud))), Cell((right,))), RowKind.SPOKEN)
        )
        if cause.how is not None:
            rows.append(_line(said(cause.how)))
    elif verdict.evidence != "confirmed" and verdict.how is not None:
        rows.append(_line(said(verdict.how)))
    if verdict.verdict is Cache.KEPT:
        return rows
    prefix = value_of(verdict.prefix)
    if prefix is not None:
        rows.append(_line(_prefix(view, verdict)))
    facts: list[Shown] = []
    if verdict.rewritten:
        facts.append(joined(tokens(verdict.rewritten), " sent anew"))
    if verdict.turn is not None:
        step = joined(" step ", verdict.step) if verdict.step is not None else own("")
        facts.append(joined("against turn ", verdict.turn, step))
    told = cause is not None and cause.how is not None and cause.how == verdict.ttl_how
    if not told and verdict.ttl_ms is not None and verdict.idle_ms is not None and verdict.idle_ms > verdict.ttl_ms:
        facts.append(said(verdict.ttl_how) if verdict.ttl_how is not None else joined("it lives ", span_of_time(verdict.ttl_ms)))
    if facts:
        rows.append(_line(safe_join(" · ", facts)))
    return rows


def _line(words: Shown) -> Row:
    return _note(joined("       ", words))


def _cause(view: CacheView, verdict: CacheVerdict) -> Shown:
    cause = verdict.cause
    if cause is None:
        return own("")
    if cause.item is not None and cause.code in AT_ITEMS:
        words = joined("at ", _item(view, cause.item))
        if cause.code is CacheCode.VOLATILE_BLOCK:
            return joined(words, ", which differs in each turn")
        return joined(words, ", which comes and goes") if cause.code is CacheCode.FLAPPING else words
    if cause.code is CacheCode.IDLE and verdict.idle_ms is not None:
        return joined("idle ", span_of_time(verdict.idle_ms))
    return CACHE_CAUSES[cause.code]


def _item(view: CacheView, k: Raw) -> Shown:
    base = (view.project or "").rstrip("/") + "/"
    return view.name(Raw(k[len(base) :]) if len(base) > 1 and k.startswith(base) else k)


def _prefix(view: CacheView, verdict: CacheVerdict) -> Shown:
    """Return how much stands as it stood, and where that ends: ``stable prefix ≈9,000, up to AGENTS.md``."""
    prefix = value_of(verdict.prefix)
    if prefix is None:
        return own("")
    words = joined("stable prefix ", figure(prefix.tokens, whole))
    if isinstance(prefix.tokens, Unavailable):
        words = joined(words, " (", said(prefix.tokens.note), ")")
    if prefix.whole:
        words = joined(words, ", all of the request before")
    elif prefix.item is not None:
        words = joined(words, ", up to ", _item(view, prefix.item))
    elif prefix.message is not None:
        words = joined(words, ", up to message ", numeral(prefix.message + 1))
    how = said(verdict.prefix.how) if isinstance(verdict.prefix, Estimated) else joined("in the order ", said(prefix.order))
    return joined(words, "; ", how)


def _sums(view: CacheView) -> list[Row]:
    sent, sums = view.sent, view.sums
    rows = [_head(own("Whole session"))]
    total = sent.tokens
    if sent.cache_read is None or not total:
        rows.append(_fact("Read from cache", Span(NONE, Tone.DIM), own("no request reported it")))
    else:
        rows.append(
            _fact(
                "Read from cache", Span(tokens(sent.cache_read)), joined("of ", tokens(total), " sent, ", share_of(sent.cache_read / total))
            )
        )
    if sent.cache_write is not None:
        rows.append(_fact("Written to cache", Span(tokens(sent.cache_write)), NOTHING))
    if sums is None:
        return [*rows, _fact("Breaks", Span(own("…"), Tone.DIM), own("comparing"))]
    if not sums.judged:
        return [*rows, _fact("Breaks", Span(NONE, Tone.DIM), own("no request reported what it read"))]
    breaks = sums.lost + sums.partial
    of = joined("of ", counted(sums.judged, "request"))
    if breaks:
        of = joined(numeral(sums.lost), " whole, ", numeral(sums.partial), " in part, ", of)
    rows.append(_fact("Breaks", Span(joined(breaks), Tone.WARN if breaks else Tone.TEXT), of))
    if breaks:
        rows.append(_fact("Sent anew", Span(tokens(sums.rewritten)), joined("that had been cached, in ", turns_words(sums.turns))))
    return rows


def _head(words: Shown) -> Row:
    return Row((Cell((Span(joined(" ", words), strong=True),)),), RowKind.NOTE)


def _fact(name: str, value: Span, how: Shown) -> Row:
    return Row((Cell((Span(padded(joined(" ", said(name)), LABEL)), value, Span(joined("  ", how), Tone.DIM))),), RowKind.SPOKEN)
