"""Where OpenCode keeps its databases, and how one is known by its content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ctx_inspect.core.sources.base import Environment, Looked, SourceError
from ctx_inspect.core.sources.sqlite import WAIT, is_sqlite, read

_NAME = re.compile(r"opencode[\w.-]*\.db")
_LABEL = "OpenCode"


def find(env: Environment, home: Path) -> list[Looked]:
    """Look where OpenCode keeps its sessions.

    Args:
        env: Environment variables (``OPENCODE_DB``, ``XDG_DATA_HOME``).
        home: The user's home directory.
    """
    data = data_folder(env, home)
    places: list[Looked] = []
    named = env.get("OPENCODE_DB", "")
    if named and named != ":memory:":
        path = Path(named) if os.path.isabs(named) else data / named
        places.append(_one(path, "$OPENCODE_DB", home))
    places.append(_databases(data, home))
    storage = data / "storage"
    found = (storage,) if has_json_sessions(storage) else ()
    places.append(
        Looked("opencode", _LABEL, _tilde(storage / "session", home), found, None if found else _why(storage, "no sessions in it"))
    )
    return places


def data_folder(env: Environment, home: Path) -> Path:
    """Return OpenCode's data folder."""
    base = env.get("XDG_DATA_HOME", "")
    return (Path(base) if os.path.isabs(base) else home / ".local" / "share") / "opencode"


def _one(path: Path, label: str, home: Path) -> Looked:
    found = (path,) if os.path.lexists(path) else ()
    return Looked("opencode", _LABEL, f"{label} = {_tilde(path, home)}", found, None if found else "no such file")


def _databases(folder: Path, home: Path) -> Looked:
    place = _tilde(folder / "opencode*.db", home)
    found = tuple(databases_in(folder))
    return Looked("opencode", _LABEL, place, found, None if found else _why(folder, "no database in it"))


def databases_in(folder: Path) -> list[Path]:
    """Return the databases of a data folder, the stable channel's first."""
    with suppress(OSError, ValueError):
        names = sorted((e.name for e in os.scandir(folder) if _NAME.fullmatch(e.name)), key=lambda n: (n != "opencode.db", n))
        return [folder / n for n in names]
    return []


def has_json_sessions(storage: Path) -> bool:
    """Tell whether a ``storage`` folder holds sessions of the generation before the database."""
    withheld: list[Path] = []
    return next(session_files(storage, withheld), None) is not None or bool(withheld)  # what is withheld is said in the list


def session_files(storage: Path, withheld: list[Path] | None = None) -> Iterator[Path]:
    """Yield ``session/<project>/<id>.json``; folders that may not be read are put into ``withheld``."""
    for folder in _folders(storage / "session"):
        try:
            yield from sorted(Path(e.path) for e in os.scandir(folder) if e.name.endswith(".json") and e.is_file())
        except PermissionError:
            if withheld is not None:
                withheld.append(folder)
        except OSError:
            continue


def _folders(folder: Path) -> list[Path]:
    with suppress(OSError, ValueError):
        return sorted(Path(e.path) for e in os.scandir(folder) if e.is_dir())
    return []


def _why(folder: Path, otherwise: str) -> str:
    try:
        os.scandir(folder).close()
    except PermissionError:
        return "no permission"
    except (OSError, ValueError):
        return "no such folder"
    return otherwise


def _tilde(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def probe(path: Path) -> bool:
    """Tell by its content whether a path is OpenCode's: a database, a data folder, or a ``storage`` folder. Never raises."""
    try:
        if path.is_dir():
            return any(probe(p) for p in databases_in(path)) or has_json_sessions(path) or has_json_sessions(path / "storage")
        if not is_sqlite(path):
            return False
        # a lock is waited for only where the name does not tell: nothing is on the screen meanwhile
        wait = 0.05 if _NAME.fullmatch(path.name) else WAIT
        found = read(path, lambda r: ("id" in r.columns("session"), "id" in r.columns("session_v2")), tables=(), wait=wait, deadline=5.0)
    except SourceError as error:
        return error.code.value in ("locked", "corrupt", "wal_not_readable") and _NAME.fullmatch(path.name) is not None
    except (OSError, ValueError):
        return False
    return any(found.value)
