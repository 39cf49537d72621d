"""OpenCode's database, generation 1 (``session``, ``message``, ``part``), and the JSON files before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctx_inspect.core.sources.opencode.places import find, probe

if TYPE_CHECKING:
    from ctx_inspect.core.sources.opencode.source import OpenCodeSource

__all__ = ["OpenCodeSource", "find", "probe"]


def __getattr__(name: str) -> object:
    """Import the source when it is asked for: where no store of this kind is found it is not needed."""
    if name != "OpenCodeSource":
        raise AttributeError(name)
    from ctx_inspect.core.sources.opencode.source import OpenCodeSource

    return OpenCodeSource
