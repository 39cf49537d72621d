"""Comparisons made by hand, for tests of what is said of them."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.cache.model import Cache, CacheCause, CacheCode, CacheVerdict
from ctx_inspect.core.diff.report import (
    CategoryReport,
    Cause,
    CauseKind,
    Change,
    ChangeKind,
    Compacted,
    ConversationReport,
    Estimate,
    NoBaseline,
    Report,
    Side,
    State,
    Tokens,
)
from ctx_inspect.core.model import (
    Category,
    Confirmed,
    Coverage,
    Estimated,
    Item,
    Known,
    Mark,
    MarkKind,
    Origin,
    Raw,
    Unavailable,
    Why,
    Witness,
    replace,
)

COUNTER = "o200k_base"
START = 1_790_000_000_000
WIRE = Coverage("confirmed", all=True)
REBUILT = Coverage("estimated", how="rebuilt from the store: pi branch rules", all=True)
MISSING = Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x does not store it")
NO_FIGURE = Unavailable(Why.UNKNOWN, "media: no counter tells its tokens")
SINGLE = Unavailable(Why.UNKNOWN, "settings take no tokens of their own")
NO_SETTINGS = Tokens(SINGLE, SINGLE, SINGLE)


def est(n: int) -> Estimated[int]:
    return Estimated(n, COUNTER)


def toks(before: int | None, after: int | None) -> Tokens:
    """Tokens of both sides by the counter; ``None`` = not there on this side."""
    gone = Unavailable(Why.NOT_RECORDED, "not on this side")
    return Tokens(gone if before is None else est(before), gone if after is None else est(after), est((after or 0) - (before or 0)))


def item(category: Category, k: str, fp: str = "a", shown: str | None = None) -> Item:
    return Item(category, Raw(k), fp, origin=Origin("file", Raw(k)), shown=None if shown is None else Raw(shown))


def change(category: Category, kind: ChangeKind, k: str, before: int | None = None, after: int | None = None, **more: object) -> Change:
    """A change of an item: tokens before and after where they are given."""
    was = None if kind in (ChangeKind.ADDED, ChangeKind.MOVED) else item(category, k, "a")
    now = None if kind in (ChangeKind.REMOVED, ChangeKind.MOVED) else item(category, k, "b")
    tokens = toks(before, after) if (before, after) != (None, None) else Tokens()
    return replace(Change(kind, Raw(k), was, now, tokens=tokens), **more)


def added(category: Category, k: str, n: int, **more: object) -> Change:
    return change(category, ChangeKind.ADDED, k, None, n, **more)


def removed(category: Category, k: str, n: int, **more: object) -> Change:
    return change(category, ChangeKind.REMOVED, k, n, None, **more)


def modified(category: Category, k: str, before: int, after: int, **more: object) -> Change:
    return change(category, ChangeKind.MODIFIED, k, before, after, **more)


def setting(k: str, before: str | None, after: str | None, **more: object) -> Change:
    was = None if before is None else item(Category.SETTINGS, k, before, before)
    now = None if after is None else item(Category.SETTINGS, k, after, after)
    kind = ChangeKind.ADDED if was is None else ChangeKind.REMOVED if now is None else ChangeKind.MODIFIED
    return replace(Change(kind, Raw(k), was, now, tokens=NO_SETTINGS), **more)


def part(category: Category, *changes: Change, coverage: Coverage = WIRE, tokens: Tokens | None = None, **more: object) -> CategoryReport:
    """One category: changed where changes are given, else the same."""
    state = State.CHANGED if changes else State.SAME
    if coverage.grade == "unavailable":
        state = State.UNAVAILABLE
    unknown = Unavailable(Why.NOT_RECORDED, coverage.note or "not recorded")
    if tokens is None:
        tokens = NO_SETTINGS if category is Category.SETTINGS else toks(1000, 1000)
        tokens = Tokens(unknown, unknown, unknown) if coverage.grade == "unavailable" else tokens
    return replace(CategoryReport(category, state, coverage, changes=changes, tokens=tokens), **more)


def talk(kind: State = State.GROWTH, added: int = 2, coverage: Coverage = WIRE, **more: object) -> ConversationReport:
    base = ConversationReport(kind, coverage, before=84, after=84 + added, added=added, steps=1)
    return replace(base, **more)


def mark(kind: MarkKind, **more: object) -> Mark:
    return replace(Mark(kind, START, 11, "a11", status="succeeded"), **more)


def caused(kind: CauseKind, mark: Mark | None = None, evidence: str = "confirmed", how: str | None = None) -> Cause:
    return Cause(kind, evidence, mark, how)


KEPT = CacheVerdict(
    Cache.KEPT, "confirmed", turn=11, step=1, request="a11", r=0.97, read=40_000, written=1_300, reusable=41_200, rewritten=0
)
LOST = replace(
    KEPT,
    verdict=Cache.LOST,
    r=0.0,
    read=0,
    rewritten=41_300,
    cause=CacheCause(CacheCode.TOOL_CHANGED, "confirmed", Raw("filesystem_search"), explained=True),
)
COMPACTION = mark(MarkKind.COMPACTION, reason="auto")
COMPACTED = talk(
    State.REWRITTEN,
    before=184,
    after=9,
    added=3,
    removed=178,
    from_message=0,
    from_id="m1",
    causes=(caused(CauseKind.COMPACTION, COMPACTION),),
    compaction=Compacted(Confirmed(104_200), Confirmed(41_300), Confirmed(178), Confirmed(6), 1),
)


def report(
    *parts: CategoryReport,
    conversation: ConversationReport | None = None,
    cache: CacheVerdict = KEPT,
    talk_tokens: Tokens | None = None,
    point: str = "wire",
    **more: object,
) -> Report:
    """Compare turn 11 and turn 12: categories that are not given are the same, the conversation grew by two messages."""
    conversation = conversation or talk()
    given = {p.category: p for p in parts}
    state = conversation.kind
    unknown = conversation.coverage.grade == "unavailable"
    tokens = talk_tokens or (Tokens() if unknown else toks(82_000, 83_900))
    given[Category.CONVERSATION] = CategoryReport(Category.CONVERSATION, state, conversation.coverage, tokens=tokens)
    categories = tuple(given.get(c) or part(c) for c in Category)
    base = Report(
        session="opencode:ses_1",
        harness="opencode",
        project=Raw("/home/ann/my-app"),
        before=Side(11, "msg_11", START, None, point=point),
        after=Side(12, "msg_12", START + 360_000, None, point=point),
        why=None,
        categories=categories,
        conversation=conversation,
        between=tuple(c.mark for c in conversation.causes if c.mark is not None),
        window_before=Confirmed(39_400, Witness.PROVIDER),
        window_after=Confirmed(41_300, Witness.PROVIDER),
        limit=Confirmed(200_000, Witness.CONFIG),
        estimate=Estimate(est(40_400), Confirmed(41_300, Witness.PROVIDER), Estimated(-0.022, COUNTER)),
        cache=cache,
        counter=COUNTER,
        not_recorded=(("headers", "they are not part of a request body"),),
    )
    return replace(base, **more)


def without_baseline(why: NoBaseline = NoBaseline.FIRST_TURN, cache: CacheVerdict | None = None) -> Report:
    """Turn 1, with nothing before it."""
    cold = CacheVerdict(Cache.COLD, "confirmed", read=0, written=16_200)
    base = report(
        *(part(c, coverage=REBUILT, state=State.NO_BASELINE, baseline_why=why) for c in Category if c is not Category.CONVERSATION),
        conversation=talk(State.NO_BASELINE, 0, REBUILT, before=0, after=2, steps=0),
        cache=cache or cold,
    )
    unknown: Known[int] = Unavailable(Why.NOT_RECORDED, "there is no turn before it")
    return replace(base, before=None, why=why, after=replace(base.after, turn=1), window_before=unknown, between=())


def opencode(*parts: CategoryReport, conversation: ConversationReport | None = None, cache: CacheVerdict = KEPT, **more: object) -> Report:
    """What an OpenCode 1.x store tells: conversation and settings alone."""
    gone: Sequence[CategoryReport] = [
        part(c, coverage=MISSING) for c in (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM)
    ]
    return report(*gone, *parts, conversation=conversation or talk(coverage=REBUILT), cache=cache, point="store", **more)
