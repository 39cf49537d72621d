"""Where Pi keeps its sessions, and whether a path is one of its stores."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from ctx_inspect.core.sources.base import Environment, Looked, SourceError
from ctx_inspect.core.sources.pi.config import session_folder

LOOKED_AT = 256
"""Files of a folder that ``probe`` looks into before it gives up; empty ones are not opened and do not count."""


def agent_folder(env: Environment, home: Path) -> Path:
    """Return Pi's own folder: ``$PI_CODING_AGENT_DIR``, else ``~/.pi/agent``."""
    named = env.get("PI_CODING_AGENT_DIR")
    return _expand(named, home) if named else home / ".pi" / "agent"


def _expand(path: str, home: Path) -> Path:
    if path == "~" or path.startswith("~/"):
        return home / path[2:]
    return Path(path)


def find(env: Environment, home: Path) -> list[Looked]:
    """Look for sessions folders.

    Args:
        env: Environment variables.
        home: The user's home directory.

    Returns:
        Every place that Pi may use here, with what was found in it.
    """
    agent = agent_folder(env, home)
    places = [agent / "sessions"]
    if agent != home / ".pi" / "agent":
        places.append(home / ".pi" / "agent" / "sessions")
    if named := env.get("PI_CODING_AGENT_SESSION_DIR"):
        places.append(_expand(named, home))
    if (configured := session_folder(agent)) is not None:
        places.append(configured)
    looked: list[Looked] = []
    for place in dict.fromkeys(places):
        why = _why_not(place)
        looked.append(Looked("pi", "Pi", _shown(place, home), () if why else (place,), why))
    return looked


def _why_not(folder: Path) -> str | None:
    try:
        if not folder.is_dir():
            return "no folder of that name" if not folder.exists() else "not a folder"
        from ctx_inspect.core.sources.pi.listing import session_files  # heavy, and not needed where there is no such folder

        withheld: dict[str, OSError] = {}
        # a folder in it that may not be read is said when it is listed
        return None if next(session_files(folder, withheld.__setitem__), None) is not None or withheld else "no session in it"
    except PermissionError:
        return "no permission to read it"
    except (OSError, ValueError):
        return "it cannot be read"


def _shown(path: Path, home: Path) -> str:
    try:
        return str(Path("~") / path.relative_to(home))
    except ValueError:
        return str(path)


def probe(path: Path) -> bool:
    """Tell whether a path is a Pi session file, or a folder of them. Opens a few files at most."""
    from ctx_inspect.core.sources.pi.listing import session_files

    try:
        if path.is_file():
            return _is_session(path)
        if not path.is_dir():
            return False
        full = (name for name, at in session_files(path) if at.st_size)
        return any(_is_session(Path(name)) for name in islice(full, LOOKED_AT))
    except (OSError, ValueError):
        return False


def _is_session(path: Path) -> bool:
    from ctx_inspect.core.sources.pi.listing import glance

    try:
        if os.path.getsize(path) == 0:
            return False
        glance(path)
    except (SourceError, OSError):
        return False
    return True
