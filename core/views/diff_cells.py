"""The columns of the Diff tab: two aligned sides, or names once with two columns of numbers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ctx_inspect.core.diff.report import Report, Side
from ctx_inspect.core.model import Estimated, Known, Shown, Unavailable
from ctx_inspect.core.text.show import joined, own, said
from ctx_inspect.core.views.figures import change as signed
from ctx_inspect.core.views.figures import tokens, whole
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Span, Tone
from msgspec import Struct

NUMBER, DELTA, WHAT = 7, 8, 13
"""Cells of a number, of a difference, and of what stands at the right end."""

IN_FULL = 10_000
"""Tokens from which on a number is written short: ``2,444``, ``41.3k``."""

EMPTY = Span(NOTHING)


class Shape(Struct, frozen=True):
    """How rows are laid out.

    Attributes:
        two: Both sides stand beside each other.
    """

    two: bool

    def columns(self) -> tuple[Column, ...]:
        """Return the columns."""
        sign, name, number = Column(NOTHING, 2, right=True), Column(NOTHING, 0), Column(NOTHING, NUMBER, right=True)
        delta, what = Column(NOTHING, DELTA, right=True), Column(NOTHING, WHAT, leaves=1)
        if self.two:
            return (sign, name, number, sign, name, number, delta, what)
        older = Column(NOTHING, NUMBER, right=True, leaves=2)
        return (sign, name, older, number, delta, what)

    def row(
        self,
        sign: Span,
        left: Span,
        right: Span,
        before: Span,
        after: Span,
        delta: Span,
        what: Span,
        key: Hashable | None = None,
        *,
        heading: bool = False,
        gone: bool = False,
    ) -> Row:
        """Return a row.

        Args:
            sign: What happened; of a heading its square.
            left: The name on the older side.
            right: The name on the newer side.
            before: The older number.
            after: The newer one.
            delta: Their difference.
            what: What stands at the right end.
            key: Names the row.
            heading: It begins a category.
            gone: There is nothing on the newer side.
        """
        if self.two:
            at_left = heading or gone
            spans = (sign if at_left else EMPTY, left, before, EMPTY if at_left else sign, right, after, delta, what)
        else:
            other = left.text and right.text and left.text != right.text
            name = Span(joined(left.text, " → ", right.text), right.tone, right.strong) if other else right if right.text else left
            spans = (sign, name, before, after, delta, what)
        return Row(tuple([Cell((s,)) for s in spans]), key=key)

    def words(self, words: Sequence[Span], key: Hashable | None = None, sign: Span = EMPTY, what: Span = EMPTY) -> Row:
        """Return a row of words that takes the room of names and numbers."""
        return Row(
            (Cell((Span(own(" ")), sign if sign.text else Span(own(" ")), Span(own(" ")), *words)), Cell((what,))), RowKind.ENTRY, key
        )

    def head(self, report: Report) -> Row:
        """Return the headings."""
        was, now = side_words(report.before), side_words(report.after)

        def dim(text: Shown) -> Cell:
            return Cell((Span(text, Tone.DIM),))

        if self.two:
            before = joined("before · ", was) if report.before is not None else own("before · —")
            cells = (dim(NOTHING), dim(before), dim(own("tokens")), dim(NOTHING), dim(joined("after · ", now)), dim(own("tokens")))
            return Row((*cells, dim(own("Δ")), dim(NOTHING)), RowKind.HEAD)
        return Row((dim(NOTHING), dim(own("≈ tokens")), dim(was), dim(now), dim(own("Δ")), dim(NOTHING)), RowKind.HEAD)


def side_words(side: Side | None) -> Shown:
    """Return which request a column is of: ``turn 46``, ``step 2``, ``reverted``."""
    if side is None:
        return NONE
    if side.turn is None:
        return said(side.state or "earlier")
    what, n = (own("turn "), side.turn) if side.step is None else (own("step "), side.step)
    return joined(what, n) if n < 100 else joined(n)


def blank() -> Row:
    """Return an empty row."""
    return Row(kind=RowKind.BLANK)


def figure(n: int) -> Shown:
    """Return tokens: in full while they are few."""
    return whole(n) if abs(n) < IN_FULL else tokens(n)


def number_span(known: Known[int], tone: Tone = Tone.TEXT, *, strong: bool = False) -> Span:
    """Return a number as its evidence has it."""
    if isinstance(known, Unavailable):
        return Span(NONE, Tone.DIM)
    guessed = isinstance(known, Estimated)
    write = tokens if strong else figure
    return Span(joined("≈" if guessed else "", write(known.value)), tone, strong and not guessed, guessed)


def change_span(known: Known[int], tone: Tone, *, strong: bool = False) -> Span:
    """Return a difference as its evidence has it; none is dim."""
    if isinstance(known, Unavailable):
        return Span(NONE, Tone.DIM)
    if not known.value:
        return Span(own("·"), Tone.DIM)
    guessed = isinstance(known, Estimated)
    n = known.value
    sized = signed(n) if strong or abs(n) >= IN_FULL else joined("+" if n > 0 else "", whole(n))
    return Span(joined("≈" if guessed else "", sized), tone, strong and not guessed, guessed)
