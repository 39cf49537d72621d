"""Request bodies that OpenCode sent, and rebuilt message lists, in one form; and what is put behind the store.

Two dialects: chat completions (``messages`` with a system message, ``tool_calls``) and Anthropic's (``system`` beside
the messages, blocks). Each becomes a list of messages, each a role and its blocks ``(kind, name or id, text)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ctx_inspect.core.model import Context, Message, Part, PartKind, Synthetic

Block = tuple[str, str, str]
Sent = list[tuple[str, list[Block]]]
Text = Callable[[Part], str]


def sent(row: dict[str, Any]) -> Sent:
    """Return the conversation of a logged request."""
    return _anthropic(row["body"]) if row["path"].endswith("/messages") else _completions(row["body"])


def _completions(body: dict[str, Any]) -> Sent:
    made: Sent = []
    for m in body["messages"]:
        content = m.get("content")
        blocks: list[Block] = []
        match m["role"]:
            case "system":
                continue
            case "tool":
                blocks.append(("result", m["tool_call_id"], content))
            case "assistant":
                blocks += [("reasoning", "", m["reasoning_content"])] if m.get("reasoning_content") else []
                blocks += [("text", "", content)] if content else []
                blocks += [("call", f"{c['id']} {c['function']['name']}", c["function"]["arguments"]) for c in m.get("tool_calls") or ()]
            case "user":
                items = [{"type": "text", "text": content}] if isinstance(content, str) else content
                blocks += [("text", "", i["text"]) if i["type"] == "text" else ("media", "", i["image_url"]["url"]) for i in items]
            case role:
                raise AssertionError(role)
        made.append((m["role"], blocks))
    return made


def _anthropic(body: dict[str, Any]) -> Sent:
    made: Sent = []
    for m in body["messages"]:
        blocks: list[Block] = []
        for b in [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]:
            match b["type"]:
                case "text":
                    blocks.append(("text", "", b["text"]))
                case "thinking":
                    blocks.append(("reasoning", "", b["thinking"]))
                case "tool_use":
                    blocks.append(("call", f"{b['id']} {b['name']}", _plain(b["input"])))
                case "tool_result":
                    content = b["content"]
                    text = content if isinstance(content, str) else "".join(c["text"] for c in content)
                    blocks.append(("result", b["tool_use_id"], text))
                case "image":
                    blocks.append(("media", "", f"data:{b['source']['media_type']};base64,{b['source']['data']}"))
                case kind:
                    raise AssertionError(kind)
        made.append((m["role"], blocks))
    return made


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


@dataclass
class Predicted:
    """What a rebuilt list should look like on the wire, and what of it does not lie in the store."""

    sent: Sent
    added: set[str]


def predict(context: Context, text: Text, path: str) -> Predicted:
    """Write a rebuilt list in the form of a dialect; each function below predicts one thing that happens behind the store."""
    added: set[str] = set()
    messages = [(m.role.value, _blocks(m, text, added)) for m in context.messages]
    if path.endswith("/messages"):
        messages = anthropic_ids(merged_roles([(role, anthropic_blocks(blocks)) for role, blocks in messages]))
    else:
        messages = [(role, completions_blocks(role, blocks)) for role, blocks in messages]
    return Predicted(messages, added)


def _blocks(message: Message, text: Text, added: set[str]) -> list[Block]:
    blocks: list[Block] = []
    for p in message.parts:
        if p.synthetic is Synthetic.REMINDER:
            added.add("reminder of plan or build")
        if p.fp.endswith(":inlined"):
            added.add("reasoning inlined after a switch of the model")
        if p.ref is not None and p.ref.field.startswith("const:") and p.synthetic is not Synthetic.REMINDER:
            added.add("placeholder of the harness")
        match p.kind:
            case PartKind.CALL:
                blocks.append(("call", f"{p.call} {p.name}", text(p)))
            case PartKind.RESULT:
                blocks.append(("result", p.call or "", text(p)))
            case kind:
                blocks.append((kind.value, "", text(p)))
    return blocks


def completions_blocks(role: str, blocks: list[Block]) -> list[Block]:
    """An answer's reasoning and text are one field each; a user's texts stay apart."""
    if role != "assistant":
        return blocks
    texts = ["".join(b[2] for b in blocks if b[0] == kind) for kind in ("reasoning", "text")]
    fields: list[Block] = [(kind, "", t) for kind, t in zip(("reasoning", "text"), texts, strict=True) if t]
    return [*fields, *(b for b in blocks if b[0] == "call")]


def anthropic_blocks(blocks: list[Block]) -> list[Block]:
    """Empty texts are not sent; arguments are objects, not text."""
    made = [b for b in blocks if b[0] != "text" or b[2]]
    return [(kind, name, _plain(json.loads(text)) if kind == "call" else text) for kind, name, text in made]


def merged_roles(messages: Sent) -> Sent:
    """Results are sent by the user, and neighbours of one role are one message."""
    made: Sent = []
    for role, blocks in messages:
        role = "user" if role == "tool" else role
        if made and made[-1][0] == role:
            made[-1][1].extend(blocks)
        elif blocks:
            made.append((role, list(blocks)))
    return made


def anthropic_ids(messages: Sent) -> Sent:
    """Ids of calls hold only letters, digits, ``_`` and ``-``."""

    def clean(block: Block) -> Block:
        kind, name, text = block
        if kind in ("call", "result"):
            id, space, tool = name.partition(" ")
            name = re.sub(r"[^a-zA-Z0-9_-]", "_", id) + space + tool
        return kind, name, text

    return [(role, [clean(b) for b in blocks]) for role, blocks in messages]
