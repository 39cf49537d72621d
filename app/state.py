"""What is remembered between runs (ids and choices, never text), and the log of a crash (types and our frames, never messages)."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from ctx_inspect import __version__
from ctx_inspect.core.files import read_small

NAME = "ctx-inspect"
KEPT = ("session", "previous", "tab", "theme")
"""All that is ever remembered."""

_LONGEST = 200
_MOST = 64 << 10
"""Bytes that the file of choices may have."""

_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Never through a link, and never waiting on a pipe in the file's place."""


def folder() -> Path:
    """Return the folder for state; it may not exist."""
    from platformdirs import user_state_path

    return user_state_path(NAME, appauthor=False)


def remembered(where: Path | None = None) -> dict[str, str]:
    """Return the choices of the last run; a file that cannot be read is none."""
    try:
        found = json.loads(read_small((where or folder()) / "screen.json", _MOST))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {k: v for k in KEPT if isinstance(v := found.get(k), str) and len(v) <= _LONGEST}


def remember(choices: Mapping[str, str | None], where: Path | None = None) -> bool:
    """Keep choices for the next run, in a file of ours (0600 in 0700); return whether it could be written."""
    place = where or folder()
    kept = {k: v for k in KEPT if (v := choices.get(k)) is not None and len(v) <= _LONGEST}
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(place / "screen.json", json.dumps(kept).encode())
    except OSError:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(temporary, _WRITE, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def log_crash(error: BaseException, where: Path | None = None, doing: str = "") -> Path | None:
    """Write a crash log and return its path: exception types and our frames; no message, no value, no source line.

    Args:
        error: What happened; only its type, its causes' types and frames are used.
        where: Another folder.
        doing: What was being done, in our own words.
    """
    lines = [f"{NAME} {__version__} {datetime.now(UTC).isoformat(timespec='seconds')} {doing}".rstrip()]
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        lines.append(f"{type(at).__module__}.{type(at).__qualname__}")
        lines += [f"  {_ours(f.filename)}:{f.lineno} {f.name}" for f in traceback.extract_tb(at.__traceback__) if _ours(f.filename)]
        at = at.__cause__ or at.__context__
    place = where or folder()
    path = place / "crash.log"
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(path, _WRITE, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except OSError:
        return None
    return path


_ROOT = Path(__file__).resolve().parent.parent


def _ours(filename: str) -> str | None:
    """Return a frame's file below the package, or ``None`` where it is not ours."""
    try:
        relative = Path(filename).resolve().relative_to(_ROOT)
    except (ValueError, OSError):
        return None
    return None if relative.parts[:1] == (".venv",) or "site-packages" in relative.parts else relative.as_posix()
