"""What a comparison says in at most three sentences: one pure function for the pane, the text, Markdown and the copy menu."""

from __future__ import annotations

from typing import LiteralString

from ctx_inspect.core.cache.model import Cache
from ctx_inspect.core.diff.report import CategoryReport, Change, Report, State, main_cause
from ctx_inspect.core.model import Category, Confirmed, Coverage, Estimated, Known, Raw, Shown
from ctx_inspect.core.phrases import (
    BASELINE_WORDS,
    CACHE_SIGNS,
    CATEGORY_WORDS,
    CHANGE_SIGNS,
    CHANGE_TONES,
    FLAG_SIGN,
    NO_BASELINE,
    NOT_KNOWN,
    REWRITTEN,
    SAME,
    SEVERAL,
    Name,
)
from ctx_inspect.core.saying import Words, cache_tail, cache_words, change_words, flagged_words, rewritten_words
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct

MOST = 3
"""Sentences that are said at most."""

ITEMS = 3
"""Items that one sentence names."""

UNAVAILABLE = own("unavailable")


class Sentence(Struct, frozen=True):
    """One sentence.

    Attributes:
        sign: One glyph that stands before it.
        tone: Of the sign.
        spans: The words; what is estimated in them is italic.
        witness: What tells it, short, for the right end of the line (``recorded``, ``wire``, ``estimated``).
        source: The same in full (``recorded by opencode``, ``estimated: rebuilt from the store``).
        evidence: ``confirmed``, ``estimated`` or ``unavailable``.
        number: The figure in it, tokens.
        category: What it is about; ``None`` = the cache or the whole.
        k: Key of the (first) item that it is about.
        names: Places in ``spans`` of names from outside; Markdown puts them into code spans.
    """

    sign: Shown
    tone: Tone
    spans: tuple[Span, ...]
    witness: Shown
    source: Shown
    evidence: str
    number: Known[int] | None = None
    category: Category | None = None
    k: Raw | None = None
    names: tuple[int, ...] = ()

    @property
    def words(self) -> Shown:
        """The sentence without its sign and witness."""
        return safe_join("", (s.text for s in self.spans))

    @property
    def text(self) -> Shown:
        """The sentence with its sign."""
        return joined(self.sign, " ", self.words)


Witnesses = tuple[Shown, Shown]
"""What tells a sentence, short and in full."""


def sentences(report: Report, name: Name = named) -> tuple[Sentence, ...]:
    """Return what a comparison says, the weightiest first, at most three.

    Args:
        report: The comparison.
        name: Makes names from outside harmless.
    """
    if report.why is not None:
        words = Words("No comparable baseline: ", BASELINE_WORDS[report.why], ".")
        if tail := cache_tail(report.cache):
            words.say(" ", tail)
        return (_made(NO_BASELINE, Tone.DIM, words, (UNAVAILABLE, UNAVAILABLE), "unavailable"), *_cache_break(report, name))
    out = [*_rewritten(report), *_cache_break(report, name), *_items(report, name)]
    out += _growth(report, alone=not out)
    out += _not_known(report)
    return tuple(out[:MOST])


def _made(
    sign: Shown,
    tone: Tone,
    words: Words,
    witness: Witnesses,
    evidence: str,
    number: Known[int] | None = None,
    category: Category | None = None,
    k: Raw | None = None,
) -> Sentence:
    return Sentence(sign, tone, tuple(words.spans), *witness, evidence, number, category, k, tuple(words.names))


def _estimated(how: str | None) -> Witnesses:
    return own("estimated"), joined("estimated: ", said(how)) if how else own("estimated")


def _seen(report: Report, coverage: Coverage) -> Witnesses:
    """Return the witness of what two snapshots show."""
    if coverage.grade != "confirmed":
        return _estimated(coverage.how)
    words = own("store row") if report.after.point == "store" else said(report.after.point)
    return words, words


def _rewritten(report: Report) -> list[Sentence]:
    talk = report.conversation
    if talk.kind is not State.REWRITTEN:
        return []
    cause = main_cause(talk)
    words, number = rewritten_words(talk, report.category(Category.CONVERSATION).tokens.delta)
    if cause.evidence == "confirmed":
        witness, evidence = (own("recorded"), joined("recorded by ", said(report.harness))), "confirmed"
    elif cause.evidence == "estimated":
        witness, evidence = _estimated(cause.how), "estimated"
    else:  # that it was rewritten is seen, why is not known
        witness, evidence = _seen(report, talk.coverage), talk.coverage.grade
    return [_made(REWRITTEN, Tone.ALERT, words, witness, evidence, number, Category.CONVERSATION)]


def _cache_break(report: Report, name: Name) -> list[Sentence]:
    verdict, cause = report.cache, report.cache.cause
    if verdict.verdict not in (Cache.LOST, Cache.PARTIAL) and not (verdict.verdict is Cache.COLD and cause is not None):
        return []
    number: Known[int] | None = None
    if verdict.rewritten is not None:
        confirmed = verdict.evidence == "confirmed"
        number = Confirmed(verdict.rewritten) if confirmed else Estimated(verdict.rewritten, verdict.how or "cache figures")
    evidence = verdict.evidence
    if evidence != "confirmed":
        witness = _estimated(verdict.how)
    elif cause is None:
        witness = (own("provider"), own("provider usage"))
    elif cause.evidence != "confirmed":  # that it was lost is reported, why is concluded
        witness, evidence = (own("estimated"), own("provider usage, cause estimated")), "estimated"
    else:
        beside = own("store") if report.after.point == "store" else said(report.after.point)
        witness = (joined(beside, " + provider"), joined(beside, " + provider usage"))
    tone = Tone.ALERT if verdict.verdict is Cache.LOST else Tone.WARN
    words, item = cache_words(report, verdict, name), None if cause is None else cause.item
    return [_made(CACHE_SIGNS[verdict.verdict], tone, words, witness, evidence, number, None, item)]


def _items(report: Report, name: Name) -> list[Sentence]:
    found = [(c, change) for c in report.categories for change in c.changes]
    # what only follows from another change is not told beside it
    chosen = [f for f in found if f[1].follows is None] or found
    if not chosen:
        return []
    first, change = chosen[0]
    several = len({c.kind for _, c in chosen}) > 1
    sign, tone = (SEVERAL, Tone.MODIFIED) if several else (CHANGE_SIGNS[change.kind], CHANGE_TONES[change.kind])
    if len(chosen) == 1 and change.flags:
        sign, words = FLAG_SIGN, flagged_words(report, change, name)
    else:
        words = _listed(report, chosen, name, signs=several)
    hows = [c.how or category.coverage.how for category, c in chosen if c.evidence != "confirmed"]
    grade = "estimated" if hows else "confirmed"
    witness = _seen(report, Coverage(grade, how=hows[0] if hows else None))
    number = change.tokens.delta if len(chosen) == 1 else None
    return [_made(sign, tone, words, witness, grade, number, first.category, change.k)]


def _listed(report: Report, changes: list[tuple[CategoryReport, Change]], name: Name, *, signs: bool) -> Words:
    words = Words()
    for i, (category, change) in enumerate(changes[:ITEMS]):
        if i:
            words.say(" · ")
        if signs:
            words.say(CHANGE_SIGNS[change.kind], " ")
        words.add(change_words(report, category.category, change, name))
    return words.say(" · ", numeral(len(changes) - ITEMS), " more") if len(changes) > ITEMS else words


def _growth(report: Report, *, alone: bool) -> list[Sentence]:
    talk = report.conversation
    if talk.kind not in (State.GROWTH, State.SAME):
        return []
    others = [c for c in report.categories if c.category is not Category.CONVERSATION]
    # "only" is said where every category is known to be as it was
    only = alone and all(c.state is State.SAME and not c.lost for c in others)
    number: Known[int] | None = None
    if talk.kind is State.GROWTH:
        number = report.category(Category.CONVERSATION).tokens.delta
        was, now = report.window_before, report.window_after
        if only and isinstance(was, Confirmed) and isinstance(now, Confirmed):
            number = Confirmed(now.value - was.value, now.by)  # nothing else grew: the provider's own figure is the growth
        words = Words("Only growth: " if only else "Growth: ", counted(talk.added, "message"))
        if talk.steps > 1:
            words.say(" in ", counted(talk.steps, "step"))
        words.number(", ", number).say(".")
    else:
        words = Words("Nothing changed." if only else "The same messages.")
    if tail := cache_tail(report.cache):
        words.say(" ", tail)
    return [_made(SAME, Tone.DIM, words, _seen(report, talk.coverage), talk.coverage.grade, number, Category.CONVERSATION)]


def _not_known(report: Report) -> list[Sentence]:
    out: list[Sentence] = []
    missing = [c for c in report.categories if c.state is State.UNAVAILABLE]
    if missing:
        notes = {c.coverage.note for c in missing}
        note = notes.pop() if len(notes) == 1 else None
        witness = (UNAVAILABLE, joined("unavailable: ", said(note)) if note else UNAVAILABLE)
        out.append(_made(NOT_KNOWN, Tone.DIM, _of("Not known: ", missing), witness, "unavailable", None, missing[0].category))
    without = [c for c in report.categories if c.state is State.NO_BASELINE]
    if without:
        whys = {c.baseline_why for c in without if c.baseline_why is not None}
        witness = (UNAVAILABLE, BASELINE_WORDS[whys.pop()] if len(whys) == 1 else UNAVAILABLE)
        out.append(_made(NO_BASELINE, Tone.DIM, _of("No baseline: ", without), witness, "unavailable", None, without[0].category))
    return out


def _of(words: LiteralString, categories: list[CategoryReport]) -> Words:
    return Words(words, safe_join(", ", (CATEGORY_WORDS[c.category] for c in categories)))
