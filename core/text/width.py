"""Cell widths, the unit of every column: never code points, never bytes.

The widths are those with which the terminal interface draws (a test compares both over all of Unicode).
"""

from __future__ import annotations

from ctx_inspect.core.model.evidence import Shown
from ctx_inspect.core.text.show import joined, part_of, repeated

ELLIPSIS = "…"


class _Widths(dict[str, int]):
    """Width of each character met so far."""

    def __missing__(self, char: str) -> int:
        # imported with the first character that is not known: its tables cost a tenth of the time to the first frame
        from wcwidth import wcwidth

        point = ord(char)
        # A lone regional indicator or emoji modifier draws two cells. ``text.show`` makes both visible in texts from outside.
        width = 2 if 0x1F1E6 <= point <= 0x1F1FF or 0x1F3FB <= point <= 0x1F3FF else max(0, wcwidth(char))
        if len(self) < 60_000:
            self[char] = width
        return width


_WIDTHS = _Widths()


def know(signs: str) -> None:
    """Take these characters, signs of our own, for one cell wide without looking them up."""
    _WIDTHS.update(dict.fromkeys(signs, 1))


def cells(text: str) -> int:
    """Return the number of terminal cells that a line takes."""
    if text.isascii():
        return len(text)
    return sum(map(_WIDTHS.__getitem__, text))


def cut(text: Shown, width: int) -> Shown:
    """Return a line cut to a width; what is cut ends in ``…``.

    Args:
        text: One line.
        width: Cells; where it is 0 or less nothing is left.

    Returns:
        The line itself where it fits, else its beginning and ``…``, never wider than ``width``.
    """
    if text.isascii():
        if len(text) <= width:
            return text
        return joined(part_of(text, 0, width - 1), ELLIPSIS) if width > 0 else joined()
    if width <= 0:
        return joined("")
    used = 0
    fits = 0
    for i, char in enumerate(text):
        used += _WIDTHS[char]
        if used <= width - 1:
            fits = i + 1
        elif used > width:
            return joined(part_of(text, 0, fits), ELLIPSIS)
    return text


def fit(text: Shown, width: int, *, right: bool = False) -> Shown:
    """Return a line of exactly this width: cut, or filled with blanks.

    Args:
        text: One line.
        width: Cells.
        right: Put the blanks before it.

    Returns:
        A line that takes exactly ``width`` cells.
    """
    text = cut(text, width)
    blanks = repeated(" ", width - cells(text))
    return joined(blanks, text) if right else joined(text, blanks)


def wrap(text: Shown, width: int) -> list[Shown]:
    """Return a line broken to lines of at most this width, at blanks where there are any.

    Args:
        text: One line.
        width: Cells, at least 2 (a wide character needs two).

    Returns:
        At least one line; the blanks at which it is broken are gone.
    """
    width = max(2, width)
    out: list[Shown] = []
    rest = text
    while cells(rest) > width:
        used = 0
        end = 0
        for end, char in enumerate(rest):  # noqa: B007  (the index at which it stops is what is wanted)
            used += _WIDTHS[char]
            if used > width:
                break
        blank = rest.rfind(" ", 0, end + 1)
        # a blank very early would leave a line nearly empty
        at = blank if blank > width // 4 else end
        out.append(part_of(rest, 0, len(rest[:at].rstrip(" "))))
        rest = part_of(rest, len(rest) - len(rest[at:].lstrip(" ")))
    out.append(rest)
    return out
