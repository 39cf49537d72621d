"""From tones to terminal styles, and from lines to strips."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.glyphs import ascii_twin
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import Tone
from msgspec import Struct
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from ctx_inspect.core.views.sheet import Span


class Paint(Struct, frozen=True):
    """The colours of a theme, as Rich names them (``#6cb6ff``, ``bright_blue``, ``default``).

    Attributes:
        tones: Of each tone.
        ground: Background.
        selected: Background of the selected line, with the focus.
        blurred: The same without.
        band: Background of header and footer.
    """

    tones: Mapping[Tone, str]
    ground: str = "default"
    selected: str = "default"
    blurred: str = "default"
    band: str = "default"


GROUND, SELECTED, BLURRED, BAND = "ground", "selected", "blurred", "band"

_NO_PAINT = Paint(dict.fromkeys(Tone, "default"))


@lru_cache(maxsize=20_000)
def _twin(text: str) -> str:
    return ascii_twin(text, {c: cells(c) for c in text if not c.isascii()})


class Toned(Widget):
    """A widget that draws lines of toned spans. It never takes a ``str``: nothing is parsed as markup.

    Colours are one table for the whole program, not component classes: those cost each widget a search through the
    style sheet per tone, a third of the time to the first frame.
    """

    ascii_only: ClassVar[bool] = False
    """Draw twins in ASCII; one setting for the whole program."""

    paint: ClassVar[Paint] = _NO_PAINT
    _styles: ClassVar[dict[tuple[Tone, bool, bool, str], Style]] = {}

    @staticmethod
    def use(paint: Paint) -> None:
        """Draw with other colours; what is on the screen must be drawn anew (:meth:`forget_colours`)."""
        Toned.paint = paint
        Toned._styles.clear()

    def forget_colours(self) -> None:
        """Draw anew, in the colours of now."""
        self.refresh()

    @staticmethod
    def style_of(tone: Tone, strong: bool = False, italic: bool = False, ground: str = GROUND) -> Style:
        """Return a terminal style.

        Args:
            tone: The meaning.
            strong: Bold.
            italic: Italic.
            ground: Which background.
        """
        key = (tone, strong, italic, ground)
        style = Toned._styles.get(key)
        if style is None:
            back = Color.parse(getattr(Toned.paint, ground))
            if ground == SELECTED and back.is_default:
                # the terminal's own colours have no background for it: the whole line is turned round, in one colour
                style = Style(reverse=True)
            else:
                style = Style.from_color(Color.parse(Toned.paint.tones[tone]), back)
            style += Style(bold=strong or None, italic=italic or None)
            Toned._styles[key] = style
        return style

    def strip_of(self, line: Line, width: int, ground: str = GROUND) -> Strip:
        """Return a line as a strip of exactly ``width`` cells."""
        return Strip(self.segments_of(line, ground)).adjust_cell_length(width, self.style_of(Tone.TEXT, ground=ground))

    def segments_of(self, line: tuple[Span, ...], ground: str = GROUND) -> list[Segment]:
        """Return a line as styled segments."""
        if Toned.ascii_only:
            return [Segment(_twin(s.text), self.style_of(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
        return [Segment(s.text, self.style_of(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
