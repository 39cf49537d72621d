"""The gauge: how full the window is, by what, where the harness compacts, and how many turns are left."""

from __future__ import annotations

from itertools import groupby

from ctx_inspect.core.model import Category, Confirmed, Estimated, Known, Shown, Unavailable, value_of
from ctx_inspect.core.shares import Shares
from ctx_inspect.core.text.show import Safe, joined, numeral, own, part_of, repeated, safe_join, said
from ctx_inspect.core.timeline import Timeline
from ctx_inspect.core.views.figures import known, reason, round_tokens, share, tokens
from ctx_inspect.core.views.glyphs import EMPTY, FULL, HATCH, NONE, TICK, fill_of
from ctx_inspect.core.views.layout import Line, fit, line_width, pad, spread
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct

TONES = {
    Category.INSTRUCTIONS: Tone.INSTRUCTIONS,
    Category.SKILLS: Tone.SKILLS,
    Category.TOOLS: Tone.TOOLS,
    Category.SETTINGS: Tone.SETTINGS,
    Category.SYSTEM: Tone.SYSTEM,
    Category.CONVERSATION: Tone.CONVERSATION,
}
LONGEST, LONGEST_BASELESS = 100, 24
"""Cells of the bar; where the limit is unknown it only shows proportions, and must not look like a full window."""

SHORT = {Category.INSTRUCTIONS: "instr", Category.CONVERSATION: "conv"}


class Gauge(Struct, frozen=True):
    """What the gauge shows.

    Attributes:
        timeline: Where the session stands.
        shares: The newest request's window by category, where it can be told.
        counter: Name of the counter behind the shares.
        rate: Tokens that a turn adds.
        ascii_only: Fill bars with category letters.
    """

    timeline: Timeline
    shares: Shares | None = None
    counter: str = ""
    rate: Known[int] | None = None
    ascii_only: bool = False


def gauge_lines(gauge: Gauge, width: int, lines: int) -> list[Line]:
    """Return the gauge.

    Args:
        gauge: What it shows.
        width: Cells.
        lines: 1 (bar and figures), or 2 (with the categories).
    """
    wide, narrow = width >= 150, width < 100
    left = _figures(gauge, wide, narrow)
    right = _outlook(gauge, wide, narrow)
    room = width - line_width(left) - line_width(right) - 4
    if width < 34:
        return [fit(left, width)]
    if room < 10:
        right = ()
        room = width - line_width(left) - 3
    most = LONGEST if not isinstance(gauge.timeline.limit, Unavailable) else LONGEST_BASELESS
    bar = bar_spans(gauge, max(4, min(room, most)))
    first = spread((*left, *bar), (*right, pad(1)) if right else (), width)
    return [fit(first, width)] if lines < 2 else [fit(first, width), _legend(gauge, width, wide)]


def _figures(gauge: Gauge, wide: bool, narrow: bool) -> tuple[Span, ...]:
    now, limit = gauge.timeline.current, gauge.timeline.limit
    spans = [pad(1)]
    spans.append(Span(own("Window now " if wide else "now "), Tone.DIM))
    spans.append(known(now, strong=True))
    if isinstance(limit, Unavailable):
        spans.append(Span(own("/? " if narrow else " · limit unknown "), Tone.DIM))
        return tuple(spans)
    guessed = isinstance(limit, Estimated)
    mark = "≈" if guessed else ""
    spans.append(Span(joined("/" if narrow else " of ", mark, round_tokens(limit.value.tokens)), Tone.DIM, italic=guessed))
    n = value_of(now)
    if n is not None:
        percentage = joined(part_of(share(n, limit.value.tokens), 0, -1), " %")
        spans.append(Span(joined(" " if narrow else " · ", percentage, " "), Tone.DIM, italic=guessed or isinstance(now, Estimated)))
    else:
        spans.append(pad(1))
    return tuple(spans)


def _outlook(gauge: Gauge, wide: bool, narrow: bool) -> tuple[Span, ...]:
    line = gauge.timeline
    out: list[Span] = []
    if isinstance(line.current, Unavailable):
        return (Span(reason(line.current), Tone.DIM),)
    if not narrow and not isinstance(line.threshold, Unavailable):
        guessed = isinstance(line.threshold, Estimated)
        out.append(
            Span(joined("compacts at ", "≈" if guessed else "", round_tokens(line.threshold.value), " · "), Tone.DIM, italic=guessed)
        )
    match line.forecast:
        case Confirmed(value=n) | Estimated(value=n):
            out.append(
                Span(
                    joined("≈ ", numeral(n), " turn", "" if n == 1 else "s", " left" if narrow else ""),
                    Tone.TEXT if wide else Tone.DIM,
                    strong=wide,
                    italic=True,
                )
            )
            rate = value_of(gauge.rate) if gauge.rate is not None else None
            if wide and rate is not None:
                out.append(Span(joined(" at +", tokens(rate), "/turn"), Tone.DIM, italic=True))
        case Unavailable(note=note):
            out.append(Span(said(f"turns left — ({note})" if wide else "turns left —"), Tone.DIM))
    return tuple(out)


def bar_spans(gauge: Gauge, width: int) -> tuple[Span, ...]:
    """Return the stacked bar: categories, a hatched rest up to the provider's figure, the threshold as a tick.

    Args:
        gauge: What it shows.
        width: Cells of the whole limit.
    """
    now = value_of(gauge.timeline.current)
    limit = value_of(gauge.timeline.limit)
    if now is None:
        return (Span(joined(repeated(EMPTY, width)), Tone.DIM),)
    base = limit.tokens if limit is not None else now
    full = max(1 if now else 0, min(width, round(width * now / base))) if base else 0
    cells: list[tuple[Safe, Tone]] = []
    if gauge.shares is not None:
        parts = [(s.category, s.tokens.value) for s in gauge.shares.shares if not isinstance(s.tokens, Unavailable) and s.tokens.value > 0]
        total = sum(n for _, n in parts)
        # an estimate above the provider's figure is scaled down to it: the bar's length is the provider's
        whole = max(now, total)
        ends: list[int] = []
        reached = 0
        for _, n in parts:
            reached += n
            ends.append(round(full * reached / whole) if whole else 0)
        if gauge.shares.complete and ends:
            ends[-1] = full
        at = 0
        for (category, _), end in zip(parts, ends, strict=True):
            fill = fill_of(category, gauge.ascii_only)
            cells.extend([(fill, TONES[category])] * (end - at))
            at = max(at, end)
    cells.extend(
        [(HATCH if gauge.shares is not None else FULL, Tone.DIM if gauge.shares is not None else Tone.CONVERSATION)] * (full - len(cells))
    )
    cells.extend([(EMPTY, Tone.DIM)] * (width - len(cells)))
    threshold = value_of(gauge.timeline.threshold)
    if threshold is not None and limit is not None and threshold < limit.tokens:
        cells[min(width - 1, int(width * threshold / limit.tokens))] = (TICK, Tone.WARN)
    return merge(cells)


def merge(cells: list[tuple[Safe, Tone]]) -> tuple[Span, ...]:
    """Join neighbouring cells of one tone to spans."""
    return tuple(Span(safe_join("", (text for text, _ in run)), tone) for tone, run in groupby(cells, key=lambda cell: cell[1]))


def _legend(gauge: Gauge, width: int, wide: bool) -> Line:
    if gauge.shares is None:
        return (pad(width),)
    out: list[Span] = [pad(8 if wide else 1)]
    missing: list[str] = []
    for part in gauge.shares.shares:
        name = part.category.value if wide else SHORT.get(part.category, part.category.value)
        if part.category is Category.SETTINGS:
            continue
        if isinstance(part.tokens, Unavailable):
            missing.append(name)
            continue
        out.append(Span(fill_of(part.category, gauge.ascii_only), TONES[part.category]))
        out.append(Span(said(f" {name} "), Tone.DIM))
        n = part.tokens.value
        out.append(Span(joined("≈", tokens(n)) if n else tokens(n), Tone.TEXT, italic=bool(n)))  # nothing is exactly nothing
        out.append(pad(3 if wide else 2))
    if missing:
        words = (
            "not recorded" if all(isinstance(s.tokens, Unavailable) for s in gauge.shares.shares if s.category.value in missing) else NONE
        )
        out.append(Span(HATCH, Tone.DIM))
        names = ", ".join(missing)
        out.append(Span(said(f" {names} — {words}" if wide else f" {names} —"), Tone.DIM))
    right = _sum_words(gauge, gauge.shares) if wide else (Span(said(f"≈ {gauge.counter}"), Tone.DIM, italic=True),)
    return fit(spread(out, (*right, pad(1)), width), width)


def _sum_words(gauge: Gauge, shares: Shares) -> tuple[Span, ...]:
    provider = value_of(gauge.timeline.current)
    words = f"≈ by {gauge.counter}"
    if shares.complete and provider:
        off = 100 * (shares.sum - provider) / provider
        words += f", sum {tokens(shares.sum)} = provider's {tokens(provider)} {'+' if off >= 0 else '−'} {abs(off):.1f} %"
    return (Span(said(words), Tone.DIM, italic=True),)


def smallest(gauge: Gauge) -> Shown:
    """Return the gauge in a few cells: ``41k/200k 21%``."""
    now, limit = value_of(gauge.timeline.current), value_of(gauge.timeline.limit)
    if now is None:
        return NONE if limit is None else joined(NONE, "/", round_tokens(limit.tokens))
    short = joined(numeral(now / 1000, ".0f"), "k") if now >= 1000 else joined(now)
    if limit is None:
        return joined(short, ", limit ?")
    return joined(short, "/", round_tokens(limit.tokens), " ", share(now, limit.tokens))
