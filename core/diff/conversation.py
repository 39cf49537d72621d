"""What a message list did between two requests, and why, where that is recorded or can be recognised."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.diff.report import Compacted, ConversationReport
from ctx_inspect.core.model import Context, Mark, Model
from ctx_inspect.core.model.ledger import NO_MODEL


def conversation_report(
    before: Context,
    after: Context,
    between: Sequence[Mark],
    *,
    models: tuple[Model, Model] = (NO_MODEL, NO_MODEL),
    steps: int = 0,
    compaction: Compacted | None = None,
) -> ConversationReport:
    """Compare two message lists.

    Args:
        before: What the older request carried.
        after: What the newer one carried.
        between: The events recorded between the two, in order.
        models: The models of the two requests.
        steps: Primary requests sent from the older one (included) to the newer one (not included).
        compaction: The newest succeeded compaction between the two (:mod:`.compactions`), its messages not counted yet.
    """
    raise NotImplementedError
