"""What the OpenCode source tells of real stores, against what the model really received.

A logged request belongs to the row that was open when it arrived: same session, sent while the row's answer was
awaited; re-sends of one row all belong to it. None is matched by its number, and a difference that no named function
of :mod:`tests.corpus.opencode_wire` predicts fails.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.model import Category, Confirmed, Ledger, MarkKind, Part, Purpose, Request, Unavailable, value_of
from ctx_inspect.core.sources.opencode import OpenCodeSource, probe

from tests.conftest import corpus_folder
from tests.corpus import opencode_wire as wire

CORPUS = corpus_folder()
FOLDERS = sorted(p.parent for p in CORPUS.glob("opencode*/opencode.db") if (p.parent / "requests.jsonl.gz").exists())
PLUGIN = sorted(CORPUS.glob("magic-context/*/data/opencode/opencode.db"))
WHOLE = 1 << 30

needs_corpus = pytest.mark.skipif(not FOLDERS, reason=f"no OpenCode corpus in {CORPUS.name}/opencode")
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)


def requests_of(folder: Path) -> list[dict[str, Any]]:
    with gzip.open(folder / "requests.jsonl.gz", "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def marks_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "marks.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def ledgers(source: OpenCodeSource) -> dict[str, Ledger]:
    return {info.id: source.open(info.id) for info in source.sessions().sessions}


def rows_of(ledger: Ledger) -> Iterator[Request]:
    yield from ledger.before
    for turn in ledger.turns:
        yield from turn.requests
    for others in ledger.other.values():
        yield from others


def hidden_rows(ledger: Ledger) -> list[Request]:
    return [r for h in ledger.hidden for r in h.requests]


def awaited(row: Request, at: float) -> bool:
    """Tell whether a request that arrived at ``at`` (seconds) can be the one this row is the answer of."""
    return row.call and not row.inherited and row.at <= at * 1000 + 1 and (row.done is None or at * 1000 <= row.done + 1)


@needs_corpus
@each_folder
def test_the_rebuilt_list_of_each_request_is_what_was_sent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = OpenCodeSource(folder / "opencode.db")
    made = ledgers(source)

    @cache
    def text(part: Part) -> str:
        assert part.ref is not None
        known = source.text(part.ref, WHOLE)
        assert isinstance(known, Confirmed), (part, known)
        return str(known.value)

    figures: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    answered: set[str] = set()
    wrong: list[str] = []
    for row in requests_of(folder):
        session = row["headers"].get("x-session-id")
        if session not in made:
            skipped["session deleted"] += 1
            continue
        ledger = made[session]
        if not row["body"].get("tools"):
            summaries = [r for r in rows_of(ledger) if r.purpose is Purpose.COMPACTION and awaited(r, row["t"])]
            skipped["compaction" if summaries else "title"] += 1
            continue
        rows = [r for r in rows_of(ledger) if r.purpose is Purpose.PRIMARY and awaited(r, row["t"])]
        if not rows and any(awaited(r, row["t"]) for r in hidden_rows(ledger)):
            skipped["its messages were reverted and deleted"] += 1
            continue
        assert len(rows) == 1, (row["t"], [r.id for r in rows])
        answered.add(rows[0].id)
        assert rows[0].context is not None
        predicted = wire.predict(rows[0].context, text, row["path"])
        if predicted.sent != wire.sent(row):
            wrong.append(f"{rows[0].id}: {difference(predicted.sent, wire.sent(row))}")
            continue
        figures["equal"] += 1
        figures["of them only with what the harness adds"] += bool(predicted.added)
        for what in predicted.added:
            figures[what] += 1
    with capsys.disabled():
        print(f"\n{folder.name}: {dict(figures)}; skipped {dict(skipped)}")
    assert not wrong, "\n".join(wrong)
    # each row that a model was called for was found on the wire
    called = {r.id for ledger in made.values() for r in rows_of(ledger) if r.call and r.purpose is Purpose.PRIMARY and not r.inherited}
    assert called == answered
    assert figures["equal"] > 0


def difference(ours: wire.Sent, theirs: wire.Sent) -> str:
    for n, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a != b:
            return f"message {n}: {str(a)[:300]} | {str(b)[:300]}"
    return f"{len(ours)} messages, sent {len(theirs)}"


@needs_corpus
@each_folder
def test_usage_is_what_each_row_records(folder: Path) -> None:
    """Read the rows a second time, by other means, and compare every row's figures and turn."""
    source = OpenCodeSource(folder / "opencode.db")
    db = sqlite3.connect(f"file:{folder / 'opencode.db'}?immutable=1", uri=True)
    for id, ledger in ledgers(source).items():
        stored = {m: json.loads(d) for m, d in db.execute("SELECT id, data FROM message WHERE session_id = ?", (id,))}
        rows = list(rows_of(ledger))
        assert {r.id for r in rows} == {m for m, d in stored.items() if d["role"] == "assistant"}
        for r in rows:
            tokens = stored[r.id]["tokens"]
            usage = value_of(r.usage)
            if usage is None:
                assert not any((tokens["input"], tokens["output"], tokens["cache"]["read"], tokens["cache"]["write"]))
            else:
                assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (
                    tokens["input"],
                    tokens["output"],
                    tokens["cache"]["read"],
                    tokens["cache"]["write"],
                )
            assert isinstance(r.attempts, Unavailable)
        for turn in ledger.turns:
            assert all(stored[m]["role"] == "user" for m in turn.ids)
            # with nothing queued, a turn's steps answer its last prompt or a row that the harness wrote after it
            assert [r.step for r in turn.requests if r.call] == list(range(1, sum(r.call for r in turn.requests) + 1))
    db.close()


@needs_corpus
@each_folder
def test_what_was_done_is_there_and_nothing_else(folder: Path) -> None:
    """Each mark names what the driver did; the ledger holds exactly that."""
    marks = marks_of(folder)
    if not marks:
        pytest.skip("no marks beside this store")
    source = OpenCodeSource(folder / "opencode.db")
    made = ledgers(source)
    main = made[next(m["sid"] for m in marks if m["mark"] == "main-session")]
    said = [m["mark"] for m in marks]

    def at(words: str) -> float:
        return next(m["t"] for m in marks if words in m["mark"]) * 1000

    # every prompt of the driver is a turn, in order; those it took back are hidden; shell, compactions, reverts and forks open none
    none = (
        "main-session",
        "revert)",
        "unrevert",
        "fork",
        "compaction auto",
        "manual compaction",
        "shell",
        "end main",
        "delete session",
        "deleted",
    )
    prompts = [m for m in marks if not any(n in m["mark"] for n in none)]
    spans = [(m["t"] * 1000, next((n["t"] * 1000 for n in marks if n["t"] > m["t"]), float("inf"))) for m in prompts]
    started = sorted([t.at for t in main.turns] + [h.at for h in main.hidden])
    assert len(started) == len(prompts)
    assert all(any(a <= s < b for a, b in spans) for s in started)
    # one prompt of two messages (a note without reply, then the next prompt) is one turn
    assert [len(t.ids) for t in main.turns if len(t.ids) > 1] == [2] * sum("noReply" in m for m in said)

    # aborts
    aborted = [r for t in main.turns for r in t.requests if r.error == "aborted"]
    assert len(aborted) == sum("abort" in m for m in said)
    errors = {r.error for t in main.turns for r in t.requests if r.error}
    assert errors == {"aborted", "auth", "other"}
    # retries leave nothing: one row each, whatever was re-sent
    retried = [t for t in main.turns if at("t27") <= t.at < at("t29")]
    assert [len(t.requests) for t in retried] == [1, 1]

    # compactions
    compactions = [m for m in main.marks if m.kind is MarkKind.COMPACTION]
    assert len(compactions) == sum("manual compaction" in m for m in said)
    assert [c.status for c in compactions] == ["succeeded"] * len(compactions)
    assert [c.reason for c in compactions] == ["auto" if "auto=true" in m else "manual" for m in said if "manual compaction" in m]
    assert sum(len(r) for r in main.other.values()) == len(compactions)

    # revert: the one that the next prompt made final; its rows come from the event log
    reverts = [m for m in main.marks if m.kind is MarkKind.REVERT]
    assert len(reverts) == sum("cleanup deletes" in m for m in said) == 1
    assert at("t37") <= reverts[0].at <= at("t38")
    assert [h.state for h in main.hidden] == ["reverted"]
    assert at("t34") <= main.hidden[0].at < at("t35")
    first = source.text(main.hidden[0].input[0], 10)
    assert value_of(first) == "tool error"
    assert [len(r.tools) for r in main.hidden[0].requests] == [1, 1, 0]

    # the subagent and the fork
    child = next(ledger for ledger in made.values() if ledger.info.parent)
    assert child.info.parent == main.key
    starters = [(r.id, t) for t in main.turns for r in t.requests if r.children]
    assert len(starters) == 1
    assert at("t23") <= starters[0][1].at < at("t24")
    assert [r.children for t in main.turns for r in t.requests if r.children] == [(child.key,)]
    assert len(child.turns) == 1
    fork = next(ledger for ledger in made.values() if "(fork" in (ledger.info.title or ""))
    assert value_of(fork.info.forked_from) == main.key
    assert fork.info.parent is None
    inherited = [t for t in fork.turns if t.inherited]
    assert [t.at for t in inherited] == [t.at for t in main.turns[: len(inherited)]]
    assert [t.inherited for t in fork.turns] == [True] * (len(fork.turns) - 1) + [False]
    assert [m.kind for m in fork.marks] == [MarkKind.FORK]
    assert {m.kind for m in main.marks} == {MarkKind.COMPACTION, MarkKind.REVERT, MarkKind.MODEL, MarkKind.AGENT}
    assert [m.detail for m in main.marks if m.kind is MarkKind.MODEL] == ["mock/other", "mockant/claude-mock", "mock/big"]
    assert [m.detail for m in main.marks if m.kind is MarkKind.AGENT] == ["plan", "build"]


@needs_corpus
@each_folder
def test_what_the_store_does_not_keep_says_so(folder: Path) -> None:
    source = OpenCodeSource(folder / "opencode.db")
    for ledger in ledgers(source).values():
        assert {what for what, _ in ledger.not_recorded} >= {"system prompt", "tools", "retries", "plugin rewrites"}
        for turn in ledger.turns:
            for r in turn.requests:
                if r.context is None:
                    continue
                grades = {c: r.context.coverage[c].grade for c in Category}
                assert grades[Category.CONVERSATION] == "estimated"
                assert grades[Category.TOOLS] == grades[Category.SYSTEM] == "unavailable"


@pytest.mark.skipif(not PLUGIN, reason=f"no stores written beside a plugin in {CORPUS.name}")
@pytest.mark.parametrize("path", PLUGIN, ids=lambda p: p.parents[2].name)
def test_a_store_written_beside_a_plugin_opens(path: Path) -> None:
    """The plugin rewrites what is sent, so no list is compared; turns and rows are."""
    assert probe(path)
    source = OpenCodeSource(path)
    listing = source.sessions()
    assert listing.problems == ()
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    assert len(listing.sessions) == db.execute("SELECT count(*) FROM session").fetchone()[0]
    for info in listing.sessions:
        ledger = source.open(info.id)
        assert ledger.problems == ()
        answers = db.execute("SELECT count(*) FROM message WHERE session_id = ? AND json_extract(data, '$.role') = 'assistant'", (info.id,))
        assert len(list(rows_of(ledger))) == answers.fetchone()[0]
        helper = (info.title or "").startswith("magic-context-")
        assert (info.helper is not None) == helper
        if info.parent is None:
            assert ledger.turns
    db.close()
