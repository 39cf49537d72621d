"""Texts that refs of this source point to, as the model got them."""

from __future__ import annotations

from typing import Any

import msgspec
from ctx_inspect.core.model import Confirmed, Known, Raw, Unavailable, Why
from ctx_inspect.core.sources.opencode.constants import TEXTS
from ctx_inspect.core.sources.opencode.decode import decode_any
from ctx_inspect.core.sources.opencode.records import UNREADABLE

GONE = Unavailable(Why.GONE, "the row is no longer in the store")
TOO_LARGE = Unavailable(Why.UNREADABLE, "the row is too large to be read")
UNREADABLE_ROW = Unavailable(Why.UNREADABLE, "the row cannot be read")


def constant_text(field: str, limit: int) -> Known[Raw] | None:
    """Return the text of a ``const:<name>`` field; ``None`` for another field."""
    name = field.removeprefix("const:")
    if name == field:
        return None
    return Confirmed(Raw(TEXTS[name][:limit])) if name in TEXTS else GONE


def field_text(data: bytes, field: str, limit: int) -> Known[Raw]:
    """Return a field of a part's JSON.

    Args:
        data: The row's JSON.
        field: ``text prompt input output url attachment:<n>``.
        limit: At most this many characters.
    """
    try:
        part = decode_any(data)
        found = _field(part, field, data)
    except (*UNREADABLE, KeyError, TypeError, IndexError):
        return UNREADABLE_ROW
    return Confirmed(Raw(found[:limit])) if isinstance(found, str) else UNREADABLE_ROW


def _field(part: Any, field: str, data: bytes) -> Any:
    match field.split(":"):
        case ["text" | "prompt" | "url" as name]:
            return part[name]
        case ["input"]:
            return _arguments(data)
        case ["output"]:
            state = part["state"]
            if state["status"] == "error":
                return _interrupted(data) or state["error"]
            return state["output"]
        case ["attachment", n]:
            return part["state"]["attachments"][int(n)]["url"]
        case _:
            raise KeyError(field)


class _State(msgspec.Struct):
    input: msgspec.Raw


class _Part(msgspec.Struct):
    state: _State


class _Kept(msgspec.Struct):
    interrupted: bool
    output: str


class _Metadata(msgspec.Struct):
    metadata: _Kept


class _Interrupted(msgspec.Struct):
    state: _Metadata


def _interrupted(data: bytes) -> str | None:
    """Return the output that an interrupted run kept."""
    try:
        kept = msgspec.json.decode(data, type=_Interrupted).state.metadata
    except msgspec.ValidationError:
        return None
    return kept.output if kept.interrupted else None


def _arguments(data: bytes) -> str:
    """Return a call's arguments exactly as they were stored, which is how they are sent."""
    return bytes(msgspec.json.decode(data, type=_Part).state.input).decode()
