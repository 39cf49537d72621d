"""Context limits as the harness or user states them, before they are ranked."""

from __future__ import annotations

from ctx_inspect.core.model.evidence import Known
from msgspec import Struct


class LimitClaim(Struct, frozen=True):
    """One statement of a model's limit.

    Attributes:
        tokens: The limit, and how it is known.
        kind: ``context`` (input and output share it) or ``usable`` (what is left for input).
        source: Who says so, in our words: ``overflow``, ``request``, ``opencode.json``, ``models.json``, ``catalogue``, ``[limits]``.
        rank: 0 counts first (who knows better: an overflow, the request itself, a plugin, the harness, the user).
    """

    tokens: Known[int]
    kind: str
    source: str
    rank: int


BELIEVED = range(20_000, 3_000_001)
"""Limits outside are not believed: real files hold 0, 6,748 and 10⁹ (docs/field-reports.md, 23)."""

RANK_OVERFLOW, RANK_REQUEST, RANK_MAGIC_CONTEXT, RANK_HARNESS, RANK_USER = range(5)


class Window(Struct, frozen=True):
    """How a harness treats the window of one model.

    Attributes:
        claims: All statements of its limit.
        threshold: Tokens at which the harness compacts by itself, by its own rule over its own limit; unavailable where it does not or the limit is unknown.
        rule: That rule in words (``context − 16,384 reserved``).
    """

    claims: tuple[LimitClaim, ...]
    threshold: Known[int]
    rule: str | None = None
