"""How Pi treats a model's window: ``models.json`` and ``settings.json`` of its folder. Keys and headers are never decoded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec
from ctx_inspect.core.model import Confirmed, LimitClaim, Model, Unavailable, Why, Window, Witness
from ctx_inspect.core.model.limits import RANK_HARNESS
from ctx_inspect.core.sources.jsonl import open_regular
from ctx_inspect.core.sources.pi.formats import DEFAULT_WINDOW, RESERVE_TOKENS
from ctx_inspect.core.sources.pi.records import count

T = TypeVar("T")
MAX_CONFIG = 8 << 20

Number = int | float | None


class _Model(msgspec.Struct, rename="camel"):
    id: str = ""
    context_window: Number = None


class _Provider(msgspec.Struct, rename="camel"):
    models: list[_Model] | None = None
    model_overrides: dict[str, _Model] | None = None


class _Models(msgspec.Struct):
    providers: dict[str, _Provider] | None = None


class _Reserve(msgspec.Struct, rename="camel"):
    reserve_tokens: Number = None


class _Compaction(msgspec.Struct, rename="camel"):
    enabled: bool | None = None
    reserve_tokens: Number = None
    model_overrides: dict[str, _Reserve] | None = None


class _Settings(msgspec.Struct, rename="camel"):
    compaction: _Compaction | None = None
    session_dir: str | None = None


def without_comments(data: bytes) -> bytes:
    """Return JSON with ``//`` and ``/* */`` comments and trailing commas taken out, as Pi reads its configuration."""
    text = data.decode("utf-8-sig", "replace")
    out: list[str] = []
    place = 0
    while place < len(text):
        at = text[place]
        if at == '"':
            end = place + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[place : end + 1])
            place = end + 1
        elif text.startswith("//", place):
            end = text.find("\n", place)
            place = len(text) if end == -1 else end
        elif text.startswith("/*", place):
            end = text.find("*/", place)
            place = len(text) if end == -1 else end + 2
        elif at in "]}":
            back = len(out) - 1
            while back >= 0 and not out[back].strip():
                back -= 1
            if back >= 0 and out[back] == ",":
                out[back] = ""
            out.append(at)
            place += 1
        else:
            out.append(at)
            place += 1
    return "".join(out).encode()


def _load(path: Path, kind: type[T]) -> T | None:
    try:
        fd = open_regular(path)
    except (OSError, ValueError):
        return None
    try:
        data = os.pread(fd, MAX_CONFIG, 0)
    except OSError:
        return None
    finally:
        os.close(fd)
    for form in (bytes, without_comments):
        try:
            return msgspec.json.decode(form(data), type=kind)
        except (msgspec.MsgspecError, RecursionError):
            continue
    return None


def session_folder(agent: Path) -> Path | None:
    """Return the ``sessionDir`` of settings.json, where there is one."""
    settings = _load(agent / "settings.json", _Settings)
    return Path(settings.session_dir).expanduser() if settings and settings.session_dir else None


class Configuration:
    """The configuration of one Pi folder; read again when its files change."""

    def __init__(self, agent: Path | None) -> None:
        """Take the folder (``~/.pi/agent``), if it is known."""
        self._agent = agent
        self._seen: tuple[object, ...] | None = None
        self._windows: dict[tuple[str, str], int] = {}
        self._compaction: _Compaction = _Compaction()

    def window(self, model: Model) -> Window:
        """Tell how Pi treats this model's window."""
        self._read()
        tokens = self._windows.get((model.provider or "", model.id or ""))
        claims: tuple[LimitClaim, ...] = ()
        if tokens is not None:
            claims = (LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "models.json", RANK_HARNESS),)
        if self._compaction.enabled is False:
            return Window(claims, Unavailable(Why.NOT_RECORDED, "settings.json switches compaction off"))
        if tokens is None:
            return Window(claims, Unavailable(Why.UNKNOWN, "models.json does not name this model, so Pi's threshold is unknown"))
        reserve = self._reserve(model)
        return Window(claims, Confirmed(max(0, tokens - reserve), Witness.CONFIG), f"context − {reserve:,} reserved")

    def _reserve(self, model: Model) -> int:
        special = (self._compaction.model_overrides or {}).get(f"{model.provider}/{model.id}")
        for value in (special.reserve_tokens if special else None, self._compaction.reserve_tokens):
            if (tokens := count(value)) is not None:
                return tokens
        return RESERVE_TOKENS

    def _read(self) -> None:
        if self._agent is None:
            return
        files = (self._agent / "models.json", self._agent / "settings.json")
        seen = tuple(_stamp(f) for f in files)
        if seen == self._seen:
            return
        self._seen = seen
        models = _load(files[0], _Models)
        self._windows = {}
        for name, provider in ((models.providers if models else None) or {}).items():
            for model in provider.models or ():
                # 0 is no window to Pi, but it is what the file says: nobody may believe it (field report 23)
                self._windows[name, model.id] = DEFAULT_WINDOW if model.context_window is None else count(model.context_window) or 0
            for id, override in (provider.model_overrides or {}).items():
                if (tokens := count(override.context_window)) is not None:
                    self._windows[name, id] = tokens
        settings = _load(files[1], _Settings)
        self._compaction = (settings.compaction if settings else None) or _Compaction()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        at = os.stat(path)
    except (OSError, ValueError):
        return None
    return at.st_ino, at.st_size, at.st_mtime_ns
