"""The Text tab: what a turn said, only after it is asked for; before that, sizes and kinds alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctx_inspect.core.model import Known, Ledger, Message, PartKind, Raw, Ref, Request, Shown, Turn, Unavailable, value_of
from ctx_inspect.core.text.clock import time_of_day
from ctx_inspect.core.text.redact import redact, whole_words
from ctx_inspect.core.text.show import joined, lines, own, safe_join, said
from ctx_inspect.core.views.figures import counted, size
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import NOTHING, Cell, Column, Row, RowKind, Sheet, Span, Tone
from msgspec import Struct

TEXT_LIMIT, TEXT_READ = 20_000, 22_000
"""Characters of one text that are shown, and that are read: a key that is cut in two has no shape."""

LINES_SHOWN = 2_000
"""Lines of one text that are shown."""


class Piece(Struct, frozen=True):
    """One text of a turn: where it lies and what it is.

    Attributes:
        who: ``you``, ``agent``, ``thinking``, ``call``, ``result``, ``media`` or a synthetic kind.
        ref: Where the text lies.
        size: UTF-8 bytes, where known.
        name: A tool's name.
        at: Epoch milliseconds of its message.
        mime: Of media.
    """

    who: str
    ref: Ref | None
    size: int | None = None
    name: Raw | None = None
    at: int | None = None
    mime: Raw | None = None


_TONES = {"you": Tone.FOCUS, "agent": Tone.CONVERSATION, "thinking": Tone.DIM, "call": Tone.TOOLS, "result": Tone.TOOLS}
_KINDS = {PartKind.TEXT: "agent", PartKind.REASONING: "thinking", PartKind.CALL: "call", PartKind.RESULT: "result", PartKind.MEDIA: "media"}


def pieces_of(ledger: Ledger, turn: Turn) -> tuple[Piece, ...]:
    """Return the texts of a turn in order, as far as the store tells where they lie.

    The message list that holds most of the turn is taken: the next turn's first request carries all of it,
    else what the next request would carry, else the turn's own last request (its answer stands apart).
    """
    messages = _messages(ledger, turn)
    if messages:
        out = [_piece(m, i) for m in messages for i in range(len(m.parts))]
        carried = {m.row or m.id for m in messages}
        out += [p for r in turn.requests if r.id not in carried and (p := _answer(r)) is not None]
        return tuple(out)
    own_input = [Piece("you", ref, at=turn.at) for ref in turn.input]
    return (*own_input, *(p for r in turn.requests if (p := _answer(r)) is not None))


def _messages(ledger: Ledger, turn: Turn) -> list[Message]:
    lists: list[Sequence[Message]] = []
    if turn.n < len(ledger.turns):
        after = next((r.context for r in ledger.turns[turn.n].requests if r.context is not None), None)
        if after is not None:
            lists.append(after.messages.messages())
    elif ledger.now is not None:
        lists.append(ledger.now.messages.messages())
    mine = next((r.context for r in reversed(turn.requests) if r.context is not None), None)
    if mine is not None:
        lists.append(mine.messages.messages())
    following = ledger.turns[turn.n].ids if turn.n < len(ledger.turns) else ()
    for messages in lists:
        start = next((i for i, m in enumerate(messages) if (m.row or m.id) in turn.ids), None)
        if start is None:
            continue
        stop = next((i for i in range(start + 1, len(messages)) if (messages[i].row or messages[i].id) in following), len(messages))
        return list(messages[start:stop])
    return []


def _piece(message: Message, index: int) -> Piece:
    part = message.parts[index]
    who = _KINDS.get(part.kind, "other")
    if part.kind is PartKind.TEXT and message.role.value == "user":
        who = "you"
    synthetic = part.synthetic or message.synthetic
    if synthetic is not None:
        who = synthetic.value
    return Piece(who, part.ref, part.size, part.name, message.at, part.mime)


def _answer(request: Request) -> Piece | None:
    return Piece("agent", request.ref, at=request.at) if request.ref is not None and request.call else None


class Found(Struct, frozen=True):
    """A text that was read.

    Attributes:
        text: As the store has it, or why it could not be read.
        covered: The same without what looks like a key.
    """

    text: Known[Raw]
    covered: Raw = Raw("")

    @property
    def keys(self) -> bool:
        """Whether something in it looks like a key."""
        raw = value_of(self.text)
        return raw is not None and not raw.startswith(self.covered)


def found(text: Known[Raw]) -> Found:
    """Return a text with its keys covered; takes long for a long one."""
    raw = value_of(text)
    return Found(text) if raw is None else Found(text, redact(whole_words(raw, cut=len(raw) >= TEXT_READ)))


def text_sheet(pieces: Sequence[Piece], texts: Mapping[Ref, Found] | None, loading: bool = False, uncovered: bool = False) -> Sheet:
    """Return the tab.

    Args:
        pieces: The turn's texts.
        texts: What was read of them; ``None`` = not asked for, nothing is shown but kinds and sizes.
        loading: More is being read.
        uncovered: Show keys too.
    """
    rows: list[Row] = []
    if not pieces:
        rows.append(_note("  The store does not tell where the texts of this turn lie.", Tone.DIM))
    elif texts is None:
        rows.append(_note("  Text is hidden. v shows it here, from the agent's own store, until you leave this pane.", Tone.DIM))
        rows.append(Row(kind=RowKind.BLANK))
    elif not uncovered and (hidden := sum(t.keys for t in texts.values())):
        rows.append(_note(f"  What looks like a key is covered in {counted(hidden, 'text')}: v uncovers it.", Tone.WARN))
        rows.append(Row(kind=RowKind.BLANK))
    for i, piece in enumerate(pieces):
        rows.append(Row((Cell(_heading(piece)),), RowKind.HEAD, key=("piece", i)))
        if texts is None:
            continue
        rows += _body(piece, texts, uncovered)
        rows.append(Row(kind=RowKind.BLANK))
    if loading:
        rows.append(_note("  reading…", Tone.DIM))
    return Sheet((Column(NOTHING, 0),), tuple(rows))


def _note(words: str, tone: Tone) -> Row:
    return Row((Cell((Span(said(words), tone),)),), RowKind.NOTE)


def _heading(piece: Piece) -> tuple[Span, ...]:
    spans = [Span(own(" ")), Span(said(piece.who.ljust(9)), _TONES.get(piece.who, Tone.DIM), strong=True)]
    if piece.name:
        spans.append(Span(joined(" ", named(piece.name, 60))))
    if piece.mime:
        spans.append(Span(joined(" ", named(piece.mime, 40)), Tone.DIM))
    facts = [time_of_day(piece.at)] if piece.at is not None else []
    if piece.size is not None:
        facts.append(size(piece.size))
    spans.append(Span(joined("  ", safe_join(" · ", facts)), Tone.DIM))
    return tuple(spans)


def _change(line: Shown) -> Tone | None:
    """Return the tone of a line of a unified diff; ``None`` for one that is the same on both sides."""
    if line.startswith(("+++ ", "--- ", "@@ -", "diff --git ")):
        return Tone.DIM
    return Tone.ADDED if line.startswith("+") else Tone.REMOVED if line.startswith("-") else None


def _body(piece: Piece, texts: Mapping[Ref, Found], uncovered: bool) -> list[Row]:
    if piece.who == "media":
        return [_note("   a media part: not shown", Tone.DIM)]
    if piece.ref is None:
        return [_note("   the store does not keep this text", Tone.DIM)]
    read = texts.get(piece.ref)
    if read is None:
        return []
    if isinstance(read.text, Unavailable):
        return [_note("   — " + read.text.note, Tone.DIM)]
    raw = read.text.value if uncovered else read.covered
    shown = lines(Raw(raw.replace("\r\n", "\n")), TEXT_LIMIT)
    tone = Tone.DIM if piece.who in {"thinking", "result"} else Tone.TEXT
    changes = any(line.startswith("@@ -") for line in shown[:LINES_SHOWN])
    out = [
        Row((Cell((Span(joined("   ", line), _change(line) or tone if changes else tone),)),), RowKind.NOTE) for line in shown[:LINES_SHOWN]
    ]
    longer = len(read.text.value) > TEXT_LIMIT
    if longer or len(shown) > LINES_SHOWN:
        whole = f" of {size(piece.size)}" if piece.size is not None else ""
        limit = f"{TEXT_LIMIT:,} characters" if longer else f"{LINES_SHOWN:,} lines"
        out.append(_note(f"   … the first {limit}{whole} are shown", Tone.DIM))
    return out
