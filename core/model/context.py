"""What one model call carried: items by category, and the conversation as a chain of messages.

One set of types serves wire bodies, OpenCode rows and Pi entries. No type here holds text of a context:
a :class:`Ref` says where the text lies in the agent's own store, and it is read on demand only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice

import msgspec
from ctx_inspect.core.model.evidence import Raw, Why


class Category(StrEnum):
    """The six categories of an item, in the order they are shown."""

    INSTRUCTIONS = "instructions"
    SKILLS = "skills"
    TOOLS = "tools"
    SETTINGS = "settings"
    SYSTEM = "system"
    CONVERSATION = "conversation"


class Role(StrEnum):
    """Who speaks. A tool's result is a message of its own, as it is on the wire."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartKind(StrEnum):
    """What a part of a message is."""

    TEXT = "text"
    REASONING = "reasoning"
    CALL = "call"
    RESULT = "result"
    MEDIA = "media"
    OTHER = "other"


class Synthetic(StrEnum):
    """Why a part or message is not what a person or model wrote (the words of the stream format)."""

    COMPACTION = "compaction"
    SUMMARY = "summary"
    CONTINUE = "continue"
    CARRIER = "carrier"
    NOTICE = "notice"
    REMINDER = "reminder"
    REPLAY = "replay"
    HEAD = "head"
    NUDGE = "nudge"


class Ref(msgspec.Struct, frozen=True, gc=False):
    """Where a text lies in the agent's own store; only the source that made it can read it.

    Attributes:
        session: The harness's session id.
        row: The row or entry that holds the text.
        field: Which text of that row, in the source's own terms; also names a frame that the harness
            puts round it, so that reading a ref gives the text as the model got it.
    """

    session: str
    row: str
    field: str


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a message.

    Attributes:
        kind: What it is.
        fp: Changes exactly when the content changes. From a store: (row id, time updated, pruned).
        size: UTF-8 bytes of the text (of a call: its arguments as JSON); ``None`` where unknown. Of media: bytes.
        name: The tool's name of a call or result.
        call: The id that joins a call and its result.
        synthetic: Set where no person and no model wrote it.
        mime: Media type of a media part.
        ref: Where its text lies.
    """

    kind: PartKind
    fp: str
    size: int | None = None
    name: Raw | None = None
    call: str | None = None
    synthetic: Synthetic | None = None
    mime: Raw | None = None
    ref: Ref | None = None


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message of a request, in the form it has on the wire.

    Attributes:
        id: The store's row or entry id. A result that a store keeps inside a call's row has ``<id>/<call id>``.
        role: Who speaks.
        fp: Changes exactly when role or content changes.
        parts: Its parts, in order.
        at: Epoch milliseconds, where recorded.
        done: Epoch milliseconds of its completion, where recorded.
        opens: Whether this message opens a turn (decided by the source, from its table of classes).
        synthetic: Set where the whole message is synthetic.
        row: The store row it came from, where that is not ``id``.
    """

    id: str
    role: Role
    fp: str
    parts: tuple[Part, ...]
    at: int | None = None
    done: int | None = None
    opens: bool = False
    synthetic: Synthetic | None = None
    row: str | None = None


class Chain:
    """A message list as the change to the one before: the first ``keep`` of ``base``, then ``add``.

    The list of a request is almost always the list of the request before it plus a few messages, so a
    session's lists together cost what its messages cost. ``messages()`` builds the list; it is linear in
    the list, never recursive.
    """

    __slots__ = ("add", "base", "keep", "length")

    def __init__(self, base: Chain | None, keep: int, add: tuple[Message, ...]) -> None:
        """Make a chain link.

        Args:
            base: The list before, or ``None`` for the first (then ``keep`` is 0).
            keep: How many messages of ``base`` stay in front.
            add: The messages after them.

        Raises:
            ValueError: ``keep`` is negative or larger than the base.
        """
        if keep < 0 or keep > (base.length if base else 0):
            raise ValueError(f"keep {keep} of a list of {base.length if base else 0}")
        self.base, self.keep, self.add = base, keep, add
        self.length = keep + len(add)

    def __len__(self) -> int:
        """Return the number of messages."""
        return self.length

    def messages(self) -> tuple[Message, ...]:
        """Return the whole list, oldest first."""
        return self.since(0)

    def since(self, place: int) -> tuple[Message, ...]:
        """Return the messages from a place on; costs what it returns and the links on the way there."""
        pieces: list[tuple[Message, ...]] = []
        node: Chain | None = self
        want = self.length
        while node is not None and want > place:
            keep = node.keep
            if want > keep:
                pieces.append(node.add[max(0, place - keep) : want - keep])
                want = keep
            node = node.base
        pieces.reverse()
        return tuple(chain.from_iterable(pieces))

    def shared(self, other: Chain, most: int = 10_000) -> int | None:
        """Return how many messages both lists have in front because one was made from the other, or both from a third.

        Args:
            other: The other list.
            most: Links to look at.

        Returns:
            ``None`` where no common link is found on the way back: that they share nothing is not said by it.
        """
        mine, theirs = self, other
        my_keep, their_keep = self.length, other.length
        my_way, their_way = {id(self): my_keep}, {id(other): their_keep}
        for _ in range(most):  # from both ends in turn: either may be the older one, and they are near each other
            if id(mine) in their_way:
                return min(my_keep, their_way[id(mine)])
            if id(theirs) in my_way:
                return min(their_keep, my_way[id(theirs)])
            if mine.base is None and theirs.base is None:
                return None
            if mine.base is not None:
                my_keep, mine = min(my_keep, mine.keep), mine.base
                my_way[id(mine)] = my_keep
            if theirs.base is not None:
                their_keep, theirs = min(their_keep, theirs.keep), theirs.base
                their_way[id(theirs)] = their_keep
        return None

    def __iter__(self) -> Iterator[Message]:
        """Iterate over the list, oldest first."""
        return iter(self.messages())


class ChainBuilder:
    """Follows a message list as a harness changes it and takes a :class:`Chain` of each state.

    ``append`` is what nearly every step does; ``replace`` and ``reset`` are what compaction, pruning and
    branches do. ``take`` costs what changed since the last ``take``.
    """

    def __init__(self) -> None:
        """Start with an empty list."""
        self.list: list[Message] = []
        self._last: Chain | None = None
        self._keep = 0

    def append(self, message: Message) -> None:
        """Put a message at the end."""
        self.list.append(message)

    def replace(self, index: int, message: Message) -> None:
        """Put another message in the place of the one at ``index``."""
        self.list[index] = message
        self._keep = min(self._keep, index)

    def reset(self, messages: list[Message], same: int = 0) -> None:
        """Make the list another one; what both have in front (by identity or equality) is kept.

        Args:
            messages: The list.
            same: How many in front are known to be the same.
        """
        for old, new in zip(islice(self.list, same, None), islice(messages, same, None), strict=False):
            if old is not new and old != new:
                break
            same += 1
        self.list = list(messages)
        self._keep = min(self._keep, same)

    def copy(self) -> ChainBuilder:
        """Return a builder that goes on from here on its own, as a branch does; chains taken before are shared."""
        other = ChainBuilder()
        other.list, other._last, other._keep = list(self.list), self._last, self._keep
        return other

    def take(self, into: Chain | None = None) -> Chain:
        """Return the list as it is now.

        Args:
            into: A chain that was handed out before its content was known: it becomes this one.
        """
        chain = into
        if self._last is not None and self._keep == len(self.list) == self._last.length:
            if chain is None:
                return self._last
            chain.base, chain.keep, chain.add, chain.length = self._last, self._keep, (), self._keep
        elif chain is None:
            chain = Chain(self._last, self._keep, tuple(self.list[self._keep :]))
        else:
            chain.base, chain.keep, chain.add = self._last, self._keep, tuple(self.list[self._keep :])
            chain.length = len(self.list)
        self._last, self._keep = chain, len(self.list)
        return chain


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where an item comes from.

    Attributes:
        kind: ``file``, ``mcp``, ``builtin``, ``extension``, ``harness`` or ``unknown``.
        path: The file, as recorded.
        name: The MCP server or extension.
    """

    kind: str
    path: Raw | None = None
    name: Raw | None = None


class Item(msgspec.Struct, frozen=True, gc=False):
    """One source in a category: a file, a skill, a tool, a system block or a setting.

    Attributes:
        category: Never ``conversation``: its items are the messages.
        k: The key that stays when other items are inserted before it: a path, a tool's or skill's name,
            a section's name, ``block:<ordinal>``.
        fp: Changes exactly when the content changes.
        aspects: Fingerprints of its parts by name; a tool has ``description`` and ``schema``.
        origin: Where it comes from.
        shown: The value of a setting.
        size: UTF-8 bytes of its text.
        ref: Where its text lies.
        listed: Of a skill: named in the list of skills (its body may be loaded into the conversation later).
    """

    category: Category
    k: Raw
    fp: str
    aspects: tuple[tuple[str, str], ...] = ()
    origin: Origin | None = None
    shown: Raw | None = None
    size: int | None = None
    ref: Ref | None = None
    listed: bool = False


class Coverage(msgspec.Struct, frozen=True, gc=False):
    """How much of a category a snapshot knows.

    Attributes:
        grade: ``confirmed``, ``estimated`` or ``unavailable``.
        how: Of an estimate: the rule (``rebuilt from the store: pi branch rules``).
        why: Why it is unavailable.
        note: The same in words (``OpenCode 1.x stores no tool schemas``).
        all: Whether everything of this category is an item here, so that absence proves absence.
    """

    grade: str
    how: str | None = None
    why: Why | None = None
    note: str | None = None
    all: bool = False


class Context(msgspec.Struct, frozen=True, gc=False):
    """A snapshot: what one request carried, as far as it is known.

    Attributes:
        items: All items but the messages, in wire order; the same tuple object where nothing changed.
        messages: The conversation.
        coverage: For each of the six categories how well it is known.
        point: ``wire``, ``prepared`` or ``store``.
    """

    items: tuple[Item, ...]
    messages: Chain
    coverage: Mapping[Category, Coverage] = msgspec.field(default_factory=dict[Category, Coverage])
    point: str = "store"
