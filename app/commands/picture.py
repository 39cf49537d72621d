"""Lines of spans as a picture, cell by cell what the text is."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.app.svg import picture
from ctx_inspect.app.themes import DARK
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.layout import Line, text_of
from ctx_inspect.core.views.sheet import Span, Tone
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

GROUND = "#121318"


def drawn(lines: Sequence[Line], title: str = "ctx-inspect diff") -> str:
    """Return an SVG document of lines, as wide as the widest of them.

    Args:
        lines: What it shows.
        title: Our own words.
    """
    wide = max((cells(text_of(line).rstrip()) for line in lines), default=0)
    return picture((Strip([_segment(s) for s in line]) for line in lines), wide, GROUND, DARK[Tone.TEXT], title, cells)


def _segment(span: Span) -> Segment:
    return Segment(span.text, Style(color=DARK[span.tone], bold=span.strong or None, italic=span.italic or None))
