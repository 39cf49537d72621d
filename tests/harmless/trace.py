"""Reads what ``strace`` noted of our system calls, and names those that change a store."""

from __future__ import annotations

import os
import re
from pathlib import Path

CALLS = ",".join(
    [
        "open",
        "openat",
        "openat2",
        "creat",
        "write",
        "pwrite64",
        "writev",
        "pwritev",
        "pwritev2",
        "sendfile",
        "copy_file_range",
        "splice",
        "truncate",
        "ftruncate",
        "fallocate",
        "unlink",
        "unlinkat",
        "rename",
        "renameat",
        "renameat2",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "mkdir",
        "mkdirat",
        "rmdir",
        "mknod",
        "mknodat",
        "chmod",
        "fchmod",
        "fchmodat",
        "chown",
        "fchown",
        "fchownat",
        "lchown",
        "utimensat",
        "utime",
        "utimes",
        "futimesat",
        "setxattr",
        "fsetxattr",
        "mmap",
        "fcntl",
    ]
)

COMMAND = ("strace", "-f", "-qq", "-y", "-s", "0", "-e", f"trace=?{CALLS.replace(',', ',?')}", "-e", "signal=none", "-o")

_LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
_WRITING_OPEN = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")


def changes(noted: str, folder: Path) -> list[str]:
    """Return the lines of a trace that change something in a folder, but for ``*-shm``.

    Opening for writing counts as a change where it succeeded; so do a shared mapping that can be written and a lock
    that shuts others out. Two things that SQLite does when it only reads do not: it opens an existing ``-wal`` for
    writing (what it then does with it is looked at), and run by root it gives that file the owner that it has.
    """
    found: list[str] = []
    place = str(folder)
    for line in noted.splitlines():
        match = _LINE.match(line)
        if match is None or place not in line:
            continue
        call, rest = match.groups()
        paths = [p for p in re.findall(r'[<"]([^<>"]*)[>"]', rest) if p == place or p.startswith(place + "/")]
        touched = [p for p in paths if not p.endswith("-shm")]
        if not touched:
            continue
        if call in ("open", "openat", "openat2"):
            named = [p for p in re.findall(r'"([^"]*)"', rest) if p in touched]
            if not named or not _WRITING_OPEN.search(rest) or " = -1 E" in rest:
                continue
            if all(p.endswith("-wal") for p in named) and "O_TRUNC" not in rest:
                continue
        elif call == "mmap":
            if "MAP_SHARED" not in rest or "PROT_WRITE" not in rest:
                continue
        elif call == "fcntl":
            if "F_WRLCK" not in rest or "F_GETLK" in rest or " = -1 E" in rest:
                continue
        elif " = -1 E" in rest or (call == "fchown" and touched[0].endswith("-wal") and f"{os.geteuid()}, {os.getegid()})" in rest):
            continue
        found.append(line)
    return found
