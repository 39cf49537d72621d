"""The Budget tab's controller: which count of the turn's window is at hand, and what else is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.snapshot import Snapshot, count_by, last_request
from ctx_inspect.core.budget import request_window
from ctx_inspect.core.model import Category, Request
from ctx_inspect.core.shares import Shares, shares
from ctx_inspect.core.timeline import TurnRow
from ctx_inspect.core.views.budget import BudgetView

AT_ONCE = 5_000
"""Messages that are counted between two frames; longer lists are counted in a thread."""


class BudgetTab:
    """Keeps what was counted of the turn on screen.

    Attributes:
        opened: Categories whose items are all shown.
        counting: Id of the request that is counted in a thread.
        exact: The request that was counted last by a vocabulary.
        shown: The request that the tab shows.
    """

    def __init__(self, uncounted: Callable[[str, Callable[[], Shares]], object], countable: Callable[[Request], object]) -> None:
        """Make an empty tab.

        Args:
            uncounted: Told of a message list that is too long to be counted between two frames, and of what counts it.
            countable: Told of a request that could be counted by a vocabulary.
        """
        self._uncounted, self._countable = uncounted, countable
        self._counted: dict[str, Shares] = {}
        self.opened: frozenset[Category] = frozenset()
        self.counting: str | None = None
        self.exact: Exact | None = None
        self.shown: Request | None = None

    def clear(self) -> None:
        """Forget what was counted: it is of another reading of the session."""
        self._counted = {}

    def take(self, id_: str, parts: Shares) -> None:
        """Take what was counted in a thread."""
        self._counted, self.counting = {id_: parts}, None

    def view(self, snapshot: Snapshot, row: TurnRow, ascii_only: bool) -> BudgetView:
        """Return what the tab shows; what is missing is asked for."""
        request = last_request(row)
        count = count_by(snapshot.counter)
        context = request.context if request is not None else None
        parts, counter = None, snapshot.counter.name
        exact = self.exact if self.exact is not None and self.exact.request is request else None
        if exact is None and context is not None and request is not None and request is not self.shown:
            self._countable(request)
        self.shown = request
        if exact is not None:
            parts, counter, count = exact.shares, exact.counter, exact.count
        elif request is not None and context is not None:
            parts = snapshot.shares if request.id == snapshot.newest else self._counted.get(request.id)
            if parts is None:
                make = partial(shares, context, request_window(request), count, snapshot.counter.name)
                if len(context.messages) > AT_ONCE:
                    if self.counting != request.id:
                        self.counting = request.id
                        self._uncounted(request.id, make)
                else:
                    parts = make()
        return BudgetView(
            snapshot.timeline,
            row,
            context,
            parts,
            count,
            counter,
            snapshot.sent,
            ascii_only=ascii_only,
            opened=self.opened,
            counting=parts is None and self.counting is not None,
            live=snapshot.view.live,
            directory=snapshot.ledger.info.directory,
            home=os.path.expanduser("~"),
            rate=snapshot.rate,
        )
