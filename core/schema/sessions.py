"""``sessions --json``: ``ctx-inspect/sessions/1``."""

from __future__ import annotations

from ctx_inspect.core.budget import sent
from ctx_inspect.core.model import Estimated, Ledger, Raw, SessionInfo, Unavailable, grade
from ctx_inspect.core.schema.common import Clean, Model, Problem, maybe, model_of
from ctx_inspect.core.schema.damage import damage_of
from ctx_inspect.core.text.clock import iso
from msgspec import UNSET, Struct, UnsetType

TITLE = 200
"""Characters of a title: a first message may stand for one."""


class Project(Struct, kw_only=True):
    """The project: its real path, and the harness's own id for it.

    Attributes:
        path: Path of the folder that holds `.git`, else of the session's own.
        id: The harness's own id of the project.
    """

    path: str | UnsetType = UNSET
    id: str | UnsetType = UNSET


class Fork(Struct, kw_only=True):
    """The session that this one was copied from.

    Attributes:
        key: Key of that session.
        evidence: How well it is known.
        how: Of an estimate: how it was found.
    """

    key: str
    evidence: str
    how: str | UnsetType = UNSET


class Hidden(Struct):
    """Turns that are no longer on the active history.

    Attributes:
        reverted: Turns that were undone.
        abandoned: Turns on branches that were left.
    """

    reverted: int
    abandoned: int


class Sent(Struct, kw_only=True):
    """What the session's own steps sent and got in total, tokens. Never the window.

    A figure that no request reported is absent; ``unreported`` requests reported none at all and are not in the figures.

    Attributes:
        requests: Steps, those that reported nothing included.
        unreported: Of them: steps that reported no usage at all.
        input: Without the cached part.
        output: What the model wrote.
        cache_read: Read from the cache.
        cache_write: Written to the cache.
    """

    requests: int
    unreported: int
    input: int | UnsetType = UNSET
    output: int | UnsetType = UNSET
    cache_read: int | UnsetType = UNSET
    cache_write: int | UnsetType = UNSET


class Store(Struct):
    """Where a session lies.

    Attributes:
        kind: The harness.
        path: The database or file.
        format: ``opencode-1``, ``opencode-2``, ``opencode-json``, ``pi-1`` … ``pi-3``.
    """

    kind: str
    path: str
    format: str


class Session(Struct, kw_only=True):
    """A session of the list. ``turns`` … ``sent`` are absent where it could not be opened (a problem says why).

    Attributes:
        key: ``harness:id``; names the session in every command.
        harness: ``opencode`` or ``pi``.
        id: The harness's own id.
        title: As recorded, redacted, cut at 200 characters; of an unnamed Pi session its first message.
        project: Its project.
        directory: The working directory, as recorded.
        parent: Key of the session that started it (a subagent has one).
        forked_from: The session that it was copied from.
        started: When it was begun.
        updated: When it was last written.
        live: Whether the harness holds its file, or it changed within the last 60 s.
        agent: The newest agent.
        model: The newest model.
        helper: Name of the plugin that runs it as a helper of its own.
        turns: Turns on the active history.
        inherited: Of them: turns copied from another session.
        steps: Rows of turns and before them, those without a model call included.
        hidden: Turns that are on it no longer.
        sent: What its own steps sent and got in total, tokens; without title, summary and compaction requests and without what was copied. Never the window.
        damaged: Damaged records: named in `problems`, and by `doctor`.
        source: Where it lies.
        captured: Whether its requests were recorded by an adapter; `false` in this version.
    """

    key: str
    harness: str
    id: str
    title: str | UnsetType = UNSET
    project: Project
    directory: str | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    forked_from: Fork | UnsetType = UNSET
    started: str | UnsetType = UNSET
    updated: str | UnsetType = UNSET
    live: bool
    agent: str | UnsetType = UNSET
    model: Model | UnsetType = UNSET
    helper: str | UnsetType = UNSET
    turns: int | UnsetType = UNSET
    inherited: int | UnsetType = UNSET
    steps: int | UnsetType = UNSET
    hidden: Hidden | UnsetType = UNSET
    sent: Sent | UnsetType = UNSET
    damaged: int | UnsetType = UNSET
    source: Store
    captured: bool


class Sessions(Struct, kw_only=True):
    """The list.

    Attributes:
        schema: ``ctx-inspect/sessions/1``.
        sessions: Newest first.
        problems: What could not be read.
    """

    schema: str = "ctx-inspect/sessions/1"
    sessions: list[Session]
    problems: list[Problem]


def _title(raw: Raw, clean: Clean) -> str:
    text = clean(raw)
    return text if len(text) <= TITLE else text[:TITLE] + "…"


def session_of(info: SessionInfo, ledger: Ledger | None, clean: Clean) -> Session:
    """Return one session.

    Args:
        info: Its row in the list.
        ledger: The session, opened; ``None`` where it could not be.
        clean: What titles, names and paths pass through.
    """
    fork = info.forked_from
    project = info.project or info.directory
    row = Session(
        key=info.key,
        harness=info.harness,
        id=info.id,
        title=UNSET if info.title is None else _title(info.title, clean),
        project=Project(path=UNSET if project is None else clean(project), id=UNSET if info.project_id is None else clean(info.project_id)),
        directory=UNSET if info.directory is None else clean(info.directory),
        parent=maybe(info.parent),
        forked_from=UNSET
        if isinstance(fork, Unavailable)
        else Fork(key=fork.value, evidence=grade(fork), how=fork.how if isinstance(fork, Estimated) else UNSET),
        started=maybe(iso(info.started)),
        updated=maybe(iso(info.updated)),
        live=info.live,
        agent=UNSET if info.agent is None else clean(info.agent),
        model=model_of(info.model, clean),
        helper=maybe(info.helper),
        source=Store(info.harness, clean(info.path), info.format),
        captured=False,
    )
    if ledger is not None:
        total = sent(ledger)
        copied = sum(t.inherited for t in ledger.turns)
        row.damaged = len(damage_of(ledger)) or UNSET
        row.turns = len(ledger.turns)
        row.inherited = copied or UNSET
        row.steps = len(ledger.before) + sum(len(t.requests) for t in ledger.turns)
        row.hidden = Hidden(sum(h.state == "reverted" for h in ledger.hidden), sum(h.state == "abandoned" for h in ledger.hidden))
        row.sent = Sent(
            requests=total.requests,
            unreported=total.unreported,
            input=maybe(total.input),
            output=maybe(total.output),
            cache_read=maybe(total.cache_read),
            cache_write=maybe(total.cache_write),
        )
    return row
