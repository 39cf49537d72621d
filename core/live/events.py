"""What watching tells."""

from __future__ import annotations

from ctx_inspect.core.model import Problem
from ctx_inspect.core.sources.base import Source
from msgspec import Struct


class LiveEvent(Struct, frozen=True):
    """News of one source. Several changes in a short time are one event.

    Attributes:
        source: Where.
        ids: Session ids with news; ``None`` = cannot tell, look at all.
        listing: Whether the list of sessions changed.
        gone: The store vanished. Sent once; what was read of it stays valid. Watching goes on.
        error: The store cannot be read at the moment. Sent once per kind of problem. Watching goes on.
        back: It was gone or unreadable and can be read again; ``ids`` is ``None`` then.
        new: The source itself was found after the start; ``ids`` is ``None`` then.
    """

    source: Source
    ids: frozenset[str] | None = frozenset()
    listing: bool = False
    gone: bool = False
    error: Problem | None = None
    back: bool = False
    new: bool = False
