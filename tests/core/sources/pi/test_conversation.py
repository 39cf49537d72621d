"""The quick ways of following a conversation against making its list anew each time."""

from __future__ import annotations

import time

from ctx_inspect.core.model import Model, PartKind, Raw
from ctx_inspect.core.model.ledger import NO_USAGE
from ctx_inspect.core.sources.pi.classes import Row
from ctx_inspect.core.sources.pi.conversation import Conversation
from ctx_inspect.core.sources.pi.entries import Answer, Entry
from ctx_inspect.core.sources.pi.parts import Note
from hypothesis import given, settings
from hypothesis import strategies as st

MODELS = [Model(Raw("mock"), Raw(name)) for name in ("big", "small")]


class Anew(Conversation):
    """Makes the list anew whenever more than its end changes."""

    def _cut(self, before: int, old: Entry | None) -> int | None:
        return None

    def _fold_around(self, at: int) -> None:
        self._fold()

    def _compact(self, entry: Entry) -> None:
        super()._compact(entry)
        kept = self._path[self._from : -1]
        self._edits = {e.target: e for e in kept if e.row is Row.EDIT and e.target is not None}
        self._fold()


def entry(n: int, row: Row, **fields: object) -> Entry:
    made = Entry(f"e{n}", None, row, n, n, n, 0, 0)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def said(kind: PartKind = PartKind.TEXT, call: str | None = None) -> Note:
    return Note(kind, f"content/{kind}/{call}", 7, "bash" if call else None, call)


def answer(model: int, dropped: bool) -> Answer:
    return Answer(MODELS[model], "openai-completions", "stop", dropped, None, NO_USAGE, None, False)


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    made: list[Entry] = []
    for n in range(draw(st.integers(1, 26))):
        row = draw(
            st.sampled_from([Row.USER, Row.ASSISTANT, Row.ASSISTANT, Row.RESULT, Row.EDIT, Row.EDIT, Row.COMPACTION, Row.SHELL, Row.SYSTEM])
        )
        other = f"e{draw(st.integers(0, n + 1))}"  # nearly always an older one
        match row:
            case Row.ASSISTANT:
                calls = [said(PartKind.CALL, f"c{draw(st.integers(0, 3))}") for _ in range(draw(st.integers(0, 2)))]
                notes = (*([said(PartKind.REASONING)] if draw(st.booleans()) else []), *([said()] if draw(st.booleans()) else []), *calls)
                found = entry(n, row, notes=notes, answer=answer(draw(st.integers(0, 1)), draw(st.integers(0, 4)) == 0))
            case Row.RESULT:
                call = f"c{draw(st.integers(0, 3))}"
                found = entry(n, row, notes=(said(PartKind.RESULT, call),), call=call)
            case Row.EDIT:
                notes = tuple(draw(st.sampled_from([(said(),), (said(PartKind.CALL, "c1"),), ()])))
                found = entry(n, row, target=other, out=draw(st.booleans()), notes=notes, alt=notes[:1])
            case Row.COMPACTION:
                found = entry(n, row, kept=draw(st.sampled_from([other, "e0", None])), notes=(said(),))
            case Row.SHELL:
                found = entry(n, row, notes=(said(),), hidden=draw(st.booleans()))
            case _:
                found = entry(n, row, notes=(said(),))
        made.append(found)
    return made


@settings(max_examples=150, deadline=None)
@given(histories(), st.lists(st.integers(0, 3), min_size=26, max_size=26))
def test_the_quick_ways_lead_to_the_same_list(history: list[Entry], looks: list[int]) -> None:
    quick, anew = Conversation("s"), Anew("s")
    for e, look in zip(history, looks, strict=False):
        quick.feed(e)
        anew.feed(e)
        if look < 3:
            target = None if look == 2 else (MODELS[look], "openai-completions")
            assert quick.take(target).messages() == anew.take(target).messages(), e
    assert quick.copy().take(None).messages() == anew.take(None).messages()


def _took(history: list[Entry]) -> float:
    conversation = Conversation("s")
    began = time.process_time()
    for e in history:
        conversation.feed(e)
        if e.row is Row.ASSISTANT:
            conversation.take((MODELS[0], None))
    return time.process_time() - began


def test_many_compactions_and_edits_of_one_list_cost_little() -> None:
    """A crafted file: each row makes a long list begin anew; folding all of it each time takes minutes."""
    turn = [(Row.USER, {"notes": (said(),)}), (Row.ASSISTANT, {"notes": (said(),), "answer": answer(0, False)})]
    calls = [
        (Row.ASSISTANT, {"notes": (said(PartKind.CALL, "c"),), "answer": answer(0, False)}),
        (Row.RESULT, {"notes": (said(PartKind.RESULT, "c"),), "call": "c"}),
    ]
    compaction = [(Row.COMPACTION, {"kept": "e0", "notes": (said(),)})]
    edit = [(Row.EDIT, {"target": "e3", "out": True})]
    plain = [entry(n, row, **fields) for n, (row, fields) in enumerate((turn + calls) * 2000)]
    for change in (compaction, edit):
        rows = (turn + calls + change) * 2000
        crafted = [entry(n, row, **fields) for n, (row, fields) in enumerate(rows)]
        assert _took(crafted) < 40 * _took(plain) + 1
