"""Compares a message list rebuilt from a store with the one that the model received.

Both become the same plain form: ``("user", texts…)``, ``("assistant", text, calls)``, ``("tool", call id, text)``.
Reasoning is left out: harnesses send it in ways of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ctx_inspect.core.model import Known, Message, PartKind, Raw, Ref, Role, Unavailable

from tests.agents.mock_model import Json, text_of

Plain = tuple[Any, ...]
Text = Callable[[Ref, int], Known[Raw]]

MUCH = 10_000_000


def _arguments(text: str) -> str:
    return json.dumps(json.loads(text or "{}"), sort_keys=True, ensure_ascii=False)


def sent(body: Json) -> list[Plain]:
    """Return the conversation of a request body, in OpenAI's or Anthropic's form."""
    plain: list[Plain] = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if role == "user":
            plain += [("tool", b["tool_use_id"], text_of(b.get("content"))) for b in blocks if b["type"] == "tool_result"]
            texts = [b["text"] for b in blocks if b["type"] == "text"]
            if texts:
                plain.append(("user", *texts))
        elif role == "tool":
            plain.append(("tool", message["tool_call_id"], text_of(content)))
        elif role == "assistant":
            calls = [(c["id"], c["function"]["name"], _arguments(c["function"]["arguments"])) for c in message.get("tool_calls") or ()]
            calls += [(b["id"], b["name"], _arguments(json.dumps(b["input"]))) for b in blocks if b["type"] == "tool_use"]
            plain.append(("assistant", "".join(b["text"] for b in blocks if b["type"] == "text"), tuple(calls)))
    return plain


def tool_names(body: Json) -> list[str]:
    """Return the names of the tools of a request body, in order."""
    return [t["function"]["name"] if "function" in t else t["name"] for t in body.get("tools", ())]


def rebuilt(messages: tuple[Message, ...], text: Text) -> list[Plain]:
    """Return the conversation of a rebuilt context; ``text`` reads a ref."""
    plain: list[Plain] = []
    for message in messages:
        read = {p: _read(p.ref, text) for p in message.parts if p.kind in (PartKind.TEXT, PartKind.CALL, PartKind.RESULT)}
        texts = [read[p] for p in message.parts if p.kind is PartKind.TEXT]
        match message.role:
            case Role.USER:
                plain.append(("user", *texts))
            case Role.ASSISTANT:
                calls = tuple((p.call, p.name, _arguments(read[p])) for p in message.parts if p.kind is PartKind.CALL)
                plain.append(("assistant", "".join(texts), calls))
            case Role.TOOL:
                results = [p for p in message.parts if p.kind is PartKind.RESULT]
                assert len(results) == 1, "a result is a message of its own"
                plain.append(("tool", results[0].call, read[results[0]]))
    return plain


def _read(ref: Ref | None, text: Text) -> str:
    assert ref is not None, "every text has a place in the store"
    known = text(ref, MUCH)
    assert not isinstance(known, Unavailable), f"{ref} cannot be read: {known.note}"
    return str(known.value)


def same(ours: list[Plain], theirs: list[Plain], where: str) -> None:
    """Compare two conversations.

    Raises:
        AssertionError: They differ; it names the first message that does, and no more.
    """
    for n, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        assert a == b, f"{where}: message {n} was rebuilt as {str(a)[:600]}, sent was {str(b)[:600]}"
    assert len(ours) == len(theirs), (
        f"{where}: {len(ours)} messages were rebuilt, {len(theirs)} sent; next {str((ours + theirs)[-1])[:300]}"
    )
