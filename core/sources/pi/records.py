"""One line of a Pi session file, decoded: only the fields that are needed, and tolerant of odd ones.

Formats: session header version 1 to 3 and entry types of Pi 0.7x and 1.6. Fields are told by presence, never by
the version number: both generations write version 3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

Number = int | float | None
ABSENT = msgspec.Raw()


class Block(msgspec.Struct, gc=False):
    """A block of a message's content."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: msgspec.Raw = msgspec.field(default=ABSENT, name="thinkingSignature")
    redacted: bool | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = ABSENT
    data: msgspec.Raw = ABSENT
    mime: str | None = msgspec.field(default=None, name="mimeType")


Content = list[Block] | str | None


class Figures(msgspec.Struct, rename="camel", gc=False):
    """Usage as Pi stores it: ``input`` is without the cached part."""

    input: Number = None
    output: Number = None
    cache_read: Number = None
    cache_write: Number = None
    reasoning: Number = None


class Body(msgspec.Struct, rename="camel", gc=False):
    """The ``message`` of an entry; which fields there are depends on its role."""

    role: str = ""
    content: Content = None
    timestamp: Number = None
    provider: str | None = None
    model: str | None = None
    api: str | None = None
    usage: Figures | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    response_id: str | None = None
    thinking_level: str | None = None
    raw_stop_reason: msgspec.Raw = ABSENT
    duration_ms: Number = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool | None = None
    command: str | None = None
    output: str | None = None
    exit_code: Number = None
    cancelled: bool | None = None
    truncated: bool | None = None
    full_output_path: str | None = None
    exclude_from_context: bool | None = None
    sections: msgspec.Raw = ABSENT
    tools_added: msgspec.Raw = ABSENT
    tools_removed: msgspec.Raw = ABSENT


class Line(msgspec.Struct, rename="camel", gc=False):
    """One line: the header or an entry of any type."""

    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: datetime | None = None
    message: Body | None = None
    provider: str | None = None
    model_id: str | None = None
    thinking_level: str | None = None
    summary: str | None = None
    first_kept_entry_id: str | None = None
    first_kept_entry_index: Number = None
    tokens_before: Number = None
    usage: Figures | None = None
    from_hook: bool | None = None
    system_message: msgspec.Raw = ABSENT
    from_id: str | None = None
    content: Content = None
    custom_type: str | None = None
    target_id: str | None = None
    replacement: msgspec.Raw = ABSENT
    label: str | None = None
    name: str | None = None
    kind: str | None = None
    model: str | None = None
    version: Number = None
    cwd: str | None = None
    parent_session: str | None = None


_line = msgspec.json.Decoder(Line)
_body = msgspec.json.Decoder(Body)
_block = msgspec.json.Decoder(Block)
_any = msgspec.json.Decoder()


def decode(data: bytes) -> Line:
    """Decode one line.

    Fields of an unexpected type are left out rather than losing the record.

    Raises:
        msgspec.MsgspecError: It is no JSON object, or has no ``type``.
        RecursionError: It is nested too deeply.
    """
    try:
        line = _line.decode(data)
    except msgspec.ValidationError:
        loose = _any.decode(data)
        if not isinstance(loose, dict):
            raise
        line = _loosely(cast("dict[str, Any]", loose))
    if not line.type:
        raise msgspec.ValidationError("no type")
    return line


def _fitting(fields: Mapping[str, Any], decoder: msgspec.json.Decoder[Any]) -> dict[str, Any]:
    """Return those fields that have the type they should have."""
    good: dict[str, Any] = {}
    for key, value in fields.items():
        try:
            decoder.decode(_encode({key: value}))
        except msgspec.MsgspecError:
            continue
        good[key] = value
    return good


def _blocks(content: list[Any]) -> list[Any]:
    return [_fitting(cast("dict[str, Any]", block), _block) for block in content if isinstance(block, dict)]


UNBELIEVABLE = -1
"""Stands for what was recorded as a number of tokens and is none."""


def _usage(stated: object) -> object:
    """Return usage with what is no number replaced, so that it can be told from usage that was not reported."""
    if not isinstance(stated, dict):
        return None if stated is None else {"input": UNBELIEVABLE}
    figures = cast("dict[str, object]", stated)
    names = Figures.__struct_encode_fields__
    return {k: v if v is None or _is_number(v) else UNBELIEVABLE for k, v in figures.items() if k in names}


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < 1 << 63)


def _loosely(fields: dict[str, Any]) -> Line:
    message = fields.get("message")
    if isinstance(message, dict):
        body = cast("dict[str, Any]", message)
        if isinstance(body.get("content"), list):
            body["content"] = _blocks(body["content"])
        if "usage" in body:
            body["usage"] = _usage(body["usage"])
        fields["message"] = _fitting(body, _body)
    if isinstance(fields.get("content"), list):
        fields["content"] = _blocks(fields["content"])
    if "usage" in fields:
        fields["usage"] = _usage(fields["usage"])
    return _line.decode(_encode(_fitting(fields, _line)))


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "ignore")


def content_of(raw: msgspec.Raw) -> Content:
    """Decode the content of a ``context_edit``'s replacement; ``None`` where it takes the entry out."""
    try:
        return msgspec.json.decode(raw, type=_Replacement).content
    except msgspec.MsgspecError:
        return None


class _Replacement(msgspec.Struct):
    content: Content = None


def takes_out(raw: msgspec.Raw) -> bool:
    """Tell whether a replacement is ``null``: the entry leaves the context."""
    data = bytes(raw)
    return not data or data == b"null"


def count(value: Number) -> int | None:
    """Return a recorded number of tokens, or ``None`` where it is none."""
    if type(value) is int or type(value) is float:
        return int(value) if 0 <= value < 1e15 else None
    return None


def millis(stamp: datetime | None) -> int | None:
    """Return a time as epoch milliseconds; without a zone it is UTC. The epoch itself and what lies before it is no time."""
    if stamp is None:
        return None
    try:
        ms = round((stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return ms if ms > 0 else None
