"""The Text tab's controller: texts are here only while they are asked for, and gone when the pane is left."""

from __future__ import annotations

from collections.abc import Mapping

from ctx_inspect.app.snapshot import Snapshot
from ctx_inspect.core.model import Ref
from ctx_inspect.core.timeline import TurnRow
from ctx_inspect.core.views.sheet import Sheet
from ctx_inspect.core.views.text import Found, pieces_of, text_sheet


class TextTab:
    """Keeps the texts that are on the screen.

    Attributes:
        uncovered: Keys are shown too.
        asked: How often texts were asked for.
    """

    def __init__(self) -> None:
        """Make an empty tab."""
        self._revealed: dict[Ref, Found] | None = None
        self._waiting = self._stale = False
        self.uncovered = False
        self.asked = 0

    @property
    def revealed(self) -> bool:
        """Whether texts are on the screen."""
        return self._revealed is not None

    @property
    def covers(self) -> bool:
        """Whether a text holds a key that is still covered."""
        return self._revealed is not None and not self.uncovered and any(t.keys for t in self._revealed.values())

    def sheet(self, snapshot: Snapshot, row: TurnRow, *, hidden: bool = False) -> Sheet:
        """Return the tab; ``hidden``: without any text."""
        texts = None if hidden else self._revealed
        return text_sheet(pieces_of(snapshot.ledger, row.turn), texts, self._waiting, self.uncovered)

    def ask(self, snapshot: Snapshot, row: TurnRow) -> tuple[Ref, ...]:
        """Begin to wait for the turn's texts, those that are shown stay until then; return where they lie."""
        self._revealed, self._waiting, self._stale = self._revealed or {}, True, False
        self.asked += 1
        return tuple(p.ref for p in pieces_of(snapshot.ledger, row.turn) if p.ref is not None and p.who != "media")

    @property
    def stale(self) -> bool:
        """Whether all of it has come and the store has another state since: it is to be read again."""
        return self._stale and not self._waiting

    def outdate(self) -> None:
        """Say that the store has another state: it may say otherwise, or say again what was gone."""
        self._stale = self._revealed is not None

    def wants(self, asked: int) -> bool:
        """Tell whether the texts of a wish are still wanted."""
        return self._revealed is not None and asked == self.asked

    def take(self, texts: Mapping[Ref, Found], done: bool) -> bool:
        """Take texts that were read; they are dropped where they are not wanted any more, which is returned."""
        if self._revealed is None:
            return False
        self._revealed = {**self._revealed, **texts}
        self._waiting = not done
        return True

    def forget(self) -> None:
        """Forget all texts."""
        self._revealed, self._waiting, self._stale, self.uncovered = None, False, False, False
