"""Pi's figures and times: what the file does not record is absent, what Pi's rules say is estimated."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import msgspec
import pytest
from ctx_inspect.core.budget import limit_of, request_window, turn_window
from ctx_inspect.core.model import Confirmed, Estimated, Model, Raw, Unavailable, Why, Witness, value_of
from ctx_inspect.core.schema.common import cleaner
from ctx_inspect.core.schema.turns import turns_of
from ctx_inspect.core.sources.pi import PiSource
from ctx_inspect.core.sources.pi import source as source_module
from ctx_inspect.core.sources.pi.conversation import Conversation
from ctx_inspect.core.sources.pi.listing import Glance, glance
from ctx_inspect.core.sources.pi.replay import Replay
from ctx_inspect.core.sources.pi.session import SessionFile
from ctx_inspect.core.timeline import timeline

from tests.builders.pi import PiStore, Spent
from tests.core.sources.pi.reading import opened, source_of

LARGE = Model(Raw("acme"), Raw("large"))


@pytest.fixture
def store(tmp_path: Path) -> PiStore:
    return PiStore(tmp_path)


def models(store: PiStore, **fields: object) -> PiSource:
    (store.agent / "models.json").write_text(json.dumps({"providers": {"acme": {"models": [{"id": "large", **fields}]}}}), encoding="utf-8")
    return source_of(store.sessions)


# --- limits --------------------------------------------------------------------------------------------------


def test_pis_threshold_is_its_rule_and_no_record(store: PiStore) -> None:
    window = models(store, contextWindow=200_000).window(LARGE)
    assert window.claims[0].tokens == Confirmed(200_000, Witness.CONFIG)
    assert window.threshold == Estimated(200_000 - 16_384, "Pi's rule: window − reserve")


def test_a_window_that_pi_takes_by_default_is_estimated(store: PiStore) -> None:
    window = models(store).window(LARGE)
    assert window.claims[0].tokens == Estimated(128_000, "Pi's default")
    assert isinstance(limit_of(window.claims), Estimated)
    assert window.threshold == Estimated(128_000 - 16_384, "Pi's rule: window − reserve")


@pytest.mark.parametrize("stated", [-1, -200_000, 1e300])
def test_a_window_that_is_no_number_of_tokens_is_no_claim(store: PiStore, stated: float) -> None:
    window = models(store, contextWindow=stated).window(LARGE)
    assert window.claims == ()
    assert isinstance(window.threshold, Unavailable)


@pytest.mark.parametrize("stated", [0, 6_748, 10**9])
def test_no_forecast_comes_of_a_window_that_nobody_believes(store: PiStore, stated: int) -> None:
    s = store.session()
    s.turn("one", usage=Spent(10_000))
    s.turn("two", usage=Spent(12_000))
    source = models(store, contextWindow=stated)
    found = timeline(source.open(s.id), lambda m: source.window(m, s.id))
    assert isinstance(found.limit, Unavailable)
    assert isinstance(found.threshold, Unavailable)
    assert isinstance(found.forecast, Unavailable)


def test_the_projects_own_settings_count_for_its_sessions_alone(store: PiStore, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    (project / ".pi").mkdir(parents=True)
    (project / ".pi" / "settings.json").write_text('{"compaction": {"reserveTokens": 50000}}', encoding="utf-8")
    mine, other = store.session(cwd=str(project)), store.session(cwd=str(tmp_path))
    for s in (mine, other):
        s.turn("one")
    source = models(store, contextWindow=200_000)
    source.sessions()
    assert value_of(source.window(LARGE, other.id).threshold) == 200_000 - 16_384
    # whether Pi trusts the project is not recorded, so its settings may count or not
    assert isinstance(source.window(LARGE, mine.id).threshold, Unavailable)


# --- usage ---------------------------------------------------------------------------------------------------


def test_zeros_alone_are_no_report(store: PiStore) -> None:
    s = store.session()
    s.turn("one", usage=Spent(0, 0, 0, 0))
    (request,) = opened(s).turns[0].requests
    assert isinstance(request.usage, Unavailable)
    assert request.usage.why is Why.NOT_REPORTED
    assert isinstance(turn_window(opened(s).turns[0]), Unavailable)


def test_a_row_without_input_has_no_window(store: PiStore) -> None:
    s = store.session()
    s.user("one")
    s.message("assistant", content=[{"type": "text", "text": "x"}], provider="acme", model="large", stopReason="stop",
              usage={"output": 5, "cacheRead": 40_000})  # fmt: skip
    (request,) = opened(s).turns[0].requests
    assert value_of(request.usage) is not None
    assert isinstance(request_window(request), Unavailable)


# --- times ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stamp", [None, "yesterday", "1970-01-01T00:00:00.000Z"])
def test_rows_without_a_time_have_none(store: PiStore, stamp: str | None) -> None:
    s = store.session()
    first = s.turn("one")
    s.compaction("past", kept=first[0])
    s.turn("two")
    lines: list[bytes] = []
    for line in s.path.read_bytes().splitlines():
        entry = json.loads(line)
        if entry["type"] != "session":
            entry.pop("timestamp")
            if stamp is not None:
                entry["timestamp"] = stamp
            if "message" in entry:
                entry["message"].pop("timestamp", None)
        lines.append(json.dumps(entry).encode())
    s.path.write_bytes(b"\n".join(lines) + b"\n")
    source = source_of(s)
    ledger = source.open(source.sessions().sessions[0].id)
    assert len(ledger.turns) == 2
    answer = msgspec.to_builtins(turns_of(ledger, timeline(ledger, source.window), lambda _: None, cleaner(False)))
    assert "1970" not in repr(answer)
    for turn in answer["turns"]:
        assert "at" not in turn
        assert all("at" not in row for row in (*turn["steps"], *turn["other"], *turn["events"]))
    assert [len(t["events"]) for t in answer["turns"]] == [1, 0]


# --- titles --------------------------------------------------------------------------------------------------


def test_the_beginning_that_names_a_session_is_kept_beyond_what_is_shown(store: PiStore) -> None:
    s = store.session()
    key = "sk-ant-api03-" + "Zx9" * 14
    s.turn("word " * 38 + key + " and more")
    assert key in (glance(s.path).first or "")


# --- errors on the way ---------------------------------------------------------------------------------------


def test_lists_are_made_after_a_failure_as_if_there_had_been_none(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session()
    first = s.turn("one")
    s.turn("two")
    s.go(first[-1])
    s.turn("other")
    ledger = opened(s)
    right = [len(r.context.messages) for t in opened(s).turns for r in t.requests if r.context is not None]
    feed, calls = Conversation.feed, [0]

    def fails_once(self: Conversation, entry: object) -> None:
        calls[0] += 1
        if calls[0] == 3:
            raise MemoryError
        feed(self, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(Conversation, "feed", fails_once)
    requests = [r for t in ledger.turns for r in t.requests if r.context is not None]
    with pytest.raises(MemoryError):
        len(requests[-1].context.messages)  # type: ignore[union-attr]
    assert [len(r.context.messages) for r in requests] == right  # type: ignore[union-attr]
    assert all(r.context is not None for h in ledger.hidden for r in h.requests)
    assert [len(r.context.messages) for h in ledger.hidden for r in h.requests] == [3]  # type: ignore[union-attr]


def test_branches_of_branches_need_no_deep_stack(store: PiStore) -> None:
    replay = Replay("s")
    innermost = replay
    for _ in range(3 * sys.getrecursionlimit()):
        innermost = innermost.branch()
    chain = innermost.take(None)
    assert len(chain) == 0


def test_a_read_that_fails_is_done_again(store: PiStore, monkeypatch: pytest.MonkeyPatch) -> None:
    s = store.session()
    s.turn("one")
    file = SessionFile(s.path)
    file.refresh(lambda _: True)
    s.turn("two")
    read, fail = file._reader.read, [True]

    def broken(*args: object, **more: object) -> object:
        for n, record in enumerate(read(*args, **more)):  # type: ignore[arg-type]
            if n == 1 and fail.pop():
                raise MemoryError
            yield record

    monkeypatch.setattr(file._reader, "read", broken)
    with pytest.raises(MemoryError):
        file.refresh(lambda _: True)
    fail.append(False)
    file.refresh(lambda _: True)
    info = source_of(s).sessions().sessions[0]
    assert [len(t.requests) for t in file.ledger(info).turns] == [1, 1]


# --- many sessions -------------------------------------------------------------------------------------------


def test_origins_of_many_forks_cost_one_look_each(store: PiStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = store.session(id="root")
    root.turn("one")
    for n in range(100):
        root.clone(f"fork-{n}")
    source = source_of(store.sessions)
    looked: list[Path] = []

    def look(path: Path) -> Glance:
        looked.append(path)
        return glance(path)

    monkeypatch.setattr(source_module, "glance", look)
    found = source.sessions()
    assert sum(value_of(i.forked_from) == "pi:root" for i in found.sessions) == 100
    assert len(looked) == 101
    away = tmp_path / "moved.jsonl"
    os.rename(root.path, away)
    for _ in range(3):
        gone = source.sessions()
        assert sum(isinstance(i.forked_from, Estimated) for i in gone.sessions) == 100
    assert len(looked) == 101  # where nothing is, nothing is opened
    os.rename(away, root.path)
    assert sum(isinstance(i.forked_from, Confirmed) for i in source.sessions().sessions) == 100
