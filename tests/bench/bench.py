"""What all measurements share: the stores (made once, on demand), a clean environment, and how to time a thing."""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from tests.bench import stores
from tests.conftest import AGENT_VARIABLES, ROOT

TITLE = "Title of the measured session"


class Bench:
    """One run: its scale, its temporary folder, and the stores in it.

    Attributes:
        scale: 1 = the stated sizes.
        folder: Everything is written here; the caller removes it.
    """

    def __init__(self, folder: Path, scale: float, log: Callable[[str], None]) -> None:
        self.folder, self.scale, self.log = folder, scale, log
        self.home = folder / "home"
        self.home.mkdir(parents=True)

    @contextmanager
    def making(self, what: str) -> Iterator[None]:
        """Say what is being written and how long that took."""
        began = time.perf_counter()
        yield
        self.log(f"  wrote {what} in {time.perf_counter() - began:.0f} s")

    @cached_property
    def env(self) -> dict[str, str]:
        """An environment without the stores and settings of whoever runs this."""
        ours = ("XDG_", "CTX_INSPECT", "TEXTUAL", "PYTHON")  # PYTHONDONTWRITEBYTECODE: each start would compile everything anew
        kept = {k: v for k, v in os.environ.items() if k not in AGENT_VARIABLES and not k.startswith(ours)}
        return {**kept, "HOME": str(self.home), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}

    @cached_property
    def opencode(self) -> tuple[Path, str]:
        """The large OpenCode database and the id of its newest session (1,250 parts)."""
        path = self.folder / "opencode" / "opencode.db"
        with self.making("the OpenCode database"):
            session = stores.opencode(path, self.scale, title=TITLE)
        self.log(f"  {path.stat().st_size / 1e9:.2f} GB")
        return path, session

    @cached_property
    def pi(self) -> Path:
        """The large Pi session (200 MB)."""
        with self.making("the Pi session"):
            return stores.pi_large(self.folder / "pi" / "--large--", int(200e6 * self.scale), TITLE)

    @cached_property
    def pi_line(self) -> Path:
        """The Pi session with a long line (64 MB)."""
        with self.making("the long line"):
            return stores.pi_long_line(self.folder / "pi-line" / "--line--", int(64e6 * self.scale), TITLE)

    @cached_property
    def pi_turns(self) -> Path:
        """The Pi session of 100,000 turns."""
        with self.making("the Pi session of many turns"):
            return stores.pi_many_turns(self.folder / "pi-turns" / "--turns--", int(100_000 * self.scale), TITLE)

    @cached_property
    def pi_compactions(self) -> Path:
        """The Pi session that is mostly compaction rows (2 GB)."""
        with self.making("the Pi session of compactions"):
            return stores.pi_compactions(self.folder / "pi-compactions" / "--compactions--", int(2e9 * self.scale), TITLE)

    def run(self, command: Sequence[str], cwd: Path | None = None) -> float:
        """Run a program to its end and return how long it took, in ms."""
        began = time.perf_counter()
        subprocess.run(command, env=self.env, cwd=cwd or self.home, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        return (time.perf_counter() - began) * 1000

    def interpreter(self) -> float:
        """Start the interpreter, which does nothing, and return how long that took, in ms."""
        return self.run([sys.executable, "-c", "pass"])

    @cached_property
    def textual(self) -> float:
        """What starting the interpreter and importing Textual costs, in ms."""
        return median(9, lambda: self.run([sys.executable, "-c", "import textual.app"]))

    @property
    def bare(self) -> list[str]:
        """The command of the barest list, the limit of everything on screen."""
        return [sys.executable, "-m", "tests.bench.bare"]

    @property
    def root(self) -> Path:
        """The checkout, where ``bare`` runs."""
        return ROOT


def median(times: int, measure: Callable[[], float]) -> float:
    """Return the median of several measurements, after one that does not count."""
    measure()
    return statistics.median(measure() for _ in range(times))


def paired(times: int, measure: Callable[[], float], limit: Callable[[], float]) -> tuple[float, float]:
    """Return the medians of a measurement and of its limit, taken in turns: what else the machine does then slows both."""
    measure(), limit()
    both = [(measure(), limit()) for _ in range(times)]
    return statistics.median(m for m, _ in both), statistics.median(x for _, x in both)


def timed(work: Callable[[], object]) -> float:
    """Return how long a call took, in ms, the collector's debts of earlier ones paid first."""
    gc.collect()
    began = time.perf_counter()
    kept = work()
    took = (time.perf_counter() - began) * 1000
    del kept
    return took


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
