"""Requests as Pi's dialects put them on the wire, and what happens to them behind the store.

Each predictor is a function of the session file (and of what a model is known to accept): it says what the
wire form of a rebuilt list must be. None knows a request's number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ctx_inspect.core.model import Message, PartKind, Ref, Role

IMAGES_LEAD = "Attached image(s) from tool result:"


def millis(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp() * 1000


@dataclass(frozen=True)
class Sent:
    """One message in a form that all dialects share."""

    role: str
    texts: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, str], ...] = ()
    """(id, tool, arguments as canonical JSON)."""
    call: str = ""
    images: tuple[tuple[str, int], ...] = ()
    """(media type, bytes)."""
    thinking: tuple[str, ...] = ()
    id: str = ""
    """Entry id, where it came from the store; never compared."""

    def same(self, other: Sent) -> bool:
        return replace(self, id="") == replace(other, id="")


def canonical(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False)


def sent_of(message: Message, text: Callable[[Ref | None], str]) -> Sent:
    """Put a rebuilt message into the shared form."""
    texts, calls, images, thinking, call = [], [], [], [], ""
    for part in message.parts:
        match part.kind:
            case PartKind.TEXT:
                texts.append(text(part.ref))
            case PartKind.RESULT:
                texts.append(text(part.ref))
                call = part.call or ""
            case PartKind.CALL:
                calls.append((part.call or "", str(part.name), canonical(json.loads(text(part.ref)))))
            case PartKind.MEDIA:
                images.append((str(part.mime), part.size or 0))
            case PartKind.REASONING:
                thinking.append(text(part.ref))
            case _:
                raise AssertionError(part)
        if part.kind in (PartKind.TEXT, PartKind.RESULT, PartKind.REASONING):
            spoken = texts[-1] if part.kind is not PartKind.REASONING else thinking[-1]
            assert part.size == len(spoken.encode()), (part, len(spoken.encode()))
    role = {Role.USER: "user", Role.ASSISTANT: "assistant", Role.TOOL: "tool"}[message.role]
    return Sent(role, tuple(texts), tuple(calls), call, tuple(images), tuple(thinking), message.id)


# -- the wire ------------------------------------------------------------------------------------------------


def dialect(body: dict[str, Any]) -> str:
    if "input" in body:
        return "responses"
    return "anthropic" if "system" in body or "anthropic_version" in body else "completions"


def _texts(content: Any) -> tuple[str, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (content,) if content else ()
    return tuple(b["text"] for b in content if b.get("type") in ("text", "input_text", "output_text"))


def _decoded(data: str) -> int:
    return len(data) * 3 // 4 - data[-2:].count("=")


def _images(content: Any) -> tuple[tuple[str, int], ...]:
    if not isinstance(content, list):
        return ()
    found = []
    for block in content:
        url = None
        if block.get("type") == "image":
            found.append((block["source"]["media_type"], _decoded(block["source"]["data"])))
        elif block.get("type") == "image_url":
            url = block["image_url"]["url"]
        elif block.get("type") == "input_image":
            url = block["image_url"]
        if url and (match := re.fullmatch(r"data:([^;]+);base64,(.*)", url, re.S)):
            found.append((match[1], _decoded(match[2])))
    return tuple(found)


def wire_messages(body: dict[str, Any]) -> list[Sent]:
    """Return the messages of a request body; system messages have the role ``system``."""
    return {"completions": _completions, "anthropic": _anthropic, "responses": _responses}[dialect(body)](body)


def _completions(body: dict[str, Any]) -> list[Sent]:
    rows: list[Sent] = []
    for m in body["messages"]:
        match m["role"]:
            case "system" | "developer":
                tools = tuple(t["function"]["name"] for t in m.get("tools", ()))
                rows.append(Sent("tools" if tools else "system", tools or _texts(m.get("content"))))
            case "user":
                rows.append(Sent("user", _texts(m["content"]), images=_images(m["content"])))
            case "assistant":
                calls = [
                    (c["id"], c["function"]["name"], canonical(json.loads(c["function"]["arguments"]))) for c in m.get("tool_calls") or ()
                ]
                thinking = tuple(m[k] for k in ("reasoning_content", "reasoning", "reasoning_text") if m.get(k))
                rows.append(Sent("assistant", _texts(m.get("content")), tuple(calls), thinking=thinking))
            case _:
                rows.append(Sent("tool", _texts(m["content"]), call=m["tool_call_id"]))
    return rows


def _anthropic(body: dict[str, Any]) -> list[Sent]:
    rows = [Sent("system", ("\n".join(_texts(body["system"])),))] if body.get("system") else []
    for m in body["messages"]:
        content = m["content"] if isinstance(m["content"], list) else [{"type": "text", "text": m["content"]}]
        results = [b for b in content if b["type"] == "tool_result"]
        rows += [Sent("tool", ("\n".join(_texts(b["content"])),), call=b["tool_use_id"], images=_images(b["content"])) for b in results]
        rest = [b for b in content if b["type"] != "tool_result"]
        if not rest:
            continue
        calls = tuple((b["id"], b["name"], canonical(b["input"])) for b in rest if b["type"] == "tool_use")
        thinking = tuple(b["thinking"] for b in rest if b["type"] == "thinking")
        rows.append(Sent(m["role"], _texts(rest), calls, images=_images(rest), thinking=thinking))
    return rows


def _responses(body: dict[str, Any]) -> list[Sent]:
    rows: list[Sent] = [Sent("system", (body["instructions"],))] if body.get("instructions") else []
    for m in body["input"]:
        match m.get("type", "message"):
            case "function_call":
                rows.append(Sent("assistant", (), ((m["call_id"], m["name"], canonical(json.loads(m["arguments"]))),)))
            case "function_call_output":
                rows.append(Sent("tool", _texts(m["output"]), call=m["call_id"], images=_images(m["output"])))
            case "message":
                role = {"developer": "system"}.get(m["role"], m["role"])
                rows.append(Sent(role, _texts(m["content"]), images=_images(m["content"])))
            case "additional_tools":
                rows.append(Sent("tools", tuple(t["name"] for t in m["tools"])))
            case _:
                continue
    return rows


def has_inner_system(body: dict[str, Any]) -> bool:
    return any(m.role in ("system", "tools") for m in wire_messages(body)[1:])


def sent_tools(body: dict[str, Any]) -> dict[str, str]:
    """Return name → description of all tools of a request: the list of its own, then those in system messages."""
    listed = list(body.get("tools") or ())
    for m in body.get("messages") or body.get("input") or ():
        listed += m.get("tools") or () if m.get("role") in ("system", "developer") else ()
    rows = [t.get("function") or t for t in listed]
    return {t["name"]: t.get("description", "") for t in rows}


# -- the session file, read independently ----------------------------------------------------------------------


class RawSession:
    """A session file as plain JSON: only for what lies behind the store's lists."""

    def __init__(self, path: Path) -> None:
        self.header: dict[str, Any] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        self.leaf: str | None = None
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry["type"] == "session":
                self.header = self.header or entry
            else:
                self.entries[entry["id"]] = entry
                self.leaf = entry["id"]

    def path(self, leaf: str | None) -> list[dict[str, Any]]:
        out = []
        while leaf in self.entries:
            out.append(self.entries[leaf])
            leaf = self.entries[leaf]["parentId"]
        return out[::-1]

    def extensions(self) -> set[str]:
        """Names of extensions that left entries of their own: the part of ``customType`` before the first hyphen."""
        kinds = [e["customType"] for e in self.entries.values() if e["type"] in ("custom", "custom_message")]
        return {k.partition("-")[0] for k in kinds}


@dataclass(frozen=True)
class Case:
    """One request: the session, the entry that answers it, what was sent, and what its model accepts."""

    raw: RawSession
    id: str
    body: dict[str, Any]
    inline: bool

    @property
    def path(self) -> list[dict[str, Any]]:
        return self.raw.path(self.raw.entries[self.id]["parentId"])

    @property
    def model(self) -> tuple[Any, ...]:
        message = self.raw.entries[self.id]["message"]
        return message["provider"], message["api"], message["model"]


@dataclass(frozen=True)
class Outcome:
    equal: bool
    how: str


# -- predictors ------------------------------------------------------------------------------------------------


def ids_of_dialect(case: Case, rows: Iterable[Sent]) -> list[Sent]:
    """Predict call ids: those of another model's answers are rewritten to what the dialect allows."""
    own = {id for id, e in case.raw.entries.items() if _model_of(e) == case.model}
    names: dict[str, str] = {}
    out: list[Sent] = []
    kind = dialect(case.body)
    for row in rows:
        if row.role == "assistant":
            calls = []
            for id, name, arguments in row.calls:
                new = id
                if row.id not in own and kind == "anthropic":
                    new = re.sub(r"[^a-zA-Z0-9_-]", "_", id)[:64]
                elif row.id not in own and kind == "completions" and "|" in id:
                    call, _, item = (re.sub(r"[^a-zA-Z0-9_|-]", "_", id)).partition("|")
                    new = f"{call}_{item}" if item else call
                elif kind == "responses":
                    new = id.split("|")[0]
                names[id] = new
                calls.append((new, name, arguments))
            row = replace(row, calls=tuple(calls))
        elif row.role == "tool":
            row = replace(row, call=names.get(row.call, row.call.split("|")[0] if kind == "responses" else row.call))
        out.append(row)
    return out


def _model_of(entry: dict[str, Any]) -> tuple[Any, ...] | None:
    message = entry.get("message") or {}
    return (message["provider"], message["api"], message["model"]) if message.get("role") == "assistant" else None


def images_behind_results(case: Case, rows: list[Sent]) -> list[Sent]:
    """Predict where the completions dialect puts images of tool results: in a user message behind the run of results."""
    if dialect(case.body) != "completions":
        return rows
    out: list[Sent] = []
    carried: list[tuple[str, int]] = []
    for row in [*rows, None]:
        if (row is None or row.role != "tool") and carried:
            out.append(Sent("user", (IMAGES_LEAD,), images=tuple(carried)))
            carried = []
        if row is None:
            break
        if row.role == "tool" and row.images:
            carried += row.images
            row = replace(row, images=(), texts=row.texts if row.texts[0].strip() else ("(see attached image)",))
        out.append(row)
    return out


def empty_results(case: Case, rows: list[Sent]) -> list[Sent]:
    """Predict the placeholder of a result without text."""
    if dialect(case.body) == "anthropic":
        return rows
    return [replace(r, texts=("(no tool output)",)) if r.role == "tool" and not r.images and not r.texts[0].strip() else r for r in rows]


def joined_texts(case: Case, rows: list[Sent]) -> list[Sent]:
    """Predict how a dialect writes an assistant's texts and thinking: completions as one string each."""
    if dialect(case.body) != "completions":
        return [replace(r, thinking=()) for r in rows] if dialect(case.body) == "responses" else rows
    return [
        replace(r, texts=("".join(r.texts),) if r.texts else (), thinking=("\n".join(r.thinking),) if r.thinking else ())
        if r.role == "assistant"
        else r
        for r in rows
    ]


def selected(path: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries that stand behind the newest compaction, itself first."""
    at = max((i for i, e in enumerate(path) if e["type"] == "compaction"), default=None)
    if at is None:
        return path
    kept = [i for i, e in enumerate(path[:at]) if e["id"] == path[at]["firstKeptEntryId"]]
    inner = [e for e in path[kept[0] : at] if not _system(e)] if kept else []
    return [path[at], *inner, *path[at + 1 :]]


def _system(entry: dict[str, Any]) -> dict[str, Any] | None:
    if entry["type"] == "compaction":
        return entry.get("systemMessage")
    message = entry.get("message") or {}
    return message if message.get("role") == "system" else None


def render_patch(message: dict[str, Any]) -> str:
    parts = [message["content"]] if message.get("content") else []
    for name, value in (message.get("sections") or {}).items():
        parts.append(f'Removed system prompt section "{name}".' if value is None else f'Updated system prompt section "{name}":\n\n{value}')
    return "\n\n".join(parts)


def system_patches(case: Case, rows: list[Sent]) -> list[Sent]:
    """Predict system messages that a model takes within the conversation: each patch where it was recorded.

    A tool that a patch adds stands in a message of its own before it, behind the last removal or redefinition of any.
    """
    entries = selected(case.path)
    patches = [(i, m) for i, e in enumerate(entries) if (m := _system(e)) is not None]
    declared: set[str] = set()
    folded = 1
    for n, (_, m) in enumerate(patches):
        added = [t["name"] for t in m.get("toolsAdded") or ()]
        if m.get("toolsRemoved") or declared.intersection(added):
            folded = n + 1
        declared.update(added)
    place = {row.id: k for k, row in enumerate(rows)}
    inserts: dict[int, list[Sent]] = {}
    for n, (i, m) in enumerate(patches):
        if n == 0:
            continue
        at = next((place[e["id"]] for e in entries[i:] if e["id"] in place), len(rows))
        while 0 < at < len(rows) and rows[at].role == "tool":
            at += 1  # never between a call and its results
        added = tuple(t["name"] for t in m.get("toolsAdded") or ()) if n >= folded else ()
        new = [Sent("tools", added)] if added else []
        if text := render_patch(m):
            new.append(Sent("system", (text,)))
        inserts.setdefault(at, []).extend(new)
    return [row for k in range(len(rows) + 1) for row in (*inserts.get(k, ()), *rows[k : k + 1])]


def merged_answers(rows: list[Sent]) -> list[Sent]:
    """Join assistant items that follow each other: the responses dialect has one item per text and call."""
    out: list[Sent] = []
    for row in rows:
        if row.role == "assistant" and out and out[-1].role == "assistant":
            out[-1] = replace(out[-1], texts=out[-1].texts + row.texts, calls=out[-1].calls + row.calls)
        else:
            out.append(row)
    return out


def predicted(case: Case, rows: list[Sent]) -> tuple[list[Sent], list[str]]:
    """Return the wire form of a rebuilt list and the names of the predictors that changed it."""
    used: list[str] = []

    def step(name: str, new: list[Sent]) -> None:
        nonlocal rows
        if len(new) != len(rows) or not all(a.same(b) for a, b in zip(new, rows, strict=True)):
            used.append(name)
        rows = new

    if case.inline:
        step("system patches in place", system_patches(case, rows))
    step("ids of the dialect", ids_of_dialect(case, rows))
    step("placeholder of an empty result", empty_results(case, rows))
    step("images behind results", images_behind_results(case, rows))
    rows = joined_texts(case, rows)
    if dialect(case.body) == "responses":
        rows = merged_answers(rows)
    return rows, used


def pruned_by_extension(case: Case, rows: list[Sent], sent: list[Sent]) -> bool:
    """Predict the rewrite of the extension ``driver``: nothing but the last N messages of the list are sent."""
    kept = [r for r in rows if r.role not in ("system", "tools")]
    got = [r for r in sent if r.role not in ("system", "tools")]
    return "driver" in case.raw.extensions() and 0 < len(got) < len(kept) and _equal(kept[-len(got) :], got)


def _equal(a: list[Sent], b: list[Sent]) -> bool:
    return len(a) == len(b) and all(x.same(y) for x, y in zip(a, b, strict=True))


def _forced(case: Case) -> bool:
    """Tell whether the extension ``driver`` may have replaced the prompt: then all of it is sent folded, in front."""
    return "driver" in case.raw.extensions()


def compare_messages(case: Case, rebuilt: list[Sent]) -> Outcome:
    """Compare a rebuilt list with what was sent, through the predictors."""
    sent = wire_messages(case.body)
    if sent and sent[0].role == "system":
        sent = sent[1:]
    if dialect(case.body) == "responses":
        sent = merged_answers(sent)
    want, used = predicted(case, rebuilt)
    if _equal(want, sent):
        return Outcome(True, " + ".join(["equal", *used]))
    if case.inline and _forced(case):
        folded = predicted(replace(case, inline=False), rebuilt)
        if _equal(folded[0], sent):
            return Outcome(True, " + ".join(["equal", *folded[1], "prompt forced by the extension driver"]))
    if pruned_by_extension(case, want, sent):
        return Outcome(True, " + ".join(["equal", *used, "pruned by the extension driver"]))
    at = next((i for i, (x, y) in enumerate(zip(want, sent, strict=False)) if not x.same(y)), min(len(want), len(sent)))
    return Outcome(
        False, f"{len(want)} against {len(sent)}, first at {at}: {str(want[at : at + 1])[:400]} / {str(sent[at : at + 1])[:400]}"
    )


def first_prompt(case: Case) -> str:
    """Return the prompt that leads where later patches stay in place."""
    for entry in selected(case.path):
        if (message := _system(entry)) is not None:
            parts = [message.get("content") or "", *(v for v in (message.get("sections") or {}).values() if v)]
            return "\n\n".join(p for p in parts if p)
    return ""


def compare_prompt(case: Case, recorded: str) -> Outcome:
    """Compare the recorded system prompt with the sent one."""
    rows = wire_messages(case.body)
    sent = rows[0].texts[0] if rows and rows[0].role == "system" else ""
    if sent == recorded:
        return Outcome(True, "equal")
    if case.inline and sent == first_prompt(case):
        return Outcome(True, "equal, later patches in place")
    if _forced(case) and sent.startswith(recorded + "\n\n"):
        return Outcome(True, "equal, with the suffix forced by the extension driver")
    at = next((i for i, (x, y) in enumerate(zip(recorded, sent, strict=False)) if x != y), min(len(recorded), len(sent)))
    return Outcome(False, f"{len(recorded)} against {len(sent)} characters, first at {at}")
