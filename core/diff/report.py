"""What a comparison of two requests says: frozen types that the pane, the text, Markdown and JSON are all made from.

Nothing here holds text of a context or a title. Which words of these reach another program is fixed in docs/json.md.
"""

from __future__ import annotations

from enum import StrEnum

from ctx_inspect.core.cache.model import CacheVerdict
from ctx_inspect.core.model import Category, Coverage, Item, Known, Mark, MarkKind, Raw, Request, Unavailable, Why
from msgspec import Struct

NOT_COUNTED = Unavailable(Why.NOT_YET, "not counted")


class ChangeKind(StrEnum):
    """What happened to an item."""

    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"
    MOVED = "moved"
    RENAMED = "renamed"


class Flag(StrEnum):
    """What a change turns out to be over several comparisons (``history``)."""

    VOLATILE = "volatile"
    """The same item modified at equal size in three consecutive comparisons."""
    FLAPPING = "flapping"
    """A fingerprint returned after another took its place; it wins over ``volatile``."""


class State(StrEnum):
    """What a category did between two turns."""

    SAME = "same"
    CHANGED = "changed"
    GROWTH = "growth"
    REWRITTEN = "rewritten"
    UNAVAILABLE = "unavailable"
    NO_BASELINE = "no_baseline"


class NoBaseline(StrEnum):
    """Why there is nothing to compare with."""

    FIRST_TURN = "first_turn"
    FIRST_CAPTURE = "first_capture"
    NOT_CAPTURED = "not_captured"
    KEY_CHANGED = "key_changed"
    POINT_CHANGED = "point_changed"
    MISSED = "missed"
    EVICTED = "evicted"
    NOT_RECORDED = "not_recorded"


class CauseKind(StrEnum):
    """Why a conversation was rewritten. Up to ``prune`` by an event that is recorded; then recognised, and so estimated."""

    COMPACTION = "compaction"
    REVERT = "revert"
    FORK = "fork"
    BRANCH = "branch"
    TRIM = "trim"
    EDIT = "edit"
    PRUNE = "prune"
    MODEL_SWITCH = "model_switch"
    REMINDER_MOVED = "reminder_moved"
    NOT_RECORDED = "not_recorded"


class Tokens(Struct, frozen=True):
    """Tokens on both sides and their difference; both by one counter, else the difference is unavailable."""

    before: Known[int] = NOT_COUNTED
    after: Known[int] = NOT_COUNTED
    delta: Known[int] = NOT_COUNTED


NO_TOKENS = Tokens()


class Change(Struct, frozen=True):
    """One change of a category.

    Attributes:
        kind: What happened.
        k: The item's key; of a move the first one's that moved.
        before: The item as it was; ``None`` where it was added or moved.
        after: The item as it is; ``None`` where it was removed or moved.
        from_k: Its key before it was renamed.
        moved: Keys of all that moved; a category has one such change at most.
        parts: Which parts of a tool changed: ``description``, ``schema``, or both, in this order.
        evidence: ``confirmed`` or ``estimated``; how well it is known that this changed (a store's own record of a source is
            confirmed though the whole list is rebuilt).
        how: Of an estimate: the rule.
        flags: What it is over several comparisons.
        follows: The change that this is a knock-on of (``model``, ``mcp:mini``).
        tokens: Of the item on both sides.
    """

    kind: ChangeKind
    k: Raw
    before: Item | None = None
    after: Item | None = None
    from_k: Raw | None = None
    moved: tuple[Raw, ...] = ()
    parts: tuple[str, ...] = ()
    evidence: str = "confirmed"
    how: str | None = None
    flags: tuple[Flag, ...] = ()
    follows: str | None = None
    tokens: Tokens = NO_TOKENS


class CategoryReport(Struct, frozen=True):
    """One category.

    Attributes:
        category: Which.
        state: What it did.
        coverage: The weaker of both sides' coverages: its grade is the evidence of ``state``, and says how or why.
        baseline_why: Why this category has no baseline although there is a turn before.
        changes: In the order they are shown: wire order of the newer side, what was removed where it stood.
        before: Items on the older side, in wire order (empty for the conversation).
        after: Items on the newer side.
        lost: Items that are only on one side while absence proves nothing there: attribution lost, neither added nor removed.
        tokens: Of the whole category.
    """

    category: Category
    state: State
    coverage: Coverage
    baseline_why: NoBaseline | None = None
    changes: tuple[Change, ...] = ()
    before: tuple[Item, ...] = ()
    after: tuple[Item, ...] = ()
    lost: tuple[Item, ...] = ()
    tokens: Tokens = NO_TOKENS


class Cause(Struct, frozen=True):
    """Why a conversation was rewritten.

    Attributes:
        kind: What.
        evidence: ``confirmed`` (an event is recorded), ``estimated`` (recognised) or ``unavailable`` (not recorded).
        mark: The recorded event.
        how: Of an estimate: what it was recognised by.
    """

    kind: CauseKind
    evidence: str
    mark: Mark | None = None
    how: str | None = None


class Compacted(Struct, frozen=True):
    """What the newest compaction between the two requests did.

    Attributes:
        before: Tokens before it.
        after: Tokens after it.
        folded: Messages of the older list that are gone.
        kept: Messages of the older list that are still there.
        nth: Which one of this session, 1….
        loop: Whether compactions follow each other without saving or without prompts between them.
    """

    before: Known[int]
    after: Known[int]
    folded: Known[int]
    kept: Known[int]
    nth: int
    loop: bool = False


class ConversationReport(Struct, frozen=True):
    """What the message list did.

    Attributes:
        kind: ``growth``, ``rewritten``, ``same``, ``unavailable`` or ``no_baseline``.
        coverage: The weaker of both sides'.
        before: Messages on the older side.
        after: Messages on the newer side.
        added: Messages of the newer list that the older one did not have (by identity or content).
        removed: Messages of the older list that the newer one does not have.
        changed: Messages that are on both sides, by id, with other content.
        from_message: 0-based position from which on the list was rewritten; ``None`` for growth.
        from_id: Id of the older list's message there.
        causes: In the order they happened; empty unless rewritten. Never empty where it was.
        compaction: Of the newest succeeded compaction between the two.
        steps: Primary requests sent from the older one (included) to the newer one (not included).
    """

    kind: State
    coverage: Coverage
    before: int = 0
    after: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    from_message: int | None = None
    from_id: str | None = None
    causes: tuple[Cause, ...] = ()
    compaction: Compacted | None = None
    steps: int = 0


RECOGNISED = frozenset({CauseKind.MODEL_SWITCH, CauseKind.REMINDER_MOVED})
"""Causes that no event records: the messages look like it."""


def main_cause(talk: ConversationReport) -> Cause:
    """Return the cause that is told first: a compaction, else the newest; ``not_recorded`` is the newest wherever something is left."""
    causes = talk.causes or (Cause(CauseKind.NOT_RECORDED, "unavailable"),)
    return next((c for c in reversed(causes) if c.kind is CauseKind.COMPACTION), causes[-1])


def unexplained_by(talk: ConversationReport) -> CauseKind | None:
    """Return what stands for the part of a rewriting that no event accounts for: ``not_recorded``, or what it is recognised as."""
    left = [c.kind for c in talk.causes if c.kind in RECOGNISED or c.kind is CauseKind.NOT_RECORDED]
    return CauseKind.NOT_RECORDED if CauseKind.NOT_RECORDED in left else next(iter(left), None)


class Side(Struct, frozen=True):
    """One of the two requests.

    Attributes:
        turn: Its turn's number; ``None`` where the turn is no longer on the active history.
        id: Id of the message that opened the turn.
        at: Epoch milliseconds of the request, where recorded.
        request: The request; ``None`` where no model was called in the turn.
        state: ``reverted`` or ``abandoned``, where the turn is gone since.
        step: The step that is compared, where steps are.
        point: Where its snapshot was taken: ``wire``, ``prepared`` or ``store``.
    """

    turn: int | None
    id: str
    at: int | None
    request: Request | None
    state: str | None = None
    step: int | None = None
    point: str = "store"


class Estimate(Struct, frozen=True):
    """How far the counted sum of the newer side is from the provider's figure.

    Attributes:
        sum: Tokens of all categories that are counted; unavailable where one of them is not.
        provider: The provider's figure for the whole request.
        error: ``sum / provider - 1``; unavailable where one of them is.
    """

    sum: Known[int]
    provider: Known[int]
    error: Known[float]


class Report(Struct, frozen=True):
    """A comparison.

    Attributes:
        session: ``harness:id``.
        harness: ``opencode`` or ``pi``.
        project: The project's directory, as recorded.
        before: The older request; ``None`` where there is none.
        after: The newer request.
        why: Why there is nothing to compare with; ``None`` where any category has a baseline.
        categories: All six, in the order of :class:`Category`.
        conversation: What the message list did.
        between: Events recorded between the two requests, in order.
        window_before: Tokens in context of the older request.
        window_after: Tokens in context of the newer one.
        limit: Of the newer one's model.
        estimate: The counted sum beside the provider's figure.
        cache: The verdict on the newer request, against the primary request before it in time.
        counter: What counted tokens.
        not_recorded: (what, why) pairs: what lies behind the capture point.
    """

    session: str
    harness: str
    project: Raw | None
    before: Side | None
    after: Side
    why: NoBaseline | None
    categories: tuple[CategoryReport, ...]
    conversation: ConversationReport
    between: tuple[Mark, ...]
    window_before: Known[int]
    window_after: Known[int]
    limit: Known[int]
    estimate: Estimate
    cache: CacheVerdict
    counter: str
    not_recorded: tuple[tuple[str, str], ...]

    @property
    def comparable(self) -> bool:
        """Whether any category has a baseline."""
        return self.why is None

    def category(self, category: Category) -> CategoryReport:
        """Return one category."""
        return next(c for c in self.categories if c.category is category)


CAUSE_OF = {
    MarkKind.COMPACTION: CauseKind.COMPACTION,
    MarkKind.REVERT: CauseKind.REVERT,
    MarkKind.FORK: CauseKind.FORK,
    MarkKind.BRANCH: CauseKind.BRANCH,
    MarkKind.EDIT: CauseKind.EDIT,
    MarkKind.PRUNE: CauseKind.PRUNE,
}
"""Which recorded events rewrite a conversation. A compaction only where it succeeded."""
