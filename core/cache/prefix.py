"""How much of a request stands as it stood in the one before, and what differs first."""

from __future__ import annotations

from ctx_inspect.core.cache.model import Prefix
from ctx_inspect.core.model import Context, Known
from ctx_inspect.core.text.tokens import BytesCounter
from ctx_inspect.core.weights import Scale

ORDER = "tools, system, messages"
"""The order in which providers are taken to read a request."""


def prefix(before: Context | None, after: Context | None, counter: BytesCounter | None = None, scale: Scale | None = None) -> Known[Prefix]:
    """Return the part in front that both requests have.

    Args:
        before: What the request before carried.
        after: What this one carried.
        counter: Counts tokens by size.
        scale: Weighs message lists; one that weighed this session's lists before does it faster.

    Returns:
        Unavailable where what stands in front of the conversation is not recorded on both sides.
    """
    raise NotImplementedError
