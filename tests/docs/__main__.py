"""Writes the fields of the JSON into ``docs/json.md``: ``python -m tests.docs``."""

from __future__ import annotations

from tests.docs.fields import PAGE, page

if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8")
    after = page(before)
    PAGE.write_text(after, encoding="utf-8")
    print("same" if before == after else "changed", PAGE.name)
