"""The Budget tab: what fills the window of a turn, by category and item, against the provider's own figure."""

from __future__ import annotations

from ctx_inspect.core.budget import Sent
from ctx_inspect.core.model import Category, Context, Known, Raw, Shown, Unavailable, Why, value_of
from ctx_inspect.core.shares import Adding, Count, Share, Shares, counted_by
from ctx_inspect.core.text.show import joined, own, padded, repeated, said
from ctx_inspect.core.timeline import Timeline, TurnRow
from ctx_inspect.core.views.budget_window import note, sent_rows, window_rows
from ctx_inspect.core.views.events import state, why_no_window
from ctx_inspect.core.views.figures import counted, known, reason, share, size, tokens, whole
from ctx_inspect.core.views.gauge import TONES
from ctx_inspect.core.views.glyphs import CLOSED, EMPTY, HATCH, NONE, fill_of
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone
from msgspec import Struct

BAR_LEAST, BAR_MOST = 10, 28
"""Cells of a bar: it takes what the names leave."""

NAME, NAME_LEAST = 36, 27
"""Cells of the names: what they get before bars grow, and before other columns leave."""

HOW = 30
"""Cells of the evidence where it stands beside the figures."""

NAMES = 13
"""Cells of a category's name where a reason follows it."""

FIGURES = 8 + 4 + 3 * 2
"""Cells of tokens and share, and of the gaps."""

BESIDE = NAME_LEAST + BAR_LEAST + FIGURES + HOW + 2
"""From this width on the evidence stands beside the figures; below it, it gets lines of its own."""

ITEMS_SHOWN = 12
"""Items shown per category, the fattest first; the rest is one line."""


class BudgetView(Struct, frozen=True):
    """What the tab shows.

    Attributes:
        timeline: Where the session stands.
        row: The turn.
        context: What its last request carried, where it can be told.
        shares: The same by category.
        count: Counts one item.
        counter: The counter's name.
        sent: What the session sent in total.
        ascii_only: Fill bars with category letters.
        opened: Categories whose items are all shown.
        counting: The shares are on their way.
        live: The session lives: what is not finished runs.
        directory: Of the session; paths below it are shown from there.
        home: Of the person; stands as ``~`` in other paths.
        rate: Tokens that a turn adds, and over which turns that was taken.
    """

    timeline: Timeline
    row: TurnRow
    context: Context | None
    shares: Shares | None
    count: Count
    counter: str
    sent: Sent
    ascii_only: bool = False
    opened: frozenset[Category] = frozenset()
    counting: bool = False
    live: bool = False
    directory: Raw | None = None
    home: str | None = None
    rate: Known[int] | None = None


def budget_sheet(view: BudgetView, width: int = 100) -> Sheet:
    """Return the tab as a sheet of (name, bar, tokens, share, evidence).

    Args:
        view: What it shows.
        width: Cells that it will be laid out to: how long bars are.
    """
    beside = width >= BESIDE
    bar = min(BAR_MOST, max(BAR_LEAST, width - NAME - FIGURES - (HOW + 2 if beside else 0)))
    rows: list[Row] = []
    provider = value_of(view.row.window)
    window = view.row.window
    if isinstance(window, Unavailable):
        window = Unavailable(window.why, why_no_window(view.row, newest=view.row.turn.n == len(view.timeline.turns), live=view.live))
    if view.counting:
        rows += [note("  counting…"), Row(kind=RowKind.BLANK)]
    elif view.shares is None:
        words = state(view.row, newest=view.row.turn.n == len(view.timeline.turns), live=view.live)
        if words is not None:
            rows.append(note(f"  {words}", Tone.TEXT))
        rows.append(note("  The window by category is not known: no request of this turn could be rebuilt from the store."))
        rows.append(Row(kind=RowKind.BLANK))
    else:
        base = max(provider or 0, view.shares.sum) or 1
        for part in view.shares.shares:
            if part.category is not Category.SETTINGS:
                rows += _category(view, part, base, bar, width)
        rows += _media(view.shares)
        rows += _settings(view)
        rows += _rest(view, view.shares, window, base, bar)
        if not beside:
            rows += _hows(view)
        rows.append(Row(kind=RowKind.BLANK))
    rows += window_rows(view.timeline, view.row, view.rate, HOW if beside else 0)
    rows.append(Row(kind=RowKind.BLANK))
    rows += sent_rows(view.sent)
    columns = (
        Column(joined("  ", *(("≈ tokens by ", said(view.counter)) if view.shares is not None else ("tokens",))), 0),
        Column(NOTHING, bar, leaves=2),
        Column(own("tokens"), 8, right=True),
        Column(NOTHING, 4, right=True, leaves=3),
        Column(own("how it is known"), HOW, leaves=1),
    )
    return Sheet(columns, tuple(rows))


def _name(sign: Shown, tone: Tone, words: Shown, strong: bool = True) -> Cell:
    return Cell((Span(sign, tone), Span(own(" ")), Span(words, strong=strong)))


def _category(view: BudgetView, part: Share, base: int, width: int, line: int) -> list[Row]:
    category, found, items = part.category, part.tokens, part.items
    name = said(category.value.capitalize())
    sign = fill_of(category, view.ascii_only)
    n = value_of(found)
    if n is None:
        return _missing(sign, name, reason(found), category, line)
    filled = max(1 if n else 0, round(width * n / base))
    bar = (Span(joined(repeated(sign, filled)), TONES[category]), Span(joined(repeated(EMPTY, width - filled)), Tone.DIM))
    noun = "message" if category is Category.CONVERSATION else "item"
    coverage = view.context.coverage.get(category) if view.context is not None else None
    how = coverage.how if coverage is not None and coverage.how else "recorded"
    if part.gap is not None:
        how = f"{part.gap}; {how}"
    out = [
        Row(
            (
                Cell((*_name(sign, TONES[category], name).spans, Span(joined("  ", counted(items, noun)), Tone.DIM))),
                Cell(bar),
                Cell((Span(joined("≈", tokens(n)), italic=True),)),
                Cell((Span(share(n, base), Tone.DIM, italic=True),)),
                Cell((Span(said(how), Tone.DIM),)),
            ),
            key=category,
        )
    ]
    return out + _items(view, category)


def _missing(sign: Shown, name: Shown, why: Shown, category: Category, line: int) -> list[Row]:
    """Return a category without a figure: the reason on its own line, below it only where it is too long for that."""
    heading = (Span(sign, Tone.DIM), Span(own(" ")), Span(joined(padded(name, NAMES)), strong=True), Span(NONE, Tone.DIM))
    if 2 + NAMES + 3 + len(why) <= line:
        return [Row((Cell((*heading, Span(joined("  ", why), Tone.DIM))),), RowKind.NOTE, category)]
    return [Row((Cell(heading),), RowKind.NOTE, category), note("    " + why)]


def _hows(view: BudgetView) -> list[Row]:
    """Return how the categories are known, each way once."""
    if view.context is None:
        return []
    ways = dict.fromkeys(c.how for c in view.context.coverage.values() if c.how)
    return [note("  ≈ " + how) for how in ways]


def _items(view: BudgetView, category: Category) -> list[Row]:
    if view.context is None or category is Category.CONVERSATION:
        return []
    sized = [(counted_by(view.count, i.fp, i.size, view.counter), i) for i in view.context.items if i.category is category]
    sized.sort(key=lambda pair: -(value_of(pair[0]) or 0))
    most = len(sized) if category in view.opened else ITEMS_SHOWN
    out: list[Row] = []
    for n, item in sized[:most]:
        name = _place(view, item.k)
        where = _place(view, item.origin.path) if item.origin is not None and item.origin.path else None
        out.append(
            Row(
                (
                    Cell((Span(own("  ")), Span(name))),
                    Cell(),
                    Cell((known(n, whole, Tone.DIM),)),
                    Cell(),
                    Cell((Span(where, Tone.DIM),)) if where and where != name else Cell(),
                ),
                key=(category, item.k),
            )
        )
    if len(sized) > most:
        rest = Adding("items")
        for n, _ in sized[most:]:
            rest.add(n)
        words = joined("  ", CLOSED, " ", counted(len(sized) - most, "more", "more"))
        out.append(
            Row(
                (Cell((Span(words, Tone.DIM),)), Cell(), Cell((known(rest.total(view.counter), whole),))),
                key=(category, "more"),
            )
        )
    return out


def _place(view: BudgetView, name: Raw) -> Shown:
    """Return a name; a path below the session's directory from there, another one with ``~`` for the home folder."""
    path = str(name)
    for base, sign in ((view.directory, ""), (view.home, "~/")):
        if base and path.startswith(base.rstrip("/") + "/"):
            return named(Raw(sign + path[len(base.rstrip("/")) + 1 :]))
    return named(name)


def _media(found: Shares) -> list[Row]:
    if not found.media:
        return []
    name = Cell((Span(HATCH, Tone.DIM), Span(own(" Media"), strong=True), Span(joined("  ", counted(found.media, "part")), Tone.DIM)))
    if found.media_bytes is None:
        words = "of unknown size"
    else:
        words = size(found.media_bytes) + (f" and {found.media_unsized} of unknown size" if found.media_unsized else "")
    how = Span(said(f"{words}; bytes are no tokens"), Tone.DIM)
    return [Row((name, Cell(), Cell((Span(NONE, Tone.DIM),)), Cell(), Cell((how,))), key="media")]


def _settings(view: BudgetView) -> list[Row]:
    if view.context is None:
        return []
    settings = [i for i in view.context.items if i.category is Category.SETTINGS]
    if not settings:
        return []
    sign = fill_of(Category.SETTINGS, view.ascii_only)
    out = [
        Row(
            (
                Cell((*_name(sign, TONES[Category.SETTINGS], own("Settings")).spans, Span(joined("  ", len(settings)), Tone.DIM))),
                Cell(),
                Cell((Span(NONE, Tone.DIM),)),
                Cell(),
                Cell((Span(own("no tokens of their own"), Tone.DIM),)),
            ),
            key=Category.SETTINGS,
        )
    ]
    words = ", ".join(f"{named(i.k, 40)} {named(i.shown, 60) if i.shown else ''}".strip() for i in settings[:8])
    return [*out, note("    " + words)]


def _rest(view: BudgetView, found: Shares, window: Known[int], base: int, width: int) -> list[Row]:
    provider = value_of(window)
    if provider is None:
        none = Unavailable(Why.UNKNOWN, "nothing of it is counted")
        total = _pair("sum of what is known", none) if found.nothing else _figure("sum of what is known", found.sum, "estimated")
        return [total, _pair("provider's figure", window)]
    if found.complete:
        off = 100 * (found.sum - provider) / provider if provider else 0.0
        difference = found.sum - provider
        words = f"{'+' if off >= 0 else '−'}{abs(off):.1f} %"
        return [
            _figure("Sum of the above", found.sum, f"≈ {view.counter}"),
            _pair("Provider's figure", window),
            _figure(f"Off by {words}", difference, "", signed=True),
        ]
    rest = value_of(found.rest) or 0
    shown = max(0, rest)
    filled = round(width * shown / base)
    missing = [s.category.value for s in found.shares if isinstance(s.tokens, Unavailable) and s.category is not Category.SETTINGS]
    partly = [s.category.value for s in found.shares if s.gap is not None and not isinstance(s.tokens, Unavailable)]
    held = ", ".join([*missing, *(f"what of {name} is not counted" for name in partly), *(["media"] if found.media else [])])
    hatched = Row(
        (
            Cell((Span(HATCH, Tone.DIM), Span(own(" Not attributable"), strong=True))),
            Cell((Span(joined(repeated(HATCH, filled), repeated(EMPTY, width - filled)), Tone.DIM),)),
            Cell((Span(joined("≈", tokens(rest)), italic=True),)),
            Cell((Span(share(shown, base), Tone.DIM, italic=True),)),
            Cell((Span(own("provider's figure less the above"), Tone.DIM),)),
        ),
        key="rest",
    )
    return [
        hatched,
        note(f"    {held}, and the error of {view.counter}" if held else f"    the error of {view.counter}"),
        _pair("Provider's figure", window),
    ]


def _figure(name: str, n: int, how: str, signed: bool = False) -> Row:
    text = joined("+" if signed and n > 0 else "" if signed else "≈", tokens(n))
    return Row(
        (
            Cell((Span(said("  " + name)),)),
            Cell(),
            Cell((Span(text, Tone.DIM, italic=True),)),
            Cell(),
            Cell((Span(said(how), Tone.DIM),)),
        )
    )


def _pair(name: str, found: Known[int]) -> Row:
    return Row(
        (Cell((Span(said("  " + name)),)), Cell(), Cell((known(found, strong=True),)), Cell(), Cell((Span(reason(found), Tone.DIM),)))
    )
