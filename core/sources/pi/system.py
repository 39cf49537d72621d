"""System prompt and tools as Pi 0.86 and later record them: a first complete message, then patches, folded.

A section is one item, but for two: the instruction files in ``project_context`` and the skills in ``skills`` are
items of their own, and what is left of the section is one of ``system``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from html import unescape
from itertools import pairwise

import msgspec
from ctx_inspect.core.model import Category, Item, Origin, Raw, Ref
from ctx_inspect.core.text.size import utf8

HARNESS_SECTIONS = frozenset({"preamble", "tools", "rules", "docs", "addendum", "project_context", "skills", "cwd"})
"""Pi's own sections; others come from extensions."""

_FILE_OPEN, _FILE_MID, _FILE_CLOSE = '<project_instructions path="', '">\n', "\n</project_instructions>"
_SKILL_OPEN, _SKILL_CLOSE = "<skill>", "</skill>"


class _Named(msgspec.Struct):
    name: str = ""


class Tool(msgspec.Struct):
    """A tool's declaration."""

    name: str = ""
    description: str = ""
    parameters: msgspec.Raw = msgspec.Raw(b"{}")


class Patch(msgspec.Struct, rename="camel"):
    """The fields of a system message."""

    content: str | None = None
    sections: dict[str, str | None] | None = None
    tools_added: list[Tool] | None = None
    tools_removed: list[_Named] | None = None


_patch = msgspec.json.Decoder(Patch)


def patch_of(data: bytes) -> Patch:
    """Decode a system message; what has an odd form is left out."""
    try:
        return _patch.decode(data)
    except msgspec.MsgspecError:
        patch = Patch()
        for name in Patch.__struct_encode_fields__:
            try:
                raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])[name]
                part = _patch.decode(b'{"' + name.encode() + b'":' + bytes(raw) + b"}")
            except (msgspec.MsgspecError, KeyError):
                continue
            for field in Patch.__struct_fields__:
                if (value := getattr(part, field)) is not None:
                    setattr(patch, field, value)
        return patch


def changes_of(data: bytes) -> Raw:
    """Return what a patch names, in one line: sections, then tools with ``+`` and ``−``; a redefined tool has both."""
    patch = patch_of(data)
    names = list(patch.sections or ())
    names += [f"+{tool.name}" for tool in patch.tools_added or ()]
    names += [f"−{gone.name}" for gone in patch.tools_removed or ()]
    return Raw(", ".join(names))


def fingerprint(text: str | bytes) -> str:
    """Return a fingerprint of content; it stays in memory."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def declaration(tool: Tool) -> bytes:
    """Return a tool as JSON: name, description, parameters."""
    enc = msgspec.json.encode
    return b'{"name":%b,"description":%b,"parameters":%b}' % (enc(tool.name), enc(tool.description), bytes(tool.parameters))


def split_instructions(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Split the ``project_context`` section into what frames it and its files.

    Returns:
        The section without the files' texts, and (path, text) of each file.
    """
    starts: list[int] = []
    at = text.find(_FILE_OPEN)
    while at != -1:
        starts.append(at)
        at = text.find("\n" + _FILE_OPEN, at + 1)
        at = at + 1 if at != -1 else -1
    rest: list[str] = [text[: starts[0]] if starts else text]
    files: list[tuple[str, str]] = []
    for start, stop in pairwise([*starts, len(text)]):
        piece = text[start:stop]
        mid, end = piece.find(_FILE_MID), piece.rfind(_FILE_CLOSE)
        if mid == -1 or end < mid:
            rest.append(piece)
            continue
        inner = mid + len(_FILE_MID)
        files.append((piece[len(_FILE_OPEN) : mid], piece[inner:end] if end >= inner else ""))
        rest += [piece[:inner], piece[max(inner, end) :]]
    return "".join(rest), files


def split_skills(text: str) -> tuple[str, list[tuple[str, str | None, str]]]:
    """Split the ``skills`` section into what frames it and its skills.

    Returns:
        The section without the skills, and (name, path, text) of each.
    """
    rest: list[str] = []
    skills: list[tuple[str, str | None, str]] = []
    place = 0
    while (start := text.find(_SKILL_OPEN, place)) != -1 and (end := text.find(_SKILL_CLOSE, start)) != -1:
        block = text[start : end + len(_SKILL_CLOSE)]
        name = _inside(block, "name")
        rest.append(text[place:start])
        place = end + len(_SKILL_CLOSE)
        if name is None:
            rest.append(block)
        else:
            skills.append((unescape(name), unescape(path) if (path := _inside(block, "location")) is not None else None, block))
    rest.append(text[place:])
    return "".join(rest), skills


def _inside(block: str, tag: str) -> str | None:
    start = block.find(f"<{tag}>")
    end = block.find(f"</{tag}>", start)
    return None if start == -1 or end == -1 else block[start + len(tag) + 2 : end].strip()


class SystemState:
    """What all system messages up to here say together; never changed, ``apply`` returns the next one."""

    __slots__ = ("content", "items", "known", "sections", "tools")

    def __init__(self, content: tuple[Item, ...], sections: Mapping[str, tuple[Item, ...]], tools: Mapping[str, Item], known: bool) -> None:
        """Make a state from its parts, in wire order."""
        self.content, self.sections, self.tools, self.known = content, sections, tools, known
        self.items: tuple[Item, ...] = (*content, *(i for group in sections.values() for i in group), *tools.values())

    def apply(self, data: bytes, session: str, row: str) -> SystemState:
        """Return the state after one more system message.

        Args:
            data: Its encoded fields.
            session: Session id, for refs.
            row: The entry's id, for refs.
        """
        patch = patch_of(data)
        content, sections, tools = self.content, dict(self.sections), dict(self.tools)
        if patch.content:
            k = Raw("content" if not content else f"content:{len(content) + 1}")
            ref = Ref(session, row, "system")
            content = (*content, Item(Category.SYSTEM, k, fingerprint(patch.content), size=utf8(patch.content), ref=ref))
        for name, text in (patch.sections or {}).items():
            if text is None:
                sections.pop(name, None)
            else:
                sections[name] = _section(name, text, session, row)
        for gone in patch.tools_removed or ():
            tools.pop(gone.name, None)
        for tool in patch.tools_added or ():
            tools[tool.name] = _tool(tool, session, row)
        return SystemState(content, sections, tools, True)


NO_SYSTEM = SystemState((), {}, {}, False)
"""Nothing is recorded (so far)."""


def _tool(tool: Tool, session: str, row: str) -> Item:
    data = declaration(tool)
    aspects = (("description", fingerprint(tool.description)), ("schema", fingerprint(bytes(tool.parameters))))
    ref = Ref(session, row, f"tool/{tool.name}")
    return Item(Category.TOOLS, Raw(tool.name), fingerprint(data), aspects, Origin("unknown"), size=len(data), ref=ref)


def _section(name: str, text: str, session: str, row: str) -> tuple[Item, ...]:
    parts: list[Item] = []
    frame = None
    if name == "project_context":
        rest, files = split_instructions(text)
        frame = rest
        for path, inner in files:
            frame = frame.replace(_FILE_OPEN + path + _FILE_MID + _FILE_CLOSE, "", 1)
            ref = Ref(session, row, f"file/{path}")
            origin = Origin("file", Raw(path))
            parts.append(Item(Category.INSTRUCTIONS, Raw(path), fingerprint(inner), (), origin, size=utf8(inner), ref=ref))
    elif name == "skills":
        rest, skills = split_skills(text)
        frame = rest
        for skill, path, block in skills:
            ref = Ref(session, row, f"skill/{skill}")
            origin = Origin("file", Raw(path)) if path else Origin("unknown")
            parts.append(Item(Category.SKILLS, Raw(skill), fingerprint(block), (), origin, size=utf8(block), ref=ref, listed=True))
    else:
        rest = text
    origin = Origin("harness") if name in HARNESS_SECTIONS else Origin("extension", name=Raw(name))
    field = f"rest/{name}" if parts else f"section/{name}"
    # Tags and line breaks that a file or skill brings along are no change of the rest: one that is added is one change.
    said = rest if frame is None else " ".join(frame.split())
    own = Item(Category.SYSTEM, Raw(name), fingerprint(said), (), origin, size=utf8(rest), ref=Ref(session, row, field))
    return (own, *parts)
