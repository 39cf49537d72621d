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
        self._selected: list[Entry] = []
        self._edits: dict[str, Entry] = {}
        self._builder = ChainBuilder()
        self._places: dict[str, int] = {}  # where a message was put; may have moved since
        self._closers: set[str] = set()  # entries before which results were made up
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
        other._path, other._selected, other._edits = list(self._path), list(self._selected), dict(self._edits)
        other._builder, other._places, other._closers = self._builder.copy(), dict(self._places), set(self._closers)
        other._calls, other._answered, other._made = list(self._calls), set(self._answered), self._made
        return other

    def feed(self, entry: Entry) -> None:
        """Go on by one entry."""
        self._path.append(entry)
        if entry.row is Row.COMPACTION:
            self._compact(entry)
            return
        self._selected.append(entry)
        if entry.row is not Row.EDIT:
            self._push(entry)
        elif entry.target is not None:
            self._edits[entry.target] = entry
            self._edited(entry)

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
        self._builder.reset(self._builder.list[:length])
        return chain

    # -- selecting ---------------------------------------------------------------------------------------

    def _compact(self, entry: Entry) -> None:
        kept: list[Entry] = []
        if entry.kept is not None and entry.kept != entry.id:
            for place in range(len(self._path) - 2, -1, -1):
                if self._path[place].id == entry.kept:
                    kept = [e for e in self._path[place:-1] if e.row is not Row.SYSTEM]
                    break
        self._selected = [entry, *kept]
        self._edits = {e.target: e for e in kept if e.row is Row.EDIT and e.target is not None}
        self._fold()

    def _edited(self, edit: Entry) -> None:
        """Apply an edit that has just come: in place where nothing else depends on it, else by folding again."""
        target = next((e for e in reversed(self._selected) if e.id == edit.target), None)
        if target is None:
            return
        if target.answer is not None and target.answer.dropped and target.id not in self._closers:
            return
        plain = target.row in (Row.USER, Row.CUSTOM, Row.RESULT) or (
            target.row is Row.ASSISTANT and target.first(PartKind.CALL) is None and edit.first(PartKind.CALL) is None
        )
        place = self._place(target.id)
        message = None if edit.out or not plain or place is None else self._message(target)
        if message is None or place is None:
            self._fold()
        else:
            self._builder.replace(place, message)

    def _place(self, id: str) -> int | None:
        messages = self._builder.list
        hint = self._places.get(id)
        if hint is not None and hint < len(messages) and messages[hint].id == id:
            return hint
        return next((i for i in range(len(messages) - 1, -1, -1) if messages[i].id == id), None)

    def _fold(self) -> None:
        """Make the list anew from what is selected."""
        builder, self._builder = self._builder, ChainBuilder()
        self._places, self._closers, self._calls, self._answered, self._thinks = {}, set(), [], set(), False
        for place, entry in enumerate(self._selected):
            if entry.row is not Row.COMPACTION or place == 0:  # of older compactions in the kept part nothing is sent
                self._push(entry)
        builder.reset(self._builder.list)
        self._builder = builder

    # -- sending -----------------------------------------------------------------------------------------

    def _push(self, entry: Entry) -> None:
        edit = self._edits.get(entry.id)
        if edit is not None and edit.out:
            return
        row = entry.row
        if row is Row.RESULT:
            self._answered.add(entry.call)
        elif row is Row.ASSISTANT:
            self._close(entry)
            if entry.answer is not None and entry.answer.dropped:
                return
            calls = [n for n in (edit or entry).notes if n.kind is PartKind.CALL]
            if calls:
                self._calls, self._answered, self._answerer = calls, set(), entry
            self._thinks = self._thinks or (edit or entry).first(PartKind.REASONING) is not None
        elif row in _SPOKEN:
            if entry.hidden:
                return
            self._close(entry)
        else:
            return
        message = self._message(entry)
        if message is not None:
            self._places[entry.id] = len(self._builder.list)
            self._builder.append(message)

    def _close(self, entry: Entry) -> None:
        """Make up results of the last answer's calls that have none, before ``entry``."""
        if self._calls:
            missing = self._missing()
            if missing:
                self._closers.add(entry.id)
                for message in missing:
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
