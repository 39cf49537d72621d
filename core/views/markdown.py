"""A comparison as Markdown, for an issue or a review: names stand in code spans, where nothing in them acts."""

from __future__ import annotations

from ctx_inspect.core.diff.report import CategoryReport, Cause, CauseKind, Change, ChangeKind, Report, State
from ctx_inspect.core.model import Category, Known, Raw, Shown, Unavailable
from ctx_inspect.core.phrases import (
    ATTRIBUTION_LOST,
    BASELINE_WORDS,
    CATEGORY_WORDS,
    CHANGE_SIGNS,
    CHANGE_WORDS,
    FLAG_WORDS,
    NOT_KNOWN,
    REWRITTEN,
    Name,
    figure,
    full,
    part_words,
)
from ctx_inspect.core.saying import Words, cause_words, compaction_delta, gone_words, item_name
from ctx_inspect.core.sentences import UNAVAILABLE, Sentence, sentences
from ctx_inspect.core.text.show import capital, joined, markdown_words, own, said
from ctx_inspect.core.text.show import markdown as code
from ctx_inspect.core.views.facts import cache_figures, cache_state, counter_words, not_recorded_words, points, sides, window_words
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.report import MOVED_NAMED, STATE_WORDS, project_name


def markdown(report: Report, name: Name = named) -> str:
    """Return a comparison as a Markdown document that ends with a line break.

    Args:
        report: The comparison.
        name: Makes names from outside harmless.
    """
    facts = [code(Raw(report.harness))]
    if report.project:
        facts.append(code(Raw(name(project_name(report.project)))))
    facts.append(markdown_words(points(report)))
    out = [f"### Context changes: {markdown_words(sides(report))}", "", " · ".join(facts), ""]
    out += [_sentence(s) for s in sentences(report, name)]
    out += ["", "| | item | change | tokens | evidence |", "|---|---|---|---:|---|"]
    for part in report.categories:
        out += _category(report, part, name)
    state = cache_state(report, name)
    out += [
        "",
        f"- Window: {markdown_words(window_words(report))}",
        f"- Cache: {_spans(state)} · {markdown_words(cache_figures(report))}",
        f"- Counted: {markdown_words(counter_words(report))}",
    ]
    out += [f"- {markdown_words(words)}" for words in not_recorded_words(report)]
    ids = [code(Raw(s.id)) for s in (report.before, report.after) if s is not None and s.id]
    out.append(f"- Session {code(Raw(name(Raw(report.session))))}" + (f", {' → '.join(ids)}" if ids else ""))
    return "\n".join(out) + "\n"


def _sentence(sentence: Sentence) -> str:
    words = "".join(code(Raw(s.text)) if i in sentence.names else markdown_words(s.text) for i, s in enumerate(sentence.spans))
    source = "" if sentence.source == UNAVAILABLE else f" — *{markdown_words(sentence.source)}*"
    return f"- {code(Raw(sentence.sign))} {words}{source}"


def _spans(words: Words) -> str:
    return "".join(code(Raw(s.text)) if i in words.names else markdown_words(s.text) for i, s in enumerate(words.spans))


def _row(sign: str, item: str, change: str = "", tokens: str = "", evidence: str = "") -> str:
    return f"| {sign} | {item} | {change} | {tokens} | {evidence} |"


def _cell(raw: Shown) -> str:
    return code(Raw(raw), table=True)


def _tokens(known: Known[int]) -> str:
    return markdown_words(figure(known, full))


def _category(report: Report, part: CategoryReport, name: Name) -> list[str]:
    head = f"**{markdown_words(capital(CATEGORY_WORDS[part.category]))}**"
    lost = [
        _row(_cell(NOT_KNOWN), _cell(item_name(report, i.k, name)), markdown_words(ATTRIBUTION_LOST), "—", "unavailable") for i in part.lost
    ]
    if part.state is State.UNAVAILABLE:
        return [_row("", head, "unavailable", "—", markdown_words(said(part.coverage.note or "not recorded"))), *lost]
    if part.state is State.NO_BASELINE:
        why = part.baseline_why or report.why
        return [_row("", head, "no baseline", "—", "" if why is None else markdown_words(BASELINE_WORDS[why]))]
    talk = part.category is Category.CONVERSATION
    delta = part.tokens.delta
    if talk and part.state is State.REWRITTEN:
        delta = compaction_delta(report.conversation, delta)
    same, settings = part.state is State.SAME, part.category is Category.SETTINGS
    evidence = part.coverage.grade
    if isinstance(delta, Unavailable) and not settings and not same:
        evidence = markdown_words(said(f"{evidence}; tokens: {delta.note}"))
    elif part.coverage.how and evidence != "confirmed":
        evidence = markdown_words(said(f"{evidence}: {part.coverage.how}"))
    rows = [_row("", head, markdown_words(STATE_WORDS[part.state]), "" if same or settings else _tokens(delta), evidence)]
    rows += _talk(report) if talk else [_change(report, part.category, c, name) for c in part.changes]
    return [*rows, *lost]


def _change(report: Report, category: Category, change: Change, name: Name) -> str:
    sign = _cell(CHANGE_SIGNS[change.kind])
    if change.kind is ChangeKind.MOVED:
        some = ", ".join(_cell(item_name(report, k, name)) for k in change.moved[:MOVED_NAMED])
        more = f" and {len(change.moved) - MOVED_NAMED} more" if len(change.moved) > MOVED_NAMED else ""
        return _row(sign, some + more, "moved", "", change.evidence)
    item = _cell(item_name(report, change.k, name))
    if change.kind is ChangeKind.RENAMED and change.from_k is not None:
        item = f"{_cell(item_name(report, change.from_k, name))} → {item}"
    if category is Category.SETTINGS:
        was, now = ("—" if i is None or i.shown is None else _cell(name(i.shown)) for i in (change.before, change.after))
        item += f" {was} → {now}"
    words = [part_words(change) or CHANGE_WORDS[change.kind], *(FLAG_WORDS[f] for f in change.flags)]
    what = ", ".join(map(markdown_words, words))
    if change.follows is not None:
        what += f", follows {_cell(name(Raw(change.follows)))}"
    tokens = "" if category is Category.SETTINGS else _tokens(change.tokens.delta)
    return _row(sign, item, what, tokens, change.evidence)


def _talk(report: Report) -> list[str]:
    talk = report.conversation
    if talk.kind is State.GROWTH:
        steps = joined(" in ", counted(talk.steps, "step")) if talk.steps else own("")
        return [_row(_cell(own("+")), markdown_words(joined(counted(talk.added, "message"), steps)), "added")]
    if talk.kind is not State.REWRITTEN:
        return []
    rows: list[str] = []
    for cause in talk.causes or (Cause(CauseKind.NOT_RECORDED, "unavailable"),):
        missing = cause.kind is CauseKind.NOT_RECORDED
        words = joined(cause_words(cause), ", cause not recorded") if missing else cause_words(cause)
        rows.append(_row(_cell(REWRITTEN), markdown_words(words), "", "", "not recorded" if missing else cause.evidence))
    where = "" if talk.from_message is None else f"from message {talk.from_message + 1:,} on"
    gone = markdown_words(gone_words(talk))
    rows.append(_row("", ": ".join(w for w in (where, gone) if w)))
    return rows
