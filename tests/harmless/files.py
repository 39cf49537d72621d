"""What a folder holds, exactly."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

State = tuple[str, int, int, int, str]
"""Kind, mode, size, time of the last change (ns), sha256."""


def state_of(folder: Path, *, times: bool = True, but: str | None = None) -> dict[str, State]:
    """Return what lies below a folder, and the folder itself.

    Args:
        folder: Where to look.
        times: Whether times count.
        but: Files whose names end so are left out, and the times of the folders that hold them.
    """
    found: dict[str, State] = {}
    for place, _, names in os.walk(folder):
        here = Path(place)
        s = here.stat()
        found[str(here.relative_to(folder))] = ("folder", s.st_mode, 0, s.st_mtime_ns if times and but is None else 0, "")
        for name in names:
            if but is not None and name.endswith(but):
                continue
            file = here / name
            s = file.stat()
            time = s.st_mtime_ns if times else 0
            found[str(file.relative_to(folder))] = ("file", s.st_mode, s.st_size, time, hashlib.sha256(file.read_bytes()).hexdigest())
    return found
