"""Words for what the system or a damaged file refuses; never the text of an exception or of a store."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path

from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.sources.base import SourceError
from ctx_inspect.core.sources.jsonl import Fault

MAX_NAMED = 200
"""Damaged places named one by one; of more only the number is told."""

_GONE = (ProblemCode.GONE, "it is no longer there")
_DENIED = (ProblemCode.PERMISSION, "no permission to read it")
_REASONS = {
    errno.ENOENT: _GONE,
    errno.ENOTDIR: _GONE,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ELOOP: (ProblemCode.NOT_A_STORE, "it is a loop of links"),
    errno.ENAMETOOLONG: (ProblemCode.NOT_A_STORE, "its name is too long"),
}

A_FOLDER = "it is a folder, not a file"
NO_FILE = "it is a pipe, socket or device, not a file"
EMPTY = "the file is empty"
NO_HEADER = "it is not a Pi session: its first record is no session header"


def reason(error: OSError | ValueError) -> tuple[ProblemCode, str]:
    """Return the kind of problem and its words."""
    if not isinstance(error, OSError):
        return ProblemCode.NOT_A_STORE, NO_FILE
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    return _REASONS.get(error.errno or 0, (ProblemCode.CORRUPT, f"the system cannot read it ({name})"))


def refused(error: OSError | ValueError, path: Path) -> SourceError:
    """Return the error for a file or folder that the system does not let us read."""
    code, words = reason(error)
    return SourceError(code, A_FOLDER if words == NO_FILE and path.is_dir() else words, path)


def problems_of(faults: Iterable[Fault], path: Path) -> tuple[Problem, ...]:
    """Return damaged lines as problems, each named; a run of equal ones is one."""
    runs: list[tuple[Fault, int]] = []
    for fault in sorted(faults, key=lambda f: f.line):
        if runs and runs[-1][0].what == fault.what and runs[-1][0].recovered == fault.recovered and runs[-1][1] + 1 == fault.line:
            runs[-1] = (runs[-1][0], fault.line)
        else:
            runs.append((fault, fault.line))
    source = Raw(str(path))
    named: list[Problem] = []
    for fault, last in runs[:MAX_NAMED]:
        code = ProblemCode.RECOVERED_RECORD if fault.recovered else ProblemCode.UNREADABLE_RECORD
        where = f"line {fault.line}" if last == fault.line else f"lines {fault.line} to {last}"
        named.append(Problem(source, code, f"{where}: {fault.what}"))
    if len(runs) > MAX_NAMED:
        named.append(Problem(source, ProblemCode.UNREADABLE_RECORD, f"{len(runs) - MAX_NAMED} more damaged places"))
    return tuple(named)
