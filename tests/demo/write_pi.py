"""Writes the Pi sessions of the sample data: the projects `docs` and `infra`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.builders.pi import Call, PiFile, PiStore, Spent, project_context, sections, skills_section
from tests.demo import guide, release
from tests.demo import guide_system as kit
from tests.demo.filler import Dice, tokens
from tests.demo.meter import PER_MESSAGE, Meter, answer_size, results_of
from tests.demo.script import DOCS, HOME, Step, Turn

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
KEEP = 6_000
"""`compaction.keepRecentTokens` of the settings: what Pi keeps when it compacts, in tokens of four characters."""


class Writer:
    """Writes turns into one session file."""

    def __init__(self, file: PiFile, seed: str) -> None:
        self.file = file
        self.meter = Meter(0, seed)
        self.sections: dict[str, str] = {}
        self.tools: dict[str, Mapping[str, Any]] = {}
        self.patches: list[tuple[Mapping[str, str | None] | None, Sequence[Mapping[str, Any]], Sequence[str]]] = []
        self.turns = 0
        self.opened: list[str] = []

    def wait(self, seconds: float) -> None:
        self.file.now += int(seconds * 1000)

    def system(
        self, changed: Mapping[str, str | None] | None = None, tools: Sequence[Mapping[str, Any]] = (), removed: Sequence[str] = ()
    ) -> None:
        """Change the system prompt; as Pi does, the change is written just before the next prompt."""
        for name in removed:
            self.tools.pop(name)
        for entry in tools:
            self.tools[entry["name"]] = entry
        for name, text in (changed or {}).items():
            if text is not None:
                self.sections[name] = text
        self.patches.append((changed, tools, removed))

    def _patch(self) -> None:
        for changed, tools, removed in self.patches:
            self.file.system(changed, tools, removed)
        self.patches.clear()
        self.meter.front("".join(map(_declared, self.tools.values())) + "\n\n".join(self.sections.values()))

    def turn(self, turn: Turn, *, quick: bool = False) -> str:
        """Write a turn; ``quick`` leaves no pauses (for entries that are written when they are shown)."""
        self.turns += 1
        dice = Dice(f"{self.file.id}/{self.turns}")
        if not quick:
            self.wait(turn.gap or 100 + dice.below(160))
        self._patch()
        outputs = results_of(turn, self.meter.window, f"{self.file.id}/{self.turns}/{turn.prompt}")
        id = self.file.user(turn.prompt)
        self.opened.append(id)
        self.meter.add(id, PER_MESSAGE + tokens(turn.prompt))
        for n, step in enumerate(turn.steps):
            self._step(step, turn.kept if n == 0 else 1.0, outputs[n], quick)
        return id

    def _step(self, step: Step, kept: float, outputs: Sequence[str], quick: bool) -> None:
        figures = self.meter.request(step, kept)
        if not quick:
            self.wait(step.seconds)
        calls = [Call(u.tool, u.input, self.file._call()) for u in step.uses]
        usage = Spent(figures.input, figures.output, figures.read, figures.write)
        id = self.file.assistant(step.text, thinking=step.thinking, calls=calls, usage=usage)
        self.meter.add(id, answer_size(step))
        for call, use, output in zip(calls, step.uses, outputs, strict=True):
            result = self.file.result(call.id, output, name=use.tool, error=use.failed)
            self.meter.add(result, PER_MESSAGE + tokens(output))

    def go(self, entry: str) -> list[str]:
        """Move to an entry; what lies after it leaves the context. Returns that."""
        keep = {e["id"] for e in self.file.branch(entry)}
        gone = [i for i in self.meter.parts if i not in keep]
        self.meter.drop(gone)
        self.file.go(entry)
        return gone

    def compact(self, summary: str) -> None:
        """Compact by hand: the newest whole turns that make up what Pi keeps."""
        by_id = {e["id"]: e for e in self.file.entries}
        order = list(self.meter.parts)
        used = 0
        first = order[-1]
        for id in reversed(order):
            used += len(json.dumps(by_id[id].get("message", {}).get("content", ""), ensure_ascii=False)) // 4
            if id in self.opened:
                first = id
                if used >= KEEP:
                    break
        head = order[: order.index(first)]
        window = self.meter.window
        spent = Spent(350 + sum(self.meter.parts[i] for i in head), tokens(summary))
        self.wait(70)
        state = {"sections": dict(self.sections), "toolsAdded": list(self.tools.values())}
        id = self.file.compaction(summary, kept=first, before=window, system=state, usage=spent)
        self.meter.drop(head)
        frame = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n\n</summary>"
        self.meter.parts = {id: PER_MESSAGE + tokens(summary) + tokens(frame), **self.meter.parts}
        self.meter.held = 0


def _declared(tool: Mapping[str, Any]) -> str:
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))


def _opening(cwd: str, instructions: Mapping[str, str] | None, skills: Mapping[str, tuple[str, str]] | None) -> dict[str, str]:
    made = sections(kit.PREAMBLE, instructions, skills, cwd) | {"rules": f"<rules>\n{kit.RULES}\n</rules>"}
    return {k: v for k, v in made.items() if v is not None}


def _start(store: PiStore, cwd: str, id: str, at: int, name: str, **options: Any) -> PiFile:
    file = PiFile(store.sessions / f"{id}", cwd=cwd, id=id, at=at, provider="local", model="river", start=False, **options)
    file.rename(name)
    file.model("local", "river", "openai-completions")
    file.thinking("medium")
    return file


def rewrite_guide(store: PiStore, now: int) -> PiFile:
    """The long one: every change that Pi records."""
    file = _start(store, DOCS, "01a1c9f0-5f1e-7c55-9d0a-6f2b1e8c4a10", now - 27 * HOUR, "Rewrite guide")
    w = Writer(file, "guide")
    files = {kit.AGENTS: kit.AGENTS_TEXT, kit.GUIDE_AGENTS: kit.GUIDE_TEXT}
    w.system(_opening(DOCS, files, kit.SKILLS), [*kit.FILE_TOOLS, *kit.SHARED_TOOLS])
    for turn in guide.OPENING:
        w.turn(turn)
    files[kit.AGENTS] = kit.AGENTS_TEXT + kit.AGENTS_MORE
    w.system({"project_context": project_context(files)})
    for turn in guide.AFTER_RULES:
        w.turn(turn)
    fork = file.leaf
    assert fork is not None
    for turn in guide.ABANDONED:
        w.turn(turn)
    left = file.leaf
    w.wait(120)
    w.go(fork)
    back = file.branch_summary(guide.LEFT_BRANCH, origin=left or "root")
    w.meter.add(back, PER_MESSAGE + tokens(guide.LEFT_BRANCH) + 32)
    first, second = guide.AFTER_BRANCH
    w.turn(first)
    w.system({"skills": skills_section(kit.SKILLS | kit.LINK_CHECK)})
    w.turn(second)
    file.label(file.leaf or "", "links checked")
    names = [t["name"] for t in kit.SHARED_TOOLS]
    shuffled = [kit.SHARED_TOOLS[i] for i in (2, 0, 3, 1)]
    w.system(tools=shuffled, removed=names)
    for turn in guide.AFTER_SHUFFLE:
        w.turn(turn)
    w.compact(guide.SUMMARY)
    file.model("local", "brook", "openai-completions")
    first, second, third = guide.AFTER_COMPACTION
    w.turn(first)
    w.system(tools=[kit.SEARCH_LEANER])
    w.turn(second)
    w.turn(third)
    return file


def release_notes(store: PiStore, now: int) -> tuple[PiFile, list[bytes]]:
    """The one that grows: what is there at the beginning, and the lines that come."""
    file = _start(store, DOCS, "01a1cf4b-90d2-7e31-8a44-21c7d5b0f3e9", now - 9 * MINUTE, "Release notes 2.4")
    w = Writer(file, "release")
    files = {kit.AGENTS: kit.AGENTS_TEXT + kit.AGENTS_MORE, kit.GUIDE_AGENTS: kit.GUIDE_TEXT}
    w.system(_opening(DOCS, files, kit.SKILLS | kit.LINK_CHECK), [*kit.FILE_TOOLS, *kit.SHARED_TOOLS])
    for turn in release.LIVE_OPENING:
        w.turn(turn)
    file.now = now - 1000
    with file.held() as lines:
        for turn in release.LIVE:
            w.turn(turn, quick=True)
    return file, lines


def older(store: PiStore, now: int) -> list[PiFile]:
    """Two short ones of another project."""
    made: list[PiFile] = []
    for id, ago, name, turns in (
        ("01a1bf21-1b7a-7d02-b5c8-0c4e9a6d7f55", 3 * DAY, "Terraform drift", release.TERRAFORM),
        ("01a1b4d8-c2e9-7a18-9f63-5d8e2b1a0c47", 5 * DAY, "Rotate staging keys", release.ROTATE),
    ):
        file = _start(store, f"{HOME}/infra", id, now - ago, name)
        w = Writer(file, name)
        w.system(_opening(f"{HOME}/infra", None, None), list(kit.FILE_TOOLS))
        for turn in turns:
            w.turn(turn)
        made.append(file)
    return made
