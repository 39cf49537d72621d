"""A model on loopback that plays what a test wrote for it, and remembers every request.

A prompt names a *scene*: ``Look at the notes (scene notes)``. Each request whose newest scene is ``notes`` gets the next
line of that scene, so a failed try and its retry are simply two lines. Requests without tools are the harness's
own (a title, a summary) and get a fixed answer. It speaks OpenAI's chat completions and Anthropic's messages, streamed.

```python
with MockModel() as model:
    model.scene("notes", Say(calls=[Use("read", path="notes.txt")]), Fail(500), Say("Read it."))
    …
    model.requests        # what was received, in order
    model.faults          # what the scenes had no line for
```
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
_SCENE = re.compile(r"\(scene ([\w-]+)\)")
SUMMARY = "Goal: keep the shop's notes in order.\nDone: looked at them.\nNext: go on."
TITLE = "Notes of the shop"


@dataclass(frozen=True)
class Use:
    """One tool call of an answer."""

    name: str
    arguments: Json

    def __init__(self, name: str, **arguments: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", arguments)


@dataclass(frozen=True)
class Say:
    """An answer.

    Attributes:
        text: What it says.
        think: Its reasoning, before the text.
        calls: Tools it calls, after the text.
        pause: Seconds between two pieces of the text (pieces are 16 characters).
        wait: Seconds before it begins.
    """

    text: str = ""
    think: str = ""
    calls: Sequence[Use] = ()
    pause: float = 0.0
    wait: float = 0.0


@dataclass(frozen=True)
class Fail:
    """An HTTP error instead of an answer."""

    status: int


@dataclass
class Received:
    """A request, as it came.

    Attributes:
        n: 1… in the order of arrival; the answer's id ends in it.
        at: When it came, seconds since the epoch.
        kind: ``primary``, ``title`` or ``summary``.
        scene: The scene that answered it, if any.
        session: The session that its header names, if it does.
        body: What was sent.
        status: The HTTP status of the answer.
        tokens: Prompt tokens that the answer reported, where it came to that.
        finished: Whether the whole answer was taken.
    """

    n: int
    at: float
    kind: str
    scene: str | None
    session: str | None
    body: Json
    status: int = 200
    tokens: int | None = None
    finished: bool = False


def text_of(content: Any) -> str:
    """Return the text of a message's content, in either form."""
    if isinstance(content, str):
        return content
    return "\n".join(p.get("text", "") for p in content or () if p.get("type") == "text")


class MockModel:
    """The server; a context manager."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.faults: list[str] = []
        self._scenes: dict[str, list[Say | Fail]] = {}
        self._lock = threading.Lock()
        model = self

        class Handler(_Handler):
            owner = model

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> MockModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def scene(self, name: str, *lines: Say | Fail) -> str:
        """Write a scene; return the words that a prompt names it with."""
        self._scenes[name] = list(lines)
        return f"(scene {name})"

    def of(self, kind: str = "primary", session: str | None = None) -> list[Received]:
        """Return the requests of a kind (and session)."""
        with self._lock:
            return [r for r in self.requests if r.kind == kind and (session is None or r.session == session)]

    def heard(self, scene: str, seconds: float = 30.0) -> None:
        """Wait until a request of this scene has come.

        Raises:
            AssertionError: None did.
        """
        until = time.monotonic() + seconds
        while not any(r.scene == scene for r in self.of()):
            if time.monotonic() > until:
                raise AssertionError(f"no request of scene {scene} within {seconds} s")
            time.sleep(0.02)

    def receive(self, body: Json, session: str | None) -> tuple[Received, Say | Fail]:
        """Note a request and choose its answer."""
        users = [text_of(m.get("content")) for m in body.get("messages", []) if m.get("role") == "user"]
        names = [n for n in (_SCENE.findall(t) for t in users) if n]
        scene = names[-1][-1] if names else None
        with self._lock:
            n = len(self.requests) + 1
            if not body.get("tools"):
                system = text_of(body.get("system")) or " ".join(
                    text_of(m["content"]) for m in body.get("messages", []) if m.get("role") in ("system", "developer")
                )
                title = "title" in system[:200].lower()
                received = Received(n, time.time(), "title" if title else "summary", None, session, body)
                answer: Say | Fail = Say(TITLE if title else SUMMARY)
            else:
                received = Received(n, time.time(), "primary", scene, session, body)
                lines = self._scenes.get(scene or "", [])
                if lines:
                    answer = lines.pop(0)
                else:
                    self.faults.append(f"request {n}: scene {scene!r} has no line left")
                    answer = Say("There is nothing more to say.")
            if isinstance(answer, Fail):
                received.status = answer.status
            self.requests.append(received)
        return received, answer


def _pieces(text: str, size: int = 16) -> Iterator[str]:
    for at in range(0, len(text), size):
        yield text[at : at + size]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: MockModel

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self._whole(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        received, answer = self.owner.receive(body, self.headers.get("x-session-id"))
        try:
            if isinstance(answer, Fail):
                self._whole(answer.status, {"error": {"message": "the scene says so", "type": "server_error"}})
            else:
                time.sleep(answer.wait)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                play = self._anthropic if self.path.partition("?")[0].endswith("/messages") else self._openai
                play(received, answer)
                self.wfile.write(b"0\r\n\r\n")
            received.finished = True
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the agent aborted

    def _whole(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _event(self, data: Json | str, name: str | None = None) -> None:
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        block = ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
        self.wfile.flush()

    def _openai(self, received: Received, say: Say) -> None:
        head: Json = {"id": f"mock-{received.n}", "object": "chat.completion.chunk", "created": 0, "model": received.body.get("model")}

        def chunk(delta: Json, finish: str | None = None) -> None:
            self._event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        chunk({"role": "assistant", "content": ""})
        for piece in _pieces(say.think):
            chunk({"reasoning_content": piece})
        for piece in _pieces(say.text):
            chunk({"content": piece})
            time.sleep(say.pause)
        for i, use in enumerate(say.calls):
            first = {"name": use.name, "arguments": ""}
            chunk({"tool_calls": [{"index": i, "id": f"call_{received.n}_{i}", "type": "function", "function": first}]})
            for piece in _pieces(json.dumps(use.arguments, ensure_ascii=False)):
                chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]})
        chunk({}, "tool_calls" if say.calls else "stop")
        total, cached, out = spent(received.body, say)
        usage = {
            "prompt_tokens": total,
            "completion_tokens": out,
            "total_tokens": total + out,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        received.tokens = total
        self._event({**head, "choices": [], "usage": usage})
        self._event("[DONE]")

    def _anthropic(self, received: Received, say: Say) -> None:
        def event(kind: str, **fields: Any) -> None:
            self._event({"type": kind, **fields}, kind)

        def block(index: int, start: Json, deltas: Sequence[Json]) -> None:
            event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                event("content_block_delta", index=index, delta=delta)
                time.sleep(say.pause if delta["type"] == "text_delta" else 0)
            event("content_block_stop", index=index)

        total, cached, out = spent(received.body, say)
        usage = {"input_tokens": total - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": 1}
        event(
            "message_start",
            message={
                "id": f"mock-{received.n}",
                "type": "message",
                "role": "assistant",
                "model": received.body.get("model"),
                "content": [],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": usage,
            },
        )
        index = 0
        if say.think:
            thought = [{"type": "thinking_delta", "thinking": p} for p in _pieces(say.think)]
            signed = {"type": "signature_delta", "signature": f"signed-{received.n}"}
            block(index, {"type": "thinking", "thinking": "", "signature": ""}, [*thought, signed])
            index += 1
        if say.text:
            block(index, {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in _pieces(say.text)])
            index += 1
        for i, use in enumerate(say.calls):
            arguments = _pieces(json.dumps(use.arguments, ensure_ascii=False))
            start = {"type": "tool_use", "id": f"toolu_{received.n}_{i}", "name": use.name, "input": {}}
            block(index, start, [{"type": "input_json_delta", "partial_json": p} for p in arguments])
            index += 1
        received.tokens = total
        reason = "tool_use" if say.calls else "end_turn"
        event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": out})
        event("message_stop")


def spent(body: Json, say: Say) -> tuple[int, int, int]:
    """Return what an answer reports: prompt tokens in all, those of them read from cache, output tokens."""
    size = len(json.dumps([body.get("system"), body.get("messages"), body.get("tools")], ensure_ascii=False))
    total = max(2, size // 4)
    out = 5 + (len(say.text) + len(say.think)) // 4
    return total, total * 3 // 4, out
