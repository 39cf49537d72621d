"""Writes the OpenCode database of the sample data: the project `my-app`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders.opencode import OpenCodeDB, Session
from tests.builders.opencode_parts import Usage, reasoning, text, tool
from tests.demo import login_afternoon, login_beside, login_morning
from tests.demo.filler import Dice, tokens
from tests.demo.meter import PER_MESSAGE, Figures, Meter, answer_size, results_of
from tests.demo.script import APP, Step, Turn, Use

START = 1_790_000_000_000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
SYSTEM = 13_900
"""Tokens of OpenCode's system prompt, instruction files, skills and tools, which its database does not hold."""
TAIL = 15_000
"""Most that OpenCode keeps when it compacts, in tokens of four characters."""


class Writer:
    """Writes turns into one session."""

    def __init__(self, db: OpenCodeDB, session: Session, base: int = SYSTEM) -> None:
        self.db, self.session = db, session
        self.meter = Meter(base, session.title)
        self.chars: dict[str, int] = {}
        """Characters of each message, for OpenCode's own rule of what a compaction keeps."""
        self.short: dict[str, int] = {}
        """Tokens of each message as the compaction's own request sends it: results cut to 2,000 characters."""
        self.opened: list[list[str]] = []
        """Ids of the messages of each turn."""
        self.sizes: dict[str, int] = {}
        """Tokens of each message, also of those that have left the context."""

    def at(self, seconds: float) -> None:
        """Let time pass."""
        self.db.now += int(seconds * 1000)

    def turn(self, turn: Turn, child: Turn | None = None) -> str:
        number = len(self.opened) + 1
        dice = Dice(f"{self.session.title}/{number}")
        self.at(turn.gap or 205 + dice.below(85))
        self.meter.base += turn.system
        seed = f"{self.session.title}/{number}/{turn.prompt}"
        later = sum(s.system for s in turn.steps)
        outputs = results_of(turn, self.meter.window, seed, later)
        self.db.tick = 1000
        model = (self.session.model[0], turn.model) if turn.model else None
        id = self.session.user(turn.prompt, model=model)
        self._count(id, turn.prompt)
        self.opened.append([id])
        for n, step in enumerate(turn.steps):
            self.meter.base += step.system
            kept = step.kept if step.kept is not None else (turn.kept if n == 0 else 1.0)
            figures = self.meter.request(step, kept)
            self._step(step, figures, outputs[n], child)
        return id

    def _count(self, id: str, *texts: str) -> None:
        size = PER_MESSAGE + sum(tokens(t) for t in texts)
        self.meter.add(id, size)
        self.chars[id] = sum(len(t) for t in texts)
        self.sizes[id] = self.short[id] = size

    def _step(self, step: Step, figures: Figures, outputs: list[str], child: Turn | None) -> None:
        parts: list[Any] = [reasoning(step.thinking)] if step.thinking else []
        if step.text:
            parts.append(text(step.text))
        size = answer_size(step)
        brief = size
        chars = len(step.text) + len(step.thinking or "")
        self.db.tick = 2 * step.seconds * 1000
        began = self.db.now + 1000
        for use, output in zip(step.uses, outputs, strict=True):
            if output == "CHILD" and child is not None:
                part = self._task(use, child)
                output = part["state"]["output"]
            else:
                status = "error" if use.failed else "completed"
                part = tool(use.tool, use.input, output, status=status, call=self.db.id("call"), at=began + 1000)
            parts.append(part)
            size += PER_MESSAGE + tokens(output)
            brief += PER_MESSAGE + tokens(output[:2000])
            chars += len(json.dumps(use.input)) + len(output)
        self.db.now = began - self.db.tick
        usage = Usage(figures.input, figures.output, figures.read, figures.write)
        silent = step.unreported or step.aborted
        id = self.session.step(*parts, usage=None if silent else usage, error="MessageAbortedError" if step.aborted else None)
        self.meter.add(id, size)
        self.sizes[id], self.chars[id], self.short[id] = size, chars, brief
        self.opened[-1].append(id)

    def _task(self, use: Use, child: Turn) -> dict[str, Any]:
        now, tick = self.db.now, self.db.tick
        self.db.now += 3000
        session = self.db.session(
            "Find where sessions are read (@explore subagent)", parent=self.session, agent="explore", model=("acme", "fast")
        )
        helper = Writer(self.db, session, base=5_200)
        self.db.now -= 240_000
        helper.turn(child)
        self.db.now, self.db.tick = now, tick
        return self.session.task(use.input["prompt"], "explore", session, child.steps[-1].text) | {"callID": self.db.id("call")}

    def revert_to(self, turn: int) -> None:
        """Take back this turn and all after it."""
        self.at(64)
        self.session.revert(self.opened[turn - 1][0])

    def clean(self, turn: int) -> None:
        """Delete what was taken back, as the next prompt does."""
        gone = self.session.cleanup()
        self.meter.drop(gone)
        del self.opened[turn - 1 :]

    def compact(self, summary: str) -> None:
        """Compact by hand: what OpenCode keeps are the newest whole turns within its budget."""
        kept = len(self.opened)
        used = 0
        while kept > 1 and used + sum(self.chars[i] for i in self.opened[kept - 1]) / 4 <= TAIL:
            used += sum(self.chars[i] for i in self.opened[kept - 1]) / 4
            kept -= 1
        head = [i for ids in self.opened[:kept] for i in ids]
        self.at(95)
        self.db.tick = 18_000
        asked, made = self.session.compact(summary, tail=self.opened[kept][0])
        assert made is not None
        row = json.loads(self.db.db.execute("SELECT data FROM message WHERE id = ?", (made,)).fetchone()[0])
        row["tokens"] = Usage(420 + sum(self.short[i] for i in head), tokens(summary)).data()
        self.session.message(row, at=row["time"]["created"], id=made)
        for part, data in self.session.parts_of(made):
            if data["type"] == "step-finish":
                self.session.part(made, data | {"tokens": row["tokens"]}, id=part)
        self.meter.drop(head)
        self.meter.parts = {asked: PER_MESSAGE + tokens("What did we do so far?"), made: PER_MESSAGE + tokens(summary), **self.meter.parts}
        self.meter.held = 0


def write(path: Path) -> int:
    """Write the database and return the time that counts as now, epoch milliseconds."""
    with OpenCodeDB(path, start=START, directory=APP) as db:
        main = Writer(db, db.session("Fix login 500", model=("acme", "big")))
        for turn in login_morning.BEFORE_REVERT:
            main.turn(turn, login_beside.EXPLORE[0])
        for turn in login_morning.REVERTED:
            main.turn(turn)
        main.revert_to(len(login_morning.BEFORE_REVERT) + 1)
        first, *rest = login_afternoon.AFTER_REVERT
        main.at(40)
        main.clean(len(login_morning.BEFORE_REVERT) + 1)
        main.turn(first)
        for turn in rest:
            main.turn(turn)
        main.compact(login_afternoon.SUMMARY)
        for turn in login_afternoon.AFTER_COMPACTION:
            main.turn(turn)
        now = db.now + 25_000

        db.now = now - 71 * MINUTE
        fork = main.session.fork(before=main.opened[8][0])
        copy = Writer(db, fork)
        copy.meter.parts = {f"copy of {i}": main.sizes[i] for ids in main.opened[:8] for i in ids}
        for turn in login_beside.FORKED:
            copy.turn(turn)

        db.now = now - 26 * HOUR
        retries = Writer(db, db.session("Add retries", model=("acme", "big")))
        for turn in login_beside.RETRIES:
            retries.turn(turn)

        db.now = now - 6 * DAY
        chinese = Writer(db, db.session("帮我修复登录", model=("acme", "fast")))
        for turn in login_beside.CHINESE:
            chinese.turn(turn)
        # What is in the tables need not be in the log a second time: only what the tables lost is read from there.
        db.db.execute(
            "DELETE FROM event WHERE type = 'message.part.updated.1' AND json_extract(data, '$.part.id') IN (SELECT id FROM part)"
        )
        db.db.execute("DELETE FROM event WHERE type = 'session.updated.1' AND json_extract(data, '$.info.revert') IS NULL")
        db.db.execute("DELETE FROM event WHERE type = 'message.updated.1' AND json_extract(data, '$.info.id') IN (SELECT id FROM message)")
    return now
