"""Watching: what is new in a store, told within 100 ms, at next to no cost while nothing happens.

:class:`Live` starts one thread per source. That thread makes every read of its source (``sessions``, ``open``,
``text``), so one thread owns a store, and posts a frozen :class:`LiveEvent` when something is new.
"""

from ctx_inspect.core.live.events import LiveEvent
from ctx_inspect.core.live.reader import SourceThread
from ctx_inspect.core.live.watch import Live

__all__ = ["Live", "LiveEvent", "SourceThread"]
