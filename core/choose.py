"""Which sessions there are when several stores hold them, and which one is meant when nobody names it. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeVar

from ctx_inspect.core.model import SessionInfo

S = TypeVar("S")

LEFT_BEHIND = frozenset({"opencode-json"})
"""Formats whose sessions were moved into another store, and stayed where they were."""


def merged(stores: Iterable[tuple[S, Iterable[SessionInfo]]]) -> dict[str, tuple[S, SessionInfo]]:
    """Return all sessions by key, each once.

    Where several stores hold a session, files that were left behind when it moved to a database do not count; of copies of
    a store the one that went on does, and of equals the first.

    Args:
        stores: Each store and what it lists.
    """
    best: dict[str, tuple[S, SessionInfo]] = {}
    for store, sessions in stores:
        for info in sessions:
            known = best.get(info.key)
            if known is None or _rank(info) > _rank(known[1]):
                best[info.key] = store, info
    return best


def _rank(info: SessionInfo) -> tuple[bool, int]:
    return info.format not in LEFT_BEHIND, info.updated or 0


def project_key(info: SessionInfo) -> str:
    """Return what groups sessions: the project's path in NFC; paths are shown as recorded."""
    return unicodedata.normalize("NFC", info.project or info.directory or "")


def pick(sessions: Sequence[SessionInfo], here: str | None) -> SessionInfo | None:
    """Return the session that is meant where none is named: the newest of a project, else the newest of all.

    Subagents and hidden helpers are never picked while there is another.

    Args:
        sessions: All of them.
        here: The project's path; ``None`` = any.
    """
    grown = [s for s in sessions if s.parent is None and s.helper is None] or list(sessions)
    wanted = unicodedata.normalize("NFC", here) if here else None
    mine = [s for s in grown if wanted is not None and project_key(s) == wanted]
    return max(mine or grown, key=lambda s: s.updated or 0, default=None)
