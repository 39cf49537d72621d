"""What the Pi source rebuilds against what a model really received.

Every logged request that an entry of a session answers is joined by its response id and compared: messages,
system prompt, tools. What Pi or an extension does behind the store is predicted by a named function from the
store (:mod:`tests.corpus.pi_wire`); a difference that none of them predicts fails.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ctx_inspect.core.model import Category, Confirmed, Context, Ledger, Ref, Request, value_of
from ctx_inspect.core.sources.pi import PiSource, find, probe

from tests.conftest import corpus_folder
from tests.corpus import pi_wire as wire

CORPUS = corpus_folder()
LOGS = sorted(CORPUS.glob("pi/requests-*.jsonl.gz"))
FOLDERS = sorted(p for p in CORPUS.glob("pi*/sessions") if p.is_dir())
WHOLE = 1 << 30

pytestmark = pytest.mark.skipif(not LOGS or not FOLDERS, reason=f"no Pi corpus in {CORPUS.name}/pi")


@dataclass
class Log:
    """A request log and what it tells of the models' abilities."""

    rows: dict[int, dict[str, Any]]
    inline: set[str] = field(default_factory=set)
    """Models that take system messages within the conversation."""


def read_log(path: Path) -> Log:
    with gzip.open(path, "rt", encoding="utf-8") as f:
        log = Log({row["n"]: row for row in map(json.loads, f)})
    for row in log.rows.values():
        if wire.has_inner_system(row["body"]):
            log.inline.add(row["body"]["model"])
    return log


def joined(log: Log, raw: wire.RawSession) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (entry id, request) for the answers in a session: same number in the response id, same time."""
    for entry in raw.entries.values():
        message = entry.get("message") or {}
        number = re.search(r"(\d+)$", message.get("responseId") or "")
        if message.get("role") != "assistant" or number is None:
            continue
        row = log.rows.get(int(number.group(1)))
        if row is not None and message["timestamp"] <= row["ts"] * 1000 <= wire.millis(entry["timestamp"]) + 1:
            yield entry["id"], row


def all_requests(ledger: Ledger) -> dict[str, Request]:
    rows = [*ledger.before, *(r for t in ledger.turns for r in t.requests), *(r for h in ledger.hidden for r in h.requests)]
    return {r.id: r for r in rows}


class Rebuilt:
    """What the product says a request carried, with its texts."""

    def __init__(self, source: PiSource, context: Context) -> None:
        self.source, self.context = source, context

    def text(self, ref: Ref | None) -> str:
        assert ref is not None
        known = self.source.text(ref, WHOLE)
        assert isinstance(known, Confirmed), (ref, known)
        return str(known.value)

    def messages(self) -> list[wire.Sent]:
        return [wire.sent_of(m, self.text) for m in self.context.messages]

    def prompt(self) -> str:
        parts = []
        for item in self.context.items:
            if item.category is Category.SYSTEM:
                ref = item.ref
                assert ref is not None
                whole = ref if ref.field == "system" else Ref(ref.session, ref.row, f"section/{item.k}")
                parts.append(self.text(whole))
        return "\n\n".join(p for p in parts if p)

    def tools(self) -> dict[str, dict[str, Any]]:
        return {str(i.k): json.loads(self.text(i.ref)) for i in self.context.items if i.category is Category.TOOLS}

    def records_prompt(self) -> bool:
        return self.context.coverage[Category.SYSTEM].grade != "unavailable"


@pytest.fixture(scope="module")
def sources() -> list[PiSource]:
    return [PiSource(folder, one_shot=True) for folder in FOLDERS]


@pytest.mark.parametrize("path", LOGS, ids=lambda p: p.name)
def test_requests_equal_what_was_sent(path: Path, sources: list[PiSource], capsys: pytest.CaptureFixture[str]) -> None:
    log = read_log(path)
    figures: Counter[str] = Counter()
    failures: list[str] = []
    answered: set[int] = set()
    for source in sources:
        for info in source.sessions().sessions:
            raw = wire.RawSession(Path(info.path))
            pairs = list(joined(log, raw))
            if not pairs:
                continue
            requests = all_requests(source.open(info.id))
            for id, row in pairs:
                figures["answers"] += 1
                answered.add(row["n"])
                request = requests.get(id)
                if request is None or request.context is None:
                    failures.append(f"{info.id} {id}: no request in the ledger")
                    continue
                body = row["body"]
                rebuilt = Rebuilt(source, request.context)
                inline = body["model"] in log.inline
                case = wire.Case(raw, id, body, inline)
                outcome = wire.compare_messages(case, rebuilt.messages())
                figures[f"messages {outcome.how}" if outcome.equal else "messages differ"] += 1
                if not outcome.equal:
                    failures.append(f"{info.id} {id}: messages: {outcome.how}")
                if not rebuilt.records_prompt():
                    figures["prompt not recorded"] += 1
                    continue
                outcome = wire.compare_prompt(case, rebuilt.prompt())
                figures[f"prompt {outcome.how}" if outcome.equal else "prompt differs"] += 1
                if not outcome.equal:
                    failures.append(f"{info.id} {id}: prompt: {outcome.how}")
                sent = wire.sent_tools(body)
                kept = rebuilt.tools()
                same = list(sent) == list(kept) and all(sent[n] == kept[n]["description"] for n in sent)
                figures["tools equal" if same else "tools differ"] += 1
                if not same:
                    failures.append(f"{info.id} {id}: tools {list(kept)} against {list(sent)}")
    figures["requests in the log"] = len(log.rows)
    figures["requests answered"] = len(answered)
    with capsys.disabled():
        print(f"\n{path.name}: " + ", ".join(f"{k} {v}" for k, v in sorted(figures.items())))
    assert not failures, "\n".join(failures)
    assert figures["answers"] > 0


def test_every_session_lists_and_opens(sources: list[PiSource]) -> None:
    for source in sources:
        assert probe(source.path)
        listing = source.sessions()
        files = sorted(str(p) for p in source.path.rglob("*.jsonl"))
        assert sorted(str(i.path) for i in listing.sessions) == files
        for info in listing.sessions:
            raw = wire.RawSession(Path(info.path))
            assert info.directory == raw.header["cwd"]
            ledger = source.open(info.id)
            active = {e["id"] for e in raw.path(raw.leaf)}
            answers = [e["id"] for e in raw.entries.values() if (e.get("message") or {}).get("role") == "assistant"]
            shown = [r.id for t in ledger.turns for r in t.requests if r.call] + [r.id for r in ledger.before]
            assert shown == [a for a in answers if a in active]
            hidden = [r.id for h in ledger.hidden for r in h.requests if r.call]
            assert sorted(hidden) == sorted(a for a in answers if a not in active)


def test_every_session_has_its_newest_name(sources: list[PiSource]) -> None:
    named = 0
    for source in sources:
        for info in source.sessions().sessions:
            lines = [line for line in Path(str(info.path)).read_bytes().split(b"\n") if b'"type":"session_info"' in line]
            names = [json.loads(line).get("name") for line in lines]
            if names and names[-1]:
                named += 1
                assert info.title == names[-1]
                assert source.open(info.id).info.title == names[-1]
    assert named


def test_usage_of_copies_is_counted_once(sources: list[PiSource]) -> None:
    for source in sources:
        rows: Counter[tuple[str, int]] = Counter()
        for info in source.sessions().sessions:
            for request in all_requests(source.open(info.id)).values():
                if request.call and not request.inherited and value_of(request.usage) is not None:
                    rows[request.id, request.at] += 1
        assert rows
        assert set(rows.values()) == {1}


def test_sections_split_without_loss(sources: list[PiSource]) -> None:
    for source in sources:
        for info in source.sessions().sessions:
            for request in all_requests(source.open(info.id)).values():
                if request.context is None:
                    continue
                rebuilt = Rebuilt(source, request.context)
                for item in request.context.items:
                    if item.ref is not None:
                        assert item.size == len(rebuilt.text(item.ref).encode()), item.k


def test_a_first_generation_file_opens() -> None:
    for path in sorted(CORPUS.glob("pi/migrated/v1-*.jsonl")):
        source = PiSource(path, one_shot=True)
        (info,) = source.sessions().sessions
        ledger = source.open(info.id)
        raw = [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
        users = [e for e in raw if (e.get("message") or {}).get("role") == "user"]
        assert len(ledger.turns) == len(users)
        assert sum(m.kind == "compaction" for m in ledger.marks) == sum(e["type"] == "compaction" for e in raw)


def test_a_home_like_the_corpus_is_found(tmp_path: Path) -> None:
    (tmp_path / ".pi" / "agent").mkdir(parents=True)
    (tmp_path / ".pi" / "agent" / "sessions").symlink_to(FOLDERS[0], target_is_directory=True)
    (looked,) = find({"HOME": str(tmp_path)}, tmp_path)
    assert looked.found == (tmp_path / ".pi" / "agent" / "sessions",)
    assert looked.place == "~/.pi/agent/sessions"
