"""Watching: what changed is told soon, once, in the source's own thread, and whatever happens it goes on."""

from __future__ import annotations

import os
import statistics
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest
from ctx_inspect.core.live import Live, LiveEvent
from ctx_inspect.core.live.hints import Wake, Watchfiles
from ctx_inspect.core.model import ProblemCode, Ref
from ctx_inspect.core.sources.base import SourceError

from tests.core.live_fakes import Fake, Heard, based


def append(file: Path, text: str = "{}\n") -> None:
    with file.open("a") as f:
        f.write(text)


@pytest.fixture(params=["kernel", "watchfiles", "polling"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The three ways to hear of a change; all rules hold for each."""
    if request.param == "watchfiles":
        monkeypatch.setattr("ctx_inspect.core.live.hints.Inotify", _no_inotify)
    return request.param


def _no_inotify() -> None:
    raise OSError("none here")


def live_of(way: str, sources: list[Fake], heard: Heard, **more: object) -> Live:
    return Live(sources, heard, notify=way != "polling", **more)  # type: ignore[arg-type]


def test_append_to_a_file_is_told(tmp_path: Path, way: str) -> None:
    file = tmp_path / "s1.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        assert heard.events == []
        append(file)
        _, event = heard.wait(lambda e: e.ids == {"s1"})
        assert (event.source, event.listing, event.gone, event.error) == (source, False, False, None)


def test_new_file_and_new_folder_are_told(tmp_path: Path, way: str) -> None:
    source, heard = Fake(tmp_path), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        append(tmp_path / "a.jsonl")
        heard.wait(lambda e: e.ids == {"a"} and e.listing, 8)
        deep = tmp_path / "--home-ann--"
        deep.mkdir()
        append(deep / "b.jsonl")
        heard.wait(lambda e: e.ids is not None and "b" in e.ids and e.listing, 8)
        heard.clear()
        append(deep / "b.jsonl")
        heard.wait(lambda e: e.ids == {"b"} and not e.listing, 8)


def test_deleted_then_back(tmp_path: Path, way: str) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        file.unlink()
        _, gone = heard.wait(lambda e: e.gone)
        assert gone.ids is None
        time.sleep(0.3)
        assert sum(e.gone for _, e in heard.events) == 1, "told once"
        append(file)
        _, back = heard.wait(lambda e: e.back)
        assert (back.ids, back.listing, back.gone) == (None, True, False)
        start = len(heard.events)
        append(file)
        heard.wait(lambda e: e.ids == {"s"}, start=start)


def test_folder_that_does_not_exist_yet(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "agent" / "sessions"
    source, heard = Fake(folder), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        heard.wait(lambda e: e.gone)
        folder.mkdir(parents=True)
        append(folder / "first.jsonl")
        heard.wait(lambda e: e.back)
        start = len(heard.events)
        append(folder / "second.jsonl")
        heard.wait(lambda e: e.ids is not None and "second" in e.ids, 8, start=start)


def test_folder_is_replaced(tmp_path: Path, way: str) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    append(folder / "a.jsonl")
    source, heard = Fake(folder), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        folder.rename(tmp_path / "old")
        heard.wait(lambda e: e.gone, 8)
        folder.mkdir()
        append(folder / "b.jsonl")
        heard.wait(lambda e: e.back, 8)
        start = len(heard.events)
        append(folder / "b.jsonl")
        heard.wait(lambda e: e.ids == {"b"}, 8, start=start)
        start = len(heard.events)
        append(tmp_path / "old" / "a.jsonl")  # no longer ours
        time.sleep(0.3)
        assert heard.events[start:] == []


@pytest.mark.parametrize("how", ["truncated", "replaced at equal size"])
def test_truncated_or_replaced(tmp_path: Path, way: str, how: str) -> None:
    file = tmp_path / "s.jsonl"
    append(file, '{"a":1}\n{"b":2}\n')
    source, heard = Fake(file), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        if how == "truncated":
            os.truncate(file, 8)
        else:
            other = tmp_path / "other"
            other.write_text('{"x":1}\n{"y":2}\n')
            other.rename(file)
        heard.wait(lambda e: e.ids == {"s"})


def test_an_error_is_told_once_and_recovers(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    with Live([source], heard) as live:
        based(live, source)
        source.fail = SourceError(ProblemCode.LOCKED, "locked for longer than it may be", file)
        append(file)
        _, event = heard.wait(lambda e: e.error is not None)
        assert event.error is not None
        assert (event.error.code, event.error.message) == (ProblemCode.LOCKED, "locked for longer than it may be")
        for _ in range(4):
            append(file)
            time.sleep(0.06)
        assert len(heard.events) == 1, "told once, not at every look"
        source.fail = SourceError(ProblemCode.CORRUPT, "a page is damaged", file)
        heard.wait(lambda e: e.error is not None and e.error.code is ProblemCode.CORRUPT)
        source.fail = None
        _, back = heard.wait(lambda e: e.back)
        assert back.ids is None
        assert back.listing


def test_an_unexpected_error_shows_its_type_and_never_its_text(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    faults: list[tuple[str, BaseException]] = []
    with Live([source], heard, on_fault=lambda where, e: faults.append((where, e))) as live:
        based(live, source)
        source.fail = ValueError("sk-secret of the store")
        append(file)
        _, event = heard.wait(lambda e: e.error is not None)
        assert event.error is not None
        assert "ValueError" in event.error.message
        assert "secret" not in event.error.message
        source.fail = None
        heard.wait(lambda e: e.back)
    assert faults
    assert faults[0][0] == "looking for news"


def test_an_error_at_the_first_look_recovers(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    source.fail = SourceError(ProblemCode.PERMISSION, "no permission", file)
    with Live([source], heard):
        heard.wait(lambda e: e.error is not None)
        source.fail = None
        heard.wait(lambda e: e.back)
        append(file)
        heard.wait(lambda e: e.ids == {"s"})


def test_a_listener_that_raises_does_not_end_the_watch(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()

    def tell(event: LiveEvent) -> None:
        heard(event)
        raise RuntimeError("the app is closing")

    with Live([source], tell) as live:
        based(live, source)
        append(file)
        heard.wait(lambda e: e.ids == {"s"})
        start = len(heard.events)
        time.sleep(0.12)
        append(file)
        heard.wait(lambda e: e.ids == {"s"}, start=start)


def test_all_reads_and_events_of_a_source_are_in_one_thread(tmp_path: Path) -> None:
    sources = [Fake(tmp_path / f"{n}.jsonl") for n in range(3)]
    for source in sources:
        append(source.path)
    heard = Heard()
    with Live(sources, heard) as live:
        for source in sources:
            reader = live.reader(source)
            reader.sessions().result(5)
            reader.text(Ref("s", "r", "f"), 10).result(5)
            with pytest.raises(LookupError):
                reader.open("x").result(5)
            append(source.path)
        heard.wait(lambda e: e.source is sources[2])
    assert all(len(source.threads) == 1 for source in sources)
    assert len(frozenset().union(*(source.threads for source in sources))) == 3
    assert threading.get_ident() not in frozenset().union(*(source.threads for source in sources))


def test_newest_request_first_and_stale_ones_are_cancelled(tmp_path: Path) -> None:
    append(tmp_path / "s.jsonl")
    source = Fake(tmp_path / "s.jsonl")
    go = threading.Event()
    with Live([source], Heard()) as live:
        reader = live.reader(source)
        blocker = reader.ask(lambda s: go.wait(5))
        while not blocker.running():
            time.sleep(0.001)
        first = reader.open("a", lane="pane")
        second = reader.open("b", lane="pane")
        other = reader.open("c")
        dropped = reader.open("d")
        assert dropped.cancel()
        go.set()
        with pytest.raises(CancelledError):
            first.result(5)
        for future in (second, other):
            with pytest.raises(LookupError):
                future.result(5)
    assert source.order == ["c", "b"]


def test_closing_cancels_what_waits_and_gives_all_descriptors_back(tmp_path: Path) -> None:
    append(tmp_path / "s.jsonl")
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    source = Fake(tmp_path / "s.jsonl")
    go = threading.Event()
    live = Live([source], Heard()).start()
    reader = live.reader(source)
    blocker = reader.ask(lambda s: go.wait(5))
    while not blocker.running():
        time.sleep(0.001)
    waiting = reader.sessions()
    assert not live.close(0.05), "a read that runs is not interrupted"
    assert waiting.cancelled()
    go.set()
    assert live.close(5)
    assert blocker.result(0) is True
    assert reader.sessions().cancelled()
    Live([Fake(tmp_path / "s.jsonl")], Heard()).close()  # never started
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_new_sources_are_found_and_known_ones_are_not_found_twice(tmp_path: Path) -> None:
    append(tmp_path / "a.jsonl")
    first = Fake(tmp_path / "a.jsonl")
    heard = Heard()

    def discover() -> list[Fake]:
        return [Fake(p) for p in sorted(tmp_path.glob("*.jsonl"))]

    with Live([first], heard, discover=discover) as live:
        append(tmp_path / "b.jsonl")
        _, event = heard.wait(lambda e: e.new, 4)
        assert event.source.path == tmp_path / "b.jsonl"
        assert (event.ids, event.listing) == (None, True)
        time.sleep(1.2)
        assert [s.path.name for s in live.sources] == ["a.jsonl", "b.jsonl"]
        assert live.sources[0] is first
        heard.clear()
        append(tmp_path / "b.jsonl")
        heard.wait(lambda e: e.ids == {"b"} and not e.new)


def test_failing_discovery_is_tried_again(tmp_path: Path) -> None:
    heard, faults = Heard(), []
    calls = iter([OSError("no"), None])

    def discover() -> list[Fake]:
        error = next(calls, None)
        if error:
            raise error
        return [Fake(tmp_path / "a.jsonl")]

    append(tmp_path / "a.jsonl")
    with Live([], heard, discover=discover, on_fault=lambda where, e: faults.append(where)):
        heard.wait(lambda e: e.new, 4)
    assert faults == ["looking for stores"]


def test_a_burst_is_a_few_events_and_its_end_is_never_lost(tmp_path: Path, way: str) -> None:
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(file), Heard()
    with live_of(way, [source], heard) as live:
        based(live, source)
        append(file)
        heard.wait(lambda e: e.ids == {"s"})
        heard.clear()
        began = time.perf_counter()
        with file.open("a", buffering=1) as f:
            for _ in range(2000):
                f.write("{}\n")
        took = time.perf_counter() - began
        last = file.stat().st_size
        until = time.perf_counter() + 1
        while time.perf_counter() < until and live.reader(source).ask(lambda s: s.changed(None).cursor).result(5)["s"][2] != last:
            time.sleep(0.01)
        time.sleep(0.2)
        assert 1 <= len(heard.events) <= took / 0.05 + 6


def test_hints_that_cannot_be_had_are_replaced_by_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the kernel's limits are used up: neither watches nor instances are to be had."""
    monkeypatch.setattr("ctx_inspect.core.live.inotify.Inotify._watch", lambda self, path: None)
    append(tmp_path / "s.jsonl")
    source, heard = Fake(tmp_path), Heard()
    with Live([source], heard) as live:
        based(live, source)
        append(tmp_path / "s.jsonl")
        heard.wait(lambda e: e.ids == {"s"}, 3)


def test_watchfiles_that_fails_is_replaced_by_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctx_inspect.core.live.hints.Inotify", _no_inotify)

    def broken(*_: object, **__: object) -> None:
        raise OSError("limit")

    monkeypatch.setattr("watchfiles.watch", broken)
    append(tmp_path / "s.jsonl")
    source, heard = Fake(tmp_path), Heard()
    with Live([source], heard) as live:
        based(live, source)
        append(tmp_path / "s.jsonl")
        heard.wait(lambda e: e.ids == {"s"}, 8)


def test_idle_makes_no_look_but_the_slow_one(tmp_path: Path) -> None:
    append(tmp_path / "s.jsonl")
    file, folder = Fake(tmp_path / "s.jsonl"), Fake(tmp_path)
    with Live([file, folder], Heard()) as live:
        based(live, file)
        based(live, folder)
        a, b = file.looks, folder.looks
        time.sleep(2.3)
        assert file.looks - a <= 3
        assert folder.looks - b <= 1


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc: wakes of a thread cannot be counted")
def test_idle_threads_sleep(tmp_path: Path) -> None:
    append(tmp_path / "s.jsonl")
    source = Fake(tmp_path)
    with Live([source], Heard()) as live:
        tid = live.reader(source).ask(lambda s: threading.get_native_id()).result(5)
        based(live, source)
        time.sleep(0.2)
        before = _switches(tid)
        time.sleep(2)
        assert _switches(tid) - before <= 4


def _switches(tid: int) -> int:
    status = Path(f"/proc/self/task/{tid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("voluntary_ctxt")))


@pytest.mark.bench
@pytest.mark.parametrize("after", ["idle", "activity"])
def test_an_append_is_told_within_a_tenth_of_a_second(tmp_path: Path, after: str) -> None:
    """A measurement, so none of the suite's; ``tests/bench`` has its own of the same path."""
    file = tmp_path / "s.jsonl"
    append(file)
    source, heard = Fake(tmp_path), Heard()
    times: list[float] = []
    with Live([source], heard) as live:
        based(live, source)
        for _ in range(10):
            if after == "activity":
                append(file)
                heard.wait(lambda e: e.ids == {"s"})
            time.sleep(0.13)
            heard.clear()
            began = time.perf_counter()
            append(file)
            at, _ = heard.wait(lambda e: e.ids == {"s"})
            times.append(at - began)
    assert statistics.median(times) < 0.1


def test_watchfiles_wakes_the_sleeper(tmp_path: Path) -> None:
    wake = Wake(notify=True, kernel=False)
    try:
        assert isinstance(wake._notifier, Watchfiles)
        wake.want([tmp_path])
        assert wake.watched
        time.sleep(0.3)
        append(tmp_path / "x")
        began = time.perf_counter()
        hinted = False
        while not hinted and time.perf_counter() - began < 5:
            hinted = wake.wait(1)
        assert hinted
    finally:
        wake.close()


def test_wake_from_another_thread_and_after_closing(tmp_path: Path) -> None:
    wake = Wake(notify=False)
    timer = threading.Timer(0.05, wake.wake)
    timer.start()
    assert wake.wait(100) is False  # nobody else ends this wait before the test's own time limit does
    timer.join()
    for _ in range(100_000):
        wake.wake()  # a full pipe is no error
    assert wake.wait(0) is False
    wake.close()
    wake.wake()
    wake.close()
