"""Sheets over the screen: the palette, the help, the copy menu, themes, problems. All are one list that typing filters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import ClassVar, LiteralString

from ctx_inspect.app.keymap import DETAIL, DIFF, EMPTY, FILTER, KEYS, READING, SESSIONS, SHEET, TEXT, TIMELINE, shown, spelled
from ctx_inspect.core.model import Shown
from ctx_inspect.core.text.show import joined, numeral, own, safe_join, said
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.drift import LETTERS
from ctx_inspect.core.views.glyphs import ABOVE, BELOW
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
        note: Behind them, dim.
        long: It is read rather than taken: it gets as many lines as it needs.
    """

    id: Hashable
    words: Shown
    left: Shown = NOTHING
    note: Shown = NOTHING
    long: bool = False


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
    Picker > .-ascii { border: ascii $edge; }
    Picker > .-words { height: 4; }
    """

    def __init__(
        self, title: Shown, choices: Choices, sign: LiteralString = ":", hint: LiteralString = "type to filter", words: str | None = None
    ) -> None:
        """Make the sheet.

        Args:
            title: Its title.
            choices: What it lists.
            sign: Before what is typed.
            hint: Where nothing is typed.
            words: It asks for words instead of a choice; these stand there already.
        """
        super().__init__()
        self.heading, self.choices, self.free = title, choices, words is not None
        self.line, self.lines, self.more = FilterLine(sign, hint, words or ""), LinesView(id="choices"), Band(self._more)

    def compose(self) -> ComposeResult:
        """Title, what is typed, the list, and how much more of it there is."""
        with Vertical() as box:
            box.set_class(self.line.look.ascii_only, "-ascii")
            box.set_class(self.free, "-words")
            yield Band(self._title)
            yield self.line
            if not self.free:
                yield self.lines
                yield self.more

    def _title(self, width: int) -> Drawing:
        right = (Span(own("Esc closes"), Tone.DIM),)
        return Drawing((fit(rule((Span(self.heading, Tone.FOCUS, strong=True),), right, width), width),))

    def _more(self, width: int) -> Drawing:
        above, below = self.lines.hidden_above(), self.lines.hidden_below()
        spelled_out = self.line.look.ascii_only
        words = [joined(above, " more above") if spelled_out else joined(ABOVE, " ", above, " more")] if above else []
        words += [joined(below, " more below") if spelled_out else joined(BELOW, " ", below, " more")] if below else []
        return Drawing((fit((Span(joined(" ", safe_join("   ", words)), Tone.DIM),), width),))

    def on_mount(self) -> None:
        """Begin with everything."""
        self._fill("")
        self.line.focus()

    def on_resize(self) -> None:
        """Another part of the list is seen."""
        self.call_after_refresh(self._seen)

    def _seen(self) -> None:
        self.more.show(self._more)

    def _fill(self, typed: str) -> None:
        if self.free:
            return
        found = self.choices(typed)
        ascii_only = self.line.look.ascii_only
        lefts = [said(spelled(c.left)) if ascii_only else c.left for c in found]
        rows = [self._row(i, c, left) for i, (c, left) in enumerate(zip(found, lefts, strict=True))]
        self.found = found
        if not rows:
            rows = [Row((Cell((Span(own(" nothing matches"), Tone.DIM),)),), RowKind.NOTE)]
        wide = max([4, *(cells(left) + 1 for left in lefts)])
        columns = Column(NOTHING, wide), Column(NOTHING, 0)
        self.lines.show(partial(lay, Sheet(columns, tuple(rows)), gap=1), keep=False)
        self.call_after_refresh(self._first)

    @staticmethod
    def _row(index: int, choice: Choice, left: Shown) -> Row:
        key = Span(joined(" ", left), Tone.FOCUS, strong=True)
        words = Span(choice.words), Span(joined("  ", choice.note) if choice.note else NOTHING, Tone.DIM)
        if choice.long:
            return Row((Cell((key, Span(own("  ")), *words)),), RowKind.NOTE, ("pick", index))
        return Row((Cell((key,)), Cell(words)), key=("pick", index))

    found: Sequence[Choice] = ()

    def _first(self) -> None:
        self.lines.go_first()
        self._seen()

    @on(FilterLine.Changed)
    def _changed(self, event: FilterLine.Changed) -> None:
        event.stop()
        self._fill(event.words)

    @on(FilterLine.Moved)
    def _moved(self, event: FilterLine.Moved) -> None:
        event.stop()
        self.lines.move(event.by)
        self._seen()

    @on(FilterLine.Done)
    @on(LinesView.Opened)
    def _done(self, event: FilterLine.Done | LinesView.Opened) -> None:
        event.stop()
        if self.free:
            self.dismiss(self.line.words)
            return
        key = self.lines.selected
        self.dismiss(self.found[key[1]].id if isinstance(key, tuple) else None)

    @on(FilterLine.Left)
    def _left(self, event: FilterLine.Left) -> None:
        event.stop()
        self.dismiss(None)

    @on(LinesView.Selected)
    def _selected(self, event: LinesView.Selected) -> None:
        event.stop()
        self.line.focus()
        self._seen()

    def on_click(self, event: events.Click) -> None:
        """A click beside the sheet closes it."""
        if event.widget is self:
            self.dismiss(None)


def palette_choices(changed: Mapping[str, str], absent: frozenset[str], turns: int, themes: Sequence[LiteralString] = ()) -> Choices:
    """Return every action with its key, and the themes by name; a typed number goes to that turn.

    Args:
        changed: Keys set by the person, by id.
        absent: Ids of keys that do nothing now.
        turns: How many turns there are.
        themes: Names of themes.
    """
    actions = [
        Choice(k.action, said(k.does), said(shown(k, changed))) for k in KEYS if k.action and k.id not in absent | {"palette", "close"}
    ]
    actions += [Choice(f"use_theme('{name}')", joined("theme: ", name)) for name in themes]
    find = filtered(actions)

    def choices(typed: str) -> Sequence[Choice]:
        number = typed.strip()
        if number.removeprefix("-").isascii() and number.removeprefix("-").isdecimal() and turns:
            n = int(number[:12])
            n = turns + 1 + n if n < 0 else n
            if 1 <= n <= turns:
                return [Choice(f"turn({n})", joined("go to turn ", n), own("⏎"), joined("of ", turns))]
            return [Choice(None, joined("there is no such turn: there are ", numeral(turns)))]
        return find(typed)

    return choices


ELSEWHERE = {
    TIMELINE: own("in the timeline"),
    DIFF: own("on the Diff tab"),
    DETAIL: own("in the details"),
    TEXT: own("on the Text tab"),
    SESSIONS: own("in the sessions"),
    FILTER: own("while filtering"),
    EMPTY: own("while there is no session"),
}


SIGNS = (
    Choice(None, own("instructions, skills, tools, settings, system, conversation: what changed in each"), LETTERS, long=True),
    Choice(None, own("· same  + added  - removed  ~ modified  ⇄ moved  → renamed  ± several"), LETTERS, long=True),
    Choice(None, own("! rewritten  ? not recorded  ○ nothing to compare with  ≋ volatile or flapping"), LETTERS, long=True),
    Choice(None, own("● kept  ◐ kept in part  ○ lost  ◌ cold  – not reported or too short"), own("cache"), long=True),
)
"""What the signs of the timeline mean."""


def help_choices(pane: str, changed: Mapping[str, str]) -> Choices:
    """Return all keys: those that are valid in a pane first, its own before those of many; what signs mean; then the others."""
    keys = [k for k in KEYS if (k.keys or k.shown) and SHEET not in k.panes]
    valid = sorted((k for k in keys if pane in k.panes), key=lambda k: len(k.panes))
    others = [(k, next(words for name, words in ELSEWHERE.items() if name in k.panes)) for k in keys if pane not in k.panes]
    found = [Choice(k.action or None, said(k.does), said(shown(k, changed))) for k in valid]
    more = (Choice(None, said(k.does), said(shown(k, changed)), where) for k, where in others)
    return filtered([*found, *(SIGNS if pane in READING else ()), *more])
