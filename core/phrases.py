"""The signs and words of a comparison, the same in the pane, the text report, Markdown and the copy menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ctx_inspect.core.cache.model import Cache, CacheCode
from ctx_inspect.core.diff.report import CauseKind, Change, ChangeKind, Flag, NoBaseline
from ctx_inspect.core.model import Category, Estimated, Known, Raw, Shown, Unavailable
from ctx_inspect.core.text.show import joined, numeral, own
from ctx_inspect.core.views.figures import change as signed
from ctx_inspect.core.views.figures import whole
from ctx_inspect.core.views.glyphs import NONE
from ctx_inspect.core.views.sheet import Tone

Name: TypeAlias = Callable[[Raw], Shown]
"""Makes a name from outside harmless; by default it is redacted first (:func:`ctx_inspect.core.views.names.named`)."""

SAME, SEVERAL, REWRITTEN, NOT_KNOWN, NO_BASELINE = own("·"), own("±"), own("!"), own("?"), own("○")

CHANGE_SIGNS: Mapping[ChangeKind, Shown] = {
    ChangeKind.ADDED: own("+"),
    ChangeKind.REMOVED: own("-"),
    ChangeKind.MODIFIED: own("~"),
    ChangeKind.MOVED: own("⇄"),
    ChangeKind.RENAMED: own("→"),
}
CHANGE_TONES: Mapping[ChangeKind, Tone] = {
    ChangeKind.ADDED: Tone.ADDED,
    ChangeKind.REMOVED: Tone.REMOVED,
    ChangeKind.MODIFIED: Tone.MODIFIED,
    ChangeKind.MOVED: Tone.MOVED,
    ChangeKind.RENAMED: Tone.MOVED,
}
CHANGE_WORDS: Mapping[ChangeKind, Shown] = {
    ChangeKind.ADDED: own("added"),
    ChangeKind.REMOVED: own("removed"),
    ChangeKind.MODIFIED: own("modified"),
    ChangeKind.MOVED: own("moved"),
    ChangeKind.RENAMED: own("renamed"),
}
FLAG_SIGN = own("≋")
FLAG_WORDS: Mapping[Flag, Shown] = {Flag.VOLATILE: own("volatile"), Flag.FLAPPING: own("flapping")}
FLAG_SAID: Mapping[Flag, Shown] = {
    Flag.VOLATILE: own("differs in each turn at equal size"),
    Flag.FLAPPING: own("is again as it was before"),
}

ATTRIBUTION_LOST = own("attribution lost")
"""Of an item on one side only, where absence proves nothing."""

CACHE_SIGNS: Mapping[Cache, Shown] = {
    Cache.KEPT: own("●"),
    Cache.PARTIAL: own("◐"),
    Cache.LOST: own("○"),
    Cache.COLD: own("◌"),
    Cache.NOT_CACHEABLE: own("–"),
    Cache.NOT_REPORTED: own("–"),
}
CACHE_WORDS: Mapping[Cache, Shown] = {
    Cache.KEPT: own("kept"),
    Cache.PARTIAL: own("kept in part"),
    Cache.LOST: own("lost"),
    Cache.COLD: own("cold"),
    Cache.NOT_CACHEABLE: own("not cacheable"),
    Cache.NOT_REPORTED: own("not reported"),
}
"""After the word ``cache``."""

CACHE_CAUSES: Mapping[CacheCode, Shown] = {
    CacheCode.PROVIDER_REASON: own("by the provider's own word"),
    CacheCode.MODEL: own("the model changed"),
    CacheCode.PROVIDER: own("the provider changed"),
    CacheCode.COMPACTION: own("after the compaction"),
    CacheCode.REVERT: own("after the revert"),
    CacheCode.BRANCH: own("after the branch"),
    CacheCode.TRIM: own("after the trim"),
    CacheCode.EDIT: own("after the context edit"),
    CacheCode.PRUNE: own("after the prune"),
    CacheCode.SETTINGS: own("settings changed"),
    CacheCode.INSTRUCTIONS: own("an instruction file changed"),
    CacheCode.SKILLS: own("the skill list changed"),
    CacheCode.TOOL_CHANGED: own("a tool changed"),
    CacheCode.TOOLS_REORDERED: own("tools reordered"),
    CacheCode.TOOLS_ADDED_REMOVED: own("tools added or removed"),
    CacheCode.SYSTEM_CHANGED: own("the system text changed"),
    CacheCode.VOLATILE_BLOCK: own("a block differs in each turn"),
    CacheCode.FLAPPING: own("an item comes and goes"),
    CacheCode.BREAKPOINTS: own("the breakpoints moved"),
    CacheCode.HISTORY_REWRITTEN: own("the history changed"),
    CacheCode.IDLE: own("idle"),
    CacheCode.UNATTRIBUTED: own("cause not recorded"),
}
"""Why a cache was lost, where no item is named."""

BASELINE_WORDS: Mapping[NoBaseline, Shown] = {
    NoBaseline.FIRST_TURN: own("it is the first turn"),
    NoBaseline.FIRST_CAPTURE: own("it is the first turn that was captured"),
    NoBaseline.NOT_CAPTURED: own("the turn before was not captured"),
    NoBaseline.KEY_CHANGED: own("the key of the fingerprints changed"),
    NoBaseline.POINT_CHANGED: own("the capture point changed"),
    NoBaseline.MISSED: own("requests between the two were missed"),
    NoBaseline.EVICTED: own("the turn before is no longer kept"),
    NoBaseline.NOT_RECORDED: own("one of the two requests is not recorded"),
}

CAUSE_WORDS: Mapping[CauseKind, Shown] = {
    CauseKind.COMPACTION: own("compacted"),
    CauseKind.REVERT: own("reverted"),
    CauseKind.FORK: own("forked"),
    CauseKind.BRANCH: own("branched off"),
    CauseKind.TRIM: own("trimmed"),
    CauseKind.EDIT: own("context edited"),
    CauseKind.PRUNE: own("pruned"),
    CauseKind.MODEL_SWITCH: own("rewritten for another model"),
    CauseKind.REMINDER_MOVED: own("a reminder moved"),
    CauseKind.NOT_RECORDED: own("history rewritten"),
}

CATEGORY_WORDS: Mapping[Category, Shown] = {
    Category.INSTRUCTIONS: own("instructions"),
    Category.SKILLS: own("skills"),
    Category.TOOLS: own("tools"),
    Category.SETTINGS: own("settings"),
    Category.SYSTEM: own("system"),
    Category.CONVERSATION: own("conversation"),
}

POINT_WORDS: Mapping[str, Shown] = {"wire": own("wire"), "prepared": own("prepared"), "store": own("store")}

_REASONS: Mapping[str, Shown] = {
    "auto": own("auto"),
    "manual": own("manual"),
    "overflow": own("overflow"),
    "threshold": own("threshold"),
    "summarised": own("summarised"),
    "messages deleted": own("messages deleted"),
}


def reason_of(recorded: str | None) -> Shown | None:
    """Return the recorded reason of an event where it is one of the known words."""
    return None if recorded is None else _REASONS.get(recorded)


def nth(n: int) -> Shown:
    """Return ``1st``, ``2nd``, ``3rd``, ``11th``."""
    ends = {1: own("st"), 2: own("nd"), 3: own("rd")}
    return joined(numeral(n), own("th") if n % 100 in (11, 12, 13) else ends.get(n % 10, own("th")))


def full(n: int) -> Shown:
    """Return a change of tokens in full, with its sign: ``+1,240``, ``−62,900``, ``·`` for none."""
    return joined("+", whole(n)) if n > 0 else whole(n) if n else own("·")


def short(n: int) -> Shown:
    """Return a change of tokens in few cells: ``+1.2k``."""
    return signed(n)


def figure(value: Known[int], write: Callable[[int], Shown]) -> Shown:
    """Return a figure as its evidence has it: plain, ``≈`` where it is estimated, ``—`` where there is none."""
    if isinstance(value, Unavailable):
        return NONE
    return joined("≈" if isinstance(value, Estimated) else "", write(value.value))


def percent(r: float) -> Shown:
    """Return a share as a percentage: ``97 %``; never 100 for less than all, nor 0 for more than none."""
    n = round(100 * r)
    n = 99 if n >= 100 and r < 1 else 1 if n <= 0 and r > 0 else n
    return joined(numeral(n), " %")


def span_of_time(ms: int) -> Shown:
    """Return how long something lasted, in one unit: ``40 s``, ``12 min``, ``3 h``, ``5 d``."""
    seconds = max(0, ms) // 1000
    if seconds < 60:
        return joined(numeral(seconds), " s")
    if seconds < 7200:
        return joined(numeral(seconds // 60), " min")
    return joined(numeral(seconds // 3600), " h") if seconds < 48 * 3600 else joined(numeral(seconds // 86_400), " d")


def part_words(change: Change) -> Shown | None:
    """Return which parts of a tool changed: ``description``, ``schema``, ``description, schema``."""
    words = {"description": own("description"), "schema": own("schema")}
    known = [words[p] for p in change.parts if p in words]
    return None if not known else known[0] if len(known) == 1 else joined(known[0], ", ", known[1])
