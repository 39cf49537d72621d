"""What changed in a turn in few cells: a sign for each category, and the cache. All signs are explained by the help."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ctx_inspect.core.cache.model import Cache
from ctx_inspect.core.diff.report import ChangeKind, State
from ctx_inspect.core.model import Shown
from ctx_inspect.core.phrases import (
    CACHE_SIGNS,
    CHANGE_SIGNS,
    CHANGE_TONES,
    FLAG_SIGN,
    NO_BASELINE,
    NOT_KNOWN,
    REWRITTEN,
    SAME,
    SEVERAL,
)
from ctx_inspect.core.text.show import joined, numeral, own
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.sheet import NOTHING, Span, Tone
from msgspec import Struct

if TYPE_CHECKING:  # the first frame need not wait for the engine
    from ctx_inspect.core.cache.figures import Figures
    from ctx_inspect.core.diff.drift import TurnDrift

LETTERS = own("iktsyc")
"""Heads the signs: instructions, skills, tools, settings, system, conversation."""

CACHE_TONES: Mapping[Cache, Tone] = {
    Cache.KEPT: Tone.CONVERSATION,
    Cache.PARTIAL: Tone.WARN,
    Cache.LOST: Tone.ALERT,
    Cache.COLD: Tone.DIM,
    Cache.NOT_CACHEABLE: Tone.DIM,
    Cache.NOT_REPORTED: Tone.DIM,
}

BROKEN = frozenset({Cache.LOST, Cache.PARTIAL})
"""Verdicts that are a break."""

CHANGED = frozenset({State.CHANGED, State.REWRITTEN})
"""States that are a change; growth is the ordinary case."""


class Told(Struct, frozen=True):
    """What is told of each turn beside its figures, as far as it is ready.

    Attributes:
        drift: Of turn n at ``n - 1``.
        cache: Of turn n's worst step at ``n - 1``; ``None`` where no model was called.
        step: Returns what the figures of a step say, by the request's id; ``None`` = nothing.
        named: Returns which items changed in a turn, in few words; ``None`` = none did.
    """

    drift: Sequence[TurnDrift] = ()
    cache: Sequence[Figures | None] = ()
    step: Callable[[str], Figures | None] = lambda _id: None
    named: Callable[[int], Shown | None] = lambda _n: None

    def changed(self, n: int) -> bool:
        """Tell whether anything but growth happened in a turn."""
        return 0 < n <= len(self.drift) and not CHANGED.isdisjoint(self.drift[n - 1].states)

    def broken(self, n: int) -> bool:
        """Tell whether the cache was lost in a turn, wholly or in part."""
        found = self.cache[n - 1] if 0 < n <= len(self.cache) else None
        return found is not None and found.verdict in BROKEN

    def near(self, n: int, by: int, wanted: Callable[[int], bool]) -> int | None:
        """Return the next turn that is wanted.

        Args:
            n: From this turn, which is not taken.
            by: 1 = later ones, -1 = earlier ones.
            wanted: :meth:`changed` or :meth:`broken`.
        """
        last = max(len(self.drift), len(self.cache))
        return next((i for i in range(n + by, last + 1 if by > 0 else 0, by) if wanted(i)), None)


NOT_TOLD = Told()


def drift_spans(turn: TurnDrift) -> tuple[Span, ...]:
    """Return a sign for each category of a turn."""
    return tuple([drift_span(turn, place) for place in range(len(turn.states))])


def drift_span(turn: TurnDrift, place: int) -> Span:
    """Return the sign of one category, by its place among the six."""
    match turn.states[place]:
        case State.CHANGED:
            return changed_span(turn.kinds[place], volatile=turn.volatile[place])
        case State.REWRITTEN:
            return Span(REWRITTEN, Tone.ALERT)
        case State.UNAVAILABLE:
            return Span(NOT_KNOWN, Tone.DIM)
        case State.SAME if turn.lost[place]:
            return Span(NOT_KNOWN, Tone.DIM)
        case State.NO_BASELINE:
            return Span(NO_BASELINE, Tone.DIM)
        case _:
            return Span(SAME, Tone.DIM)


def changed_span(kinds: frozenset[ChangeKind], *, volatile: bool = False) -> Span:
    """Return the sign of a category in which items changed."""
    if volatile:
        return Span(FLAG_SIGN, Tone.MODIFIED)
    if len(kinds) == 1:
        kind = next(iter(kinds))
        return Span(CHANGE_SIGNS[kind], CHANGE_TONES[kind])
    return Span(SEVERAL, Tone.MODIFIED)


def cache_span(found: Figures | None) -> Span:
    """Return the sign of a cache verdict; nothing where no model was called."""
    if found is None:
        return Span(NOTHING)
    return Span(CACHE_SIGNS[found.verdict], CACHE_TONES[found.verdict])


def cache_share(found: Figures | None) -> Span:
    """Return how much of what could be read was; ``—`` where it cannot be said."""
    if found is None:
        return Span(NOTHING)
    if found.r is None:
        return Span(NONE, Tone.DIM)
    return Span(share_of(found.r), Tone.DIM, italic=found.evidence == "estimated")


def share_of(r: float) -> Shown:
    """Return a share: ``97%``; never 100 for less than all, nor 0 for more than none."""
    n = round(100 * r)
    n = 99 if n >= 100 and r < 1 else 1 if n <= 0 and r > 0 else n
    return joined(numeral(n), "%")
