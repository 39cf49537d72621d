"""The Steps tab: each request of a turn with what it sent, got, called and how it ended."""

from __future__ import annotations

from ctx_inspect.core.model import Known, Raw, Request, Shown, Unavailable, Usage
from ctx_inspect.core.text.clock import time_of_day
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.timeline import TurnRow
from ctx_inspect.core.views.events import RUNNING, UNFINISHED, attempts_words, error_words, not_called, state, tool_words, unfinished
from ctx_inspect.core.views.figures import counted, tokens
from ctx_inspect.core.views.glyphs import EMPTY, NONE
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Cell, Column, Row, RowKind, Sheet, Span, Tone
from ctx_inspect.core.views.timeline import StepKey, rows_of_turn

_FINISH = {
    "stop": own("stop"),
    "length": own("cut: length"),
    "tool_calls": own("tools"),
    "preempted": own("preempted"),
    "other": own("other"),
}


def steps_sheet(row: TurnRow, other: tuple[Request, ...] = (), *, newest: bool = False, live: bool = False) -> Sheet:
    """Return the steps of a turn, with title, summary and compaction requests beside them.

    Args:
        row: The turn.
        other: Its requests that are no step.
        newest: No turn follows.
        live: The session lives: what is not finished runs.
    """
    columns = (
        Column(own("  st"), 4, right=True),
        Column(own("time"), 8),
        Column(own("in"), 6, right=True),
        Column(own("cached"), 6, right=True),
        Column(own("written"), 7, right=True, leaves=3),
        Column(own("out"), 6, right=True, leaves=5),
        Column(own("took"), 6, right=True, leaves=2),
        Column(own("sent"), 4, right=True, leaves=1),
        Column(own("end · tools · model"), 0),
    )
    rows = [_row(row, r, live) for r in rows_of_turn(row, other)]
    if not rows:
        words = state(row, newest=newest, live=live) or own("no request belongs to this turn")
        rows = [Row((Cell((Span(joined("  ", words), Tone.DIM),)),), RowKind.NOTE)]
    rows += _notes(row)
    return Sheet(columns, tuple(rows))


def _row(row: TurnRow, r: Request, live: bool) -> Row:
    tone = Tone.TEXT if r.call and r.purpose.value == "primary" else Tone.DIM
    number = joined("  ", r.step) if r.step is not None else EMPTY
    window, cached, written, out = _usage(r.usage, tone)
    return Row(
        (
            Cell((Span(number, tone),)),
            Cell((Span(time_of_day(r.at, seconds=True), Tone.DIM),)),
            Cell((window,)),
            Cell((cached,)),
            Cell((written,)),
            Cell((out,)),
            Cell((Span(took(r), Tone.DIM),)),
            Cell((Span(attempts_words(r), Tone.DIM),)),
            Cell(_end(r, live)),
        ),
        key=StepKey(row.turn.n, r.id),
    )


def _usage(usage: Known[Usage], tone: Tone) -> tuple[Span, Span, Span, Span]:
    if isinstance(usage, Unavailable):
        none = Span(NONE, Tone.DIM)
        return none, none, none, none
    guessed = not hasattr(usage, "by")

    def figure(n: int | None) -> Span:
        if n is None:
            return Span(NONE, Tone.DIM)
        return Span(joined("≈" if guessed else "", tokens(n)), Tone.DIM if guessed else tone, italic=guessed)

    u = usage.value
    return figure(u.input), figure(u.cache_read), figure(u.cache_write), figure(u.output)


def took(r: Request) -> Shown:
    """Return how long a request took: ``4.1s``, ``2m 3s``; ``—`` where its end is not recorded."""
    if r.done is None or r.at is None or r.done < r.at:
        return NONE
    seconds = (r.done - r.at) / 1000
    if seconds < 100:
        return joined(numeral(seconds, ".1f"), "s")
    return joined(int(seconds // 60), "m", numeral(int(seconds % 60), "02d"), "s")


def _end(r: Request, live: bool) -> tuple[Span, ...]:
    out: list[Span] = []

    def say(text: Shown, tone: Tone = Tone.TEXT, italic: bool = False) -> None:
        if out:
            out.append(Span(own(" · "), Tone.DIM))
        out.append(Span(text, tone, italic=italic))

    if r.purpose.value != "primary":
        say(joined(r.purpose.value, " request, no step"), Tone.DIM, True)
    elif not r.call:
        say(not_called(r), Tone.DIM, True)
    failed = error_words(r)
    if failed is not None:
        say(failed, Tone.WARN)
    elif r.finish is not None:
        say(
            _FINISH.get(r.finish, own("ended")),
            Tone.DIM,
        )
    elif r.call:
        say(RUNNING if live and unfinished(r) else UNFINISHED, Tone.DIM)
    if r.tools:
        say(tool_words(r.tools, 6))
    if r.children:
        say(counted(len(r.children), "subagent"))
    model = safe_join("/", [named(Raw(part), 40) for part in (r.model.provider, r.model.id) if part])
    if model:
        say(model, Tone.DIM)
    return tuple(out)


def _notes(row: TurnRow) -> list[Row]:
    first = next((r for r in row.turn.requests if r.call), None)
    out: list[Row] = [Row(kind=RowKind.BLANK)]
    words = [f"turn boundary {row.turn.boundary}"]
    if row.turn.inherited:
        words.append("copied from another session: its usage is counted there")
    if first is not None and isinstance(first.attempts, Unavailable):
        words.append(f"sent {NONE}: {first.attempts.note}")
    for r in row.turn.requests:
        if r.call and isinstance(r.usage, Unavailable):
            words.append(f"step {r.step}: {r.usage.note}")
            break
    out += [Row((Cell((Span(said("  " + w), Tone.DIM),)),), RowKind.NOTE) for w in words]
    return out
