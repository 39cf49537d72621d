"""A Struct as one line of JSON that a terminal may show."""

from __future__ import annotations

import json

import msgspec
from ctx_inspect.core.text.show import json_escaped


def document(answer: msgspec.Struct, *, ascii_only: bool = False) -> str:
    """Return the answer of a command as one JSON object, without a line end.

    ``json`` writes it, not msgspec: texts from stores may hold lone surrogates, which msgspec refuses.

    Args:
        answer: What a command answers.
        ascii_only: Write everything beyond ASCII as escapes: for a stream that is not UTF-8.

    Returns:
        ASCII controls, C1, DEL, bidi overrides and all else that acts on a terminal are escapes in it.
    """
    return json_escaped(json.dumps(msgspec.to_builtins(answer), ensure_ascii=ascii_only, separators=(",", ":")))
