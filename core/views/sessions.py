"""The list of sessions: by project, newest first, subagents under their session, forks named."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from ctx_inspect.core.choose import project_key
from ctx_inspect.core.model import Estimated, Raw, SessionInfo, Shown, Unavailable
from ctx_inspect.core.text.redact import redact
from ctx_inspect.core.text.show import joined, own, said
from ctx_inspect.core.views.figures import age
from ctx_inspect.core.views.glyphs import BRANCH, GONE, LAST_BRANCH, LIVE
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone
from msgspec import Struct

TITLE_LIMIT = 200
UNTITLED = own("(no title)")

ID_TAIL = 6
"""Characters of an id that tell sessions of one title apart: ids begin with their time, which forks share."""


class SessionKey(Struct, frozen=True):
    """Names a session's line."""

    key: str


class SessionsView(Struct, frozen=True):
    """What the list shows.

    Attributes:
        sessions: All that were found, newest first.
        now: Epoch milliseconds, for ages.
        here: Project of the current directory; it comes first.
        filter: Words that must occur in title, project, harness or agent.
        current: Key of the session on screen.
        gone: Keys of sessions whose store vanished.
    """

    sessions: tuple[SessionInfo, ...]
    now: int
    here: str | None = None
    filter: str = ""
    current: str | None = None
    gone: frozenset[str] = frozenset()


def title_of(info: SessionInfo) -> Shown:
    """Return a session's title, made harmless; a session without one is named by its agent or start."""
    if info.title and info.title.strip():
        return named(info.title, TITLE_LIMIT)
    return named(info.agent, 40) if info.agent else UNTITLED


def project_name(info: SessionInfo) -> Shown:
    """Return the last part of the project's path; Windows paths are paths."""
    path = info.project or info.directory
    if not path:
        return own("(no directory)")
    whole = redact(path)  # before it is taken apart: a part of a key has no shape
    name = whole.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    return named(Raw(name or whole), 60)


def matches(info: SessionInfo, words: Iterable[str]) -> bool:
    """Tell whether every word occurs in what the list shows of a session."""
    text = f"{info.title or ''} {info.project or info.directory or ''} {info.harness} {info.agent or ''} {info.id}".casefold()
    return all(w in text for w in words)


def sessions_sheet(view: SessionsView) -> Sheet:
    """Return the list as a sheet of (title, age)."""
    words = view.filter.casefold().split()
    chosen = [s for s in view.sessions if matches(s, words)]
    keys = {s.key for s in chosen}
    by_key = {s.key: s for s in view.sessions}
    if words:
        # a subagent that matches is shown under its session, so that one sees where it belongs
        for info in list(chosen):
            parent = by_key.get(info.parent or "")
            while parent is not None and parent.key not in keys:
                chosen.append(parent)
                keys.add(parent.key)
                parent = by_key.get(parent.parent or "")
    children: dict[str, list[SessionInfo]] = {}
    groups: dict[str, list[SessionInfo]] = {}
    for info in sorted(chosen, key=lambda s: s.updated or 0, reverse=True):
        if info.parent in keys and info.parent != info.key and not _loops(info, by_key):
            children.setdefault(info.parent or "", []).append(info)
        else:
            groups.setdefault(project_key(info), []).append(info)
    rows: list[Row] = []
    here = unicodedata.normalize("NFC", view.here) if view.here else None
    for project in sorted(groups, key=lambda p: (p != here, -max(_newest(s, children) for s in groups[p]))):
        if rows:
            rows.append(Row(kind=RowKind.BLANK))
        members = groups[project]
        titles = Counter(title_of(s) for s in members)
        twins = frozenset(t for t, times in titles.items() if times > 1)
        harnesses = sorted({s.harness for s in members})
        heading = (Span(project_name(members[0]), strong=True), Span(said(" " + " ".join(harnesses)), Tone.DIM))
        rows.append(Row((Cell(heading), Cell()), RowKind.HEAD))
        for info in members:
            _add(rows, info, children, view, by_key, (), twins)
    if not rows:
        rows.append(Row((Cell((Span(own("no session matches" if words else "no sessions"), Tone.DIM),)),), RowKind.NOTE))
    return Sheet((Column(NOTHING, 0), Column(NOTHING, 3, right=True)), tuple(rows))


def _loops(info: SessionInfo, by_key: dict[str, SessionInfo]) -> bool:
    seen = {info.key}
    parent = by_key.get(info.parent or "")
    while parent is not None:
        if parent.key in seen:
            return True
        seen.add(parent.key)
        parent = by_key.get(parent.parent or "")
    return False


def _newest(info: SessionInfo, children: dict[str, list[SessionInfo]]) -> int:
    return max([info.updated or 0, *(c.updated or 0 for c in children.get(info.key, ()))])


def _add(
    rows: list[Row],
    info: SessionInfo,
    children: dict[str, list[SessionInfo]],
    view: SessionsView,
    by_key: dict[str, SessionInfo],
    stem: tuple[Shown, ...],
    twins: frozenset[Shown],
) -> None:
    sign = Span(LIVE, Tone.ADDED) if info.live else Span(GONE, Tone.DIM) if info.key in view.gone else Span(own(" "))
    spans: list[Span] = [Span(own(" ")), sign, Span(own(" "))]
    if stem:
        spans.append(Span(joined(*stem, " "), Tone.DIM))
    spans.append(Span(title_of(info), Tone.DIM if info.helper else Tone.TEXT, strong=info.key == view.current))
    if title_of(info) in twins:
        spans.append(Span(joined("  …", named(Raw(info.id[-ID_TAIL:]))), Tone.DIM))
    if info.parent is not None:
        spans.append(Span(own("  sub"), Tone.DIM))
    if info.helper is not None:
        spans.append(Span(own("  helper"), Tone.DIM))
    if not isinstance(info.forked_from, Unavailable):
        guessed = isinstance(info.forked_from, Estimated)
        origin = by_key.get(info.forked_from.value)
        named_so = "fork" in title_of(info).casefold()  # OpenCode says it in the title already
        of = joined(" of ", title_of(origin)) if origin is not None and origin.title != info.title else own("")
        spans.append(Span(joined("  ", "≈" if guessed else "", "" if named_so and not of else "fork", of), Tone.DIM, italic=guessed))
    when = Span(age(view.now - info.updated), Tone.DIM) if info.updated is not None else Span(own("—"), Tone.DIM)
    rows.append(Row((Cell(tuple(spans)), Cell((when,), right=True)), key=SessionKey(info.key)))
    under = children.get(info.key, [])
    deeper = tuple(own("│") if sign == BRANCH else own(" ") if sign == LAST_BRANCH else sign for sign in stem)
    for i, child in enumerate(under):
        _add(rows, child, children, view, by_key, (*deeper, LAST_BRANCH if i == len(under) - 1 else BRANCH), twins)
