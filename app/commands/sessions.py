"""``ctx-inspect sessions``: the list."""

from __future__ import annotations

import time
from pathlib import Path

import click
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import note, progress, span, table, warn, width, write_json, write_lines
from ctx_inspect.app.commands.stores import Found, Stores, stores
from ctx_inspect.core.budget import sent
from ctx_inspect.core.model import Ledger, Raw, SessionInfo, Shown
from ctx_inspect.core.project import project_of, same_project
from ctx_inspect.core.schema import Sessions, problems_of, session_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.damage import RECORDS, damage_of
from ctx_inspect.core.text.clock import local
from ctx_inspect.core.text.redact import uncovered
from ctx_inspect.core.text.show import own, terminal
from ctx_inspect.core.views.figures import age, counted, tokens, whole
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, Span, Tone

NAMED = 5
"""Sessions with damaged records that are named beneath the list; in it each is marked."""

TITLE = 80
"""Characters of a title or path."""


@command("sessions")
@click.option("--project", metavar="DIR", help="Only those of the project that holds this directory.")
@click.option("--uncover", is_flag=True, help="Show what looks like a key or password.")
def sessions(settings: Settings, project: str | None, uncover: bool) -> None:
    """List the sessions that were found, newest first."""
    found = stores(settings)
    listed = found.sessions()
    if project is not None:
        wanted = project_of(Raw(str(Path(project).expanduser().absolute())))
        listed = [f for f in listed if same_project(_project(f.info), wanted)]
    opened: list[tuple[Found, Ledger | None]] = []
    with progress(len(listed), "sessions") as counter:
        for one in listed:
            settings.doing = f"sessions {one.info.id}"
            opened.append((one, found.try_open(one)))
            counter.step()
    if settings.json:
        clean = cleaner(uncover)
        rows = [session_of(f.info, ledger, clean) for f, ledger in opened]
        problems = [*found.problems, *(p for _, ledger in opened if ledger is not None for p in ledger.problems)]
        write_json(Sessions(sessions=rows, problems=problems_of(problems, clean)))
        return
    write_lines(settings, listing(found, opened, uncover))
    inside = [p for _, ledger in opened if ledger is not None for p in ledger.problems]
    warn([*found.problems, *(p for p in inside if p.code not in RECORDS)])
    damaged = [terminal(Raw(f.info.key)) for f, ledger in opened if ledger is not None and damage_of(ledger)]
    if damaged:
        more = f" and {len(damaged) - NAMED:,} more" if len(damaged) > NAMED else ""
        names = ", ".join(damaged[:NAMED])
        note(f"{counted(len(damaged), 'session')} with damaged records (▲): {names}{more}; ctx-inspect turns SESSION says where")


def _project(info: SessionInfo) -> Raw | None:
    if info.project is not None:
        return info.project
    return None if info.directory is None else project_of(info.directory)


def listing(found: Stores, opened: list[tuple[Found, Ledger | None]], uncover: bool) -> list[Line]:
    """Return the list as lines, or where was looked when it is empty."""
    if not opened:
        return _nothing(found)
    now = int(time.time() * 1000)
    rows: list[Row] = []
    for one, ledger in opened:
        info = one.info
        title = terminal(uncovered(info.title, uncover), TITLE) if info.title else own("(no title)")
        badge = "● " if info.live else "  "
        damaged = "▲ " if ledger is not None and damage_of(ledger) else ""
        under = "└ " if info.parent else ""
        project = info.project or info.directory
        rows.append(
            Row(
                (
                    Cell((Span(terminal(Raw(info.key))),)),
                    Cell((Span(local(info.updated), Tone.DIM),)),
                    Cell((Span(age(now - info.updated) if info.updated else NOTHING, Tone.DIM),)),
                    Cell((Span(whole(len(ledger.turns)) if ledger else own("—")),)),
                    Cell((Span(_sent(ledger), Tone.DIM),)),
                    Cell((Span(terminal(uncovered(project, uncover), TITLE) if project else own("—"), Tone.DIM),)),
                    Cell((Span(own(badge), Tone.ADDED), Span(own(damaged), Tone.WARN), Span(own(under), Tone.DIM), Span(title))),
                )
            )
        )
    columns = (
        Column(own("session"), 48),
        Column(own("updated"), 23, leaves=2),
        Column(own("age"), 4, right=True),
        Column(own("turns"), 6, right=True, leaves=4),
        Column(own("sent in total"), 13, right=True, leaves=3),
        Column(own("project"), 40, leaves=1),
        Column(own("  title"), 0),
    )
    return table(columns, rows, width())


def _sent(ledger: Ledger | None) -> Shown:
    total = sent(ledger).tokens if ledger is not None else None
    return own("—") if total is None else tokens(total)


def _nothing(found: Stores) -> list[Line]:
    lines = [span(own("No session was found."), strong=True)]
    for place in found.looked:
        why = "no session in it" if place.found else (place.why or "nothing there")
        lines.append(span(terminal(Raw(f"  {place.label}: {place.place}: {why}")), Tone.DIM))
    if found.looked:
        lines.append(span(own("ctx-inspect demo shows what it does with sessions; --source PATH reads a store elsewhere.")))
    return lines
