"""A comparison as a compact text report: what ``diff`` writes, and what its picture shows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ctx_inspect.core.diff.report import CategoryReport, Cause, CauseKind, Change, ChangeKind, Report, State
from ctx_inspect.core.model import Category, Confirmed, Estimated, Known, Raw, Unavailable, value_of
from ctx_inspect.core.phrases import (
    ATTRIBUTION_LOST,
    BASELINE_WORDS,
    CATEGORY_WORDS,
    CHANGE_SIGNS,
    CHANGE_TONES,
    CHANGE_WORDS,
    FLAG_SIGN,
    FLAG_WORDS,
    NOT_KNOWN,
    REWRITTEN,
    Name,
    full,
    nth,
    part_words,
    reason_of,
)
from ctx_inspect.core.saying import cause_words, compaction_delta, gone_words, item_name
from ctx_inspect.core.sentences import UNAVAILABLE, Sentence, sentences
from ctx_inspect.core.text.clock import local
from ctx_inspect.core.text.show import Safe, capital, joined, numeral, own, padded, safe_join, said
from ctx_inspect.core.views.facts import cache_figures, cache_state, counter_words, not_recorded_words, points, sides, window_words
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.gauge import TONES
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.layout import Line, choose, columns_line, line_width, wrapped
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone

LEAST = 100
"""Cells of a report that is not made for a terminal: longer names make it wider, nothing is cut."""

WHAT, TOKENS, EVIDENCE, GAP = 11, 14, 12, 2
LABEL = 14
"""Cells of the word in front of a line of facts."""

MOVED_NAMED = 6
"""Items that one move names."""

STATE_WORDS = {
    State.SAME: own("unchanged"),
    State.CHANGED: own("changed"),
    State.GROWTH: own("growth"),
    State.REWRITTEN: own("rewritten"),
    State.UNAVAILABLE: own("unavailable"),
    State.NO_BASELINE: own("no baseline"),
}


def report_sheet(report: Report, name: Name = named) -> Sheet:
    """Return a comparison as a sheet of (item, what, tokens, evidence).

    Args:
        report: The comparison.
        name: Makes names from outside harmless.
    """
    rows = [_note(*_title(report, name)), *(_note(*_spoken(sentence)) for sentence in sentences(report, name))]
    rows.append(Row(kind=RowKind.BLANK))
    quiet = (State.SAME, State.NO_BASELINE, State.UNAVAILABLE)
    for state in (None, *quiet):  # what changed comes first, what nobody knows last
        for part in report.categories:
            if part.state is state or (state is None and part.state not in quiet):
                rows += _category(report, part, name)
    rows.append(Row(kind=RowKind.BLANK))
    rows += _facts(report, name)
    columns = (
        Column(NOTHING, 0),
        Column(NOTHING, WHAT, leaves=1),
        Column(NOTHING, TOKENS, right=True),
        Column(NOTHING, EVIDENCE, leaves=2),
    )
    return Sheet(columns, tuple(rows))


def report_lines(report: Report, wide: int | None = None, name: Name = named) -> list[Line]:
    """Return a comparison as lines.

    Args:
        report: The comparison.
        wide: Cells of the terminal; ``None`` where there is none: nothing is cut then.
        name: Makes names from outside harmless.
    """
    sheet = report_sheet(report, name)
    if wide is None:
        names = max((line_width(r.cells[0].spans) for r in sheet.rows if r.kind is RowKind.ROW), default=0)
        wide = max(LEAST, names + WHAT + TOKENS + EVIDENCE + 3 * GAP)
    wide = max(1, wide)
    chosen = choose(sheet.columns, wide, GAP)
    out: list[Line] = []
    for row in sheet.rows:
        if row.kind is RowKind.NOTE:
            spans = row.cells[0].spans
            # what is behind a sign or a label hangs behind it
            first = len(spans[0].text) if len(spans) > 1 and len(spans[0].text) <= LABEL else None
            out += wrapped(spans, wide, first)
        else:
            out.append(columns_line(row.cells, sheet.columns, chosen, wide, GAP) if row.kind is RowKind.ROW else ())
    return out


def _spoken(sentence: Sentence) -> tuple[Span, ...]:
    source = () if sentence.source == UNAVAILABLE else (Span(joined(" · ", sentence.source), Tone.DIM),)
    return (Span(joined(sentence.sign, " "), sentence.tone), *sentence.spans, *source)


def _note(*spans: Span) -> Row:
    return Row((Cell(spans),), RowKind.NOTE)


def _row(item: Sequence[Span], what: Safe = "", tokens: Span | None = None, evidence: str = "", key: Hashable | None = None) -> Row:
    cells = (
        Cell(tuple(item)),
        Cell((Span(joined(what), Tone.DIM),)),
        Cell((tokens,) if tokens is not None else (), right=True),
        Cell((Span(said(evidence), Tone.DIM),)),
    )
    return Row(cells, key=key)


def _title(report: Report, name: Name) -> tuple[Span, ...]:
    facts = [said(report.harness)]
    if report.project:
        facts.append(name(project_name(report.project)))
    facts.append(points(report))
    return (
        Span(own("Context changes  "), strong=True),
        Span(sides(report), strong=True),
        Span(joined("   ", safe_join(" · ", facts)), Tone.DIM),
    )


def project_name(path: Raw) -> Raw:
    """Return a project's name: the last part of its path."""
    return Raw(path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path)


def tokens_span(known: Known[int]) -> Span:
    """Return a change of tokens as the report writes it: ``+1,240 est``; what is confirmed is aligned with it."""
    match known:
        case Confirmed(value=n):
            return Span(joined(full(n), "    "))
        case Estimated(value=n):
            return Span(joined(full(n), " est"), Tone.DIM, italic=True)
        case Unavailable():
            return Span(joined(NONE, "    "), Tone.DIM)


def _category(report: Report, part: CategoryReport, name: Name) -> list[Row]:
    head = Span(capital(CATEGORY_WORDS[part.category]), TONES[part.category], strong=True)
    if part.state is State.UNAVAILABLE:
        why = said(part.coverage.note or "not recorded")
        return [
            _note(Span(padded(head.text, LABEL), head.tone, strong=True), Span(joined("unavailable: ", why), Tone.DIM)),
            *_lost(report, part, name),
        ]
    if part.state is State.NO_BASELINE:
        why = part.baseline_why or report.why
        return [_row((head,), STATE_WORDS[part.state]), *([] if why is report.why or why is None else [_dim("  ", BASELINE_WORDS[why])])]
    talk, settings = part.category is Category.CONVERSATION, part.category is Category.SETTINGS
    delta = part.tokens.delta
    if talk and part.state is State.REWRITTEN:
        delta = compaction_delta(report.conversation, delta)
    same = part.state is State.SAME
    rows = [_row((head,), STATE_WORDS[part.state], None if settings or same else tokens_span(delta), part.coverage.grade)]
    rows += _talk(report) if talk else [_change(report, part.category, c, name) for c in part.changes]
    rows += _lost(report, part, name)
    if isinstance(delta, Unavailable) and not settings and not same:
        rows.append(_dim("  tokens ", NONE, ": ", said(delta.note)))
    return rows


def _dim(*words: Safe) -> Row:
    return _note(Span(joined(*words), Tone.DIM))


def _lost(report: Report, part: CategoryReport, name: Name) -> list[Row]:
    return [
        _row(
            (Span(joined("  ", NOT_KNOWN, " ", item_name(report, i.k, name))), Span(joined("  ", ATTRIBUTION_LOST), Tone.DIM)),
            "",
            None,
            "unavailable",
        )
        for i in part.lost
    ]


def _change(report: Report, category: Category, change: Change, name: Name) -> Row:
    sign = Span(joined("  ", CHANGE_SIGNS[change.kind], " "), CHANGE_TONES[change.kind])
    spans = [sign]
    if change.kind is ChangeKind.MOVED:
        some = [item_name(report, k, name) for k in change.moved[:MOVED_NAMED]]
        more = joined(" and ", numeral(len(change.moved) - MOVED_NAMED), " more") if len(change.moved) > MOVED_NAMED else own("")
        spans.append(Span(joined(safe_join(", ", some), more)))
        return _row(spans, CHANGE_WORDS[change.kind], None, change.evidence, (category, change.k))
    if change.kind is ChangeKind.RENAMED and change.from_k is not None:
        spans.append(Span(joined(item_name(report, change.from_k, name), " → ")))
    spans.append(Span(item_name(report, change.k, name)))
    if category is Category.SETTINGS:
        was, now = (NONE if i is None or i.shown is None else name(i.shown) for i in (change.before, change.after))
        spans.append(Span(joined("  ", was, " → ", now)))
    spans += [Span(joined("  ", FLAG_SIGN, " ", FLAG_WORDS[flag]), Tone.DIM) for flag in change.flags]
    if change.follows is not None:
        spans.append(Span(joined("  follows ", name(Raw(change.follows))), Tone.DIM))
    what = part_words(change) or CHANGE_WORDS[change.kind]
    if len(change.parts) > 1:
        spans.append(Span(joined("  ", what), Tone.DIM))
        what = CHANGE_WORDS[change.kind]
    tokens = None if category is Category.SETTINGS else tokens_span(change.tokens.delta)
    return _row(spans, what, tokens, change.evidence, (category, change.k))


def _talk(report: Report) -> list[Row]:
    talk = report.conversation
    if talk.kind is State.GROWTH:
        words = counted(talk.added, "message")
        steps = joined(" in ", counted(talk.steps, "step")) if talk.steps else own("")
        return [_row((Span(own("  + "), Tone.ADDED), Span(joined(words, steps))), CHANGE_WORDS[ChangeKind.ADDED])]
    if talk.kind is not State.REWRITTEN:
        return []
    rows = [_cause(report, cause) for cause in talk.causes or (Cause(CauseKind.NOT_RECORDED, "unavailable"),)]
    where = own("") if talk.from_message is None else joined("from message ", numeral(talk.from_message + 1), " on")
    rows.append(_dim("    ", safe_join(": ", (w for w in (where, gone_words(talk)) if w))))
    done = talk.compaction
    if done is not None:
        folded = [
            joined(numeral(n), " ", word)
            for known, word in ((done.folded, own("folded")), (done.kept, own("kept")))
            if (n := value_of(known)) is not None
        ]
        loop = own(", in a loop" if done.loop else "")
        rows.append(_dim("    ", safe_join(", ", (*folded, joined("the ", nth(done.nth), " compaction of the session", loop)))))
    return rows


def _cause(report: Report, cause: Cause) -> Row:
    talk = report.conversation
    words = cause_words(cause)
    if cause.mark is not None and (reason := reason_of(cause.mark.reason)) is not None:
        words = joined(words, " (", reason, ")")
    if cause.kind is CauseKind.NOT_RECORDED:
        words = joined(words, ", cause not recorded")
    if cause.kind is CauseKind.COMPACTION:
        words = joined(words, "  ", numeral(talk.before), " → ", counted(talk.after, "message"))
    evidence = "not recorded" if cause.kind is CauseKind.NOT_RECORDED else cause.evidence
    return _row((Span(joined("  ", REWRITTEN, " "), Tone.ALERT), Span(words)), "", None, evidence)


def _fact(label: Safe, *words: Span) -> Row:
    return _note(Span(padded(label, LABEL), Tone.DIM), *words)


def _facts(report: Report, name: Name) -> list[Row]:
    cache = (*cache_state(report, name).spans, Span(joined(" · ", cache_figures(report))))
    rows = [_fact("Window", Span(window_words(report))), _fact("Cache", *cache), _fact("Counted", Span(counter_words(report)))]
    rows += [_dim(words) for words in not_recorded_words(report)]
    times = [local(s.at) for s in (report.before, report.after) if s is not None]
    rows.append(_dim(name(Raw(report.session)), " · ", safe_join(" → ", times)))
    return rows
