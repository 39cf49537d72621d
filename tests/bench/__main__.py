"""``python -m tests.bench``: measures on generated stores, each figure beside its limit, measured in the same run."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench import diff, reading, screen, start
from tests.bench.bench import Bench
from tests.bench.results import NotRun, Result, as_json, doubled, land, landed, table
from tests.bench.terminal import Gone

MEASURES: dict[str, Callable[[Bench], Iterator[Result]]] = {
    "start": start.start,
    "list": reading.lists,
    "open": reading.opens,
    "files": reading.files,
    "diff": diff.diffs,
    "first": screen.first,
    "keys": screen.keys,
    "panes": screen.panes,
    "append": screen.append,
    "idle": screen.idle,
    "memory": screen.memory,
}
NEEDED_GB = 9.0


def measure(bench: Bench, name: str) -> list[Result | NotRun]:
    """Make one group of measurements; what the program cannot do yet, or does not survive, is said, not hidden."""
    made: list[Result | NotRun] = []
    try:
        made.extend(MEASURES[name](bench))
    except ImportError as missing:
        made.append(NotRun(name, f"not here yet: {missing.name or missing}"))
    except Gone as gone:
        bench.log(f"  {name}: {gone}")
        made.append(Result(name, 0, 1, "", fault=str(gone).splitlines()[0]))
    return made


def main() -> int:
    """Run; return 1 where a ratio has doubled, a condition failed, or a program did not survive."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of the stores; 1 = the stated sizes (4 GB), 0.1 = a tenth")
    parser.add_argument("--only", action="append", choices=list(MEASURES), help="this group only; repeatable")
    parser.add_argument("--update", action="store_true", help="keep these ratios as the figures to compare with")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results for programs, too")
    parser.add_argument("--folder", type=Path, help="where the stores are written (a temporary folder in it, removed at the end)")
    options = parser.parse_args()

    free = shutil.disk_usage(options.folder or tempfile.gettempdir()).free / 1e9
    if free < NEEDED_GB * options.scale + 1:
        print(f"{NEEDED_GB * options.scale + 1:.1f} GB of disk are needed, {free:.1f} GB are free", file=sys.stderr)
        return 2
    before, results = landed(options.scale), []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="ctx-inspect-bench-", dir=options.folder) as folder:
        bench = Bench(Path(folder), options.scale, lambda line: print(line, file=sys.stderr, flush=True))
        for name in options.only or MEASURES:
            bench.log(f"{name} …")
            made = measure(bench, name)
            if any(isinstance(r, Result) and doubled(r, before) for r in made):
                bench.log("  doubled; once more, because a busy machine does that too")
                again = {r.name: r for r in measure(bench, name) if isinstance(r, Result) and not r.fault}
                made = [min((r, again.get(r.name, r)), key=lambda x: x.ratio) if isinstance(r, Result) else r for r in made]
            results += made
    print(f"scale {options.scale:g}, Python {platform.python_version()}, {time.perf_counter() - began:.0f} s\n")
    print(table(results, before))
    if options.json:
        options.json.write_text(as_json(options.scale, results, before) + "\n", "utf-8")
    real = [r for r in results if isinstance(r, Result)]
    if options.update:
        land(options.scale, [r for r in real if not r.fault])
    bad = [r.name for r in real if r.fault or (not options.update and doubled(r, before))]
    over = [r.name for r in real if r.verdict == "OVER"]
    if over:
        print(f"\nover budget: {', '.join(over)}")
    if bad:
        print(f"\nFAILED: {', '.join(bad)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
