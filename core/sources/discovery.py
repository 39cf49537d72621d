"""Finding stores by themselves, and opening those that were named."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.sources import opencode, pi
from ctx_inspect.core.sources.base import Environment, Looked, Source, SourceError
from msgspec import Struct

KINDS = ("opencode", "pi")
"""Kinds that ``--source KIND:PATH`` may name."""


class Discovery(Struct, frozen=True):
    """What was found, and where was looked.

    Attributes:
        sources: One per store, each once.
        looked: Every place, with what was found there or why nothing.
        problems: Stores that were found and cannot be opened.
    """

    sources: tuple[Source, ...]
    looked: tuple[Looked, ...]
    problems: tuple[Problem, ...] = ()


def _make(kind: str, path: Path, one_shot: bool) -> Source:
    return opencode.OpenCodeSource(path) if kind == "opencode" else pi.PiSource(path, one_shot=one_shot)


def discover(env: Environment, home: Path, *, one_shot: bool = False) -> Discovery:
    """Look where each harness keeps its sessions.

    Args:
        env: Environment variables.
        home: The user's home directory.
        one_shot: Each store is read once, so that a whole last line without its LF counts at once.
    """
    looked = (*opencode.find(env, home), *pi.find(env, home))
    sources: list[Source] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for place in looked:
        if place.denied:
            problems.append(Problem(Raw(place.place), ProblemCode.PERMISSION, "no permission to read it"))
        for path in place.found:
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            try:
                sources.append(_make(place.kind, path, one_shot))
            except SourceError as error:
                problems.append(Problem(Raw(str(path)), error.code, error.message))
    return Discovery(tuple(sources), looked, tuple(problems))


def open_source(spec: str, *, one_shot: bool = False) -> Source:
    """Open a store that the user named.

    Args:
        spec: A path (its kind is told by its content), or ``KIND:PATH``.
        one_shot: It is read once; see :func:`discover`.

    Raises:
        SourceError: It is not there, cannot be read, or is no store of the kind.
    """
    kind, path = _split(spec)
    _check(path)
    for one in (kind,) if kind else KINDS:
        if _probe(one)(path):
            return _make(one, path, one_shot)
    if kind != "opencode" and pi.probe(path / "sessions"):  # Pi's own folder
        return _make("pi", path / "sessions", one_shot)
    raise _no_store(path, kind)


def open_sources(specs: Sequence[str], *, one_shot: bool = False) -> tuple[Source, ...]:
    """Open all stores that the user named, each once.

    Args:
        specs: As :func:`open_source` takes them.
        one_shot: They are read once; see :func:`discover`.

    Raises:
        SourceError: One of them cannot be opened: the user named it, so nothing else is shown instead.
    """
    found: dict[str, Source] = {}
    for spec in specs:
        source = open_source(spec, one_shot=one_shot)
        found.setdefault(os.path.realpath(source.path), source)
    return tuple(found.values())


def _probe(kind: str) -> Callable[[Path], bool]:
    return opencode.probe if kind == "opencode" else pi.probe


def _split(spec: str) -> tuple[str | None, Path]:
    kind, colon, rest = spec.partition(":")
    if colon and kind in KINDS and rest:
        return kind, Path(rest).expanduser()
    return None, Path(spec).expanduser()


_REASONS = {
    errno.ENOENT: (ProblemCode.GONE, "there is no such file or folder"),
    errno.ENOTDIR: (ProblemCode.GONE, "there is no such file or folder"),
    errno.EACCES: (ProblemCode.PERMISSION, "no permission to read it"),
    errno.EPERM: (ProblemCode.PERMISSION, "no permission to read it"),
    errno.ELOOP: (ProblemCode.NOT_A_STORE, "it is a loop of links"),
    errno.ENAMETOOLONG: (ProblemCode.NOT_A_STORE, "its name is too long"),
}


def reason_of(error: OSError) -> tuple[ProblemCode, str]:
    """Return the kind of problem and the words for what the system refused; never the error's own text."""
    return _REASONS.get(
        error.errno or 0, (ProblemCode.CORRUPT, f"the system cannot read it ({errno.errorcode.get(error.errno or 0, 'unknown error')})")
    )


def _check(path: Path) -> None:
    """Refuse what is no file or folder before anything opens it: opening a pipe would wait for ever."""
    try:
        mode = path.stat()
        if stat.S_ISDIR(mode.st_mode):
            with os.scandir(path) as entries:
                empty = next(entries, None) is None
            if empty:
                raise SourceError(ProblemCode.NOT_A_STORE, "the folder is empty", path)
            return
        if not stat.S_ISREG(mode.st_mode):
            raise SourceError(ProblemCode.NOT_A_STORE, "it is a pipe, socket or device, not a file", path)
        if mode.st_size == 0:
            raise SourceError(ProblemCode.NOT_A_STORE, "the file is empty", path)
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        raise SourceError(*reason_of(error), path) from None
    except ValueError:
        raise SourceError(ProblemCode.NOT_A_STORE, "its name is no file name", path) from None


LOOKED_AT = 1_000
"""Entries of a folder that is no store that are looked at, to tell a folder of others from one whose files may not be read."""


def _withheld(folder: Path) -> bool:
    """Tell whether a folder, or one right below it, holds what may be a session or a database and may not be read."""
    left = LOOKED_AT
    folders = [(folder, True)]
    while folders:
        here, top = folders.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        return False
                    if entry.is_dir(follow_symlinks=False):
                        if top:
                            folders.append((Path(entry.path), False))
                    elif entry.name.endswith((".jsonl", ".db")) and not os.access(entry.path, os.R_OK):
                        return True
        except PermissionError:
            return True
        except OSError:
            continue
    return False


def _no_store(path: Path, kind: str | None) -> SourceError:
    if path.is_dir() and _withheld(path):
        return SourceError(ProblemCode.PERMISSION, "no permission to read the files in it", path)
    what = {"opencode": "an OpenCode database", "pi": "a Pi session file or folder"}
    wanted = what[kind] if kind else " nor ".join(what.values())
    words = f"it is not {wanted}" if kind else f"it is neither {wanted}"
    return SourceError(ProblemCode.NOT_A_STORE, words, path)
