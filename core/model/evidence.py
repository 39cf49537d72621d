"""How well a value is known: every statement is confirmed, estimated or unavailable.

A function that hands on a value hands on how it is known. ``match`` on :data:`Known` forces a caller to
handle all three, so an estimate cannot silently become a fact and a missing value cannot become zero.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, NewType, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
U = TypeVar("U")

Raw = NewType("Raw", str)
"""Text from outside (a store, a file name, a title): hostile until :mod:`ctx_inspect.core.text.show` made it harmless."""

Shown = NewType("Shown", str)
"""Text that may be drawn: only :mod:`ctx_inspect.core.text.show` makes one."""


class Witness(StrEnum):
    """What a confirmed value was read from."""

    STORE = "store row"
    PROVIDER = "provider usage"
    WIRE = "wire"
    CONFIG = "configuration"


class Why(StrEnum):
    """Why a value is not known. The note beside it says it in words."""

    NOT_RECORDED = "not_recorded"
    NOT_REPORTED = "not_reported"
    NOT_YET = "not_yet"
    UNREADABLE = "unreadable"
    GONE = "gone"
    UNKNOWN = "unknown"


class Confirmed(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """A recorded value and what recorded it."""

    value: T
    by: Witness = Witness.STORE


class Estimated(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """A computed or rebuilt value; ``how`` names the rule or counter (``o200k_base``, ``bytes/3.5``, …)."""

    value: T
    how: str


class Unavailable(msgspec.Struct, frozen=True, gc=False):
    """No value, and why: ``note`` is a short phrase for people, made of our own words only."""

    why: Why
    note: str


Known: TypeAlias = Confirmed[T] | Estimated[T] | Unavailable


def value_of(known: Known[T]) -> T | None:
    """Return the value, or ``None`` where it is unavailable."""
    return None if isinstance(known, Unavailable) else known.value


def grade(known: Known[T]) -> str:
    """Return the evidence word of the JSON (docs/json.md): ``confirmed``, ``estimated`` or ``unavailable``."""
    match known:
        case Confirmed():
            return "confirmed"
        case Estimated():
            return "estimated"
        case Unavailable():
            return "unavailable"
