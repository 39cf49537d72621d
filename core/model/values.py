"""A frozen value with some fields changed.

Values are msgspec Structs: made ten times faster than frozen dataclasses, half their size, and their classes cost nothing
when they are imported (a dataclass takes 1 ms, and there are fifty on the way to the first frame).
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

V = TypeVar("V", bound=msgspec.Struct)


def replace(value: V, /, **changes: Any) -> V:
    """Return a copy with other values in some fields.

    Raises:
        TypeError: It has no such field.
    """
    return msgspec.structs.replace(value, **changes)
