"""Stores, and writers in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.builders.opencode import OpenCodeDB
from tests.builders.pi import PiStore
from tests.conftest import ROOT
from tests.harmless import writer

Run = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def python() -> Iterator[Run]:
    """Start a module of the tests in a process of its own, and wait until it says that it is ready."""
    running: list[subprocess.Popen[str]] = []

    def start(*words: object, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*before, sys.executable, "-m", *map(str, words)],
            cwd=ROOT,
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        if line.strip() != "ready":
            process.kill()
            raise AssertionError(f"{words[0]}: {line}{process.communicate()[1][-2000:]}")
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def opencode_idle(folder: Path) -> Path:
    """An agent that has ended: the database, and nothing beside it."""
    writer.opencode(folder, 3, 0, 0)
    return folder / "opencode.db"


def opencode_orphan(folder: Path) -> Path:
    """A killed agent: the newest rows lie in a ``-wal`` that nobody owns."""
    db = OpenCodeDB(folder / "opencode.db")
    session = db.session("Notes of the shop")
    session.turn("question 0")
    db.checkpoint()
    session.turn("question 1")
    db.close_leaving_wal()
    return folder / "opencode.db"


def opencode_empty_wal(folder: Path) -> Path:
    """A ``-wal`` without a row, as some closings leave."""
    path = opencode_idle(folder)
    path.with_name("opencode.db-wal").touch()
    return path


def opencode_damaged(folder: Path) -> Path:
    """Pages in the middle are overwritten."""
    path = opencode_idle(folder)
    data = bytearray(path.read_bytes())
    for at in range(8192, len(data) - 8192, 12288):
        data[at : at + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    return path


def opencode_cut(folder: Path) -> Path:
    """Its second half is missing."""
    path = opencode_idle(folder)
    os.truncate(path, path.stat().st_size // 2)
    return path


def pi_folder(folder: Path) -> Path:
    """Several Pi sessions, one of them damaged, one half-written."""
    writer.pi(folder, 3, 0, 0)
    store = PiStore(folder)
    damaged = store.session(cwd="/home/ann/other", id="damaged")
    damaged.turn("before")
    damaged.raw(b'{"type":"message","id":"torn\n')
    damaged.turn("after")
    half = store.session(cwd="/home/ann/third", id="half")
    half.turn("hello")
    half.raw(b'{"type":"message","id":"abc')
    return store.sessions


def pi_file(folder: Path) -> Path:
    """One session file by itself."""
    return next(pi_folder(folder).rglob("*session-1.jsonl"))


STORES = {f.__name__: f for f in (opencode_idle, opencode_empty_wal, opencode_damaged, opencode_cut, pi_folder, pi_file)}
