"""A source made of ledgers: what commands do with a session, whatever store it comes from."""

from __future__ import annotations

from pathlib import Path

from ctx_inspect.core.model import (
    Category,
    Chain,
    Confirmed,
    Context,
    Coverage,
    Estimated,
    HiddenTurn,
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
    Problem,
    ProblemCode,
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
from ctx_inspect.core.sources.base import Change, NoSession, SourceError

DAY = 86_400_000
START = 1_790_000_000_000
MODEL = Model(Raw("acme"), Raw("large"))
KEY = "sk-ant-api03-" + "Ab1" * 12
"""A fake secret that must reach no way out."""


def info(id: str = "ses_one", **fields: object) -> SessionInfo:
    base = SessionInfo(
        key=f"opencode:{id}",
        harness="opencode",
        id=id,
        title=Raw("Fix the build"),
        directory=Raw("/home/ann/shop"),
        project=Raw("/home/ann/shop"),
        started=START,
        updated=START + DAY,
        path=Raw("/home/ann/.local/share/opencode/opencode.db"),
        format="opencode-1",
    )
    return replace(base, **fields)  # type: ignore[arg-type]


def message(id: str, role: Role, *parts: Part) -> Message:
    return Message(id, role, id, parts, at=START)


def part(id: str, kind: PartKind = PartKind.TEXT, size: int | None = 35, **fields: object) -> Part:
    return Part(kind, id, size, ref=Ref("ses_one", id, "text"), **fields)  # type: ignore[arg-type]


COVERAGE = {
    Category.INSTRUCTIONS: Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x does not store the system prompt"),
    Category.SKILLS: Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x does not store the system prompt"),
    Category.TOOLS: Coverage("estimated", how="rebuilt", all=True),
    Category.SETTINGS: Coverage("confirmed"),
    Category.SYSTEM: Coverage("unavailable", why=Why.NOT_RECORDED, note="OpenCode 1.x does not store the system prompt"),
    Category.CONVERSATION: Coverage("estimated", how="rebuilt: opencode v1 rules", all=True),
}


def context(*messages: Message) -> Context:
    items = (
        Item(Category.TOOLS, Raw("bash"), "t1", size=350, origin=Origin("mcp", path=Raw("/srv/mini"), name=Raw("mini"))),
        Item(Category.SETTINGS, Raw("model"), "s1", shown=Raw("acme/large")),
    )
    return Context(items, Chain(None, 0, messages), COVERAGE)


def step(id: str, n: int | None, at: int, usage: Usage | None = None, **fields: object) -> Request:
    known: Known[Usage] = (
        Unavailable(Why.NOT_REPORTED, "no usage was reported for this row") if usage is None else Confirmed(usage, Witness.PROVIDER)
    )
    return Request(id=id, at=at, step=n, call=n is not None, model=MODEL, agent=Raw("build"), usage=known, **fields)  # type: ignore[arg-type]


U1 = message("msg_u1", Role.USER, part("prt_1"))
A1 = message("msg_a1", Role.ASSISTANT, part("prt_2"), part("prt_3", PartKind.CALL, 70, name=Raw("bash"), call="c1"))
R1 = message("msg_a1/c1", Role.TOOL, part("prt_4", PartKind.RESULT, 700, name=Raw("bash"), call="c1"))
U2 = message("msg_u2", Role.USER, part("prt_5"), part("prt_6", PartKind.MEDIA, 90_000, mime=Raw("image/png")))

TURN1 = Turn(
    1,
    "msg_u1",
    ("msg_u1",),
    START,
    (
        step("msg_a1", 1, START + 1000, Usage(100, 20, 5, 3000, 400), finish="tool_calls", tools=(Raw("bash"),), context=context(U1)),
        step("msg_sh", None, START + 1500),
        step("msg_a2", 2, START + 2000, Usage(50, 10, None, 4000, None), finish="stop", context=context(U1, A1, R1)),
    ),
    (Ref("ses_one", "prt_1", "text"),),
)
TURN2 = Turn(
    2,
    "msg_u2",
    ("msg_u2", "msg_u2b"),
    START + DAY,
    (step("msg_a3", 1, START + DAY + 1000, None, finish="error", error="rate", context=context(U1, A1, R1, U2)),),
    (Ref("ses_one", "prt_5", "text"),),
)
LEDGER = Ledger(
    info(),
    before=(step("msg_a0", None, START - 5),),
    turns=(TURN1, TURN2),
    other={1: (replace(step("msg_t1", None, START + 10, Usage(10, 1)), call=True, purpose=Purpose.TITLE),)},
    marks=(
        Mark(
            MarkKind.COMPACTION,
            START + 3000,
            1,
            "msg_a2",
            "auto",
            "succeeded",
            {"request": "msg_c1"},
            Confirmed(4500),
            Estimated(900, "chars/4"),
        ),
        Mark(MarkKind.MODEL, START + DAY, 2, detail=Raw("acme/large")),
    ),
    hidden=(HiddenTurn("msg_h1", ("msg_h1",), START + 4000, "reverted", (Ref("ses_one", "prt_h", "text"),)),),
    problems=(Problem(Raw("/home/ann/x.db"), ProblemCode.UNREADABLE_RECORD, "row msg_x is no JSON: left out"),),
    not_recorded=(("system prompt", "OpenCode 1.x does not store it"),),
)
TEXTS = {
    "prt_1": "please fix the build",
    "prt_2": "looking",
    "prt_3": '{"command":"make"}',
    "prt_4": "no rule",
    "prt_5": f"and use {KEY}",
    "prt_h": "never mind",
}


class SampleSource:
    """Ledgers by session id."""

    kind = "opencode"

    def __init__(self, *ledgers: Ledger, texts: dict[str, str] | None = None, path: Path = Path("/home/ann/opencode.db")) -> None:
        self.ledgers = {ledger.info.id: ledger for ledger in ledgers}
        self.texts = TEXTS if texts is None else texts
        self.path = path
        self.problems: tuple[Problem, ...] = ()
        self.broken: SourceError | None = None
        self.read: list[str] = []

    def watch_paths(self) -> tuple[Path, ...]:
        return ()

    def sessions(self) -> Listing:
        if self.broken is not None:
            raise self.broken
        return Listing(tuple(ledger.info for ledger in self.ledgers.values()), self.problems)

    def open(self, session: str, prior: Ledger | None = None) -> Ledger:
        if session not in self.ledgers:
            raise NoSession(session)
        return self.ledgers[session]

    def changed(self, since: object | None) -> Change:
        return Change(None)

    def text(self, ref: Ref, limit: int) -> Known[Raw]:
        self.read.append(ref.row)
        text = self.texts.get(ref.row)
        return Unavailable(Why.GONE, "the row is gone") if text is None else Confirmed(Raw(text[:limit]))

    def window(self, model: Model, session: str | None = None) -> Window:
        claim = LimitClaim(Confirmed(200_000, Witness.CONFIG), "context", "opencode.json", 3)
        return Window((claim,), Estimated(180_000, "context - 20,000"), "context - 20,000")
