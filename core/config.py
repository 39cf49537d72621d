"""The user's own file, ``config.toml``: limits of models that no harness knows, keys, theme. Nothing of a project is read here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from ctx_inspect.core.files import read_small
from ctx_inspect.core.model import Confirmed, LimitClaim, Model, Witness
from ctx_inspect.core.model import Window as ModelWindow
from ctx_inspect.core.model.limits import BELIEVED, RANK_USER
from ctx_inspect.core.model.values import replace
from msgspec import Struct, field

LARGEST = 1_000_000
"""Bytes of a configuration file that are read."""


class Config(Struct, frozen=True):
    """What the user's file says.

    Attributes:
        limits: ``provider/model`` or ``model`` → context limit, tokens.
        keys: Id of a binding → the keys that the person wants for it.
        theme: Name of a theme.
        problems: Sentences on what of it cannot be used.
        path: The file, there or not.
    """

    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    theme: str | None = None
    problems: tuple[str, ...] = ()
    path: Path | None = None

    def limit(self, model: Model) -> int | None:
        """Return the user's limit of a model; ``provider/model`` goes before ``model``."""
        if model.id is None:
            return None
        if model.provider is not None and (full := self.limits.get(f"{model.provider}/{model.id}")) is not None:
            return full
        return self.limits.get(model.id)

    def window_for(self, window: Callable[[Model], ModelWindow]) -> Callable[[Model], ModelWindow]:
        """Return a source's ``window`` with the user's claim beside the harness's own."""

        def both(model: Model) -> ModelWindow:
            found = window(model)
            tokens = self.limit(model)
            if tokens is None:
                return found
            mine = LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "[limits]", RANK_USER)
            return replace(found, claims=(*found.claims, mine))

        return both


def load(path: Path) -> Config:
    """Read the user's file.

    Args:
        path: ``config.toml``; it need not exist.

    Returns:
        What it says; what cannot be used of it is named in ``problems`` and left out.
    """
    try:
        data = read_small(path, LARGEST)
    except FileNotFoundError:
        return Config(path=path)
    except OSError:
        return Config(problems=("config.toml cannot be read",), path=path)
    except ValueError:
        large = path.is_file()
        return Config(problems=("config.toml is larger than 1 MB: not read" if large else "config.toml is no file: not read",), path=path)
    import tomllib  # most people have no such file

    try:
        table = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return Config(problems=("config.toml is not UTF-8",), path=path)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Config(problems=("config.toml is not valid TOML",), path=path)
    limits, wrong_limits = _table(table.get("limits", {}), lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0)
    keys, wrong_keys = _table(table.get("keys", {}), lambda v: isinstance(v, str) and bool(v))
    theme = table.get("theme")
    problems: list[str] = []
    if wrong_limits:
        problems.append(f"config.toml: {wrong_limits} of [limits] are no whole number of tokens")
    if doubted := sum(tokens not in BELIEVED for tokens in cast("dict[str, int]", limits).values()):
        words = f"{doubted} of [limits] {'is' if doubted == 1 else 'are'} not believed"
        problems.append(f"config.toml: {words}: a window has {BELIEVED[0]:,} to {BELIEVED[-1]:,} tokens")
    if wrong_keys:
        problems.append(f"config.toml: {wrong_keys} of [keys] are no text")
    if theme is not None and not isinstance(theme, str):
        problems.append("config.toml: theme must be a name")
    return Config(
        cast("dict[str, int]", limits), cast("dict[str, str]", keys), theme if isinstance(theme, str) else None, tuple(problems), path
    )


def _table(stated: object, good: Callable[[object], bool]) -> tuple[dict[str, object], int]:
    """Return what of a table can be used, and how much cannot; a value that is no table is one that cannot."""
    if not isinstance(stated, dict):
        return {}, 1
    values = cast("dict[str, object]", stated)
    kept = {name: value for name, value in values.items() if good(value)}
    return kept, len(values) - len(kept)
