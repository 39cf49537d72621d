"""Starting without a screen."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bench.bench import Bench, paired
from tests.bench.results import Result
from tests.bench.terminal import inspector


def start(bench: Bench) -> Iterator[Result]:
    """``--version`` and ``--help``: what a shell completion or a script waits for."""
    for flag in ("--version", "--help"):
        took, limit = paired(15, lambda flag=flag: bench.run(inspector(flag)), bench.interpreter)
        yield Result(f"start {flag}", took, limit, "the interpreter's start", budget=120)
