"""Reading damaged, growing and hostile JSON Lines (docs/field-reports.md, 1 to 7)."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from ctx_inspect.core.files import open_regular
from ctx_inspect.core.sources.jsonl import Fault, Position, Reader, Record, grew_from, identify


class Row(msgspec.Struct):
    type: str = ""
    id: str = ""
    text: str = ""


_rows = msgspec.json.Decoder(Row)


def decode(data: bytes) -> Row:
    row = _rows.decode(data)
    if not row.type:
        raise msgspec.ValidationError("no type")
    return row


def line(id: str, text: str = "") -> bytes:
    return json.dumps({"type": "row", "id": id, "text": text}, ensure_ascii=False).encode()


def read_all(path: Path, start: Position | None = None, *, final: bool = True, **options: int) -> tuple[Reader[Row], list[Record[Row]]]:
    reader: Reader[Row] = Reader(decode, **options)
    fd = open_regular(path)
    try:
        return reader, list(reader.read(fd, start or Position(), final=final))
    finally:
        os.close(fd)


def ids(records: list[Record[Row]]) -> list[str]:
    return [r.value.id for r in records]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


@pytest.mark.field(1)
def test_a_malformed_line_is_skipped_and_named(path: Path) -> None:
    path.write_bytes(b"\n".join([line("a"), b"{this is no json", line("b"), b"", line("c")]) + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["a", "b", "c"]
    assert [r.line for r in records] == [1, 3, 5]
    assert reader.faults == [Fault(2, False, "no whole record")]


@pytest.mark.field(2)
@pytest.mark.parametrize(
    ("damaged", "found"),
    [
        (line("x", "cut")[:-9] + line("a"), ["a"]),
        (b'{"type":"row","id":"x","text":"she said {\\"type' + line("a"), ["a"]),
        (line("a") + line("b"), ["a", "b"]),
        (line("a") + line("b") + line("c"), ["a", "b", "c"]),
        (line("x")[:12] + line("a") + line("b"), ["a", "b"]),
        (line("a") + line("x")[:12], ["a"]),
        (line("a") + b", " + line("b"), ["a", "b"]),
    ],
)
def test_whole_records_of_a_torn_line_are_read(path: Path, damaged: bytes, found: list[str]) -> None:
    path.write_bytes(line("before") + b"\n" + damaged + b"\n" + line("after") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["before", *found, "after"]
    (fault,) = reader.faults
    assert (fault.line, fault.recovered) == (2, True)


@pytest.mark.field(2)
def test_an_object_inside_a_torn_record_is_no_record(path: Path) -> None:
    path.write_bytes(b'{"type":"row","inner":{"type":"row","id":"no"},"text":"cut\n' + line("a") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["a"]
    assert [f.recovered for f in reader.faults] == [False]


@pytest.mark.field(3)
def test_nul_padding_is_stripped(path: Path) -> None:
    path.write_bytes(b"\0" * 7 + line("a") + b"\n" + line("b")[:9] + b"\0\0" + line("b")[9:] + b"\n" + b"\0" * 140_000)
    reader, records = read_all(path)
    assert ids(records) == ["a", "b"]
    assert [(f.line, f.recovered) for f in (*reader.faults, *reader.open_faults)] == [(1, True), (2, True), (3, True)]


@pytest.mark.field(4)
@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085", "\f", "\v", "\x1c", "\r", "\ufeff"])
def test_only_lf_ends_a_line(path: Path, odd: str) -> None:
    raw = json.dumps({"type": "row", "id": "a", "text": f"one{odd}two"}, ensure_ascii=False).encode()
    path.write_bytes(raw + b"\n" + line("b") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["a", "b"]
    assert records[0].value.text == f"one{odd}two"
    assert reader.faults == []


def test_bare_control_characters_are_accepted(path: Path) -> None:
    path.write_bytes(b'{"type":"row","id":"a","text":"tab\there\x1b[31m"}\n')
    reader, records = read_all(path)
    assert records[0].value.text == "tab\there\x1b[31m"
    assert [(f.line, f.recovered) for f in reader.faults] == [(1, True)]


@pytest.mark.parametrize("count", [2, 5, 8])
def test_a_record_over_several_lines_is_put_together(path: Path, count: int) -> None:
    pieces = [b'{"type":"row","id":"a","text":"0', *(str(n).encode() for n in range(1, count - 1)), b'end"}']
    path.write_bytes(line("before") + b"\n" + b"\n".join(pieces) + b"\n" + line("after") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["before", "a", "after"]
    assert records[1].value.text.splitlines()[0] == "0"
    assert records[1].length == len(b"\n".join(pieces))
    assert [(f.line, f.recovered) for f in reader.faults] == [(2, True)]


def test_a_record_over_nine_lines_is_not(path: Path) -> None:
    pieces = [b'{"type":"row","id":"a","text":"0', *(str(n).encode() for n in range(7)), b'end"}']
    path.write_bytes(b"\n".join(pieces) + b"\n" + line("after") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["after"]
    assert [f.line for f in reader.faults] == list(range(1, 10))


def test_odd_but_valid_json_is_no_fault(path: Path) -> None:
    path.write_bytes(b'{"type":"row","id":"a","text":"\\ud83d lone"}\n{"type":"row","id":"b","text":"\xff"}\n')
    reader, records = read_all(path)
    assert ids(records) == ["a", "b"]
    assert records[0].value.text == " lone"
    assert reader.faults == []


@pytest.mark.parametrize("other", [b"[1,2]", b"17", b'"text"', b"null", b"{}", b'{"id":"x"}'])
def test_json_that_is_no_record_is_named(path: Path, other: bytes) -> None:
    path.write_bytes(line("a") + b"\n" + other + b"\n" + line("b") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["a", "b"]
    assert [(f.line, f.recovered) for f in reader.faults] == [(2, False)]


def test_too_deep_and_too_long_lines_are_unreadable(path: Path) -> None:
    deep = b'{"type":"row","id":"x","extra":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    path.write_bytes(line("a") + b"\n" + deep + b"\n" + line("b", "y" * (2 << 20)) + b"\n" + line("c") + b"\n")
    reader, records = read_all(path, max_line=1 << 20)
    assert ids(records) == ["a", "c"]
    assert reader.faults == [Fault(2, False, "nested too deeply"), Fault(3, False, "longer than 1 MB")]


@pytest.mark.field(5)
def test_every_byte_split_gives_the_same_records(path: Path) -> None:
    data = b"\n".join(
        [
            line("a", "ü\u2028\U0001f600"),
            b"{junk",
            line("b"),
            line("x")[:15] + line("c"),
            line("d") + line("e"),
            b'{"type":"row","id":"f","text":"two',
            b'lines"}',
            b"\0\0\0",
            line("g"),
            line("h"),
        ]
    )
    for whole in (data + b"\n", data):
        path.write_bytes(whole)
        reader, records = read_all(path)
        want = [(r.value.id, r.value.text, r.line) for r in records]
        faults = {*reader.faults, *reader.open_faults}
        assert [w[0] for w in want] == list("abcdefgh")
        for cut in range(len(whole) + 1):
            path.write_bytes(whole[:cut])
            reader, first = read_all(path, final=False)
            assert all(r.settled for r in first)
            assert reader.position.offset <= cut
            assert reader.position.offset == 0 or whole[reader.position.offset - 1 : reader.position.offset] == b"\n"
            held = set(reader.faults)
            path.write_bytes(whole)
            reader, second = read_all(path, reader.position)
            assert [(r.value.id, r.value.text, r.line) for r in (*first, *second)] == want, cut
            assert held | {*reader.faults, *reader.open_faults} == faults, cut


@pytest.mark.field(5)
def test_a_last_line_without_lf_waits_unless_the_file_is_at_rest(path: Path) -> None:
    path.write_bytes(line("a") + b"\n" + line("b"))
    reader, records = read_all(path, final=False)
    assert ids(records) == ["a"]
    assert reader.unended
    position = reader.position
    reader, records = read_all(path, position)
    assert [(r.value.id, r.settled) for r in records] == [("b", False)]
    assert reader.position == position
    path.write_bytes(line("a") + b"\n" + line("b")[:-3])
    reader, records = read_all(path, position)
    assert records == []
    assert reader.open_faults == [Fault(2, False, "no whole record")]


@pytest.mark.field(6)
@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda p, data: p.write_bytes(data + line("c") + b"\n"), True),
        (lambda p, data: p.write_bytes(data[:10]), False),
        (lambda p, data: p.write_bytes(data.replace(b'"a"', b'"z"')), False),
        (lambda p, data: p.write_bytes(data[:-8] + b'"ended"}\n'), False),
        (lambda p, data: p.write_bytes(line("other session") + b"\n" + data), False),
    ],
    ids=["grown", "truncated", "rewritten head", "rewritten end", "replaced by a longer one"],
)
def test_truncation_and_replacement_are_noticed(path: Path, change, same: bool) -> None:
    data = line("a") + b"\n" + line("b", "x" * 400) + b"\n"
    path.write_bytes(data)
    reader, _ = read_all(path)
    fd = open_regular(path)
    identity = identify(fd, reader.position)
    os.close(fd)
    change(path, data)
    fd = open_regular(path)
    assert grew_from(fd, identity) is same
    os.close(fd)


@pytest.mark.field(6)
def test_a_copy_moved_over_the_file_is_another_file(path: Path, tmp_path: Path) -> None:
    path.write_bytes(line("a") + b"\n")
    reader, _ = read_all(path)
    fd = open_regular(path)
    identity = identify(fd, reader.position)
    os.close(fd)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    fd = open_regular(path)
    assert not grew_from(fd, identity)
    os.close(fd)


@pytest.mark.field(7)
def test_memory_is_bounded_by_the_longest_line(path: Path) -> None:
    size = 5 << 20
    with path.open("wb") as f:
        for n in range(20):
            f.write(line(str(n), "y" * size) + b"\n")
    reader: Reader[Row] = Reader(decode)
    fd = open_regular(path)
    tracemalloc.start()
    try:
        assert sum(1 for _ in reader.read(fd, Position(), final=True)) == 20
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        os.close(fd)
    assert peak < 5 * size


@pytest.mark.field(7)
def test_a_line_of_64_mb_is_read(path: Path) -> None:
    path.write_bytes(line("a", "y" * (64 << 20)) + b"\n" + line("b") + b"\n")
    reader, records = read_all(path)
    assert ids(records) == ["a", "b"]
    assert reader.faults == []


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="regular"):
        open_regular(tmp_path / "pipe")


def test_a_recovered_record_can_be_read_again_from_its_bytes(path: Path) -> None:
    pieces = b'{"type":"row","id":"a","text":"two\nlines"}'
    path.write_bytes(line("x")[:9] + line("b") + b"\n" + pieces + b"\n")
    reader, records = read_all(path)
    data = path.read_bytes()
    for record in records:
        again = reader.values(data[record.offset : record.offset + record.length])
        assert [r.id for r in again] == [record.value.id]
