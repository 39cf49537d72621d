"""OpenCode's database, generation 1 (``session``, ``message``, ``part``), and the JSON files before it."""

from ctx_inspect.core.sources.opencode.places import find, probe
from ctx_inspect.core.sources.opencode.source import OpenCodeSource

__all__ = ["OpenCodeSource", "find", "probe"]
