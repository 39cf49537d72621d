"""One stored row as the messages it becomes in a request (opencode-ai 1.18, conversion to the model's format).

Nothing here reads text: a part says where its text lies, and a ref's field names the frame that the harness puts
in its place (``const:<name>`` of :mod:`constants`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.model import Message, Part, PartKind, Raw, Ref, Role, Synthetic
from ctx_inspect.core.sources.opencode import constants as k
from ctx_inspect.core.sources.opencode.classes import TABLE, UserClass, is_media
from ctx_inspect.core.sources.opencode.records import Entry, Media, PartRow, Tool
from ctx_inspect.core.text.size import utf8
from msgspec import Struct


class Target(Struct, frozen=True):
    """The model a list is made for: rows of another one are written in another way."""

    provider: str | None
    model: str | None

    def same(self, entry: Entry) -> bool:
        """Tell whether a row was answered by this model."""
        return (entry.row.provider, entry.row.model) == (self.provider, self.model)

    def takes_in_result(self, mime: str) -> bool:
        """Tell whether a tool's result may carry this media for this model, as far as the provider's name tells."""
        if self.provider in k.MEDIA_IN_RESULTS:
            return True
        if self.provider in k.IMAGES_IN_RESULTS:
            return mime.startswith("image/")
        return self.provider == "google" and "gemini-3" in (self.model or "").lower()


def depends_on_target(entry: Entry) -> bool:
    """Tell whether a row is written differently for another model."""
    return entry.row.role == "assistant" and any(p.type == "reasoning" or (p.tool is not None and p.tool.attachments) for p in entry.parts)


def pruned_times(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Return when outputs were pruned (epoch ms), each with the place of its row; in order of time."""
    return sorted(
        (p.tool.compacted, n)
        for n, e in enumerate(entries)
        for p in e.parts
        if p.tool is not None and p.tool.compacted is not None and p.tool.status == "completed"
    )


def constant(session: str, name: str, kind: PartKind, synthetic: Synthetic | None = None, call: Tool | None = None) -> Part:
    """Make a part whose text is a constant of the harness."""
    return Part(
        kind,
        f"opencode:{name}",
        utf8(k.TEXTS[name]),
        Raw(call.name) if call else None,
        call.call if call else None,
        synthetic,
        ref=Ref(session, "", f"const:{name}"),
    )


def user_message(session: str, entry: Entry, kind: UserClass, extra: Sequence[Part] = (), opens: bool = False) -> Message | None:
    """Return a user row as it is sent, or ``None`` where nothing of it is.

    Args:
        session: The session's id.
        entry: The row.
        kind: What it is.
        extra: Parts that the harness adds in memory (reminders).
        opens: Whether it opens a turn.
    """
    parts: list[Part] = []
    for p in entry.parts:
        if p.type == "text" and not p.ignored and p.size != 0:
            synthetic = Synthetic.CARRIER if p.synthetic and TABLE[kind][0] else None
            parts.append(Part(PartKind.TEXT, f"{p.id}:{p.updated}", p.size, synthetic=synthetic, ref=Ref(session, p.id, "text")))
        elif p.type == "file" and p.media is not None and p.media.mime not in ("text/plain", "application/x-directory"):
            parts.append(_media(session, p, p.media, "url"))
        elif p.type == "compaction":
            parts.append(constant(session, "what-did-we-do", PartKind.TEXT, Synthetic.COMPACTION))
        elif p.type == "subtask":
            parts.append(constant(session, "tool-by-user", PartKind.TEXT, Synthetic.NOTICE))
    parts.extend(extra)
    if not parts:
        return None
    return _message(entry, entry.row.id, Role.USER, parts, TABLE[kind][1], opens)


def _message(entry: Entry, id: str, role: Role, parts: Sequence[Part], synthetic: Synthetic | None = None, opens: bool = False) -> Message:
    fp = "|".join([role, id, *[p.fp for p in parts]])
    row = entry.row
    return Message(id, role, fp, tuple(parts), row.at, row.done, opens, synthetic, row.id if id != row.id else None)


def _media(session: str, p: PartRow, media: Media, field: str) -> Part:
    ref = Ref(session, p.id, field)
    name = Raw(media.filename) if media.filename else None
    return Part(PartKind.MEDIA, f"{p.id}:{p.updated}:{field}", media.size, name, mime=Raw(media.mime), ref=ref)


def is_sent(entry: Entry) -> bool:
    """Tell whether an assistant row is sent at all: a failed one is not, an aborted one only with content."""
    error = entry.row.error
    if not entry.parts:
        return False
    return error is None or (error == "MessageAbortedError" and any(p.type not in ("step-start", "reasoning") for p in entry.parts))


def assistant_messages(session: str, entry: Entry, target: Target, at: int) -> tuple[Message, ...]:
    """Return an assistant row as it is sent: its answer, then one message per tool result.

    Args:
        session: The session's id.
        entry: The row.
        target: The model the request goes to.
        at: When it is sent (epoch ms): outputs pruned later are still whole.
    """
    if not is_sent(entry):
        return ()
    same = target.same(entry)
    signed = any(p.type == "reasoning" and p.signed for p in entry.parts)
    synthetic = Synthetic.SUMMARY if entry.row.summary else None
    messages: list[Message] = []
    media: list[Part] = []
    block: list[Part] = []
    results: list[Message] = []
    blocks = 0

    def close() -> None:
        nonlocal block, results, blocks
        if block:
            blocks += 1
            id = entry.row.id if blocks == 1 else f"{entry.row.id}#{blocks}"
            messages.append(_message(entry, id, Role.ASSISTANT, block, synthetic))
            messages.extend(results)
        block, results = [], []

    for p in entry.parts:
        if p.type == "step-start":
            close()
        elif p.type == "text":
            if p.size != 0 or not signed:
                block.append(Part(PartKind.TEXT, f"{p.id}:{p.updated}", p.size, ref=Ref(session, p.id, "text")))
            else:
                block.append(constant(session, "blank", PartKind.TEXT))
        elif p.type == "reasoning":
            if same:
                block.append(Part(PartKind.REASONING, f"{p.id}:{p.updated}", p.size, ref=Ref(session, p.id, "text")))
            elif not p.blank:
                block.append(Part(PartKind.TEXT, f"{p.id}:{p.updated}:inlined", p.size, ref=Ref(session, p.id, "text")))
        elif p.tool is not None:
            _tool(session, entry, p, p.tool, target, at, block, results, media)
    close()
    if messages and media:
        opening = constant(session, "attached-media", PartKind.TEXT, Synthetic.CARRIER)
        messages.append(_message(entry, f"{entry.row.id}/media", Role.USER, [opening, *media], Synthetic.CARRIER))
    return tuple(messages)


def _tool(
    session: str,
    entry: Entry,
    p: PartRow,
    tool: Tool,
    target: Target,
    at: int,
    block: list[Part],
    results: list[Message],
    media: list[Part],
) -> None:
    name = Raw(tool.name)
    stamp = p.updated if tool.compacted is None else 0  # pruning rewrites the row, but neither call nor output
    block.append(Part(PartKind.CALL, f"{p.id}:{stamp}:call", tool.input, name, tool.call, ref=Ref(session, p.id, "input")))
    cleared = tool.status == "completed" and tool.compacted is not None and tool.compacted <= at
    if cleared:
        result = constant(session, "cleared", PartKind.RESULT, call=tool)
    elif tool.status in ("completed", "error", ""):
        result = Part(PartKind.RESULT, f"{p.id}:{stamp}", tool.output, name, tool.call, ref=Ref(session, p.id, "output"))
    else:
        result = constant(session, "interrupted", PartKind.RESULT, call=tool)
    inside = [result]
    if tool.status == "completed" and not cleared:
        for n, m in enumerate(tool.attachments):
            where = media if is_media(m.mime) and not target.takes_in_result(m.mime) else inside
            where.append(_media(session, p, m, f"attachment:{n}"))
    if tool.executed:
        block.extend(inside)
    else:
        results.append(_message(entry, f"{entry.row.id}/{tool.call}", Role.TOOL, inside))
