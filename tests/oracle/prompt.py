"""Takes a system prompt apart into files, skills and the rest, for three ways of writing one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape

OPENED = re.compile(r"<([A-Za-z_][\w.-]*)>\n")
PATCH = re.compile(r'(?:Updated system prompt section "(?P<set>[^"]+)":\n\n|Removed system prompt section "(?P<gone>[^"]+)"\.)')
FILE_TAG = re.compile(r'^<project_instructions path="(?P<path>[^"\n]*)">$')
OPENCODE_FILE = "Instructions from: "
OPENCODE_SERVERS = re.compile(r"^<mcp_instructions>\n(?P<inner>.*?)^</mcp_instructions>\n?", re.M | re.S)
OPENCODE_SERVER = re.compile(r'<server name="(?P<name>[^"]*)">(?P<text>.*?)</server>', re.S)
OPENCODE_SKILLS = "Skills provide specialized instructions and workflows for specific tasks."
OLD_PI_FILE = re.compile(r"^## (?P<path>/.*)$", re.M)
OLD_PI_END = re.compile(r"^(?:The following skills provide|Current date: )", re.M)


@dataclass
class Prompt:
    """A prompt's parts; order of a dict is the order in the text."""

    files: dict[str, str] = field(default_factory=dict)
    skills: dict[str, str] = field(default_factory=dict)
    rest: dict[str, str] = field(default_factory=dict)
    """What belongs to no file and no skill, by section or server; without the marks that frame files and skills."""


# -- Pi from 0.86 on: named sections, later ones patched ---------------------------------------------------------


def pi_sections(text: str) -> dict[str, str]:
    """Return the sections of a whole prompt; text in front of the first is ``preamble``, text behind one ``after <name>``."""
    found: dict[str, str] = {}
    free: list[str] = []
    last = ""
    for name, chunk in _wrapped(text.split("\n\n")):
        if name:
            _free(found, last, free)
            found[name] = chunk
            last, free = name, []
        else:
            free.append(chunk)
    _free(found, last, free)
    return found


def _free(found: dict[str, str], last: str, chunks: list[str]) -> None:
    if chunks:
        found[f"after {last}" if last else "preamble"] = "\n\n".join(chunks)


def _wrapped(paragraphs: list[str]) -> list[tuple[str, str]]:
    """Join paragraphs from one that opens a tag to the one that closes it, where there is such a one."""
    out: list[tuple[str, str]] = []
    at = 0
    while at < len(paragraphs):
        opened = OPENED.match(paragraphs[at])
        end = at
        if opened:
            close = f"\n</{opened[1]}>"
            end = next((i for i in range(at, len(paragraphs)) if ("\n" + paragraphs[i]).endswith(close)), -1)
        if opened and end >= 0:
            out.append((opened[1], "\n\n".join(paragraphs[at : end + 1])))
            at = end + 1
        else:
            out.append(("", paragraphs[at]))
            at += 1
    return out


def patched(sections: dict[str, str], text: str) -> dict[str, str]:
    """Return the sections after a later system message; what it says outside patches is a section of its own."""
    now = dict(sections)
    at = 0
    loose: list[str] = []
    while at < len(text):
        head = PATCH.match(text, at)
        if head is None:
            following = PATCH.search(text, at)
            stop = following.start() if following else len(text)
            loose.append(text[at:stop].strip("\n"))
            at = stop
        elif head["gone"]:
            now.pop(head["gone"], None)
            at = head.end() + 2
        else:
            stop = _end_of_value(text, head.end(), head["set"])
            now[head["set"]] = text[head.end() : stop]
            at = stop + 2
    if loose := [t for t in loose if t]:
        now[f"message {len(now)}"] = "\n\n".join(loose)
    return now


def _end_of_value(text: str, start: int, name: str) -> int:
    close = f"\n</{name}>"
    if text.startswith(f"<{name}>\n", start) and (at := text.find(close, start)) != -1:
        return at + len(close)
    following = PATCH.search(text, start)
    return following.start() - 2 if following else len(text)


def pi_parts(sections: dict[str, str]) -> Prompt:
    """Return files and skills of the sections that hold them; the other sections as they are."""
    prompt = Prompt()
    for name, text in sections.items():
        if name == "project_context":
            text = _pi_files(text, prompt.files)
        elif name == "skills":
            text = _skills(text, prompt.skills)
        prompt.rest[name] = text
    return prompt


def _pi_files(text: str, into: dict[str, str]) -> str:
    path: str | None = None
    kept: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        if path is None and (tag := FILE_TAG.match(line)):
            path, lines = tag["path"], []
        elif path is not None and line == "</project_instructions>":
            into[path], path = "\n".join(lines), None
        else:
            (kept if path is None else lines).append(line)
    return "\n".join(line for line in kept if line)


def _skills(text: str, into: dict[str, str]) -> str:
    kept: list[str] = []
    for piece in re.split(r"(<skill>.*?</skill>)", text, flags=re.S):
        name = re.search(r"<name>(.*?)</name>", piece, re.S) if piece.startswith("<skill>") else None
        if name:
            into[unescape(name[1]).strip()] = piece
        elif piece.strip():
            kept.append(piece.strip())
    return "\n".join(kept)


# -- Pi before: one text ------------------------------------------------------------------------------------------


def old_pi_parts(text: str) -> Prompt:
    """Return the parts of a prompt of Pi 0.7x: files under headings with their paths, behind ``# Project Context``."""
    prompt = Prompt()
    head, mark, tail = text.partition("\n# Project Context\n")
    if not mark:
        prompt.rest["prompt"] = _skills(text, prompt.skills)
        return prompt
    end = OLD_PI_END.search(tail)
    files, behind = (tail[: end.start()], tail[end.start() :]) if end else (tail, "")
    pieces = OLD_PI_FILE.split(files)
    prompt.files.update((path, body.strip("\n")) for path, body in zip(pieces[1::2], pieces[2::2], strict=True))
    prompt.rest["prompt"] = head + _skills(behind, prompt.skills)
    return prompt


# -- OpenCode -----------------------------------------------------------------------------------------------------


def opencode_parts(text: str) -> Prompt:
    """Return the parts of an OpenCode system prompt: files behind a line that names them, servers' words, skills, the rest."""
    prompt = Prompt()

    def take(found: re.Match[str]) -> str:
        for server in OPENCODE_SERVER.finditer(found["inner"]):
            prompt.rest[f"server {server['name']}"] = server["text"].strip()
        return ""

    text = OPENCODE_SERVERS.sub(take, text)
    own: list[str] = []
    path: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith((OPENCODE_FILE, OPENCODE_SKILLS)):
            if path is not None:
                prompt.files[path] = "\n".join(lines).strip("\n")
            path, lines = (line.removeprefix(OPENCODE_FILE), []) if line.startswith(OPENCODE_FILE) else (None, [])
            if path is not None:
                continue
        (own if path is None else lines).append(line)
    if path is not None:
        prompt.files[path] = "\n".join(lines).strip("\n")
    prompt.rest["prompt"] = _skills("\n".join(own), prompt.skills)
    return prompt
