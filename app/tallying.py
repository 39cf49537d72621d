"""Counting, beside the reading: windows by size, and both sides of a comparison by a vocabulary. Mixed into the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ctx_inspect.app.actions import Actions
from ctx_inspect.app.counting import Exact
from ctx_inspect.app.lanes import Lane
from ctx_inspect.app.messages import Counted, Faulted, Seen, Split
from ctx_inspect.app.panes.detail import COMPARED
from ctx_inspect.app.panes.wishes import Countable, Uncounted
from ctx_inspect.app.snapshot import last_request
from ctx_inspect.app.start import Fault, Start
from ctx_inspect.core.model import Request
from textual import on

if TYPE_CHECKING:
    from ctx_inspect.app.study import Seen as Comparison
    from ctx_inspect.app.study import Study

QUIET = 0.25
"""Seconds until what takes long is begun, once the selection rests."""


class Tallying(Actions):
    """What is counted of what is on the screen, and nothing of it in the app's own thread."""

    def __init__(self, start: Start) -> None:
        """Make the lanes; their threads begin when something is asked of them."""
        super().__init__(start)
        self.counting: list[Request] = []
        """Requests that are counted by a vocabulary, the first of them now."""
        self.counted_then: Callable[[Exact], object] | None = None
        self.count_wanted: Callable[[], bool] = lambda: False
        """Whether what is counted is still on the screen."""
        self.uncounted: set[str] = set()
        """Counters that need not be counted after."""
        self.share_lane = Lane("counting a window", self.lane_fault)
        self.turn_lane = Lane("comparing a turn", self.lane_fault)

    def lane_fault(self, doing: str, error: BaseException) -> None:
        """Take an error of a lane, in its thread."""
        self.post_message(Faulted(Fault(doing, error)))

    @on(Uncounted)
    def shares_wanted(self, message: Uncounted) -> None:
        """Count a long message list in a thread, once the selection rests: it would hold up keys."""
        self.set_timer(QUIET, lambda: self.count_shares(message))

    def count_shares(self, message: Uncounted) -> None:
        """Count, unless another turn is selected by now."""
        if self.detail.budget.counting == message.id:

            def work(_stop: Callable[[], bool]) -> None:
                self.post_message(Split(message.id, message.count()))

            self.share_lane.ask(work)

    @on(Split)
    def shares_counted(self, message: Split) -> None:
        """Show a window by category."""
        self.detail.take_shares(message.id, message.shares)

    @on(Countable)
    def countable(self, message: Countable) -> None:
        """Count a request by a vocabulary, once the selection rests."""
        self.set_timer(QUIET, lambda: self.count_shown(message.request))

    def count_shown(self, request: Request) -> None:
        """Have the Budget tab's request counted, unless another one is shown by now."""
        if self.detail.budget.shown is request and self.detail.tab == "budget":
            turn = self.detail.turn
            self.count([request], self.detail.take_exact, lambda: self.detail.turn == turn)

    def count_sides(self, study: Study, seen: Comparison) -> None:
        """Have both sides of a comparison counted, and the newest window, unless another one is shown by now."""
        if seen is not self.detail.diff.seen(self.detail.turn) or self.detail.tab not in COMPARED or seen.report.counter in self.uncounted:
            return
        row = study.snapshot.row(seen.turn)
        last = last_request(row) if row is not None else None
        wanted = [*seen.requests, *([last] if last is not None and last.context is not None and last not in seen.requests else [])]

        def shown() -> bool:
            return seen is self.detail.diff.seen(self.detail.turn)

        def done(exact: Exact) -> None:
            self.detail.budget.exact = exact
            self.draw_head()
            self.turn_lane.ask(lambda _stop: self.see_exactly(study, seen, exact))

        if wanted:
            self.count(wanted, done, shown)

    def see_exactly(self, study: Study, seen: Comparison, exact: Exact) -> None:
        """Compare again by what was counted; runs in the lane."""
        found = study.see(seen.turn, seen.against, exact)
        self.uncounted |= {found.report.counter}  # by a vocabulary: it is not counted again
        self.post_message(Seen(study, found))

    def count(self, requests: list[Request], done: Callable[[Exact], object], wanted: Callable[[], bool]) -> None:
        """Have requests counted one after the other, bit by bit, while it is wanted; what was being counted until now is dropped."""
        self.counting, self.counted_then, self.count_wanted = requests, done, wanted
        self.desk.ask_count(requests[0])

    @on(Counted)
    def counted(self, message: Counted) -> None:
        """Show what was counted, or go on."""
        if message.key != self.desk.wanted or not self.counting or message.request is not self.counting[0]:
            return
        if not self.count_wanted():
            self.counting = []
            return
        match message.found:
            case BaseException() as error:
                self.counting = []
                self.trouble.add([self.desk.problem(error, None, "counting tokens")])
            case True:
                self.desk.ask_count(message.request)
            case False:  # there is no vocabulary, or too much to count
                self.counting = []
            case exact:
                self.counting = self.counting[1:]
                if self.counting:
                    self.desk.ask_count(self.counting[0])
                elif self.counted_then is not None:
                    self.counted_then(exact)
                    self.draw_head()
