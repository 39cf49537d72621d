"""Names and titles from outside, as views show them: without what looks like a key, and harmless."""

from __future__ import annotations

from functools import lru_cache

from ctx_inspect.core.model.evidence import Raw, Shown
from ctx_inspect.core.text.redact import redact
from ctx_inspect.core.text.show import terminal


@lru_cache(maxsize=8192)
def named(raw: Raw, limit: int = 120) -> Shown:
    """Return a name or title in one line.

    Args:
        raw: From outside.
        limit: At most so many characters; a key is looked for before it is cut.
    """
    return terminal(redact(raw), limit)
