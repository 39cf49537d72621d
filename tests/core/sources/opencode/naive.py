"""The message list of a request built the slow way: from the stored JSON, anew for each request, with all texts."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from ctx_inspect.core.model import Confirmed, Context
from ctx_inspect.core.sources.opencode import OpenCodeSource, constants

Line = tuple[str, str, str]
"""Role, kind, text."""


def stored(path: Path, session: str) -> list[dict[str, Any]]:
    """Return the messages of a session as the harness loads them."""
    db = sqlite3.connect(path)
    rows = db.execute("SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,)).fetchall()
    made = []
    for id, at, data in rows:
        parts = db.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (id,)).fetchall()
        made.append({**json.loads(data), "id": id, "at": at, "parts": [{**json.loads(d), "id": i} for i, d in parts]})
    db.close()
    return made


def lines(messages: list[dict[str, Any]], request: dict[str, Any]) -> list[Line]:
    """Return what a request carried that was sent when ``messages`` were there."""
    listed = _after_compaction(messages)
    model = request["providerID"], request["modelID"]
    last = next((m for m in reversed(listed) if m["role"] == "user"), None)
    reminder = None
    if request["agent"] == "plan":
        reminder = constants.PLAN_REMINDER
    elif request["agent"] == "build" and any(m["role"] == "assistant" and m["agent"] == "plan" for m in listed):
        reminder = constants.BUILD_REMINDER
    made: list[Line] = []
    for m in listed:
        if m["role"] == "user":
            for p in m["parts"]:
                if p["type"] == "text" and not p.get("ignored") and p["text"]:
                    made.append(("user", "text", p["text"]))
                elif p["type"] == "file" and p["mime"] not in ("text/plain", "application/x-directory"):
                    made.append(("user", "media", p["url"]))
                elif p["type"] == "compaction":
                    made.append(("user", "text", "What did we do so far?"))
                elif p["type"] == "subtask":
                    made.append(("user", "text", "The following tool was executed by the user"))
            if m is last and reminder:
                made.append(("user", "text", reminder))
            continue
        made += _answer(m, (m["providerID"], m["modelID"]) == model, request["at"])
    return made


def _answer(m: dict[str, Any], same: bool, at: int) -> list[Line]:
    content = [p for p in m["parts"] if p["type"] not in ("step-start", "reasoning")]
    if "error" in m and not (m["error"]["name"] == "MessageAbortedError" and content):
        return []
    said: list[Line] = []
    results: list[Line] = []
    for p in m["parts"]:
        if p["type"] == "text":
            said.append(("assistant", "text", p["text"]))
        elif p["type"] == "reasoning":
            if same:
                said.append(("assistant", "reasoning", p["text"]))
            elif p["text"].strip():
                said.append(("assistant", "text", p["text"]))
        elif p["type"] == "tool":
            state = p["state"]
            said.append(("assistant", "call", json.dumps(state["input"], ensure_ascii=False, separators=(",", ":"))))
            compacted = state.get("time", {}).get("compacted")
            match state["status"]:
                case "completed" if compacted is not None and compacted <= at:
                    results.append(("tool", "result", "[Old tool result content cleared]"))
                case "completed":
                    results.append(("tool", "result", state["output"]))
                case "error":
                    results.append(("tool", "result", state["error"]))
                case _:
                    results.append(("tool", "result", "[Tool execution was interrupted]"))
    return said + results


def _after_compaction(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def request_part(m: dict[str, Any]) -> dict[str, Any] | None:
        return next((p for p in m["parts"] if p["type"] == "compaction"), None) if m["role"] == "user" else None

    answered = {m["parentID"] for m in messages if m["role"] == "assistant" and m.get("summary") and m.get("finish") and "error" not in m}
    newest = next((n for n in range(len(messages) - 1, -1, -1) if messages[n]["id"] in answered), None)
    if newest is None:
        return messages
    part = request_part(messages[newest])
    assert part is not None
    tail = part.get("tail_start_id")
    if tail is None:
        return messages[newest:]
    start = next((n for n, m in enumerate(messages) if m["id"] == tail), None)
    if start is None:
        return messages
    summary = next(
        n for n in range(newest, len(messages)) if messages[n].get("parentID") == messages[newest]["id"] and messages[n].get("summary")
    )
    if start >= newest:
        return messages[newest:]
    return messages[newest : summary + 1] + messages[start:newest] + messages[summary + 1 :]


def rebuilt(source: OpenCodeSource, context: Context) -> list[Line]:
    """Return what the product says a request carried, with its texts."""
    made: list[Line] = []
    for message in context.messages:
        for part in message.parts:
            assert part.ref is not None
            known = source.text(part.ref, 1 << 30)
            assert isinstance(known, Confirmed), (part, known)
            assert part.size is None or part.kind == "media" or part.size == len(known.value.encode())
            made.append((message.role.value, part.kind.value, str(known.value)))
    return made
