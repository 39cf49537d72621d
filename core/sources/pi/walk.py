"""Walks a branch entry by entry and makes its turns, requests and marks."""

from __future__ import annotations

from collections.abc import Mapping

from ctx_inspect.core.model import Confirmed, Context, HiddenTurn, Mark, MarkKind, Model, PartKind, Purpose, Raw, Ref, Request, Turn
from ctx_inspect.core.model.evidence import Known, Unavailable, Why
from ctx_inspect.core.model.ledger import NO_FIGURE, NO_LIMIT
from ctx_inspect.core.sources.pi.classes import ENDS_RUN, USER_AUTHORED, Row
from ctx_inspect.core.sources.pi.contexts import Contexts
from ctx_inspect.core.sources.pi.entries import NO_MODEL, Entry
from ctx_inspect.core.sources.pi.prompt import PROMPTS, Prompt
from ctx_inspect.core.sources.pi.replay import Replay
from ctx_inspect.core.sources.pi.system import changes_of

_ASSISTANT, _RESULT = Row.ASSISTANT, Row.RESULT
_PRIMARY, _CALL, _TEXT = Purpose.PRIMARY, PartKind.CALL, PartKind.TEXT

ONE_ATTEMPT = Unavailable(Why.NOT_RECORDED, "Pi stores a retry as a row of its own; re-sends within a row leave no record")


class _Draft:
    """A turn that may still get rows; ``made`` is what it was when it was last asked for."""

    __slots__ = ("at", "ids", "inherited", "input", "made", "requests", "steps")

    def __init__(self, ids: list[str], at: int | None, inherited: bool, input: list[Ref]) -> None:
        """Start without rows."""
        self.ids, self.at, self.inherited, self.input = ids, at, inherited, input
        self.requests: list[Request] = []
        self.steps = 0
        self.made: Turn | None = None


class Walk:
    """Follows one branch. ``feed`` each entry of it in order, then read what it made."""

    def __init__(self, session: str, contexts: Contexts, born: int | None, parent: Walk | None = None) -> None:
        """Start at the root, or where ``parent`` stands.

        Args:
            session: Session id.
            contexts: Makes contexts; shared by all walks of a session.
            born: For a copy of another session: epoch ms of its header. What is older was copied.
            parent: The walk this one branches off.
        """
        self._session, self._contexts, self._born = session, contexts, born
        self._replay: Replay = parent._replay.branch() if parent else Replay(session)
        self._prompt: Prompt = parent._prompt.copy() if parent else Prompt(session)
        self._drafts: list[_Draft] = []
        self._before = _Draft([], None, False, [])
        self.marks: list[Mark] = []
        self.other: dict[int, list[Request]] = {}
        self._last: str | None = None  # newest request
        self._run = False  # the last row of the conversation was user-authored
        self.model: Model = parent.model if parent else NO_MODEL
        self.level: Raw | None = parent.level if parent else None
        self.api: str | None = parent.api if parent else None
        self._copied = False  # entries of another session stood here
        self._forked = False  # the first entry of its own came

    def branch(self) -> Walk:
        """Return a walk of a branch that hangs off here; it has turns and marks of its own."""
        return Walk(self._session, self._contexts, self._born, self)

    def feed(self, entry: Entry) -> None:
        """Go on by one entry."""
        if self._born is not None:
            if self.inherited(entry):
                self._copied = True
            elif self._copied and not self._forked:
                self._forked = True
                self.mark(MarkKind.FORK, self._born)
        row = entry.row
        if row is _ASSISTANT:
            self._step(entry)
        elif row is _RESULT:
            pass
        elif row in USER_AUTHORED:
            self._open(entry)
        elif row is Row.SHELL:
            self._add(entry, call=False, purpose=Purpose.OTHER, place="shell")
        elif row is Row.COMPACTION or row is Row.BRANCH:
            self._summary(entry)
        else:
            self._note(entry)
        if row in ENDS_RUN:
            self._run = False
        if row in PROMPTS:
            self._prompt.feed(entry)
        self._replay.feed(entry)

    def inherited(self, entry: Entry) -> bool:
        """Tell whether an entry was copied from another session: it is older than this file."""
        return self._born is not None and entry.at is not None and entry.at < self._born

    def gap(self) -> None:
        """An unreadable record lies here: the next user message opens a turn of its own."""
        self._run = False

    # -- rows --------------------------------------------------------------------------------------------

    def _open(self, entry: Entry) -> None:
        refs = [Ref(self._session, entry.id, n.place) for n in entry.notes if n.kind is _TEXT]
        if self._run:
            draft = self._drafts[-1]
            draft.ids.append(entry.id)
            draft.input += refs
            draft.made = None
        else:
            self._drafts.append(_Draft([entry.id], entry.began, self._born is not None and self.inherited(entry), refs))
        self._run = True

    def _step(self, entry: Entry) -> None:
        answer = entry.answer
        if answer is None:
            return
        self.model, self.api = answer.model, answer.api or self.api
        if answer.level is not None:
            self.level = answer.level
        chain = self._replay.take((answer.model, answer.api))
        context = self._contexts.make(self._prompt.state, chain, answer.model, self.level, modern=answer.modern)
        said = entry.first(_TEXT)
        self._add(entry, call=True, purpose=_PRIMARY, place=said.place if said else "content", context=context)

    def _add(self, entry: Entry, *, call: bool, purpose: Purpose, place: str, context: Context | None = None) -> None:
        draft = self._drafts[-1] if self._drafts else self._before
        step = None
        if call:
            step = draft.steps = draft.steps + 1
        answer = entry.answer
        ref = Ref(self._session, entry.id, place)
        if answer is None:
            request = Request(entry.id, entry.began, purpose, step, call, entry.at, inherited=self.inherited(entry), ref=ref)
        else:
            tools = tuple([Raw(n.name or "") for n in entry.notes if n.kind is _CALL])
            request = Request(
                entry.id,
                entry.began,
                purpose,
                step,
                call,
                entry.at,
                None,
                answer.model,
                NO_LIMIT,
                context,
                answer.usage,
                answer.finish,
                answer.error,
                ONE_ATTEMPT,
                (),
                tools,
                self._born is not None and self.inherited(entry),
                ref,
            )
        draft.requests.append(request)
        draft.made = None
        self._last = entry.id

    def _beside(self, request: Request) -> None:
        self.other.setdefault(len(self._drafts), []).append(request)

    def _summary(self, entry: Entry) -> None:
        if entry.row is Row.COMPACTION:
            refs = {"summary": entry.id}
            if entry.kept is not None and entry.kept != entry.id:
                refs["tail"] = entry.kept
            before = NO_FIGURE if entry.before is None else Confirmed(entry.before)
            detail = Raw("made by an extension") if entry.hook else None
            self.mark(MarkKind.COMPACTION, entry.at, "succeeded", refs, before=before, detail=detail)
        if not entry.hook:  # an extension's summary leaves no record of a call
            purpose = Purpose.COMPACTION if entry.row is Row.COMPACTION else Purpose.SUMMARY
            ref = Ref(self._session, entry.id, entry.notes[0].place) if entry.notes else None
            inherited = self.inherited(entry)
            self._beside(Request(entry.id, entry.at, purpose, done=entry.at, usage=entry.usage, inherited=inherited, ref=ref))

    def _note(self, entry: Entry) -> None:
        refs = {"message": entry.target} if entry.target else {}
        match entry.row:
            case Row.SPENT:
                inherited = self.inherited(entry)
                self._beside(Request(entry.id, entry.at, Purpose.OTHER, model=entry.model, usage=entry.usage, inherited=inherited))
            case Row.MODEL:
                changed = self.model not in (NO_MODEL, entry.model)
                self.model, self.api = entry.model, None
                if changed:
                    self.mark(MarkKind.MODEL, entry.at, detail=entry.model.id)
            case Row.THINKING:
                changed = self.level is not None and self.level != entry.text
                self.level = entry.text
                if changed:
                    self.mark(MarkKind.THINKING, entry.at, detail=entry.text)
            case Row.SYSTEM:
                if self._prompt.state.known:
                    self.mark(MarkKind.SYSTEM, entry.at, refs={"message": entry.id}, detail=changes_of(entry.system or b"{}"))
            case Row.EDIT:
                self.mark(MarkKind.EDIT, entry.at, "removed" if entry.out else "replaced", refs)
            case Row.LABEL:
                self.mark(MarkKind.LABEL, entry.at, "set" if entry.text else "cleared", refs, detail=entry.text)
            case _:
                pass

    def mark(
        self,
        kind: MarkKind,
        at: int | None,
        status: str | None = None,
        refs: Mapping[str, str] | None = None,
        *,
        before: Known[int] = NO_FIGURE,
        detail: Raw | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Record an event here."""
        self.marks.append(
            Mark(
                kind, at, len(self._drafts) or None, self._last, None, status, refs or {}, before=before, detail=detail, counts=counts or {}
            )
        )

    # -- what came out -----------------------------------------------------------------------------------

    def pending_marks(self) -> tuple[Mark, ...]:
        """Return the fork of a copy that has no entry of its own yet."""
        if self._born is None or not self._copied or self._forked:
            return ()
        return (Mark(MarkKind.FORK, self._born, len(self._drafts) or None, self._last),)

    def before(self) -> tuple[Request, ...]:
        """Return the rows before the first turn."""
        return tuple(self._before.requests)

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns so far; the same objects where nothing was added to them."""
        made: list[Turn] = []
        for n, draft in enumerate(self._drafts, start=1):
            if draft.made is None:
                rows = tuple(draft.requests)
                draft.made = Turn(n, draft.ids[0], tuple(draft.ids), draft.at, rows, tuple(draft.input), inherited=draft.inherited)
            made.append(draft.made)
        return tuple(made)

    def hidden(self) -> tuple[HiddenTurn, ...]:
        """Return what this branch holds as turns that are no longer on the active history."""
        rows: list[HiddenTurn] = []
        if self._before.requests:
            first = self._before.requests[0]
            rows.append(HiddenTurn(first.id, (), first.at, "abandoned", (), tuple(self._before.requests)))
        rows += [HiddenTurn(d.ids[0], tuple(d.ids), d.at, "abandoned", tuple(d.input), tuple(d.requests)) for d in self._drafts]
        return tuple(rows)

    def now(self) -> Context:
        """Return what the next request would carry, as far as the store tells."""
        chain = self._replay.take(None if self.model == NO_MODEL else (self.model, self.api))
        return self._contexts.make(self._prompt.state, chain, self.model, self.level, modern=None)
