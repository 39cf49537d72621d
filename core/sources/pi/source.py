"""Pi's session files as a source."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from ctx_inspect.core.files import open_regular
from ctx_inspect.core.model import (
    Confirmed,
    Estimated,
    Known,
    Ledger,
    Listing,
    Model,
    Problem,
    ProblemCode,
    Raw,
    Ref,
    SessionInfo,
    Unavailable,
    Why,
    Window,
    replace,
)
from ctx_inspect.core.model.ledger import NO_ORIGIN
from ctx_inspect.core.sources.base import Change, NoSession, SourceError
from ctx_inspect.core.sources.pi.config import Configuration
from ctx_inspect.core.sources.pi.find import agent_folder
from ctx_inspect.core.sources.pi.listing import Glance, glance, info_of, session_files
from ctx_inspect.core.sources.pi.names import Names
from ctx_inspect.core.sources.pi.session import QUIET, SessionFile, id_in_name
from ctx_inspect.core.sources.pi.sweep import Cursor, Sweep
from ctx_inspect.core.sources.pi.tail import newest
from ctx_inspect.core.sources.pi.texts import text_of
from ctx_inspect.core.sources.pi.trouble import reason, refused

OPEN_FILES = 4
"""Sessions whose index is kept, so that texts are found without reading the file again."""

SEARCHED = {True: 1 << 30, False: 16 << 20}
"""Bytes in which one list looks for names, by whether it is the only one (a GB takes 0.8 s): others go on with the next list and look."""
SEARCHED_IN_LOOK = 8 << 20

Stamp = tuple[int, int, int, int]
"""Device, inode, size, mtime in nanoseconds."""


def stamp_of(at: os.stat_result) -> Stamp:
    """Return what changes whenever a file does."""
    return at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns


class PiSource:
    """A sessions folder of Pi, or one session file.

    Args:
        path: The folder (``--<cwd>--`` folders in it, or session files directly), or a ``.jsonl`` file.
        agent: Pi's own folder, with models.json and settings.json; guessed from the path where absent.
        one_shot: Read a whole last line without LF at once instead of waiting until the file is quiet: for commands.
        clock: Seconds since the epoch.
    """

    kind = "pi"

    def __init__(self, path: Path, *, agent: Path | None = None, one_shot: bool = False, clock: Callable[[], float] = time.time) -> None:
        """Name the store; nothing is read yet."""
        self.path = path
        self.one_shot = one_shot
        self._clock = clock
        self._configuration = Configuration(agent or _agent_of(path))
        self._glances: dict[str, tuple[Stamp, Glance | SourceError]] = {}
        self._paths: dict[str, str] = {}
        self._named: dict[str, list[str]] = {}  # paths by file name
        self._outside: dict[str, tuple[Stamp | None, Glance | None]] = {}  # parents that are not listed here
        self._files: OrderedDict[str, SessionFile] = OrderedDict()
        self._sweep = Sweep(path)
        self._names = Names()

    def watch_paths(self) -> Sequence[Path]:
        """Return the folders (or the file) to be watched."""
        return (self.path,)

    # -- listing -----------------------------------------------------------------------------------------

    def sessions(self) -> Listing:
        """List the sessions, newest first, from the ends of their files.

        Raises:
            SourceError: The folder or file cannot be read.
        """
        rows: dict[str, SessionInfo] = {}
        problems: list[Problem] = []
        now = self._clock()
        held = self._glances
        self._glances = {}
        withheld: dict[str, OSError] = {}
        for name, at in self._list(withheld):
            seen = held.get(name)
            if seen is None or seen[0] != stamp_of(at):
                try:
                    seen = (stamp_of(at), glance(Path(name)))
                except SourceError as error:
                    seen = (stamp_of(at), error)
            self._glances[name] = seen
            if isinstance(seen[1], SourceError):
                problems.append(Problem(Raw(name), seen[1].code, seen[1].message))
        problems += [Problem(Raw(name), *reason(error)) for name, error in withheld.items()]
        self._names.keep(self._glances.__contains__)
        self._find_names(SEARCHED[self.one_shot])
        self._named = {}
        for name in self._glances:
            self._named.setdefault(name.rsplit("/", 1)[-1], []).append(name)
        outside = set[str]()
        for name, (_, seen) in self._glances.items():
            if isinstance(seen, SourceError):
                continue
            if seen.header.parent is not None:
                outside.add(seen.header.parent)
            try:
                at = os.stat(name)
            except OSError:
                continue
            info = info_of(seen, Path(name), at, now, self._origin(seen))
            other = rows.get(info.id)
            if other is not None:
                words = "two files hold a session with the same id; the newer one is shown"
                older = min(info, other, key=lambda i: i.updated or 0)
                problems.append(Problem(older.path, ProblemCode.SCHEMA_UNKNOWN, words))
                info = max(info, other, key=lambda i: i.updated or 0)
            rows[info.id] = info
        self._outside = {name: held for name, held in self._outside.items() if name in outside}
        self._paths = {id: str(info.path) for id, info in rows.items()}
        ordered = sorted(rows.values(), key=lambda i: i.updated or 0, reverse=True)
        return Listing(tuple(ordered), tuple(problems))

    def _find_names(self, most: int) -> bool:
        """Look for the names of sessions in the middle of their files, the newest first; return whether one is another now.

        Args:
            most: Bytes to be read at most.
        """
        rows = [(stamp[3], name) for name, (stamp, seen) in self._glances.items() if isinstance(seen, Glance)]
        another = False
        for _, name in sorted(rows, reverse=True):
            stamp, seen = self._glances[name]
            if not isinstance(seen, Glance):
                continue
            if most > 0:
                most -= self._names.search(name, stamp, most)
            found = self._names.known(name)
            if found is not None and found != seen.name:
                self._glances[name] = stamp, replace(seen, name=found)
                another = True
        return another

    def _list(self, withheld: dict[str, OSError]) -> list[tuple[str, os.stat_result]]:
        try:
            if self.path.is_dir():
                return list(session_files(self.path, withheld.__setitem__))
            return [(str(self.path), os.stat(self.path))]
        except (OSError, ValueError) as error:
            raise refused(error, self.path) from None

    def _origin(self, seen: Glance) -> Known[str]:
        """Return the key of the session that a header names as its parent: read from that file, else from its name."""
        parent = seen.header.parent
        if parent is None:
            return NO_ORIGIN
        name = parent.replace("\\", "/").rsplit("/", 1)[-1]
        for candidate in (parent,) if parent in self._glances else self._named.get(name, ()):
            known = self._glances[candidate][1]
            if isinstance(known, Glance):
                return Confirmed(f"pi:{known.header.id}")
        far = self._far(str(parent))
        if far is not None:
            return Confirmed(f"pi:{far.header.id}")
        return Estimated(f"pi:{id_in_name(Path(name))}", "the file's name in the session header; the file is gone")

    def _far(self, name: str) -> Glance | None:
        """Read the ends of a session file that is not listed here, once per state of it; ``None`` where there is none."""
        if "\0" in name:
            return None
        try:
            stamp = stamp_of(os.stat(name))
        except (OSError, ValueError):
            stamp = None
        held = self._outside.get(name)
        if held is None or held[0] != stamp:
            try:
                held = (stamp, None if stamp is None else glance(Path(name)))
            except SourceError:
                held = (stamp, None)
            self._outside[name] = held
        return held[1]

    # -- opening -----------------------------------------------------------------------------------------

    def glance(self, session: str) -> Ledger | None:
        """Read the newest turns of a long session from the end of its file (:class:`Glances`).

        Raises:
            NoSession: It is not (or no longer) there.
            SourceError: Its file cannot be read.
        """
        path = Path(self._path_of(session))
        held = self._glances.get(str(path))
        seen = held[1] if held is not None else None
        if not isinstance(seen, Glance) or seen.header.id != session or seen.header.version < 2:
            return None
        try:
            info = info_of(seen, path, os.stat(path), self._clock(), self._origin(seen))
        except OSError as error:
            raise refused(error, path) from None
        return newest(path, info, seen.header.at if seen.header.parent is not None else None)

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        """Read a session; with ``prior``, only what was added since.

        Raises:
            NoSession: It is not (or no longer) there.
            SourceError: Its file cannot be read.
        """
        path = self._path_of(session)
        file = prior.private if prior is not None else None
        if not isinstance(file, SessionFile) or str(file.path) != path:
            file = SessionFile(Path(path))
        try:
            self._refresh(file)
            info = self._info(file, session)
        except SourceError as error:
            if error.code is ProblemCode.GONE:
                raise NoSession(session) from None
            raise
        self._files[session] = file
        self._files.move_to_end(session)
        while len(self._files) > OPEN_FILES:
            self._files.popitem(last=False)
        return file.ledger(info)

    def _refresh(self, file: SessionFile) -> None:
        file.refresh(lambda at: self.one_shot or self._clock() - at.st_mtime >= QUIET)
        self._sweep.unfinished(str(file.path), file.waiting)

    def _path_of(self, session: str) -> str:
        if session not in self._paths:
            self.sessions()
        try:
            return self._paths[session]
        except KeyError:
            raise NoSession(session) from None

    def _info(self, file: SessionFile, session: str) -> SessionInfo:
        """Return the row of an opened session: what the ends of its file tell, corrected by what was read."""
        if file.header is None or file.header.id != session:
            raise NoSession(session)
        name = str(file.path)
        try:
            at = os.stat(file.path)
        except OSError as error:
            raise refused(error, file.path) from None
        held = self._glances.get(name)
        seen = held[1] if held is not None and held[0] == stamp_of(at) else glance(file.path)
        if isinstance(seen, SourceError):
            raise seen
        model = file.model if file.model != Model(None, None) else seen.model
        title = file.name or Raw("")
        if file.identity is not None:
            self._names.learn(name, stamp_of(at), at.st_size, file.identity, title)
        better = replace(seen, name=title, updated=file.updated or seen.updated, model=model)
        self._glances[name] = (stamp_of(at), better)
        return info_of(better, file.path, at, self._clock(), self._origin(better))

    # -- changes -----------------------------------------------------------------------------------------

    def changed(self, since: object | None) -> Change:
        """Tell what is new since the cursor; stats a bounded number of files per call."""
        found = self._sweep.look(since if isinstance(since, Cursor) else None, self._clock())
        named = not found.names and self._find_names(SEARCHED_IN_LOOK)
        ids: frozenset[str] | None = frozenset()
        if found.names:
            ids = frozenset(id for id, name in self._paths.items() if name in found.names) if self._paths else None
        return Change(found.cursor, ids, listing=found.listing or named or bool(found.names), gone=found.gone)

    # -- texts and limits --------------------------------------------------------------------------------

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        """Read the text a ref points to, at most ``limit`` characters of it."""
        file = self._files.get(ref.session)
        try:
            if file is None:
                self.open(ref.session)
                file = self._files[ref.session]
            place = file.locate(ref.row)
            if place is None:
                self._refresh(file)
                place = file.locate(ref.row)
            if place is None:
                return Unavailable(Why.GONE, "the entry is no longer in the file")
            fd = open_regular(file.path)
            try:
                data = os.pread(fd, place[1], place[0])
            finally:
                os.close(fd)
        except NoSession:
            return Unavailable(Why.GONE, "the session is gone")
        except (SourceError, OSError, ValueError):
            return Unavailable(Why.GONE, "the session's file cannot be read any more")
        for line in file.values(data):
            if line.id == ref.row or (line.id is None and ref.row.startswith("line-")):
                text = text_of(line, ref.field)
                if text is None:
                    return Unavailable(Why.NOT_RECORDED, "no text")
                return Confirmed(Raw(text[:limit]))
        return Unavailable(Why.GONE, "the file was rewritten")

    def window(self, model: Model, session: str | None = None) -> Window:
        """Tell how Pi treats this model's window in this session."""
        held = self._glances.get(self._paths.get(session, "")) if session is not None else None
        seen = held[1] if held is not None else None
        return self._configuration.window(model, seen.header.cwd if isinstance(seen, Glance) else None)


def _agent_of(path: Path) -> Path | None:
    """Return Pi's own folder for a store: the one it lies in, else the user's."""
    for folder in (path, *path.parents):
        if folder.name == "sessions":
            return folder.parent
    return agent_folder(os.environ, Path.home())
