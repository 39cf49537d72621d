from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count by sizes whatever lies on this machine, so that what is expected holds everywhere."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
