"""An entry of a session as the rest of this package uses it: ids, times, parts with sizes and refs, but no text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from ctx_inspect.core.model import Confirmed, Known, Model, Part, PartKind, Raw, Unavailable, Usage, Why, Witness
from ctx_inspect.core.model.ledger import NO_USAGE
from ctx_inspect.core.sources.pi.classes import Row, classify
from ctx_inspect.core.sources.pi.errors import error_class
from ctx_inspect.core.sources.pi.formats import BRANCH_FRAME, COMPACTION_FRAME, DROPPED_STOPS, FINISH, bash_text
from ctx_inspect.core.sources.pi.parts import PartMaker, utf8
from ctx_inspect.core.sources.pi.records import Body, Content, Figures, Line, content_of, count, millis, takes_out

_NO_MODEL = Model(None, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an assistant row tells of the call that made it.

    Attributes:
        model: Provider and model.
        api: Pi's name of the wire dialect.
        finish: In our words.
        dropped: Whether later requests leave it out (it failed or was aborted).
        error: Class of the error.
        usage: What the provider reported.
        level: Thinking level; only Pi 1.x stores it here.
        modern: Whether it has any field that Pi 0.7x does not write.
    """

    model: Model
    api: str | None
    finish: str
    dropped: bool
    error: str | None
    usage: Known[Usage]
    level: Raw | None
    modern: bool


@dataclass(slots=True)
class Entry:
    """One entry.

    Attributes:
        id: Its id; of a version 1 file, which has none, ``line-<number>``.
        parent: Id of the entry it hangs off, as recorded.
        row: Its class.
        at: Epoch milliseconds: when it was written.
        began: Epoch milliseconds of the message's own stamp (of an answer: when the request began).
        line: Line number; its order in the file.
        offset: Where its line starts, bytes.
        length: Bytes of its line.
        parts: Parts of the message that it becomes.
        answer: Of an assistant row.
        call: Of a tool result: id of its call.
        target: Of an edit or label: the entry it is about. Of a branch summary: the leaf that was left.
        out: Of an edit: whether it takes its target out.
        text: A short value: name, label, level.
        model: Of a model change.
        kept: Of a compaction: first entry that stays.
        before: Of a compaction: tokens before it.
        hook: Of a summary: made by an extension.
        usage: Of a summary or usage row.
        system: Of a system row or compaction: the system message's fields, still encoded.
        hidden: Excluded from the context (``!!cmd``).
        alt: Of an edit: its parts where the target is a tool result.
        key: Names this version of the entry: session, id, and a count where the id occurs again.
    """

    id: str
    parent: str | None
    row: Row
    at: int
    line: int
    offset: int
    length: int
    began: int = 0
    parts: tuple[Part, ...] = ()
    answer: Answer | None = None
    call: str | None = None
    target: str | None = None
    out: bool = False
    text: Raw | None = None
    model: Model = _NO_MODEL
    kept: str | None = None
    before: int | None = None
    hook: bool = False
    usage: Known[Usage] = NO_USAGE
    system: bytes | None = None
    hidden: bool = False
    alt: tuple[Part, ...] = ()
    key: str = ""


def usage_of(figures: Figures | None, empty: bool = False) -> Known[Usage]:
    """Return recorded usage; a failed row's zeros are no report."""
    if figures is None:
        return NO_USAGE
    row = Usage(
        count(figures.input), count(figures.output), count(figures.reasoning), count(figures.cache_read), count(figures.cache_write)
    )
    if empty and not (row.input or row.output or row.cache_read or row.cache_write):
        return Unavailable(Why.NOT_REPORTED, "the request failed before usage was reported")
    return Confirmed(row, Witness.PROVIDER)


def _answer(body: Body) -> Answer:
    stop = body.stop_reason or ""
    dropped = stop in DROPPED_STOPS
    return Answer(
        Model(_raw(body.provider), _raw(body.model)),
        body.api,
        FINISH.get(stop, "other"),
        dropped,
        error_class(stop, body.error_message),
        usage_of(body.usage, dropped),
        _raw(body.thinking_level),
        body.thinking_level is not None or body.duration_ms is not None or memoryview(body.raw_stop_reason).nbytes > 0,
    )


def _raw(text: str | None) -> Raw | None:
    return None if text is None else Raw(text)


def _system(fields: Sequence[tuple[str, msgspec.Raw]], content: Content) -> bytes:
    """Encode again those fields of a system message that are folded later."""
    text = content if isinstance(content, str) else "\n".join(b.text or "" for b in content or () if b.type == "text")
    inner = [b'"content":' + msgspec.json.encode(text)]
    inner += [b'"' + name.encode() + b'":' + bytes(raw) for name, raw in fields if memoryview(raw).nbytes]
    return b"{" + b",".join(inner) + b"}"


def entry_of(line: Line, session: str, number: int, offset: int, length: int, again: int = 0) -> Entry:
    """Make an entry of a decoded line.

    Args:
        line: The line; not the header.
        session: Session id, for refs.
        number: Line number.
        offset: Where the line starts, bytes.
        length: Its bytes.
        again: How often its id occurred before in this file.
    """
    body = line.message if line.type == "message" else None
    row = classify(line.type, body.role if body else "")
    entry = Entry(line.id or f"line-{number}", line.parent_id, row, millis(line.timestamp) or 0, number, offset, length)
    stamp = count(body.timestamp) if body else None
    entry.began = stamp if stamp is not None and stamp > 1_000_000_000_000 else entry.at
    name = entry.id if not again else f"{entry.id}~{again}"
    make = PartMaker(session)
    entry.key = f"{session}/{name}"
    match row:
        case Row.USER if body:
            entry.parts = make.content(name, body.content)
        case Row.ASSISTANT if body:
            entry.parts = make.content(name, body.content, blank=False)
            entry.answer = _answer(body)
        case Row.RESULT if body:
            entry.parts = make.result(name, body.content, body.tool_call_id, body.tool_name)
            entry.call = body.tool_call_id
        case Row.SHELL if body:
            cut = body.full_output_path if body.truncated else None
            text = bash_text(body.command or "", body.output or "", count(body.exit_code), bool(body.cancelled), cut)
            entry.parts = (make.part(name, "shell", PartKind.TEXT, utf8(text)),)
            entry.hidden = bool(body.exclude_from_context)
        case Row.CUSTOM:
            entry.parts = make.content(name, body.content if body else line.content)
            entry.text = _raw(line.custom_type)
        case Row.SYSTEM if body:
            fields = (("sections", body.sections), ("toolsAdded", body.tools_added), ("toolsRemoved", body.tools_removed))
            entry.system = _system(fields, body.content)
        case Row.COMPACTION | Row.BRANCH:
            _summary(entry, line, make, name)
        case Row.EDIT:
            entry.target, entry.out = line.target_id, takes_out(line.replacement)
            if not entry.out:
                content = content_of(line.replacement)
                entry.parts = make.content(name, content, "replacement")
                entry.alt = make.result(name, content, None, None, "replacement")
        case Row.MODEL:
            entry.model = Model(_raw(line.provider), _raw(line.model_id))
        case Row.THINKING:
            entry.text = _raw(line.thinking_level)
        case Row.SPENT:
            entry.usage = usage_of(line.usage)
            entry.model = Model(_raw(line.provider), _raw(line.model))
            entry.text = _raw(line.kind)
        case Row.LABEL:
            entry.target, entry.text = line.target_id, _raw(line.label)
        case Row.NAME:
            entry.text = _raw(line.name)
        case _:
            pass
    return entry


def _summary(entry: Entry, line: Line, make: PartMaker, name: str) -> None:
    frame, place = (COMPACTION_FRAME, "compaction") if entry.row is Row.COMPACTION else (BRANCH_FRAME, "branch")
    size = utf8(line.summary or "") + len(frame[0]) + len(frame[1])
    if entry.row is Row.COMPACTION or line.summary:
        entry.parts = (make.part(name, place, PartKind.TEXT, size),)
    entry.hook, entry.usage, entry.target = bool(line.from_hook), usage_of(line.usage), line.from_id
    entry.before = count(line.tokens_before)
    entry.kept = line.first_kept_entry_id
    index = count(line.first_kept_entry_index)
    if entry.kept is None and index is not None:
        entry.kept = f"record-{index}"  # version 1 counts records from the header; resolved by the file's reader
    data = bytes(line.system_message)
    if data and data != b"null":
        entry.system = data
