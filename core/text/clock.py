"""Times: stored as UTC milliseconds, ISO 8601 UTC in JSON, local in text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from ctx_inspect.core.model.evidence import Shown
from ctx_inspect.core.text.show import clock, joined, part_of

UNKNOWN = joined("—")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _moment(ms: int | None) -> datetime | None:
    """Return the moment, or ``None`` where a store holds something that is no time."""
    if ms is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None


def iso(ms: int | None) -> str | None:
    """Return ISO 8601 in UTC with milliseconds, or ``None`` where it is no time that a calendar knows."""
    moment = _moment(ms)
    return None if moment is None else moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _local(moment: datetime, zone: tzinfo | None) -> tuple[datetime, bool]:
    """Return the local moment and whether its wall clock shows this time twice."""
    try:
        there = moment.astimezone(zone)
        wall = there.replace(tzinfo=zone)
        # ``astimezone()`` without a zone takes a wall-clock time as local; both folds differ only in a fall-back hour.
        # (A time in a spring-forward gap differs too, but no moment has one.)
        offsets = {wall.replace(fold=fold).astimezone(zone if zone is None else UTC) for fold in (0, 1)}
    except (OverflowError, ValueError, OSError):
        return moment, True
    return there, len({o.astimezone(UTC) for o in offsets}) == 2


def local(ms: int | None, zone: tzinfo | None = None, *, seconds: bool = False) -> Shown:
    """Return date and time on the local clock.

    Args:
        ms: Epoch milliseconds; ``None`` gives ``—``.
        zone: Another zone than this machine's.
        seconds: Show them.

    Returns:
        ``2026-11-01 01:30``; in an hour that the clock shows twice with its offset (``2026-11-01 01:30 -04:00``).
    """
    moment = _moment(ms)
    if moment is None:
        return UNKNOWN
    there, twice = _local(moment, zone)
    return joined(clock(there, "%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M"), _offset(there) if twice else "")


def time_of_day(ms: int | None, zone: tzinfo | None = None, *, seconds: bool = False) -> Shown:
    """Return the time on the local clock (``14:09``), with its offset in an hour that the clock shows twice."""
    moment = _moment(ms)
    if moment is None:
        return UNKNOWN
    there, twice = _local(moment, zone)
    return joined(clock(there, "%H:%M:%S" if seconds else "%H:%M"), _offset(there) if twice else "")


def day(ms: int | None, zone: tzinfo | None = None) -> Shown:
    """Return the local date (``2026-11-01``)."""
    moment = _moment(ms)
    return UNKNOWN if moment is None else clock(_local(moment, zone)[0], "%Y-%m-%d")


def _offset(moment: datetime) -> Shown:
    digits = clock(moment, "%z")  # +hhmm, seconds behind it in zones of old
    return joined(" ", part_of(digits, 0, 3), ":", part_of(digits, 3, 5))
