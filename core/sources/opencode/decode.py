"""Decodes OpenCode's rows to :mod:`records`.

The JSON shapes are those of opencode-ai 1.18.33. Fields that are missing, of another type or unknown never fail a
session: the row is then listed as one of an unknown type.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from ctx_inspect.core.model import Usage
from ctx_inspect.core.sources.opencode.records import Media, MessageRow, PartRow, Tool
from ctx_inspect.core.text.size import utf8

Loose = msgspec.Raw


class _Time(msgspec.Struct):
    created: float | None = None
    completed: float | None = None


class _Model(msgspec.Struct):
    providerID: str | None = None
    modelID: str | None = None


class _Cache(msgspec.Struct):
    read: float | None = None
    write: float | None = None


class _Tokens(msgspec.Struct):
    input: float | None = None
    output: float | None = None
    reasoning: float | None = None
    cache: _Cache | None = None


class _ErrorData(msgspec.Struct):
    statusCode: Loose = Loose(b"")


class _Error(msgspec.Struct):
    name: str | None = None
    data: _ErrorData | None = None


class _Message(msgspec.Struct):
    role: str
    time: _Time | None = None
    parentID: str | None = None
    agent: str | None = None
    mode: str | None = None
    model: _Model | None = None
    modelID: str | None = None
    providerID: str | None = None
    tokens: _Tokens | None = None
    finish: str | None = None
    error: _Error | None = None
    summary: Loose = Loose(b"")
    system: Loose = Loose(b"")


class _PartMeta(msgspec.Struct):
    compaction_continue: Loose = Loose(b"")
    anthropic: Loose = Loose(b"")
    providerExecuted: Loose = Loose(b"")


class _StateMeta(msgspec.Struct):
    sessionId: Loose = Loose(b"")
    interrupted: Loose = Loose(b"")
    output: Loose = Loose(b"")


class _StateTime(msgspec.Struct):
    compacted: float | None = None


class _File(msgspec.Struct):
    mime: str = ""
    url: str = ""
    filename: str | None = None


class _State(msgspec.Struct):
    status: str = ""
    input: Loose = Loose(b"")
    output: str | None = None
    error: str | None = None
    metadata: _StateMeta | None = None
    time: _StateTime | None = None
    attachments: list[_File] | None = None


class _Part(msgspec.Struct):
    type: str
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    metadata: _PartMeta | None = None
    tool: str | None = None
    callID: str | None = None
    state: _State | None = None
    mime: str | None = None
    url: str | None = None
    filename: str | None = None
    prompt: str | None = None
    auto: bool | None = None
    overflow: bool | None = None
    tail_start_id: str | None = None
    agent: str | None = None


_message = msgspec.json.Decoder(_Message)
_part = msgspec.json.Decoder(_Part)


def message_row(id: str, created: int | None, updated: int, data: bytes) -> MessageRow:
    """Decode a message row.

    Args:
        id: Its id.
        created: The column of that name, epoch milliseconds; ``None`` where the store has none.
        updated: Epoch milliseconds.
        data: Its JSON.

    Raises:
        UNREADABLE: It is no message that this program knows.
    """
    m = _message.decode(data)
    time, model, error = m.time, m.model, m.error
    return MessageRow(
        id,
        created or 0,
        updated,
        m.role,
        when(time.created if time else None) or when(created),
        when(time.completed if time else None),
        m.parentID,
        m.agent or m.mode,
        m.providerID or (model.providerID if model else None),
        m.modelID or (model.modelID if model else None),
        _usage(m.tokens),
        m.finish,
        (error.name or "?") if error else None,
        _status(error),
        bytes(m.summary) == b"true",
    )


def when(value: float | None) -> int | None:
    """Return a recorded time as epoch milliseconds; the epoch itself and what lies before it is no time."""
    return int(value) if value is not None and 0 < value < 2**62 else None


def _tokens(value: float | None) -> int | None:
    """Return a recorded number of tokens, or ``None`` where it cannot be one."""
    return int(value) if value is not None and 0 <= value < 1e15 else None


def _usage(tokens: _Tokens | None) -> Usage | None:
    """Return what was reported; a row that no answer came for holds zeros only."""
    if tokens is None:
        return None
    cache = tokens.cache
    figures = [
        _tokens(f) for f in (tokens.input, tokens.output, tokens.reasoning, cache.read if cache else None, cache.write if cache else None)
    ]
    return Usage(*figures) if any(figures) else None


def _status(error: _Error | None) -> int | None:
    raw = bytes(error.data.statusCode) if error and error.data else b""
    return int(raw) if raw.isdigit() and len(raw) < 5 else None


def part_row(id: str, updated: int, data: bytes) -> PartRow:
    """Decode a part row.

    Raises:
        UNREADABLE: It is no JSON object with a type.
    """
    try:
        p = _part.decode(data)
    except msgspec.ValidationError:
        return PartRow(id, updated, _type_only(data))
    meta = p.metadata
    match p.type:
        case "text" | "reasoning":
            text = p.text or ""
            return PartRow(
                id,
                updated,
                p.type,
                utf8(text),
                blank=not text or text.isspace(),
                synthetic=p.synthetic is True,
                ignored=p.ignored is True,
                go_on=meta is not None and bytes(meta.compaction_continue) == b"true",
                signed=meta is not None and b'"signature"' in bytes(meta.anthropic),
            )
        case "tool" if p.state is not None:
            return PartRow(id, updated, "tool", tool=_tool(p, p.state))
        case "file":
            return PartRow(id, updated, "file", media=_media(_File(p.mime or "", p.url or "", p.filename)))
        case "subtask":
            return PartRow(id, updated, "subtask", utf8(p.prompt or ""))
        case "compaction":
            return PartRow(id, updated, "compaction", auto=p.auto is True, overflow=p.overflow, tail=p.tail_start_id)
        case _:
            return PartRow(id, updated, p.type)


class _Typed(msgspec.Struct):
    type: str


def _type_only(data: bytes) -> str:
    """Return ``?type`` of a part whose other fields are of unknown types."""
    return "?" + msgspec.json.decode(data, type=_Typed).type


def _tool(p: _Part, state: _State) -> Tool:
    meta, compacted = state.metadata, state.time.compacted if state.time else None
    child = bytes(meta.sessionId) if meta else b""
    kept = meta is not None and bytes(meta.interrupted) == b"true" and bytes(meta.output).startswith(b'"')
    output = utf8(msgspec.json.decode(meta.output, type=str) if kept and meta else state.output or state.error or "")
    return Tool(
        p.tool or "",
        p.callID or "",
        state.status,
        len(bytes(state.input)) or None,
        output,
        when(compacted),
        msgspec.json.decode(child, type=str) if child.startswith(b'"') else None,
        state.status == "error" and kept,
        tuple(_media(f) for f in state.attachments or ()),
        p.metadata is not None and bytes(p.metadata.providerExecuted) == b"true",
    )


def _media(file: _File) -> Media:
    return Media(file.mime, media_bytes(file.url), file.filename)


def media_bytes(url: str) -> int | None:
    """Return the bytes of a ``data:`` URL's content; ``None`` for another URL."""
    head, comma, body = url.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    if head.endswith(";base64"):
        return len(body) * 3 // 4 - body[-2:].count("=")
    return len(body)


_TOKEN = re.compile(rb'"((?:[^"\\]|\\.){0,4096})"|["{}\[\]:,]', re.DOTALL)
"""A string without what is escaped in it, or a sign; all else in JSON is passed over."""


def _strings(head: bytes) -> dict[str, str]:
    """Return the strings that stand in the beginning of a JSON object, by path (``type``, ``state.status``); not those in lists."""
    found: dict[str, str] = {}
    path: list[str] = []
    key, value, lists = "", False, 0
    for token in _TOKEN.finditer(head):
        text = token.group(1)
        if text is not None:
            word = text.decode("utf-8", "replace")
            if value and not lists and b"\\" not in text:
                found.setdefault(".".join([*path[1:], key]), word)
            elif not value:
                key = word
            continue
        match token.group():
            case b'"':
                break  # a text that goes on beyond the head
            case b"{":
                path.append(key)
                value = False
            case b"}":
                key, value = (path.pop() if path else ""), False
            case b"[":
                lists += 1
            case b"]":
                lists -= 1
            case b":":
                value = True
            case _:
                value = False
    return found


def part_head(id: str, updated: int, head: bytes) -> PartRow:
    """Make a part of the first bytes of a row that is too long to be read: of it only what stands there is known.

    Args:
        id: Its id.
        updated: Epoch milliseconds.
        head: The first bytes of its JSON. No size is made of the length of the whole: that is the length of no text in it.
    """
    stated = _strings(head)
    kind = stated.get("type", "?")
    match kind:
        case "tool":
            tool = Tool(stated.get("tool", ""), stated.get("callID", ""), stated.get("state.status", ""), None, None)
            return PartRow(id, updated, kind, None, tool=tool)
        case "file":
            return PartRow(id, updated, kind, None, media=Media(stated.get("mime", ""), None, None))
        case _:
            return PartRow(id, updated, kind, None)


def decode_any(data: bytes) -> Any:
    """Decode JSON of any shape; raises as :func:`part_row`."""
    return msgspec.json.decode(data)
