"""A picture of the screen as SVG: our own, in place of the framework's, and never with a revealed text in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ctx_inspect.core.model import Raw
from ctx_inspect.core.text.show import xml
from rich.segment import Segment
from textual._context import visible_screen_stack
from textual.app import App
from textual.strip import Strip

CELL_W, CELL_H = 8.4, 18.0
BASELINE = 13.5
FONT = "ui-monospace, 'DejaVu Sans Mono', 'Cascadia Mono', 'Source Code Pro', Menlo, Consolas, monospace"


def screen_strips(app: App[Any]) -> list[Strip]:
    """Return what is on the screen, line by line."""
    width, height = app.size
    screen = app.screen
    # the screens that shine through a dialog, as the framework sets them before it draws
    visible_screen_stack.set(list(app._background_screens))
    strips = screen._compositor.render_strips()
    return [s.adjust_cell_length(width) for s in strips[:height]]


def picture(strips: Iterable[Strip], width: int, ground: str, ink: str, title: str, cells: Callable[[str], int]) -> str:
    """Return an SVG document.

    Args:
        strips: The lines.
        width: Cells of a line.
        ground: Background colour.
        ink: Colour of text that has none.
        title: Our own words.
        cells: Measures a text.
    """
    boxes: list[str] = []
    texts: list[str] = []
    lines = list(strips)
    for y, strip in enumerate(lines):
        x = 0
        for segment in strip:
            wide = cells(segment.text)
            _add(boxes, texts, segment, x, y, wide, ink, cells)
            x += wide
    w, h = width * CELL_W + 24, len(lines) * CELL_H + 50
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.1f} {h:.1f}" width="{w:.0f}" height="{h:.0f}">'
        f"<title>{xml(Raw(title))}</title>"
        f'<rect width="100%" height="100%" rx="8" fill="{ground}"/>'
        '<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/><circle cx="60" cy="18" r="6" fill="#28c840"/>'
        f'<g transform="translate(12 36)" font-family="{xml(Raw(FONT))}" font-size="14" xml:space="preserve" shape-rendering="crispEdges">'
    )
    return head + "\n".join([*boxes, *texts]) + "</g></svg>\n"


def _hex(color: object) -> str | None:
    triplet = getattr(color, "triplet", None)
    if triplet is not None:
        return triplet.hex
    if color is not None and not getattr(color, "is_default", True):
        return color.get_truecolor().hex  # type: ignore[attr-defined]
    return None


_EIGHTHS = {c: (i + 1) / 8 for i, c in enumerate("▏▎▍▌▋▊▉█")}
_RISING = {c: (i + 1) / 8 for i, c in enumerate("▁▂▃▄▅▆▇")}
_BLOCKS = re.compile("([▏▎▍▌▋▊▉█▁▂▃▄▅▆▇]+)")


def _add(boxes: list[str], texts: list[str], segment: Segment, x: int, y: int, wide: int, ink: str, cells: Callable[[str], int]) -> None:
    style = segment.style
    fore, back = (_hex(style.color), _hex(style.bgcolor)) if style is not None else (None, None)
    if style is not None and style.reverse:
        fore, back = back, fore or ink
    if back is not None:
        boxes.append(_rect(x, y, wide, 0, 1, back))
    marks = f' fill="{fore or ink}"'
    if style is not None and style.bold:
        marks += ' font-weight="bold"'
    if style is not None and style.italic:
        marks += ' font-style="italic"'
    # fonts leave seams between block characters: they are drawn as what they are
    for run in _BLOCKS.split(segment.text):
        size = cells(run)
        if _BLOCKS.fullmatch(run):
            texts.extend(_block(char, x + i, y, fore or ink) for i, char in enumerate(run))
        elif stripped := run.strip(" "):
            start = x + len(run) - len(run.lstrip(" "))
            length = (size - (len(run) - len(stripped))) * CELL_W
            texts.append(
                f'<text x="{start * CELL_W:.1f}" y="{y * CELL_H + BASELINE:.1f}" textLength="{length:.1f}"{marks}>{xml(Raw(stripped))}</text>'
            )
        x += size


def _block(char: str, x: int, y: int, fill: str) -> str:
    if char in _EIGHTHS:
        return _rect(x, y, _EIGHTHS[char], 0, 1, fill)
    return _rect(x, y, 1, 1 - _RISING[char], _RISING[char], fill)


def _rect(x: int, y: int, wide: float, top: float, high: float, fill: str) -> str:
    return f'<rect x="{x * CELL_W:.1f}" y="{(y + top) * CELL_H:.1f}" width="{wide * CELL_W + 0.2:.1f}" height="{high * CELL_H + 0.2:.1f}" fill="{fill}"/>'


def export(app: App[Any], title: str) -> str:
    """Return a picture of the screen. The caller hides revealed text first."""
    from ctx_inspect.core.text.width import cells

    variables = app.theme_variables
    ground, ink = variables.get("ground", "#121318"), variables.get("ink", "#d7dae0")
    if not ground.startswith("#"):
        ground, ink = "#121318", "#d7dae0"
    return picture(screen_strips(app), app.size.width, ground, ink, title, cells)


def write(path: Path, document: str) -> None:
    """Write a picture to a new file; one that is there is never replaced.

    Raises:
        OSError: It exists, or cannot be written.
    """
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(document)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)  # half of a picture is none
            raise
