"""The Diff tab: what changed between two requests, said, then by category and item, both sides beside each other or names once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ctx_inspect.core.diff.report import CategoryReport, Change, ChangeKind, Report, State
from ctx_inspect.core.model import Category, Item, Known, Raw, Shown
from ctx_inspect.core.phrases import (
    ATTRIBUTION_LOST,
    BASELINE_WORDS,
    CATEGORY_WORDS,
    CHANGE_SIGNS,
    CHANGE_TONES,
    CHANGE_WORDS,
    FLAG_SIGN,
    FLAG_WORDS,
    NO_BASELINE,
    NOT_KNOWN,
    Name,
)
from ctx_inspect.core.saying import flag_of, item_name
from ctx_inspect.core.sentences import UNAVAILABLE, Sentence, sentences
from ctx_inspect.core.text.show import capital, joined, numeral, own, padded, safe_join, said
from ctx_inspect.core.views.diff_cells import EMPTY, Shape, blank, change_span, number_span
from ctx_inspect.core.views.diff_talk import talk_rows
from ctx_inspect.core.views.facts import counter_words
from ctx_inspect.core.views.figures import counted
from ctx_inspect.core.views.gauge import TONES
from ctx_inspect.core.views.glyphs import CLOSED, NONE, OPENED, OPENED_ASCII, YES, fill_of
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Row, RowKind, Sheet, Span, Tone
from msgspec import Struct

SIDES_FROM = 80
"""From this width of the pane on both sides stand beside each other."""

NAMES = 13
"""Cells of a category's name where a reason follows it."""

MOVED_NAMED = 4
"""Items that one move names."""

PARTS: Mapping[tuple[str, ...], Shown] = {
    ("description",): own("description"),
    ("schema",): own("schema"),
    ("description", "schema"): own("both parts"),
}


class ItemKey(Struct, frozen=True):
    """Names the row of an item, changed or not; a move names a category's order and has an empty key."""

    category: Category
    k: Raw
    changed: bool = True


class FoldKey(Struct, frozen=True):
    """Names the row behind which a category's unchanged items are folded; ``None``: what is not recorded."""

    category: Category | None


class DiffView(Struct, frozen=True):
    """What the tab shows.

    Attributes:
        report: The comparison.
        count: Counts an item that did not change.
        unfolded: Categories whose unchanged items are shown; ``None`` among them: what is not recorded.
        sides: Both sides beside each other; ``None`` = where there is room.
        low: The pane has few lines: what is the same stands in one, and there are no headings.
        opened: The item whose card is open.
        under: What stands under it.
        ascii_only: Draw squares as category letters.
        name: Makes names from outside harmless.
    """

    report: Report
    count: Callable[[Item], Known[int]]
    unfolded: frozenset[Category | None] = frozenset()
    sides: bool | None = None
    low: bool = False
    opened: ItemKey | None = None
    under: tuple[Row, ...] = ()
    ascii_only: bool = False
    name: Name = named


def diff_sheet(view: DiffView, width: int = 100) -> Sheet:
    """Return the tab as a sheet.

    Args:
        view: What it shows.
        width: Cells that it will be laid out to: from :data:`SIDES_FROM` on both sides stand beside each other.
    """
    report = view.report
    shape = Shape(width >= SIDES_FROM and (not view.low if view.sides is None else view.sides))
    rows = [_spoken(s) for s in sentences(report, view.name)]
    if not view.low:
        rows += [blank(), shape.head(report)]
    quiet: list[CategoryReport] = []
    for part in report.categories:
        if view.low and part.category not in view.unfolded and part.state in (State.SAME, State.UNAVAILABLE) and not part.lost:
            quiet.append(part)
        else:
            rows += _category(view, shape, part)
    rows += _quiet(quiet)
    rows += _ways(view, shape)
    return Sheet(shape.columns(), tuple(rows))


def _spoken(sentence: Sentence) -> Row:
    loud = sentence.tone in (Tone.ALERT, Tone.WARN)
    words = (
        Span(own(" ")),
        Span(sentence.sign, sentence.tone, strong=True),
        Span(own(" ")),
        *(Span(s.text, s.tone, s.strong or loud, s.italic) for s in sentence.spans),
    )
    right = () if sentence.witness == UNAVAILABLE else (Span(sentence.witness, Tone.DIM, italic=sentence.evidence == "estimated"),)
    return Row((Cell(words), Cell(right)), RowKind.SPOKEN)


def _category(view: DiffView, shape: Shape, part: CategoryReport) -> list[Row]:
    report, category = view.report, part.category
    word = capital(CATEGORY_WORDS[category])
    sign = fill_of(category, view.ascii_only)
    if part.state is State.UNAVAILABLE:
        why = said(part.coverage.note or "not recorded")
        start = (Span(own(" ")), Span(sign, Tone.DIM), Span(joined(" ", padded(word, NAMES)), strong=True))
        return [Row((Cell((*start, Span(joined(NONE, "  ", why), Tone.DIM))),), RowKind.SPOKEN), *_lost(view, shape, part)]
    tokens = part.tokens
    none = category is Category.SETTINGS
    first = part.state is State.NO_BASELINE
    head = shape.row(
        Span(sign, TONES[category]),
        Span(word, strong=True),
        Span(word, strong=True),
        EMPTY if none or first else number_span(tokens.before, strong=True),
        EMPTY if none else number_span(tokens.after, strong=True),
        EMPTY if none or first else change_span(tokens.delta, Tone.TEXT, strong=True),
        _evidence(report, part),
        heading=True,
    )
    rows = [head]
    if first:
        if (why := part.baseline_why) is not None and why is not report.why:
            rows.append(Row((Cell((Span(joined("   ", NO_BASELINE, " ", BASELINE_WORDS[why]), Tone.DIM),)),), RowKind.NOTE))
        return [*rows, *_folded(view, shape, part, part.after, own("item"))]
    if category is Category.CONVERSATION:
        return [*rows, *talk_rows(report, shape, ItemKey(category, Raw("")))]
    for change in part.changes:
        row = _change(view, shape, part, change)
        rows.append(row)
        if row.key == view.opened:
            rows += view.under
    rows += _lost(view, shape, part)
    return rows + _folded(view, shape, part, _unchanged(part), own("unchanged"))


def _evidence(report: Report, part: CategoryReport) -> Span:
    """Return how well a category's state is known, in one word."""
    if part.state is State.NO_BASELINE:
        return Span(own("no baseline"), Tone.DIM)
    if part.coverage.grade == "confirmed":
        return Span(joined(YES, " ", said(report.after.point)), Tone.DIM)
    return Span(said(part.coverage.grade), Tone.DIM, italic=True)


def _unchanged(part: CategoryReport) -> tuple[Item, ...]:
    told = {change.k for change in part.changes} | {k for change in part.changes for k in change.moved} | {i.k for i in part.lost}
    return tuple([i for i in part.after if i.k not in told])


def _folded(view: DiffView, shape: Shape, part: CategoryReport, items: Sequence[Item], noun: Shown) -> list[Row]:
    """Return what did not change: one line, and the items below it where it is unfolded."""
    if not items:
        return []
    open_ = part.category in view.unfolded
    sign = (OPENED_ASCII if view.ascii_only else OPENED) if open_ else CLOSED
    many = own("s") if noun == "item" and len(items) > 1 else NOTHING
    words = joined(sign, " ", numeral(len(items)), " ", noun, many)
    rows = [shape.words((Span(words, Tone.DIM),), FoldKey(part.category))]
    if not open_:
        return rows
    settings = part.category is Category.SETTINGS
    first = part.state is State.NO_BASELINE
    for item in items:
        name = item_name(view.report, item.k, view.name)
        if settings and item.shown is not None:
            name = joined(name, "  ", view.name(item.shown))
        n = EMPTY if settings else number_span(view.count(item), Tone.DIM)
        dim = Span(name, Tone.DIM)
        key = ItemKey(part.category, item.k, changed=False)
        before, left = (EMPTY, EMPTY) if first else (n, dim)
        rows.append(shape.row(EMPTY, left, dim, before, n, EMPTY if settings or first else Span(own("·"), Tone.DIM), EMPTY, key))
        if key == view.opened:
            rows += view.under
    return rows


def _lost(view: DiffView, shape: Shape, part: CategoryReport) -> list[Row]:
    return [
        shape.words(
            (
                Span(item_name(view.report, i.k, view.name)),
                Span(joined("  ", ATTRIBUTION_LOST, ": on one side only, where absence proves nothing"), Tone.DIM),
            ),
            sign=Span(NOT_KNOWN, Tone.DIM),
        )
        for i in part.lost
    ]


def _change(view: DiffView, shape: Shape, part: CategoryReport, change: Change) -> Row:
    category = part.category
    sign = Span(CHANGE_SIGNS[change.kind], CHANGE_TONES[change.kind], strong=True)
    what = _what(part, change)
    if change.kind is ChangeKind.MOVED:
        some = [item_name(view.report, k, view.name) for k in change.moved[:MOVED_NAMED]]
        more = joined(" and ", numeral(len(change.moved) - MOVED_NAMED), " more") if len(change.moved) > MOVED_NAMED else own("")
        words = joined(numeral(len(change.moved)), " reordered: ", safe_join(", ", some), more)
        return shape.words((Span(words),), ItemKey(category, Raw("")), sign, what)
    key = ItemKey(category, change.k)
    if category is Category.SETTINGS:
        return _setting(view, shape, change, sign, what, key)
    name = item_name(view.report, change.k, view.name)
    old = name if change.from_k is None else item_name(view.report, change.from_k, view.name)
    gone, new = change.after is None, change.before is None
    tokens = change.tokens
    return shape.row(
        sign,
        EMPTY if new else Span(old),
        EMPTY if gone else Span(name),
        EMPTY if new else number_span(tokens.before),
        EMPTY if gone else number_span(tokens.after),
        change_span(tokens.delta, CHANGE_TONES[change.kind]),
        what,
        key,
        gone=gone,
    )


def _setting(view: DiffView, shape: Shape, change: Change, sign: Span, what: Span, key: ItemKey) -> Row:
    """Return a setting's row: its value before and after; it has no tokens."""
    name = item_name(view.report, change.k, view.name)
    was, now = (NONE if i is None or i.shown is None else view.name(i.shown) for i in (change.before, change.after))
    if not shape.two:
        return shape.words((Span(joined(name, "  ", was, " → ", now)),), key, sign, what)
    left, right = Span(joined(name, "  ", was)), Span(joined(name, "  ", now))
    gone = change.after is None
    return shape.row(sign, EMPTY if change.before is None else left, EMPTY if gone else right, EMPTY, EMPTY, EMPTY, what, key, gone=gone)


def _what(part: CategoryReport, change: Change) -> Span:
    """Return what is to be said of a change in few cells: its parts, what it turns out to be, or what it follows from."""
    tone = Tone.DIM
    if change.flags:
        words = joined(FLAG_SIGN, " ", FLAG_WORDS[flag_of(change)])
        tone = Tone.MODIFIED
    elif change.follows is not None:
        words = joined("with ", named(Raw(change.follows.removeprefix("mcp:"))))
    elif change.parts in PARTS:
        words, tone = PARTS[change.parts], CHANGE_TONES[change.kind]
    else:
        words = CHANGE_WORDS[change.kind] if change.kind in (ChangeKind.MOVED, ChangeKind.RENAMED) else NOTHING
    if change.evidence == "confirmed" and part.coverage.grade != "confirmed":
        words = joined(YES, " ", words or "recorded")
    return Span(words, tone)


def _quiet(parts: Sequence[CategoryReport]) -> list[Row]:
    """Return what did not change, and what nobody knows, in one line each."""
    rows: list[Row] = []
    kinds = ((State.SAME, own("·"), own(" unchanged")), (State.UNAVAILABLE, NOT_KNOWN, own(" not recorded")))
    for state, sign, words in kinds:
        some = [CATEGORY_WORDS[p.category] for p in parts if p.state is state]
        if some:
            rows.append(Row((Cell((Span(joined(" ", sign, " ", safe_join(", ", some), words), Tone.DIM),)),), RowKind.NOTE))
    return rows


def _ways(view: DiffView, shape: Shape) -> list[Row]:
    """Return how what is estimated is known, each way once, and, folded, what no comparison of these two can tell."""
    report = view.report
    ways = dict.fromkeys(p.coverage.how for p in report.categories if p.coverage.grade == "estimated" and p.coverage.how)
    words = [joined("counted: ", counter_words(report)), *(joined("estimated: ", said(way)) for way in ways)]
    rows = [blank(), *(_dim(w) for w in words)]
    if report.not_recorded:
        open_ = None in view.unfolded
        sign = (OPENED_ASCII if view.ascii_only else OPENED) if open_ else CLOSED
        rows.append(
            shape.words((Span(joined(sign, " ", counted(len(report.not_recorded), "fact"), " not recorded"), Tone.DIM),), FoldKey(None))
        )
        rows += [_dim(joined("  ", said(what), ": ", said(why))) for what, why in report.not_recorded if open_]
    return rows


def _dim(words: Shown) -> Row:
    return Row((Cell((Span(joined("   ", words), Tone.DIM),)),), RowKind.NOTE)


def changed_keys(report: Report) -> tuple[ItemKey, ...]:
    """Return the keys of all rows that are changes, in the order they are shown."""
    out: list[ItemKey] = []
    for part in report.categories:
        if part.category is Category.CONVERSATION:
            if part.state in (State.GROWTH, State.REWRITTEN):
                out.append(ItemKey(part.category, Raw("")))
            continue
        out += [ItemKey(part.category, Raw("") if c.kind is ChangeKind.MOVED else c.k) for c in part.changes]
    return tuple(out)


def change_of(report: Report, key: ItemKey) -> Change | None:
    """Return the change that a row shows; ``None`` for an item that did not change and for the conversation."""
    if not key.changed or key.category is Category.CONVERSATION:
        return None
    for change in report.category(key.category).changes:
        if (Raw("") if change.kind is ChangeKind.MOVED else change.k) == key.k:
            return change
    return None


__all__ = ["SIDES_FROM", "DiffView", "FoldKey", "ItemKey", "change_of", "changed_keys", "diff_sheet"]
