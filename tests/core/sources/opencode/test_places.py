"""Where OpenCode's stores are found, how they are known, and the JSON files of the generation before."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ctx_inspect.core.model import ProblemCode, value_of
from ctx_inspect.core.sources.base import Looked, SourceError
from ctx_inspect.core.sources.opencode import OpenCodeSource, find, probe

from tests.builders.opencode import OpenCodeDB


def make(path: Path, title: str = "Work") -> str:
    with OpenCodeDB(path) as db:
        s = db.session(title)
        s.turn(title)
        return s.id


def json_session(storage: Path, id: str, title: str, prompt: str = "hello", at: int = 1_700_000_000_000) -> None:
    """Write a session as the generation before the database did."""

    def write(path: Path, data: object) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")

    write(
        storage / "session" / "proj" / f"{id}.json",
        {"title": title, "directory": "/home/dev/p", "time": {"created": at, "updated": at + 9}},
    )
    write(storage / "message" / id / "msg_a.json", {"role": "user", "time": {"created": at + 1}, "agent": "build"})
    write(storage / "part" / "msg_a" / "prt_a.json", {"type": "text", "text": prompt})
    tokens = {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 5, "write": 0}}
    write(
        storage / "message" / id / "msg_b.json",
        {"role": "assistant", "parentID": "msg_a", "time": {"created": at + 2, "completed": at + 3}, "tokens": tokens, "finish": "stop"},
    )
    write(storage / "part" / "msg_b" / "prt_b.json", {"type": "text", "text": "hi"})


def found(looked: list[Looked]) -> list[Path]:
    return [p for place in looked for p in place.found]


def test_every_channel_is_found(tmp_path: Path) -> None:
    data = tmp_path / ".local" / "share" / "opencode"
    for name in ("opencode.db", "opencode-dev.db", "opencode-my_branch.2.db"):
        make(data / name)
    (data / "other.db").write_bytes(b"x")
    assert [p.name for p in found(find({}, tmp_path))] == ["opencode.db", "opencode-dev.db", "opencode-my_branch.2.db"]


def test_the_data_folder_may_be_elsewhere(tmp_path: Path) -> None:
    make(tmp_path / "xdg" / "opencode" / "opencode.db")
    assert found(find({"XDG_DATA_HOME": str(tmp_path / "xdg")}, tmp_path / "home")) == [tmp_path / "xdg" / "opencode" / "opencode.db"]


@pytest.mark.parametrize("relative", [True, False])
def test_a_named_database_is_found(tmp_path: Path, relative: bool) -> None:
    data = tmp_path / ".local" / "share" / "opencode"
    path = data / "sub" / "mine.sqlite" if relative else tmp_path / "mine.sqlite"
    make(path)
    name = "sub/mine.sqlite" if relative else str(path)
    assert found(find({"OPENCODE_DB": name}, tmp_path)) == [path]


def test_a_database_in_memory_is_no_place(tmp_path: Path) -> None:
    places = find({"OPENCODE_DB": ":memory:"}, tmp_path)
    assert not any("memory" in p.place for p in places)


def test_what_was_looked_for_is_said(tmp_path: Path) -> None:
    places = find({"OPENCODE_DB": str(tmp_path / "none.db")}, tmp_path)
    assert [(p.place, p.why) for p in places] == [
        ("$OPENCODE_DB = ~/none.db", "no such file"),
        ("~/.local/share/opencode/opencode*.db", "no such folder"),
        ("~/.local/share/opencode/storage/session", "no such folder"),
    ]


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    make(tmp_path / "renamed.bin")
    (tmp_path / "opencode.db").write_bytes(b"no database at all")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert probe(tmp_path / "renamed.bin")
    for name in ("opencode.db", "empty", "pipe", "missing"):
        assert not probe(tmp_path / name)
    json_session(tmp_path / "data" / "storage", "ses_1", "old")
    assert probe(tmp_path / "data")
    assert probe(tmp_path / "data" / "storage")


def test_sessions_of_the_json_files_are_read(tmp_path: Path) -> None:
    storage = tmp_path / ".local" / "share" / "opencode" / "storage"
    json_session(storage, "ses_1", "old", "what I said")
    assert found(find({}, tmp_path)) == [storage]
    source = OpenCodeSource(storage)
    (info,) = source.sessions().sessions
    assert (info.title, info.format, info.started) == ("old", "opencode-json", 1_700_000_000_000)
    ledger = source.open("ses_1")
    assert [len(t.requests) for t in ledger.turns] == [1]
    assert value_of(ledger.turns[0].requests[0].usage).window == 15  # type: ignore[union-attr]
    assert value_of(source.text(ledger.turns[0].input[0], 100)) == "what I said"
    cursor = source.changed(None).cursor
    assert not source.changed(cursor).any
    (storage / "message" / "ses_1" / "msg_c.json").write_text('{"role":"user"}')
    assert source.changed(cursor).ids == frozenset({"ses_1"})


def test_a_session_in_both_is_read_from_the_database(tmp_path: Path) -> None:
    moved = make(tmp_path / "opencode.db", "moved")
    json_session(tmp_path / "storage", moved, "moved, as it was")
    json_session(tmp_path / "storage", "ses_left", "left behind")
    for source, titles in (
        (OpenCodeSource(tmp_path), ["moved", "left behind"]),
        (OpenCodeSource(tmp_path / "storage"), ["left behind"]),
        (OpenCodeSource(tmp_path / "opencode.db"), ["moved"]),
    ):
        assert [i.title for i in source.sessions().sessions] == titles
    source = OpenCodeSource(tmp_path)
    assert source.open("ses_left").info.format == "opencode-json"
    assert source.open(moved).info.format == "opencode-1"


def test_damaged_json_files_are_named(tmp_path: Path) -> None:
    json_session(tmp_path / "storage", "ses_1", "fine")
    (tmp_path / "storage" / "session" / "proj" / "ses_2.json").write_text("{")
    (tmp_path / "storage" / "message" / "ses_1" / "msg_c.json").write_text("[1")
    (tmp_path / "storage" / "part" / "msg_b" / "prt_c.json").write_text("")
    source = OpenCodeSource(tmp_path / "storage")
    listing = source.sessions()
    assert [i.id for i in listing.sessions] == ["ses_1"]
    assert [p.code for p in listing.problems] == [ProblemCode.UNREADABLE_RECORD]
    ledger = source.open("ses_1")
    assert [p.code for p in ledger.problems] == [ProblemCode.UNREADABLE_RECORD] * 2
    assert len(ledger.turns) == 1


def test_one_bad_database_hides_no_other(tmp_path: Path) -> None:
    make(tmp_path / "opencode.db", "good")
    (tmp_path / "opencode-bad.db").write_bytes(b"nothing" * 100)
    listing = OpenCodeSource(tmp_path).sessions()
    assert [i.title for i in listing.sessions] == ["good"]
    assert [p.code for p in listing.problems] == [ProblemCode.NOT_A_STORE]


def test_a_folder_without_a_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        OpenCodeSource(tmp_path)
    assert caught.value.code is ProblemCode.NOT_A_STORE


def test_the_list_is_light_and_whole(tmp_path: Path) -> None:
    with OpenCodeDB(tmp_path / "opencode.db", directory="/home/dev/app") as db:
        parent = db.session("main", model=("anthropic", "claude"))
        parent.turn("hello")
        child = db.session("magic-context-compartment", parent=parent)
        child.turn("x")
        plain = db.session("explore (@general subagent)", parent=parent)
        plain.turn("x")
    infos = {i.id: i for i in OpenCodeSource(tmp_path / "opencode.db").sessions().sessions}
    assert list(infos) == [plain.id, child.id, parent.id]
    main = infos[parent.id]
    assert (main.key, main.title, main.directory, main.agent) == (f"opencode:{parent.id}", "main", "/home/dev/app", "build")
    assert (main.model.provider, main.model.id) == ("anthropic", "claude")
    assert (main.live, main.parent, main.helper) == (False, None, None)
    assert infos[child.id].parent == main.key
    assert [infos[i].helper for i in (child.id, plain.id)] == ["magic-context", None]
