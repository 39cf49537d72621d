"""How Pi treats a model's window: ``models.json`` and ``settings.json`` of its folder. Keys and headers are never decoded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

import msgspec
from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import Confirmed, Estimated, Known, LimitClaim, Model, Unavailable, Why, Window, Witness
from ctx_inspect.core.model.limits import RANK_HARNESS
from ctx_inspect.core.sources.pi.formats import DEFAULT_WINDOW, RESERVE_TOKENS
from ctx_inspect.core.sources.pi.records import count
from ctx_inspect.core.text.jsonc import plain_json

T = TypeVar("T")
MAX_CONFIG = 8 << 20
PROJECT_SETTINGS = 64
"""Settings of projects that are remembered."""

OFF = Unavailable(Why.NOT_RECORDED, "settings.json switches compaction off")
NO_WINDOW = Unavailable(Why.UNKNOWN, "models.json does not name this model, so Pi's threshold is unknown")
TRUST = Unavailable(
    Why.NOT_RECORDED, "the project's .pi/settings.json says otherwise than the user's; whether Pi trusts that project is not recorded"
)

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


def _without_comments(data: bytes) -> str:
    """Return configuration as Pi reads it: comments and trailing commas are no part of it."""
    return plain_json(data.decode("utf-8-sig", "replace"))


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
    for form in (bytes, _without_comments):
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
        self._windows: dict[tuple[str, str], Known[int]] = {}
        self._compaction: _Compaction = _Compaction()
        self._projects: dict[Path, tuple[object, _Compaction | None]] = {}

    def window(self, model: Model, directory: str | None = None) -> Window:
        """Tell how Pi treats this model's window.

        Args:
            model: Provider and id.
            directory: Working directory of the session, for its project's own settings.
        """
        self._read()
        tokens = self._windows.get((model.provider or "", model.id or ""))
        claims = () if tokens is None else (LimitClaim(tokens, "context", "models.json", RANK_HARNESS),)
        found = _threshold(tokens, model, self._compaction)
        own = self._project(directory)
        if own is not None and _threshold(tokens, model, _over(self._compaction, own)) != found:
            return Window(claims, TRUST)
        return Window(claims, *found)

    def _project(self, directory: str | None) -> _Compaction | None:
        if not directory or not os.path.isabs(directory) or "\0" in directory:
            return None
        path = Path(directory) / ".pi" / "settings.json"
        seen = _stamp(path)
        held = self._projects.pop(path, None)
        if held is None or held[0] != seen:
            settings = _load(path, _Settings) if seen is not None else None
            held = (seen, settings.compaction if settings else None)
        self._projects[path] = held
        while len(self._projects) > PROJECT_SETTINGS:
            del self._projects[next(iter(self._projects))]
        return held[1]

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
                if model.context_window is None:
                    self._windows[name, model.id] = Estimated(DEFAULT_WINDOW, "Pi's default")
                elif (tokens := count(model.context_window)) is not None:
                    # 0 is no window to Pi, but it is what the file says: nobody may believe it
                    self._windows[name, model.id] = Confirmed(tokens, Witness.CONFIG)
            for id, override in (provider.model_overrides or {}).items():
                if (tokens := count(override.context_window)) is not None:
                    self._windows[name, id] = Confirmed(tokens, Witness.CONFIG)
        settings = _load(files[1], _Settings)
        self._compaction = (settings.compaction if settings else None) or _Compaction()


def _threshold(tokens: Known[int] | None, model: Model, compaction: _Compaction) -> tuple[Known[int], str | None]:
    """Return where Pi compacts by itself, by its rule over its own window, and that rule in words."""
    if compaction.enabled is False:
        return OFF, None
    if tokens is None or isinstance(tokens, Unavailable):
        return NO_WINDOW, None
    reserve = _reserve(model, compaction)
    return Estimated(max(0, tokens.value - reserve), "Pi's rule: window − reserve"), f"context − {reserve:,} reserved"


def _reserve(model: Model, compaction: _Compaction) -> int:
    special = (compaction.model_overrides or {}).get(f"{model.provider}/{model.id}")
    for value in (special.reserve_tokens if special else None, compaction.reserve_tokens):
        if (tokens := count(value)) is not None:
            return tokens
    return RESERVE_TOKENS


def _over(under: _Compaction, own: _Compaction) -> _Compaction:
    """Return settings laid over others: what they do not say stays."""
    return _Compaction(
        under.enabled if own.enabled is None else own.enabled,
        under.reserve_tokens if own.reserve_tokens is None else own.reserve_tokens,
        {**(under.model_overrides or {}), **(own.model_overrides or {})} or None,
    )


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        at = os.stat(path)
    except (OSError, ValueError):
        return None
    return at.st_ino, at.st_size, at.st_mtime_ns
