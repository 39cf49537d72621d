"""Puts together what a request carried: items of the recorded system state, settings, messages, and how well each is known."""

from __future__ import annotations

from collections.abc import Mapping

from ctx_inspect.core.model import Category, Chain, Context, Coverage, Item, Model, Raw, Why
from ctx_inspect.core.sources.pi.formats import NO_PROMPT
from ctx_inspect.core.sources.pi.system import SystemState

HOW = "rebuilt from the store: pi branch rules"

_REBUILT = Coverage("estimated", HOW, all=True)
_SETTINGS = Coverage("estimated", HOW, note="Pi records model, provider and thinking level; generation settings are not recorded")
_NO_PROMPT = Coverage("unavailable", why=Why.NOT_RECORDED, note=NO_PROMPT)
_OLD_WRITER = Coverage(
    "unavailable", why=Why.NOT_RECORDED, note=f"this row was written by an older Pi than the prompt that stands before it: {NO_PROMPT}"
)
_PROMPT = (Category.INSTRUCTIONS, Category.SKILLS, Category.TOOLS, Category.SYSTEM)


def _coverage(prompt: Coverage) -> Mapping[Category, Coverage]:
    rest = {Category.SETTINGS: _SETTINGS, Category.CONVERSATION: _REBUILT}
    return {c: rest.get(c, prompt) for c in Category}


_KNOWN, _UNKNOWN, _OLD = _coverage(_REBUILT), _coverage(_NO_PROMPT), _coverage(_OLD_WRITER)


class Contexts:
    """Makes the contexts of one session; equal items are the same tuple."""

    def __init__(self) -> None:
        """Start without knowing which generations of Pi wrote the session."""
        self._items: dict[tuple[int, Model, Raw | None], tuple[SystemState, tuple[Item, ...]]] = {}
        self._modern = False
        self._last: tuple[SystemState, Model, Raw | None, tuple[Item, ...]] | None = None

    def make(self, system: SystemState, chain: Chain, model: Model, level: Raw | None, *, modern: bool | None) -> Context:
        """Make a context.

        Args:
            system: What the system messages before it say.
            chain: Its messages.
            model: Its model.
            level: Its thinking level.
            modern: Whether its row has fields that Pi 0.7x does not write; ``None`` where there is no row yet.
        """
        self._modern = self._modern or bool(modern)
        if not system.known:
            return Context(self._with_settings(system, model, level), chain, _UNKNOWN)
        if modern is False and self._modern:
            # Pi 0.7x opens a newer file, ignores the stored prompt and sends its own, unrecorded.
            return Context(self._settings(model, level), chain, _OLD)
        return Context(self._with_settings(system, model, level), chain, _KNOWN)

    def _with_settings(self, system: SystemState, model: Model, level: Raw | None) -> tuple[Item, ...]:
        last = self._last
        if last is not None and last[0] is system and last[1] is model and last[2] == level:
            return last[3]
        key = (id(system), model, level)
        held = self._items.get(key)
        if held is None or held[0] is not system:
            held = self._items[key] = (system, (*system.items, *self._settings(model, level)))
        self._last = (system, model, level, held[1])
        return held[1]

    def _settings(self, model: Model, level: Raw | None) -> tuple[Item, ...]:
        values = (("provider", model.provider), ("model", model.id), ("thinking", level))
        return tuple(Item(Category.SETTINGS, Raw(k), v, shown=v) for k, v in values if v is not None)
