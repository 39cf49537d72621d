"""What a message list did between two requests, and why, where that is recorded or can be recognised."""

from __future__ import annotations

from collections.abc import Sequence

from ctx_inspect.core.diff.report import CAUSE_OF, Cause, CauseKind, Compacted, ConversationReport, State
from ctx_inspect.core.model import (
    Category,
    Chain,
    Context,
    Coverage,
    Estimated,
    Mark,
    MarkKind,
    Message,
    Model,
    PartKind,
    Role,
    Synthetic,
    Why,
    replace,
)
from ctx_inspect.core.model.ledger import NO_MODEL
from msgspec import Struct, field

NO_COVERAGE = Coverage("unavailable", why=Why.NOT_RECORDED, note="not recorded")

SWITCHED = "the model changed, and of the messages only reasoning and text of answers"
MOVED = "of the messages only the harness's reminder moved"

_RANK = {"unavailable": 0, "estimated": 1, "confirmed": 2}


def weaker(before: Context, after: Context, category: Category) -> Coverage:
    """Return the weaker of both sides' coverages of a category; of equal ones the newer side's."""
    a, b = before.coverage.get(category, NO_COVERAGE), after.coverage.get(category, NO_COVERAGE)
    return a if _RANK.get(a.grade, 0) < _RANK.get(b.grade, 0) else b


class Differences(Struct):
    """How two message lists differ behind what they have in front.

    Attributes:
        same: Messages that both have in front.
        rest: The older list from there on.
        removed: Messages of it that the newer one does not have.
        added: Messages of the newer list that the older one does not have.
        changed: Messages on both sides, by id, with other content.
        shifted: What stays stands in another order, or something new stands before it.
    """

    same: int
    rest: tuple[Message, ...] = ()
    removed: list[Message] = field(default_factory=list[Message])
    added: list[Message] = field(default_factory=list[Message])
    changed: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]])
    shifted: bool = False

    @property
    def rewritten(self) -> bool:
        """Whether the newer list does not just go on from the older one."""
        return bool(self.rest)


def compare(before: Chain, after: Chain) -> Differences:
    """Compare two lists; costs what stands behind their common part, where one was made from the other."""
    if before is after:
        return Differences(before.length)
    same = before.shared(after) or 0
    old, new = before.since(same), after.since(same)
    front = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a is not b and a.fp != b.fp), min(len(old), len(new)))
    found = Differences(same + front, old[front:])
    if not found.rest:
        found.added = list(new[front:])
        return found
    _match(found, new[front:])
    return found


def _match(found: Differences, new: Sequence[Message]) -> None:
    """Pair messages: by content first, then by id; what is left came or went."""
    old = found.rest
    place = _first_of_equals([m.fp for m in old], [m.fp for m in new])
    taken = set(place)
    gone = [n for n in range(len(old)) if n not in taken]
    come = [n for n, was in enumerate(place) if was < 0]
    if gone and come:
        by_id = _first_of_equals([old[n].id for n in gone], [new[n].id for n in come])
        again = {n: gone[was] for n, was in zip(come, by_id, strict=True) if was >= 0}
        found.changed = [(old[was], new[n]) for n, was in again.items()]
        for n, was in again.items():
            place[n] = was
        taken = set(again.values())
        gone = [n for n in gone if n not in taken]
    found.removed = [old[n] for n in gone]
    found.added = [message for n, message in zip(place, new, strict=True) if n < 0]
    kept = [n for n in place if n >= 0]
    found.shifted = kept != sorted(kept) or place[: len(kept)] != kept  # in another order, or something new before one of them


def _first_of_equals(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return for each new key the place of the first equal old one that no key before it took; -1 where there is none."""
    first = dict(zip(old, range(len(old)), strict=True))
    if len(first) == len(old):  # nothing repeats, as nearly always
        return [first.pop(key, -1) for key in new]
    first.clear()
    following = [-1] * len(old)
    for n in range(len(old) - 1, -1, -1):
        key = old[n]
        following[n] = first.get(key, -1)
        first[key] = n
    found: list[int] = []
    for key in new:
        place = first.get(key, -1)
        found.append(place)
        if place >= 0:
            first[key] = following[place]
    return found


def conversation_report(
    before: Context,
    after: Context,
    between: Sequence[Mark],
    *,
    models: tuple[Model, Model] = (NO_MODEL, NO_MODEL),
    gone: bool = False,
    steps: int = 0,
    compaction: Compacted | None = None,
) -> ConversationReport:
    """Compare two message lists.

    Args:
        before: What the older request carried.
        after: What the newer one carried.
        between: The events recorded between the two, in order.
        models: The models of the two requests.
        gone: Whether the older request's turn is no longer on the active history.
        steps: Primary requests sent from the older one (included) to the newer one (not included).
        compaction: The newest succeeded compaction between the two (:mod:`.compactions`), its messages not counted yet.
    """
    coverage = weaker(before, after, Category.CONVERSATION)
    if coverage.grade == "unavailable":
        return ConversationReport(State.UNAVAILABLE, coverage, steps=steps)
    old, new = before.messages, after.messages
    found = compare(old, new)
    if not found.rewritten:
        kind = State.GROWTH if found.added else State.SAME
        return ConversationReport(kind, coverage, old.length, new.length, len(found.added), steps=steps)
    if compaction is not None:
        how = coverage.how or "the two lists"
        folded = len(found.removed)
        compaction = replace(compaction, folded=Estimated(folded, how), kept=Estimated(old.length - folded, how))
    return ConversationReport(
        State.REWRITTEN,
        coverage,
        old.length,
        new.length,
        len(found.added),
        len(found.removed),
        len(found.changed),
        found.same,
        found.rest[0].id,
        causes_of(found, between, models, gone=gone),
        compaction,
        steps,
    )


class _Unexplained(Struct):
    """What of the differences nothing explains so far."""

    removed: list[Message]
    changed: list[tuple[Message, Message]]
    shifted: bool

    def __bool__(self) -> bool:
        return bool(self.removed or self.changed or self.shifted)


def causes_of(
    found: Differences, between: Sequence[Mark], models: tuple[Model, Model] = (NO_MODEL, NO_MODEL), *, gone: bool = False
) -> tuple[Cause, ...]:
    """Return why a list was rewritten.

    An event that is recorded between the two requests is a cause where it accounts for a difference: a compaction for all that
    went and moved, a revert or a change of branch for what went, a prune for outputs that changed, an edit for its message.
    What is left may be recognised as a whole; where it is not, its cause is not recorded, and that is said.

    Args:
        found: How the lists differ.
        between: The events between the two requests, in order.
        models: Of the two requests.
        gone: Whether the older request's turn is no longer on the active history.
    """
    left = _Unexplained(list(found.removed), list(found.changed), found.shifted)
    causes: list[Cause] = []
    turned = [m for m in between if m.kind in (MarkKind.REVERT, MarkKind.BRANCH)]
    had = {i for m in found.rest for i in (m.id, m.row) if i is not None} if turned else set[str]()
    if any(m.refs.get("message") in had for m in turned):
        turned = [m for m in turned if m.refs.get("message") in had]
    elif not gone:  # what was taken back or left came after the older request
        turned = []
    forks: list[Mark] = []
    for mark in between:
        kind = CAUSE_OF.get(mark.kind)
        if kind is None or (kind is CauseKind.COMPACTION and mark.status != "succeeded"):
            continue
        if kind is CauseKind.FORK:
            forks.append(mark)
        elif mark.kind in (MarkKind.REVERT, MarkKind.BRANCH):
            if found.removed and mark in turned:
                left.removed = []
                causes.append(_recorded(kind, mark))
        elif _explains(mark, found, left):
            causes.append(_recorded(kind, mark))
    if not left and causes:
        return tuple(causes)
    recognised = _recognised(left, models)
    if recognised:
        return (*causes, *recognised)
    if forks and (left or not causes):
        return (*causes, *[_recorded(CauseKind.FORK, mark) for mark in forks])
    return (*causes, Cause(CauseKind.NOT_RECORDED, "unavailable"))


def _recorded(kind: CauseKind, mark: Mark) -> Cause:
    return Cause(kind, "confirmed", mark) if mark.how is None else Cause(kind, "estimated", mark, mark.how)


def _explains(mark: Mark, found: Differences, left: _Unexplained) -> bool:
    """Tell whether an event accounts for some of the differences, and take these from what is left."""
    message = mark.refs.get("message")
    match mark.kind:
        case MarkKind.COMPACTION:
            left.removed, left.shifted = [], False
            return True
        case MarkKind.PRUNE:
            rows = {_row(new) for old, new in found.changed if _output_changed(old, new)}
            left.changed = [pair for pair in left.changed if not _output_changed(*pair)]
            left.removed = [m for m in left.removed if _row(m) not in rows]  # media of an output stand in a message of their own
            return bool(rows)
        case MarkKind.EDIT:
            touched = [m for m in found.removed if message in (m.id, m.row)]
            touched += [new for _, new in found.changed if message in (new.id, new.row)]
            back = [m for m in found.added if message in (m.id, m.row)]
            left.removed = [m for m in left.removed if message not in (m.id, m.row)]
            left.changed = [pair for pair in left.changed if message not in (pair[1].id, pair[1].row)]
            left.shifted = left.shifted and not back
            return bool(touched or back)
        case _:
            return False


def _row(message: Message) -> str:
    return message.row or message.id


def _output_changed(old: Message, new: Message) -> bool:
    """Tell whether an output of a tool in a message is another one now."""
    results = [p.fp for p in new.parts if p.kind is PartKind.RESULT]
    return [p.fp for p in old.parts if p.kind is PartKind.RESULT] != results and bool(results)


def _recognised(left: _Unexplained, models: tuple[Model, Model]) -> list[Cause]:
    """Return what the remaining differences are recognised by; nothing where one of them is not."""
    if not left.changed or left.removed or left.shifted:
        return []
    switched = moved = 0
    for old, new in left.changed:
        if old.role is not new.role:
            return []
        if _only_reminder(old, new):
            moved += 1
        elif models[0] != models[1] and NO_MODEL not in models and _only_spoken(old, new):
            switched += 1
        else:
            return []
    causes: list[Cause] = []
    if switched:
        causes.append(Cause(CauseKind.MODEL_SWITCH, "estimated", how=SWITCHED))
    if moved:
        causes.append(Cause(CauseKind.REMINDER_MOVED, "estimated", how=MOVED))
    return causes


def _only_reminder(old: Message, new: Message) -> bool:
    def rest(message: Message) -> list[tuple[str, str]]:
        return [(p.kind, p.fp) for p in message.parts if p.synthetic is not Synthetic.REMINDER]

    return rest(old) == rest(new) and old.parts != new.parts


def _only_spoken(old: Message, new: Message) -> bool:
    def rest(message: Message) -> list[tuple[str, str]]:
        return [(p.kind, p.fp) for p in message.parts if p.kind not in (PartKind.TEXT, PartKind.REASONING)]

    return new.role is Role.ASSISTANT and rest(old) == rest(new)
