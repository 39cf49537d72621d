"""What a category of items did between two requests. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ctx_inspect.core.diff.conversation import weaker
from ctx_inspect.core.diff.items import item_changes
from ctx_inspect.core.diff.report import CategoryReport, Change, ChangeKind, NoBaseline, State, Tokens
from ctx_inspect.core.diff.tokens import Counts, difference
from ctx_inspect.core.model import Category, Context, Item, Known, Raw, Unavailable, Why, replace

Key = tuple[Category, Raw]

NO_KNOCK_ONS: Mapping[Key, str] = {}

NOT_THERE = Unavailable(Why.UNKNOWN, "it was not there")

OTHER_SPACE = Unavailable(Why.UNKNOWN, "both sides were not taken at the same point")

MCP_HELPERS = frozenset({"list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"})
"""Tools that OpenCode adds by itself while an MCP server that offers resources is connected (OpenCode 1.18)."""

OF_TOOLS = frozenset({"tools", "rules"})
"""Pi's sections of the system prompt that are written from the active tools: their list, and the rules of their use (Pi 0.86 and
later). Both change whenever a tool comes or goes."""

CAME_OR_WENT = frozenset({ChangeKind.ADDED, ChangeKind.REMOVED, ChangeKind.RENAMED})


def category_report(category: Category, before: Context, after: Context, counts: Counts | None = None) -> CategoryReport:
    """Compare one category of items.

    Args:
        category: Any but the conversation.
        before: The older snapshot.
        after: The newer one.
        counts: Counts tokens; without it they are not counted.
    """
    coverage = weaker(before, after, category)
    old, new = _items(before, category), _items(after, category)
    tokens = Tokens() if counts is None else difference(counts.category(before, category), counts.category(after, category))
    if coverage.grade == "unavailable":
        return CategoryReport(category, State.UNAVAILABLE, coverage, before=old, after=new, tokens=tokens)
    if before.point != after.point:
        why = NoBaseline.POINT_CHANGED
        return CategoryReport(category, State.NO_BASELINE, coverage, why, before=old, after=new, tokens=replace(tokens, delta=OTHER_SPACE))
    complete = all(context.coverage[category].all for context in (before, after))
    changes, lost = item_changes(old, new, complete=complete)
    if counts is not None:
        changes = tuple([replace(c, tokens=_tokens(c, counts)) for c in changes])
    return CategoryReport(category, State.CHANGED if changes else State.SAME, coverage, None, changes, old, new, lost, tokens)


def _items(context: Context, category: Category) -> tuple[Item, ...]:
    return tuple([i for i in context.items if i.category is category])


def _tokens(change: Change, counts: Counts) -> Tokens:
    if change.kind is ChangeKind.MOVED:
        return Tokens()
    before: Known[int] = NOT_THERE if change.before is None else counts.item(change.before)
    after: Known[int] = NOT_THERE if change.after is None else counts.item(change.after)
    if change.before is None:
        return Tokens(before, after, after)
    if change.after is None and not isinstance(before, Unavailable):
        return Tokens(before, after, replace(before, value=-before.value))
    return difference(before, after)


def with_knock_ons(reports: Sequence[CategoryReport], known: Mapping[Key, str] = NO_KNOCK_ONS) -> tuple[CategoryReport, ...]:
    """Mark the changes that only follow from another one of the same comparison.

    One pair of requests tells of the helper tools that come and go with an MCP server, and of the sections of Pi's prompt that are
    written from the list of tools.

    Args:
        reports: The categories that have items.
        known: What the session's history knows besides (:meth:`History.follows`).
    """
    tools = next((r.changes for r in reports if r.category is Category.TOOLS), ())
    servers = {kind: _servers(c for c in tools if c.kind is kind) for kind in (ChangeKind.ADDED, ChangeKind.REMOVED)}
    others = any(c.kind in CAME_OR_WENT for c in tools)
    made: list[CategoryReport] = []
    for report in reports:
        changes = report.changes
        if report.category is Category.TOOLS:
            changes = tuple([_helper(c, servers.get(c.kind, ())) for c in changes])
        elif report.category is Category.SYSTEM and others:
            changes = tuple([_section(c) for c in changes])
        if known:
            changes = tuple([_known(c, known.get((report.category, c.k))) for c in changes])
        made.append(report if changes == report.changes else replace(report, changes=changes))
    return tuple(made)


def _servers(changes: Iterable[Change]) -> tuple[str, ...]:
    origins = [(c.after or c.before) for c in changes]
    named = [i.origin.name for i in origins if i is not None and i.origin is not None and i.origin.kind == "mcp" and i.origin.name]
    return tuple(dict.fromkeys(named))


def _helper(change: Change, servers: tuple[str, ...]) -> Change:
    # of several servers nobody can tell which one it came with
    return replace(change, follows=f"mcp:{servers[0]}") if change.k in MCP_HELPERS and len(servers) == 1 else change


def _section(change: Change) -> Change:
    item = change.after or change.before
    ours = item is not None and item.origin is not None and item.origin.kind == "harness"
    return replace(change, follows="tools") if ours and change.k in OF_TOOLS else change


def _known(change: Change, follows: str | None) -> Change:
    # an item's history is that of a content: where it stands is another matter
    return change if follows is None or change.kind is ChangeKind.MOVED else replace(change, follows=follows)
