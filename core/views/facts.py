"""The facts beside a comparison, in words without names from outside: which turns, capture points, window, cache, counter."""

from __future__ import annotations

from ctx_inspect.core.cache.model import Cache
from ctx_inspect.core.diff.report import Report, Side
from ctx_inspect.core.model import Confirmed, Shown, Unavailable, value_of
from ctx_inspect.core.phrases import CACHE_WORDS, Name, figure, percent, span_of_time
from ctx_inspect.core.saying import Words, cache_cause_words
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.views.figures import whole
from ctx_inspect.core.views.names import named

REBUILT = own("Rebuilt from the store, not the recorded request.")
REQUEST = "request"
"""What is said of a rebuilt request in a sentence of its own."""


def points(report: Report) -> Shown:
    """Return the capture points of both sides: ``wire``, ``store → wire``."""
    after = said(report.after.point)
    return after if report.before is None or report.before.point == report.after.point else joined(said(report.before.point), " → ", after)


def _side(side: Side) -> Shown:
    if side.turn is None:
        return joined((side.state and said(side.state)) or own("earlier"), " turn")
    return joined(numeral(side.turn, "d"), *((" (", said(side.state), ")") if side.state else ()))


def sides(report: Report) -> Shown:
    """Return the two turns: ``turn 11 → 12``, ``turn 12, step 1 → 2``, ``reverted turn → turn 12``."""
    before, after = report.before, report.after
    if before is not None and before.step is not None and after.step is not None and before.turn == after.turn:
        return joined("turn ", _side(after), ", step ", numeral(before.step, "d"), " → ", numeral(after.step, "d"))
    if before is None:
        return joined("turn ", _side(after))
    if before.turn is None:
        return joined(_side(before), " → turn ", _side(after))
    return joined("turn ", _side(before), " → ", _side(after))


def window_words(report: Report) -> Shown:
    """Return the windows of both sides beside the limit: ``39,400 → 41,300 / 200,000 (20.7 %) confirmed``."""
    was, now, limit = report.window_before, report.window_after, value_of(report.limit)
    words = own("") if isinstance(was, Unavailable) else joined(figure(was, whole), " → ")
    words = joined(words, figure(now, whole))
    if isinstance(now, Unavailable):
        return joined(words, " ", said(now.note))
    if limit is not None:
        words = joined(words, " / ", figure(report.limit, whole), " (", numeral(100 * now.value / limit, ".1f"), " %)")
    how = own("confirmed") if isinstance(now, Confirmed) else joined("estimated: ", said(now.how))
    words = joined(words, " ", how)
    return joined(words, " · ", said(report.limit.note)) if isinstance(report.limit, Unavailable) else words


def cache_state(report: Report, name: Name = named) -> Words:
    """Say what became of the cache: ``kept 97 %``, ``lost at AGENTS.md``, ``cold: idle 12 min``."""
    verdict = report.cache
    words = Words(CACHE_WORDS[verdict.verdict])
    if verdict.verdict in (Cache.KEPT, Cache.PARTIAL) and verdict.r is not None:
        words.say(" " if verdict.verdict is Cache.KEPT else ", ", percent(verdict.r))
    cause = cache_cause_words(report, verdict, name)
    if cause.spans:
        there = cause.spans[0].text.startswith(("at ", "after "))
        words.say((", lost " if verdict.verdict is Cache.PARTIAL else " ") if there else ": ").add(cause)
        if verdict.cause is not None and verdict.cause.evidence != "confirmed":
            words.say(" (cause estimated)")
    return words


def cache_figures(report: Report) -> Shown:
    """Return the cache figures of the newer request, what they are compared with, and how the verdict is known."""
    verdict = report.cache
    facts: list[Shown] = []
    if verdict.read is not None:
        of = joined(" of ", whole(verdict.reusable)) if verdict.reusable is not None else own("")
        facts.append(joined("read ", whole(verdict.read), of))
    if verdict.written is not None:
        facts.append(joined("written ", whole(verdict.written)))
    if verdict.turn is not None:
        step = joined(" step ", numeral(verdict.step, "d")) if verdict.step is not None else own("")
        facts.append(joined("against turn ", numeral(verdict.turn, "d"), step))
    if verdict.idle_ms is not None:
        facts.append(joined("idle ", span_of_time(verdict.idle_ms)))
    prefix = value_of(verdict.prefix)
    if prefix is not None and not isinstance(prefix.tokens, Unavailable):
        facts.append(joined("stable prefix ", figure(prefix.tokens, whole), " (taken in the order ", said(prefix.order), ")"))
    facts.append(said(verdict.evidence) if verdict.how is None else joined(said(verdict.evidence), ": ", said(verdict.how)))
    return safe_join(" · ", facts)


def counter_words(report: Report) -> Shown:
    """Return what counted tokens, and how far its sum is from the provider's figure."""
    total, error = report.estimate.sum, report.estimate.error
    counter = said(report.counter)
    if isinstance(total, Unavailable):
        return joined("by ", counter, ", no sum: ", said(total.note))
    words = joined("≈", whole(total.value), " by ", counter)
    provider = value_of(report.estimate.provider)
    if provider is None or isinstance(error, Unavailable):
        return words
    side = own("above") if error.value > 0 else own("below")
    return joined(words, ", ", numeral(abs(100 * error.value), ".1f"), " % ", side, " the provider's ", whole(provider))


def not_recorded_words(report: Report) -> list[Shown]:
    """Return what the report cannot know, in two short paragraphs; the reason of each is in the JSON and with ``show``."""
    out = [REBUILT] if report.after.point == "store" else []
    whats = [said(what) for what, _ in report.not_recorded if what != REQUEST]
    return [*out, joined("Not recorded: ", safe_join(", ", whats))] if whats else out
