"""An entry of a session as the rest of this package uses it: ids, times, notes of its parts, but no text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from ctx_inspect.core.model import Confirmed, Known, Model, PartKind, Raw, Unavailable, Usage, Why, Witness
from ctx_inspect.core.model.ledger import NO_USAGE
from ctx_inspect.core.sources.pi.classes import Row, classify
from ctx_inspect.core.sources.pi.errors import error_class
from ctx_inspect.core.sources.pi.formats import BRANCH_FRAME, COMPACTION_FRAME, DROPPED_STOPS, FINISH, bash_text
from ctx_inspect.core.sources.pi.parts import Note, notes_of, result_notes
from ctx_inspect.core.sources.pi.records import Body, Content, Figures, Line, Number, content_of, count, millis, takes_out
from ctx_inspect.core.text.size import utf8

NO_MODEL = Model(None, None)
_PROVIDER, _CALL = Witness.PROVIDER, PartKind.CALL
BELIEVED_MOST = 1_000_000_000
"""Tokens of one request: three hundred times the largest window."""
_DOUBTED = Unavailable(Why.UNREADABLE, "usage was reported, but it is not believable: negative, too large or no number")
_FAILED = Unavailable(Why.NOT_REPORTED, "the request failed before usage was reported")


class Answer(msgspec.Struct, gc=False):
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


class Entry(msgspec.Struct, gc=False):
    """One entry.

    Attributes:
        id: Its id; of a version 1 file, which has none, ``line-<number>``.
        parent: Id of the entry it hangs off, as recorded.
        row: Its class.
        at: Epoch milliseconds: when it was written; ``None`` where that is not recorded.
        began: Epoch milliseconds of the message's own stamp (of an answer: when the request began).
        line: Line number; its order in the file.
        offset: Where its line starts, bytes.
        length: Bytes of its line.
        again: How often its id occurred before in the file.
        notes: Parts of the message that it becomes.
        answer: Of an assistant row.
        call: Of a tool result: id of its call.
        target: Of an edit or label: the entry it is about. Of a branch summary: the leaf that was left.
        out: Of an edit: whether it takes its target out.
        alt: Of an edit: its parts where the target is a tool result.
        text: A short value: name, label, level.
        model: Of a model change.
        kept: Of a compaction: first entry that stays.
        before: Of a compaction: tokens before it.
        hook: Of a summary: made by an extension.
        usage: Of a summary or usage row.
        system: Of a system row or compaction: the system message's fields, still encoded.
        hidden: Excluded from the context (``!!cmd``).
    """

    id: str
    parent: str | None
    row: Row
    at: int | None
    began: int | None
    line: int
    offset: int
    length: int
    again: int = 0
    notes: tuple[Note, ...] = ()
    answer: Answer | None = None
    call: str | None = None
    target: str | None = None
    out: bool = False
    alt: tuple[Note, ...] = ()
    text: Raw | None = None
    model: Model = NO_MODEL
    kept: str | None = None
    before: int | None = None
    hook: bool = False
    usage: Known[Usage] = NO_USAGE
    system: bytes | None = None
    hidden: bool = False

    def key(self, session: str) -> str:
        """Return what names this version of the entry."""
        return f"{session}/{self.id}~{self.again}" if self.again else f"{session}/{self.id}"

    def first(self, kind: PartKind) -> Note | None:
        """Return the first part of a kind."""
        for note in self.notes:
            if note.kind is kind:
                return note
        return None


@lru_cache(maxsize=256)
def model_of(provider: str | None, id: str | None) -> Model:
    """Return a model; the same object for the same names."""
    return Model(None if provider is None else Raw(provider), None if id is None else Raw(id))


def _whole(number: Number) -> int | None:
    """Return :func:`count` of a number; this is the quick way for what it nearly always is."""
    return number if type(number) is int and 0 <= number < 1_000_000_000 else count(number)


def usage_of(figures: Figures | None, failed: bool = False) -> Known[Usage]:
    """Return recorded usage; zeros alone are no report: no request sends and gets nothing."""
    if figures is None:
        return NO_USAGE
    stated = (figures.input, figures.output, figures.cache_read, figures.cache_write, figures.reasoning)
    if any(n is not None and not 0 <= n <= BELIEVED_MOST for n in stated):
        return _DOUBTED
    input, output, read, write = _whole(figures.input), _whole(figures.output), _whole(figures.cache_read), _whole(figures.cache_write)
    reasoning = None if figures.reasoning is None else count(figures.reasoning)
    if not (input or output or read or write or reasoning):
        return _FAILED if failed else NO_USAGE
    return Confirmed(Usage(input, output, reasoning, read, write), _PROVIDER)


def _answer(body: Body) -> Answer:
    stop = body.stop_reason or ""
    dropped = stop in DROPPED_STOPS
    return Answer(
        model_of(body.provider, body.model),
        body.api,
        FINISH.get(stop, "other"),
        dropped,
        error_class(stop, body.error_message) if dropped else None,
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


def entry_of(line: Line, number: int, offset: int, length: int, again: int = 0) -> Entry:
    """Make an entry of a decoded line.

    Args:
        line: The line; not the header.
        number: Line number.
        offset: Where the line starts, bytes.
        length: Its bytes.
        again: How often its id occurred before in this file.
    """
    body = line.message if line.type == "message" else None
    row = classify(line.type, body.role if body is not None else "")
    at = millis(line.timestamp)
    entry = Entry(line.id or f"line-{number}", line.parent_id, row, at, at, number, offset, length, again)
    if body is None:
        _other(entry, line)
        return entry
    stamp = body.timestamp if type(body.timestamp) is int else count(body.timestamp)
    if stamp is not None and 1_000_000_000_000 < stamp < 1_000_000_000_000_000:  # version 1 files hold small numbers
        entry.began = stamp
    if row is Row.RESULT:
        entry.call = body.tool_call_id
        entry.notes = result_notes(body.content, body.tool_call_id, body.tool_name)
    elif row is Row.ASSISTANT:
        entry.notes = notes_of(body.content, blank=False)
        entry.answer = _answer(body)
    elif row is Row.USER or row is Row.CUSTOM:
        entry.notes = notes_of(body.content)
    elif row is Row.SHELL:
        cut = body.full_output_path if body.truncated else None
        text = bash_text(body.command or "", body.output or "", count(body.exit_code), bool(body.cancelled), cut)
        entry.notes = (Note(PartKind.TEXT, "shell", utf8(text)),)
        entry.hidden = bool(body.exclude_from_context)
    elif row is Row.SYSTEM:
        fields = (("sections", body.sections), ("toolsAdded", body.tools_added), ("toolsRemoved", body.tools_removed))
        entry.system = _system(fields, body.content)
    return entry


def _other(entry: Entry, line: Line) -> None:
    match entry.row:
        case Row.CUSTOM:
            entry.notes = notes_of(line.content)
            entry.text = _raw(line.custom_type)
        case Row.COMPACTION | Row.BRANCH:
            _summary(entry, line)
        case Row.EDIT:
            entry.target, entry.out = line.target_id, takes_out(line.replacement)
            if not entry.out:
                content = content_of(line.replacement)
                entry.notes = notes_of(content, "replacement")
                entry.alt = result_notes(content, None, None, "replacement")
        case Row.MODEL:
            entry.model = model_of(line.provider, line.model_id)
        case Row.THINKING:
            entry.text = _raw(line.thinking_level)
        case Row.SPENT:
            entry.usage = usage_of(line.usage)
            entry.model = model_of(line.provider, line.model)
            entry.text = _raw(line.kind)
        case Row.LABEL:
            entry.target, entry.text = line.target_id, _raw(line.label)
        case Row.NAME:
            entry.text = _raw(line.name)
        case _:
            pass


def _summary(entry: Entry, line: Line) -> None:
    frame, place = (COMPACTION_FRAME, "compaction") if entry.row is Row.COMPACTION else (BRANCH_FRAME, "branch")
    if entry.row is Row.COMPACTION or line.summary:
        entry.notes = (Note(PartKind.TEXT, place, utf8(line.summary or "") + len(frame[0]) + len(frame[1])),)
    entry.hook, entry.usage, entry.target = bool(line.from_hook), usage_of(line.usage), line.from_id
    entry.before = count(line.tokens_before)
    entry.kept = line.first_kept_entry_id
    index = count(line.first_kept_entry_index)
    if entry.kept is None and index is not None:
        entry.kept = f"record-{index}"  # version 1 counts records from the header; resolved by the file's reader
    data = bytes(line.system_message)
    if data and data != b"null":
        entry.system = data
