"""Compactions of a session: which one it is, what it saved, and whether they come in a loop."""

from __future__ import annotations

from ctx_inspect.core.diff.baseline import Order
from ctx_inspect.core.diff.report import Compacted
from ctx_inspect.core.model import Ledger, Mark


class Compactions:
    """The succeeded compactions of a session, in order."""

    def __init__(self, ledger: Ledger, order: Order | None = None) -> None:
        """Find them."""

    def of(self, mark: Mark) -> Compacted | None:
        """Return what a compaction did, its messages not counted yet; ``None`` for one that did not succeed."""
        raise NotImplementedError
