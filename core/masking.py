"""Names taken out of a comparison: paths, tools, skills, servers, extensions, models, agents become ``file 1``, ``tool 2``.

Done once, on the report itself, so that no format can forget one. Numbers go by first appearance, the same in every format.
"""

from __future__ import annotations

import re

from ctx_inspect.core.cache.model import CacheVerdict, Prefix
from ctx_inspect.core.diff.report import CategoryReport, Change, ConversationReport, Report, Side
from ctx_inspect.core.model import Category, Item, Known, Mark, MarkKind, Origin, Raw, Unavailable, replace
from ctx_inspect.core.model.ledger import NO_MODEL
from ctx_inspect.core.phrases import reason_of

_NOUNS = {
    Category.INSTRUCTIONS: "file",
    Category.SKILLS: "skill",
    Category.TOOLS: "tool",
    Category.SYSTEM: "section",
}
_VALUES = {"model": "model", "provider": "provider", "agent": "agent"}
"""Settings whose values are names."""

_LEVELS = frozenset({"off", "none", "minimal", "low", "medium", "high", "xhigh", "max", "on", "auto"})
"""Values of other settings that name nothing of the person's."""

_DETAILS = {MarkKind.MODEL: "model", MarkKind.AGENT: "agent", MarkKind.LABEL: "label"}
_BLOCK = re.compile(r"block:\d{1,9}")


class _Mask:
    def __init__(self) -> None:
        self._given: dict[tuple[str, Raw], Raw] = {}
        self._last: dict[str, int] = {}
        self._keys: dict[Raw, Raw] = {}

    def name(self, noun: str, raw: Raw) -> Raw:
        """Return what stands for a name."""
        key = (noun, raw)
        if key not in self._given:
            self._last[noun] = n = self._last.get(noun, 0) + 1
            self._given[key] = Raw(f"{noun} {n}")
        return self._given[key]

    def key(self, category: Category, k: Raw) -> Raw:
        """Return what stands for an item's key."""
        if category is Category.SETTINGS or _BLOCK.fullmatch(k):
            return k if k in _VALUES or _BLOCK.fullmatch(k) or k == "thinking" else self.name("setting", k)
        given = self.name(_NOUNS.get(category, "item"), k)
        self._keys.setdefault(k, given)
        return given

    def any_key(self, k: Raw | None) -> Raw | None:
        """Return what stands for an item's key, in whatever category the item was met."""
        if k is None or _BLOCK.fullmatch(k):
            return k
        return self._keys.get(k) or self.name("item", k)

    def item(self, item: Item | None) -> Item | None:
        """Return an item without names."""
        return None if item is None else self.masked(item)

    def masked(self, item: Item) -> Item:
        shown = item.shown
        if shown is not None and not (item.k not in _VALUES and shown in _LEVELS):
            shown = self.name(_VALUES.get(item.k, "value"), shown)
        return replace(item, fp="", k=self.key(item.category, item.k), shown=shown, origin=self.origin(item.origin), ref=None)

    def origin(self, origin: Origin | None) -> Origin | None:
        if origin is None:
            return None
        noun = "server" if origin.kind == "mcp" else "extension"
        path = None if origin.path is None else self.name("file", origin.path)
        return Origin(origin.kind, path, None if origin.name is None else self.name(noun, origin.name))

    def change(self, category: Category, change: Change) -> Change:
        follows = change.follows
        if follows is not None and ":" in follows:
            kind, _, of = follows.partition(":")
            follows = f"{kind}:{self.name('server', Raw(of))}"
        return replace(
            change,
            k=self.key(category, change.k),
            before=self.item(change.before),
            after=self.item(change.after),
            from_k=None if change.from_k is None else self.key(category, change.from_k),
            moved=tuple(self.key(category, k) for k in change.moved),
            follows=follows,
        )

    def category(self, part: CategoryReport) -> CategoryReport:
        return replace(
            part,
            # what is told gets the first numbers
            changes=tuple(self.change(part.category, c) for c in part.changes),
            lost=tuple(map(self.masked, part.lost)),
            before=tuple(map(self.masked, part.before)),
            after=tuple(map(self.masked, part.after)),
        )

    def mark(self, mark: Mark) -> Mark:
        noun = _DETAILS.get(mark.kind)
        detail = None if mark.detail is None or noun is None else self.name(noun, mark.detail)
        return replace(mark, detail=detail, reason=mark.reason if reason_of(mark.reason) is not None else None)

    def talk(self, talk: ConversationReport) -> ConversationReport:
        return replace(talk, causes=tuple(c if c.mark is None else replace(c, mark=self.mark(c.mark)) for c in talk.causes))

    def cache(self, verdict: CacheVerdict) -> CacheVerdict:
        cause, prefix = verdict.cause, verdict.prefix
        if cause is not None:
            cause = replace(cause, item=self.any_key(cause.item))
        return replace(verdict, cause=cause, prefix=prefix if isinstance(prefix, Unavailable) else self.prefix(prefix))

    def prefix(self, known: Known[Prefix]) -> Known[Prefix]:
        if isinstance(known, Unavailable):
            return known
        found = known.value
        return replace(known, value=replace(found, item=self.any_key(found.item)))


def _side(side: Side | None) -> Side | None:
    if side is None or side.request is None:
        return side
    return replace(side, request=replace(side.request, agent=None, model=NO_MODEL, tools=(), context=None, children=(), ref=None))


def masked(report: Report) -> Report:
    """Return a comparison without names: of files, tools, skills, servers, extensions, models, providers, agents and the project.

    Ids of the session and of its messages stay: they name nothing outside the store.
    """
    mask = _Mask()
    categories = tuple(mask.category(c) for c in report.categories)
    after = _side(report.after)
    assert after is not None
    return replace(
        report,
        project=None if report.project is None else Raw("project"),
        before=_side(report.before),
        after=after,
        categories=categories,
        conversation=mask.talk(report.conversation),
        between=tuple(map(mask.mark, report.between)),
        cache=mask.cache(report.cache),
    )
