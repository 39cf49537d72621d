"""Writes Pi session files as Pi writes them, entry by entry, with ids and times that never vary.

```python
store = PiStore(tmp_path)
s = store.session(cwd="/home/ann/shop")
s.system(sections=sections(instructions={"/home/ann/shop/AGENTS.md": "Be brief.\\n"}), tools=[tool("read")])
s.turn("hello", answer="hi")
s.path        # the .jsonl file, already on disk
```

Every verb appends one line at once (so that growing files can be watched) and returns the entry's id. The
place where the next entry hangs is ``s.leaf``; ``s.go(entry)`` moves it without a line, as Pi's tree
navigation does. ``with s.held() as lines:`` collects lines instead of writing them, for damaged files.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START = 1_790_000_000_000  # epoch ms of the first entry: 2026-09-21T13:33:20Z
TICK = 1_000
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\x00" * 24).decode()


def iso(ms: int) -> str:
    """Return epoch milliseconds as Pi writes them."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def folder_of(cwd: str) -> str:
    """Return the (lossy) folder name that Pi gives to a working directory."""
    return "--" + re.sub(r"[/\\:]", "-", cwd.removeprefix("/")) + "--"


def encode(entry: Mapping[str, Any]) -> bytes:
    """Return an entry as one line, without its LF."""
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()


def tool(name: str, description: str | None = None, **properties: str) -> dict[str, Any]:
    """Make a tool: keyword arguments are its parameters and their types."""
    return {
        "name": name,
        "description": description or f"Does {name}",
        "parameters": {"type": "object", "properties": {k: {"type": v} for k, v in properties.items()}, "required": list(properties)},
    }


def project_context(instructions: Mapping[str, str]) -> str:
    """Make the section of instruction files: path → text."""
    files = "\n\n".join(f'<project_instructions path="{p}">\n{t}\n</project_instructions>' for p, t in instructions.items())
    return f"<project_context>\nFiles of this project:\n\n{files}\n</project_context>"


def skills_section(skills: Mapping[str, tuple[str, str]]) -> str:
    """Make the section that lists skills: name → (description, location)."""
    rows = "\n".join(
        f"  <skill>\n    <name>{n}</name>\n    <description>{d}</description>\n    <location>{p}</location>\n  </skill>"
        for n, (d, p) in skills.items()
    )
    return f"<skills>\nSkills that can be loaded.\n\n<available_skills>\n{rows}\n</available_skills>\n</skills>"


def sections(
    preamble: str = "You help with code.",
    instructions: Mapping[str, str] | None = None,
    skills: Mapping[str, tuple[str, str]] | None = None,
    cwd: str = "/home/ann/shop",
    **extra: str,
) -> dict[str, str | None]:
    """Make the sections of a complete system message, in Pi's order."""
    out: dict[str, str | None] = {"preamble": preamble, "rules": "<rules>\n- Be concise\n</rules>"}
    if instructions:
        out["project_context"] = project_context(instructions)
    if skills:
        out["skills"] = skills_section(skills)
    out["cwd"] = f"<cwd>\n{cwd}\n</cwd>"
    for name, text in extra.items():
        out[name] = f"<{name}>\n{text}\n</{name}>"
    return out


def image(data: str = PNG, mime: str = "image/png") -> dict[str, Any]:
    """Make an image block."""
    return {"type": "image", "data": data, "mimeType": mime}


@dataclass(frozen=True)
class Call:
    """A tool call of an assistant message."""

    name: str
    args: Mapping[str, Any]
    id: str = ""
    result: str | None = "done"
    """What ``turn`` answers it with; ``None`` leaves it without a result."""


@dataclass(frozen=True)
class Spent:
    """Usage of one response, in tokens; ``input`` is without the cached part."""

    input: int = 100
    output: int = 10
    read: int = 0
    write: int = 0
    reasoning: int | None = None

    def json(self) -> dict[str, Any]:
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        row: dict[str, Any] = {"input": self.input, "output": self.output, "cacheRead": self.read, "cacheWrite": self.write}
        if self.reasoning is not None:
            row["reasoning"] = self.reasoning
        return {**row, "totalTokens": self.input + self.output + self.read + self.write, "cost": cost}


class PiStore:
    """A home directory with Pi in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.agent = home / ".pi" / "agent"
        self.sessions = self.agent / "sessions"
        self.sessions.mkdir(parents=True, exist_ok=True)
        self._made = 0

    @property
    def env(self) -> dict[str, str]:
        """An environment in which this Pi is found."""
        return {"HOME": str(self.home)}

    def settings(self, **values: Any) -> Path:
        """Write ``settings.json`` (``compaction={"reserveTokens": 16384}``, ``sessionDir=…``)."""
        path = self.agent / "settings.json"
        path.write_text(json.dumps(values), encoding="utf-8")
        return path

    def models(self, providers: Mapping[str, Mapping[str, int]], **more: Any) -> Path:
        """Write ``models.json``: provider → model → context window; with keys and headers that must never be read out."""
        body = {
            "providers": {
                name: {
                    "baseUrl": "http://127.0.0.1:9/v1",
                    "api": "openai-completions",
                    "apiKey": "sk-never-show-this-key",
                    "headers": {"authorization": "Bearer never-show-this-header"},
                    "models": [{"id": m, "contextWindow": w, "maxTokens": 8000, "input": ["text"], **more} for m, w in models.items()],
                }
                for name, models in providers.items()
            }
        }
        path = self.agent / "models.json"
        path.write_text(json.dumps(body), encoding="utf-8")
        return path

    def session(self, cwd: str = "/home/ann/shop", id: str | None = None, **options: Any) -> PiFile:
        """Start a session in the folder of its working directory."""
        self._made += 1
        options.setdefault("at", START + self._made * 3_600_000)
        return PiFile(self.sessions / folder_of(cwd), cwd=cwd, id=id or f"session-{self._made}", **options)


class PiFile:
    """One session file that is being written.

    Args:
        folder: Where the file goes; made when missing.
        cwd: Working directory of the header.
        id: Session id.
        at: Epoch ms of the header.
        version: Header version; 1 leaves ids out, 2 uses ``hookMessage``.
        old: As Pi 0.7x writes: no system messages, no thinking level and no durations with messages.
        parent: The file this one was copied from.
        start: Write the opening ``model_change`` and ``thinking_level_change``.
        name: File name; Pi's own form where absent.
    """

    def __init__(
        self,
        folder: Path,
        *,
        cwd: str = "/home/ann/shop",
        id: str = "session-1",
        at: int = START,
        version: int = 3,
        old: bool = False,
        parent: Path | str | None = None,
        start: bool = True,
        name: str | None = None,
        provider: str = "acme",
        model: str = "large",
        api: str = "openai-completions",
        thinking: str = "medium",
        seed: str | None = None,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.id, self.cwd, self.version, self.old = id, cwd, version, old
        self.provider, self.model_id, self.api, self.level = provider, model, api, thinking
        self.path = folder / (name or f"{re.sub('[:.]', '-', iso(at))}_{id}.jsonl")
        self.now = at
        self.leaf: str | None = None
        self.entries: list[dict[str, Any]] = []
        self._seed = seed or id
        self._count = 0
        self._ids: set[str] = set()
        self._calls = 0
        self._hold: list[bytes] | None = None
        header: dict[str, Any] = {"type": "session"}
        if version > 1:
            header["version"] = version
        header |= {"id": id, "timestamp": iso(at), "cwd": cwd}
        if version == 1:
            header |= {"provider": provider, "modelId": model, "thinkingLevel": thinking}
        if parent is not None:
            header["parentSession"] = str(parent)
        self.header = header
        self.path.write_bytes(encode(header) + b"\n")
        if start and version > 1:
            self.model(provider, model, api)
            self.thinking(thinking)

    # -- lines -------------------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        """Append bytes as they are."""
        with self.path.open("ab") as f:
            f.write(data)

    @contextmanager
    def held(self) -> Iterator[list[bytes]]:
        """Collect the lines of the entries made inside (each without its LF) instead of writing them."""
        self._hold, before = [], self._hold
        try:
            yield self._hold
        finally:
            self._hold = before

    def put(self, kind: str, fields: Mapping[str, Any], *, id: str | None = None, at: int | None = None) -> str:
        """Append an entry of any type and return its id."""
        self._count += 1
        self.now = at if at is not None else self.now + TICK
        new = id or self._next_id()
        entry: dict[str, Any] = {"type": kind}
        if self.version > 1:
            entry |= {"id": new, "parentId": self.leaf}
        entry |= {"timestamp": iso(self.now), **fields}
        self.leaf = new
        self._write(entry)
        return new

    def _next_id(self) -> str:
        """Return 8 hex digits that no entry of this file has, as Pi does."""
        tries = 0
        while True:
            new = hashlib.blake2b(f"{self._seed}/{self._count}/{tries}".encode(), digest_size=4).hexdigest()
            if new not in self._ids:
                return new
            tries += 1

    def _write(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)
        self._ids.add(str(entry.get("id")))
        if self._hold is None:
            self.raw(encode(entry) + b"\n")
        else:
            self._hold.append(encode(entry))

    def go(self, entry: str | None) -> None:
        """Move the leaf without a line, as navigating without a summary does."""
        self.leaf = entry

    # -- messages ----------------------------------------------------------------------------------------

    def message(self, role: str, **fields: Any) -> str:
        """Append a message of any role; ``id`` and ``at`` are the entry's."""
        id, at = fields.pop("id", None), fields.pop("at", None)
        stamp = at if at is not None else self.now + TICK
        return self.put("message", {"message": {"role": role, **fields, "timestamp": stamp}}, id=id, at=at)

    def system(
        self,
        sections: Mapping[str, str | None] | None = None,
        tools: Iterable[Mapping[str, Any]] = (),
        removed: Iterable[str] = (),
        content: str = "",
    ) -> str:
        """Append a system message: the first is complete, later ones are patches (``None`` takes a section out)."""
        fields: dict[str, Any] = {"content": content}
        if sections:
            fields["sections"] = dict(sections)
        if added := [dict(t) for t in tools]:
            fields["toolsAdded"] = added
        if gone := [{"name": n} for n in removed]:
            fields["toolsRemoved"] = gone
        return self.message("system", **fields)

    def user(self, text: str, *, images: Sequence[Mapping[str, Any]] = (), plain: bool = False, **more: Any) -> str:
        """Append a user message; ``plain`` stores its text as a string instead of blocks."""
        blocks: Any = text if plain else [{"type": "text", "text": text}, *images]
        return self.message("user", content=blocks, **more)

    def assistant(
        self,
        text: str = "",
        *,
        thinking: str | None = None,
        signature: str | None = "reasoning_content",
        calls: Sequence[Call] = (),
        usage: Spent | None = None,
        stop: str | None = None,
        error: str | None = None,
        response: str | None = None,
        provider: str | None = None,
        model: str | None = None,
        api: str | None = None,
        **more: Any,
    ) -> str:
        """Append an assistant message; ``stop`` follows from calls and error where it is not given."""
        content: list[dict[str, Any]] = []
        if thinking is not None:
            content.append({"type": "thinking", "thinking": thinking} | ({"thinkingSignature": signature} if signature else {}))
        if text:
            content.append({"type": "text", "text": text})
        content += [{"type": "toolCall", "id": c.id or self._call(), "name": c.name, "arguments": dict(c.args)} for c in calls]
        stop = stop or ("error" if error else "toolUse" if calls else "stop")
        spent = usage or (Spent(0, 0) if stop in ("error", "aborted") else Spent())
        fields: dict[str, Any] = {
            "content": content,
            "api": api or self.api,
            "provider": provider or self.provider,
            "model": model or self.model_id,
            "usage": spent.json(),
            "stopReason": stop,
        }
        if error:
            fields["errorMessage"] = error
        if response:
            fields["responseId"] = response
        if not self.old:
            fields |= {"durationMs": 40, "thinkingLevel": self.level}
        return self.message("assistant", **fields, **more)

    def _call(self) -> str:
        self._calls += 1
        return f"call_{self._calls}"

    def result(
        self,
        call: str,
        text: str = "done",
        *,
        name: str = "bash",
        error: bool = False,
        images: Sequence[Mapping[str, Any]] = (),
        **more: Any,
    ) -> str:
        """Append a tool result."""
        content = [{"type": "text", "text": text}, *images]
        extra = {} if self.old else {"durationMs": 3}
        return self.message("toolResult", toolCallId=call, toolName=name, content=content, isError=error, **extra, **more)

    def bash(self, command: str, output: str = "", *, code: int = 0, cancelled: bool = False, excluded: bool = False, **more: Any) -> str:
        """Append a shell command of the user's (``!cmd``; ``excluded`` is ``!!cmd``)."""
        fields: dict[str, Any] = {
            "command": command,
            "output": output,
            "exitCode": code,
            "cancelled": cancelled,
            "truncated": False,
            **more,
        }
        if excluded:
            fields["excludeFromContext"] = True
        return self.message("bashExecution", **fields)

    def turn(self, text: str, *, calls: Sequence[Call] = (), answer: str = "ok", usage: Spent | None = None, **more: Any) -> list[str]:
        """Append a whole turn: the user's text, a step with the calls and their results, and an answer.

        Returns:
            The ids of its entries, in order.
        """
        ids = [self.user(text)]
        if calls:
            named = [Call(c.name, c.args, c.id or self._call(), c.result) for c in calls]
            ids.append(self.assistant(calls=named, usage=usage, **more))
            ids += [self.result(c.id, c.result, name=c.name) for c in named if c.result is not None]
        ids.append(self.assistant(answer, usage=usage, **more))
        return ids

    # -- other entries -----------------------------------------------------------------------------------

    def compaction(
        self,
        summary: str,
        *,
        kept: str | None = None,
        before: int = 50_000,
        system: Mapping[str, Any] | None = None,
        hook: bool = False,
        usage: Spent | None = None,
        kept_index: int | None = None,
    ) -> str:
        """Append a compaction; ``kept`` is the first kept entry, its own id (keep nothing) where absent."""
        fields: dict[str, Any] = {"summary": summary, "tokensBefore": before}
        own = self._next_id()
        if kept_index is not None:
            fields["firstKeptEntryIndex"] = kept_index
        else:
            fields["firstKeptEntryId"] = kept or own
        if hook:
            fields["fromHook"] = True
        if system is not None:
            fields["systemMessage"] = {"role": "system", "content": "", **system}
        if usage is not None:
            fields["usage"] = usage.json()
        return self.put("compaction", fields, id=own)

    def branch_summary(self, summary: str, *, origin: str = "root", hook: bool = False) -> str:
        """Append the summary of a branch that was left; it hangs off the leaf (``go`` first)."""
        return self.put("branch_summary", {"fromId": origin, "summary": summary} | ({"fromHook": True} if hook else {}))

    def custom_message(self, content: str | list[dict[str, Any]], *, kind: str = "note", display: bool = True) -> str:
        """Append an extension's message: the model gets it as a user message, also where it is not displayed."""
        return self.put("custom_message", {"customType": kind, "content": content, "display": display})

    def custom(self, data: Any, *, kind: str = "state") -> str:
        """Append an extension's own data, never in the context."""
        return self.put("custom", {"customType": kind, "data": data})

    def context_edit(self, target: str, text: str | None) -> str:
        """Replace an entry's content in the context, or take it out (``None``)."""
        replacement = None if text is None else {"content": [{"type": "text", "text": text}]}
        return self.put("context_edit", {"targetId": target, "replacement": replacement})

    def label(self, target: str, text: str | None) -> str:
        """Label an entry, or clear its label."""
        return self.put("label", {"targetId": target} | ({} if text is None else {"label": text}))

    def rename(self, name: str) -> str:
        """Name the session (empty clears it)."""
        return self.put("session_info", {"name": name})

    def model(self, provider: str, model: str, api: str | None = None) -> str:
        """Change the model; later assistant messages carry it."""
        self.provider, self.model_id, self.api = provider, model, api or self.api
        return self.put("model_change", {"provider": provider, "modelId": model})

    def thinking(self, level: str) -> str:
        """Change the thinking level."""
        self.level = level
        return self.put("thinking_level_change", {"thinkingLevel": level})

    def spent(self, kind: str = "cache_warm", usage: Spent | None = None) -> str:
        """Append a ``usage`` entry (a call beside the conversation)."""
        fields = {"kind": kind, "provider": self.provider, "model": self.model_id, "usage": (usage or Spent()).json()}
        return self.put("usage", fields)

    # -- copies ------------------------------------------------------------------------------------------

    def branch(self, leaf: str | None) -> list[dict[str, Any]]:
        """Return the entries from the root to ``leaf``."""
        by_id = {e["id"]: e for e in self.entries}
        out: list[dict[str, Any]] = []
        while leaf is not None:
            out.append(by_id[leaf])
            leaf = by_id[leaf]["parentId"]
        return out[::-1]

    def clone(self, id: str, *, leaf: str | None = None, folder: Path | None = None) -> PiFile:
        """Copy root → leaf into a new session file with the same entry ids, as Pi's clone does."""
        new = PiFile(
            folder or self.path.parent,
            cwd=self.cwd,
            id=id,
            at=self.now + TICK,
            old=self.old,
            parent=self.path,
            start=False,
            provider=self.provider,
            model=self.model_id,
            api=self.api,
            thinking=self.level,
        )
        for entry in self.branch(leaf or self.leaf):
            if entry["type"] == "label":
                continue
            new._write({**entry, "parentId": new.leaf})
            new.leaf = entry["id"]
        new.now = self.now + 2 * TICK
        new._calls = self._calls
        return new

    def fork(self, id: str, before: str) -> PiFile:
        """Copy root → parent of a user entry into a new session file, as Pi's fork does."""
        entry = next(e for e in self.entries if e["id"] == before)
        if entry["parentId"] is None:
            raise ValueError("a fork before the first entry has no file")
        return self.clone(id, leaf=entry["parentId"])
