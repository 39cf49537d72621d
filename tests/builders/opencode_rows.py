"""The plain rows of an OpenCode session being written; :class:`tests.builders.opencode.Session` adds what rewrites history."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.builders.opencode_parts import Data, Usage, error_data, text

if TYPE_CHECKING:
    from tests.builders.opencode import OpenCodeDB

Spec = str | Data
DEFAULT_USAGE = Usage(1000, 50)


class Rows:
    """The plain rows of a session: user rows, steps, shell and subtask rows."""

    def __init__(
        self,
        db: OpenCodeDB,
        title: str,
        *,
        parent: Rows | str | None = None,
        directory: str | None = None,
        agent: str = "build",
        model: tuple[str, str] = ("mock", "big"),
        version: str | None = None,
    ) -> None:
        self.db, self.title, self.agent, self.model = db, title, agent, model
        at = db.step_clock()
        self.id = db.id("ses", descending=True)
        self.parent = parent.id if isinstance(parent, Rows) else parent
        self.directory = directory or db.directory
        self.last_user: str | None = None
        db.db.execute(
            "INSERT INTO session (id, project_id, parent_id, slug, directory, path, title, version, agent, model, time_created, time_updated)"
            " VALUES (?,?,?,?,?,'',?,?,?,?,?,?)",
            (
                self.id,
                db.project,
                self.parent,
                "slug-" + self.id[-6:],
                self.directory,
                title,
                version or db.version,
                agent,
                self._model(),
                at,
                at,
            ),
        )
        db.event(self.id, "session.created.1", {"info": self._info()})

    def _model(self) -> str:
        return dumps({"id": self.model[1], "providerID": self.model[0], "variant": "default"})

    def _info(self) -> Data:
        return {"id": self.id, "title": self.title, "directory": self.directory, "parentID": self.parent, "time": {"updated": self.db.now}}

    def _touch(self, **columns: Any) -> None:
        columns = {"time_updated": self.db.now, "agent": self.agent, "model": self._model(), **columns}
        sets = ", ".join(f"{c} = ?" for c in columns)
        self.db.db.execute(f"UPDATE session SET {sets} WHERE id = ?", (*columns.values(), self.id))
        revert = columns.get("revert")
        self.db.event(self.id, "session.updated.1", {"info": {**self._info(), **({"revert": json.loads(revert)} if revert else {})}})

    # -- raw rows ------------------------------------------------------------------------------------------

    def message(self, data: Data | str, *, at: int | None = None, id: str | None = None) -> str:
        """Write a message row as given (a string goes in unchecked) and return its id."""
        at = self.db.now if at is None else at
        id = id or self.db.id("msg")
        self.db.db.execute(
            "INSERT INTO message VALUES (?,?,?,?,?) ON CONFLICT DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            (id, self.id, at, self.db.now, data if isinstance(data, str) else dumps(data)),
        )
        if not isinstance(data, str):
            self.db.event(self.id, "message.updated.1", {"info": {"id": id, "sessionID": self.id, **data}})
        return id

    def part(self, message: str, data: Data | str, *, id: str | None = None) -> str:
        """Write a part row as given (a string goes in unchecked) and return its id."""
        id = id or self.db.id("prt")
        at = self.db.now
        if not isinstance(data, str) and data["type"] == "tool" and not data.get("callID"):
            data = {**data, "callID": self.db.id("call")}
        self.db.db.execute(
            "INSERT INTO part VALUES (?,?,?,?,?,?) ON CONFLICT DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            (id, message, self.id, at, at, data if isinstance(data, str) else dumps(data)),
        )
        if not isinstance(data, str):
            self.db.event(
                self.id, "message.part.updated.1", {"part": {"id": id, "sessionID": self.id, "messageID": message, **data}, "time": at}
            )
        return id

    def parts_of(self, message: str) -> list[tuple[str, Data]]:
        """Return (id, data) of a message's parts."""
        rows = self.db.db.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (message,))
        return [(i, json.loads(d)) for i, d in rows]

    def messages(self) -> list[str]:
        """Return the ids of the stored messages, in order."""
        return [i for (i,) in self.db.db.execute("SELECT id FROM message WHERE session_id = ? ORDER BY time_created, id", (self.id,))]

    # -- turns and steps -----------------------------------------------------------------------------------

    def user(self, *parts: Spec, agent: str | None = None, model: tuple[str, str] | None = None, **extra: Any) -> str:
        """Write a user row; strings are text parts. ``extra`` goes into its data (``system``, ``tools``, ``format``)."""
        self.agent, self.model = agent or self.agent, model or self.model
        at = self.db.step_clock()
        data = {"role": "user", "time": {"created": at}, "agent": self.agent, "model": self._wire_model(), **extra}
        id = self.message(data)
        for p in parts:
            self.part(id, text(p) if isinstance(p, str) else p)
        self.last_user = id
        self._touch()
        return id

    def _wire_model(self) -> Data:
        return {"providerID": self.model[0], "modelID": self.model[1]}

    def step(
        self,
        *parts: Spec,
        usage: Usage | None = DEFAULT_USAGE,
        finish: str | None = None,
        error: str | None = None,
        parent: str | None = None,
        done: bool = True,
        frame: bool = True,
        agent: str | None = None,
        model: tuple[str, str] | None = None,
        **extra: Any,
    ) -> str:
        """Write an assistant row: one model step.

        Args:
            parts: Strings are text parts.
            usage: What the provider reported; an error or unfinished row has none.
            finish: By default ``tool-calls`` where a tool was called, else ``stop``.
            error: Class of the error (``MessageAbortedError``, ``APIError``…).
            parent: The user row it answers; the last one by default.
            done: Whether it has ended.
            frame: Whether step-start and step-finish parts are written.
            agent: The agent, if not the session's.
            model: The model, if not the session's.
            extra: More fields of its data (``summary``, ``mode``, ``structured``).
        """
        at = self.db.step_clock()
        specs = [text(p) if isinstance(p, str) else p for p in parts]
        provider, name = model or self.model
        ok = done and error is None
        tokens = (usage or Usage()).data() if ok and usage else Usage().data(total=False)
        data: Data = {
            "parentID": parent or self.last_user,
            "role": "assistant",
            "mode": agent or self.agent,
            "agent": agent or self.agent,
            "path": {"cwd": self.directory, "root": self.directory},
            "cost": 0.01 if ok else 0,
            "tokens": tokens,
            "modelID": name,
            "providerID": provider,
            "time": {"created": at},
            **extra,
        }
        id = self.message(data, at=at)
        if frame:
            self.part(id, {"type": "step-start", "snapshot": "0" * 40})
        for p in specs:
            self.part(id, p)
        if done:
            data["time"] = {"created": at, "completed": self.db.step_clock(self.db.tick // 2)}
        if error:
            data["error"] = error_data(error)
        elif ok:
            data["finish"] = finish or ("tool-calls" if any(p["type"] == "tool" for p in specs) else "stop")
            if frame:
                self.part(id, {"type": "step-finish", "reason": data["finish"], "snapshot": "0" * 40, "cost": 0.01, "tokens": tokens})
        self.message(data, at=at, id=id)
        self._touch()
        return id

    def turn(self, prompt: str, *answers: Spec) -> str:
        """Write a user row and one step with these parts; return the user row's id."""
        id = self.user(prompt)
        self.step(*(answers or ("ok",)))
        return id

    def shell(self, command: str, output: str) -> tuple[str, str]:
        """Write the two rows that ``!command`` leaves."""
        user = self.user(text("The following tool was executed by the user", synthetic=True))
        state = {"status": "completed", "input": {"command": command}, "output": output, "title": "", "metadata": {"output": output}}
        state["time"] = {"start": self.db.now, "end": self.db.now}
        row = {"type": "tool", "tool": "bash", "callID": self.db.id("01J"), "state": state}
        return user, self.step(row, usage=None, finish="stop", frame=False)

    def subtask(self, prompt: str, agent: str, child: Rows | str, result: str, command: str | None = None) -> str:
        """Write what a subtask command leaves: the user row, the task's row and the synthetic order to go on."""
        key = child.id if isinstance(child, Rows) else child
        spec = {"type": "subtask", "prompt": prompt, "description": "sub", "agent": agent, **({"command": command} if command else {})}
        user = self.user(spec)
        self.step(self.task(prompt, agent, key, result), agent=agent, finish="tool-calls", usage=None, frame=False)
        self.user(text("Summarize the task tool output above and continue with your task.", synthetic=True))
        return user

    def task(self, prompt: str, agent: str, child: Rows | str, result: str) -> Data:
        """Make the tool part of a subagent's run."""
        key = child.id if isinstance(child, Rows) else child
        state = {
            "status": "completed",
            "input": {"description": "sub", "prompt": prompt, "subagent_type": agent},
            "output": f'<task id="{key}" state="completed">\n<task_result>\n{result}\n</task_result>\n</task>',
            "title": "sub",
            "metadata": {"parentSessionId": self.id, "sessionId": key, "model": self._wire_model(), "truncated": False},
            "time": {"start": self.db.now, "end": self.db.now},
        }
        return {"type": "tool", "tool": "task", "callID": self.db.id("call"), "state": state}


def dumps(data: Any) -> str:
    """Encode as OpenCode does: no spaces, no escapes of non-ASCII."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
