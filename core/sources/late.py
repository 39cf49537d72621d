"""Message lists that are made when somebody looks: opening a session only notes where each belongs.

A timeline shows windows, steps and events and needs no message list; making those of a long session takes longer
than reading it.
"""

from __future__ import annotations

from typing import Protocol

from ctx_inspect.core.model import Chain


class Plays(Protocol):
    """What knows how to fill the chains that it handed out."""

    def run(self) -> None:
        """Fill them all; may be called from any thread, and again."""
        ...


class _Nobody:
    """Stands for the owner of a chain that is made."""

    def run(self) -> None:
        """Do nothing: all is there."""


_NOBODY = _Nobody()


class LateChain(Chain):
    """A chain whose content is made at the first look at it; any thread may look."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Plays) -> None:
        """Belong to what fills it in. Nothing of the chain is set yet."""
        self._owner: Plays = owner

    @property
    def made(self) -> bool:
        """Whether its content is there."""
        try:
            object.__getattribute__(self, "length")
        except AttributeError:
            return False
        return True

    def release(self) -> None:
        """Forget the owner of a chain that is made: chains outlive it, and it holds all that it played."""
        self._owner = _NOBODY

    def __getattr__(self, name: str) -> object:
        """Make the content: reached only while it is not there."""
        if name not in ("base", "keep", "add", "length"):
            raise AttributeError(name)
        self._owner.run()
        return object.__getattribute__(self, name)
