"""Words for events and for what happened in a turn; our own words, and names made harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import LiteralString

from ctx_inspect.core.model import Confirmed, Estimated, Mark, MarkKind, Raw, Request, Shown, Unavailable, value_of
from ctx_inspect.core.phrases import reason_of
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.timeline import LINES, TurnRow
from ctx_inspect.core.views.figures import change, counted, reason, tokens
from ctx_inspect.core.views.glyphs import LAST_BRANCH
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone

NAME_LIMIT = 40
"""Characters of a model's, agent's or tool's name that are shown in a line."""

_TONES = {MarkKind.COMPACTION: Tone.ALERT, MarkKind.REVERT: Tone.WARN, MarkKind.BRANCH: Tone.WARN, MarkKind.PRUNE: Tone.WARN}
_UNDONE = {
    "requested": own("compaction requested"),
    "started": own("compacting"),
    "failed": own("compaction failed"),
    "aborted": own("compaction aborted"),
}


def event_tone(mark: Mark) -> Tone:
    """Return how loud an event is."""
    if mark.kind is MarkKind.COMPACTION and mark.status in _UNDONE and mark.status != "failed":
        return Tone.WARN
    return _TONES.get(mark.kind, Tone.DIM)


def event_words(mark: Mark) -> Shown:
    """Return an event in a few words: ``compacted (auto): 184 → 9 messages · −62.9k``."""
    match mark.kind:
        case MarkKind.COMPACTION:
            return _compaction(mark)
        case MarkKind.REVERT:
            return joined("reverted", _of(mark, "turns", "turn"))
        case MarkKind.BRANCH:
            return joined("branched off", _of(mark, "turns", "turn"), " left behind" if mark.counts.get("turns") else "")
        case MarkKind.FORK:
            return joined("forked: the turns above are copies", _of(mark, "turns", "turn"))
        case MarkKind.PRUNE:
            return joined("pruned", _of(mark, "parts", "tool output") or ": tool outputs taken out")
        case MarkKind.RELOAD:
            return own("reloaded")
        case MarkKind.EDIT:
            return joined("context edited", _of(mark, "parts", "part"))
        case MarkKind.SYSTEM:
            return own("system prompt changed")
        case MarkKind.MODEL:
            return _to("model", mark.detail)
        case MarkKind.THINKING:
            return _to("thinking", mark.detail)
        case MarkKind.AGENT:
            return _to("agent", mark.detail)
        case MarkKind.LABEL:
            return _to("label", mark.detail)


def _brief(mark: Mark) -> Shown:
    """Return an event in very few words: a model without its provider."""
    if mark.kind is MarkKind.MODEL and mark.detail:
        return joined("→ ", named(Raw(mark.detail.partition("/")[2] or mark.detail), NAME_LIMIT))
    return own("new prompt") if mark.kind is MarkKind.SYSTEM else event_words(mark)


def _of(mark: Mark, what: str, noun: LiteralString) -> Shown:
    n = mark.counts.get(what)
    return joined(": ", counted(n, noun)) if n else joined()


def _to(what: LiteralString, detail: Raw | None) -> Shown:
    return joined(what, " → ", named(detail, NAME_LIMIT)) if detail else joined(what, " changed")


def _compaction(mark: Mark) -> Shown:
    words = _UNDONE.get(mark.status or "", own("compacted"))
    why = reason_of(mark.reason)
    if why is not None:
        words = joined(words, " (", why, ")")
    if mark.status == "failed":
        return words
    facts: list[Shown] = []
    before, after = mark.counts.get("messages_before"), mark.counts.get("messages_after")
    if before is not None and after is not None:
        facts.append(joined(numeral(before), " → ", numeral(after), " messages"))
    was, then = value_of(mark.before), value_of(mark.then)
    if was is not None and then is not None:
        sign = "≈" if isinstance(mark.before, Estimated) or isinstance(mark.then, Estimated) else ""
        facts.append(joined(sign, change(then - was)))
    elif was is not None:
        facts.append(joined(tokens(was), " before"))
    return joined(words, ": ", safe_join(" · ", facts)) if facts else words


def event_spans(mark: Mark, wide: bool) -> tuple[Span, ...]:
    """Return the words of an event line; ``wide`` adds how it is known."""
    tone = event_tone(mark)
    words = event_words(mark) if mark.how is None else joined("≈ ", event_words(mark))
    guessed = mark.how is not None
    if not wide:
        return (Span(words, tone, italic=guessed),)
    known = said(f" · {mark.how}") if mark.how is not None else own(" · recorded")
    return (Span(words, tone, italic=guessed), Span(known, Tone.DIM, italic=guessed))


_ERRORS = {
    "auth": own("not authorised"),
    "rate": own("rate limit"),
    "overflow": own("window overflow"),
    "server": own("server error"),
    "network": own("network error"),
}


def error_words(request: Request) -> Shown | None:
    """Return a step's failure in words, ``None`` where it did not fail."""
    if request.error is None:
        return own("aborted") if request.finish == "aborted" else None
    if request.error == "aborted":
        return own("aborted")
    return _ERRORS.get(request.error, own("failed"))


def tool_words(names: Sequence[Raw], most: int = 4) -> Shown:
    """Return tools by how often they were called: ``bash ×3, edit``."""
    counts = Counter(names).most_common()
    words = [joined(named(name, NAME_LIMIT), " ×", n) if n > 1 else named(name, NAME_LIMIT) for name, n in counts[:most]]
    if len(counts) > most:
        words.append(joined(len(counts) - most, " more"))
    return safe_join(", ", words)


def not_called(request: Request) -> Shown:
    """Return what a row is that no model was called for: a person's own shell command, or the start of a subtask."""
    return own("subtask") if request.children or Raw("task") in request.tools else own("shell command")


RUNNING, UNFINISHED = own("running"), own("end not recorded")
WAITING, NO_RESPONSE = own("waiting for the first response"), own("no response recorded")


def unfinished(request: Request) -> bool:
    """Tell whether a model call has no end yet."""
    return request.call and request.finish is None and request.done is None and request.error is None


def state(row: TurnRow, *, newest: bool, live: bool) -> Shown | None:
    """Return what a turn is doing, or that its end was never recorded; ``None`` where it has ended.

    Args:
        row: The turn.
        newest: No turn follows.
        live: The session lives.
    """
    rows = row.turn.requests
    if not rows:
        return WAITING if newest and live else NO_RESPONSE
    if unfinished(rows[-1]):
        return RUNNING if newest and live else UNFINISHED
    return None


def why_no_window(row: TurnRow, *, newest: bool, live: bool) -> Shown:
    """Return why a turn has no figure, in words."""
    return state(row, newest=newest, live=live) or reason(row.window)


def flag(row: TurnRow) -> Span:
    """Return one sign for what matters most of what happened in a turn, where there is no room for words."""
    if any(error_words(r) is not None for r in row.turn.requests):
        return Span(own("!"), Tone.WARN)
    if any(m.kind not in LINES for m in row.events):
        return Span(own("→"), Tone.TEXT)
    if any(r.children for r in row.turn.requests):
        return Span(LAST_BRANCH, Tone.TEXT)
    return Span(own(" "))


def step_flag(request: Request) -> Span:
    """Return the sign of a step; see :func:`flag`."""
    if error_words(request) is not None:
        return Span(own("!"), Tone.WARN)
    return Span(LAST_BRANCH if request.children else own(" "), Tone.TEXT)


def what(row: TurnRow, *, newest: bool = False, live: bool = False, short: bool = False, changed: Shown | None = None) -> tuple[Span, ...]:
    """Return what happened in a turn: its events, failures and subagents, else the tools it called.

    Args:
        row: The turn.
        newest: No turn follows.
        live: The session lives.
        short: There is little room: what can be told in fewer words is.
        changed: Which items changed: said instead of that the recorded system prompt or the model did.
    """
    out: list[Span] = []
    untold = LINES if changed is None else LINES | {MarkKind.SYSTEM, MarkKind.MODEL, MarkKind.THINKING}

    def say(words: Shown, tone: Tone = Tone.TEXT) -> None:
        if out:
            out.append(Span(own(" · "), Tone.DIM))
        out.append(Span(words, tone))

    if row.turn.inherited:
        say(own("copied"), Tone.DIM)
    if changed is not None:
        say(changed)
    # those of LINES have a line of their own
    for words, times in Counter((_brief if short else event_words)(m) for m in row.events if m.kind not in untold).items():
        say(words if times == 1 else joined(words, " ×", times))
    failures = [w for r in row.turn.requests if (w := error_words(r)) is not None]
    if failures:
        say(failures[-1] if len(failures) == 1 else joined(failures[-1], " (", len(failures), " failed)"), Tone.WARN)
    children = sum(len(r.children) for r in row.turn.requests)
    if children:
        say(counted(children, "subagent"))
    uncalled = Counter(not_called(r) for r in row.turn.requests if not r.call)
    for words, times in uncalled.items():
        say(words if times == 1 else joined(words, " ×", times), Tone.DIM)
    tools = [name for r in row.turn.requests for name in r.tools]
    if tools:
        say(tool_words(tools), Tone.DIM)
    doing = state(row, newest=newest, live=live)
    if doing is not None:
        say(doing, Tone.TEXT if doing in (WAITING, RUNNING) else Tone.DIM)
    elif isinstance(row.window, Unavailable) and not uncalled:
        say(reason(row.window), Tone.DIM)
    return tuple(out)


def attempts_words(request: Request) -> Shown:
    """Return how often a step was sent, or ``—`` where the store keeps no retries."""
    match request.attempts:
        case Confirmed(value=n) | Estimated(value=n):
            return joined("×", n)
        case Unavailable():
            return own("—")
