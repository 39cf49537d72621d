"""Cell widths, the unit of every column: never code points, never bytes.

The widths are those with which the terminal interface draws (a test compares both over all of Unicode).
"""

from __future__ import annotations


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


_WIDTHS = _Widths(dict.fromkeys(map(chr, range(0x20, 0x7F)), 1))


def know(signs: str) -> None:
    """Take these characters, signs of our own, for one cell wide without looking them up."""
    _WIDTHS.update(dict.fromkeys(signs, 1))


def cells(text: str) -> int:
    """Return the number of terminal cells that a line takes."""
    if text.isascii():
        return len(text)
    return sum(map(_WIDTHS.__getitem__, text))
