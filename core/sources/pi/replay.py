"""Message lists that are made when somebody looks: opening a session only notes where each belongs.

A timeline shows windows, steps and marks, and needs no message list; making those of a session with a hundred
thousand entries takes longer than reading it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import RLock

from ctx_inspect.core.model import Chain
from ctx_inspect.core.sources.late import LateChain
from ctx_inspect.core.sources.pi.conversation import Conversation, Target
from ctx_inspect.core.sources.pi.entries import Entry


class Replay:
    """Notes entries, requests and branches in order, and plays them through a conversation when asked.

    What was noted is kept: where playing fails half way, all of it is played again at the next look, from the root on.
    """

    def __init__(self, session: str, parent: Replay | None = None) -> None:
        """Start at the root of this session's tree, or where ``parent`` stands."""
        self._session = session
        self._parent = parent
        self._lock: AbstractContextManager[bool] = parent._lock if parent else RLock()
        self._conversation: Conversation | None = None if parent else Conversation(session)
        self._steps: list[Entry | Replay | tuple[LateChain, Target | None]] = []
        self._played = 0
        self.feed: Callable[[Entry], None] = self._steps.append
        """Note the next entry. Needs no lock: a list grows at its end while those before it are played."""

    def take(self, target: Target | None) -> Chain:
        """Return the list as it would be sent here; it is made later."""
        chain = LateChain(self)
        self._steps.append((chain, target))
        return chain

    def branch(self) -> Replay:
        """Return a replay of a branch that hangs off here."""
        other = Replay(self._session, self)
        self._steps.append(other)
        return other

    def run(self) -> None:
        """Make all lists that are noted, of this branch and of those that hang off it."""
        with self._lock:
            start = self
            while start._conversation is None and start._parent is not None:
                start = start._parent
            try:
                start._play()
            except BaseException:
                start._reset()
                raise

    def _play(self) -> None:
        todo: list[Replay] = [self]
        while todo:
            replay = todo.pop()
            conversation, steps = replay._conversation, replay._steps
            assert conversation is not None
            while replay._played < len(steps):
                step = steps[replay._played]
                if isinstance(step, Entry):
                    conversation.feed(step)
                elif isinstance(step, Replay):
                    step._conversation = conversation.copy()
                    todo.append(step)
                else:
                    conversation.take(step[1], None if step[0].made else step[0])
                replay._played += 1

    def _reset(self) -> None:
        """Forget all that was played of this tree: of a step that failed nobody knows which half was done."""
        root = self
        while root._parent is not None:
            root = root._parent
        root._conversation = Conversation(root._session)
        todo = [root]
        while todo:
            replay = todo.pop()
            replay._played = 0
            for step in replay._steps:
                if isinstance(step, Replay):
                    step._conversation = None
                    todo.append(step)
