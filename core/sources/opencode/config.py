"""What OpenCode's own configuration says of a model's window, and when it compacts by itself.

Only numbers are taken from these files: limits and the two compaction settings. Keys, headers and all other options
are never decoded. Places: the global folder, ``$OPENCODE_CONFIG``, ``$OPENCODE_CONFIG_DIR`` and the project's
``opencode.json(c)``, the later one winning; the cached catalogue of models is an estimate only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from ctx_inspect.core.model import Confirmed, Estimated, Known, LimitClaim, Model, Unavailable, Why, Window, Witness
from ctx_inspect.core.model.limits import RANK_HARNESS
from ctx_inspect.core.sources.base import Environment
from ctx_inspect.core.sources.opencode.constants import OUTPUT_TOKEN_MAX, RESERVED_MAX
from ctx_inspect.core.sources.opencode.records import UNREADABLE
from ctx_inspect.core.text.jsonc import plain_json
from msgspec import Struct

_CONFIG_MOST, _CATALOGUE_MOST = 1 << 20, 32 << 20
_NAMES = ("config.json", "opencode.json", "opencode.jsonc")


class _Limit(msgspec.Struct):
    context: float | None = None
    input: float | None = None
    output: float | None = None


class _ModelConfig(msgspec.Struct):
    limit: _Limit | None = None


class _Provider(msgspec.Struct):
    models: dict[str, _ModelConfig] | None = None


class _Compaction(msgspec.Struct):
    auto: bool | None = None
    reserved: float | None = None


class _Config(msgspec.Struct):
    provider: dict[str, _Provider] | None = None
    compaction: _Compaction | None = None


class _Stated(Struct, frozen=True):
    """Limits of one model as one file states them, in tokens."""

    context: int | None
    input: int | None
    output: int | None
    source: str
    estimated: bool


def window(model: Model, env: Environment, home: Path, directory: str | None) -> Window:
    """Return what the configuration says of a model.

    Args:
        model: Provider and id, as a row names them.
        env: Environment variables.
        home: The user's home directory.
        directory: The project directory of the session, for its own configuration.
    """
    provider, id = model.provider or "", model.id or ""
    stated: _Stated | None = None
    auto, reserved = True, None
    for path, name in _files(env, home, directory):
        config = _read(path)
        if config is None:
            continue
        if config.compaction is not None:
            auto = config.compaction.auto if config.compaction.auto is not None else auto
            reserved = _tokens(config.compaction.reserved) if config.compaction.reserved is not None else reserved
        limit = _limit_in(config.provider, provider, id)
        if limit is not None:
            stated = _merge(stated, limit, name)
    if stated is None or stated.context is None:
        catalogue = _catalogue(env, home, provider, id)
        stated = (
            _merge(catalogue, _Limit(stated.context, stated.input, stated.output), stated.source)
            if stated and catalogue
            else stated or catalogue
        )
    if env.get("OPENCODE_DISABLE_AUTOCOMPACT", "").lower() in ("1", "true"):
        auto = False
    return Window(_claims(stated), *_threshold(stated, auto, reserved))


def _claims(stated: _Stated | None) -> tuple[LimitClaim, ...]:
    if stated is None or stated.context is None:
        return ()
    return (LimitClaim(_known(stated, stated.context), "context", stated.source, RANK_HARNESS),)


def _known(stated: _Stated, tokens: int) -> Known[int]:
    return Estimated(tokens, "catalogue file") if stated.estimated else Confirmed(tokens, Witness.CONFIG)


def _threshold(stated: _Stated | None, auto: bool, reserved: int | None) -> tuple[Known[int], str | None]:
    """Return when OpenCode compacts by itself (its overflow rule): input − reserved, else context − output."""
    if not auto:
        return Unavailable(Why.UNKNOWN, "automatic compaction is switched off"), None
    if stated is None or not stated.context:
        return Unavailable(Why.UNKNOWN, "the model's limit is not in OpenCode's configuration"), None
    output = min(stated.output or 0, OUTPUT_TOKEN_MAX) or OUTPUT_TOKEN_MAX
    if stated.input:
        kept, rule = (reserved if reserved is not None else min(RESERVED_MAX, output)), "input"
        tokens = max(0, stated.input - kept)
    else:
        kept, rule = output, "context"
        tokens = max(0, stated.context - kept)
    words = f"{rule} − {kept:,} {'reserved' if rule == 'input' else 'for output'}"
    return Estimated(tokens, f"OpenCode's rule: {words}"), words


def _merge(old: _Stated | None, limit: _Limit, source: str) -> _Stated:
    """Lay one file's statement over those before it."""
    context, into, out = _tokens(limit.context), _tokens(limit.input), _tokens(limit.output)
    if old is None:
        return _Stated(context, into, out, source, False)
    return _Stated(
        old.context if context is None else context,
        old.input if into is None else into,
        old.output if out is None else out,
        old.source if context is None else source,
        old.estimated if context is None else False,
    )


def _tokens(value: float | None) -> int | None:
    return int(value) if value is not None and 0 <= value < 2**62 else None


def _limit_in(providers: Mapping[str, _Provider] | None, provider: str, id: str) -> _Limit | None:
    models = providers[provider].models if providers and provider in providers else None
    return models[id].limit if models and id in models else None


def _files(env: Environment, home: Path, directory: str | None) -> Iterator[tuple[Path, str]]:
    """Yield each place and what it is called here: names of files that somebody chose are not repeated."""
    folder = Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    yield from ((folder / name, name) for name in _NAMES)
    if env.get("OPENCODE_CONFIG"):
        yield Path(env["OPENCODE_CONFIG"]), "$OPENCODE_CONFIG"
    if directory and os.path.isabs(directory) and "\0" not in directory:
        yield from _project(Path(directory))
    if env.get("OPENCODE_CONFIG_DIR"):
        yield from ((Path(env["OPENCODE_CONFIG_DIR"]) / name, name) for name in _NAMES[1:])


def _project(directory: Path) -> Iterator[tuple[Path, str]]:
    """Yield the project's own files, from its root (the folder that holds ``.git``) down to the directory."""
    way = [directory]
    for parent in (directory, *directory.parents):
        if parent != directory:
            way.append(parent)
        if os.path.lexists(parent / ".git"):
            break
    else:
        way = [directory]
    for folder in reversed(way):
        yield from ((folder / name, name) for name in _NAMES[1:])
        yield from ((folder / ".opencode" / name, name) for name in _NAMES[1:])


_cache: dict[Path, tuple[tuple[int, int], object]] = {}


def _load(path: Path, most: int) -> tuple[bytes, tuple[int, int]] | None:
    """Return a small regular file's bytes and stamp; whatever cannot be read counts as absent."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        s = os.fstat(handle)
        if not stat.S_ISREG(s.st_mode) or s.st_size > most:
            return None
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read(most), (s.st_mtime_ns, s.st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def _read(path: Path) -> _Config | None:
    loaded = _load(path, _CONFIG_MOST)
    if loaded is None:
        return None
    try:
        return msgspec.json.decode(plain_json(loaded[0].decode("utf-8-sig")), type=_Config)
    except UNREADABLE:
        return None


def _catalogue(env: Environment, home: Path, provider: str, id: str) -> _Stated | None:
    path = Path(env.get("XDG_CACHE_HOME") or home / ".cache") / "opencode" / "models.json"
    try:
        s = path.stat()
        stamp = s.st_mtime_ns, s.st_size
    except (OSError, ValueError):
        return None
    if _cache.get(path, ((0, 0), None))[0] != stamp:
        loaded = _load(path, _CATALOGUE_MOST)
        try:
            made = msgspec.json.decode(loaded[0], type=dict[str, _Provider]) if loaded else None
        except UNREADABLE:
            made = None
        _cache[path] = stamp, made
    providers = _cache[path][1]
    limit = _limit_in(providers, provider, id) if isinstance(providers, dict) else None  # pyright: ignore[reportUnknownArgumentType]
    if limit is None or _tokens(limit.context) is None:
        return None
    return _Stated(_tokens(limit.context), _tokens(limit.input), _tokens(limit.output), "catalogue", True)
