"""UTC in, local out (docs/field-reports.md, 28)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from ctx_inspect.core.text import clock


def ms(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


def test_iso() -> None:
    assert clock.iso(0) == "1970-01-01T00:00:00.000Z"
    assert clock.iso(ms(2026, 11, 30, 21, 42, 10) + 7) == "2026-11-30T21:42:10.007Z"
    assert clock.iso(-1) == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize("hostile", [None, 10**17, -(10**17), 10**30])
def test_what_is_no_time(hostile: int | None) -> None:
    assert clock.iso(hostile) is None
    assert clock.local(hostile) == "—"
    assert clock.time_of_day(hostile) == "—"
    assert clock.day(hostile) == "—"


@pytest.mark.parametrize("edge", [253402300799999, -62135596800000])
def test_the_edges_of_the_calendar(edge: int) -> None:
    for name in ("Asia/Kathmandu", "America/New_York"):
        assert clock.iso(edge)
        assert clock.local(edge, ZoneInfo(name))
        assert clock.local(edge)


@pytest.mark.parametrize("by_system", [True, False])
def test_kathmandu(zone, by_system: bool) -> None:
    zone("Asia/Kathmandu")
    where = None if by_system else ZoneInfo("Asia/Kathmandu")
    assert clock.local(ms(2026, 11, 30, 18, 14), where) == "2026-11-30 23:59"
    assert clock.local(ms(2026, 11, 30, 18, 15), where) == "2026-12-01 00:00"
    assert clock.day(ms(2026, 11, 30, 18, 15), where) == "2026-12-01"
    assert clock.time_of_day(ms(2026, 11, 30, 18, 15), where, seconds=True) == "00:00:00"


@pytest.mark.parametrize("by_system", [True, False])
def test_a_fall_back_hour_names_its_offset(zone, by_system: bool) -> None:
    zone("America/New_York")
    where = None if by_system else ZoneInfo("America/New_York")
    assert clock.local(ms(2026, 11, 1, 4, 59), where) == "2026-11-01 00:59"
    assert clock.local(ms(2026, 11, 1, 5, 30), where) == "2026-11-01 01:30 -04:00"
    assert clock.local(ms(2026, 11, 1, 6, 30), where) == "2026-11-01 01:30 -05:00"
    assert clock.local(ms(2026, 11, 1, 7, 0), where) == "2026-11-01 02:00"
    assert clock.time_of_day(ms(2026, 11, 1, 6, 30), where) == "01:30 -05:00"


@pytest.mark.parametrize("by_system", [True, False])
def test_the_hour_after_a_spring_gap_is_no_such_hour(zone, by_system: bool) -> None:
    zone("America/New_York")
    where = None if by_system else ZoneInfo("America/New_York")
    assert clock.local(ms(2026, 3, 8, 6, 59), where) == "2026-03-08 01:59"
    assert clock.local(ms(2026, 3, 8, 7, 0), where) == "2026-03-08 03:00"
    assert clock.local(ms(2026, 3, 8, 7, 30), where) == "2026-03-08 03:30"
