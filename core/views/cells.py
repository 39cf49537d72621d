"""Cuts and wraps text by terminal cells, by position: what a line of several spans needs."""

from __future__ import annotations

from ctx_inspect.core.model.evidence import Shown
from ctx_inspect.core.text.show import joined, part_of
from ctx_inspect.core.text.width import cells as cell_len

__all__ = ["cell_len", "cut_cells", "wrap_cells"]


def cut_cells(text: Shown, room: int) -> tuple[Shown, int]:
    """Return the longest beginning that fits into ``room`` cells, and the cells it takes."""
    if room <= 0:
        return joined(), 0
    if text.isascii():
        return part_of(text, 0, room), min(room, len(text))
    used = 0
    for at, char in enumerate(text):
        wide = cell_len(char)
        if used + wide > room:
            return part_of(text, 0, at), used
        used += wide
    return text, used


def wrap_cells(text: Shown, width: int, hang: int = 0) -> list[tuple[int, int]]:
    """Return (start, end) of each line when a text is wrapped at blanks; words that are too long are broken.

    Args:
        text: One paragraph.
        width: Cells of a line, at least 1.
        hang: Cells that lines after the first lose.
    """
    lines: list[tuple[int, int]] = []
    start, size = 0, len(text)
    while start < size:
        room = max(1, width - (hang if lines else 0))
        kept, _ = cut_cells(part_of(text, start, start + room + 1), room)
        end = start + max(1, len(kept))
        if end < size and text[end] != " ":
            blank = text.rfind(" ", start + 1, end)
            words = start + (len(text[start:end]) - len(text[start:end].lstrip(" ")))
            if blank > words:
                end = blank
        lines.append((start, end))
        start = end
        while start < size and text[start] == " ":
            start += 1
    return lines
