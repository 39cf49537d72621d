"""The message list as Pi builds it for a request, followed along a branch of the session tree.

Rules read in Pi 1.6 (``session-manager.js`` for what is selected, ``messages.js`` and ``transform-messages.js`` for what is
sent): the newest compaction stands first, then what it kept, then what follows; the last context edit of an
entry applies; failed and aborted answers are left out; another model's thinking is left out; a call without a
result gets one made up. What depends on the wire dialect alone (ids, image carriers) is not done here.
"""

from __future__ import annotations

from ctx_inspect.core.model import Chain, ChainBuilder, Message, Model, Part, PartKind, Ref, Role, Synthetic, replace
from ctx_inspect.core.sources.pi.classes import USER_AUTHORED, Row
from ctx_inspect.core.sources.pi.entries import Entry
from ctx_inspect.core.sources.pi.formats import NO_RESULT
from ctx_inspect.core.sources.pi.parts import Note, part_of

_SYNTHETIC = {
    Row.CUSTOM: Synthetic.NOTICE,
    Row.SHELL: Synthetic.CARRIER,
    Row.COMPACTION: Synthetic.SUMMARY,
    Row.BRANCH: Synthetic.SUMMARY,
}
_SPOKEN = frozenset({Row.USER, Row.CUSTOM, Row.SHELL, Row.COMPACTION, Row.BRANCH})
"""Rows that are sent in the user's role."""
_EDITABLE = frozenset({Row.USER, Row.CUSTOM, Row.RESULT, Row.ASSISTANT})
"""Rows whose content an edit can replace; of others it can only take the whole out."""

Target = tuple[Model, str | None]
"""A model and Pi's name of its wire dialect."""


class Conversation:
    """Follows the list along a path of entries; ``take`` gives it as it would be sent to a model."""

    def __init__(self, session: str) -> None:
        """Start at the root of this session's tree."""
        self._session = session
        self._path: list[Entry] = []
        self._at: dict[str, int] = {}  # where an entry lies in the path
        self._head: Entry | None = None  # the newest compaction
        self._from = 0  # what is selected: the head, then the path from here on without compactions
        self._edits: dict[str, Entry] = {}
        self._builder = ChainBuilder()
        self._places: dict[str, int] = {}  # where a message was put, less the moves until then; may have moved since
        self._moved = 0  # how far all messages have moved
        self._calls: list[Note] = []  # calls of the last answer
        self._answered: set[str | None] = set()
        self._answerer: Entry | None = None
        self._target: Target | None = None
        self._thinks = False
        self._made: dict[tuple[str, int, str, bool], Message | None] = {}  # shared by all copies

    def copy(self) -> Conversation:
        """Return one that goes on from here on its own, as a branch does."""
        other = Conversation(self._session)
        other._target, other._thinks, other._answerer = self._target, self._thinks, self._answerer
        other._path, other._at, other._edits = list(self._path), dict(self._at), dict(self._edits)
        other._head, other._from, other._moved = self._head, self._from, self._moved
        other._builder, other._places = self._builder.copy(), dict(self._places)
        other._calls, other._answered, other._made = list(self._calls), set(self._answered), self._made
        return other

    def feed(self, entry: Entry) -> None:
        """Go on by one entry."""
        self._at[entry.id] = len(self._path)
        self._path.append(entry)
        if entry.row is Row.COMPACTION:
            self._compact(entry)
        elif entry.row is not Row.EDIT:
            self._push(entry)
        elif entry.target is not None:
            before = self._edits.get(entry.target)
            self._edits[entry.target] = entry
            self._edited(entry, before)

    def take(self, target: Target | None, into: Chain | None = None) -> Chain:
        """Return the list as it would be sent to ``target`` now (``None``: to the model of the last request).

        Args:
            target: Whom it is sent to.
            into: See :meth:`ChainBuilder.take`.
        """
        if target is not None and target != self._target:
            self._target = target
            if self._thinks:
                self._fold()
        missing = self._missing()
        if not missing:
            return self._builder.take(into)
        length = len(self._builder.list)
        for message in missing:
            self._builder.append(message)
        chain = self._builder.take(into)
        self._builder.reset(self._builder.list[:length], length)
        return chain

    # -- selecting ---------------------------------------------------------------------------------------

    def _compact(self, entry: Entry) -> None:
        start = self._at.get(entry.kept, -1) if entry.kept is not None and entry.kept != entry.id else -1
        if not 0 <= start < len(self._path) - 1:
            start = len(self._path)
        old, self._head = self._head, entry
        before, self._from = self._from, start
        if start < before:
            self._edits = {e.target: e for e in self._path[start:] if e.row is Row.EDIT and e.target is not None}
            cut = None
        else:
            edits = {target: e for target, e in self._edits.items() if self._at[e.id] >= start}
            undone = self._edits.keys() - edits.keys()
            self._edits = edits
            cut = None if entry.id in edits or any(self._at.get(t, -1) >= start for t in undone) else self._cut(before, old)
        message = None if cut is None else self._message(entry)
        if cut is None or message is None:
            self._fold()
            return
        # what is kept was sent before, in the same way: only what stands before it changes
        self._builder.reset([message, *self._builder.list[cut:]])
        self._moved += 1 - cut
        self._places[entry.id] = -self._moved

    def _cut(self, before: int, old: Entry | None) -> int | None:
        """Return where in the list the first kept entry lies, if it is sent the same whatever stands before it.

        Args:
            before: Where the selection began until now.
            old: The compaction that stood first.
        """
        if self._from == before and old is not None:
            return 1 if self._place(old.id) == 0 else None
        if not before <= self._from < len(self._path) or not self._closes(self._path[self._from]):
            return None
        return self._place(self._path[self._from].id)

    def _closes(self, entry: Entry) -> bool:
        """Tell whether what follows from an entry on does not depend on what stands before it: no call stays open there."""
        edit = self._edits.get(entry.id)
        if edit is not None and edit.out:
            return False
        return entry.row is Row.ASSISTANT or (entry.row in _SPOKEN and entry.row is not Row.COMPACTION and not entry.hidden)

    def _edited(self, edit: Entry, before: Entry | None) -> None:
        """Apply an edit that has just come: in place where nothing else depends on it, else by folding its neighbourhood again.

        Args:
            edit: The edit.
            before: The one that applied to the same entry until now.
        """
        assert edit.target is not None
        at = self._at.get(edit.target, -1)
        if self._head is not None and edit.target == self._head.id:
            target = self._head
        elif at >= self._from:
            target = self._path[at]
        else:
            return
        calls = any(e.first(PartKind.CALL) is not None for e in (target, edit, before) if e is not None)
        plain = target.row in (Row.USER, Row.CUSTOM, Row.RESULT) or (target.row is Row.ASSISTANT and not calls)
        place = self._place(target.id)
        message = None if edit.out or not plain or place is None else self._message(target)
        if message is not None and place is not None:
            self._builder.replace(place, message)
        elif target is self._head:
            self._fold()
        elif target.row is not Row.COMPACTION:
            self._fold_around(at)

    def _place(self, id: str) -> int | None:
        messages = self._builder.list
        hint = self._places.get(id)
        if hint is not None:
            hint += self._moved
            if 0 <= hint < len(messages) and messages[hint].id == id:
                return hint
        return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].id == id), None)

    def _fold(self) -> None:
        """Make the list anew from what is selected."""
        builder, self._builder = self._builder, ChainBuilder()
        self._places, self._moved, self._calls, self._answered, self._thinks = {}, 0, [], set(), False
        if self._head is not None:
            self._push(self._head)
        self._push_all(self._from, len(self._path))
        builder.reset(self._builder.list)
        self._builder = builder

    def _push_all(self, start: int, end: int) -> None:
        for place in range(start, end):
            if self._path[place].row is not Row.COMPACTION:  # of older ones in the kept part nothing is sent
                self._push(self._path[place])

    def _fold_around(self, at: int) -> None:
        """Make that part of the list anew that depends on an entry: no further than the nearest ones where no call stays open."""
        first, start = self._anchor(range(at - 1, self._from - 1, -1))
        last, end = self._anchor(range(at + 1, len(self._path)))
        if first is None or start is None:
            first, start = self._from, int(self._head is not None and self._place(self._head.id) == 0)
        builder, self._builder = self._builder, ChainBuilder()
        tail = builder.list[end:] if end is not None else []
        state = self._calls, self._answered, self._answerer
        self._builder.list = builder.list[:start]
        self._calls, self._answered = [], set()
        self._push_all(first, len(self._path) if last is None else last)
        if last is not None:
            self._close()
            self._calls, self._answered, self._answerer = state
        self._builder.list.extend(tail)
        made, self._builder = self._builder.list, builder
        self._builder.reset(made, start)

    def _anchor(self, places: range) -> tuple[int | None, int | None]:
        """Return the first of some places of the path where no call stays open, and where its message lies."""
        for place in places:
            entry = self._path[place]
            if self._closes(entry):
                found = self._place(entry.id)
                if found is not None:
                    return place, found
        return None, None

    # -- sending -----------------------------------------------------------------------------------------

    def _push(self, entry: Entry) -> None:
        edit = self._edits.get(entry.id)
        if edit is not None and edit.out:
            return
        row = entry.row
        if row is Row.RESULT:
            self._answered.add(entry.call)
        elif row is Row.ASSISTANT:
            self._close()
            if entry.answer is not None and entry.answer.dropped:
                return
            calls = [n for n in (edit or entry).notes if n.kind is PartKind.CALL]
            if calls:
                self._calls, self._answered, self._answerer = calls, set(), entry
            self._thinks = self._thinks or (edit or entry).first(PartKind.REASONING) is not None
        elif row in _SPOKEN:
            if entry.hidden:
                return
            self._close()
        else:
            return
        message = self._message(entry)
        if message is not None:
            self._places[entry.id] = len(self._builder.list) - self._moved
            self._builder.append(message)

    def _close(self) -> None:
        """Make up results of the last answer's calls that have none."""
        if self._calls:
            for message in self._missing():
                self._builder.append(message)
            self._calls = []

    def _missing(self) -> list[Message]:
        made: list[Message] = []
        for note in self._calls:
            if note.call in self._answered or self._answerer is None:
                continue
            row = self._answerer.id
            fp = f"{self._answerer.key(self._session)}/{note.place}/none"
            call = part_of(note, "", self._session, row)
            ref = Ref(self._session, row, "no result")
            part = Part(PartKind.RESULT, fp, len(NO_RESULT), call.name, call.call, Synthetic.CARRIER, ref=ref)
            made.append(Message(f"{row}/{note.call}", Role.TOOL, fp, (part,), synthetic=Synthetic.CARRIER, row=row))
        return made

    def _message(self, entry: Entry) -> Message | None:
        """Return what an entry is sent as, or ``None`` where nothing of it is left."""
        edit = self._edits.get(entry.id) if self._edits else None
        if edit is not None and entry.row not in _EDITABLE:
            edit = None
        bare = entry.row is Row.ASSISTANT and not self._same_model(entry)
        key = (entry.id, entry.again, edit.id if edit else "", bare)
        try:
            return self._made[key]
        except KeyError:
            made = self._made[key] = _message(entry, edit, bare, self._session)
            return made

    def _same_model(self, entry: Entry) -> bool:
        if self._target is None or entry.answer is None:
            return True
        model, api = self._target
        return model == entry.answer.model and (api is None or entry.answer.api is None or api == entry.answer.api)


def _message(entry: Entry, edit: Entry | None, bare: bool, session: str) -> Message | None:
    key = fp = entry.key(session)
    notes = entry.notes
    source, place = entry.id, key
    if edit is not None:
        source, place = edit.id, edit.key(session)
        fp = f"{key}+{place}"
        notes = edit.notes
        if entry.row is Row.RESULT and entry.notes:
            first = entry.notes[0]
            notes = tuple(replace(n, call=first.call, name=first.name if n.kind is PartKind.RESULT else None) for n in edit.alt)
    if entry.row is Row.ASSISTANT:
        said = tuple(n for n in notes if n.kind is not PartKind.REASONING)
        if bare and len(said) < len(notes):
            notes, fp = said, f"{fp}-thinking"
        if not said and entry.answer is not None and entry.answer.api == "openai-completions":
            return None  # that dialect has no message of thinking alone
    if not notes:
        return None
    parts = tuple(part_of(n, place, session, source) for n in notes)
    if entry.row is Row.ASSISTANT:
        return Message(entry.id, Role.ASSISTANT, fp, parts, entry.began, entry.at)
    if entry.row is Row.RESULT:
        return Message(entry.id, Role.TOOL, fp, parts, entry.began, entry.at)
    opens = entry.row in USER_AUTHORED
    return Message(entry.id, Role.USER, fp, parts, entry.began, None, opens, _SYNTHETIC.get(entry.row))
