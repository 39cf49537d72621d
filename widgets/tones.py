"""From tones to terminal styles, and from lines to strips."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

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

NO_PAINT = Paint(dict.fromkeys(Tone, "default"))


@lru_cache(maxsize=20_000)
def _twin(text: str) -> str:
    return ascii_twin(text, {c: cells(c) for c in text if not c.isascii()})


class Look:
    """How an app draws: its colours, and whether the terminal has more than ASCII. Each app has one; two may run in a process.

    Attributes:
        paint: The colours of now.
        ascii_only: Draw twins in ASCII.
        plain: Name no colour at all; bold, italic and turning round remain.
    """

    def __init__(self, paint: Paint = NO_PAINT, *, ascii_only: bool = False, plain: bool = False) -> None:
        """Make a look; see the attributes."""
        self.paint, self.ascii_only, self.plain = paint, ascii_only, plain
        self._styles: dict[tuple[Tone, bool, bool, str], Style] = {}

    def use(self, paint: Paint) -> None:
        """Draw with other colours; what is on the screen must be drawn anew (:meth:`Toned.forget_colours`)."""
        self.paint = paint
        self._styles.clear()

    def style(self, tone: Tone, strong: bool = False, italic: bool = False, ground: str = GROUND) -> Style:
        """Return a terminal style.

        Args:
            tone: The meaning.
            strong: Bold.
            italic: Italic.
            ground: Which background.
        """
        key = (tone, strong, italic, ground)
        style = self._styles.get(key)
        if style is None:
            back = Color.parse(getattr(self.paint, ground))
            if ground == SELECTED and (self.plain or back.is_default):
                # the terminal's own colours have no background for it: the whole line is turned round, in one colour
                style = Style(reverse=True)
            elif self.plain:
                style = Style()
            else:
                style = Style.from_color(Color.parse(self.paint.tones[tone]), back)
            style += Style(bold=strong or None, italic=italic or None)
            self._styles[key] = style
        return style

    def written(self, text: str) -> str:
        """Return a text as this terminal can show it."""
        return _twin(text) if self.ascii_only else text


class Toned(Widget):
    """A widget that draws lines of toned spans. It never takes a ``str``: nothing is parsed as markup.

    Colours are one table of the app, not component classes: those cost each widget a search through the style sheet per
    tone, a third of the time to the first frame.
    """

    _look: Look | None = None

    @property
    def look(self) -> Look:
        """How the app draws."""
        if self._look is None:
            found = getattr(self.app, "look", None)
            self._look = found if isinstance(found, Look) else Look()
        return self._look

    def forget_colours(self) -> None:
        """Draw anew, in the colours of now."""
        self.refresh()

    def style_of(self, tone: Tone, strong: bool = False, italic: bool = False, ground: str = GROUND) -> Style:
        """Return a terminal style; see :meth:`Look.style`."""
        return self.look.style(tone, strong, italic, ground)

    def strip_of(self, line: Line, width: int, ground: str = GROUND) -> Strip:
        """Return a line as a strip of exactly ``width`` cells."""
        return Strip(self.segments_of(line, ground)).adjust_cell_length(width, self.look.style(Tone.TEXT, ground=ground))

    def segments_of(self, line: tuple[Span, ...], ground: str = GROUND) -> list[Segment]:
        """Return a line as styled segments."""
        style = self.look.style
        if self.look.ascii_only:
            return [Segment(_twin(s.text), style(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
        return [Segment(s.text, style(s.tone, s.strong, s.italic, ground)) for s in line if s.text]
