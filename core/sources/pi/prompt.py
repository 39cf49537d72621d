"""The system prompt and tools along a branch: which of the recorded system messages count."""

from __future__ import annotations

from ctx_inspect.core.sources.pi.classes import Row
from ctx_inspect.core.sources.pi.entries import Entry
from ctx_inspect.core.sources.pi.system import NO_SYSTEM, SystemState

PROMPTS = frozenset({Row.SYSTEM, Row.COMPACTION, Row.EDIT})
"""Rows that change what the system prompt is."""


class Prompt:
    """Folds system messages along a path: a compaction starts over with its own, an edit can take one out."""

    def __init__(self, session: str) -> None:
        """Start at the root."""
        self._session = session
        self.state: SystemState = NO_SYSTEM
        self._sources: list[Entry] = []  # what the state was folded from

    def copy(self) -> Prompt:
        """Return one that goes on from here on its own."""
        other = Prompt(self._session)
        other.state, other._sources = self.state, list(self._sources)
        return other

    def feed(self, entry: Entry) -> None:
        """Go on by one entry."""
        row = entry.row
        if row is Row.SYSTEM:
            self._sources.append(entry)
            self._apply(entry)
        elif row is Row.COMPACTION:
            self._sources, self.state = [entry], NO_SYSTEM
            self._apply(entry)
        elif row is Row.EDIT and any(source.id == entry.target for source in self._sources):
            self._sources = [source for source in self._sources if source.id != entry.target or not entry.out]
            self.state = NO_SYSTEM
            for source in self._sources:
                self._apply(source)

    def _apply(self, entry: Entry) -> None:
        if entry.system is not None:
            self.state = self.state.apply(entry.system, self._session, entry.id)
