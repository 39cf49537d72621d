"""How commands write: one JSON object, or plain text; progress and problems go to stderr.

Everything is written at the end and at once, so that stdout stays empty where a command refuses.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import click
import msgspec
from ctx_inspect.app.commands.options import OutputLost, Settings
from ctx_inspect.core.model import Problem, Raw, Shown
from ctx_inspect.core.schema import document
from ctx_inspect.core.text.redact import redact
from ctx_inspect.core.text.show import terminal
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.layout import Line, lay, text_of
from ctx_inspect.core.views.sheet import Cell, Column, Row, RowKind, Sheet, Span, Tone

GAP = 2
"""Blank cells between columns."""

WIDEST = 1_000
"""Cells of a line at most: ``$COLUMNS`` can say anything."""

AFTER = 0.3
"""Seconds after which progress is shown."""

_SGR = {
    Tone.DIM: "2",
    Tone.FOCUS: "36",
    Tone.ALERT: "31",
    Tone.WARN: "33",
    Tone.ADDED: "32",
    Tone.REMOVED: "31",
    Tone.MODIFIED: "33",
    Tone.MOVED: "36",
    Tone.INSTRUCTIONS: "34",
    Tone.SKILLS: "35",
    Tone.TOOLS: "33",
    Tone.SETTINGS: "37",
    Tone.SYSTEM: "33",
    Tone.CONVERSATION: "32",
}


def write_json(answer: msgspec.Struct) -> None:
    """Write the answer, one line."""
    _write(document(answer, ascii_only=_ascii_only()) + "\n")


class Unwritable(click.ClickException):
    """A file that was named to be written exists already, or cannot be made."""

    exit_code = 2


def write_text(text: str) -> None:
    """Write a document of lines."""
    _write(text)


def write_file(path: str, text: str) -> None:
    """Write a document to a new file, which nobody else may read; one that is there is never replaced.

    Raises:
        Unwritable: It exists, or cannot be made.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise Unwritable(f"{path} exists already: it is not replaced") from None
    except (OSError, ValueError):
        raise Unwritable(f"{path} cannot be written") from None


def width() -> int | None:
    """Return the cells of the terminal; ``None`` where stdout is none."""
    return min(WIDEST, shutil.get_terminal_size((80, 24)).columns) if _is_terminal() else None


def coloured(settings: Settings) -> bool:
    """Tell whether colours may be written."""
    return settings.color and _is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except ValueError:
        return False


def write_lines(settings: Settings, lines: Iterable[Line]) -> None:
    """Write lines of spans."""
    paint = coloured(settings)
    _write("".join((_painted(line) if paint else text_of(line).rstrip()) + "\n" for line in lines))


def _painted(line: Line) -> str:
    out: list[str] = []
    for span in line:
        codes = [c for c in (_SGR.get(span.tone), "1" if span.strong else None, "3" if span.italic else None) if c]
        out.append(f"\x1b[{';'.join(codes)}m{span.text}\x1b[0m" if codes and span.text.strip() else span.text)
    return "".join(out).rstrip(" ")


def _write(text: str) -> None:
    if _ascii_only():
        text = text.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError:
        raise OutputLost from None


def _ascii_only() -> bool:
    """Tell whether stdout cannot hold every character (a C locale, an old code page)."""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16", "utf32", "cp65001")


def span(text: Shown, tone: Tone = Tone.TEXT, *, strong: bool = False) -> Line:
    """Return a line of one span."""
    return (Span(text, tone, strong),)


def table(columns: Sequence[Column], rows: Sequence[Row], wide: int | None) -> list[Line]:
    """Return a table as lines: each column as wide as what stands in it, laid out for a terminal or not cut at all.

    Args:
        columns: Their widths are the most that they take on a terminal; 0 = what is left.
        rows: Rows, events and notes.
        wide: Cells of the terminal; ``None`` where there is none.
    """
    sized: list[Column] = []
    for i, column in enumerate(columns):
        need = max([cells(column.title), *(_width(r.cells[i]) for r in rows if r.kind is RowKind.ROW and i < len(r.cells))])
        if wide is None:
            sized.append(Column(column.title, max(1, need), column.right))
        else:
            sized.append(Column(column.title, min(need, column.width) if column.width else 0, column.right, column.leaves))
    natural = sum(c.width for c in sized) + GAP * (len(sized) - 1)
    laid = lay(Sheet(tuple(sized), tuple(rows)), natural if wide is None else wide, GAP)
    return [*([laid.top] if laid.top is not None else []), *laid.lines]


def _width(cell: Cell) -> int:
    return sum(cells(s.text) for s in cell.spans)


def warn(problems: Iterable[Problem]) -> None:
    """Write problems to stderr, one line each."""
    seen: set[tuple[str, str]] = set()
    for problem in problems:
        key = (problem.source, problem.message)
        if key not in seen:
            seen.add(key)
            click.echo(f"ctx-inspect: {terminal(redact(problem.source))}: {terminal(Raw(problem.message))}", err=True)


def note(words: str) -> None:
    """Write one line of our own words to stderr."""
    click.echo(f"ctx-inspect: {words}", err=True)


@contextmanager
def progress(total: int, noun: str) -> Iterator[_Progress]:
    """Count on stderr while something takes longer than 0.3 s and stderr is a terminal."""
    counter = _Progress(total, noun)
    try:
        yield counter
    finally:
        counter.end()


class _Progress:
    def __init__(self, total: int, noun: str) -> None:
        self.total, self.noun, self.done = total, noun, 0
        self._begun = self._shown = time.monotonic()
        self._drawn = False
        self._terminal = sys.stderr.isatty()

    def step(self) -> None:
        """Count one."""
        self.done += 1
        now = time.monotonic()
        if self._terminal and now - self._begun > AFTER and now - self._shown > 0.1:
            self._shown, self._drawn = now, True
            sys.stderr.write(f"\r{self.done:,} of {self.total:,} {self.noun}")
            sys.stderr.flush()

    def end(self) -> None:
        """Take the count away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K" if os.environ.get("TERM") != "dumb" else "\n")
            sys.stderr.flush()
