"""What threads that read and watch tell the app, one message each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctx_inspect.app.counting import Exact
from ctx_inspect.app.snapshot import Snapshot
from ctx_inspect.app.start import Fault
from ctx_inspect.core.live import LiveEvent
from ctx_inspect.core.model import Listing, Ref, Request
from ctx_inspect.core.shares import Shares
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.views.text import Found
from textual.message import Message

if TYPE_CHECKING:
    from ctx_inspect.app.study import Seen as Comparison
    from ctx_inspect.app.study import Study
    from ctx_inspect.core.diff.history import ItemHistory
    from ctx_inspect.core.views.cache import Sums
    from ctx_inspect.core.views.diff import ItemKey
    from ctx_inspect.core.views.drift import Told as Turns
    from ctx_inspect.core.views.words import TextChange


class Listed(Message):
    """A source listed its sessions, or could not.

    Attributes:
        source: Which.
        found: The list or the error.
    """

    def __init__(self, source: Source, found: Listing | BaseException) -> None:
        """Make the message."""
        super().__init__()
        self.source, self.found = source, found


class Read(Message):
    """A session was read, or could not be.

    Attributes:
        key: Which.
        found: The snapshot or the error.
        reads: How many reads had been begun with this one.
    """

    def __init__(self, key: str, found: Snapshot | BaseException, reads: int) -> None:
        """Make the message."""
        super().__init__()
        self.key, self.found, self.reads = key, found, reads


class Texts(Message):
    """Texts were read.

    Attributes:
        key: Of which session.
        asked: For which wish of the pane.
        found: By place, or the error.
        refs: Which were read.
        rest: Which are still to be read.
    """

    def __init__(
        self, key: str, asked: int, found: Mapping[Ref, Found] | BaseException, refs: tuple[Ref, ...] = (), rest: tuple[Ref, ...] = ()
    ) -> None:
        """Make the message."""
        super().__init__()
        self.key, self.asked, self.found, self.refs, self.rest = key, asked, found, refs, rest


class News(Message):
    """Something is new in a store.

    Attributes:
        event: What.
    """

    def __init__(self, event: LiveEvent) -> None:
        """Make the message."""
        super().__init__()
        self.event = event


class Counted(Message):
    """Some of a request was counted, or all of it.

    Attributes:
        key: Of which session.
        request: What was counted.
        found: See :meth:`Tally.step`; or the error.
    """

    def __init__(self, key: str, request: Request, found: Exact | bool | BaseException) -> None:
        """Make the message."""
        super().__init__()
        self.key, self.request, self.found = key, request, found


class Split(Message):
    """A window was counted by category.

    Attributes:
        id: Of which request.
        shares: By category.
    """

    def __init__(self, id_: str, shares: Shares) -> None:
        """Make the message."""
        super().__init__()
        self.id, self.shares = id_, shares


class Faulted(Message):
    """An error nobody expected, in a thread that reads or watches.

    Attributes:
        fault: What.
    """

    def __init__(self, fault: Fault) -> None:
        """Make the message."""
        super().__init__()
        self.fault = fault


class Seen(Message):
    """A turn was compared, or could not be.

    Attributes:
        study: By which study of the session.
        found: The comparison.
    """

    def __init__(self, study: Study, found: Comparison) -> None:
        """Make the message."""
        super().__init__()
        self.study, self.found = study, found


class Told(Message):
    """All turns of a session were compared.

    Attributes:
        study: By which study of the session.
        told: What changed in each.
        sums: What its caches came to.
    """

    def __init__(self, study: Study, told: Turns, sums: Sums) -> None:
        """Make the message."""
        super().__init__()
        self.study, self.told, self.sums = study, told, sums


class Storied(Message):
    """An item's story was looked up.

    Attributes:
        key: Whose.
        story: It.
    """

    def __init__(self, key: ItemKey, story: ItemHistory) -> None:
        """Make the message."""
        super().__init__()
        self.key, self.story = key, story


class Changed(Message):
    """Two texts were compared.

    Attributes:
        asked: For which wish of the pane.
        change: What changed.
    """

    def __init__(self, asked: int, change: TextChange) -> None:
        """Make the message."""
        super().__init__()
        self.asked, self.change = asked, change


class Studied(Message):
    """A session's study is ready to be asked.

    Attributes:
        study: It.
    """

    def __init__(self, study: Study) -> None:
        """Make the message."""
        super().__init__()
        self.study = study
