"""With no agent running, using the program changes nothing in a store's folder."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ctx_inspect.core.sources import discovery
from ctx_inspect.core.sources.base import SourceError

from tests.harmless.conftest import STORES, opencode_orphan
from tests.harmless.files import state_of
from tests.harmless.use import User, sources_of


def use(paths: list[Path], seconds: float) -> User:
    with User(sources_of(paths)) as user:
        time.sleep(seconds)
    return user


@pytest.mark.parametrize("make", STORES.values(), ids=STORES)
def test_nothing_changes(tmp_path: Path, make: object) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    before = state_of(tmp_path)
    try:
        user = use([path], 1.5)
    except SourceError:  # a damaged store may be refused; it must not be changed by that either
        user = None
    assert state_of(tmp_path) == before
    if user is not None and "damaged" not in str(make) and "cut" not in str(make):
        assert user.errors == []
        assert user.did["opened"] >= 1
        assert user.did["texts"] >= 1
        assert user.did["events"] == 0, "reading is no news: it must not wake its own watcher"


def test_an_orphan_wal_keeps_all_but_the_shm(tmp_path: Path) -> None:
    path = opencode_orphan(tmp_path)
    before = state_of(tmp_path, but="-shm")
    user = use([path], 2.5)
    assert state_of(tmp_path, but="-shm") == before
    assert user.errors == []
    assert max(len(ledger.turns) for ledger in user.ledgers.values()) == 2, "what lies in the -wal is read"
    assert user.did["events"] == 0


def test_discovery_changes_nothing(tmp_path: Path) -> None:
    """Looking for stores, in a home that holds one of each kind."""
    STORES["pi_folder"](tmp_path)
    STORES["opencode_idle"](tmp_path / ".local" / "share" / "opencode")
    before = state_of(tmp_path)
    for _ in range(3):
        found = discovery.discover({"HOME": str(tmp_path)}, tmp_path)
        assert {s.kind for s in found.sources} == {"opencode", "pi"}
    with User(list(found.sources), discover=lambda: discovery.discover({"HOME": str(tmp_path)}, tmp_path).sources) as user:
        time.sleep(2.2)
    assert len(user.live.sources) == len(found.sources)
    assert user.errors == []
    assert state_of(tmp_path) == before


@pytest.mark.unprivileged
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    path = STORES["opencode_idle"](tmp_path / "store")
    path.parent.chmod(0o500)
    try:
        before = state_of(path.parent)
        user = use([path], 1.0)
        assert state_of(path.parent) == before
        assert user.errors == []
        assert user.did["opened"] >= 1
    finally:
        path.parent.chmod(0o700)


@pytest.mark.bench
@pytest.mark.timeout(300)
@pytest.mark.parametrize("make", STORES.values(), ids=STORES)
def test_nothing_changes_in_a_minute(tmp_path: Path, make: object) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    before = state_of(tmp_path)
    try:
        use([path], 60)
    finally:
        assert state_of(tmp_path) == before
