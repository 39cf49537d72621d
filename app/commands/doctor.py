"""``ctx-inspect doctor``: what was found, what is unreadable and why, and what can be done about it."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import click
from ctx_inspect import __version__
from ctx_inspect.app.commands.options import Settings, command
from ctx_inspect.app.commands.output import note, progress, span, write_json, write_lines
from ctx_inspect.app.commands.stores import Found, NoSource, Stores, stores
from ctx_inspect.core.model import Problem, ProblemCode, Raw
from ctx_inspect.core.schema import Check, Doctor
from ctx_inspect.core.sources.base import NoSession, Source, SourceError
from ctx_inspect.core.text import tokens
from ctx_inspect.core.text.redact import redact
from ctx_inspect.core.text.show import joined, said, terminal
from ctx_inspect.core.views.figures import counted, size
from ctx_inspect.core.views.layout import Line
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import UNSET, UnsetType

NAMED = 5
"""Damaged places of one session that are named."""

_SIGNS = {"ok": ("✓", Tone.ADDED), "note": ("·", Tone.DIM), "problem": ("▲", Tone.WARN)}


@command("doctor")
@click.option("--fetch-vocabulary", is_flag=True, help="Download tiktoken's vocabulary once, so that tokens are counted, not estimated.")
def doctor(settings: Settings, fetch_vocabulary: bool) -> None:
    """Tell what was found, where was looked, what is unreadable and why, and what counts tokens."""
    if fetch_vocabulary:
        note("letting tiktoken download its vocabulary (3.6 MB), if it is not here yet")
        try:
            tokens.fetch()
        except LookupError as error:
            raise NoSource(f"the vocabulary was not fetched: {error}") from None
    found = stores(settings)
    checks = [*_versions(), *_stores(found), *_damage(settings, found), *_own(found), _counter()]
    if settings.json:
        write_json(Doctor(checks=checks))
        return
    write_lines(settings, _lines(checks))


def _check(name: str, state: str, message: str, next: str | None = None) -> Check:
    return Check(name=redact(Raw(name)), state=state, message=redact(Raw(message)), next=UNSET if next is None else next)


def _home(path: Path | str) -> str:
    """Return a path with the home directory as ``~``."""
    text, home = str(path), str(Path.home())
    return "~" + text[len(home) :] if text == home or text.startswith(home.rstrip("/") + "/") else text


def _versions() -> list[Check]:
    parts = [f"{name} {_version(name)}" for name in ("textual", "rich", "watchfiles", "msgspec", "tiktoken", "wcwidth")]
    import sqlite3

    return [
        _check(
            "version",
            "ok",
            f"ctx-inspect {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {sys.platform}",
        ),
        _check("libraries", "ok", ", ".join(parts)),
    ]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "missing"


def _stores(found: Stores) -> list[Check]:
    out: list[Check] = []
    for place in found.looked:
        name = f"{place.kind}: {place.place}"
        if place.found:
            out.append(_check(name, "ok", f"{counted(len(place.found), 'store')} found"))
        else:
            out.append(_check(name, "problem" if place.denied else "note", place.why or "nothing there"))
    if found.looked and not found.sources:
        out.append(
            _check(
                "stores",
                "note",
                "no agent's sessions were found",
                "ctx-inspect demo shows what it does; --source PATH reads a store elsewhere",
            )
        )
    for source in found.sources:
        out += _store(source)
    said = {place.place for place in found.looked if place.denied}
    out += [_check(_home(p.source), "problem", f"{p.code.value}: {p.message}") for p in found.problems if p.source not in said]
    return out


def _store(store: Source) -> list[Check]:
    name = _home(store.path)
    try:
        listing = store.sessions()
    except SourceError as error:
        return [_check(name, "problem", f"{error.code.value}: {error.message}")]
    formats = ", ".join(sorted({s.format for s in listing.sessions})) or store.kind
    facts = [formats, counted(len(listing.sessions), "session"), _extent(store.path)]
    live = sum(s.live for s in listing.sessions)
    if live:
        facts.append(f"{live} live")
    out = [_check(name, "ok", ", ".join(f for f in facts if f))]
    if store.kind == "opencode" and not os.access(store.path.parent, os.W_OK):
        out.append(_check(name, "note", "its folder cannot be written: rows that lie in a -wal without a -shm cannot be seen"))
    out += [_check(_home(p.source), "problem", f"{p.code.value}: {p.message}") for p in listing.problems]
    return out


def _damage(settings: Settings, found: Stores) -> list[Check]:
    """Read every session and name those that are damaged, each with its file and the places."""
    out: list[Check] = []
    listed, known = found.readable()
    with progress(len(listed), "sessions") as counter:
        for one in listed:
            settings.doing = f"doctor {one.info.id}"
            try:
                problems = one.source.open(one.info.id).problems
            except NoSession:
                problems = ()  # it went since it was listed
            except SourceError as error:
                problems = (Problem(Raw(str(error.path)), error.code, error.message),)
            mine = [p for p in problems if p not in known]  # what holds for the whole store is said of the store
            if mine:
                out.append(_damaged(one, mine))
            counter.step()
    return out


def _damaged(one: Found, problems: Sequence[Problem]) -> Check:
    messages = list(dict.fromkeys(f"{p.code.value}: {p.message}" for p in problems))
    more = f"; and {len(messages) - NAMED:,} more" if len(messages) > NAMED else ""
    recovered = all(p.code is ProblemCode.RECOVERED_RECORD for p in problems)
    return _check(
        _home(one.info.path),
        "note" if recovered else "problem",
        f"session {one.info.key}: {'; '.join(messages[:NAMED])}{more}",
        f"ctx-inspect turns {one.info.key} names all of it" if more else None,
    )


def _extent(path: Path) -> str:
    try:
        return "" if path.is_dir() else size(path.stat().st_size)
    except OSError:
        return ""


def _own(found: Stores) -> list[Check]:
    config = found.config
    where = _home(config.path) if config.path else "config.toml"
    from ctx_inspect.app.keymap import user_keys

    if problems := (*config.problems, *user_keys(config.keys)[1]):
        return [_check("configuration", "problem", f"{where}: {p}") for p in problems]
    if config.path is not None and config.path.exists():
        return [_check("configuration", "ok", f"{where}: {counted(len(config.limits), 'limit')}")]
    return [_check("configuration", "note", f"{where} does not exist: nothing needs it")]


def _counter() -> Check:
    name = tokens.available()
    if name.startswith(tokens.ENCODING):
        return _check("token counter", "ok", name)
    return _check(
        "token counter",
        "note",
        f"{name}: an estimate; no vocabulary is on this machine",
        "ctx-inspect doctor --fetch-vocabulary downloads it once, or install the extra [tokens]",
    )


def _lines(checks: list[Check]) -> list[Line]:
    out: list[Line] = []
    for check in checks:
        sign, tone = _SIGNS[check.state]
        name = terminal(Raw(check.name), 200)
        out.append((Span(said(sign), tone), Span(joined(" ", name)), Span(joined("  ", terminal(Raw(check.message))), Tone.DIM)))
        if not isinstance(check.next, UnsetType):
            out.append(span(joined("    ", terminal(Raw(check.next))), Tone.FOCUS))
    return out
