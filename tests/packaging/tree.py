"""What belongs to the tree: the files under version control, or, in an unpacked archive, all but what tools leave behind."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

SOURCES = ("app", "widgets", "core")
LEFT_BEHIND = {
    ".git",
    ".venv",
    "build",
    "dist",
    "__pycache__",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
    ".import_linter_cache",
    "ctx_inspect.egg-info",
}


@cache
def files() -> tuple[Path, ...]:
    """Return the paths of the tree's files relative to its root; symbolic links to folders count as one file."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\0")
        paths = [Path(name) for name in listed if name]
    else:
        paths = [
            path.relative_to(ROOT)
            for path in ROOT.rglob("*")
            if (path.is_symlink() or path.is_file()) and not LEFT_BEHIND.intersection(path.relative_to(ROOT).parts)
        ]
    return tuple(sorted(path for path in paths if (ROOT / path).is_symlink() or (ROOT / path).exists()))


def sources() -> tuple[Path, ...]:
    """Return the files of the product: all below ``app``, ``widgets`` and ``core``."""
    return tuple(path for path in files() if path.parts[0] in SOURCES)


def texts() -> dict[Path, str]:
    """Return the text of every file that is text."""
    found: dict[Path, str] = {}
    for path in files():
        full = ROOT / path
        if full.is_symlink():
            continue
        data = full.read_bytes()
        if b"\0" in data[:8192]:
            continue
        found[path] = data.decode("utf-8", "replace")
    return found
