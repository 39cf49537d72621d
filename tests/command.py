"""Runs the command line in this process, on sources of the test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.app.commands import stores
from ctx_inspect.app.main import run
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.sources.discovery import Discovery


@dataclass
class Done:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Done]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Call ``cli("turns", "last", sources=[…])``; without ``sources`` discovery runs in an empty home."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))  # no vocabulary: everywhere the same counter

    def call(*args: str, sources: list[Source] | None = None) -> Done:
        if sources is not None:
            monkeypatch.setattr(stores, "discover", lambda env, home, **_: Discovery(tuple(sources), ()))
            monkeypatch.setattr(stores, "open_sources", lambda specs, **_: tuple(sources))
        capsys.readouterr()
        code = run(list(args))
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call
