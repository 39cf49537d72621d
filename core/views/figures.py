"""How numbers, ages and evidence are written, the same in every view.

Confirmed is plain; estimated is ``≈``, dim and italic; unavailable is a dim ``—`` whose reason stands beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import LiteralString, TypeVar

from ctx_inspect.core.model import Confirmed, Estimated, Known, Shown, Unavailable, value_of
from ctx_inspect.core.text.show import joined, numeral, own, part_of, said
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.sheet import Span, Tone

T = TypeVar("T")

MINUS = "−"


def tokens(n: int) -> Shown:
    """Return a short count of tokens: ``812``, ``41.3k``, ``1.2M``."""
    sign, n = (MINUS, -n) if n < 0 else ("", n)
    if n < 1000:
        return joined(sign, n)
    if n < 999_950:
        return joined(sign, numeral(n / 1000, ".1f"), "k")
    return joined(sign, numeral(n / 1_000_000, ".1f"), "M")


def round_tokens(n: int) -> Shown:
    """Return a limit or threshold: ``200k``, ``183.6k``, ``1M``."""
    text = tokens(n)
    return joined(part_of(text, 0, -3), part_of(text, -1)) if text.endswith((".0k", ".0M")) else text


def whole(n: int) -> Shown:
    """Return a whole number: ``2,444``."""
    return joined(MINUS if n < 0 else "", numeral(abs(n)))


def change(n: int) -> Shown:
    """Return a change of tokens with its sign: ``+1.2k``, ``−62.9k``, ``·`` for none."""
    if n == 0:
        return own("·")
    return joined("+" if n > 0 else MINUS, tokens(abs(n)))


def share(part: int, of: int) -> Shown:
    """Return a percentage: ``21%``; below one per cent ``<1%``."""
    percent = 100 * part / of
    if 0 < percent < 1:
        return own("<1%")
    return joined(numeral(percent, ".0f"), "%")


def size(n: int) -> Shown:
    """Return a size in bytes: ``812 B``, ``4.1 kB``, ``2.0 MB``."""
    if n < 1000:
        return joined(n, " B")
    for unit in ("kB", "MB"):
        n_ = n / 1000 if unit == "kB" else n / 1_000_000
        if n_ < 999.95:
            return joined(numeral(n_, ".1f"), " ", unit)
    return joined(numeral(n / 1_000_000_000, ".1f"), " GB")


def age(ms: int) -> Shown:
    """Return how long ago, in one unit: ``now``, ``2m``, ``3h``, ``5d``, ``7w``."""
    minutes = max(0, ms) // 60_000
    if minutes < 1:
        return own("now")
    if minutes < 60:
        return joined(minutes, "m")
    if minutes < 48 * 60:
        return joined(minutes // 60, "h")
    days = minutes // 1440
    return joined(days, "d") if days < 70 else joined(days // 7, "w")


def counted(n: int, one: LiteralString, many: LiteralString | None = None) -> Shown:
    """Return a count with its noun in our own words: ``1 turn``, ``3,120 messages``."""
    return joined(numeral(n), " ", one if n == 1 else (many or one + "s"))


def known(value: Known[int], write: Callable[[int], Shown] = tokens, tone: Tone = Tone.TEXT, strong: bool = False) -> Span:
    """Return a number as its evidence has it.

    Args:
        value: The number and how it is known.
        write: How it is written.
        tone: Of a confirmed one.
        strong: Of a confirmed one.
    """
    match value:
        case Confirmed(value=n):
            return Span(write(n), tone, strong)
        case Estimated(value=n):
            return Span(joined("≈", write(n)), Tone.DIM, italic=True)
        case Unavailable():
            return Span(NONE, Tone.DIM)


def reason(value: Known[T]) -> Shown:
    """Return the words beside a number: what recorded it, how it was estimated, or why it is missing. All are our own words."""
    match value:
        case Confirmed(by=by):
            return joined(by.value)
        case Estimated(how=how):
            return said(how)
        case Unavailable(note=note):
            return said(note)


def delta_span(value: Known[int], alert_below: int = -1000) -> Span:
    """Return a change of the window: a fall below ``alert_below`` tokens stands out, growth is dim."""
    n = value_of(value)
    if n is None:
        return Span(NONE, Tone.DIM)
    tone = Tone.ALERT if n < alert_below * 10 else Tone.TEXT if n >= 10_000 else Tone.DIM
    return Span(change(n), tone, italic=isinstance(value, Estimated))
