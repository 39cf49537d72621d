"""The sizes of a long message list, kept so that a list which grew by a little is weighed by that little.

A session's newest list may have two hundred thousand messages, and each append makes another list.
"""

from __future__ import annotations

from array import array
from collections import Counter

from ctx_inspect.core.model import Chain, PartKind

UNKNOWN = -1
"""Stands for a size that is not recorded."""


class Weights:
    """The parts of one message list by size.

    Attributes:
        chain: The list.
        sizes: UTF-8 bytes of each part that is no media, in order; -1 where not recorded.
        ends: For each message, how many of ``sizes`` lie before its end.
        media: Of each media part its message's place and its bytes; -1 where not recorded.
    """

    __slots__ = ("chain", "ends", "media", "sizes")

    def __init__(self, chain: Chain, sizes: array[int], ends: array[int], media: list[tuple[int, int]]) -> None:
        """Hold what was weighed."""
        self.chain, self.sizes, self.ends, self.media = chain, sizes, ends, media

    def total(self) -> int | None:
        """Return the bytes of all parts, or ``None`` where a size is not known or there are media."""
        return None if self.media or UNKNOWN in self.sizes else sum(self.sizes)

    def by_size(self) -> Counter[int]:
        """Return how many parts there are of each size."""
        return Counter(self.sizes)


class Scale:
    """Weighs message lists; remembers the last one. Belongs to one thread."""

    def __init__(self) -> None:
        """Start without having weighed any."""
        self._last: Weights | None = None

    def weigh(self, chain: Chain) -> Weights:
        """Return the weights of a list."""
        last = self._last
        same = chain.shared(last.chain) if last is not None else None
        if last is None or same is None:
            same, sizes, ends, media = 0, array("q"), array("q"), list[tuple[int, int]]()
        else:
            known = last.ends[same - 1] if same else 0
            sizes, ends, media = last.sizes[:known], last.ends[:same], [m for m in last.media if m[0] < same]
        for place, message in enumerate(chain.since(same), start=same):
            for part in message.parts:
                if part.kind is PartKind.MEDIA:
                    media.append((place, UNKNOWN if part.size is None else part.size))
                else:
                    sizes.append(UNKNOWN if part.size is None else part.size)
            ends.append(len(sizes))
        weights = Weights(chain, sizes, ends, media)
        if last is None or chain.length >= last.chain.length or same < chain.length:
            self._last = weights
        return weights
