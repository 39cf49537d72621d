"""``ctx-inspect turns SESSION``: the timeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import span, warn, width, write_json, write_lines
from ctx_inspect.app.commands.stores import stores
from ctx_inspect.core.budget import sent
from ctx_inspect.core.cache.verdict import verdicts
from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.drift import drift
from ctx_inspect.core.diff.history import History
from ctx_inspect.core.model import Ledger, Raw, Ref, Shown, Unavailable, value_of
from ctx_inspect.core.schema import turns_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.text.clock import day, local
from ctx_inspect.core.text.redact import uncovered, whole_words
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.timeline import Timeline, TurnRow, timeline
from ctx_inspect.core.views.drift import Told
from ctx_inspect.core.views.figures import counted, known, reason, round_tokens, tokens, whole
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.moved import changes_named
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.core.views.timeline import TimelineView

BEGINNING = 200
"""Characters of an input that ``--text`` shows."""

READ = 4_000
"""Characters that are read for it: a key that is cut in two has no shape, so more is redacted than shown."""

NO_TERMINAL = 160
"""Cells of a line where stdout is no terminal."""


def beginning(source: Source, refs: Sequence[Ref]) -> Raw | None:
    """Return the beginning of an input whose text can be read, whole enough to be redacted."""
    text = ""
    readable = False
    for ref in refs:
        part = value_of(source.text(ref, READ))
        if part is not None:
            readable = True
            text += ("\n" if text else "") + part
        if len(text) >= READ:
            break
    return whole_words(Raw(text[:READ]), cut=len(text) >= READ) if readable else None


def shortened(raw: Raw, uncover: bool) -> str:
    """Return the beginning of a text as ``--text`` shows it, redacted before it is cut."""
    text = uncovered(raw, uncover)
    return text if len(text) <= BEGINNING else text[:BEGINNING] + "…"


@command("turns")
@click.argument("session")
@click.option("--text", is_flag=True, help="Add the beginning of each input.")
@click.option("--uncover", is_flag=True, help="Show what looks like a key or password.")
def turns(settings: Settings, session: str, text: bool, uncover: bool) -> None:
    """Show the timeline of SESSION: its turns, how full the window was, and what happened."""
    found = stores(settings)
    one = found.session(session)
    settings.doing = f"turns {one.info.id}"
    ledger = found.open(one)
    rows = timeline(ledger, found.window_for(one))

    def begin(refs: Sequence[Ref]) -> Raw | None:
        raw = beginning(one.source, refs) if text else None
        return None if raw is None else Raw(shortened(raw, uncover))

    if settings.json:
        write_json(turns_of(ledger, rows, begin, cleaner(uncover), drift(ledger).turns, verdicts(ledger)))
        return
    write_lines(settings, lines(ledger, rows, begin, uncover, width() or NO_TERMINAL))
    warn([*found.problems, *ledger.problems])


def lines(ledger: Ledger, rows: Timeline, begin: Callable[[Sequence[Ref]], Raw | None], uncover: bool, wide: int) -> list[Line]:
    """Return a session's heading, its timeline and what stands beside it."""
    out = heading(ledger, rows, uncover)
    view = TimelineView(rows, other=ledger.other, told=told(ledger))
    laid = view.sized(wide)
    top = laid.head()
    if len(view):
        out.append(top or ())
    date: Shown | None = None
    for i in range(len(view)):
        at = view.at(i)
        if isinstance(at, TurnRow):
            if day(at.turn.at) != date:
                date = day(at.turn.at)
                out.append(span(joined("  ", date), Tone.DIM, strong=True))
            out.append(laid.line(i))
            raw = begin(at.turn.input)
            if raw is not None:
                out.append(span(joined("       ", terminal(raw)), Tone.DIM))
        else:
            out.append(laid.line(i))
    if not ledger.turns:
        out.append(span(own("  no turn yet"), Tone.DIM))
    out += [span(joined("  ", counted(len(ledger.hidden), "turn"), " no longer on the active history"), Tone.DIM)] if ledger.hidden else []
    out += [span(said(f"  not recorded: {what}: {why}"), Tone.DIM) for what, why in ledger.not_recorded]
    return out


def told(ledger: Ledger) -> Told:
    """Return what changed in each turn of a session and what became of its cache."""
    order = Order(ledger)
    history = History(ledger, order)
    caches = verdicts(ledger, order=order, flags=history.flags)
    directory = ledger.info.project or ledger.info.directory
    return Told(
        drift(ledger, order=order, history=history).turns,
        [caches.glance_turn(turn.n) for turn in ledger.turns],
        named=lambda n: changes_named(history.changes(n), directory),
    )


def heading(ledger: Ledger, rows: Timeline, uncover: bool) -> list[Line]:
    """Return what a session is and how full its window is."""
    info = ledger.info
    title = terminal(uncovered(info.title, uncover), 200) if info.title else own("(no title)")
    out: list[Line] = [
        (Span(title, strong=True),),
        span(joined(terminal(Raw(info.key)), " · ", counted(len(ledger.turns), "turn"), " · updated ", local(info.updated)), Tone.DIM),
    ]
    limit = value_of(rows.limit)
    of = joined(" of ", round_tokens(limit.tokens)) if limit is not None else joined(" · ", reason(rows.limit))
    percent = ""
    now = value_of(rows.current)
    if now is not None and limit is not None:
        percent = f" · {100 * now / limit.tokens:.0f}%"
    words: list[Span] = [Span(own("window ")), known(rows.current, tokens, strong=True), Span(of, Tone.DIM), Span(said(percent))]
    if isinstance(rows.current, Unavailable):
        words.append(Span(joined(" · ", reason(rows.current)), Tone.DIM))
    if not isinstance(rows.threshold, Unavailable):
        words += [Span(own(" · compacts at ")), known(rows.threshold, round_tokens)]
    if not isinstance(rows.forecast, Unavailable):
        words += [Span(own(" · ")), known(rows.forecast, whole), Span(own(" turns left"))]
    out.append(tuple(words))
    total = sent(ledger)
    sums = f"sent in total {_figure(total.tokens)} in {counted(total.requests, 'step')} (without title and compaction requests), "
    sums += f"of it {_figure(total.cache_read)} from the cache; got {_figure(total.output)}"
    if total.unreported:
        sums += f"; {counted(total.unreported, 'step')} reported no usage"
    out.append(span(said(sums), Tone.DIM))
    return out


def _figure(n: int | None) -> Shown:
    return own("—") if n is None else tokens(n)
