"""Walks a branch entry by entry and makes its turns, requests and marks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ctx_inspect.core.model import (
    Confirmed,
    Context,
    HiddenTurn,
    Mark,
    MarkKind,
    Model,
    Purpose,
    Raw,
    Ref,
    Request,
    Turn,
)
from ctx_inspect.core.model.context import PartKind
from ctx_inspect.core.model.evidence import Unavailable, Why
from ctx_inspect.core.model.ledger import NO_FIGURE
from ctx_inspect.core.sources.pi.classes import ENDS_RUN, USER_AUTHORED, Row
from ctx_inspect.core.sources.pi.contexts import Contexts
from ctx_inspect.core.sources.pi.conversation import Conversation
from ctx_inspect.core.sources.pi.entries import Entry

ONE_ATTEMPT = Unavailable(Why.NOT_RECORDED, "Pi stores a retry as a row of its own; re-sends within a row leave no record")


@dataclass(slots=True)
class _Draft:
    """A turn that may still get rows."""

    ids: list[str]
    at: int
    inherited: bool
    input: list[Ref] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    steps: int = 0
    made: Turn | None = None


class Walk:
    """Follows one branch. ``feed`` each entry of it in order, then read what it made."""

    def __init__(self, session: str, contexts: Contexts, born: int | None) -> None:
        """Start at the root.

        Args:
            session: Session id.
            contexts: Makes contexts; shared by all walks of a session.
            born: For a copy of another session: epoch ms of its header. What is older was copied.
        """
        self._session, self._contexts, self._born = session, contexts, born
        self._conversation = Conversation(session)
        self._drafts: list[_Draft] = []
        self._before: list[Request] = []
        self.marks: list[Mark] = []
        self.other: dict[int, list[Request]] = {}
        self._last: str | None = None  # newest request
        self._run = False  # the last row of the conversation was user-authored
        self.model, self.level, self.api = Model(None, None), None, None
        self._copied = False  # entries of another session stood here
        self._forked = False  # the first entry of its own came

    def branch(self) -> Walk:
        """Return a walk of a branch that hangs off here; it has turns of its own and no marks."""
        other = Walk(self._session, self._contexts, self._born)
        other._conversation = self._conversation.copy()
        other.model, other.level, other.api = self.model, self.level, self.api
        return other

    def feed(self, entry: Entry) -> None:
        """Go on by one entry."""
        if self._born is not None:
            if self.inherited(entry):
                self._copied = True
            elif self._copied and not self._forked:
                self._forked = True
                self.mark(MarkKind.FORK, self._born)
        match entry.row:
            case Row.ASSISTANT:
                self._step(entry)
            case Row.SHELL:
                self._row(Request(entry.id, entry.began, Purpose.OTHER, call=False, done=entry.at, ref=entry.parts[0].ref))
            case row if row in USER_AUTHORED:
                self._open(entry)
            case Row.COMPACTION | Row.BRANCH:
                self._summary(entry)
            case Row.SPENT:
                self._beside(Request(entry.id, entry.at, Purpose.OTHER, model=entry.model, usage=entry.usage))
            case _:
                self._note(entry)
        if entry.row in ENDS_RUN:
            self._run = False
        self._conversation.feed(entry)

    # -- rows --------------------------------------------------------------------------------------------

    def inherited(self, entry: Entry) -> bool:
        """Tell whether an entry was copied from another session: it is older than this file."""
        return self._born is not None and 0 < entry.at < self._born

    def _open(self, entry: Entry) -> None:
        refs = [p.ref for p in entry.parts if p.kind is PartKind.TEXT and p.ref is not None]
        if self._run:
            draft = self._drafts[-1]
            draft.ids.append(entry.id)
            draft.input += refs
            draft.made = None
        else:
            self._drafts.append(_Draft([entry.id], entry.began, self.inherited(entry), refs))
        self._run = True

    def gap(self) -> None:
        """An unreadable record lies here: the next user message opens a turn of its own."""
        self._run = False

    def _step(self, entry: Entry) -> None:
        answer = entry.answer
        if answer is None:
            return
        self.model, self.api = answer.model, answer.api or self.api
        if answer.level is not None:
            self.level = answer.level
        chain = self._conversation.take((answer.model, answer.api))
        context = self._contexts.make(self._conversation.system, chain, answer.model, self.level, modern=answer.modern)
        tools = tuple(p.name or Raw("") for p in entry.parts if p.kind is PartKind.CALL)
        ref = next((p.ref for p in entry.parts if p.kind is PartKind.TEXT), None) or Ref(self._session, entry.id, "content")
        self._row(
            Request(
                entry.id,
                entry.began,
                done=entry.at,
                model=answer.model,
                context=context,
                usage=answer.usage,
                finish=answer.finish,
                error=answer.error,
                attempts=ONE_ATTEMPT,
                tools=tools,
                inherited=self.inherited(entry),
                ref=ref,
            )
        )

    def _row(self, request: Request) -> None:
        if self._drafts:
            draft = self._drafts[-1]
            if request.call:
                draft.steps += 1
                request = replace(request, step=draft.steps)
            draft.requests.append(request)
            draft.made = None
        else:
            if request.call:
                request = replace(request, step=sum(r.call for r in self._before) + 1)
            self._before.append(request)
        self._last = request.id

    def _beside(self, request: Request) -> None:
        self.other.setdefault(len(self._drafts), []).append(request)

    def _summary(self, entry: Entry) -> None:
        before = NO_FIGURE if entry.before is None else Confirmed(entry.before)
        refs = {"summary": entry.id}
        if entry.row is Row.COMPACTION:
            if entry.kept is not None and entry.kept != entry.id:
                refs["tail"] = entry.kept
            detail = Raw("made by an extension") if entry.hook else None
            self.mark(MarkKind.COMPACTION, entry.at, status="succeeded", refs=refs, before=before, detail=detail)
        if not entry.hook:
            purpose = Purpose.COMPACTION if entry.row is Row.COMPACTION else Purpose.SUMMARY
            self._beside(
                Request(
                    entry.id,
                    entry.at,
                    purpose,
                    done=entry.at,
                    usage=entry.usage,
                    inherited=self.inherited(entry),
                    ref=entry.parts[0].ref if entry.parts else None,
                )
            )

    def _note(self, entry: Entry) -> None:
        match entry.row:
            case Row.MODEL:
                changed = self.model != Model(None, None) and self.model != entry.model
                self.model, self.api = entry.model, None
                if changed:
                    self.mark(MarkKind.MODEL, entry.at, detail=entry.model.id)
            case Row.THINKING:
                changed = self.level is not None and self.level != entry.text
                self.level = entry.text
                if changed:
                    self.mark(MarkKind.THINKING, entry.at, detail=entry.text)
            case Row.SYSTEM:
                if self._conversation.system.known:
                    self.mark(MarkKind.SYSTEM, entry.at, refs={"message": entry.id})
            case Row.EDIT:
                refs = {"message": entry.target} if entry.target else {}
                self.mark(MarkKind.EDIT, entry.at, status="removed" if entry.out else "replaced", refs=refs)
            case Row.LABEL:
                refs = {"message": entry.target} if entry.target else {}
                self.mark(MarkKind.LABEL, entry.at, status="set" if entry.text else "cleared", refs=refs, detail=entry.text)
            case _:
                pass

    def mark(self, kind: MarkKind, at: int, **more: object) -> None:
        """Record an event here."""
        self.marks.append(Mark(kind, at, len(self._drafts) or None, self._last, **more))  # type: ignore[arg-type]

    # -- what came out -----------------------------------------------------------------------------------

    def pending_marks(self) -> tuple[Mark, ...]:
        """Return the fork of a copy that has no entry of its own yet."""
        if self._born is None or not self._copied or self._forked:
            return ()
        return (Mark(MarkKind.FORK, self._born, len(self._drafts) or None, self._last),)

    def before(self) -> tuple[Request, ...]:
        """Return the rows before the first turn."""
        return tuple(self._before)

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns so far; the same objects where nothing was added to them."""
        made: list[Turn] = []
        for n, draft in enumerate(self._drafts, start=1):
            if draft.made is None:
                draft.made = Turn(
                    n, draft.ids[0], tuple(draft.ids), draft.at, tuple(draft.requests), tuple(draft.input), inherited=draft.inherited
                )
            made.append(draft.made)
        return tuple(made)

    def hidden(self) -> tuple[HiddenTurn, ...]:
        """Return what this branch holds as turns that are no longer on the active history."""
        rows: list[HiddenTurn] = []
        if self._before:
            first = self._before[0]
            rows.append(HiddenTurn(first.id, (), first.at, "abandoned", (), tuple(self._before)))
        rows += [HiddenTurn(d.ids[0], tuple(d.ids), d.at, "abandoned", tuple(d.input), tuple(d.requests)) for d in self._drafts]
        return tuple(rows)

    def now(self) -> Context:
        """Return what the next request would carry, as far as the store tells."""
        target = None if self.model == Model(None, None) else (self.model, self.api)
        chain = self._conversation.take(target)
        return self._contexts.make(self._conversation.system, chain, self.model, self.level, modern=None)
