"""Finding, listing, following and surviving Pi's session files."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest
from ctx_inspect.core.model import Confirmed, Estimated, Model, ProblemCode, Raw, Unavailable, value_of
from ctx_inspect.core.sources.base import NoSession, SourceError
from ctx_inspect.core.sources.pi import PiSource, find, probe, sweep
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.builders.pi import START, Call, PiFile, PiStore, encode, folder_of, sections, tool
from tests.core.sources.pi.reading import opened, said, source_of


@pytest.fixture
def store(tmp_path: Path) -> PiStore:
    return PiStore(tmp_path)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


# -- finding ---------------------------------------------------------------------------------------------------


def test_places_of_the_environment_are_looked_at(store: PiStore, tmp_path: Path) -> None:
    store.session().turn("x")
    flat = tmp_path / "flat"
    PiFile(flat, id="f").turn("x")
    (empty := tmp_path / "empty").mkdir()
    store.settings(sessionDir=str(flat))
    looked = find({**store.env, "PI_CODING_AGENT_SESSION_DIR": str(empty)}, store.home)
    assert [(p.place, p.found, p.why) for p in looked] == [
        ("~/.pi/agent/sessions", (store.sessions,), None),
        ("~/empty", (), "no session in it"),
        ("~/flat", (flat,), None),
    ]
    other = PiStore(tmp_path / "other")
    other.session().turn("y")
    looked = find({"PI_CODING_AGENT_DIR": str(other.agent)}, store.home)
    assert [p.found for p in looked] == [(other.sessions,), (store.sessions,)]
    assert [(p.found, p.why) for p in find({}, tmp_path / "nobody")] == [((), "no folder of that name")]


def test_probe_knows_its_own(store: PiStore, tmp_path: Path) -> None:
    s = store.session()
    flat = PiFile(tmp_path / "flat", id="f")
    other = tmp_path / "other.jsonl"
    other.write_text('{"type":"message","text":"not pi"}\n')
    (tmp_path / "empty.jsonl").touch()
    assert probe(store.sessions)
    assert probe(s.path)
    assert probe(s.path.parent)
    assert probe(flat.path.parent)
    assert not probe(other)
    assert not probe(tmp_path / "empty.jsonl")
    assert not probe(tmp_path / "missing")
    assert not probe(store.agent)


# -- listing ---------------------------------------------------------------------------------------------------


@pytest.mark.field(42)
@pytest.mark.parametrize("cwd", ["/home/ann/a-b:c", "/home/ann/a/b-c", "/home/ann/sp ace", "/home/ann/中文 目录", "C:\\Users\\ann\\shop"])
def test_the_path_comes_from_the_header(store: PiStore, cwd: str) -> None:
    s = store.session(cwd=cwd)
    s.turn("hi")
    (info,) = source_of(store.sessions).sessions().sessions
    assert info.directory == cwd
    assert s.path.parent.name == folder_of(cwd)
    assert (info.key, info.harness, info.format, info.path) == ("pi:session-1", "pi", "pi-3", str(s.path))
    assert info.started == START + 3_600_000
    assert info.updated == s.now
    assert info.model == Model(Raw("acme"), Raw("large"))


def test_the_name_is_the_last_one_in_file_order(store: PiStore) -> None:
    named, cleared, plain = (store.session(id=i) for i in ("named", "cleared", "plain"))
    named.rename("first")
    one = named.turn("hello")
    named.rename("second")
    named.go(one[-1])
    named.turn("bye")
    cleared.rename("a name")
    cleared.turn("  words of\nthe user ")
    cleared.rename("")
    plain.turn("words " * 100)
    titles = {i.id: i.title for i in source_of(store.sessions).sessions().sessions}
    assert titles["named"] == "second"
    assert titles["cleared"] == "words of\nthe user"
    assert titles["plain"] == ("words " * 100).strip()  # more than is shown: it is redacted before it is cut


def title_of(source: PiSource) -> str | None:
    (info,) = source.sessions().sessions
    return info.title


def test_a_new_name_in_the_middle_of_a_long_file_is_in_the_list_and_stays(store: PiStore) -> None:
    s = store.session()
    s.rename("first name")
    s.turn("first words")
    s.rename("the name")
    s.turn("x" * 100_000)
    s.turn("y" * 2_000_000)
    source = source_of(store.sessions)
    assert title_of(source) == "the name"
    assert source.open(s.id).info.title == "the name"
    for _ in range(3):  # it grows, and the list is taken from its ends again
        s.turn("z" * 600_000)
        assert title_of(source) == "the name"
        assert source.open(s.id).info.title == "the name"
    s.rename("")
    s.turn("a" * 600_000)
    assert title_of(source) == "first words"
    assert title_of(source_of(store.sessions)) == "first words"
    s.rename("at last")
    s.turn("b" * 600_000)
    s.turn('a "session_info" in words, and as a record: {"type":"session_info","name":"no name"}')
    s.custom({"type": "session_info", "name": "no name"})
    assert title_of(source) == title_of(source_of(store.sessions)) == "at last"


@pytest.mark.parametrize("around", range(-20, 21, 4))
def test_a_name_is_found_wherever_blocks_meet(store: PiStore, monkeypatch: pytest.MonkeyPatch, around: int) -> None:
    monkeypatch.setattr("ctx_inspect.core.sources.pi.names.BLOCK", 1024)
    s = store.session()
    s.turn("words")
    s.rename("the name")
    place = s.path.stat().st_size - s.path.read_bytes().rfind(b'"session_info"')
    s.put("custom", {"customType": "state", "data": "x" * 40_000})
    fill = 4 * 1024 - (s.path.stat().st_size - s.path.read_bytes().rfind(b'"session_info"')) % 1024 + around
    s.put("custom", {"customType": "state", "data": "y" * fill})
    assert place > 0
    assert title_of(source_of(store.sessions)) == "the name"


def test_a_replaced_file_has_its_own_name(store: PiStore) -> None:
    s = store.session()
    s.rename("old")
    s.turn("x" * 700_000)
    source = source_of(store.sessions)
    assert title_of(source) == "old"
    data = s.path.read_bytes().replace(b'"old"', b'"new"')
    s.path.unlink()
    s.path.write_bytes(data)
    assert title_of(source) == "new"


def test_the_search_for_names_is_bounded_and_goes_on_with_later_looks(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctx_inspect.core.sources.pi.source.SEARCHED", {False: 1 << 20, True: 1 << 30})
    monkeypatch.setattr("ctx_inspect.core.sources.pi.source.SEARCHED_IN_LOOK", 1 << 20)
    s = store.session()
    s.turn("first words")
    s.rename("the name")
    for _ in range(5):
        s.turn("x" * 700_000)
    source = PiSource(store.sessions, clock=Clock(START))
    assert title_of(source) == "first words"
    look = source.changed(None)
    told = 0
    for _ in range(8):
        look = source.changed(look.cursor)
        told += look.listing
    assert told == 1
    assert title_of(source) == "the name"
    assert title_of(PiSource(store.sessions, one_shot=True)) == "the name"


def test_newest_first_and_flat_folders(tmp_path: Path) -> None:
    for n in range(3):
        PiFile(tmp_path, id=f"s{n}", at=START + n * 1000).turn("x")
    assert [i.id for i in PiSource(tmp_path).sessions().sessions] == ["s2", "s1", "s0"]


def test_live_is_what_changed_within_a_minute(store: PiStore) -> None:
    s = store.session()
    s.turn("x")
    at = s.path.stat().st_mtime
    assert PiSource(store.sessions, clock=Clock(at + 59)).sessions().sessions[0].live
    assert not PiSource(store.sessions, clock=Clock(at + 61)).sessions().sessions[0].live


def test_listing_opens_no_file_twice(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session()
    s.turn("x")
    source = source_of(store.sessions)
    source.sessions()
    monkeypatch.setattr("ctx_inspect.core.sources.pi.source.glance", lambda _: pytest.fail("read again"))
    assert len(source.sessions().sessions) == 1
    monkeypatch.undo()
    s.rename("new")
    assert source.sessions().sessions[0].title == "new"


def test_listing_reads_the_ends_of_a_file_only(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session()
    s.turn("first")
    s.turn("z" * (4 << 20))
    s.turn("last")
    read = 0
    pread = os.pread

    def counting(fd: int, count: int, offset: int) -> bytes:
        nonlocal read
        data = pread(fd, count, offset)
        read += len(data)
        return data

    monkeypatch.setattr(os, "pread", counting)
    searched: list[str] = []
    monkeypatch.setattr("ctx_inspect.core.sources.pi.names.Names.search", lambda *words: searched.append(words[1]) or 0)
    source = source_of(store.sessions)
    (info,) = source.sessions().sessions
    assert info.title == "first"
    assert searched == [str(s.path)]
    assert info.updated == s.now
    assert read < 64 << 10
    monkeypatch.undo()
    source.sessions()
    s.rename("last name")
    monkeypatch.setattr(os, "pread", counting)
    read = 0
    (info,) = source.sessions().sessions
    assert info.title == "last name"
    assert read < 128 << 10  # what came is searched, not all of it again


# -- damage ----------------------------------------------------------------------------------------------------


@pytest.mark.field(1)
@pytest.mark.field(2)
def test_damaged_lines_are_named_and_the_rest_is_read(store: PiStore) -> None:
    s = store.session()
    one = s.turn("one")
    s.raw(b'{"type":"message","id":"broken","par\n')
    with s.held() as lines:
        two = s.turn("two")
    s.raw(b'{"type":"message","id":"torn","message":{"role":"user' + lines[0] + b"\n" + lines[1] + b"\n")
    with s.held() as lines:
        three = s.turn("three")
    s.raw(lines[0] + lines[1] + b"\n")
    ledger = opened(s)
    assert [t.id for t in ledger.turns] == [one[0], two[0], three[0]]
    assert [(p.code, p.message.partition(":")[0]) for p in ledger.problems] == [
        (ProblemCode.UNREADABLE_RECORD, "line 6"),
        (ProblemCode.RECOVERED_RECORD, "line 7"),
        (ProblemCode.RECOVERED_RECORD, "line 9"),
    ]
    assert {p.source for p in ledger.problems} == {str(s.path)}


@pytest.mark.field(1)
def test_an_unreadable_record_between_user_messages_ends_the_run(store: PiStore) -> None:
    s = store.session()
    u = s.user("one")
    with s.held() as lines:
        s.assistant("lost")
    s.raw(lines[0][:40] + b"\n")
    v = s.user("two")
    s.assistant("ok")
    ledger = opened(s)
    assert [t.ids for t in ledger.turns] == [(u,), (v,)]
    context = ledger.turns[1].requests[0].context
    assert context is not None
    assert said(source_of(s), context.messages) == [("user", "one"), ("user", "two")]


def test_a_lost_header_leaves_the_entries(store: PiStore) -> None:
    s = store.session(id="lost")
    s.turn("hi")
    lines = s.path.read_bytes().split(b"\n")
    s.path.write_bytes(b"\n".join([lines[0][:20], *lines[1:]]))
    source = source_of(store.sessions)
    (info,) = source.sessions().sessions
    assert (info.id, info.directory) == ("lost", None)
    ledger = source.open("lost")
    assert len(ledger.turns) == 1
    assert [p.message for p in ledger.problems] == [
        "line 1: the session header; the id is taken from the file's name",
        "line 1: no whole record",
    ]


def test_files_that_are_no_session_are_problems_of_the_list(store: PiStore) -> None:
    store.session(id="good").turn("x")
    folder = store.sessions / "--x--"
    folder.mkdir()
    (folder / "empty.jsonl").touch()
    (folder / "other.jsonl").write_text('{"type":"log"}\n')
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "notes.txt").write_text("x")
    listing = source_of(store.sessions).sessions()
    assert [i.id for i in listing.sessions] == ["good"]
    assert {(Path(p.source).name, p.code, p.message) for p in listing.problems} == {
        ("empty.jsonl", "not_a_store", "the file is empty"),
        ("other.jsonl", "not_a_store", "it is not a Pi session: its first record is no session header"),
        ("pipe.jsonl", "not_a_store", "it is a pipe, socket or device, not a file"),
    }


def test_no_permission_is_said(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session(id="closed")
    s.turn("x")
    source = source_of(store.sessions)
    real = os.open

    def closed(path: str | Path, *rest: int) -> int:
        if str(path).endswith(".jsonl"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *rest)

    monkeypatch.setattr(os, "open", closed)
    listing = source.sessions()
    assert [(p.code, p.message) for p in listing.problems] == [("permission", "no permission to read it")]

    def locked(path: str | Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", locked)
    with pytest.raises(SourceError) as caught:
        source.sessions()
    assert (caught.value.code, caught.value.message) == ("permission", "no permission to read it")


def test_errors_hold_our_own_words_only(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        source_of(tmp_path / "missing").sessions()
    assert (caught.value.code, caught.value.message) == ("gone", "it is no longer there")
    (tmp_path / "odd.jsonl").write_text('{"type":"secret sauce"}\n')
    source = source_of(tmp_path / "odd.jsonl")
    with pytest.raises(NoSession):
        source.open("x")
    assert "secret" not in source.sessions().problems[0].message


def test_two_files_with_one_id_are_listed_once(store: PiStore) -> None:
    s = store.session(id="twin")
    s.turn("x")
    copy = store.sessions / "--copy--"
    copy.mkdir()
    (copy / s.path.name).write_bytes(s.path.read_bytes())
    listing = source_of(store.sessions).sessions()
    assert [i.id for i in listing.sessions] == ["twin"]
    assert len(listing.problems) == 1


@pytest.mark.field(7)
def test_compaction_rows_of_megabytes(store: PiStore) -> None:
    s = store.session()
    for n in range(8):
        one = s.turn(f"turn {n}")
        s.compaction("s" * (5 << 20), kept=one[0])
    ledger = opened(s)
    assert len(ledger.turns) == 8
    assert ledger.now is not None
    assert ledger.now.messages.messages()[0].parts[0].size == (5 << 20) + 107


# -- live ------------------------------------------------------------------------------------------------------


def test_what_is_appended_is_read_on(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session()
    s.turn("one")
    source = source_of(store.sessions)
    ledger = source.open(s.id)
    held = ledger.turns[0]
    starts: list[int] = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, n, at: starts.append(at) or pread(fd, n, at) if n == 1 << 20 else pread(fd, n, at))
    size = s.path.stat().st_size
    s.turn("two")
    ledger = source.open(s.id, ledger)
    assert [t.n for t in ledger.turns] == [1, 2]
    assert ledger.turns[0] is held
    assert min(starts) == size


@pytest.mark.field(5)
def test_a_half_written_line_is_read_when_it_is_whole(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    clock = Clock(0.0)
    source = PiSource(store.sessions, clock=clock)
    with s.held() as lines:
        s.user("two, written slowly")
    line = lines[0] + b"\n"
    clock.now = s.path.stat().st_mtime + 1
    ledger = source.open(s.id)
    for cut in range(len(line)):
        s.raw(line[cut : cut + 1])
        clock.now = s.path.stat().st_mtime + 1
        ledger = source.open(s.id, ledger)
        assert len(ledger.turns) == (2 if cut == len(line) - 1 else 1)
        assert ledger.problems == ()


@pytest.mark.field(5)
def test_a_whole_last_line_without_lf_counts_once_the_file_is_quiet(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    with s.held() as lines:
        s.user("two")
    s.raw(lines[0])
    written = s.path.stat().st_mtime
    clock = Clock(written + 1)
    source = PiSource(store.sessions, clock=clock)
    source.sessions()
    cursor = source.changed(None).cursor
    ledger = source.open(s.id)
    assert len(ledger.turns) == 1
    change = source.changed(cursor)
    assert not change.any
    clock.now = written + 2.5
    change = source.changed(change.cursor)
    assert change.ids == {s.id}
    ledger = source.open(s.id, ledger)
    assert len(ledger.turns) == 2
    assert not source.changed(change.cursor).any
    s.raw(b"\n")
    s.assistant("ok")
    ledger = source.open(s.id, ledger)
    assert [len(t.requests) for t in ledger.turns] == [1, 1]
    assert ledger.problems == ()
    one_shot = PiSource(store.sessions, one_shot=True, clock=Clock(written))
    assert len(one_shot.open(s.id).turns) == 2


@pytest.mark.field(6)
@pytest.mark.parametrize("how", ["truncated", "same size", "larger", "moved over"])
def test_a_replaced_file_is_read_anew(store: PiStore, how: str, tmp_path: Path) -> None:
    s = store.session(id="same")
    s.turn("old words")
    s.turn("more")
    source = source_of(store.sessions)
    ledger = source.open("same")
    body = s.path.read_bytes()
    match how:
        case "truncated":
            lines = body.split(b"\n")
            s.path.write_bytes(b"\n".join(lines[:5]) + b"\n")
        case "same size":
            s.path.write_bytes(body.replace(b"old words", b"new words").replace(b'"version":3,"id"', b'"version":3 ,"id"'))
        case "larger":
            other = PiFile(tmp_path / "o", id="same", seed="other")
            for n in range(9):
                other.turn(f"new words {n}")
            s.path.write_bytes(other.path.read_bytes())
        case _:
            other = tmp_path / "o.jsonl"
            other.write_bytes(body.replace(b"old words", b"new words"))
            os.replace(other, s.path)
    ledger = source.open("same", ledger)
    first = value_of(source.text(ledger.turns[0].input[0], 100))
    assert len(ledger.turns) == {"truncated": 1, "same size": 2, "larger": 9, "moved over": 2}[how]
    assert first == {"truncated": "old words", "same size": "new words", "larger": "new words 0", "moved over": "new words"}[how]


@pytest.mark.field(8)
def test_a_deleted_file_is_gone_and_what_was_read_stays(store: PiStore) -> None:
    s = store.session()
    s.turn("one")
    store.session(id="other").turn("x")
    source = source_of(store.sessions)
    source.sessions()
    cursor = source.changed(None).cursor
    ledger = source.open(s.id)
    context = ledger.turns[0].requests[0].context
    s.path.unlink()
    change = source.changed(cursor)
    assert change.listing
    assert s.id in (change.ids or ())
    with pytest.raises(NoSession):
        source.open(s.id, ledger)
    assert context is not None
    assert [m.id for m in context.messages] == [ledger.turns[0].id]
    assert isinstance(source.text(ledger.turns[0].input[0], 10), Unavailable)
    single = source_of(store.sessions / folder_of("/home/ann/shop") / "no.jsonl")
    assert single.changed(None).gone


def test_changes_are_told_once_and_by_session(store: PiStore) -> None:
    a, b = store.session(id="a"), store.session(id="b")
    a.turn("x")
    b.turn("x")
    source = source_of(store.sessions)
    source.sessions()
    change = source.changed(None)
    assert not source.changed(change.cursor).any
    a.turn("y")
    change = source.changed(change.cursor)
    assert change.ids == {"a"}
    assert not source.changed(change.cursor).any
    c = store.session(id="c", cwd="/home/ann/new place")
    change = source.changed(change.cursor)
    assert change.listing
    assert {i.id for i in source.sessions().sessions} == {"a", "b", "c"}
    c.turn("z")
    change = source.changed(change.cursor)
    assert change.ids == {"c"}


def test_a_look_stats_a_bounded_number_of_files_and_all_come_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "HOT", 3)
    monkeypatch.setattr(sweep, "SLICE", 5)
    files = [PiFile(tmp_path, id=f"s{n}", at=START + n) for n in range(30)]
    for n, f in enumerate(files):
        os.utime(f.path, (1000 + n, 1000 + n))
    source = PiSource(tmp_path)
    source.sessions()
    cursor = source.changed(None).cursor
    seen: list[str] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda p, **k: seen.append(str(p)) or stat(p, **k))
    old = files[4]
    old.user("resumed")
    found = []
    for _ in range(6):
        seen.clear()
        change = source.changed(cursor)
        cursor = change.cursor
        assert len([p for p in seen if p.endswith(".jsonl")]) <= 3 + 5
        found += sorted(change.ids or ())
    assert found == ["s4"]


def test_a_text_is_cut_and_read_from_the_line_that_counts(store: PiStore) -> None:
    s = store.session()
    s.turn("ä" * 1000)
    source = source_of(store.sessions)
    ledger = source.open(s.id)
    assert value_of(source.text(ledger.turns[0].input[0], 7)) == "ä" * 7
    fresh = source_of(store.sessions)
    assert value_of(fresh.text(ledger.turns[0].input[0], 3)) == "äää"


# -- limits ----------------------------------------------------------------------------------------------------


def test_limits_come_from_models_json_and_keys_are_never_read(store: PiStore) -> None:
    store.models({"acme": {"large": 200_000, "tiny": 9_000}})
    source = source_of(store.sessions)
    window = source.window(Model(Raw("acme"), Raw("large")))
    (claim,) = window.claims
    assert value_of(claim.tokens) == 200_000
    assert isinstance(claim.tokens, Confirmed)
    assert (claim.kind, claim.source, claim.rank) == ("context", "models.json", 3)
    assert value_of(window.threshold) == 200_000 - 16_384
    assert window.rule == "context − 16,384 reserved"
    assert source.window(Model(Raw("acme"), Raw("other"))).claims == ()
    assert "never-show" not in repr(vars(source)) + repr(vars(source._configuration))


def test_settings_change_the_threshold(store: PiStore) -> None:
    store.models({"acme": {"large": 200_000}})
    large = Model(Raw("acme"), Raw("large"))
    source = source_of(store.sessions)
    store.settings(compaction={"reserveTokens": 2000})
    assert value_of(source.window(large).threshold) == 198_000
    store.settings(compaction={"reserveTokens": 2000, "modelOverrides": {"acme/large": {"reserveTokens": 50_000}}}, more=1)
    assert value_of(source.window(large).threshold) == 150_000
    store.settings(compaction={"enabled": False}, longer=22)
    assert isinstance(source.window(large).threshold, Unavailable)
    (store.agent / "settings.json").write_text('{// words\n"compaction": {"reserveTokens": 1000,}, /* more */ }', encoding="utf-8")
    assert value_of(source.window(large).threshold) == 199_000
    (store.agent / "settings.json").write_text("not json at all", encoding="utf-8")
    assert value_of(source.window(large).threshold) == 200_000 - 16_384


def test_a_single_file_finds_its_configuration(store: PiStore, tmp_path: Path) -> None:
    store.models({"acme": {"large": 100_000}})
    s = store.session()
    assert value_of(source_of(s).window(Model(Raw("acme"), Raw("large"))).claims[0].tokens) == 100_000
    alone = PiFile(tmp_path / "elsewhere", id="alone")
    source = PiSource(alone.path, agent=store.agent)
    assert value_of(source.window(Model(Raw("acme"), Raw("large"))).claims[0].tokens) == 100_000


def test_a_header_written_as_an_odd_record_still_lists(store: PiStore) -> None:
    s = store.session()
    s.turn("x")
    body = s.path.read_bytes().split(b"\n", 1)[1]
    s.path.write_bytes(b"\n\0\0\n" + encode({**s.header, "version": "three", "extra": {"kept": [1]}}) + b"\n" + body)
    ledger = opened(s)
    assert len(ledger.turns) == 1
    assert ledger.info.id == s.id
    assert not isinstance(ledger.info.forked_from, Estimated)


@example([(0.828125, b"", 1)])
@example(strokes=[(0.0, b"", 7), (0.4132243665339618, b"\x80", 0)])
@given(st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=6), st.integers(0, 9)), min_size=1, max_size=6))
@settings(max_examples=150, deadline=None)
def test_no_damage_ends_in_a_traceback(strokes: list[tuple[float, bytes, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        s = PiFile(Path(folder), name="damaged.jsonl")
        s.system(sections(instructions={"/a": "x"}, skills={"k": ("d", "/p")}), tools=[tool("read")])
        one = s.turn("one", calls=[Call("read", {"a": [1]})])
        s.compaction("past", kept=one[1])
        s.context_edit(one[0], "y")
        s.turn("two")
        s.rename("n")
        data = s.path.read_bytes()
        for where, what, length in strokes:
            at = int(where * len(data))
            data = data[:at] + what + data[at + length :]
        s.path.write_bytes(data)
        source = source_of(s)
        try:
            infos = source.sessions().sessions
            for info in infos:
                ledger = source.open(info.id)
                for turn in ledger.turns:
                    for row in turn.requests:
                        if row.context is not None:
                            said(source, row.context.messages)
        except (SourceError, NoSession):
            pass
