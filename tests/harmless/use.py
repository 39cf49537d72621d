"""Uses stores as the program does, without its screen: lists, opens, reads texts, and goes on as long as there is news.

``python -m tests.harmless.use SECONDS PATH…`` does it in a process of its own and prints what it did as JSON.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from ctx_inspect.core.live import Live, LiveEvent
from ctx_inspect.core.model import Ledger, Listing
from ctx_inspect.core.sources import discovery
from ctx_inspect.core.sources.base import Source


class User:
    """Reads whatever is new, as a person who looks at everything would."""

    def __init__(self, sources: list[Source], **live: Any) -> None:
        self.did: Counter[str] = Counter()
        self.errors: list[str] = []
        self.ledgers: dict[tuple[str, str], Ledger] = {}
        self._news = threading.Event()
        self.live = Live(sources, self._heard, on_fault=lambda where, e: self._fail(where, e), **live)

    def __enter__(self) -> User:
        self.live.start()
        for source in self.live.sources:
            self._list(source)
        return self

    def __exit__(self, *_: object) -> None:
        self.live.close(10)

    def _fail(self, what: str, error: BaseException) -> None:
        self.errors.append(f"{what}: {type(error).__name__} {getattr(error, 'code', '')} {getattr(error, 'message', '')}")

    def _heard(self, event: LiveEvent) -> None:
        self.did["events"] += 1
        if event.error is not None:
            self.errors.append(f"event: {event.error.code} {event.error.message}")
        elif event.ids is None or event.listing:
            self._list(event.source)
        else:
            for id in event.ids:
                self._open(event.source, id)

    def _list(self, source: Source) -> None:
        self.live.reader(source).sessions().add_done_callback(lambda f: self._listed(source, f))

    def _listed(self, source: Source, future: Future[Listing]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self._fail("sessions", error)
            return
        self.did["listings"] += 1
        for info in future.result().sessions:
            self._open(source, info.id)

    def _open(self, source: Source, id: str) -> None:
        prior = self.ledgers.get((str(source.path), id))
        self.live.reader(source).open(id, prior).add_done_callback(lambda f: self._opened(source, id, f))

    def _opened(self, source: Source, id: str, future: Future[Ledger]) -> None:
        if future.cancelled():
            return
        if (error := future.exception()) is not None:
            self._fail("open", error)
            return
        ledger = self.ledgers[(str(source.path), id)] = future.result()
        self.did["opened"] += 1
        if ledger.turns and ledger.turns[-1].input:
            self.live.reader(source).text(ledger.turns[-1].input[0], 100).add_done_callback(self._read)
        for turn in ledger.turns[-1:]:
            for request in turn.requests:
                source.window(request.model, ledger.info.id)

    def _read(self, future: Future[Any]) -> None:
        if not future.cancelled() and future.exception() is None:
            self.did["texts"] += 1


def sources_of(paths: list[Path]) -> list[Source]:
    """Open stores by path, whatever their kind."""
    return [discovery.open_source(str(p)) for p in paths]


def main() -> None:
    """Use the stores named on the command line."""
    seconds, *paths = sys.argv[1:]
    began = time.monotonic()
    with User(sources_of([Path(p) for p in paths])) as user:
        print("ready", flush=True)
        time.sleep(max(0.0, float(seconds) - (time.monotonic() - began)))
    turns = {id: len(ledger.turns) for (_, id), ledger in user.ledgers.items()}
    print(json.dumps({"did": user.did, "errors": user.errors, "turns": turns}), flush=True)


if __name__ == "__main__":
    main()
