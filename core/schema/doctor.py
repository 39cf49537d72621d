"""``doctor --json``: ``ctx-inspect/doctor/1``."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class Check(Struct, kw_only=True):
    """One thing that was looked at. ``state`` is ``ok``, ``note`` or ``problem``; ``next`` says what to do.

    Attributes:
        name: What was looked at: a place, a store, a session file, a part of the program.
        state: ``ok``, ``note`` or ``problem``.
        message: What was found.
        next: What to do about it.
    """

    name: str
    state: str
    message: str
    next: str | UnsetType = UNSET


class Doctor(Struct, kw_only=True):
    """All that was looked at.

    Attributes:
        schema: ``ctx-inspect/doctor/1``.
        checks: All of it, in order: versions, places and stores, damaged sessions, configuration, counter of tokens.
    """

    schema: str = "ctx-inspect/doctor/1"
    checks: list[Check]
