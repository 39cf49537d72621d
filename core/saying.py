"""How the parts of a comparison are put into words: an item's change, a rewritten conversation, a lost cache."""

from __future__ import annotations

from typing import LiteralString

from ctx_inspect.core.cache.model import Cache, CacheCode, CacheVerdict
from ctx_inspect.core.diff.report import Cause, CauseKind, Change, ChangeKind, ConversationReport, Flag, Report, main_cause
from ctx_inspect.core.model import Category, Confirmed, Estimated, Known, Raw, Shown, Unavailable
from ctx_inspect.core.phrases import (
    CACHE_CAUSES,
    CAUSE_WORDS,
    FLAG_SAID,
    FLAG_WORDS,
    Name,
    figure,
    full,
    nth,
    part_words,
    percent,
    reason_of,
    short,
    span_of_time,
)
from ctx_inspect.core.text.show import Safe, capital, joined, numeral, own, safe_join
from ctx_inspect.core.views.figures import counted, tokens
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone

AT_ITEMS = frozenset(
    {
        CacheCode.INSTRUCTIONS,
        CacheCode.SKILLS,
        CacheCode.TOOL_CHANGED,
        CacheCode.TOOLS_ADDED_REMOVED,
        CacheCode.SYSTEM_CHANGED,
        CacheCode.VOLATILE_BLOCK,
        CacheCode.FLAPPING,
    }
)
"""Causes that are an item: no other ever names one, whatever stands at the first difference."""


class Words:
    """Collects the spans of a sentence, and which of them are names from outside."""

    def __init__(self, *words: Safe) -> None:
        """Begin with words of our own."""
        self.spans: list[Span] = []
        self.names: list[int] = []
        self.say(*words)

    def say(self, *words: Safe) -> Words:
        """Add words of our own."""
        if words:
            self.spans.append(Span(joined(*words)))
        return self

    def name(self, shown: Shown) -> Words:
        """Add a name from outside."""
        self.names.append(len(self.spans))
        self.spans.append(Span(shown))
        return self

    def number(self, before: LiteralString, known: Known[int] | None, *, whole: bool = False) -> Words:
        """Add a change of tokens, in full or short; nothing where there is none or nothing changed."""
        if known is None or isinstance(known, Unavailable) or not known.value:
            return self
        self.say(before)
        guessed = isinstance(known, Estimated)
        self.spans.append(Span(figure(known, full if whole else short), Tone.DIM if guessed else Tone.TEXT, italic=guessed))
        return self

    def add(self, other: Words) -> Words:
        """Add what another one holds."""
        self.names += [len(self.spans) + i for i in other.names]
        self.spans += other.spans
        return self


def item_name(report: Report, k: Raw, name: Name = named) -> Shown:
    """Return an item's key as it is shown: a path below the project from there."""
    base = (report.project or "").rstrip("/") + "/"
    return name(Raw(k[len(base) :]) if len(base) > 1 and k.startswith(base) and len(k) > len(base) else k)


def change_words(report: Report, category: Category, change: Change, name: Name = named) -> Words:
    """Say what happened to an item, without the sign of it: ``filesystem_search schema −80``."""
    if change.kind is ChangeKind.MOVED:
        if len(change.moved) == 1:
            return Words().name(item_name(report, change.k, name)).say(" moved")
        return Words(numeral(len(change.moved)), " ", own("tools") if category is Category.TOOLS else own("items"), " reordered")
    if category is Category.SETTINGS:
        return setting_words(change, name)
    words = Words()
    if change.kind is ChangeKind.RENAMED and change.from_k is not None:
        words.name(item_name(report, change.from_k, name)).say(" → ")
    words.name(item_name(report, change.k, name))
    parts = part_words(change)
    if parts is not None:
        words.say(" ", parts)
    words.number(" ", change.tokens.delta, whole=True)
    if change.flags:
        words.say(" (", FLAG_WORDS[flag_of(change)], ")")
    return words


def flagged_words(report: Report, change: Change, name: Name = named) -> Words:
    """Say what an item's change turns out to be over several turns."""
    return Words().name(item_name(report, change.k, name)).say(" ", FLAG_SAID[flag_of(change)])


def flag_of(change: Change) -> Flag:
    """Return the flag that is told of a change that has one: ``flapping`` wins."""
    return Flag.FLAPPING if Flag.FLAPPING in change.flags else change.flags[0]


def setting_words(change: Change, name: Name = named) -> Words:
    """Say a setting: its name, and its value before and after."""
    words = Words().name(name(change.k))
    was, now = (None if i is None else i.shown for i in (change.before, change.after))
    if was is not None:
        words.say(" ").name(name(was))
    if now is not None:
        words.say(" → " if was is not None else " ").name(name(now))
    return words


def cause_words(cause: Cause) -> Shown:
    """Return a cause of a rewritten conversation in words, with how many turns it took: ``reverted 3 turns``."""
    words, mark = CAUSE_WORDS[cause.kind], cause.mark
    turns = mark.counts.get("turns") if mark is not None else None
    if not turns:
        return words
    if cause.kind is CauseKind.BRANCH:
        return joined(words, ", ", counted(turns, "turn"), " left behind")
    return joined(words, " ", counted(turns, "turn")) if cause.kind is CauseKind.REVERT else words


def rewritten_words(talk: ConversationReport, delta: Known[int]) -> tuple[Words, Known[int]]:
    """Say how a conversation was rewritten.

    Args:
        talk: What became of it.
        delta: Tokens of the conversation after less before.

    Returns:
        The words, and the figure in them.
    """
    main = main_cause(talk)
    if main.kind is CauseKind.COMPACTION:
        delta = compaction_delta(talk, delta)
        words = _compacted(talk, main).number(", ", delta)
    else:
        words = Words(capital(cause_words(main)))
        if talk.from_message is not None:
            comma = "," if main.kind not in (CauseKind.MODEL_SWITCH, CauseKind.NOT_RECORDED) else ""
            words.say(comma, " from message ", numeral(talk.from_message + 1), " on")
        if main.kind is CauseKind.NOT_RECORDED:
            words.say(", cause not recorded")
        gone = gone_words(talk)
        if gone:
            words.say(": ", gone)
        words.number(", " if gone else ": ", delta)
    also = dict.fromkeys(CAUSE_WORDS[c.kind] for c in talk.causes if c.kind not in (main.kind, CauseKind.NOT_RECORDED))
    if also:
        words.say("; also ", safe_join(", ", also))
    if main.kind is not CauseKind.NOT_RECORDED and any(c.kind is CauseKind.NOT_RECORDED for c in talk.causes):
        words.say("; the cause of the rest is not recorded")
    return words, delta


def gone_words(talk: ConversationReport) -> Shown:
    """Return what became of messages: ``12 messages gone, 1 changed, 3 new``."""
    counts = [(n, w) for n, w in ((talk.removed, own("gone")), (talk.changed, own("changed")), (talk.added, own("new"))) if n]
    return safe_join(", ", (joined(numeral(n) if i else counted(n, "message"), " ", word) for i, (n, word) in enumerate(counts)))


def compaction_delta(talk: ConversationReport, delta: Known[int]) -> Known[int]:
    """Return what a compaction saved: its own figures, else the difference of the conversation's tokens."""
    done = talk.compaction
    if done is None or isinstance(done.before, Unavailable) or isinstance(done.after, Unavailable):
        return delta
    saved = done.after.value - done.before.value
    guess = next((f for f in (done.before, done.after) if isinstance(f, Estimated)), None)
    return Confirmed(saved) if guess is None else Estimated(saved, guess.how)


def _compacted(talk: ConversationReport, cause: Cause) -> Words:
    done = talk.compaction
    words = Words("Compaction loop, the ", nth(done.nth)) if done is not None and done.loop else Words("Compacted")
    why = reason_of(cause.mark.reason if cause.mark is not None else None)
    if why is not None:
        words.say(" (", why, ")")
    return words.say(": ", numeral(talk.before), " → ", counted(talk.after, "message"))


def cache_cause_words(report: Report, verdict: CacheVerdict, name: Name = named) -> Words:
    """Say why a cache was lost: ``at AGENTS.md``, ``after the compaction``, ``the model changed``; nothing where no cause is known."""
    cause = verdict.cause
    if cause is None:
        return Words()
    if cause.item is not None and cause.code in AT_ITEMS:
        words = Words("at ").name(item_name(report, cause.item, name))
        if cause.code is CacheCode.VOLATILE_BLOCK:
            words.say(", which differs in each turn")
        elif cause.code is CacheCode.FLAPPING:
            words.say(", which comes and goes")
        return words
    if cause.code is CacheCode.IDLE and verdict.idle_ms is not None:
        return Words("idle ", span_of_time(verdict.idle_ms))
    return Words(CACHE_CAUSES[cause.code])


def cache_words(report: Report, verdict: CacheVerdict, name: Name = named) -> Words:
    """Say how a cache was lost, wholly or in part: ``Cache lost at AGENTS.md: 41.3k rewritten``."""
    if verdict.verdict is Cache.PARTIAL:
        words = Words("Cache kept ", percent(verdict.r)) if verdict.r is not None else Words("Cache kept in part")
    else:
        words = Words("Cache cold" if verdict.verdict is Cache.COLD else "Cache lost")
    cause = cache_cause_words(report, verdict, name)
    if verdict.cause is not None and verdict.cause.evidence != "confirmed":
        cause.spans = [Span(s.text, Tone.DIM, italic=True) for s in cause.spans]
    first = cause.spans[0].text if cause.spans else own("")
    rewritten = joined(tokens(verdict.rewritten), " rewritten") if verdict.rewritten else own("")
    if first.startswith(("at ", "after ")):
        words.say(", lost " if verdict.verdict is Cache.PARTIAL else " ").add(cause)
        return words.say(": ", rewritten) if rewritten else words
    if first:
        words.say(": ").add(cause)
        return words.say(", ", rewritten) if rewritten else words
    return words.say(": ", rewritten) if rewritten else words


def cache_tail(verdict: CacheVerdict) -> Shown:
    """Return the cache in a few words for the end of a sentence; nothing where it has a sentence of its own."""
    match verdict.verdict:
        case Cache.KEPT:
            return joined("Cache kept ", percent(verdict.r), ".") if verdict.r is not None else own("Cache kept.")
        case Cache.COLD if verdict.cause is None:
            return own("Cache cold.")
        case Cache.NOT_REPORTED:
            return own("Cache not reported.")
        case Cache.NOT_CACHEABLE:
            return own("Too short to be cached.")
        case _:
            return own("")
