"""What a comparison says in at most three sentences: one pure function for the pane, the text, Markdown and the copy menu."""

from __future__ import annotations

from ctx_inspect.core.diff.report import Report
from ctx_inspect.core.model import Category, Known, Raw, Shown
from ctx_inspect.core.phrases import Name
from ctx_inspect.core.text.show import joined, safe_join
from ctx_inspect.core.views.names import named
from ctx_inspect.core.views.sheet import Span, Tone
from msgspec import Struct


class Sentence(Struct, frozen=True):
    """One sentence.

    Attributes:
        sign: One glyph that stands before it.
        tone: Of the sign.
        spans: The words; what is estimated in them is italic.
        witness: What tells it, short, for the right end of the line (``recorded``, ``wire``, ``estimated``).
        source: The same in full (``recorded by opencode``, ``estimated: rebuilt from the store``).
        evidence: ``confirmed``, ``estimated`` or ``unavailable``.
        number: The figure in it, tokens.
        category: What it is about; ``None`` = the cache or the whole.
        k: Key of the (first) item that it is about.
        names: Places in ``spans`` of names from outside; Markdown puts them into code spans.
    """

    sign: Shown
    tone: Tone
    spans: tuple[Span, ...]
    witness: Shown
    source: Shown
    evidence: str
    number: Known[int] | None = None
    category: Category | None = None
    k: Raw | None = None
    names: tuple[int, ...] = ()

    @property
    def words(self) -> Shown:
        """The sentence without its sign and witness."""
        return safe_join("", (s.text for s in self.spans))

    @property
    def text(self) -> Shown:
        """The sentence with its sign."""
        return joined(self.sign, " ", self.words)


MOST = 3
"""Sentences that are said at most."""


def sentences(report: Report, name: Name = named) -> tuple[Sentence, ...]:
    """Return what a comparison says, the weightiest first, at most three.

    Args:
        report: The comparison.
        name: Makes names from outside harmless.
    """
    raise NotImplementedError
