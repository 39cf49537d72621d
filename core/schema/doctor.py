"""``doctor --json``: ``ctx-inspect/doctor/1``."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class Check(Struct, kw_only=True):
    """One thing that was looked at. ``state`` is ``ok``, ``note`` or ``problem``; ``next`` says what to do."""

    name: str
    state: str
    message: str
    next: str | UnsetType = UNSET


class Doctor(Struct, kw_only=True):
    """All that was looked at."""

    schema: str = "ctx-inspect/doctor/1"
    checks: list[Check]
