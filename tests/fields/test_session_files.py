"""Field reports 1-10: session files in JSON Lines, through the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from ctx_inspect.core.sources.pi import PiSource

from tests.builders.pi import START, Call, PiStore, Spent, encode, iso
from tests.command import Call as Cli
from tests.fields.claims import codes, holds, sessions, texts, turns, watched


@pytest.mark.field(1)
def test_a_malformed_line_is_skipped_counted_and_named(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, damage: bytes | None) -> Path:
        s = PiStore(tmp_path / name).session()
        for i in range(700):
            s.turn(f"question {i}")
            if i == 300 and damage is not None:
                s.raw(damage)
        return s.path

    def claim(answer: object) -> None:
        assert len(answer["turns"]) == 700
        assert texts(answer)[-1] == "question 699"
        assert [p["code"] for p in answer["problems"]] == ["unreadable_record"]
        assert "line 606" in answer["problems"][0]["message"]  # header, two settings, 301 turns of 2 lines, then this

    damaged = turns(cli, written("damaged", b'{"type":"message","id":"x","par}ntId":\n'), "last", "--text")
    whole = turns(cli, written("whole", None), "last", "--text")
    two = turns(cli, written("two", b"{oops\n{oops\n"), "last", "--text")
    holds(claim, damaged, whole, two)


@pytest.mark.field(2)
def test_records_behind_a_torn_one_or_glued_to_another_are_recovered(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, glue: object) -> Path:
        s = PiStore(tmp_path / name).session()
        s.turn("one")
        with s.held() as lines:
            s.user("two")
            s.assistant("answer", usage=Spent(77, 7))
        s.raw(glue(lines))  # type: ignore[operator]
        s.turn("three")
        return s.path

    def claim(answer: object) -> None:
        # "three" hangs off the answer of "two": were that lost, the tree would break there
        assert texts(answer) == ["one", "two", "three"]
        assert answer["turns"][1]["steps"][0]["usage"]["input"] == 77
        assert set(codes(answer)) == {"recovered_record"}

    glued = turns(cli, written("glued", lambda ls: ls[0] + ls[1] + b"\n"), "last", "--text")
    torn = turns(cli, written("torn", lambda ls: ls[0][:30] + ls[0] + b"\n" + ls[1][:50] + ls[1] + b"\n"), "last", "--text")
    lost = turns(cli, written("lost", lambda ls: ls[0] + b"\n" + ls[1][:50] + b"\n"), "last", "--text")
    plain = turns(cli, written("plain", lambda ls: ls[0] + b"\n" + ls[1] + b"\n"), "last", "--text")
    claim(torn)
    holds(claim, glued, lost, plain)


@pytest.mark.field(3)
def test_nul_padding_is_stripped(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, inside: bytes, end: bytes) -> Path:
        s = PiStore(tmp_path / name).session()
        s.turn("one")
        s.raw(inside)
        s.turn("two")
        s.raw(end)
        return s.path

    def claim(answer: object) -> None:
        assert texts(answer) == ["one", "two"]
        assert answer["problems"]

    padded = turns(cli, written("padded", b"\0" * 4096, b"\0" * 140_000), "last", "--text")
    whole = turns(cli, written("whole", b"", b""), "last", "--text")
    holds(claim, padded, whole)
    assert texts(whole) == texts(padded)


@pytest.mark.field(4)
def test_only_lf_ends_a_line(cli: Cli, tmp_path: Path) -> None:
    hostile = "a\u2028b\u2029c\x85d"

    def written(name: str, text: str, raw: bool = True) -> Path:
        s = PiStore(tmp_path / name).session()
        with s.held() as lines:
            s.user(text + "FEED")
            s.assistant("ok")
        # the builder escapes a form feed as JSON must; a hand-made writer does not
        s.raw(b"".join(line.replace(b"FEED", b"\x0c" if raw else b"\\f") + b"\n" for line in lines))
        return s.path

    def claim(answer: object) -> None:
        assert texts(answer) == [hostile + "\x0c"]
        assert len(answer["turns"][0]["steps"]) == 1
        assert "unreadable_record" not in codes(answer)

    holds(
        claim,
        turns(cli, written("raw", hostile), "last", "--text"),
        turns(cli, written("split", hostile.replace("\u2028", "\n")), "last", "--text"),
    )


@pytest.mark.field(5)
def test_a_half_written_last_line_is_read_when_it_is_whole(cli: Cli, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one")
    before = s.path.read_bytes()
    s.user("two: 重构")
    after = s.path.read_bytes()

    def claim(answer: object) -> None:
        assert texts(answer) == ["one", "two: 重构"]

    whole = turns(cli, s.path, "last", "--text")
    answers = []
    for size in range(len(before), len(after)):
        s.path.write_bytes(after[:size])
        answers.append(turns(cli, s.path, "last", "--text"))
    # one byte before the LF the record is whole already: a one-shot command takes it
    holds(claim, whole, *answers[:-1])
    claim(answers[-1])


@pytest.mark.field(5)
def test_no_poll_at_any_byte_loses_the_line(cli: Cli, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one")
    size = s.path.stat().st_size
    s.user("two: 重构")
    data = s.path.read_bytes()
    expected = cli("turns", "last", "--json", "--text", "--source", str(s.path)).out.removesuffix("\n")
    for split in range(size + 1, len(data)):
        s.path.write_bytes(data[:split])
        source = PiSource(s.path)
        prior = source.open(s.id)
        with s.path.open("ab") as file:
            file.write(data[split:])
        assert watched(source, source.open(s.id, prior)) == expected, split
        # the mutation: who stays with what the poll saw has lost it
        assert watched(source, prior) != expected or split == len(data) - 1


@pytest.mark.field(6)
def test_truncation_and_replacement_are_noticed(cli: Cli, tmp_path: Path) -> None:
    def file(name: str, *questions: str) -> bytes:
        # another writing has other times; with all times and sizes equal only a reading of the whole would tell
        s = PiStore(tmp_path / name).session(id="same", at=START + 1_000_000 + 7_777 * ord(name))
        for q in questions:
            s.turn(q)
        return s.path.read_bytes()

    old, same_size, larger, shorter = file("a", "one", "two"), file("b", "uno", "dos"), file("c", "un", "deux", "trois"), file("d", "one")
    assert len(old) == len(same_size)
    path = tmp_path / "live.jsonl"
    for new in (same_size, larger, shorter):
        for replace in (True, False):
            path.write_bytes(old)
            source = PiSource(path, one_shot=True)
            prior = source.open("same")
            stale = watched(source, prior)
            cursor = source.changed(None).cursor
            if replace:
                other = tmp_path / "other"
                other.write_bytes(new)
                other.replace(path)
            else:
                path.write_bytes(new)
            assert source.changed(cursor).any
            now = watched(source, source.open("same", prior))
            expected = cli("turns", "last", "--json", "--text", "--source", str(path)).out.removesuffix("\n")
            assert now == expected
            assert now != stale


@pytest.mark.field(7)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_a_file_of_huge_lines_is_streamed(cli: Cli, tmp_path: Path) -> None:
    rows, size = 30, 4_900_000

    def written(name: str, rows: int) -> Path:
        s = PiStore(tmp_path / name).session()
        for i in range(rows):
            s.turn(f"question {i}")
            s.compaction("z" * size)
        s.turn("y" * 30_000_000)
        return s.path

    def run(path: Path) -> tuple[object, int]:
        """Return the answer and the most memory that was held, bytes (``ru_maxrss`` would count this process's own)."""
        code = (
            "import re, sys; from ctx_inspect.app.main import run; code = run(sys.argv[1:]);"
            "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr); sys.exit(code)"
        )
        result = subprocess.run(
            [sys.executable, "-c", code, "turns", "last", "--json", "--text", "--source", str(path)],
            capture_output=True,
            timeout=110,
            check=True,
        )
        return json.loads(result.stdout), int(result.stderr.split()[-1]) * 1024

    def claim(answer: object) -> None:
        events = [e["type"] for t in answer["turns"] for e in t["events"]]
        assert events.count("compaction") == rows
        assert len(texts(answer)[-1]) < 1000
        assert texts(answer)[-1].endswith("…")
        assert answer["problems"] == []

    path = written("huge", rows)
    assert path.stat().st_size > 170_000_000
    answer, peak = run(path)
    assert peak < 160_000_000  # the longest line and what is made of it, not the file
    path.unlink()
    holds(claim, answer, run(written("less", rows - 1))[0])


@pytest.mark.field(8)
def test_a_file_that_is_deleted_leaves_what_was_derived(cli: Cli, tmp_path: Path) -> None:
    s = PiStore(tmp_path).session()
    s.turn("one")
    source = PiSource(s.path)
    ledger = source.open(s.id)
    cursor = source.changed(None).cursor
    said = watched(source, ledger)
    assert not source.changed(cursor).gone  # the mutation: it is still there
    s.path.unlink()
    assert source.changed(cursor).gone
    assert '"n":1' in watched(source, ledger)
    assert said.replace('"text":"one",', "") == watched(source, ledger).replace('"text":"one",', "")
    done = cli("turns", "last", "--json", "--source", str(s.path))
    assert (done.code, done.out) == (3, "")
    assert "no such file" in done.err


@pytest.mark.field(9)
def test_of_rows_with_one_id_the_last_wins_with_the_first_time(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, again: bool) -> Path:
        s = PiStore(tmp_path / name).session()
        user = s.user("one")
        at = START + 10_000_000
        s.go(user)
        s.assistant("par", usage=Spent(500, 1), id="aaaa0001", at=at)
        if again:
            s.go(user)
            s.assistant("partial answer", usage=Spent(500, 90), id="aaaa0001", at=at + 60_000)
        s.turn("two", usage=Spent(600, 5))
        return s.path

    def claim(answers: tuple[object, object]) -> None:
        listed, told = answers
        first = told["turns"][0]["steps"]
        assert [(step["id"], step["usage"]["output"]) for step in first] == [("aaaa0001", 90)]
        assert first[0]["at"] == iso(START + 10_000_000)
        assert listed["sessions"][0]["sent"] == {
            "requests": 2,
            "unreported": 0,
            "input": 1100,
            "output": 95,
            "cache_read": 0,
            "cache_write": 0,
        }

    def both(path: Path) -> tuple[object, object]:
        return sessions(cli, path), turns(cli, path)

    holds(claim, both(written("twice", True)), both(written("once", False)))


@pytest.mark.field(10)
def test_a_clone_inherits_and_counts_nothing_twice(cli: Cli, tmp_path: Path) -> None:
    def written(name: str, linked: bool) -> PiStore:
        store = PiStore(tmp_path / name)
        s = store.session(id="first")
        s.turn("one", usage=Spent(100, 10))
        s.turn("two", usage=Spent(200, 20))
        copy = s.clone("second")
        if not linked:
            lines = copy.path.read_bytes().split(b"\n")
            header = json.loads(lines[0])
            del header["parentSession"]
            copy.path.write_bytes(b"\n".join([encode(header), *lines[1:]]))
        copy.turn("three", usage=Spent(300, 30))
        return store

    def claim(answer: tuple[object, object]) -> None:
        rows = {row["id"]: row for row in answer[0]["sessions"]}
        assert rows["first"]["sent"]["input"] == 300
        assert rows["second"]["sent"] == {"requests": 1, "unreported": 0, "input": 300, "output": 30, "cache_read": 0, "cache_write": 0}
        assert rows["second"]["forked_from"]["key"] == "pi:first"
        assert (rows["second"]["turns"], rows["second"]["inherited"]) == (3, 2)
        assert [t.get("inherited", False) for t in answer[1]["turns"]] == [True, True, False]

    def both(store: PiStore) -> tuple[object, object]:
        return sessions(cli, store.sessions), turns(cli, store.sessions, "pi:second")

    holds(claim, both(written("clone", True)), both(written("apart", False)))


@pytest.mark.field(10)
def test_calls_of_a_fork_are_not_counted_again(cli: Cli, tmp_path: Path) -> None:
    store = PiStore(tmp_path)
    s = store.session(id="first")
    s.turn("one", calls=[Call("bash", {"command": "ls"})], usage=Spent(100, 10))
    second = s.turn("two", usage=Spent(200, 20))
    fork = s.fork("second", second[0])
    fork.turn("another two", usage=Spent(400, 40))

    def claim(rows: dict[str, object]) -> None:
        assert rows["second"]["sent"]["input"] == 400
        assert rows["second"]["sent"]["requests"] == 1

    rows = {row["id"]: row for row in sessions(cli, store.sessions)["sessions"]}
    assert rows["first"]["sent"]["requests"] == 3
    holds(claim, rows, {"second": rows["first"]})
