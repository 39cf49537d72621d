"""Folders that may not be read are named; what lies beside them is shown all the same."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.builders.pi import PiFile, PiStore
from tests.command import Call


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PiStore:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = PiStore(tmp_path)
    made.session("/srv/open", id="seen").turn("seen")
    made.session("/srv/shut", id="unseen").turn("unseen")
    return made


@pytest.mark.unprivileged
@pytest.mark.parametrize("mode", [0, 0o400])  # nothing, or the names of its files only
@pytest.mark.parametrize("named", [True, False])
def test_a_folder_of_sessions_that_may_not_be_read_is_a_problem(cli: Call, store: PiStore, mode: int, named: bool) -> None:
    shut = next(f for f in store.sessions.iterdir() if "shut" in f.name)
    words = ["--source", str(store.sessions)] if named else []
    shut.chmod(mode)
    try:
        listed, seen, checked = cli("sessions", "--json", *words), cli("sessions", *words), cli("doctor", "--json", *words)
    finally:
        shut.chmod(0o700)
    assert [s["id"] for s in listed.json["sessions"]] == ["seen"]
    (problem,) = listed.json["problems"]
    assert (problem["code"], problem["message"]) == ("permission", "no permission to read it")
    assert shut.name in problem["source"]
    assert shut.name in seen.err
    assert "no permission" in seen.err
    assert [c["state"] for c in checked.json["checks"] if shut.name in c["name"]] == ["problem"]


@pytest.mark.unprivileged
def test_a_place_of_the_agent_that_may_not_be_read_is_a_problem(cli: Call, store: PiStore) -> None:
    store.sessions.chmod(0)
    try:
        listed, seen, checked = cli("sessions", "--json"), cli("sessions"), cli("doctor", "--json")
    finally:
        store.sessions.chmod(0o700)
    assert [p["code"] for p in listed.json["problems"]] == ["permission"]
    assert "no permission" in seen.err
    (check,) = [c for c in checked.json["checks"] if c["name"].startswith("pi: ")]
    assert check["state"] == "problem"
    assert "no permission" in check["message"]


@pytest.mark.unprivileged
def test_where_all_folders_are_shut_that_is_said(cli: Call, store: PiStore) -> None:
    folders = list(store.sessions.iterdir())
    for folder in folders:
        folder.chmod(0)
    try:
        listed = cli("sessions", "--json")
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert sorted(p["code"] for p in listed.json["problems"]) == ["permission", "permission"]


@pytest.mark.unprivileged
def test_a_project_of_the_json_files_that_may_not_be_read_is_a_problem(cli: Call, tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    for project in ("open", "shut"):
        (storage / "session" / project).mkdir(parents=True)
        (storage / "session" / project / f"ses_{project}.json").write_text(json.dumps({"id": f"ses_{project}", "title": project}))
    (storage / "session" / "shut").chmod(0)
    try:
        listed = cli("sessions", "--json", "--source", str(storage))
    finally:
        (storage / "session" / "shut").chmod(0o700)
    assert [s["id"] for s in listed.json["sessions"]] == ["ses_open"]
    assert [(p["code"], p["source"].endswith("shut")) for p in listed.json["problems"]] == [("permission", True)]


def test_a_folder_of_many_empty_files_is_still_a_store(cli: Call, tmp_path: Path) -> None:
    for n in range(1100):
        (tmp_path / f"2026_{n}.jsonl").touch()
    PiFile(tmp_path, id="good").turn("good")
    done = cli("sessions", "--json", "--source", str(tmp_path))
    assert [s["id"] for s in done.json["sessions"]] == ["good"]


def test_a_folder_with_the_name_of_a_session_is_called_one(cli: Call, store: PiStore) -> None:
    (store.sessions / "x.jsonl").mkdir()
    done = cli("sessions", "--json")
    assert [p["message"] for p in done.json["problems"]] == ["it is a folder, not a file"]


@pytest.mark.timeout(60)
def test_what_of_our_own_file_cannot_be_used_is_told(cli: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config" / "ctx-inspect").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "ctx-inspect" / "config.toml"
    file.write_text('[limits]\nlarge = 5\n[keys]\nfollow = "y"\nnothing = "x"\n')

    def told() -> list[str]:
        checks = [c for c in cli("doctor", "--json").json["checks"] if c["name"] == "configuration"]
        assert {c["state"] for c in checks} == {"problem"}
        return [c["message"].partition(": ")[2] for c in checks]

    assert told() == [
        "config.toml: 1 of [limits] is not believed: a window has 20,000 to 3,000,000 tokens",
        "[keys]: an entry names no key of ours: it is ignored",
        "[keys]: follow and copy have the same key: it does one of them only",
    ]
    file.unlink()
    os.mkfifo(file)
    assert told() == ["config.toml is no file: not read"]
