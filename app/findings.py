"""What is worked out beside the reading: it is asked for here, in lanes, and shown when it comes. Mixed into the app."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ctx_inspect.app.actions import Actions
from ctx_inspect.app.board import SETTLE
from ctx_inspect.app.counting import Exact
from ctx_inspect.app.lanes import Lane
from ctx_inspect.app.messages import Changed, Counted, Faulted, Seen, Storied, Studied, Texts, Told
from ctx_inspect.app.panes.detail import COMPARED
from ctx_inspect.app.panes.wishes import Compare, Countable, Story, Uncounted, Wanted
from ctx_inspect.app.panes.wishes import Texts as TwoTexts
from ctx_inspect.app.snapshot import last_request
from ctx_inspect.app.start import Fault, Start
from ctx_inspect.core.model import Known, Raw, Ref, Request, Unavailable, Why
from ctx_inspect.core.sources.base import Source
from textual import on

if TYPE_CHECKING:
    from ctx_inspect.app.snapshot import Snapshot
    from ctx_inspect.app.study import Seen as Comparison
    from ctx_inspect.app.study import Study

QUIET = 0.25
"""Seconds until what takes long is begun, once the selection rests."""

REST = 2.0
"""Seconds that comparing all turns rests at most, after it took as long: a long session that grows is not compared without a pause."""


LONG, REST_OF_SELECTION = 0.03, 0.12
"""Seconds from which on comparing one turn is long, and until it is begun then."""


class Findings(Actions):
    """Comparisons, counts and texts: none of it is made in the app's own thread."""

    def __init__(self, start: Start) -> None:
        """Make the lanes; their threads begin when something is asked of them."""
        super().__init__(start)
        self.studied: Study | None = None
        self.counting: list[Request] = []
        """Requests that are counted by a vocabulary, the first of them now."""
        self.counted_then: Callable[[Exact], object] | None = None
        self.uncounted: set[str] = set()
        """Counters that need not be counted after."""
        self.turns_lane = Lane("comparing the turns", self.lane_fault)
        self.turn_lane = Lane("comparing a turn", self.lane_fault)
        self.item_lane = Lane("looking up an item", self.lane_fault)
        self.text_lane = Lane("comparing texts", self.lane_fault)

    def lane_fault(self, doing: str, error: BaseException) -> None:
        """Take an error of a lane, in its thread."""
        self.post_message(Faulted(Fault(doing, error)))

    @on(Faulted)
    def faulted(self, message: Faulted) -> None:
        """Log an error of a thread and say it."""
        self.trouble.add([self.fault(message.fault.doing, message.fault.error)])
        self.draw_foot()

    def close_lanes(self) -> None:
        """Do nothing any more."""
        for lane in (self.turns_lane, self.turn_lane, self.item_lane, self.text_lane):
            lane.close()

    # --- comparing -------------------------------------------------------------------------------------------

    def study(self, snapshot: Snapshot | None) -> None:
        """Compare what was read; a session that is not read whole cannot be."""
        if snapshot is None or snapshot.ledger.partial:
            self.studied = None
            self.turns_lane.stop()
            self.turn_lane.stop()
            return
        before = self.studied

        def work(stop: Callable[[], bool]) -> None:
            from ctx_inspect.app.study import ASKED, Study

            began, looked = time.monotonic(), 0

            def asked() -> bool:  # asked once for so many turns, so it tells how far the work is too
                nonlocal looked
                looked += ASKED
                self.looked = min(looked, len(snapshot.ledger.turns))
                return stop()

            study = Study(snapshot, before)
            self.post_message(Studied(study))
            told = study.tell(asked)
            if told is None:
                return
            self.post_message(Told(study, told, study.sums()))
            end = time.monotonic() + min(REST, time.monotonic() - began)
            while time.monotonic() < end and not self.closing:
                time.sleep(0.02)

        self.turns.comparing = None
        self.turns_lane.ask(work)
        self.set_timer(SETTLE, self.comparing)

    def comparing(self) -> None:
        """While comparing all turns takes long, say how far it is, some times a second."""
        if self.turns_lane.busy and self.studied is not self.mapped:
            self.turns.comparing = self.looked
            self.turns.redraw()
            self.set_timer(SETTLE, self.comparing)

    def stop_comparing(self) -> bool:
        """Stop comparing the turns; return whether they were being compared."""
        if self.turns.comparing is None:
            return False
        self.turns_lane.stop()
        self.turns.comparing = None
        self.turns.redraw()
        return True

    closing = False
    took = 0.0
    """Seconds that the last comparison of one turn took."""
    looked = 0
    """Turns that were compared until now."""

    @on(Studied)
    def ready(self, message: Studied) -> None:
        """Have the turn on screen compared."""
        if message.study.snapshot is not self.desk.snapshot:
            return
        fresh = self.studied is None or self.studied.ledger.key != message.study.ledger.key
        self.studied = message.study
        self.detail.study(message.study, fresh=fresh)

    @on(Compare)
    def compare(self, message: Compare) -> None:
        """Compare a turn in its lane."""
        # where it took long it waits for the selection to rest: a busy thread is felt by keys
        if self.took > LONG:
            self.set_timer(REST_OF_SELECTION, lambda: self.compare_now(message))
        else:
            self.compare_now(message)

    def compare_now(self, message: Compare) -> None:
        """Compare, unless another turn is selected by now."""
        study = self.detail.diff.study
        if study is None or message.turn != self.detail.turn:
            return

        def work(_stop: Callable[[], bool]) -> None:
            began = time.monotonic()
            seen = study.see(message.turn, message.against)
            self.took = time.monotonic() - began
            self.post_message(Seen(study, seen))

        self.turn_lane.ask(work)

    @on(Seen)
    def compared(self, message: Seen) -> None:
        """Show a comparison; once the selection rests, both sides are counted by a vocabulary, where there is one."""
        self.detail.compared(message.study, message.found)
        self.draw_foot()
        if message.found is self.detail.diff.seen(self.detail.turn):
            self.set_timer(QUIET, lambda: self.count_sides(message.study, message.found))

    @on(Told)
    def told(self, message: Told) -> None:
        """Show what changed in each turn."""
        if self.desk.snapshot is None or message.study.ledger.key != self.desk.snapshot.ledger.key:
            return
        self.detail.diff.sums = message.sums
        if self.detail.tab == "cache":
            self.detail.redraw()
        self.turns.comparing = None
        self.turns.tell(message.told)
        self.turns.redraw()
        self.mapped = message.study
        self.draw_map()

    @on(Story)
    def story(self, message: Story) -> None:
        """Look an item up in its lane."""
        study, key = self.detail.diff.study, message.key
        if study is None:
            return

        def work(_stop: Callable[[], bool]) -> None:
            self.post_message(Storied(key, study.story(key.category, key.k)))

        self.item_lane.ask(work)

    @on(Storied)
    def storied(self, message: Storied) -> None:
        """Show an item's story."""
        if self.detail.diff.take_story(message.key, message.story):
            self.detail.redraw()

    # --- texts -----------------------------------------------------------------------------------------------

    @on(TwoTexts)
    def texts_compared(self, message: TwoTexts) -> None:
        """Read two texts and compare them in a lane."""
        source = self.desk.sources.get(self.desk.wanted or "")
        if source is None:
            return
        reader = self.desk.live.reader(source)

        def read(owner: Source) -> tuple[Known[Raw] | None, Known[Raw] | None]:
            return _text(owner, message.before), _text(owner, message.after)

        def work(_stop: Callable[[], bool]) -> None:
            from ctx_inspect.core.views.words import text_change

            before, after = reader.ask(read, lane="text").result()
            self.post_message(Changed(message.asked, text_change(before, after)))

        self.text_lane.ask(work)

    @on(Changed)
    def text_changed(self, message: Changed) -> None:
        """Show what changed in a text, if it is still wanted."""
        self.detail.take_change(message.asked, message.change)
        self.draw_foot()

    @on(Wanted)
    def texts_wanted(self, message: Wanted) -> None:
        """Read texts."""
        self.desk.ask_texts(message.refs, message.asked)

    @on(Texts)
    def texts(self, message: Texts) -> None:
        """Show texts, if they are still wanted, and have the rest read."""
        if message.key != self.desk.wanted or not self.detail.text.wants(message.asked):
            return
        texts, problem = self.desk.take_texts(message)
        if problem is not None:
            self.trouble.add([problem])
        self.detail.take(texts, not message.rest)
        if message.rest:
            self.desk.ask_texts(message.rest, message.asked)

    # --- counting --------------------------------------------------------------------------------------------

    @on(Uncounted)
    def shares_wanted(self, message: Uncounted) -> None:
        """Count a long message list in a thread, once the selection rests: it would hold up keys."""
        self.set_timer(QUIET, lambda: self.count_shares(message))

    def count_shares(self, message: Uncounted) -> None:
        """Count, unless another turn is selected by now."""
        if self.detail.budget.counting == message.id:
            self.run_worker(lambda: self.call_from_thread(self.detail.take_shares, message.id, message.count()), thread=True)

    @on(Countable)
    def countable(self, message: Countable) -> None:
        """Count a request by a vocabulary, once the selection rests."""
        self.set_timer(QUIET, lambda: self.count_shown(message.request))

    def count_shown(self, request: Request) -> None:
        """Have the Budget tab's request counted, unless another one is shown by now."""
        if self.detail.budget.shown is request and self.detail.tab == "budget":
            self.count([request], self.detail.take_exact)

    def count_sides(self, study: Study, seen: Comparison) -> None:
        """Have both sides of a comparison counted, and the newest window, unless another one is shown by now."""
        if seen is not self.detail.diff.seen(self.detail.turn) or self.detail.tab not in COMPARED or seen.report.counter in self.uncounted:
            return
        row = study.snapshot.row(seen.turn)
        last = last_request(row) if row is not None else None
        wanted = [*seen.requests, *([last] if last is not None and last.context is not None and last not in seen.requests else [])]

        def done(exact: Exact) -> None:
            self.detail.budget.exact = exact
            self.draw_head()
            self.turn_lane.ask(lambda _stop: self.see_exactly(study, seen, exact))

        if wanted:
            self.count(wanted, done)

    def see_exactly(self, study: Study, seen: Comparison, exact: Exact) -> None:
        """Compare again by what was counted; runs in the lane."""
        found = study.see(seen.turn, seen.against, exact)
        self.uncounted |= {found.report.counter}  # by a vocabulary: it is not counted again
        self.post_message(Seen(study, found))

    def count(self, requests: list[Request], done: Callable[[Exact], object]) -> None:
        """Have requests counted one after the other, bit by bit; what was being counted until now is dropped."""
        self.counting, self.counted_then = requests, done
        self.desk.ask_count(requests[0])

    @on(Counted)
    def counted(self, message: Counted) -> None:
        """Show what was counted, or go on."""
        if message.key != self.desk.wanted or not self.counting or message.request is not self.counting[0]:
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


def _text(owner: Source, ref: Ref | None) -> Known[Raw] | None:
    """Return one side's text; ``None`` where there is none."""
    if ref is None:
        return None
    from ctx_inspect.core.sources.base import NoSession, SourceError
    from ctx_inspect.core.views.words import READ

    try:
        return owner.text(ref, READ)
    except (SourceError, NoSession):
        return Unavailable(Why.UNREADABLE, "it could not be read")
