"""Small ledgers for tests of pure functions."""

from __future__ import annotations

from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    HiddenTurn,
    Ledger,
    LimitClaim,
    Mark,
    MarkKind,
    Message,
    Model,
    Part,
    PartKind,
    Raw,
    Request,
    Role,
    SessionInfo,
    Turn,
    Usage,
    Window,
    Witness,
)
from ctx_inspect.core.model.ledger import NO_USAGE
from ctx_inspect.core.model.limits import RANK_HARNESS

BIG = Model(Raw("mock"), Raw("big"))


def info(**changes: object) -> SessionInfo:
    base: dict[str, object] = {
        "key": "pi:s1", "harness": "pi", "id": "s1", "title": Raw("A title"), "directory": Raw("/p"), "started": 0, "updated": 1,
        "path": Raw("/p/s1.jsonl"), "format": "pi-3", "model": BIG,
    }  # fmt: skip
    return SessionInfo(**{**base, **changes})  # type: ignore[arg-type]


def usage(window: int, read: int = 0, output: int = 5) -> Confirmed[Usage]:
    return Confirmed(Usage(input=window - read, output=output, cache_read=read, cache_write=0), Witness.PROVIDER)


def step(id: str, window: int | None, n: int = 1, at: int | None = 0, **changes: object) -> Request:
    return Request(id=id, at=at, step=n, model=BIG, usage=NO_USAGE if window is None else usage(window), **changes)  # type: ignore[arg-type]


def turn(n: int, *windows: int | None) -> Turn:
    steps = tuple(step(f"a{n}.{i}", w, i, at=n * 1000 + i) for i, w in enumerate(windows, start=1))
    return Turn(n, f"u{n}", (f"u{n}",), n * 1000, steps)


def chain(*ids: str, size: int = 35) -> Chain:
    return Chain(None, 0, tuple(Message(i, Role.USER, i, (Part(PartKind.TEXT, i, size),)) for i in ids))


def context(*ids: str, grade: str = "estimated") -> Context:
    return Context((), chain(*ids), {c: Coverage(grade) for c in Category})


def ledger(*turns: Turn, marks: tuple[Mark, ...] = (), now: Context | None = None, hidden: tuple[HiddenTurn, ...] = ()) -> Ledger:
    return Ledger(info(), turns=turns, marks=marks, now=now, hidden=hidden)


def compaction(turn: int, at: int | None, **changes: object) -> Mark:
    return Mark(MarkKind.COMPACTION, at, turn, status="succeeded", **changes)  # type: ignore[arg-type]


def window(tokens: int | None, threshold: int | None = None) -> Window:
    from ctx_inspect.core.model import Estimated, Unavailable, Why

    claims = () if tokens is None else (LimitClaim(Confirmed(tokens, Witness.CONFIG), "context", "models.json", RANK_HARNESS),)
    return Window(claims, Unavailable(Why.UNKNOWN, "no rule") if threshold is None else Estimated(threshold, "rule"))
