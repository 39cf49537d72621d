"""Parts of messages: what is noted of them while a line is decoded, and the model's parts made of that later.

Text is measured and let go at once. A note is small, because a session has hundreds of thousands of them.
"""

from __future__ import annotations

import msgspec
from ctx_inspect.core.model import Part, PartKind, Raw, Ref
from ctx_inspect.core.sources.pi.records import Block, Content
from ctx_inspect.core.text.size import utf8


class Note(msgspec.Struct, frozen=True, gc=False):
    """What is noted of one part.

    Attributes:
        kind: What it is.
        place: Which text of the entry (the field of a ref).
        size: UTF-8 bytes; of media: bytes.
        name: Tool of a call or result.
        call: Id of a call.
        mime: Media type.
    """

    kind: PartKind
    place: str
    size: int | None
    name: str | None = None
    call: str | None = None
    mime: str | None = None


_PLACES = {base: [f"{base}/{i}" for i in range(32)] for base in ("content", "replacement", "result")}


def _place(base: str, index: int) -> str:
    return _PLACES[base][index] if index < 32 else f"{base}/{index}"


_TEXT, _CALL = PartKind.TEXT, PartKind.CALL  # looked up once: an enumeration's members cost a search each


def notes_of(content: Content, base: str = "content", *, blank: bool = True) -> tuple[Note, ...]:
    """Note the parts of a content; ``blank`` false leaves out texts of nothing but space, as Pi does with an assistant's."""
    if content is None:
        return ()
    if isinstance(content, str):
        return (Note(PartKind.TEXT, base, utf8(content)),) if content else ()
    notes: list[Note] = []
    places = _PLACES[base]
    for i, block in enumerate(content):
        kind = block.type
        if kind == "text":
            text = block.text
            if text and (blank or not text.isspace()):
                notes.append(Note(_TEXT, places[i] if i < 32 else f"{base}/{i}", len(text) if text.isascii() else utf8(text)))
        elif kind == "toolCall":
            size = _shown_bytes(block.arguments) or 2
            notes.append(Note(_CALL, places[i] if i < 32 else f"{base}/{i}", size, block.name, block.id))
        elif kind == "thinking":
            if _kept_thinking(block):
                notes.append(Note(PartKind.REASONING, _place(base, i), utf8(block.thinking or "")))
        elif kind == "image":
            notes.append(_image(block, _place(base, i)))
        else:
            notes.append(Note(PartKind.OTHER, _place(base, i), None))
    return tuple(notes)


def result_notes(content: Content, call: str | None, name: str | None, base: str = "result") -> tuple[Note, ...]:
    """Note the parts of a tool result: its texts as one, as they are sent, then its images."""
    if isinstance(content, list) and len(content) == 1 and content[0].type == "text":
        return (Note(PartKind.RESULT, base, utf8(content[0].text or ""), name, call),)
    blocks = [Block(type="text", text=content)] if isinstance(content, str) else content or []
    texts = [b.text or "" for b in blocks if b.type == "text"]
    notes = [Note(PartKind.RESULT, base, sum(map(utf8, texts)) + max(0, len(texts) - 1), name, call)]
    notes += [_image(b, _place(base, i), call) for i, b in enumerate(blocks) if b.type == "image"]
    return tuple(notes)


def part_of(note: Note, key: str, session: str, row: str) -> Part:
    """Make a part.

    A fingerprint is (session, entry, place): lines of a session file never change.

    Args:
        note: What was noted.
        key: Names this version of its entry.
        session: Session id.
        row: Entry id.
    """
    place, name, mime = note.place, note.name, note.mime
    return Part(
        note.kind,
        f"{key}/{place}",
        note.size,
        None if name is None else Raw(name),
        note.call,
        None,
        None if mime is None else Raw(mime),
        Ref(session, row, place),
    )


def _kept_thinking(block: Block) -> bool:
    """Tell whether thinking is sent back: signed or redacted blocks even where they are empty."""
    return bool(block.redacted or memoryview(block.signature).nbytes > 2 or (block.thinking or "").strip())


def _image(block: Block, place: str, call: str | None = None) -> Note:
    data = memoryview(block.data)
    size = (data.nbytes - 2) * 3 // 4 - bytes(data[-3:-1]).count(b"=") if data.nbytes > 2 else None
    return Note(PartKind.MEDIA, place, size, None, call, block.mime)


def _shown_bytes(raw: msgspec.Raw) -> int:
    """Return the bytes of JSON as its text has them: bytes that are no UTF-8 are replaced there, by three each."""
    data = memoryview(raw)
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return len(bytes(data).decode("utf-8", "replace").encode())
    return data.nbytes
