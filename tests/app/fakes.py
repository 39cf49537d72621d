"""A source in memory, and ledgers for it: what the screen is tried on without a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ctx_inspect.core.model import (
    Category,
    Chain,
    ChainBuilder,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    Item,
    Known,
    Ledger,
    LimitClaim,
    Listing,
    Mark,
    MarkKind,
    Message,
    Model,
    Origin,
    Part,
    PartKind,
    Purpose,
    Raw,
    Ref,
    Request,
    Role,
    SessionInfo,
    Turn,
    Unavailable,
    Usage,
    Why,
    Window,
    Witness,
    replace,
)
from ctx_inspect.core.model.limits import RANK_HARNESS
from ctx_inspect.core.sources.base import Change, NoSession

START = 1_790_000_000_000
MINUTE = 60_000
MODEL = Model(Raw("anthropic"), Raw("claude-big"))

FULL = {c: Coverage("estimated", how="rebuilt from the store", all=True) for c in Category}
PARTLY = {
    **{c: Coverage("unavailable", why=Why.NOT_RECORDED, note=f"OpenCode 1.x stores no {c.value}") for c in Category},
    Category.CONVERSATION: Coverage("estimated", how="rebuilt from the store: opencode rules", all=True),
}

ITEMS = (
    Item(Category.INSTRUCTIONS, Raw("AGENTS.md"), "a", origin=Origin("file", Raw("AGENTS.md")), size=5200),
    Item(Category.INSTRUCTIONS, Raw("docs/AGENTS.md"), "b", origin=Origin("file", Raw("docs/AGENTS.md")), size=1100),
    Item(Category.SKILLS, Raw("testing"), "c", size=1300),
    Item(Category.SKILLS, Raw("帮我修复"), "d", size=900),
    *(
        Item(Category.TOOLS, Raw(name), name, size=1500 + 90 * i)
        for i, name in enumerate(("bash", "edit", "read", "filesystem_search", "web", "todo"))
    ),
    Item(Category.SETTINGS, Raw("model"), "m", shown=Raw("claude-big")),
    Item(Category.SYSTEM, Raw("block:1"), "s", size=9000),
)


def info(key: str, title: str | None, **more: object) -> SessionInfo:
    harness, _, id_ = key.partition(":")
    fields: dict[str, object] = {
        "directory": Raw("/home/ann/my-app"),
        "project": Raw("/home/ann/my-app"),
        "started": START,
        "updated": START + 300 * MINUTE,
        "model": MODEL,
        **more,
    }
    return SessionInfo(key, harness, id_, Raw(title) if title is not None else None, path=Raw("/tmp/store"), format="fake-1", **fields)  # type: ignore[arg-type]


def message(id_: str, role: Role, size: int, kind: PartKind = PartKind.TEXT, at: int = START) -> Message:
    return Message(
        id_, role, id_, (Part(kind, id_, size, ref=Ref("s", id_, "text"), name=Raw("bash") if kind is not PartKind.TEXT else None),), at=at
    )


def conversation(turns: int, covered: bool = True, tick: int = 6 * MINUTE) -> tuple[tuple[Turn, ...], Chain]:
    """Return turns that grow, and the message list at the end."""
    builder = ChainBuilder()
    made: list[Turn] = []
    window = 16_200
    for n in range(1, turns + 1):
        at = START + n * tick
        window += (1_500, 600, 600, 2_100, 3_300)[n % 5]
        if n == turns - 1:
            window += 24_000
        builder.append(message(f"u{n}", Role.USER, 300, at=at))
        steps: list[Request] = []
        count = (1, 3, 1, 2)[n % 4]
        for s in range(1, count + 1):
            context = Context(ITEMS if covered else (), builder.take(), FULL if covered else PARTLY)
            tokens = window - 120 * (count - s)
            usage = Usage(tokens // 30, 90, None, tokens - tokens // 30, 0)
            failed = n % 17 == 16 and s == 1
            steps.append(
                Request(
                    f"m{n}.{s}",
                    at + s * 4000,
                    step=s,
                    done=at + s * 4000 + 3100,
                    model=MODEL,
                    context=context,
                    usage=Confirmed(usage, Witness.PROVIDER),
                    finish="aborted" if failed else "tool_calls" if s < count else "stop",
                    error="rate" if failed else None,
                    tools=(Raw("bash"), Raw("edit")) if s < count else (),
                    children=("opencode:child",) if n == 12 else (),
                    ref=Ref("s", f"m{n}.{s}", "text"),
                )
            )
            builder.append(message(f"m{n}.{s}", Role.ASSISTANT, 700, at=at + s * 4000))
            if s < count:
                builder.append(message(f"m{n}.{s}/1", Role.TOOL, 900, PartKind.RESULT, at=at + s * 4000))
        made.append(Turn(n, f"u{n}", (f"u{n}",), at, tuple(steps), (Ref("s", f"u{n}", "text"),)))
    return tuple(made), builder.take()


def ledger(key: str, title: str, turns: int = 47, covered: bool = True, **more: object) -> Ledger:
    """Return a session with a revert, a model switch, a compaction and a title request."""
    made, chain = conversation(turns, covered)
    marks: list[Mark] = []
    if turns >= 20:
        marks = [
            Mark(MarkKind.REVERT, made[18].at + MINUTE, turn=19, counts={"turns": 3}),
            Mark(MarkKind.MODEL, made[turns - 9].at, turn=turns - 8, detail=Raw("openai/fast")),
            Mark(
                MarkKind.COMPACTION,
                made[turns - 2].at + 5 * MINUTE,
                turn=turns - 1,
                reason="auto",
                status="succeeded",
                counts={"messages_before": 184, "messages_after": 9},
                before=Confirmed(104_200),
                then=Estimated(41_300, "its own figure"),
            ),
        ]
        last = made[-1]
        used = Confirmed(Usage(1_300, 90, None, 40_000, 0), Witness.PROVIDER)
        kept = Chain(None, 0, (message("sum", Role.USER, 2000), *chain.messages()[-9:]))
        made = (
            *made[:-1],
            replace(
                last,
                requests=tuple(
                    replace(r, usage=used, context=replace(r.context, messages=kept) if r.context else None) for r in last.requests
                ),
            ),
        )
        chain = kept
    other = {1: (Request("title1", START + 6 * MINUTE + 1000, purpose=Purpose.TITLE, usage=Confirmed(Usage(200, 10)), finish="stop"),)}
    now = Context(ITEMS if covered else (), chain, FULL if covered else PARTLY)
    return Ledger(info(key, title, updated=made[-1].at if made else START, **more), turns=made, other=other, marks=tuple(marks), now=now)


class FakeSource:
    """A source that holds ledgers."""

    kind = "fake"

    def __init__(self, ledgers: Sequence[Ledger], limit: int | None = 200_000, name: str = "store") -> None:
        self.ledgers = {item.info.id: item for item in ledgers}
        self.limit = limit
        self.path = Path(f"/nonexistent/{name}")
        self.version = 0
        self.news: frozenset[str] = frozenset()
        self.vanished = False
        self.texts: dict[Ref, Known[Raw]] = {}
        self.asked: list[Ref] = []

    def watch_paths(self) -> Sequence[Path]:
        return (self.path,)

    def sessions(self) -> Listing:
        infos = sorted((item.info for item in self.ledgers.values()), key=lambda s: -(s.updated or 0))
        return Listing(tuple(infos))

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        if session not in self.ledgers:
            raise NoSession
        return self.ledgers[session]

    def changed(self, since: object | None) -> Change:
        if self.vanished:
            return Change(self.version, gone=True)
        if since == self.version or since is None:
            return Change(self.version)
        return Change(self.version, self.news, listing=True)

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        self.asked.append(ref)
        return self.texts.get(ref, Confirmed(Raw(f"the text of {ref.row}\nsecond line")))

    def window(self, model: Model, session: str | None = None) -> Window:
        if self.limit is None:
            return Window((), Unavailable(Why.UNKNOWN, "the limit is unknown"))
        claim = LimitClaim(Confirmed(self.limit, Witness.CONFIG), "context", "opencode.json", RANK_HARNESS)
        return Window((claim,), Estimated(self.limit - 32_000, "limit − 32,000 reserved"), "limit − 32,000")


def sample() -> list[Ledger]:
    """Return sessions as the design shows them."""
    main = ledger("opencode:main", "Fix login 500", live=True)
    hour = 60 * MINUTE
    return [
        main,
        ledger("opencode:child", "explore", 4, parent="opencode:main"),
        ledger("opencode:review", "review", 3, parent="opencode:main"),
        ledger("opencode:retries", "Add retries", 12),
        ledger("opencode:fork", "Fix login 500", 31, forked_from=Estimated("opencode:main", "equal message times")),
        ledger("pi:guide", "Rewrite guide", 8, False, project=Raw("/home/ann/docs")),
        ledger("pi:cjk", "帮我修复登录", 6, project=Raw("/home/ann/docs")),
        replace(
            ledger("pi:drift", "Terraform drift", 5, project=Raw("/home/ann/infra")),
            info=info("pi:drift", "Terraform drift", project=Raw("/home/ann/infra"), updated=START - 70 * hour),
        ),
    ]
