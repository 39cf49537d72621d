"""Makes the parts of messages: kind, size, fingerprint and the ref to their text."""

from __future__ import annotations

from ctx_inspect.core.model import Part, PartKind, Raw, Ref
from ctx_inspect.core.sources.pi.records import Block, Content


def utf8(text: str) -> int:
    """Return how many bytes a text takes in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class PartMaker:
    """Makes the parts of one session's entries.

    A fingerprint is (session, entry, place): lines of a session file never change. Where an id occurs again, the
    number of the repetition is part of it.
    """

    def __init__(self, session: str) -> None:
        """Make parts for this session id."""
        self._session = session

    def part(self, row: str, place: str, kind: PartKind, size: int | None, **more: object) -> Part:
        """Make one part; ``place`` is the field of its ref."""
        return Part(kind, f"{self._session}/{row}/{place}", size, ref=Ref(self._session, row, place), **more)  # type: ignore[arg-type]

    def content(self, row: str, content: Content, base: str = "content", *, blank: bool = True) -> tuple[Part, ...]:
        """Make the parts of a content; ``blank`` false leaves out texts of nothing but space, as Pi does with an assistant's."""
        if content is None:
            return ()
        session = self._session
        if isinstance(content, str):
            ref = Ref(session, row, base)
            return (Part(PartKind.TEXT, f"{session}/{row}/{base}", utf8(content), ref=ref),) if content else ()
        parts: list[Part] = []
        for i, block in enumerate(content):
            place = f"{base}/{i}"
            fp = f"{session}/{row}/{place}"
            match block.type:
                case "text":
                    if block.text and (blank or not block.text.isspace()):
                        parts.append(Part(PartKind.TEXT, fp, utf8(block.text), ref=Ref(session, row, place)))
                case "thinking":
                    if _kept_thinking(block):
                        parts.append(Part(PartKind.REASONING, fp, utf8(block.thinking or ""), ref=Ref(session, row, place)))
                case "toolCall":
                    size = memoryview(block.arguments).nbytes or 2
                    name = Raw(block.name) if block.name is not None else None
                    parts.append(Part(PartKind.CALL, fp, size, name, block.id, ref=Ref(session, row, place)))
                case "image":
                    parts.append(_image(block, fp, Ref(session, row, place)))
                case _:
                    parts.append(Part(PartKind.OTHER, fp, None, ref=Ref(session, row, place)))
        return tuple(parts)

    def result(self, row: str, body: Content, call: str | None, name: str | None, base: str = "result") -> tuple[Part, ...]:
        """Make the parts of a tool result: its texts as one, as they are sent, then its images."""
        blocks = [Block(type="text", text=body)] if isinstance(body, str) else body or []
        texts = [b.text or "" for b in blocks if b.type == "text"]
        size = sum(map(utf8, texts)) + max(0, len(texts) - 1)
        named = Raw(name) if name is not None else None
        fp = f"{self._session}/{row}/{base}"
        parts = [Part(PartKind.RESULT, fp, size, named, call, ref=Ref(self._session, row, base))]
        for i, block in enumerate(blocks):
            if block.type == "image":
                parts.append(_image(block, f"{fp}/{i}", Ref(self._session, row, f"{base}/{i}"), call))
        return tuple(parts)


def _kept_thinking(block: Block) -> bool:
    """Tell whether thinking is sent back: signed or redacted blocks even where they are empty."""
    return bool(block.redacted or memoryview(block.signature).nbytes > 2 or (block.thinking or "").strip())


def _image(block: Block, fp: str, ref: Ref, call: str | None = None) -> Part:
    data = bytes(block.data)
    size = max(0, (len(data) - 2) * 3 // 4 - data[-3:-1].count(b"=")) if len(data) > 2 else None
    return Part(PartKind.MEDIA, fp, size, call=call, mime=Raw(block.mime) if block.mime else None, ref=ref)
