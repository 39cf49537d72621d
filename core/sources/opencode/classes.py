"""Which user rows a person wrote, and which the harness, a tool or a plugin."""

from __future__ import annotations

from enum import StrEnum

from ctx_inspect.core.model import Synthetic
from ctx_inspect.core.sources.opencode.constants import TOOL_BY_USER
from ctx_inspect.core.sources.opencode.records import Entry, PartRow
from ctx_inspect.core.text.size import utf8


class UserClass(StrEnum):
    """What a row with the role ``user`` is."""

    PROMPT = "prompt"
    SUBTASK = "subtask"
    COMPACTION = "compaction"
    CONTINUE = "continue"
    REPLAY = "replay"
    SHELL = "shell"
    SYNTHETIC = "synthetic"
    IGNORED = "ignored"
    EMPTY = "empty"


TABLE: dict[UserClass, tuple[bool, Synthetic | None]] = {
    UserClass.PROMPT: (True, None),
    UserClass.SUBTASK: (True, None),
    UserClass.COMPACTION: (False, Synthetic.COMPACTION),
    UserClass.CONTINUE: (False, Synthetic.CONTINUE),
    UserClass.REPLAY: (False, Synthetic.REPLAY),
    UserClass.SHELL: (False, Synthetic.NOTICE),
    UserClass.SYNTHETIC: (False, Synthetic.NOTICE),
    UserClass.IGNORED: (False, Synthetic.NOTICE),
    UserClass.EMPTY: (False, None),
}
"""Of each class: whether its row is user-authored (opens a turn), and what its message is otherwise."""


def classify(entry: Entry, replayed: Entry | None = None) -> UserClass:
    """Tell what a user row is.

    Args:
        entry: The row and its parts.
        replayed: The prompt that an overflow compaction right before this row would have replayed.
    """
    parts = entry.parts
    if any(p.type == "compaction" for p in parts):
        return UserClass.COMPACTION
    if not parts:
        return UserClass.EMPTY  # being written, or cut off: nothing of it is sent
    if any(p.type == "subtask" for p in parts):
        return UserClass.SUBTASK
    texts = [p for p in parts if p.type == "text"]
    if any(p.go_on for p in texts):
        return UserClass.CONTINUE
    if not any(not p.synthetic and not p.ignored for p in texts) and not any(p.type == "file" for p in parts):
        if all(p.ignored for p in texts):
            return UserClass.IGNORED
        return UserClass.SHELL if _is_shell(texts) else UserClass.SYNTHETIC
    if replayed is not None and _is_copy(entry, replayed):
        return UserClass.REPLAY
    return UserClass.PROMPT


def opens(kind: UserClass) -> bool:
    """Tell whether a row of this class opens a turn."""
    return TABLE[kind][0]


def _is_shell(texts: list[PartRow]) -> bool:
    return len(texts) == 1 and texts[0].synthetic and texts[0].size == len(TOOL_BY_USER)


def _is_copy(entry: Entry, original: Entry) -> bool:
    """Tell whether a row is the copy that the harness makes of a prompt after an overflow: each part again, media as a line of text."""
    a, b = entry.row, original.row
    if (a.agent, a.provider, a.model) != (b.agent, b.provider, b.model):
        return False
    if any(p.size is None for p in (*entry.parts, *original.parts)):
        return False  # texts that are too long to be read cannot be compared
    return [(p.type, p.size, p.synthetic) for p in entry.parts] == [_copied(p) for p in original.parts]


def _copied(part: PartRow) -> tuple[str, int | None, bool]:
    media = part.media
    if part.type == "file" and media is not None and is_media(media.mime):
        return "text", utf8(f"[Attached {media.mime}: {media.filename or 'file'}]"), False
    return part.type, part.size, part.synthetic


def is_media(mime: str) -> bool:
    """Tell whether the harness treats a file as media (an image or a PDF)."""
    return mime.startswith("image/") or mime == "application/pdf"
