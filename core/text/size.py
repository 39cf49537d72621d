"""How long texts are where they are sent."""

from __future__ import annotations


def utf8(text: str) -> int:
    """Return how many bytes a text takes in UTF-8; a lone surrogate, as damaged stores hold them, takes three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
