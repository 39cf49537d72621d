"""The copy menu: ids, commands and summaries, one line each on the clipboard, never a text of the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, LiteralString

from ctx_inspect.app.palette import Choice
from ctx_inspect.app.snapshot import Snapshot
from ctx_inspect.core.model import Raw, Shown, value_of
from ctx_inspect.core.text.show import clipboard, command, joined, own, said
from ctx_inspect.core.views.figures import counted, round_tokens, share, tokens
from ctx_inspect.core.views.layout import plain, text_of
from ctx_inspect.core.views.sheet import Sheet

if TYPE_CHECKING:
    from ctx_inspect.core.diff.report import Report

PICTURE = "report-svg"
"""The choice that writes a file."""


def copies(
    snapshot: Snapshot, turn: int | None, tab: str, sheet: Sheet, program: tuple[str, ...] | None, report: Report | None = None
) -> dict[str, tuple[LiteralString, str]]:
    """Return what can be copied: by id, (what it is, the text).

    Args:
        snapshot: The session.
        turn: The selected turn.
        tab: The tab on screen.
        sheet: The tab, without any revealed text.
        program: The words that begin a command on the session's store; ``None`` = no command finds it again.
        report: The comparison on screen, if there is one.
    """
    key = snapshot.ledger.key
    # an id beginning with a dash would be read as an option
    named = ("--", key) if key.startswith("-") else (key,)
    out: dict[str, tuple[LiteralString, str]] = {} if report is None else reports(report)
    out["summary"] = ("a summary of the window, no names and no text", summary(snapshot, turn))
    if program is not None:
        where = (*(("--turn", str(turn)) if turn else ()), *(("--tab", tab) if tab != "text" else ()))
        out["command"] = ("the command that opens it here", command(*program, *where, *named))
        out["json"] = ("the command that prints its turns as JSON", command(*program, "turns", "--json", *named))
        if report is not None and report.after.turn is not None:
            against = () if report.before is None or report.before.turn is None else ("--against", str(report.before.turn))
            out["diff"] = ("the command that prints the report", command(*program, "diff", *against, *named, str(report.after.turn)))
    out["session"] = ("the session's key", clipboard(Raw(key)))
    row = snapshot.row(turn) if turn is not None else None
    if row is not None:
        out["turn"] = ("the turn's message id", clipboard(Raw(row.turn.id)))
    if tab != "text":
        out["tab"] = ("this tab as plain text", "\n".join(plain(sheet, 100)))
    return out


def reports(report: Report) -> dict[str, tuple[LiteralString, str]]:
    """Return a comparison in each form: names and figures, never a text."""
    from ctx_inspect.core.schema import diff_of, document
    from ctx_inspect.core.schema.common import cleaner
    from ctx_inspect.core.views.markdown import markdown
    from ctx_inspect.core.views.report import report_lines

    lines = [text_of(line).rstrip() for line in report_lines(report)]
    return {
        "report": ("what changed, as text", "\n".join(lines)),
        "markdown": ("what changed, as Markdown", markdown(report)),
        "report-json": ("what changed, as JSON", document(diff_of(report, (), cleaner(False)))),
        PICTURE: ("what changed, as a picture: writes a file (SVG)", ""),
    }


def drawn(report: Report) -> str:
    """Return a picture of a comparison."""
    from ctx_inspect.app.commands.picture import drawn as picture
    from ctx_inspect.core.views.report import report_lines

    return picture(report_lines(report))


def copy_choices(found: Mapping[str, tuple[LiteralString, str]]) -> list[Choice]:
    """Return the menu."""
    return [Choice(name, own(words), said(name)) for name, (words, _) in found.items()]


def summary(snapshot: Snapshot, turn: int | None) -> Shown:
    """Return the state of the window in one line: figures with their evidence, no title, no name, no text."""
    line = snapshot.timeline
    parts = [snapshot.ledger.info.harness, "its newest turns" if line.partial else counted(len(line.turns), "turn")]
    now, limit = value_of(line.current), value_of(line.limit)
    if now is not None:
        parts.append(
            f"{tokens(now)} in the window"
            + (f" of {round_tokens(limit.tokens)} ({share(now, limit.tokens)})" if limit else ", limit unknown")
        )
    row = snapshot.row(turn) if turn is not None else None
    if row is not None and not line.partial and turn != len(line.turns) and (n := value_of(row.window)) is not None:
        parts.append(f"turn {turn}: {tokens(n)}")
    left = value_of(line.forecast)
    if left is not None:
        parts.append(f"≈ {counted(left, 'turn')} left (estimated)")
    events = sum(len(r.events) for r in line.turns)
    if events:
        parts.append(counted(events, "event"))
    return joined(" · ".join(parts))
