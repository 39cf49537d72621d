"""Message lists that are made when somebody looks: opening a session only notes where each belongs.

A timeline shows windows, steps and marks, and needs no message list; making those of a session with a hundred
thousand entries takes longer than reading it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock

from ctx_inspect.core.model import Chain
from ctx_inspect.core.sources.late import LateChain
from ctx_inspect.core.sources.pi.conversation import Conversation, Target
from ctx_inspect.core.sources.pi.entries import Entry


class Replay:
    """Notes entries, requests and branches in order, and plays them through a conversation when asked."""

    def __init__(self, session: str, parent: Replay | None = None) -> None:
        """Start at the root of this session's tree, or where ``parent`` stands."""
        self._session = session
        self._parent = parent
        self._lock: AbstractContextManager[bool] = parent._lock if parent else RLock()
        self._conversation: Conversation | None = None if parent else Conversation(session)
        self._waiting: deque[Entry | Replay | tuple[LateChain, Target | None]] = deque()
        self.feed: Callable[[Entry], None] = self._waiting.append
        """Note the next entry. Needs no lock: a deque takes at one end while it gives at the other."""

    def take(self, target: Target | None) -> Chain:
        """Return the list as it would be sent here; it is made later."""
        chain = LateChain(self)
        self._waiting.append((chain, target))
        return chain

    def branch(self) -> Replay:
        """Return a replay of a branch that hangs off here."""
        other = Replay(self._session, self)
        self._waiting.append(other)
        return other

    def run(self) -> None:
        """Make all lists that are noted."""
        with self._lock:
            if self._conversation is None:
                if self._parent is not None:
                    self._parent.run()
                return
            self._play(self._conversation)

    def _play(self, conversation: Conversation) -> None:
        waiting = self._waiting
        while waiting:
            step = waiting.popleft()
            if isinstance(step, Entry):
                conversation.feed(step)
            elif isinstance(step, Replay):
                copy = conversation.copy()
                step._parent = None
                step._conversation = copy
                step._play(copy)
            else:
                conversation.take(step[1], step[0])
