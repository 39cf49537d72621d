"""From tones to terminal styles: a theme sets colour variables, these classes read them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.glyphs import ascii_twin
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import Tone
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from ctx_inspect.core.views.sheet import Span


def class_of(tone: Tone) -> str:
    """Return the component class of a tone, which is also the theme's variable: ``tone--cat-tools``."""
    return "tone--" + tone.value.replace(".", "-")


SELECTED, SELECTED_BLURRED, BAND = "tone--selected", "tone--selected-blurred", "tone--band"
"""Backgrounds: component classes, and theme variables of the same names."""


@lru_cache(maxsize=20_000)
def _twin(text: str) -> str:
    return ascii_twin(text, {c: cells(c) for c in text if not c.isascii()})


class Toned(Widget):
    """A widget that draws lines of toned spans. It never takes a ``str``: nothing is parsed as markup."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*(class_of(t) for t in Tone), SELECTED, SELECTED_BLURRED, BAND}

    DEFAULT_CSS = "\n".join(
        [
            *(f"Toned .{class_of(t)} {{ color: ${class_of(t)}; }}" for t in Tone),
            f"Toned .{SELECTED} {{ background: $tone--selected; }}",
            f"Toned .{SELECTED_BLURRED} {{ background: $tone--selected-blurred; }}",
            f"Toned .{BAND} {{ background: $tone--band; }}",
        ]
    )

    ascii_only: ClassVar[bool] = False
    """Draw twins in ASCII; one setting for the whole program."""

    _styles: dict[tuple[Tone, bool, bool, str], Style] | None = None

    def notify_style_update(self) -> None:
        """Forget styles when theme or size classes change."""
        self._styles = None
        super().notify_style_update()

    def style_of(self, tone: Tone, strong: bool = False, italic: bool = False, ground: str = "") -> Style:
        """Return a terminal style.

        Args:
            tone: The meaning.
            strong: Bold.
            italic: Italic.
            ground: Component class that gives the background; none by default.
        """
        styles = self._styles
        if styles is None:
            styles = self._styles = {}
        key = (tone, strong, italic, ground)
        style = styles.get(key)
        if style is None:
            style = Style.from_color(self.get_component_rich_style(class_of(tone), partial=True).color)
            back = self.get_component_rich_style(ground, partial=True) if ground else self.rich_style
            style = Style(bgcolor=back.bgcolor) + style + Style(bold=strong or None, italic=italic or None)
            styles[key] = style
        return style

    def strip_of(self, line: Line, width: int, ground: str = "") -> Strip:
        """Return a line as a strip of exactly ``width`` cells."""
        return Strip(self.segments_of(line, ground)).adjust_cell_length(width, self.style_of(Tone.TEXT, ground=ground))

    def segments_of(self, line: tuple[Span, ...], ground: str = "") -> list[Segment]:
        """Return a line as styled segments."""
        if Toned.ascii_only:
            return [Segment(_twin(s.text), self.style_of(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
        return [Segment(s.text, self.style_of(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
