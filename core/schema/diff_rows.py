"""What ``diff --json`` (``ctx-inspect/diff/1``) is made of."""

from __future__ import annotations

from ctx_inspect.core.schema.cache import CacheVerdictRow
from ctx_inspect.core.schema.common import NotRecorded, Problem
from ctx_inspect.core.schema.show import Src
from msgspec import UNSET, Struct, UnsetType


class SideRow(Struct, kw_only=True):
    """One of the two requests that are compared.

    Attributes:
        turn: Number of the turn; absent where the turn is no longer on the active history.
        id: Id of the message that opened the turn.
        state: ``reverted`` or ``abandoned``, where the turn is gone since.
        step: Which of the turn's model calls, with `--step`.
        request: Id of the row; absent where no model was called.
        at: When it was sent.
        point: Where its snapshot was taken: `wire`, `prepared`, or `store` = rebuilt from it.
    """

    turn: int | UnsetType = UNSET
    id: str
    state: str | UnsetType = UNSET
    step: int | UnsetType = UNSET
    request: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    point: str


class Baseline(Struct, kw_only=True):
    """Whether there is anything to compare with.

    Attributes:
        comparable: Whether any category has a baseline.
        why: Why none has: ``first_turn``, ``first_capture``, ``not_captured``, ``key_changed``, ``point_changed``, ``missed``, ``evicted`` or ``not_recorded``.
    """

    comparable: bool
    why: str | UnsetType = UNSET


class TokenChange(Struct, kw_only=True):
    """Tokens on both sides, by one counter.

    Attributes:
        before: On the older side; absent where it is unavailable.
        after: On the newer side.
        delta: The difference; absent where the sides were not counted alike.
        evidence: How well the difference is known; without one, the newer side's figure.
        counter: What counted.
        why: Why a figure is absent, or what is left out of it.
    """

    before: int | UnsetType = UNSET
    after: int | UnsetType = UNSET
    delta: int | UnsetType = UNSET
    evidence: str
    counter: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class ChangeRow(Struct, kw_only=True):
    """One change of a category.

    Attributes:
        change: ``added``, ``removed``, ``modified``, ``moved`` or ``renamed``.
        k: The item's key; absent where several moved.
        from_k: Of a renamed one: its key before.
        count: Of a move: how many items moved. A category has one such change at most.
        items: Of a move: their keys.
        src: Where it comes from.
        ev: How well the items of the category are known.
        parts: Of a tool: which parts changed, ``description`` and ``schema``.
        before: Of a setting: its value before.
        after: Of a setting: its value now.
        evidence: How well it is known that this changed.
        how: Of an estimate: the rule.
        tokens: Its tokens.
        flags: What it is over several turns: ``volatile`` or ``flapping``.
        follows: What it is a knock-on of: ``model``, ``mcp:`` and a server.
    """

    change: str
    k: str | UnsetType = UNSET
    from_k: str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    items: list[str] | UnsetType = UNSET
    src: Src | UnsetType = UNSET
    ev: str | UnsetType = UNSET
    parts: list[str] | UnsetType = UNSET
    before: str | UnsetType = UNSET
    after: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    tokens: TokenChange | UnsetType = UNSET
    flags: list[str] | UnsetType = UNSET
    follows: str | UnsetType = UNSET


class LostRow(Struct, kw_only=True):
    """An item that is on one side only, where absence proves nothing: neither added nor removed.

    Attributes:
        k: Its key.
        side: Where it is: ``before`` or ``after``.
        why: ``attribution lost``.
    """

    k: str
    side: str
    why: str


class CategoryDiff(Struct, kw_only=True):
    """One category.

    Attributes:
        category: ``instructions``, ``skills``, ``tools``, ``settings``, ``system``, ``conversation``: all six, always.
        state: ``same``, ``changed``, ``growth``, ``rewritten``, ``unavailable`` or ``no_baseline``.
        evidence: How well the state is known: ``confirmed``, ``estimated`` or ``unavailable``.
        point: Where the newer snapshot was taken.
        baseline_why: Why it has no baseline; the words of ``baseline``.
        how: Of an estimate: how it was rebuilt.
        why: Where it is unavailable: why.
        cov: Whether its items are ``all``, ``some`` or ``none`` of what was sent.
        tokens: Its tokens.
        changes: What changed, in the order in which it was sent. Of the conversation see ``conversation``.
        lost: Items whose attribution was lost.
    """

    category: str
    state: str
    evidence: str
    point: str
    baseline_why: str | UnsetType = UNSET
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    cov: str | UnsetType = UNSET
    tokens: TokenChange
    changes: list[ChangeRow]
    lost: list[LostRow] | UnsetType = UNSET


class CauseRow(Struct, kw_only=True):
    """Why a conversation was rewritten.

    Attributes:
        cause: ``compaction``, ``revert``, ``fork``, ``branch``, ``trim``, ``edit``, ``prune`` (recorded), ``model_switch``, ``reminder_moved`` (recognised) or ``not_recorded``.
        event: Id of the row that records it.
        reason: The recorded reason.
        status: The recorded status.
        at: When it happened, where recorded.
        evidence: ``confirmed`` (recorded), ``estimated`` (recognised) or ``unavailable`` (not recorded).
        how: Of an estimate: what it was recognised by.
    """

    cause: str
    event: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET


class CompactionRow(Struct, kw_only=True):
    """What the newest compaction between the two requests did.

    Attributes:
        before: Tokens before it.
        after: Tokens after it.
        folded: Messages that are gone.
        kept: Messages of the older list that are still there.
        nth: Which one of this session, 1….
        loop: Whether compactions follow each other without saving, or without prompts between them.
    """

    before: int | UnsetType = UNSET
    after: int | UnsetType = UNSET
    folded: int | UnsetType = UNSET
    kept: int | UnsetType = UNSET
    nth: int
    loop: bool


class ConversationRow(Struct, kw_only=True):
    """What the message list did.

    Attributes:
        kind: ``growth``, ``rewritten``, ``same``, ``unavailable`` or ``no_baseline``.
        evidence: How well that is known.
        how: Of an estimate: how it was rebuilt.
        why: Where it is unavailable: why.
        added: Messages that are new.
        removed: Messages that are gone.
        changed: Messages of both sides with other content.
        from_message: 0-based place from which on it was rewritten.
        messages_before: Messages on the older side.
        messages_after: Messages on the newer side.
        steps: Primary requests sent from the older one (included) to the newer one.
        cause: The one of ``causes`` that is told first: a compaction, else the newest.
        causes: Why it was rewritten, in the order it happened; empty unless it was.
        compaction: The newest succeeded compaction between the two.
    """

    kind: str
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    added: int | UnsetType = UNSET
    removed: int | UnsetType = UNSET
    changed: int | UnsetType = UNSET
    from_message: int | UnsetType = UNSET
    messages_before: int | UnsetType = UNSET
    messages_after: int | UnsetType = UNSET
    steps: int | UnsetType = UNSET
    cause: str | UnsetType = UNSET
    causes: list[CauseRow]
    compaction: CompactionRow | UnsetType = UNSET


class WindowChange(Struct, kw_only=True):
    """Tokens in context of the two requests.

    Attributes:
        before: Of the older one.
        after: Of the newer one.
        limit: Of the newer one's model, where one is believed.
        limit_why: Why there is none.
        evidence: How well the newer figure is known.
        how: Of an estimate: by what.
        why: Where it is unavailable: why.
    """

    before: int | UnsetType = UNSET
    after: int | UnsetType = UNSET
    limit: int | UnsetType = UNSET
    limit_why: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class EstimateRow(Struct, kw_only=True):
    """The counted sum of the newer request beside the provider's figure.

    Attributes:
        sum: Tokens of all categories; absent where one of them is not counted.
        provider: The provider's figure.
        error: ``sum / provider - 1``.
        counter: What counted.
        why: Why the sum is absent.
    """

    sum: int | UnsetType = UNSET
    provider: int | UnsetType = UNSET
    error: float | UnsetType = UNSET
    counter: str
    why: str | UnsetType = UNSET


class Diff(Struct, kw_only=True):
    """A comparison of two requests.

    Attributes:
        schema: ``ctx-inspect/diff/1``.
        session: Key of the session.
        before: The older request; absent where there is none.
        after: The newer request.
        baseline: Whether there is anything to compare with.
        categories: All six, always.
        conversation: What the message list did.
        window: Tokens in context.
        estimate: How far the counted sum is from the provider's figure.
        cache: What became of the prompt cache.
        not_recorded: What lies behind the point where the snapshots were taken.
        problems: What could not be read.
    """

    schema: str = "ctx-inspect/diff/1"
    session: str
    before: SideRow | UnsetType = UNSET
    after: SideRow
    baseline: Baseline
    categories: list[CategoryDiff]
    conversation: ConversationRow
    window: WindowChange
    estimate: EstimateRow
    cache: CacheVerdictRow
    not_recorded: list[NotRecorded]
    problems: list[Problem]
