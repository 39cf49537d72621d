"""Projects of recorded directories, compared in NFC."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ctx_inspect.core.model import Raw
from ctx_inspect.core.project import key_of, project_of, same_project


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    project_of.cache_clear()
    yield
    project_of.cache_clear()


def test_the_nearest_ancestor_with_git(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    assert project_of(str(inner)) == os.path.realpath(inner)
    project_of.cache_clear()
    (tmp_path / "repo" / ".git").mkdir()
    assert project_of(str(inner)) == os.path.realpath(tmp_path / "repo")
    project_of.cache_clear()
    (tmp_path / "repo" / "a" / ".git").write_text("gitdir: elsewhere")  # a worktree or submodule
    assert project_of(str(inner)) == os.path.realpath(tmp_path / "repo" / "a")


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "repo")
    assert project_of(str(tmp_path / "link")) == os.path.realpath(tmp_path / "repo")


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert project_of(str(tmp_path / "a" / "x"))


def test_a_directory_that_is_gone(tmp_path: Path) -> None:
    assert project_of(str(tmp_path / "gone" / "deeper")) == os.path.realpath(tmp_path) + "/gone/deeper"


@pytest.mark.parametrize("path", ["C:\\src\\app", "relative/path", "", "/nul\0byte", "\\\\server\\share"])
def test_paths_of_elsewhere_stay(path: str) -> None:
    assert project_of(path) == path


def test_composed_and_decomposed_are_one() -> None:
    assert same_project("/src/caf\u00e9", "/src/cafe\u0301")
    assert not same_project("/src/cafe", "/src/caf\u00e9")
    assert not same_project(None, None)
    assert not same_project("/a", None)
    assert same_project("/a/", "/a")
    assert key_of("/") == "/"


def test_windows_paths_are_paths() -> None:
    assert same_project("C:\\Src\\App", "c:/src/app/")
    assert not same_project("/Src", "/src")


def test_a_directory_that_is_too_long_for_any_system_is_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr("ctx_inspect.core.project._holds_git", looked.append)
    monkeypatch.setattr("ctx_inspect.core.project.os.path.realpath", looked.append)
    long = Raw("/a" * 100_000)
    assert project_of(long) == long
    assert looked == []  # each of its ancestors would be looked for: quadratic
