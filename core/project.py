"""Which project a session belongs to, by the directory that its store recorded.

git itself is never run: a repository's configuration can name programs that it would start.
"""

from __future__ import annotations

import os
import unicodedata
from functools import lru_cache
from pathlib import PureWindowsPath

from ctx_inspect.core.model.evidence import Raw

LONGEST = 4096
"""Characters of a path beyond which no system opens it; looking for each of its ancestors would be quadratic."""


@lru_cache(maxsize=4096)
def project_of(directory: Raw) -> Raw:
    """Return the project of a recorded directory.

    Args:
        directory: As recorded; it may be gone, or of another machine.

    Returns:
        The real path of the nearest ancestor that holds ``.git`` (file or folder), else of the directory. A path of
        another system (a drive letter), a relative one, or one that is too long for any system, is returned as it is.
    """
    if len(directory) > LONGEST or not os.path.isabs(directory) or "\0" in directory:
        return directory
    try:
        real = os.path.realpath(directory)
    except (OSError, ValueError):
        return directory
    at = real
    while True:
        if _holds_git(at):
            return Raw(at)
        parent = os.path.dirname(at)
        if parent == at:
            return Raw(real)
        at = parent


def _holds_git(folder: str) -> bool:
    try:
        return os.path.exists(os.path.join(folder, ".git"))
    except ValueError:
        return False


def key_of(path: Raw) -> str:
    """Return what two paths have in common exactly when they are one place.

    One name may be recorded composed or decomposed (macOS gives out the latter), and Windows knows no case.
    """
    text = unicodedata.normalize("NFC", path)
    windows = PureWindowsPath(text)
    if windows.drive and not text.startswith("/"):
        return windows.as_posix().casefold().rstrip("/")
    return text.rstrip("/") or "/"


def same_project(a: Raw | None, b: Raw | None) -> bool:
    """Tell whether two projects are one; unknown ones never are."""
    return a is not None and b is not None and key_of(a) == key_of(b)
