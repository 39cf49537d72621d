"""One line to type words into, above a list: arrows go to the list, Enter takes, Esc leaves."""

from __future__ import annotations

from typing import LiteralString

from ctx_inspect.core.model.evidence import Raw
from ctx_inspect.core.text.show import joined, own, terminal
from ctx_inspect.core.views.layout import fit
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.tones import BAND, Toned
from textual import events
from textual.message import Message
from textual.strip import Strip

LONGEST = 500

FAR = 1_000_000_000
"""Lines to either end of any list."""


class FilterLine(Toned, can_focus=True):
    """Takes every printable key while it has the focus.

    Much less than an input field on purpose: words are appended or taken away at the end, and no cursor blinks.
    """

    DEFAULT_CSS = """
    FilterLine { height: 1; width: 1fr; }
    """

    class Changed(Message):
        """Other words.

        Attributes:
            words: As typed.
        """

        def __init__(self, words: str) -> None:
            """Make the message."""
            super().__init__()
            self.words = words

    class Moved(Message):
        """The list's cursor is to move.

        Attributes:
            by: Lines.
        """

        def __init__(self, by: int) -> None:
            """Make the message."""
            super().__init__()
            self.by = by

    class Done(Message):
        """Enter was pressed."""

    class Left(Message):
        """Esc was pressed."""

    def __init__(self, sign: LiteralString = "/", hint: LiteralString = "type to filter", words: str = "") -> None:
        """Make an empty line.

        Args:
            sign: Stands before the words (our own).
            hint: Stands there while it is empty (our own).
            words: Stand there already.
        """
        super().__init__()
        self.words = words
        self._sign, self._hint = own(sign), own(hint)

    def clear(self) -> None:
        """Take all words away, quietly."""
        self.words = ""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return the line."""
        spans = [Span(joined(" ", self._sign, " "), Tone.FOCUS, strong=True)]
        if self.words:
            spans.append(Span(terminal(Raw(self.words))))
        if self.has_focus:
            spans.append(Span(own("▏"), Tone.FOCUS))
        if not self.words:
            spans.append(Span(self._hint, Tone.DIM))
        return self.strip_of(fit(spans, self.size.width), self.size.width, BAND)

    def _set(self, words: str) -> None:
        self.words = words[:LONGEST]
        self.refresh()
        self.post_message(self.Changed(self.words))

    _MOVES = {"down": 1, "up": -1, "ctrl+n": 1, "pagedown": 10, "pageup": -10, "ctrl+d": 10, "home": -FAR, "end": FAR}  # noqa: RUF012

    def on_key(self, event: events.Key) -> None:
        """Take the key."""
        key = event.key
        if key in self._MOVES:
            self.post_message(self.Moved(self._MOVES[key]))
        elif key == "enter":
            self.post_message(self.Done())
        elif key == "escape":
            self.post_message(self.Left())
        elif key in {"backspace", "ctrl+h"}:
            self._set(self.words[:-1])
        elif key in {"ctrl+u", "ctrl+w"}:
            self._set("" if key == "ctrl+u" else self.words.rstrip().rpartition(" ")[0])
        elif event.is_printable and event.character:
            self._set(self.words + event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Take pasted text: its first line."""
        event.stop()
        self._set(self.words + (event.text.splitlines() or [""])[0])

    def on_focus(self) -> None:
        """Show the caret."""
        self.refresh()

    def on_blur(self) -> None:
        """Hide the caret."""
        self.refresh()
