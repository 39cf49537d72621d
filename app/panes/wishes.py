"""What the detail's pane asks the app for, one message each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctx_inspect.core.model import Ref, Request
from ctx_inspect.core.shares import Shares
from textual.message import Message

if TYPE_CHECKING:
    from ctx_inspect.core.views.diff import ItemKey


class Wanted(Message):
    """Texts are to be read.

    Attributes:
        refs: Where they lie.
        asked: Handed back with the texts, so that those of an earlier wish are told from these.
    """

    def __init__(self, refs: tuple[Ref, ...], asked: int) -> None:
        """Make the message."""
        super().__init__()
        self.refs, self.asked = refs, asked


class Uncounted(Message):
    """A message list is too long to be counted between two frames.

    Attributes:
        id: Of the request.
        count: Counts it; takes long.
    """

    def __init__(self, id_: str, count: Callable[[], Shares]) -> None:
        """Make the message."""
        super().__init__()
        self.id, self.count = id_, count


class Countable(Message):
    """A request is shown that could be counted by a vocabulary.

    Attributes:
        request: Which.
    """

    def __init__(self, request: Request) -> None:
        """Make the message."""
        super().__init__()
        self.request = request


class TabChosen(Message):
    """A tab was clicked.

    Attributes:
        name: Its name.
    """

    def __init__(self, name: str) -> None:
        """Make the message."""
        super().__init__()
        self.name = name


class Compare(Message):
    """A turn is to be compared.

    Attributes:
        turn: Its number.
        against: With this turn; ``None`` = with its baseline.
    """

    def __init__(self, turn: int, against: int | None) -> None:
        """Make the message."""
        super().__init__()
        self.turn, self.against = turn, against


class Story(Message):
    """An item's story is wanted.

    Attributes:
        key: Whose.
    """

    def __init__(self, key: ItemKey) -> None:
        """Make the message."""
        super().__init__()
        self.key = key


class Texts(Message):
    """Two texts are to be read and compared.

    Attributes:
        before: Where the older one lies; ``None`` = there was none.
        after: Where the newer one lies.
        asked: Handed back with what changed.
    """

    def __init__(self, before: Ref | None, after: Ref | None, asked: int) -> None:
        """Make the message."""
        super().__init__()
        self.before, self.after, self.asked = before, after, asked


class Entered(Message):
    """A row was double-clicked."""
