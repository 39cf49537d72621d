"""Pi: session files in JSON Lines, a tree of entries each (Pi 1.6 and 0.7x, told by features)."""

from ctx_inspect.core.sources.pi.find import find, probe
from ctx_inspect.core.sources.pi.source import PiSource

__all__ = ["PiSource", "find", "probe"]
