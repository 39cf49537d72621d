"""Reads JSON Lines files that other programs write, break, glue, truncate and replace.

Rules for damaged files: only LF ends a line; a line is read in bounded memory; what
can be recovered is, and every recovered or unreadable line is named. Reading goes on from a
:class:`Position`, which never lies behind the last LF, and not behind a damaged line that later lines may
still complete.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Generic, NoReturn, TypeVar

import msgspec
from msgspec import Struct

V = TypeVar("V")

CHUNK = 1 << 20
MAX_LINE = 192 << 20
"""Bytes of one line; longer ones are skipped unread. Real ones reach 64 MB (an image or output inline)."""
MAX_JOIN = 8
"""A record spread over at most so many physical lines is put together again."""
MAX_JOIN_BYTES = 32 << 20
MAX_TRIES = 256
"""Places in one damaged line where a whole record is looked for."""
PROOF = 64
"""Bytes at both ends of what was read that prove, with device and inode, that a file is still the same."""

_BROKEN = (msgspec.MsgspecError, ValueError, UnicodeError)


class Position(msgspec.Struct, frozen=True, gc=False):
    """Where reading goes on: a byte offset at the start of a line, and that line's number (from 1)."""

    offset: int = 0
    line: int = 1


class Record(msgspec.Struct, Generic[V], frozen=True, gc=False):
    """One record.

    Attributes:
        value: What ``decode`` made of it.
        line: Number of its (first) line.
        offset: Byte offset of that line.
        length: Bytes of its physical line or lines, inner LFs included, the last LF not.
        settled: Whether it lies before the new position. If not, it will be read again.
    """

    value: V
    line: int
    offset: int
    length: int
    settled: bool = True


class Fault(Struct, frozen=True):
    """A damaged line: recovered (at least in part) or not, and what was wrong in our own words."""

    line: int
    recovered: bool
    what: str


class Identity(Struct, frozen=True):
    """What proves that a path still leads to the file that was read, and that it only grew."""

    device: int
    inode: int
    head: bytes
    joint: bytes
    position: Position


class _Line(msgspec.Struct, frozen=True, gc=False):
    number: int
    offset: int
    length: int
    data: bytes
    whole: bool  # shorter than the guard
    ended: bool


def identify(fd: int, position: Position) -> Identity:
    """Take the identity of an open file that was read up to ``position``."""
    at = os.fstat(fd)
    start = max(0, position.offset - PROOF)
    head = os.pread(fd, min(PROOF, position.offset), 0)
    return Identity(at.st_dev, at.st_ino, head, os.pread(fd, position.offset - start, start), position)


def grew_from(fd: int, known: Identity) -> bool:
    """Tell whether an open file is the one that was read, with nothing but lines added to it."""
    at = os.fstat(fd)
    if (at.st_dev, at.st_ino) != (known.device, known.inode) or at.st_size < known.position.offset:
        return False
    start = known.position.offset - len(known.joint)
    return os.pread(fd, len(known.head), 0) == known.head and os.pread(fd, len(known.joint), start) == known.joint


class Reader(Generic[V]):
    """Reads records from one file, on from a position.

    Attributes:
        position: After a read: where the next one starts.
        faults: Damaged lines before the position, of the last read.
        open_faults: Damaged lines behind the position; they will be judged again.
        unended: Whether the file's last line had no LF.
    """

    def __init__(self, decode: Callable[[bytes], V], *, max_line: int = MAX_LINE) -> None:
        """Make a reader.

        Args:
            decode: Makes a value of one line; raises ``msgspec.MsgspecError`` or ``ValueError`` for what is no record.
            max_line: Bytes; a longer line is unreadable.
        """
        self._decode = decode
        self._max = max_line
        self._position = Position()
        self._passed: tuple[int, int] | None = None
        self.faults: list[Fault] = []
        self.open_faults: list[Fault] = []
        self.unended = False

    @property
    def position(self) -> Position:
        """Where the next read goes on; made of the line that was passed last only when it is asked for."""
        if self._passed is not None:
            self.position = Position(*self._passed)
        return self._position

    @position.setter
    def position(self, position: Position) -> None:
        self._position, self._passed = position, None

    def read(self, fd: int, start: Position, *, final: bool) -> Iterator[Record[V]]:
        """Read what follows ``start``.

        Args:
            fd: Descriptor of the file; it is read with ``pread`` and stays open.
            start: A position that an earlier read ended at, or ``Position()``.
            final: Whether the file is at rest: then a last line without LF counts if it is whole, and damage at
                the end is judged as it stands. Such records are not ``settled``.
        """
        self.faults, self.open_faults, self.unended = [], [], False
        self.position = start
        waiting: list[_Line] = []  # damaged lines that a later one may complete
        for line in _lines(fd, start, self._max):
            if not line.ended:
                self.unended = True
                if not final:
                    break
            settled = line.ended
            after = (line.offset + line.length + 1, line.number + 1) if settled else (line.offset, line.number)
            if not line.whole:
                self._give_up(waiting)
                (self.faults if settled else self.open_faults).append(Fault(line.number, False, f"longer than {self._max >> 20} MB"))
                self._passed = after
                continue
            try:
                value = self._decode(line.data)
            except RecursionError:
                self._give_up(waiting)
                (self.faults if settled else self.open_faults).append(Fault(line.number, False, "nested too deeply"))
                self._passed = after
                continue
            except _BROKEN:
                pass
            else:
                if waiting:
                    self._give_up(waiting)
                self._passed = after
                yield Record(value, line.number, line.offset, line.length, settled)
                continue
            if not line.data.strip(b" \t\r\0"):
                if b"\0" in line.data:
                    (self.faults if settled else self.open_faults).append(Fault(line.number, True, "padding of NUL bytes skipped"))
                if not waiting:
                    self._passed = after
                continue
            values, what = self._mend(line.data)
            if values:
                self._give_up(waiting)
                self._passed = after
                if what:
                    (self.faults if settled else self.open_faults).append(Fault(line.number, True, what))
                for value in values:
                    yield Record(value, line.number, line.offset, line.length, settled)
                continue
            waiting.append(line)
            joined = self._join(waiting)
            if joined is not None:
                first, value = joined
                self._give_up(waiting[:first])
                run = waiting[first:]
                waiting = []
                self._passed = after
                what = f"a record over {len(run)} lines, {run[0].number} to {line.number}, put together"
                (self.faults if settled else self.open_faults).append(Fault(run[0].number, True, what))
                yield Record(value, run[0].number, run[0].offset, line.offset + line.length - run[0].offset, settled)
                continue
            if len(waiting) >= MAX_JOIN:
                self._give_up(waiting[:1])
                waiting = waiting[1:]
        if waiting:
            self.position = Position(waiting[0].offset, waiting[0].number)
            if final:
                self.open_faults += [Fault(line.number, False, "no whole record") for line in waiting]

    def values(self, data: bytes) -> list[V]:
        """Read again what stands in the bytes of one record's line or lines."""
        try:
            return [self._decode(data)]
        except _BROKEN:
            pass
        values, _ = self._mend(data)
        if values:
            return values
        lines = [_Line(0, 0, len(part), part, True, True) for part in data.split(b"\n")]
        joined = self._join(lines) if len(lines) > 1 else None
        return [joined[1]] if joined else []

    def _give_up(self, lines: list[_Line], what: str = "no whole record") -> None:
        """Name damaged lines that nothing completes, and forget them."""
        self.faults += [Fault(line.number, False, what) for line in lines]
        if lines:
            last = lines[-1]
            self.position = Position(last.offset + last.length + 1, last.number + 1)
            lines.clear()

    def _again(self, value: object) -> V | None:
        """Decode a recovered JSON object as a line of its own; lone surrogates go, as a JSON writer's UTF-8 loses them."""
        if not isinstance(value, dict):
            return None
        try:
            return self._decode(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "ignore"))
        except (*_BROKEN, RecursionError):
            return None

    def _mend(self, data: bytes) -> tuple[list[V], str]:
        """Recover whole records from one damaged line.

        Returns:
            The records, and what was wrong (empty: nothing but an odd encoding).
        """
        text = data.replace(b"\0", b"").decode("utf-8", "replace").strip()
        nul = "NUL bytes stripped" if b"\0" in data else ""
        try:
            if not text.startswith("{"):
                raise ValueError("no object")
            whole = self._again(_STRICT.decode(text))
            if whole is not None:
                return [whole], nul
            return [], ""
        except RecursionError:
            return [], ""
        except ValueError:
            pass
        values, end = self._sequence(text, 0)
        if values and end == len(text):
            what = "bare control characters accepted" if len(values) == 1 else f"{len(values)} records on one line"
            return values, what + (f"; {nul}" if nul else "")
        if values:
            return values, "a whole record before a torn one"
        spent, place, tries = 0, text.find('{"', 1), 0
        while place != -1 and tries < MAX_TRIES and spent < 4 * len(text) + CHUNK:
            values, end = self._sequence(text, place)
            if values and end == len(text):
                return values, "a whole record behind a torn one"
            spent += max(end - place, 16)
            tries += 1
            place = text.find('{"', place + 1)
        return [], ""

    def _sequence(self, text: str, start: int) -> tuple[list[V], int]:
        """Read whole objects one behind the other; returns them and where reading stopped."""
        values: list[V] = []
        place = start
        while place < len(text):
            try:
                value, end = _LAX.raw_decode(text, place)
            except json.JSONDecodeError as bad:
                return values, bad.pos if not values else place
            except (ValueError, RecursionError):
                return values, place
            record = self._again(value)
            if record is None:
                return values, end if not values else place
            values.append(record)
            place = end
            while place < len(text) and text[place] in " \t\r,":
                place += 1
        return values, place

    def _join(self, lines: list[_Line]) -> tuple[int, V] | None:
        """Put damaged lines together; returns the first line taken and the record, if one comes out."""
        if len(lines) < 2 or sum(line.length for line in lines) > MAX_JOIN_BYTES:
            return None
        for first in range(len(lines) - 1):
            if not lines[first].data.lstrip(b" \t\r\0").startswith(b"{"):
                continue
            for glue in (b"\n", b""):
                text = glue.join(line.data.replace(b"\0", b"") for line in lines[first:]).decode("utf-8", "replace").strip()
                try:
                    record = self._again(_LAX.decode(text))
                except (ValueError, RecursionError):
                    continue
                if record is not None:
                    return first, record
        return None


def _no_constant(_: str) -> NoReturn:
    raise ValueError("no JSON")


_STRICT = json.JSONDecoder(parse_constant=_no_constant)
_LAX = json.JSONDecoder(parse_constant=_no_constant, strict=False)


def _lines(fd: int, start: Position, limit: int) -> Iterator[_Line]:
    """Split a file at LF, reading in chunks; of a line beyond the limit nothing is held."""
    offset, number = start.offset, start.line
    at = offset  # where the next chunk is read
    pieces: list[bytes] = []
    held = 0
    while chunk := os.pread(fd, CHUNK, at):
        at += len(chunk)
        place = 0
        while (end := chunk.find(b"\n", place)) != -1:
            length = held + end - place
            if length > limit:
                data, whole = b"", False
            elif pieces:
                pieces.append(chunk[place:end])
                data, whole = b"".join(pieces), True
            else:
                data, whole = chunk[place:end], True
            yield _Line(number, offset, length, data, whole, True)
            offset += length + 1
            number += 1
            place, held = end + 1, 0
            pieces = []
        if place < len(chunk):
            held += len(chunk) - place
            if held <= limit:
                pieces.append(chunk[place:] if place else chunk)
            else:
                pieces = []
    if held:
        yield _Line(number, offset, held, b"".join(pieces) if held <= limit else b"", held <= limit, False)
