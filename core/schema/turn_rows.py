"""What ``turns --json`` (``ctx-inspect/turns/1``) is made of."""

from __future__ import annotations

from ctx_inspect.core.schema.common import Figure, Model, NotRecorded, Problem
from ctx_inspect.core.schema.drift import CacheRow, DriftRow
from msgspec import UNSET, Struct, UnsetType, field


class Fault(Struct):
    """Why a step failed.

    Attributes:
        kind: ``auth``, ``rate``, ``overflow``, ``server``, ``network``, ``aborted`` or ``other``.
    """

    kind: str = field(name="class")


class Usage(Struct, kw_only=True):
    """What the provider reported, tokens; ``input`` is without the cached part.

    Attributes:
        input: Without the cached part.
        output: What the model wrote.
        reasoning: Of the output: reasoning, where reported.
        cache_read: Read from the cache.
        cache_write: Written to the cache.
    """

    input: int | UnsetType = UNSET
    output: int | UnsetType = UNSET
    reasoning: int | UnsetType = UNSET
    cache_read: int | UnsetType = UNSET
    cache_write: int | UnsetType = UNSET


class Step(Struct, kw_only=True):
    """One row of a turn. A row made without a model call has ``call: false`` and no number.

    Attributes:
        n: 1… within the turn; absent where no model was called.
        id: Id of the row.
        at: When it began.
        done: When it was complete.
        call: `false` where no model was called (a shell command, a subtask).
        agent: The agent.
        model: The model.
        attempts: How often it was sent, where recorded.
        finish: ``stop``, ``length``, ``tool_calls``, ``error``, ``aborted`` …; absent while it runs.
        error: Why it failed.
        usage: What the provider reported.
        window: Tokens in context: input + cache read + cache write.
        tools: Tools that it called, in order.
        children: Keys of sessions that it started.
        inherited: `true` where it was copied from another session: its usage was counted there.
    """

    n: int | UnsetType = UNSET
    id: str
    at: str | UnsetType = UNSET
    done: str | UnsetType = UNSET
    call: bool | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    model: Model | UnsetType = UNSET
    attempts: int | UnsetType = UNSET
    finish: str | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET
    window: int | UnsetType = UNSET
    tools: list[str] | UnsetType = UNSET
    children: list[str] | UnsetType = UNSET
    inherited: bool | UnsetType = UNSET


class Other(Struct, kw_only=True):
    """A request beside the steps: a title, a summary, a compaction.

    Attributes:
        purpose: ``title``, ``summary``, ``compaction`` or ``other``.
        id: Id of the row.
        at: When it began.
        model: The model.
        usage: What the provider reported; in no sum.
    """

    purpose: str
    id: str
    at: str | UnsetType = UNSET
    model: Model | UnsetType = UNSET
    usage: Usage | UnsetType = UNSET


class LimitRow(Struct, kw_only=True):
    """A window's limit, tokens.

    Attributes:
        value: Tokens.
        kind: ``context`` (input and output share it) or ``usable`` (input alone).
        evidence: How well it is known.
        source: Who says so.
        how: Of an estimate: by what.
    """

    value: int
    kind: str
    evidence: str
    source: str
    how: str | UnsetType = UNSET


class WindowRow(Struct, kw_only=True):
    """Tokens in context of the turn's last step: input + cache read + cache write.

    Attributes:
        tokens: The figure; absent where it is unavailable.
        limit: The model's limit, where one is believed.
        limit_why: Why there is none.
        evidence: How well the figure is known.
        how: Of an estimate: by what.
        why: Where it is unavailable: why.
    """

    tokens: int | UnsetType = UNSET
    limit: LimitRow | UnsetType = UNSET
    limit_why: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class EventTokens(Struct, kw_only=True):
    """Tokens before and after an event, where recorded.

    Attributes:
        before: Before; as the harness recorded it with the event (Pi counts the answer before a compaction in).
        after: After.
    """

    before: int | UnsetType = UNSET
    after: int | UnsetType = UNSET


class Event(Struct, kw_only=True):
    """An event, recorded or worked out (``how``). A compaction is one event of the turn that was open when it began; so is a revert.

    Attributes:
        type: ``compaction``, ``revert``, ``fork``, ``branch``, ``prune``, ``edit``, ``model``, ``thinking``, ``agent``, ``system``, ``reload`` or ``label``.
        reason: ``auto``, ``manual``, ``overflow``, ``threshold``, ``summarised`` or ``messages deleted``, where one of them is recorded.
        status: ``requested``, ``started``, ``succeeded``, ``failed`` …, where recorded.
        at: When, where recorded.
        evidence: ``confirmed``, or ``estimated`` where no record tells of it by itself.
        how: Of an estimate: what it was worked out from.
        by: What recorded it.
        ref: Id of the row it is about.
        tokens: Tokens before and after.
        counts: Other numbers by name (``messages_before``, ``turns`` …).
        detail: A short value: a model's or agent's name.
    """

    type: str
    reason: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    at: str | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    by: str
    ref: str | UnsetType = UNSET
    tokens: EventTokens | UnsetType = UNSET
    counts: dict[str, int] | UnsetType = UNSET
    detail: str | UnsetType = UNSET


class Tier(Struct, kw_only=True):
    """Whether the model still has the turn.

    Attributes:
        value: ``full`` or ``compacted``.
        evidence: How well it is known.
        policy: By whose rules: ``harness``.
        how: Of an estimate: how.
    """

    value: str
    evidence: str
    policy: str
    how: str | UnsetType = UNSET


class Turn(Struct, kw_only=True):
    """What one admission of user input started.

    Attributes:
        n: 1… on the active history.
        id: Id of the message that opened it.
        ids: All messages that opened it.
        boundary: How its beginning is known.
        at: When it began.
        agent: Of its last step.
        model: Of its last step.
        text: How its input begins, only with `--text`; redacted, unless `--uncover` is given.
        inherited: `true` where it was copied from another session.
        steps: Its steps and its rows without a model call, in order.
        other: Requests beside them.
        window: Of its last step that reported one.
        events: What happened in it.
        tier: Whether the model still has its input; absent where that is not known.
        drift: What its first request carried against the first request of the turn before it in time, by category.
        cache: What became of the prompt cache in its worst step.
    """

    n: int
    id: str
    ids: list[str]
    boundary: str
    at: str | UnsetType = UNSET
    agent: str | UnsetType = UNSET
    model: Model | UnsetType = UNSET
    text: str | UnsetType = UNSET
    inherited: bool | UnsetType = UNSET
    steps: list[Step]
    other: list[Other]
    window: WindowRow
    events: list[Event]
    tier: Tier | UnsetType = UNSET
    drift: dict[str, DriftRow] | UnsetType = UNSET
    cache: CacheRow | UnsetType = UNSET


class HiddenRow(Struct, kw_only=True):
    """A turn that is no longer on the active history; it takes no number.

    Attributes:
        id: Id of the message that opened it.
        ids: All messages that opened it.
        at: When it began.
        state: ``reverted`` or ``abandoned``.
        text: How its input begins, only with `--text`.
        steps: Its steps.
    """

    id: str
    ids: list[str]
    at: str | UnsetType = UNSET
    state: str
    text: str | UnsetType = UNSET
    steps: list[Step]


class Forecast(Struct, kw_only=True):
    """Turns left until the threshold (or the limit where there is none).

    Attributes:
        turns: The number.
        evidence: How well it is known.
        how: What it was computed by.
        why: Where it is unavailable: why.
    """

    turns: int | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET


class Turns(Struct, kw_only=True):
    """The timeline of a session.

    Attributes:
        schema: ``ctx-inspect/turns/1``.
        session: Key of the session.
        before: Steps before the first turn.
        before_other: Other requests before it.
        before_events: Events before it.
        turns: The turns of the active history, oldest first.
        hidden: Turns that are on it no longer.
        current: Tokens in the window now.
        threshold: Where the harness compacts by itself, tokens.
        forecast: When that is reached.
        not_recorded: What the session's store does not record.
        problems: What could not be read.
    """

    schema: str = "ctx-inspect/turns/1"
    session: str
    before: list[Step]
    before_other: list[Other] | UnsetType = UNSET
    before_events: list[Event] | UnsetType = UNSET
    turns: list[Turn]
    hidden: list[HiddenRow]
    current: Figure
    threshold: Figure
    forecast: Forecast
    not_recorded: list[NotRecorded]
    problems: list[Problem]
