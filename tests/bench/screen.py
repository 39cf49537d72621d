"""What a person waits for, in a terminal: the first frame, keys, news; and what it costs to leave it open."""

from __future__ import annotations

import os
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.bench.bench import TITLE, Bench, percentile
from tests.bench.results import Result
from tests.bench.terminal import Gone, Terminal, inspector


def _titled(screen: str) -> bool:
    return TITLE[:24] in screen


def _number(n: int) -> tuple[str, str]:
    """Return how a turn's number may be written."""
    return f"{n}", f"{n:,}"


def _shows(n: int) -> object:
    """Return a test whether the screen holds a turn's number as a word of its own."""
    wanted = set(_number(n))
    return lambda screen: bool(wanted.intersection(screen.replace("│", " ").replace("▌", " ").split()))


def _in_timeline(tokens: str, screen: str) -> bool:
    """Whether a row of the timeline (not the head or gauge) holds these tokens."""
    return any(tokens in line.split("│")[0].split() for line in screen.splitlines()[4:])


def _newest_tokens(path: Path) -> str:
    """Return how a timeline writes the window of the newest turn of a Pi session; older turns near it have others."""
    with path.open("rb") as file:
        file.seek(-65536, os.SEEK_END)
        usages = re.findall(rb'"usage":\{"input":(\d+),"output":\d+,"cacheRead":(\d+)', file.read())
    return f"{sum(map(int, usages[-1])) / 1000:.1f}k"


def _bare(bench: Bench) -> Terminal:
    return Terminal(bench.bare, env=bench.env, cwd=bench.root)


def _open(bench: Bench, source: Path, *arguments: str, rows: int = 40, columns: int = 120) -> Terminal:
    return Terminal(inspector("--source", str(source), *arguments), env=bench.env, cwd=bench.home, rows=rows, columns=columns)


def _bare_frame(bench: Bench) -> float:
    with _bare(bench) as t:
        return (t.when(lambda screen: "barest" in screen, what="the bare list") - t.began) * 1000


def first(bench: Bench) -> Iterator[Result]:
    """From the start of the process to the frame that holds the session's title."""
    for name, source in (("OpenCode 4 GB", bench.opencode[0]), ("Pi 200 MB", bench.pi)):
        paint, title, last, all_of_it, bare = [], [], [], [], []
        for n in range(6):
            with _open(bench, source, columns=158) as t:  # wide enough for the tokens of a turn
                painted = t.when(lambda screen: bool(screen.strip()), what="anything")
                titled = t.when(_titled, what="the title")
                newest = whole = 0.0
                if source is bench.pi:
                    tokens = _newest_tokens(source)
                    newest = t.when(partial(_in_timeline, tokens), what=f"the newest turn ({tokens})")
                    whole = t.when(lambda screen: bool(re.search(r"[\d,]{3,} turns", screen)), what="the number of turns")
            limit = _bare_frame(bench)
            if n:  # the first one fills caches
                paint.append((painted - t.began) * 1000)
                title.append((titled - t.began) * 1000)
                last.append((newest - painted) * 1000)
                all_of_it.append((whole - painted) * 1000)
                bare.append(limit)
        limit = statistics.median(bare)
        yield Result(
            f"first frame with the title, {name}",
            statistics.median(title),
            limit,
            "first frame of a bare list",
            budget=400,
            note=f"first paint {statistics.median(paint):.0f} ms, import of Textual {bench.textual:.0f} ms",
            floor=60,
        )
        if source is bench.pi:
            yield Result(
                "last screen of a Pi session of 200 MB",
                statistics.median(last),
                limit,
                "first frame of a bare list",
                budget=200,
                note="from the first paint to the newest turn",
                floor=60,
            )
            yield Result(
                "all of a Pi session of 200 MB on the screen",
                statistics.median(all_of_it),
                limit,
                "first frame of a bare list",
                budget=800,
                note="from the first paint to the number of its turns",
                floor=60,
            )


def _presses(terminal: Terminal, keys: str) -> list[float]:
    took = []
    for key in keys:
        terminal.quiet(0.03)
        at = terminal.press(key)
        took.append((terminal.reply(at) - at) * 1000)
    return took


def keys(bench: Bench) -> Iterator[Result]:
    """From a key to the frame it makes, in a timeline of 100,000 turns."""
    with _bare(bench) as t:
        t.when(lambda screen: "barest" in screen)
        t.quiet(0.5)
        bare = _presses(t, "k" * 60)
    turns = int(100_000 * bench.scale)
    with _open(bench, bench.pi_turns) as t:
        t.when(_titled, what="the title")
        t.when(_shows(turns), 60, "the last turn")
        t.quiet(0.5)
        one = _presses(t, "k" * 60 + "j" * 20)
        moved = t.show()
        far = _presses(t, "\x15" * 15 + "gG" * 5)
    median, limit = statistics.median(one), statistics.median(bare)
    note = (
        f"{turns:,} turns, p95 {percentile(one, 95):.1f} ms, pages and ends {statistics.median(far):.1f} (p95 {percentile(far, 95):.1f}) ms"
    )
    fault = "" if _shows(turns - 40)(moved) else "the selection did not move"  # type: ignore[operator]
    yield Result("key to frame, median", median, limit, "a bare list", budget=16, note=note, fault=fault, floor=4)
    yield Result("key to frame, p95", percentile(one + far, 95), percentile(bare, 95), "a bare list, p95", budget=33, floor=10)


def panes(bench: Bench) -> Iterator[Result]:
    """From a key to the frame it makes, in a comparison of 300 items, and while all turns of a long session are compared."""
    with _bare(bench) as t:
        t.when(lambda screen: "barest" in screen)
        t.quiet(0.5)
        bare = _presses(t, "k" * 60)
    median, p95 = statistics.median(bare), percentile(bare, 95)
    with _open(bench, _many_items(Path(tempfile.mkdtemp(dir=bench.folder)))) as t:
        t.when(_titled, what="the title")
        t.when(lambda screen: "unchanged" in screen, what="the comparison")
        for key in "\tz":
            t.press(key)
            t.quiet(0.3)
        took = _presses(t, "j" * 60 + "k" * 20)
        shown = t.show()
        changes = _presses(t, "nN" * 10 + "zz" * 5)
    note = f"300 items, p95 {percentile(took, 95):.1f} ms, changes and folds {statistics.median(changes):.1f} ms"
    fault = "" if "tool 0" in shown or "tool_0" in shown else "the items are not on the screen"
    yield Result("key to frame in a comparison", statistics.median(took), median, "a bare list", budget=16, note=note, floor=4, fault=fault)
    yield Result("key to frame in a comparison, p95", percentile(took, 95), p95, "a bare list, p95", budget=33, floor=10)
    with _open(bench, bench.pi_turns) as t:
        t.when(_titled, what="the title")
        t.when(_shows(int(100_000 * bench.scale)), 60, "the last turn")
        busy = _presses(t, "k" * 60)  # at once: the turns are being compared now
    note = f"p95 {percentile(busy, 95):.1f} ms"
    yield Result("key to frame while turns are compared", statistics.median(busy), median, "a bare list", budget=16, note=note, floor=4)


def _many_items(folder: Path) -> Path:
    """Write a session in which one of 300 tools changes at the last turn."""
    from tests.builders.pi import PiStore

    def tool(n: int, more: str = "") -> dict[str, object]:
        return {"name": f"tool_{n:03}", "description": f"does something {n}{more}", "parameters": {"type": "object", "properties": {}}}

    file = PiStore(folder).session(id="items")
    file.rename(TITLE)
    file.system({"preamble": "You help."}, [tool(n) for n in range(300)])
    for n in range(3):
        file.turn(f"go on {n}")
    file.system(None, [tool(7, " and more")])
    file.turn("now")
    return file.path


def _told(path: Path, lines: list[bytes]) -> list[float]:
    """Return how long watchfiles takes to tell of each appended line, in ms."""
    from watchfiles import watch

    told: list[float] = []
    stop, seen = threading.Event(), threading.Event()

    def follow() -> None:
        for _ in watch(path.parent, step=5, debounce=20, stop_event=stop):
            told.append(time.perf_counter())
            seen.set()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    time.sleep(0.5)
    took = []
    for line in lines:
        seen.clear()
        began = time.perf_counter()
        with path.open("ab") as file:
            file.write(line)
        if seen.wait(2):
            took.append((told[-1] - began) * 1000)
        time.sleep(0.15)
    stop.set()
    thread.join()
    return took


def append(bench: Bench) -> Iterator[Result]:
    """From an appended row to the frame that shows its turn."""
    from tests.bench.stores import FastPi
    from tests.builders.opencode import OpenCodeDB

    folder = Path(tempfile.mkdtemp(dir=bench.folder))  # its own: what doubled is measured once more
    limits = _told(_empty(folder / "told" / "file"), [b"x\n"] * 20)
    limit = percentile(limits, 50)
    count, before = 60, 1000

    pi = FastPi(folder / "pi-live" / "--live--", id="live", title=TITLE)
    for n in range(before):
        pi.work(n, 400, steps=1)
    path = pi.close()

    def pi_turn(n: int) -> None:
        pi.work(n, 400, steps=1)

    def pi_append(n: int) -> float:
        with path.open("ab") as file:  # a whole turn in two lines, as Pi writes them
            pi._out = file
            pi_turn(n)
        at = time.perf_counter()
        pi._out = None
        return at

    db = OpenCodeDB(folder / "opencode-live" / "opencode.db", log=False)
    session = db.session(TITLE)
    for n in range(before):
        session.turn(f"go on {n}")
    db.flush()

    def db_append(n: int) -> float:
        session.turn(f"go on {n}")
        db.flush()
        return time.perf_counter()

    try:
        for name, source, write in (("Pi", path, pi_append), ("OpenCode", db.path, db_append)):
            took = []
            with _open(bench, source) as t:
                t.when(_titled, what="the title")
                t.when(_shows(before), what="the last turn")
                if "FOLLOW" not in t.show().upper():
                    t.press("f")
                t.quiet(1.0)
                for n in range(before + 1, before + 1 + count):
                    at = write(n)
                    took.append((t.when(_shows(n), 10, f"turn {n}") - at) * 1000)
                    time.sleep(0.11 if n % 3 else 1.3)  # in bursts, and after a pause
                    t.quiet(0.05)
            yield Result(
                f"append to screen, {name}, p99",
                percentile(took, 99),
                limit,
                "watchfiles tells of an append",
                budget=100,
                note=f"{count} appends, median {statistics.median(took):.0f} ms, worst {max(took):.0f} ms",
                floor=40,
            )
    finally:
        db.close()


def _empty(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def idle(bench: Bench) -> Iterator[Result]:
    """Left open on a store while nothing happens."""
    seconds = 20.0

    def rest(terminal: Terminal) -> tuple[float, float]:
        terminal.quiet(0.5)
        end = time.perf_counter() + 7  # it looks often for 5 s after the last change
        while time.perf_counter() < end:
            terminal.read(0.5)
        cpu, wakes, began = terminal.cpu(), terminal.wakes(), time.perf_counter()
        while time.perf_counter() < began + seconds:
            terminal.read(0.5)
        gone = time.perf_counter() - began
        if terminal.process.poll() is not None:
            raise Gone("the program ended while it was left alone")
        return (terminal.cpu() - cpu) / gone * 100, (terminal.wakes() - wakes) / gone

    with _bare(bench) as t:
        t.when(lambda screen: "barest" in screen)
        limit, bare_wakes = rest(t)
    for name, source in (("OpenCode", bench.opencode[0]), ("Pi", bench.pi)):
        with _open(bench, source) as t:
            t.when(_titled, what="the title")
            cpu, wakes = rest(t)
        yield Result(
            f"idle, {name}",
            cpu,
            max(limit, 0.01),
            "a bare list, left open",
            unit="%",
            budget=0.5,
            note=f"of a core; {wakes:.1f} wakes a second ({bare_wakes:.1f} bare)",
            floor=0.3,
        )


def memory(bench: Bench) -> Iterator[Result]:
    """Resident memory with a store of 2 GB open, and at its highest on the way there."""
    with _bare(bench) as t:
        t.when(lambda screen: "barest" in screen)
        t.quiet(0.5)
        limit = t.memory()
    for name, source in (("OpenCode 4 GB", bench.opencode[0]), ("Pi 2 GB of compactions", bench.pi_compactions)):
        with _open(bench, source) as t:
            t.when(_titled, 60, "the title")
            for _ in range(120):  # until it no longer works on it
                before = t.cpu()
                t.quiet(0.5)
                time.sleep(0.5)
                if t.cpu() - before < 0.1:
                    break
            for key in "6521jjkkgG":  # the tabs that read texts, and both ends
                t.press(key)
                t.quiet(0.2)
            now, peak = t.memory(), t.memory(peak=True)
        yield Result(
            f"memory, {name}",
            peak,
            limit,
            "a bare list, open",
            unit="MB",
            budget=250,
            note=f"at its highest; {now:.0f} MB afterwards; file of {os.stat(source).st_size / 1e9:.1f} GB",
            floor=15,
        )
