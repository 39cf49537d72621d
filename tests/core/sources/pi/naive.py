"""Message lists built the slow and obvious way, from plain JSON: what the product's lists must equal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Row = tuple[str, ...]
Entry = dict[str, Any]


def path_to(entries: Sequence[Entry], leaf: str | None) -> list[Entry]:
    by_id = {e["id"]: e for e in entries}
    out: list[Entry] = []
    while leaf is not None:
        out.append(by_id[leaf])
        leaf = by_id[leaf]["parentId"]
    return out[::-1]


def role(entry: Entry) -> str:
    return entry["message"]["role"] if entry["type"] == "message" else entry["type"]


def chosen(path: list[Entry]) -> list[Entry]:
    """Return what is selected: the newest compaction, what it kept, what follows."""
    places = [i for i, e in enumerate(path) if e["type"] == "compaction"]
    if not places:
        return path
    at = places[-1]
    kept: list[Entry] = []
    inside = False
    for entry in path[:at]:
        inside = inside or entry["id"] == path[at]["firstKeptEntryId"]
        if inside and role(entry) not in ("system", "compaction"):
            kept.append(entry)
    return [path[at], *kept, *path[at + 1 :]]


def messages(path: list[Entry], model: tuple[str, str, str]) -> list[Row]:
    """Return the list as it is sent to a model (provider, api, id): (role, text or call …)."""
    rows = chosen(path)
    edits = {e["targetId"]: e["replacement"] for e in rows if e["type"] == "context_edit"}
    out: list[Row] = []
    open_calls: list[dict[str, Any]] = []
    answered: set[str] = set()

    def close() -> None:
        out.extend(("tool", "No result provided") for c in open_calls if c["id"] not in answered)
        open_calls.clear()

    for entry in rows:
        edited = entry["id"] in edits
        if edited and edits[entry["id"]] is None:
            continue
        new = edits[entry["id"]]["content"] if edited else None
        match role(entry):
            case "user":
                close()
                out.append(("user", *texts(new or entry["message"]["content"])))
            case "custom_message":
                close()
                out.append(("user", *texts(new or entry["content"])))
            case "bashExecution":
                if entry["message"].get("excludeFromContext"):
                    continue
                close()
                out.append(("user", f"Ran `{entry['message']['command']}`\n```\n{entry['message']['output']}\n```"))
            case "compaction":
                close()
                head = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
                out.append(("user", head + entry["summary"] + "\n</summary>"))
            case "branch_summary":
                close()
                head = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
                out.append(("user", head + entry["summary"] + "</summary>"))
            case "toolResult":
                answered.add(entry["message"]["toolCallId"])
                out.append(("tool", *texts(new or entry["message"]["content"])))
            case "assistant":
                close()
                m = entry["message"]
                if m["stopReason"] in ("error", "aborted"):
                    continue
                content = new or m["content"]
                same = (m["provider"], m["api"], m["model"]) == model
                row: list[str] = []
                for block in content:
                    match block["type"]:
                        case "text":
                            row.append(block["text"])
                        case "thinking" if same:
                            row.append(block["thinking"])
                        case "toolCall":
                            row.append(f"{block['name']}({json.dumps(block['arguments'], separators=(',', ':'), ensure_ascii=False)})")
                calls = [b for b in content if b["type"] == "toolCall"]
                if calls:
                    open_calls[:] = calls
                    answered.clear()
                alone = not any(b["type"] in ("text", "toolCall") for b in content)
                if row and not (alone and m["api"] == "openai-completions"):
                    out.append(("assistant", *row))
    close()
    return out


def texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [b["text"] for b in content]
