"""What several answers share: evidence, figures, models, problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

from ctx_inspect.core import model
from ctx_inspect.core.model import Confirmed, Estimated, Known, Raw, Unavailable
from ctx_inspect.core.text.redact import redact
from msgspec import UNSET, Struct, UnsetType

T = TypeVar("T")
Maybe: TypeAlias = T | UnsetType
Clean: TypeAlias = Callable[[Raw], str]
"""Redacts a title, name, path or text, or hands it on where the person uncovered it."""


def maybe(value: T | None) -> T | UnsetType:
    """Return the value, absent where it is not known."""
    return UNSET if value is None else value


def cleaner(uncover: bool) -> Clean:
    """Return what titles, names, paths and texts pass through."""
    return (lambda raw: raw) if uncover else redact


class Figure(Struct, kw_only=True):
    """A number of tokens and how well it is known.

    Attributes:
        tokens: The number; absent where it is unavailable.
        evidence: How well it is known.
        how: Of an estimate: what it was computed by.
        why: Where it is unavailable: why.
        by: Of a confirmed one: what recorded it (``store row``, ``provider usage``, ``configuration``).
    """

    tokens: int | UnsetType = UNSET
    evidence: str
    how: str | UnsetType = UNSET
    why: str | UnsetType = UNSET
    by: str | UnsetType = UNSET


def figure(known: Known[int]) -> Figure:
    """Return a number of tokens as it is known."""
    match known:
        case Confirmed(value=tokens, by=by):
            return Figure(tokens=tokens, evidence="confirmed", by=by.value)
        case Estimated(value=tokens, how=how):
            return Figure(tokens=tokens, evidence="estimated", how=how)
        case Unavailable(note=note):
            return Figure(evidence="unavailable", why=note)


class Model(Struct, kw_only=True):
    """A model as the harness names it.

    Attributes:
        provider: The provider's name.
        id: The model's id.
    """

    provider: str | UnsetType = UNSET
    id: str | UnsetType = UNSET


def model_of(m: model.Model, clean: Clean) -> Model | UnsetType:
    """Return a model; absent where neither provider nor id is recorded."""
    if m.provider is None and m.id is None:
        return UNSET
    return Model(
        provider=UNSET if m.provider is None else clean(m.provider),
        id=UNSET if m.id is None else clean(m.id),
    )


class Problem(Struct):
    """What could not be read; the rest was.

    Attributes:
        source: The file or folder.
        code: What kind of problem; see the table of codes.
        message: One sentence: what, and where (a line, a row).
    """

    source: str
    code: str
    message: str


def problems_of(problems: Iterable[model.Problem], clean: Clean) -> list[Problem]:
    """Return problems, each once, in order."""
    seen = dict.fromkeys((clean(p.source), p.code.value, p.message) for p in problems)
    return [Problem(*p) for p in seen]


class NotRecorded(Struct):
    """What lies behind the point where a snapshot was taken.

    Attributes:
        what: What cannot be known.
        why: Why not.
    """

    what: str
    why: str


def not_recorded_of(ledger: model.Ledger) -> list[NotRecorded]:
    """Return what the session's store does not record."""
    return [NotRecorded(what, why) for what, why in ledger.not_recorded]
