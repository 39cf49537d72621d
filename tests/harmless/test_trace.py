"""With a writer running, no system call of ours writes, truncates, unlinks or renames in its folder."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harmless.conftest import Run
from tests.harmless.trace import COMMAND, changes


def _traceable() -> str | None:
    if shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else "strace may not trace here"


REASON = _traceable()
needs_strace = pytest.mark.skipif(REASON is not None, reason=REASON or "")


@needs_strace
@pytest.mark.parametrize("kind", ["opencode", "pi"])
def test_beside_a_writer(tmp_path: Path, python: Run, kind: str) -> None:
    store = tmp_path / "store"
    store.mkdir()
    noted = tmp_path / "trace"
    writer = python("tests.harmless.writer", kind, store, 25, 0.1, 30)
    path = store / "opencode.db" if kind == "opencode" else store / ".pi" / "agent" / "sessions"
    user = python("tests.harmless.use", 6, path, before=(*COMMAND, str(noted)))
    out, err = user.communicate(timeout=60)
    assert user.returncode == 0, err[-2000:]
    did = json.loads(out)
    assert did["errors"] == []
    assert did["did"]["events"] >= 3, "it must have read while the writer wrote"
    assert list(did["turns"].values()) == [25], "and seen all of it"
    assert writer.poll() is None
    if kind == "opencode":
        assert {p.name for p in store.iterdir()} == {"opencode.db", "opencode.db-wal", "opencode.db-shm"}, "nothing but the writer's"
    text = noted.read_text()
    assert str(path) in text, "the trace shows that the store was read"
    assert changes(text, store) == []


@needs_strace
def test_an_orphan_wal(tmp_path: Path, python: Run) -> None:
    from tests.harmless.conftest import opencode_orphan

    store, noted = tmp_path / "store", tmp_path / "trace"
    path = opencode_orphan(store)
    user = python("tests.harmless.use", 2, path, before=(*COMMAND, str(noted)))
    out, err = user.communicate(timeout=60)
    assert user.returncode == 0, err[-2000:]
    assert json.loads(out)["errors"] == []
    assert changes(noted.read_text(), store) == []


@needs_strace
def test_the_trace_finds_what_it_is_for(tmp_path: Path) -> None:
    """Each kind of change, made by a process of ours, is found; reading and the ``-shm`` are not."""
    store, noted = tmp_path / "store", tmp_path / "trace"
    store.mkdir()
    for name in ("a", "b", "c", "d", "e", "f", "y-wal"):
        (store / name).write_text("x")
    script = f"""
import os, fcntl, mmap
s = {str(store)!r}
open(s + "/a").read()
open(s + "/x-shm", "w").write("1")
os.close(os.open(s + "/y-wal", os.O_RDWR))
os.truncate(s + "/a", 0)
with open(s + "/b", "r+") as f:
    f.write("y")
    f.flush()
    mmap.mmap(f.fileno(), 1)
    fcntl.lockf(f, fcntl.LOCK_EX)
os.unlink(s + "/c")
os.rename(s + "/d", s + "/g")
os.chmod(s + "/e", 0o600)
os.utime(s + "/f")
os.mkdir(s + "/h")
"""
    python = shutil.which("python3") or "python3"
    subprocess.run([*COMMAND, str(noted), python, "-c", script], check=True)
    calls = [line.split("(")[0].split()[-1] for line in changes(noted.read_text(), store)]
    assert sorted(set(calls)) == sorted({"truncate", "openat", "write", "mmap", "fcntl", "unlink", "rename", "chmod", "utimensat", "mkdir"})
    assert not any("x-shm" in line or "y-wal" in line for line in changes(noted.read_text(), store))
