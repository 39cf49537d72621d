"""Sheets over the screen: the palette, the help, the copy menu, themes, problems. All are one list that typing filters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import ClassVar, LiteralString

from ctx_inspect.app.keymap import KEYS, shown
from ctx_inspect.core.model import Shown
from ctx_inspect.core.text.show import joined, own, said
from ctx_inspect.core.views.layout import fit, lay, rule
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone
from ctx_inspect.widgets.band import Band, Drawing
from ctx_inspect.widgets.filterline import FilterLine
from ctx_inspect.widgets.lines import LinesView
from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen


class Choice(Struct, frozen=True):
    """A line that can be taken.

    Attributes:
        id: What is handed back.
        words: What it does.
        left: Before the words: its key.
        note: At the right, dim.
    """

    id: Hashable
    words: Shown
    left: Shown = NOTHING
    note: Shown = NOTHING


Choices = Callable[[str], Sequence[Choice]]
"""Gives the choices for what was typed."""


def filtered(choices: Sequence[Choice]) -> Choices:
    """Return choices that are filtered by every typed word."""

    def find(typed: str) -> Sequence[Choice]:
        words = typed.casefold().split()
        return [c for c in choices if all(w in f"{c.left} {c.words} {c.note}".casefold() for w in words)]

    return find


class Picker(ModalScreen[Hashable | None]):
    """A list over the screen; hands back what was taken, or ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "app.quit", show=False)]  # the app's own do not reach a sheet
    DEFAULT_CSS = """
    Picker { align: center middle; background: $ground 60%; }
    Picker > Vertical { width: 80; max-width: 96%; height: 22; max-height: 92%; background: $ground; border: solid $edge; }
    """

    def __init__(
        self, title: Shown, choices: Choices, sign: LiteralString = ":", hint: LiteralString = "type to filter", free: bool = False
    ) -> None:
        """Make the sheet.

        Args:
            title: Its title.
            choices: What it lists.
            sign: Before what is typed.
            hint: Where nothing is typed.
            free: What was typed is handed back as it is.
        """
        super().__init__()
        self.heading, self.choices, self.free = title, choices, free
        self.line, self.lines = FilterLine(sign, hint), LinesView(id="choices")
        self.left = 12

    def compose(self) -> ComposeResult:
        """Title, what is typed, the list."""
        with Vertical():
            yield Band(self._title)
            yield self.line
            yield self.lines

    def _title(self, width: int) -> Drawing:
        right = (Span(own("Esc closes"), Tone.DIM),)
        return Drawing((fit(rule((Span(self.heading, Tone.FOCUS, strong=True),), right, width), width),))

    def on_mount(self) -> None:
        """Begin with everything."""
        self._fill("")
        self.line.focus()

    def _fill(self, typed: str) -> None:
        found = self.choices(typed)
        self.left = max([4, *(len(c.left) + 1 for c in found)])
        note = max([0, *(len(c.note) for c in found)])
        rows = [
            Row(
                (Cell((Span(joined(" ", c.left), Tone.FOCUS, strong=True),)), Cell((Span(c.words),)), Cell((Span(c.note, Tone.DIM),))),
                key=("pick", c.id),
            )
            for c in found
        ]
        if not rows and not self.free:
            rows = [Row((Cell((Span(own(" nothing matches"), Tone.DIM),)),), RowKind.NOTE)]
        columns = [Column(NOTHING, self.left), Column(NOTHING, 0), Column(NOTHING, min(note, 30), leaves=1)][: 3 if note else 2]
        self.lines.show(partial(lay, Sheet(tuple(columns), tuple(rows)), gap=1), keep=False)
        self.call_after_refresh(self.lines.go_first)

    @on(FilterLine.Changed)
    def _changed(self, event: FilterLine.Changed) -> None:
        event.stop()
        self._fill(event.words)

    @on(FilterLine.Moved)
    def _moved(self, event: FilterLine.Moved) -> None:
        event.stop()
        self.lines.move(event.by)

    @on(FilterLine.Done)
    @on(LinesView.Opened)
    def _done(self, event: FilterLine.Done | LinesView.Opened) -> None:
        event.stop()
        if self.free:
            self.dismiss(self.line.words)
            return
        key = self.lines.selected
        self.dismiss(key[1] if isinstance(key, tuple) else None)

    @on(FilterLine.Left)
    def _left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.dismiss(None)

    @on(LinesView.Selected)
    def _selected(self, event: LinesView.Selected) -> None:
        event.stop()
        self.line.focus()

    def on_click(self, event: events.Click) -> None:
        """A click beside the sheet closes it."""
        if event.widget is self:
            self.dismiss(None)


def palette_choices(changed: Mapping[str, str], absent: frozenset[str], turns: int) -> Choices:
    """Return every action with its key; a typed number goes to that turn."""
    actions = [
        Choice(k.action, said(k.does), said(shown(k, changed))) for k in KEYS if k.action and k.id not in absent | {"palette", "close"}
    ]
    find = filtered(actions)

    def choices(typed: str) -> Sequence[Choice]:
        number = typed.strip().removeprefix("-")
        if number.isascii() and number.isdecimal() and len(number) < 9 and turns:
            n = int(typed)
            n = turns + 1 + n if n < 0 else n
            n = max(1, min(turns, n))
            return [Choice(f"turn({n})", joined("go to turn ", n), own("⏎"), joined("of ", turns))]
        return find(typed)

    return choices


def help_choices(pane: str, changed: Mapping[str, str], absent: frozenset[str]) -> Choices:
    """Return the keys that are valid in a pane, its own ones first."""
    valid = [k for k in KEYS if pane in k.panes and k.keys and k.id not in absent]
    valid.sort(key=lambda k: len(k.panes))
    return filtered([Choice(k.action or None, said(k.does), said(shown(k, changed))) for k in valid])
