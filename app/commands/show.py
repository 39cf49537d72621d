"""``ctx-inspect show SESSION [TURN]``: what a turn's request carried."""

from __future__ import annotations

import click
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import note, span, table, warn, width, write_json, write_lines
from ctx_inspect.app.commands.stores import NotFound, stores, turn_named
from ctx_inspect.core.budget import request_window, steps_of
from ctx_inspect.core.measure import Measure, calibrated_on
from ctx_inspect.core.model import Known, Ledger, Part, Raw, Request, Turn, Unavailable, Why, replace
from ctx_inspect.core.schema import show_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.damage import uncalled
from ctx_inspect.core.schema.show import CategoryRow, ItemRow, Show, Tokens
from ctx_inspect.core.schema.turns import window_of
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.text import tokens as counters
from ctx_inspect.core.text.redact import whole_words
from ctx_inspect.core.text.show import joined, lines, own, padded, said, terminal
from ctx_inspect.core.timeline import timeline
from ctx_inspect.core.views.figures import counted, size, whole
from ctx_inspect.core.views.gauge import TONES
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import Cell, Column, Row, Span, Tone
from msgspec import UnsetType

TEXT_LIMIT = 10_000_000
"""Characters of one text that ``--text`` reads."""

NO_REF = Unavailable(Why.NOT_RECORDED, "its text is not recorded")


@command("show", context_settings={"ignore_unknown_options": True})
@click.argument("session")
@click.argument("turn", default="last")
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="Its N-th model call instead of its first.")
@click.option("--text", is_flag=True, help="Show the text of the conversation.")
@click.option("--uncover", is_flag=True, help="Show what looks like a key or password.")
def show(settings: Settings, session: str, turn: str, step: int | None, text: bool, uncover: bool) -> None:
    """Show what the first request of TURN carried: items by category, with their tokens.

    TURN is a number (1…, negative from the end), a message id, or last.
    """
    if session.startswith("-"):
        raise click.UsageError(f"no such option: {session}")
    found = stores(settings)
    one = found.session(session)
    settings.doing = f"show {one.info.id}"
    ledger = found.open(one)
    chosen = turn_named(ledger, turn)
    request = _request(chosen, step)
    settings.doing = f"show {one.info.id} {chosen.id}"
    rows = timeline(ledger, found.window_for(one))
    limit = rows.turns[chosen.n - 1].limit if request is None else rows.limit_for(request.model)
    window = window_of(uncalled(ledger) if request is None else request_window(request), limit)
    read = (lambda part: _text(one.source, part)) if text else None
    answer = show_of(ledger, chosen, request, window, measure(ledger, one.source), read, cleaner(uncover))
    if settings.json:
        write_json(answer)
        return
    write_lines(settings, _lines(answer, text))
    warn([*found.problems, *ledger.problems])
    if not text:
        note("the conversation's text is shown with --text")


def _request(turn: Turn, step: int | None) -> Request | None:
    steps = steps_of(turn)
    if step is None:
        return steps[0] if steps else None
    for request in steps:
        if request.step == step:
            return request
    raise NotFound(f"no step {step}: turn {turn.n} has {counted(len(steps), 'model call')}")


def measure(ledger: Ledger, source: Source) -> Measure:
    """Return what counts: a vocabulary where one is on this machine, else the estimator, calibrated on the session."""
    counter = counters.pick()
    return Measure(counter if counter.needs_text else calibrated_on(ledger), source.text)


def _text(source: Source, part: Part) -> Known[Raw]:
    if part.ref is None:
        return NO_REF
    known = source.text(part.ref, TEXT_LIMIT)
    if isinstance(known, Unavailable):
        return known
    return replace(known, value=whole_words(known.value, cut=len(known.value) >= TEXT_LIMIT))


def _lines(answer: Show, text: bool) -> list[Line]:
    wide = width()
    out: list[Line] = []
    where = f"{terminal(Raw(answer.session))} · turn {answer.turn}"
    if not isinstance(answer.step, UnsetType):
        where += f" · step {answer.step} of {answer.steps}"
    out.append(span(said(where), strong=True))
    facts: list[str] = []
    if not isinstance(answer.window.tokens, UnsetType):
        facts.append(f"window {answer.window.tokens:,}")
        if not isinstance(answer.window.limit, UnsetType):
            facts.append(f"of {answer.window.limit.value:,}")
    elif not isinstance(answer.window.why, UnsetType):
        facts.append(f"window — ({answer.window.why})")
    out.append(span(said(" · ".join(["rebuilt from the store", " ".join(facts)] if facts else ["rebuilt from the store"])), Tone.DIM))
    if answer.steps > 1 and not isinstance(answer.step, UnsetType):
        out.append(span(said(_which(answer.step, answer.steps)), Tone.DIM))
    rows: list[Row] = []
    for category in answer.categories:
        rows += _category(category)
    columns = (
        Column(own("category, item"), 0),
        Column(own("tokens"), 10, right=True),
        Column(own("bytes"), 10, right=True, leaves=2),
        Column(own("how it is known"), 44, leaves=1),
    )
    out += table(columns, rows, wide)
    out += [span(said(f"not recorded: {n.what}: {n.why}"), Tone.DIM) for n in answer.not_recorded]
    if text:
        out += _conversation(answer)
    return out


def _which(step: int, steps: int) -> str:
    """Say which of a turn's requests is shown: Budget and the timeline show its last one."""
    place = "the turn's first request" if step == 1 else "the turn's last request" if step == steps else "a request between"
    if step == steps:
        return f"{place}, as in Budget and the timeline"
    return f"{place}; Budget and the timeline show its last one: --step {steps}"


def _number(tokens: Tokens) -> Cell:
    if isinstance(tokens.count, UnsetType):
        return Cell((Span(own("—"), Tone.DIM),))
    sign = "≈" if tokens.evidence == "estimated" else ""
    return Cell((Span(joined(sign, whole(tokens.count)), italic=tokens.evidence == "estimated"),))


def _how(tokens: Tokens, *more: str | UnsetType) -> Cell:
    words = [w for w in (tokens.counter, *more, tokens.why) if not isinstance(w, UnsetType)]
    return Cell((Span(terminal(Raw(" · ".join(dict.fromkeys(words)))), Tone.DIM),))


def _category(category: CategoryRow) -> list[Row]:
    tone = next((t for c, t in TONES.items() if c.value == category.category), Tone.TEXT)
    noun = "message" if category.category == "conversation" else "item"
    words = joined("  ", counted(len(category.items), noun))
    head = Cell((Span(said(category.category), tone, strong=True), Span(words, Tone.DIM)))
    out = [Row((head, _number(category.tokens), Cell(), _how(category.tokens, category.how, category.why)))]
    out += [_item(item, settings=category.category == "settings") for item in category.items]
    return out


def _item(item: ItemRow, *, settings: bool) -> Row:
    spans: list[Span] = [Span(own("  "))]
    if not isinstance(item.role, UnsetType):
        kinds = [] if isinstance(item.parts, UnsetType) else [_part_words(p.kind, p.name) for p in item.parts]
        spans.append(Span(padded(said(item.role), 10)))
        spans.append(Span(terminal(Raw(item.k)), Tone.DIM))
        spans.append(Span(said("  " + ", ".join(kinds)), Tone.DIM))
        if not isinstance(item.synthetic, UnsetType):
            spans.append(Span(said(f"  ({item.synthetic})"), Tone.DIM))
    else:
        spans.append(Span(terminal(Raw(item.k), 200)))
        if not isinstance(item.value, UnsetType):
            spans.append(Span(joined(" = ", terminal(Raw(item.value), 200))))
        if not isinstance(item.src, UnsetType) and not isinstance(item.src.path, UnsetType) and item.src.path != item.k:
            spans.append(Span(joined("  ", terminal(Raw(item.src.path), 200)), Tone.DIM))
    volume = item.bytes
    if isinstance(volume, UnsetType) and not isinstance(item.parts, UnsetType):
        sizes = [p.bytes for p in item.parts if not isinstance(p.bytes, UnsetType)]
        volume = sum(sizes) if len(sizes) == len(item.parts) else volume
    bytes_cell = Cell() if isinstance(volume, UnsetType) else Cell((Span(size(volume), Tone.DIM),))
    return Row((Cell(tuple(spans)), _number(item.tokens), bytes_cell, Cell() if settings else _how(item.tokens)))


def _part_words(kind: str, name: str | UnsetType) -> str:
    return kind if isinstance(name, UnsetType) else f"{kind} {terminal(Raw(name), 60)}"


def _conversation(answer: Show) -> list[Line]:
    out: list[Line] = []
    for category in answer.categories:
        for item in category.items:
            if isinstance(item.parts, UnsetType):
                continue
            for part in item.parts:
                words = f"── {item.role} · {_part_words(part.kind, part.name)} · {terminal(Raw(item.k))}"
                out += [(), span(said(words), Tone.DIM, strong=True)]
                if not isinstance(part.text, UnsetType):
                    out += [span(line) for line in lines(Raw(part.text))]
                elif not isinstance(part.text_why, UnsetType):
                    out.append(span(said(f"— {part.text_why}"), Tone.DIM))
    return out
