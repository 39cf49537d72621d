"""Pi: session files in JSON Lines, a tree of entries each (Pi 1.6 and 0.7x, told by features)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctx_inspect.core.sources.pi.find import find, probe

if TYPE_CHECKING:
    from ctx_inspect.core.sources.pi.source import PiSource

__all__ = ["PiSource", "find", "probe"]


def __getattr__(name: str) -> object:
    """Import the source when it is asked for: where no store of this kind is found it is not needed."""
    if name != "PiSource":
        raise AttributeError(name)
    from ctx_inspect.core.sources.pi.source import PiSource

    return PiSource
