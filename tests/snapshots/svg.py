"""Makes Rich's SVG of a screen the same on every run, and free of anything remote."""

from __future__ import annotations

import re

FONTS = '"DejaVu Sans Mono", "Cascadia Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", monospace'
"""What a reader of the file may have; nothing is fetched."""

_FACE = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)
_ID = re.compile(r"terminal-\d+")
_GENERATED = re.compile(r"\s*<!-- Generated with .*? -->", re.DOTALL)
_REMOTE = re.compile(r"""(?:https?:)?//(?!www\.w3\.org/)[^\s"')]+""")


def clean(svg: str) -> str:
    """Return the picture without remote fonts and random names.

    Raises:
        ValueError: Something remote would be left in it.
    """
    svg = _GENERATED.sub("", _FACE.sub("\n", svg))
    svg = _ID.sub("screen", svg)
    svg = svg.replace("font-family: Fira Code, monospace;", f"font-family: {FONTS};").replace(
        "font-family: arial;", "font-family: sans-serif;"
    )
    svg = re.sub(r"[ \t]+\n", "\n", svg)
    if found := _REMOTE.search(svg):
        raise ValueError(f"the picture refers to {found.group()}")
    return svg.strip() + "\n"
