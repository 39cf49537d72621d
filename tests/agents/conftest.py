"""The mock model, for both agents; a rule for what their own output may not hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents.mock_model import MockModel


@pytest.fixture
def model() -> Iterator[MockModel]:
    """A model on loopback, and the rule that its scenes fit what was asked of it."""
    with MockModel() as model:
        yield model
        assert model.faults == []


def lock_errors(log: str) -> list[str]:
    """Return the lines in which an agent complains of a lock."""
    words = ("locked", "sqlite_busy", "ebusy")
    return [line for line in log.splitlines() if any(word in line.lower() for word in words)]
