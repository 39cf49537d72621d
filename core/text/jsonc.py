"""JSON with comments, as people write configuration."""

from __future__ import annotations


def plain_json(text: str) -> str:
    """Take comments and trailing commas out of JSON with comments; strings are left as they are."""
    out: list[str] = []
    n, end = 0, len(text)
    while n < end:
        c = text[n]
        if c == '"':
            start = n
            n += 1
            while n < end and text[n] != '"':
                n += 2 if text[n] == "\\" else 1
            n += 1
            out.append(text[start:n])
        elif text.startswith("//", n):
            n = _after(text, "\n", n)
        elif text.startswith("/*", n):
            n = _after(text, "*/", n + 2)
        else:
            if c in "}]":
                _drop_comma(out)
            out.append(c)
            n += 1
    return "".join(out)


def _after(text: str, mark: str, start: int) -> int:
    found = text.find(mark, start)
    return len(text) if found < 0 else found + len(mark)


def _drop_comma(out: list[str]) -> None:
    last = len(out) - 1
    while last >= 0 and out[last].isspace():
        last -= 1
    if last >= 0 and out[last] == ",":
        out[last] = ""
