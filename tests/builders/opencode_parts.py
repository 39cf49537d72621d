"""Parts of OpenCode messages and figures of its rows, in short words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Data = dict[str, Any]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Usage:
    """Tokens as a provider reported them; ``input`` is without the cached part."""

    input: int = 0
    output: int = 0
    read: int = 0
    write: int = 0
    reasoning: int = 0

    def data(self, total: bool = True) -> Data:
        """Return it as the row's ``tokens``."""
        figures: Data = {"total": self.input + self.output + self.read + self.write} if total else {}
        return {
            **figures,
            "input": self.input,
            "output": self.output,
            "reasoning": self.reasoning,
            "cache": {"write": self.write, "read": self.read},
        }


def text(value: str, *, synthetic: bool = False, ignored: bool = False, metadata: Data | None = None) -> Data:
    """A text part."""
    part: Data = {"type": "text", "text": value}
    if synthetic:
        part["synthetic"] = True
    if ignored:
        part["ignored"] = True
    if metadata:
        part["metadata"] = metadata
    return part


def reasoning(value: str, signature: str | None = None) -> Data:
    """A reasoning part; ``signature`` as Anthropic gives one."""
    part: Data = {"type": "reasoning", "text": value, "time": {"start": 1, "end": 2}}
    return part | ({"metadata": {"anthropic": {"signature": signature}}} if signature else {})


def tool(
    name: str,
    input: Data | None = None,
    output: str = "",
    *,
    status: str = "completed",
    call: str | None = None,
    attachments: list[Data] | None = None,
    at: int = 1_790_000_000_000,
    **state: Any,
) -> Data:
    """A tool part (its call id is made where it is written); ``status`` is ``pending``, ``running``, ``completed`` or ``error`` (then ``output`` is the error)."""
    made: Data = {"status": status, "input": input or {}}
    match status:
        case "pending":
            made["raw"] = ""
        case "running":
            made["time"] = {"start": at}
        case "completed":
            made |= {"output": output, "title": "", "metadata": {"truncated": False}, "time": {"start": at, "end": at}}
        case "error":
            made |= {"error": output, "time": {"start": at, "end": at}}
        case _:
            raise ValueError(status)
    if attachments:
        made["attachments"] = attachments
    return {"type": "tool", "tool": name, "callID": call, "state": {**made, **state}}


def image(name: str = "pixel.png", data: str = PIXEL, mime: str = "image/png") -> Data:
    """An image part, its bytes inline."""
    return {"type": "file", "mime": mime, "filename": name, "url": f"data:{mime};base64,{data}"}


def file(path: str, content: str) -> list[Data]:
    """The three parts that attaching a text file leaves."""
    return [
        text(f'Called the Read tool with the following input: {{"filePath":"{path}"}}', synthetic=True),
        text(f"<path>{path}</path>\n<type>file</type>\n<content>\n{content}\n</content>", synthetic=True),
        {"type": "file", "mime": "text/plain", "filename": path.rsplit("/", 1)[-1], "url": "file://" + path},
    ]


def agent(name: str) -> list[Data]:
    """The two parts that ``@name`` leaves."""
    order = f" Use the above message and context to generate a prompt and call the task tool with subagent: {name}"
    return [{"type": "agent", "name": name}, text(order, synthetic=True)]


def unknown(kind: str = "hologram", **fields: Any) -> Data:
    """A part of a type that nobody knows."""
    return {"type": kind, **fields}


def error_data(name: str) -> Data:
    """The ``error`` of an assistant row."""
    match name:
        case "MessageAbortedError":
            return {"name": name, "data": {"message": "Aborted"}}
        case "APIError":
            return {"name": name, "data": {"message": "mock error 500", "statusCode": 500, "isRetryable": True, "responseBody": "{}"}}
        case "RateLimit":
            return {"name": "APIError", "data": {"message": "slow down", "statusCode": 429, "isRetryable": True}}
        case _:
            return {"name": name, "data": {"message": "it failed"}}
