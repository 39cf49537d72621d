"""What a compaction saved, where the store does not keep both figures: the windows of the requests before and after it. Pure."""

from __future__ import annotations

from ctx_inspect.core.budget import request_window, steps_of
from ctx_inspect.core.model import Estimated, Ledger, Mark, MarkKind, Request, Unavailable, replace


def follows(request: Request, mark: Mark) -> bool:
    """Tell whether a request began after an event; where one of their times is not recorded, by what stands before the event."""
    if request.at is None or mark.at is None:
        return request.id != mark.after
    return request.at > mark.at


def measured(mark: Mark, ledger: Ledger) -> Mark:
    """Return a compaction with the windows before and after it, where the store does not keep both; other events as they are.

    Args:
        mark: The event.
        ledger: Its session.
    """
    if mark.kind is not MarkKind.COMPACTION or mark.status != "succeeded" or not isinstance(mark.then, Unavailable):
        return mark
    n = mark.turn or 0
    # the turn before too: a harness may compact before the first request of a turn
    near = [r for t in ledger.turns[max(0, n - 2) : n + 1] for r in steps_of(t)]
    place = next((i for i, r in enumerate(near) if mark.at is None and r.id == mark.after), None)
    split = [i <= place if place is not None else not follows(r, mark) for i, r in enumerate(near)]
    earlier = [r for r, early in zip(near, split, strict=True) if early]
    later = [r for r, early in zip(near, split, strict=True) if not early]
    then = next((w.value for r in later if not isinstance(w := request_window(r), Unavailable)), None)
    # Two windows make a difference that means one thing; a harness's own figure may be another (Pi's counts the last answer in).
    was = next((w.value for r in reversed(earlier) if not isinstance(w := request_window(r), Unavailable)), None)
    before = mark.before if was is None else Estimated(was, "the last request before it")
    if then is None or isinstance(before, Unavailable):
        return mark
    return replace(mark, before=before, then=Estimated(then, "the first request after it"))
