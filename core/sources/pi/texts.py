"""Reads the text that a ref points to, as the model got it, from the session file itself."""

from __future__ import annotations

import msgspec
from ctx_inspect.core.sources.pi.classes import Row, classify
from ctx_inspect.core.sources.pi.formats import BRANCH_FRAME, COMPACTION_FRAME, NO_RESULT, bash_text
from ctx_inspect.core.sources.pi.records import Block, Content, Line, content_of, count
from ctx_inspect.core.sources.pi.system import Patch, declaration, patch_of, split_instructions, split_skills


def text_of(line: Line, field: str) -> str | None:
    """Return one text of an entry, or ``None`` where it has no such text.

    Args:
        line: The decoded entry.
        field: As the parts and items name it (``content/0``, ``result``, ``shell``, ``file/<path>``, …).
    """
    kind, _, name = field.partition("/")
    body = line.message
    match kind:
        case "content":
            return _block(body.content if body else line.content, name)
        case "replacement":
            content = content_of(line.replacement)
            return _block(content, name) if name or isinstance(content, str) else _texts(content)
        case "result":
            return _texts(body.content if body else None) if not name else None
        case "shell" if body:
            cut = body.full_output_path if body.truncated else None
            return bash_text(body.command or "", body.output or "", count(body.exit_code), bool(body.cancelled), cut)
        case "compaction":
            return (line.summary or "").join(COMPACTION_FRAME)
        case "branch":
            return (line.summary or "").join(BRANCH_FRAME)
        case "no result":
            return NO_RESULT
        case _:
            return _system_text(line, kind, name)


def _texts(content: Content) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(b.text or "" for b in content or () if b.type == "text")


def _block(content: Content, place: str) -> str | None:
    if isinstance(content, str):
        return content if not place else None
    if not place:
        return _texts(content)
    if content is None or not place.isdigit() or int(place) >= len(content):
        return None
    block: Block = content[int(place)]
    match block.type:
        case "text":
            return block.text or ""
        case "thinking":
            return block.thinking or ""
        case "toolCall":
            return bytes(block.arguments).decode("utf-8", "replace") or "{}"
        case _:
            return None


def system_patch(line: Line) -> Patch | None:
    """Return the system message that an entry holds, if any."""
    body = line.message
    row = classify(line.type, body.role if body else "")
    if row is Row.COMPACTION:
        data = bytes(line.system_message)
        return patch_of(data) if data and data != b"null" else None
    if row is not Row.SYSTEM or body is None:
        return None
    fields = (("sections", body.sections), ("toolsAdded", body.tools_added), ("toolsRemoved", body.tools_removed))
    rest = [b'"' + n.encode() + b'":' + bytes(raw) for n, raw in fields if memoryview(raw).nbytes]
    return patch_of(b"{" + b",".join([b'"content":' + msgspec.json.encode(_texts(body.content)), *rest]) + b"}")


def _system_text(line: Line, kind: str, name: str) -> str | None:
    patch = system_patch(line)
    if patch is None:
        return None
    sections = patch.sections or {}
    match kind:
        case "system":
            return patch.content
        case "section":
            return sections.get(name)
        case "rest":
            text = sections.get(name) or ""
            return split_instructions(text)[0] if name == "project_context" else split_skills(text)[0]
        case "file":
            files = split_instructions(sections.get("project_context") or "")[1]
            return next((text for path, text in files if path == name), None)
        case "skill":
            skills = split_skills(sections.get("skills") or "")[1]
            return next((text for skill, _, text in skills if skill == name), None)
        case "tool":
            tools = [t for t in patch.tools_added or () if t.name == name]
            return declaration(tools[-1]).decode("utf-8", "replace") if tools else None
        case _:
            return None
