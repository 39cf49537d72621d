"""Takes every colour out of what goes to the terminal: ``NO_COLOR`` and ``--no-color`` mean none, not shades of grey."""

from __future__ import annotations

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter


class Colourless(LineFilter):
    """Leaves bold, italic, underlined and turned round."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without their colours."""
        return [Segment(text, None if style is None else style.without_color, control) for text, style, control in segments]
