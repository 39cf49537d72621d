from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from ctx_inspect.app.state import folder, log_crash, remember, remembered


def test_what_is_remembered_is_read_again(tmp_path: Path) -> None:
    where = tmp_path / "a" / "b"
    assert remember({"session": "pi:x", "tab": "steps", "theme": None}, where)
    assert remembered(where) == {"session": "pi:x", "tab": "steps"}
    assert stat.S_IMODE(where.stat().st_mode) == 0o700
    assert stat.S_IMODE((where / "screen.json").stat().st_mode) == 0o600
    assert [p.name for p in where.iterdir()] == ["screen.json"]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"nonsense", b'{"session": 5, "tab": ["x"]}', b"\xff\xfe", b'{"session": "' + b"x" * 500 + b'"}']
)
def test_a_damaged_file_is_no_choice(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "screen.json").write_bytes(data)
    assert remembered(tmp_path) == {}


def test_only_what_is_named_is_kept(tmp_path: Path) -> None:
    remember({"session": "pi:x", "text": "a secret", "title": "t"}, tmp_path)
    assert json.loads((tmp_path / "screen.json").read_text()) == {"session": "pi:x"}


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not remember({"tab": "steps"}, tmp_path / "file" / "below")
    assert log_crash(ValueError("x"), tmp_path / "file" / "below") is None


def test_a_link_in_the_place_of_the_log_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "crash.log").symlink_to(victim)
    log_crash(ValueError("x"), tmp_path)
    assert victim.read_text() == "precious"


def test_a_crash_log_holds_types_and_our_frames_only(tmp_path: Path) -> None:
    secret = "sk-live-0123456789"
    try:
        try:
            json.loads("{" + secret)
        except ValueError as inner:
            raise RuntimeError(secret) from inner
    except RuntimeError as error:
        path = log_crash(error, tmp_path, "reading the session")
    assert path is not None
    text = path.read_text()
    assert secret not in text
    assert "builtins.RuntimeError" in text
    assert "json.decoder.JSONDecodeError" in text
    assert "reading the session" in text
    assert "tests/app/test_state.py" in text
    assert "json/decoder.py" not in text


def test_the_folder_is_below_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert folder().is_relative_to(tmp_path)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b'{"tab": "steps"}' + b" " * (1 << 20)])
def test_a_file_that_is_too_deep_or_too_large_is_no_choice(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "screen.json").write_bytes(data)
    assert remembered(tmp_path) == {}
    assert remember({"tab": "text"}, tmp_path)
    assert remembered(tmp_path) == {"tab": "text"}


@pytest.mark.timeout(10)
def test_pipes_in_the_place_of_our_files_are_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "screen.json")
    os.mkfifo(tmp_path / "crash.log")
    assert remembered(tmp_path) == {}
    assert log_crash(ValueError("x"), tmp_path) is None
    assert remember({"tab": "text"}, tmp_path)
    assert remembered(tmp_path) == {"tab": "text"}
