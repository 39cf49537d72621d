"""What a field report's test is made of: a claim that holds for one file and fails for its mutation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.cache.verdict import verdicts
from ctx_inspect.core.diff.drift import drift
from ctx_inspect.core.model import Ledger, Raw, Ref
from ctx_inspect.core.schema import document, turns_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.timeline import timeline

from tests.command import Call

Claim = Callable[[Any], None]


def holds(claim: Claim, right: Any, *mutations: Any) -> None:
    """Check that a claim holds for the right answer and fails for each mutated one."""
    claim(right)
    for mutation in mutations:
        with pytest.raises((AssertionError, LookupError)):
            claim(mutation)


def turns(cli: Call, path: Path, session: str = "last", *more: str) -> Any:
    """Return the answer of ``turns`` on a named store."""
    done = cli("turns", session, "--json", "--source", str(path), *more)
    assert done.code == 0, done.err
    return done.json


def sessions(cli: Call, path: Path) -> Any:
    """Return the answer of ``sessions`` on a named store."""
    done = cli("sessions", "--json", "--source", str(path))
    assert done.code == 0, done.err
    return done.json


def show(cli: Call, path: Path, turn: str = "last", *more: str, session: str = "last") -> Any:
    """Return the answer of ``show`` on a named store."""
    done = cli("show", session, turn, "--json", "--source", str(path), *more)
    assert done.code == 0, done.err
    return done.json


def watched(source: Source, ledger: Ledger) -> str:
    """Return what ``turns --json --text`` would say of a session that was followed while it grew."""

    def begin(refs: Sequence[Ref]) -> Raw | None:
        from ctx_inspect.app.commands.turns import beginning

        return beginning(source, refs)

    rows = timeline(ledger, lambda m: source.window(m, ledger.info.id))
    return document(turns_of(ledger, rows, begin, cleaner(False), drift(ledger).turns, verdicts(ledger)))


def texts(answer: Any) -> list[str | None]:
    """Return the inputs of the turns."""
    return [turn.get("text") for turn in answer["turns"]]


def codes(answer: Any) -> list[str]:
    """Return the codes of the problems."""
    return [problem["code"] for problem in answer["problems"]]


def diff(cli: Call, path: Path, turn: str = "last", *more: str, session: str = "last") -> Any:
    """Return the answer of ``diff`` on a named store."""
    done = cli("diff", session, turn, "--json", "--source", str(path), *more)
    assert done.code == 0, done.err
    return done.json
