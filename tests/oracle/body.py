"""Reads one request body: what the model was sent, whichever of three ways the provider wants it written in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.oracle.prompt import Prompt, old_pi_parts, opencode_parts, patched, pi_parts, pi_sections

CARRIER = "Attached image(s) from tool result:"
"""What chat completions put in front of a result's images, which stand in a user message of their own there."""

BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}
"""Tokens that Pi asks for at each thinking level, where a provider takes a number; less where the answer would not fit."""
ANSWER = 1024
"""Tokens that are left for the answer then."""

NOT_SETTINGS = frozenset({"messages", "input", "instructions", "system", "tools", "model", "reasoning_effort", "reasoning", "thinking"})


@dataclass(frozen=True)
class Row:
    """One message, alike in all dialects; ids of calls are left out, a dialect rewrites them.

    Attributes:
        role: ``user``, ``assistant`` or ``tool``.
        texts: What is said; an assistant's is one text.
        thinking: What was thought aloud.
        calls: (tool, arguments) pairs.
        media: (media type, characters of its data) pairs.
    """

    role: str
    texts: tuple[str, ...] = ()
    thinking: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    media: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Tool:
    """A tool as it is declared; ``schema`` is what the dialect says beside name and description."""

    description: str
    schema: Any


@dataclass(frozen=True)
class Sent:
    """What one request carried.

    Attributes:
        dialect: ``completions``, ``responses`` or ``anthropic``.
        prompt: Files, skills and the rest of the system text.
        tools: By name, in order.
        model: Its name.
        endpoint: Path of the request, without a query: which provider's way of asking.
        thinking: The level, ``off`` where none is asked for.
        other: All other settings.
        rows: The conversation.
    """

    dialect: str
    prompt: Prompt
    tools: dict[str, Tool]
    model: str
    endpoint: str
    thinking: str
    other: dict[str, Any]
    rows: tuple[Row, ...]


def read(body: dict[str, Any], path: str, harness: str) -> Sent:
    """Read a body.

    Args:
        body: The request, as JSON.
        path: Where it was sent.
        harness: ``pi`` or ``opencode``: how its system prompt is written.
    """
    dialect = "responses" if "input" in body else "anthropic" if path.partition("?")[0].endswith("/messages") else "completions"
    systems = list(_systems(body, dialect))
    listed = list(body.get("tools") or ())
    for message in body.get("messages") or body.get("input") or ():
        if message.get("role") in ("system", "developer") or message.get("type") == "additional_tools":
            listed += message.get("tools") or ()
    return Sent(
        dialect=dialect,
        prompt=_prompt(systems, harness),
        tools=dict(_tool(t) for t in listed),
        model=body["model"],
        endpoint=path.partition("?")[0],
        thinking=_thinking(body),
        other={k: v for k, v in body.items() if k not in NOT_SETTINGS},
        rows=tuple({"completions": _completions, "responses": _responses, "anthropic": _anthropic}[dialect](body)),
    )


# -- in front of the conversation -----------------------------------------------------------------------------------


def _systems(body: dict[str, Any], dialect: str) -> Iterator[str]:
    if dialect == "anthropic" and body.get("system"):
        yield "\n".join(_texts(body["system"]))
    if body.get("instructions"):
        yield body["instructions"]
    for message in body.get("messages") or body.get("input") or ():
        if message.get("role") in ("system", "developer") and message.get("content"):
            yield "\n".join(_texts(message["content"]))


def _prompt(systems: list[str], harness: str) -> Prompt:
    if harness == "opencode":
        return opencode_parts("\n".join(systems))
    if not systems:
        return Prompt()
    sections = pi_sections(systems[0])
    if set(sections) <= {"preamble"}:
        return old_pi_parts("\n\n".join(systems))
    for text in systems[1:]:
        sections = patched(sections, text)
    return pi_parts(sections)


def _tool(declared: dict[str, Any]) -> tuple[str, Tool]:
    inner = declared.get("function") or declared
    schema = inner.get("parameters") or inner.get("input_schema")
    return inner["name"], Tool(inner.get("description") or "", schema)


def _thinking(body: dict[str, Any]) -> str:
    if effort := body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort"):
        return effort
    asked = body.get("thinking") or {}
    if asked.get("type") != "enabled":
        return "off"
    room = body["max_tokens"] - ANSWER
    budget = asked["budget_tokens"]
    return next((level for level, tokens in BUDGETS.items() if min(tokens, room) == budget), f"{budget} tokens")


# -- the conversation -------------------------------------------------------------------------------------------------


def _texts(content: Any) -> tuple[str, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    return tuple(b["text"] for b in content or () if b.get("type") in ("text", "input_text", "output_text") and b["text"])


def _media(content: Any) -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    for block in content if isinstance(content, list) else ():
        url = block.get("image_url")
        if block.get("type") in ("image", "document") and "source" in block:
            found.append((block["source"]["media_type"], len(block["source"]["data"])))
        elif url is not None:
            kind, _, data = (url["url"] if isinstance(url, dict) else url).removeprefix("data:").partition(";base64,")
            found.append((kind, len(data)))
    return tuple(found)


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _arguments(text: str) -> str:
    try:
        return _plain(json.loads(text))
    except ValueError:
        return text


def _completions(body: dict[str, Any]) -> Iterator[Row]:
    rows: list[Row] = []
    for m in body["messages"]:
        content = m.get("content")
        match m["role"]:
            case "system" | "developer":
                continue
            case "assistant":
                thought = "\n".join(m[k] for k in ("reasoning_content", "reasoning", "reasoning_text") if m.get(k))
                calls = tuple((c["function"]["name"], _arguments(c["function"]["arguments"])) for c in m.get("tool_calls") or ())
                rows.append(Row("assistant", tuple(filter(None, ["".join(_texts(content))])), thought, calls))
            case "tool":
                rows.append(Row("tool", _texts(content)))
            case role:
                media = _media(content)
                if media and _texts(content) == (CARRIER,):
                    _hand_back(rows, media)
                else:
                    rows.append(Row(role, _texts(content), media=media))
    yield from rows


def _hand_back(rows: list[Row], media: tuple[tuple[str, int], ...]) -> None:
    """Give a carrier's images to the last result: which one of a run they are of, the body does not say."""
    last = rows[-1]
    rows[-1] = Row(last.role, last.texts, last.thinking, last.calls, media)


def _anthropic(body: dict[str, Any]) -> Iterator[Row]:
    for m in body["messages"]:
        blocks = m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
        for b in blocks:
            if b["type"] == "tool_result":
                yield Row("tool", ("\n".join(_texts(b.get("content"))),), media=_media(b.get("content")))
        said = [b for b in blocks if b["type"] != "tool_result"]
        texts = _texts(said)
        if m["role"] == "assistant":
            texts = tuple(filter(None, ["".join(texts)]))
        thought = "\n".join(b["thinking"] for b in said if b["type"] == "thinking")
        calls = tuple((b["name"], _plain(b["input"])) for b in said if b["type"] == "tool_use")
        if said:
            yield Row(m["role"], texts, thought, calls, _media(said))


def _responses(body: dict[str, Any]) -> Iterator[Row]:
    open_: Row | None = None
    for m in body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]:
        kind = m.get("type", "message")
        role = m.get("role")
        if kind == "function_call" or (kind == "message" and role == "assistant"):  # an answer's text and calls are items of their own
            was = open_ or Row("assistant")
            calls = ((m["name"], _arguments(m["arguments"])),) if kind == "function_call" else ()
            texts = tuple(filter(None, ["".join((*was.texts, *_texts(m.get("content"))))]))
            open_ = Row("assistant", texts, "", was.calls + calls)
            continue
        if kind not in ("function_call_output", "message") or role in ("system", "developer"):
            continue
        if open_ is not None:
            yield open_
            open_ = None
        if kind == "function_call_output":
            yield Row("tool", _texts(m["output"]), media=_media(m["output"]))
        else:
            yield Row(m["role"], _texts(m["content"]), media=_media(m["content"]))
    if open_ is not None:
        yield open_
