"""The sizes of a long message list, kept so that a list which grew by a little is weighed by that little.

A session's newest list may have two hundred thousand messages, and each append makes another list.
"""

from __future__ import annotations

from array import array
from collections import Counter

from ctx_inspect.core.model import Chain, PartKind

MEDIA = PartKind.MEDIA  # looked up once: an enumeration's members cost a search each

UNKNOWN = -1
"""Stands for a size that is not recorded."""


class Weights:
    """The parts of one message list by size.

    Attributes:
        chain: The list.
        sizes: UTF-8 bytes of each part that is no media, in order; -1 where not recorded.
        ends: For each message, how many of ``sizes`` lie before its end.
        media: Of each media part its message's place and its bytes; -1 where not recorded.
        sums: For each message, the recorded bytes of ``sizes`` before its end.
        unknown: For each message, how many of ``sizes`` before its end are not recorded.
    """

    __slots__ = ("chain", "ends", "media", "sizes", "sums", "unknown")

    def __init__(
        self, chain: Chain, sizes: array[int], ends: array[int], media: list[tuple[int, int]], sums: array[int], unknown: array[int]
    ) -> None:
        """Hold what was weighed."""
        self.chain, self.sizes, self.ends, self.media, self.sums, self.unknown = chain, sizes, ends, media, sums, unknown

    def total(self) -> int | None:
        """Return the bytes of all parts, or ``None`` where a size is not known or there are media."""
        if not self.sums:
            return 0
        return None if self.media or self.unknown[-1] else self.sums[-1]

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
            sums, unknown = array("q"), array("q")
        else:
            known = last.ends[same - 1] if same else 0
            sizes, ends, media = last.sizes[:known], last.ends[:same], [m for m in last.media if m[0] < same]
            sums, unknown = last.sums[:same], last.unknown[:same]
        total, missing = (sums[-1], unknown[-1]) if sums else (0, 0)
        for place, message in enumerate(chain.since(same), start=same):
            for part in message.parts:
                size = part.size
                if part.kind is MEDIA:
                    media.append((place, UNKNOWN if size is None else size))
                elif size is None:
                    sizes.append(UNKNOWN)
                    missing += 1
                else:
                    sizes.append(size)
                    total += size
            ends.append(len(sizes))
            sums.append(total)
            unknown.append(missing)
        weights = Weights(chain, sizes, ends, media, sums, unknown)
        if last is None or chain.length >= last.chain.length or same < chain.length:
            self._last = weights
        return weights
