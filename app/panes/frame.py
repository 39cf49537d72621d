"""The frame round the panes: header with gauge, footer, the line about problems, and the empty screen."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial

from ctx_inspect.app.keymap import Key, footer
from ctx_inspect.core.model import Problem, ProblemCode, Raw, Shown
from ctx_inspect.core.sources.base import Looked
from ctx_inspect.core.text.show import joined, own, said, terminal
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.empty import empty_sheet
from ctx_inspect.core.views.gauge import Gauge, gauge_lines, smallest
from ctx_inspect.core.views.glyphs import NOTE, PROBLEM
from ctx_inspect.core.views.header import Header, header_line
from ctx_inspect.core.views.layout import Line, fit, lay, line_width, pad, spread
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone
from ctx_inspect.widgets.band import Band, Drawing, Zone
from ctx_inspect.widgets.lines import LinesView
from textual.timer import Timer

NOTICE = 8.0
"""Seconds that a notice stays."""

MOST_PROBLEMS = 100
"""Problems that are kept."""

OURS = frozenset({"ctx-inspect", "configuration"})
"""Stand for no file."""


class HeadBand(Band):
    """The header: who, and how full."""

    def __init__(self) -> None:
        """Make an empty header."""
        super().__init__(self._lines_for, raised=True, id="head")
        self.header, self.gauge, self.lines = Header(None), None, 0

    def set(self, header: Header, gauge: Gauge | None, lines: int) -> None:
        """Show this."""
        if lines != self.lines:
            self.styles.height = lines
        self.header, self.gauge, self.lines = header, gauge, lines
        self.show(self._lines_for)

    header: Header
    gauge: Gauge | None

    def _lines_for(self, width: int) -> Drawing:
        if self.lines == 1:
            words = smallest(self.gauge) if self.gauge is not None else own("ctx-inspect")
            right = (Span(joined(self.header.turn, "/", self.header.turns, " "), Tone.DIM),) if self.header.turn is not None else ()
            return Drawing((fit(spread((Span(words, strong=True),), right, width), width),))
        lines: list[Line] = [header_line(self.header, width)]
        if self.gauge is not None:
            lines += gauge_lines(self.gauge, width, self.lines - 1)
        return Drawing(tuple(lines))


class FootBand(Band):
    """The keys that are valid for the focus."""

    def __init__(self) -> None:
        """Make an empty footer."""
        super().__init__(self._line, raised=True, id="foot")
        self.pane, self.changed, self.absent, self.words = "", {}, frozenset[str](), {}

    def set(self, pane: str, changed: Mapping[str, str], absent: frozenset[str], words: Mapping[str, str]) -> None:
        """Show a pane's keys; ``words`` replaces some of their words."""
        self.pane, self.changed, self.absent, self.words = pane, dict(changed), absent, dict(words)
        self.show(self._line)

    def _line(self, width: int) -> Drawing:
        left, right = footer(self.pane, self.changed, self.absent, self.look.ascii_only)
        gap = 3 if width >= 150 else 2 if width >= 100 else 1
        while left and _wide(left, gap, self.words) + _wide(right, gap, self.words) + 3 > width:
            left.pop()
        while right and _wide(left, gap, self.words) + _wide(right, gap, self.words) + 2 > width:
            right.pop(0)
        spans_left, zones_left = self._part(left, gap, 1)
        wide = line_width(spans_left)
        wide_right = _wide(right, gap, self.words)
        spans_right, zones_right = self._part(right, gap, width - wide_right - 1)
        line = (pad(1), *spans_left, pad(width - wide - wide_right - 2), *spans_right, pad(1))
        return Drawing((fit(line, width),), (*zones_left, *zones_right))

    def _part(self, keys: Sequence[tuple[Key, str]], gap: int, at: int) -> tuple[list[Span], list[Zone]]:
        spans: list[Span] = []
        zones: list[Zone] = []
        for key, written in keys:
            if spans:
                spans.append(pad(gap))
            start = at + line_width(spans)
            spans += [Span(terminal(Raw(written)), Tone.FOCUS, strong=True), Span(said(" " + self.words.get(key.id, key.word)))]
            zones.append(Zone(0, start, at + line_width(spans), key.action))
        return spans, zones


def _wide(keys: Sequence[tuple[Key, str]], gap: int, words: Mapping[str, str]) -> int:
    return sum(len(w) + 1 + len(words.get(k.id, k.word)) for k, w in keys) + gap * max(0, len(keys) - 1)


class ProblemBand(Band):
    """One line above the footer: a notice while it is new, else what could not be read."""

    def __init__(self) -> None:
        """Make it, unseen."""
        super().__init__(self._line, raised=True, id="problem")
        self.problems: list[Problem] = []
        self._by: dict[Hashable, tuple[Problem, ...]] = {}
        self.notice: Shown | None = None
        self._open = False
        self._going: Timer | None = None

    def on_mount(self) -> None:
        """Nothing is wrong yet."""
        self._redraw()

    def add(self, problems: Sequence[Problem]) -> None:
        """Take problems that nothing takes back; those that are known already change nothing."""
        once = self._by.get("once", ())
        self.put("once", [*once, *(p for p in problems if p not in once)])

    def put(self, origin: Hashable, problems: Sequence[Problem]) -> None:
        """Take all that is wrong with one thing now: what was said of it before and is wrong no more goes by itself.

        Args:
            origin: What was listed, read or watched.
            problems: What is wrong with it; nothing = all is well.
        """
        if not problems and origin not in self._by:
            return
        before = self.problems
        new = any(p not in before for p in problems)
        if new or not problems:
            self._by.pop(origin, None)  # what is new is named first
        if problems:
            self._by[origin] = tuple(problems)
        self.problems = list(dict.fromkeys(p for each in self._by.values() for p in each))[-MOST_PROBLEMS:]
        if self.problems == before:
            return
        self._open = new or (self._open and bool(self.problems))
        self._redraw()

    def tell(self, words: Shown) -> None:
        """Say what was done, or why nothing was; it goes by itself."""
        self.notice = words
        if self._going is not None:
            self._going.stop()
        self._going = self.set_timer(NOTICE, self._forget)
        self._redraw()

    def _forget(self) -> None:
        self.notice = None
        self._redraw()

    def dismiss(self) -> bool:
        """Take the line away, the notice first; return whether there was one."""
        if self.notice is not None:
            self._forget()
            return True
        was, self._open = self._open, False
        self._redraw()
        return was

    def _redraw(self) -> None:
        self.display = self._open or self.notice is not None
        self.show(self._line)

    def _line(self, width: int) -> Drawing:
        if self.notice is not None:
            return self._drawn_line((pad(1), Span(NOTE, Tone.FOCUS), pad(1), Span(self.notice)), own("x dismiss "), width)
        if not self.problems:
            return Drawing(())
        newest = self.problems[-1]
        more = joined(" (and ", len(self.problems) - 1, " more)") if len(self.problems) > 1 else own("")
        where = self._place(newest, width)
        left = (pad(1), Span(PROBLEM, Tone.ALERT), pad(1), *where, Span(joined(said(newest.message), more)))
        return self._drawn_line(left, own("! why  x dismiss "), width)

    def _drawn_line(self, left: Sequence[Span], keys: Shown, width: int) -> Drawing:
        right = (Span(keys, Tone.DIM),) if width >= 40 else ()
        room = width - line_width(right) - (1 if right else 0)
        return Drawing((fit((*fit(left, room), pad(1), *right), width),))

    def _place(self, problem: Problem, width: int) -> tuple[Span, ...]:
        """Return which file or folder a problem is about: whole where there is room, else its name."""
        if problem.source in OURS:
            return ()
        whole = named(problem.source, 200)
        if cells(whole) + cells(problem.message) + 24 > width:
            whole = named(Raw(problem.source.rstrip("/").rpartition("/")[2] or problem.source), 60)
        return (Span(joined(whole, ": "), Tone.DIM),)


class EmptyPane(LinesView):
    """What is seen while there is no session."""

    def __init__(self, looked: Sequence[Looked], keys: Sequence[tuple[str, str]]) -> None:
        """Make it.

        Args:
            looked: Where discovery looked.
            keys: What can be pressed and typed.
        """
        super().__init__(id="empty", cursor=False)
        self.looked, self.keys = looked, keys
        self.refused: tuple[Problem, ...] = ()

    def on_mount(self) -> None:
        """Lay it out."""
        self.lay_out()

    def refuse(self, problems: tuple[Problem, ...]) -> None:
        """Say which stores are there and cannot be listed at the moment."""
        if problems != self.refused:
            self.refused = problems
            self.lay_out()

    def lay_out(self) -> None:
        """Lay it out anew."""
        locked = ProblemCode.LOCKED
        refused = {str(p.source): "locked, trying again" if p.code is locked else "cannot be read: see !" for p in self.refused}
        places: list[tuple[str, str, int, str | None]] = []
        for p in self.looked:
            why = [words for path in p.found if (words := refused.pop(str(path), None)) is not None]
            places.append((p.label, p.place, 0 if why else len(p.found), why[0] if why else p.why))
        places += [("store", path, 0, words) for path, words in refused.items()]
        self.show(partial(lay, empty_sheet(places, self.keys), gap=1))
