"""The one border where hostile text becomes harmless: ``Raw`` in, per target something that is shown and never obeyed.

Nothing else makes a ``Shown``. Every target uses one set of *hidden* code points: those that act on a terminal, on
the order or the breaking of text, or that cannot be seen at all. They are made visible, so that nobody can smuggle
words past a reader; they are never obeyed.

What counts as hidden:

- everything Unicode calls control, format, surrogate, private use, unassigned, line or paragraph separator (C0, C1,
  DEL, bidi overrides and isolates, zero-width characters, tags, the byte order mark, …);
- variation selectors, fillers and the other marks that draw nothing (they carry hidden bytes as well as any tag);
- emoji modifiers and regional indicators: terminals disagree about their width, and columns would break;
- a combining mark with nothing to combine with, and every one after the fourth on one letter.

One exception, on the terminal only: the selector that chooses between the text and the emoji form of the symbol right
before it is left out there, because terminals disagree about the width that results. All other targets show it.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import LiteralString, TypeAlias

from ctx_inspect.core.model.evidence import Raw, Shown

MARKS_ON_ONE_LETTER = 4
"""Combining marks that one letter may carry; real scripts need three. More would spill over the rows above."""

TAB = 4
"""Cells between tab stops in multi-line text."""

_INVISIBLE = frozenset(
    {
        0x034F,  # combining grapheme joiner
        *(0x115F, 0x1160, 0x3164, 0xFFA0),  # Hangul fillers: letters that draw nothing
        *(0x17B4, 0x17B5),  # Khmer inherent vowels
        *range(0x180B, 0x1810),  # Mongolian selectors
        *range(0xFE00, 0xFE10),  # variation selectors 1-16
        *range(0xE0100, 0xE01F0),  # variation selectors 17-256
        *range(0x1F1E6, 0x1F200),  # regional indicators
        *range(0x1F3FB, 0x1F400),  # emoji modifiers
        *range(0x1D173, 0x1D17B),  # musical beams
    }
)
_INVISIBLE_CHARS = frozenset(map(chr, _INVISIBLE))
_SPACES = frozenset({0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000})
_TEXT_OR_EMOJI = re.compile(
    "(?<=[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0"
    "\u25fb-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f004-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff])[\ufe0e\ufe0f]"
)
_KEYCAP = re.compile("(?<=[0-9#*])\ufe0f(?=\u20e3)")


def hidden(point: int) -> bool:
    """Tell whether a code point acts on a terminal or on the text round it, or cannot be seen."""
    return point in _INVISIBLE or not (chr(point).isprintable() or point in _SPACES)


def _name(point: int) -> str:
    """Return the visible form of a hidden code point."""
    if point < 0x20:
        return chr(0x2400 + point)  # control pictures: ␀ … ␟
    return "␡" if point == 0x7F else f"‹{point:04X}›"


class _Table(dict[int, int | str]):
    """A table for ``str.translate`` that fills itself with what occurs, so that nothing scans Unicode at import."""

    def __init__(self, form: dict[int, str] | None = None) -> None:
        super().__init__(form or {})
        self.marks: set[str] = set()
        """The combining marks met so far; kept so that a text without any is told from one scan at C speed."""

    def form(self, point: int) -> str:
        return _name(point)

    def __missing__(self, point: int) -> int | str:
        value: int | str = self.form(point) if hidden(point) else point
        if value == point and unicodedata.category(chr(point)) in ("Mn", "Me"):
            self.marks.add(chr(point))
        if len(self) < 60_000:  # a hostile text must not grow it without bound
            self[point] = value
        return value

    def meet(self, text: str) -> None:
        """Look at each code point of a text once, so that its combining marks are known."""
        for point in set(map(ord, text)):
            _ = self[point]


class _Escapes(_Table):
    """The same code points as JSON escapes (a pair of surrogates beyond the basic plane)."""

    def form(self, point: int) -> str:
        if point < 0x10000:
            return f"\\u{point:04x}"
        high, low = divmod(point - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


_VISIBLE = _Table()
_ESCAPED = _Escapes()


Safe: TypeAlias = Shown | LiteralString
"""What may stand in a line that is shown: what was made harmless, and literals of our own code."""


def own(text: LiteralString) -> Shown:
    """Return a literal of our own code; type checkers refuse anything else."""
    return Shown(text)


def joined(*parts: Safe | int) -> Shown:
    """Return parts that may be shown as one: they stay harmless side by side."""
    return Shown("".join(map(str, parts)))


def numeral(n: float, form: LiteralString = ",") -> Shown:
    """Return a number, formatted: digits, signs and separators are all that comes of one."""
    return Shown(format(n, form))


def safe_join(between: Safe, parts: Iterable[Safe]) -> Shown:
    """Return parts with something between them."""
    return Shown(between.join(parts))


def clock(moment: datetime, form: LiteralString) -> Shown:
    """Return a moment as numbers."""
    return Shown(moment.strftime(form))


def part_of(text: Safe, start: int, end: int | None = None) -> Shown:
    """Return a part of a text: it is as harmless as the whole."""
    return Shown(text[start:end])


def repeated(text: Safe, n: int) -> Shown:
    """Return a text repeated."""
    return Shown(text * n)


def capital(text: Safe) -> Shown:
    """Return words of our own with a capital first letter."""
    return Shown(text[:1].upper() + text[1:])


def padded(text: Safe, width: int) -> Shown:
    """Return a text with blanks behind it, at least so many characters long."""
    return Shown(text.ljust(width))


def padded_left(text: Safe, width: int) -> Shown:
    """Return a text with blanks before it, at least so many characters long."""
    return Shown(text.rjust(width))


def _thin_marks(text: str, marks: set[str]) -> str:
    """Make combining marks visible where they have no letter, or more than a letter carries."""
    if marks.isdisjoint(text):
        return text
    out: list[str] = []
    run = MARKS_ON_ONE_LETTER  # nothing to combine with at the beginning
    for c in text:
        if c not in marks:
            run = MARKS_ON_ONE_LETTER if c in " \n›" else 0
            out.append(c)
        elif run < MARKS_ON_ONE_LETTER:
            run += 1
            out.append(c)
        else:
            out.append(_name(ord(c)))
    return "".join(out)


def _visible(text: str) -> str:
    if not text.isascii():
        if "\ufe0f" in text or "\ufe0e" in text:
            text = _KEYCAP.sub("", _TEXT_OR_EMOJI.sub("", text))
        if not text.isprintable() or not _INVISIBLE_CHARS.isdisjoint(text):
            text = text.translate(_VISIBLE)
        else:
            _VISIBLE.meet(text)
        return _thin_marks(text, _VISIBLE.marks)
    return text if text.isprintable() else text.translate(_VISIBLE)


def terminal(raw: Raw, limit: int | None = None) -> Shown:
    """Return one line that a terminal shows and never obeys.

    Args:
        raw: Text from outside.
        limit: At most this many characters of it are taken; what is cut ends in ``…``.

    Returns:
        The text with every hidden code point (see the module) made visible. Its width is
        :func:`ctx_inspect.core.text.width.cells` of it on every terminal.
    """
    cut = limit is not None and len(raw) > limit
    return Shown(_visible(raw[:limit]) + "…" if cut else _visible(raw))


def said(words: str) -> Shown:
    """Return words of our own that came through the model (a reason, the name of a counter): made harmless all the same."""
    return terminal(Raw(words))


def lines(raw: Raw, limit: int | None = None) -> list[Shown]:
    """Return the lines of a text as a terminal may show them; only LF ends a line.

    Args:
        raw: Text from outside.
        limit: At most this many characters of it are taken; what is cut ends in ``…``.

    Returns:
        One ``Shown`` per line: tabs as blanks up to the next stop, all other hidden code points visible.
    """
    cut = limit is not None and len(raw) > limit
    out = [Shown(_visible(line.expandtabs(TAB))) for line in (raw[:limit] if cut else raw).split("\n")]
    if cut:
        out[-1] = Shown(out[-1] + "…")
    return out


def json_escaped(document: str) -> str:
    """Return a JSON document with the hidden code points of its strings as escapes.

    The usual encoders write C1, DEL, bidi overrides and lone surrogates as they are: a ``cat`` of their output obeys
    them. Outside strings a JSON document holds nothing but ASCII, so the whole of it may be translated.

    Args:
        document: A document of ``json.dumps(…, ensure_ascii=False)``; it may hold lone surrogates.

    Returns:
        The same document; it parses to the same values and can be encoded as UTF-8.
    """
    if document.isascii():
        return document.replace("\x7f", "\\u007f")
    # marks stay: they are part of words, and a document is data, not a picture
    if document.isprintable() and _INVISIBLE_CHARS.isdisjoint(document):
        return document
    return document.translate(_ESCAPED)


_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def xml(raw: Raw, limit: int | None = None) -> str:
    """Return one line of text for an XML or SVG document, in content or in a quoted attribute.

    What XML forbids even as a reference (controls, surrogates, U+FFFE) is already visible text then.
    """
    return terminal(raw, limit).translate(_XML)


def markdown(raw: Raw, limit: int | None = None, *, table: bool = False) -> str:
    """Return one line of text as a Markdown code span, where neither HTML, links, mentions nor emphasis work.

    Args:
        raw: Text from outside.
        limit: At most this many characters of it are taken.
        table: In a cell of a table a bar must be escaped, even inside a code span.

    Returns:
        A code span whose fence is longer than any run of backticks inside.
    """
    text = terminal(raw, limit) or " "
    if table:
        text = text.replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_[]<>#~|&@"})


def markdown_words(words: Safe) -> str:
    """Return words of our own for Markdown: no character of them is a mark there."""
    return terminal(Raw(words)).translate(_MARKDOWN)


def clipboard(raw: Raw) -> str:
    """Return one line for the clipboard: what is pasted into a shell must not run by itself."""
    return terminal(raw)


def command(*words: Raw | str) -> str:
    """Return a shell command for the clipboard: one line, each word quoted."""
    return " ".join(shlex.quote(_visible(word)) for word in words)
