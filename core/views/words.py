"""What changed in a text, by lines and within them by words. Shown only while somebody asks for it; never in a picture or copy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctx_inspect.core.model import Known, Raw, Unavailable, value_of
from ctx_inspect.core.text.hunks import hunks
from ctx_inspect.core.text.redact import redact, whole_words
from ctx_inspect.core.text.show import joined, numeral, own, said, terminal
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.sheet import Cell, Row, RowKind, Span, Tone
from msgspec import Struct

READ = 4_000_000
"""Characters of one text that are read and compared."""

AROUND = 2
"""Unchanged lines shown before and after a change."""

LINES = 2_000
"""Lines that are shown of one comparison."""

LONG = 2_000
"""Characters of one line that are shown."""

TOKENS = 4_000
"""Words of one change; where there are more, whole lines are told."""

ALIKE = 0.25
"""Share of its words that a changed passage must keep: below it nothing is gained by telling words."""

TAB = 4

_WORDS = re.compile(r"[^\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+|[^\S\n]+|.", re.DOTALL)
"""Words, runs of blanks, single signs; of scripts without blanks between words, single characters."""


class Run(Struct, frozen=True, gc=False):
    """Some characters of a line: whether they are what changed."""

    text: Raw
    changed: bool = False


class ChangedLine(Struct, frozen=True):
    """One line of a comparison.

    Attributes:
        sign: ``+`` new, ``-`` gone, blank: the same on both sides.
        runs: Its text.
    """

    sign: str
    runs: tuple[Run, ...]


class Skipped(Struct, frozen=True):
    """Unchanged lines that are not shown."""

    lines: int


class Comparison(Struct, frozen=True):
    """What changed in a text.

    Attributes:
        lines: Its lines.
        added: How many lines are new.
        removed: How many are gone.
        covered: Keys were covered on a side.
        more: Lines that are not shown.
    """

    lines: tuple[ChangedLine | Skipped, ...]
    added: int = 0
    removed: int = 0
    covered: bool = False
    more: int = 0


class TextChange(Struct, frozen=True):
    """What changed in an item's text, covered and as it is; or why that cannot be told.

    Attributes:
        covered: Without what looks like a key.
        uncovered: As the store has it; ``None`` where nothing is covered.
        why: Why there is nothing, in our own words.
    """

    covered: Comparison | None = None
    uncovered: Comparison | None = None
    why: str | None = None


def text_change(before: Known[Raw] | None, after: Known[Raw] | None) -> TextChange:
    """Compare two texts; takes long for long ones.

    Args:
        before: The older one; ``None`` where the item was not there.
        after: The newer one.
    """
    for side, word in ((before, "before"), (after, "after")):
        if isinstance(side, Unavailable):
            return TextChange(why=f"its text {word} is not there: {side.note}")
    old, new = ("" if side is None else value_of(side) or "" for side in (before, after))
    hidden_old, hidden_new = (redact(whole_words(Raw(text), cut=len(text) >= READ)) for text in (old, new))
    keys = not old.startswith(hidden_old) or not new.startswith(hidden_new)
    covered = compared(hidden_old, hidden_new, covered=keys)
    return TextChange(covered, compared(old, new) if keys else None)


def compared(before: str, after: str, *, covered: bool = False) -> Comparison:
    """Compare two texts by lines, and changed lines by words.

    Args:
        before: The older one.
        after: The newer one.
        covered: Keys were covered in them.
    """
    old, new = _lines(before), _lines(after)
    out: list[ChangedLine | Skipped] = []
    added = removed = at = 0
    found = hunks(old, new)
    for n, hunk in enumerate(found):
        removed += hunk.b - hunk.a
        added += hunk.d - hunk.c
        _same(out, old, at, hunk.a, first=n == 0, last=False)
        out += _changed(old[hunk.a : hunk.b], new[hunk.c : hunk.d])
        at = hunk.b
    if found:
        _same(out, old, at, len(old), first=False, last=True)
    return Comparison(tuple(out[:LINES]), added, removed, covered, max(0, len(out) - LINES))


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _same(out: list[ChangedLine | Skipped], old: Sequence[str], start: int, stop: int, *, first: bool, last: bool) -> None:
    """Add unchanged lines: those near a change, and how many there are between."""
    head, tail = 0 if first else AROUND, 0 if last else AROUND
    if stop - start <= head + tail + 1:
        out += [_line(" ", line) for line in old[start:stop]]
        return
    out += [_line(" ", line) for line in old[start : start + head]]
    out.append(Skipped(stop - start - head - tail))
    out += [_line(" ", line) for line in old[stop - tail : stop]]


def _line(sign: str, text: str, *, changed: bool = False) -> ChangedLine:
    return ChangedLine(sign, (Run(Raw(text[:LONG]), changed),))


def _changed(old: Sequence[str], new: Sequence[str]) -> list[ChangedLine]:
    pairs = _worded(old, new) if old and new else None
    if pairs is None:
        return [*(_line("-", line) for line in old), *(_line("+", line) for line in new)]
    return pairs


def _worded(old: Sequence[str], new: Sequence[str]) -> list[ChangedLine] | None:
    """Return changed lines with the words that differ, or ``None`` where the passages have little in common."""
    mine, theirs = _WORDS.findall("\n".join(old)), _WORDS.findall("\n".join(new))
    if len(mine) > TOKENS or len(theirs) > TOKENS:
        return None
    found = hunks(mine, theirs)
    gone, come = [False] * len(mine), [False] * len(theirs)
    for a, b, c, d in found:
        gone[a:b] = [True] * (b - a)
        come[c:d] = [True] * (d - c)
    kept = sum(len(word) for word, x in zip(mine, gone, strict=True) if not x and not word.isspace())
    most = max(sum(len(w) for w in row if not w.isspace()) for row in (mine, theirs))
    if not most or kept / most < ALIKE:
        return None
    return [*_runs("-", mine, gone), *_runs("+", theirs, come)]


def _runs(sign: str, words: Sequence[str], changed: Sequence[bool]) -> list[ChangedLine]:
    lines: list[list[Run]] = [[]]
    held, was, size = "", False, 0

    def close() -> None:
        nonlocal held
        if held:
            lines[-1].append(Run(Raw(held), was))
        held = ""

    for word, now in zip(words, changed, strict=True):
        if word == "\n":
            close()
            lines.append([])
            size = 0
            continue
        if now != was:
            close()
            was = now
        if size < LONG:
            held += word
            size += len(word)
    close()
    return [ChangedLine(sign, tuple(line)) for line in lines]


def words_rows(change: TextChange | None, *, uncovered: bool = False) -> list[Row]:
    """Return what changed in a text as rows; ``None``: it is on its way.

    Args:
        change: What changed.
        uncovered: Show keys too.
    """
    if change is None:
        return [_note(Span(own("     comparing…"), Tone.DIM))]
    if change.why is not None or change.covered is None:
        return [_note(Span(joined("     — ", said(change.why or "nothing to compare")), Tone.DIM))]
    shown = change.uncovered if uncovered and change.uncovered is not None else change.covered
    rows: list[Row] = []
    if shown.covered:
        rows.append(_note(Span(own("     What looks like a key is covered: v uncovers it."), Tone.WARN)))
    if not shown.lines:
        words = own("     What differs is covered.") if shown.covered else own("     No line differs.")
        return [*rows, _note(Span(words, Tone.DIM))]
    counts = joined("     ", counted(shown.added, "line"), " new, ", numeral(shown.removed), " gone")
    rows.append(_note(Span(counts, Tone.DIM)))
    rows += [_row(line) for line in shown.lines]
    if shown.more:
        rows.append(_note(Span(joined("     … ", counted(shown.more, "more line"), " not shown"), Tone.DIM)))
    return rows


def _note(*spans: Span) -> Row:
    return Row((Cell(spans),), RowKind.NOTE)


def _row(line: ChangedLine | Skipped) -> Row:
    if isinstance(line, Skipped):
        return _note(Span(joined("     ┄ ", counted(line.lines, "line"), " the same"), Tone.DIM))
    tone = {"+": Tone.ADDED, "-": Tone.REMOVED}.get(line.sign, Tone.DIM)
    spans = [Span(joined("   ", said(line.sign), " "), tone)]
    whole = len(line.runs) == 1 and not line.runs[0].changed
    for run in line.runs:
        text = terminal(Raw(run.text.expandtabs(TAB)))
        if whole:
            spans.append(Span(text, tone))
        elif run.changed:
            spans.append(Span(text, tone, strong=True))
        else:
            spans.append(Span(text, Tone.DIM))
    return Row((Cell(tuple(spans)),), RowKind.NOTE)
