"""The one border where hostile text becomes harmless: ``Raw`` in, ``Shown`` out, per target.

Nothing else makes a ``Shown``. Control characters, escape sequences, bidi overrides, zero-width characters and
line separators are made visible, never obeyed and never silently dropped.
"""

from __future__ import annotations

from ctx_inspect.core.model.evidence import Raw, Shown

_VISIBLE: dict[int, str] = {}
for _c in range(0x20):
    _VISIBLE[_c] = chr(0x2400 + _c)  # control pictures: ␀ … ␟
_VISIBLE[0x7F] = "␡"
for _c in (
    *range(0x80, 0xA0),
    0xAD,
    0x61C,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
):
    _VISIBLE[_c] = f"‹{_c:04X}›"
for _c in range(0xE0000, 0xE0080):
    _VISIBLE[_c] = f"‹{_c:X}›"


def own(text: str) -> Shown:
    """Mark a literal of our own code as drawable. Never call it with anything that came from outside."""
    return Shown(text)


def terminal(raw: Raw, limit: int | None = None) -> Shown:
    """Return one line that a terminal shows and never obeys.

    Args:
        raw: Text from outside.
        limit: At most this many characters of it are taken; what is cut ends in ``…``.

    Returns:
        The text with every control, bidi, zero-width and separator character made visible.
    """
    cut = limit is not None and len(raw) > limit
    text = raw[:limit] if cut else str(raw)
    return Shown(text.translate(_VISIBLE) + ("…" if cut else ""))
