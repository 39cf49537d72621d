"""The conversation's rows of the Diff tab: growth in one line, a rewritten list with its recorded causes."""

from __future__ import annotations

from collections.abc import Hashable

from ctx_inspect.core.diff.report import Cause, CauseKind, Report, State, main_cause
from ctx_inspect.core.model import Category, Shown, Unavailable, value_of
from ctx_inspect.core.phrases import CAUSE_WORDS, REWRITTEN, nth, reason_of
from ctx_inspect.core.saying import cause_words, compaction_delta, gone_words
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.views.diff_cells import EMPTY, Shape, change_span
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.sheet import Row, Span, Tone

SHORT_CAUSES = {
    CauseKind.NOT_RECORDED: own("no record"),
    CauseKind.MODEL_SWITCH: own("model switch"),
    CauseKind.REMINDER_MOVED: own("reminder"),
}
"""Causes that are too long for the column at the right."""


def talk_rows(report: Report, shape: Shape, key: Hashable) -> list[Row]:
    """Return what the message list did."""
    talk = report.conversation
    if talk.kind is State.GROWTH:
        steps = joined("in ", counted(talk.steps, "step")) if talk.steps > 1 else own("added")
        words = counted(talk.added, "message")
        tokens = report.category(Category.CONVERSATION).tokens
        delta = change_span(tokens.delta, Tone.ADDED)
        return [shape.row(Span(own("+"), Tone.ADDED, strong=True), EMPTY, Span(words), EMPTY, EMPTY, delta, Span(steps, Tone.DIM), key)]
    if talk.kind is not State.REWRITTEN:
        count = counted(talk.after, "message")
        return [shape.words((Span(count, Tone.DIM),))] if talk.after else []
    cause = main_cause(talk)
    tokens = report.category(Category.CONVERSATION).tokens
    what = SHORT_CAUSES.get(cause.kind, CAUSE_WORDS[cause.kind])
    unknown = cause.kind is CauseKind.NOT_RECORDED
    rows = [
        shape.row(
            Span(REWRITTEN, Tone.ALERT, strong=True),
            Span(counted(talk.before, "message") if shape.two else numeral(talk.before)),
            Span(counted(talk.after, "message")),
            EMPTY,
            EMPTY,
            change_span(compaction_delta(talk, tokens.delta), Tone.ALERT) if cause.kind is CauseKind.COMPACTION else EMPTY,
            Span(what, Tone.DIM if unknown else Tone.WARN, italic=cause.evidence == "estimated"),
            key,
        )
    ]
    rows += [shape.words((Span(_cause(c), Tone.DIM),)) for c in talk.causes if len(talk.causes) > 1 or c.kind is not CauseKind.COMPACTION]
    where = own("") if talk.from_message is None else joined("from message ", numeral(talk.from_message + 1), " on")
    rows.append(shape.words((Span(safe_join(": ", [w for w in (where, gone_words(talk)) if w]), Tone.DIM),)))
    done = talk.compaction
    if done is not None:
        folded = [
            joined(numeral(n), " ", word)
            for known, word in ((done.folded, own("folded")), (done.kept, own("kept")))
            if (n := value_of(known)) is not None
        ]
        loop = own(", in a loop" if done.loop else "")
        words = safe_join(", ", (*folded, joined("the ", nth(done.nth), " compaction of the session", loop)))
        rows.append(shape.words((Span(words, Tone.WARN if done.loop else Tone.DIM),)))
    if isinstance(tokens.delta, Unavailable) and done is None:
        rows.append(shape.words((Span(joined("tokens —: ", said(tokens.delta.note)), Tone.DIM),)))
    return rows


def _cause(cause: Cause) -> Shown:
    words = cause_words(cause)
    if cause.mark is not None and (reason := reason_of(cause.mark.reason)) is not None:
        words = joined(words, " (", reason, ")")
    if cause.kind is CauseKind.NOT_RECORDED:
        return joined(words, ": no record says why")
    known = own("recorded") if cause.evidence == "confirmed" else joined("estimated: ", said(cause.how)) if cause.how else own("estimated")
    return joined(words, ", ", known)
