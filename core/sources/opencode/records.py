"""Rows of OpenCode's ``message`` and ``part`` as a timeline needs them; no text is kept.

They are structs that the garbage collector need not look at: a long session has hundreds of thousands of them, and
none can be part of a cycle.
"""

from __future__ import annotations

import msgspec
from ctx_inspect.core.model import Raw, Usage

UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeError, ValueError)
"""What decoding a row of any content may raise."""

LOGGED = "\0log:"
"""Begins the id of a part that only the event log still holds. No part of the tables has a NUL in its id: such a row is refused."""


def raw(value: str | None) -> Raw | None:
    """Mark a text of the store as hostile."""
    return Raw(value) if value is not None else None


class Media(msgspec.Struct, frozen=True, gc=False):
    """A file's media type, bytes and name."""

    mime: str
    size: int | None
    filename: str | None


class Tool(msgspec.Struct, frozen=True, gc=False):
    """A tool's run.

    Attributes:
        name: The tool.
        call: Joins call and result.
        status: ``pending running completed error``; empty where it is not known.
        input: Bytes of its arguments as JSON, where known.
        output: Bytes of its output or error text, where known.
        compacted: When its output was pruned (epoch ms).
        child: The session it started.
        kept: Whether an interrupted run kept output, which then counts as its result.
        attachments: Media of its result.
        executed: Whether the provider ran it.
    """

    name: str
    call: str
    status: str
    input: int | None
    output: int | None
    compacted: int | None = None
    child: str | None = None
    kept: bool = False
    attachments: tuple[Media, ...] = ()
    executed: bool = False


class PartRow(msgspec.Struct, frozen=True, gc=False):
    """A row of ``part``.

    Attributes:
        id: Its id.
        updated: Epoch milliseconds.
        type: OpenCode's own word; ``?`` where it could not be read.
        size: UTF-8 bytes of its text; ``None`` where it is too long to be read.
        blank: Whether the text has no visible character.
        synthetic: Not written by a person.
        ignored: Not sent.
        go_on: The prompt that the harness gives itself after a compaction.
        signed: Reasoning with a signature.
        tool: Of a tool part.
        media: Of a file part.
        auto: Of a compaction: not asked for by the user.
        overflow: Of a compaction: the provider refused a request as too long.
        tail: Of a compaction: the first message that is kept.
    """

    id: str
    updated: int
    type: str
    size: int | None = 0
    blank: bool = False
    synthetic: bool = False
    ignored: bool = False
    go_on: bool = False
    signed: bool = False
    tool: Tool | None = None
    media: Media | None = None
    auto: bool = False
    overflow: bool | None = None
    tail: str | None = None


class MessageRow(msgspec.Struct, frozen=True, gc=False):
    """A row of ``message``; ``created`` orders rows, ``at`` is the time that is recorded."""

    id: str
    created: int
    updated: int
    role: str
    at: int | None
    done: int | None = None
    parent: str | None = None
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    finish: str | None = None
    error: str | None = None
    status: int | None = None
    summary: bool = False


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A message row and its parts, in order."""

    row: MessageRow
    parts: tuple[PartRow, ...]
