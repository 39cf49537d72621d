"""What is worked out beside the reading: it is asked for here, in lanes, and shown when it comes. Mixed into the app."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ctx_inspect.app.board import SETTLE
from ctx_inspect.app.lanes import Lane
from ctx_inspect.app.messages import Changed, Faulted, Seen, Storied, Studied, Texts, Told
from ctx_inspect.app.panes.timeline import told_of
from ctx_inspect.app.panes.wishes import Compare, Story, Wanted
from ctx_inspect.app.panes.wishes import Texts as TwoTexts
from ctx_inspect.app.snapshot import standing
from ctx_inspect.app.start import Start
from ctx_inspect.app.tallying import QUIET, Tallying
from ctx_inspect.core.model import Known, Raw, Ref, Unavailable, Why
from ctx_inspect.core.sources.base import Source
from ctx_inspect.core.views.drift import NOT_TOLD
from textual import on
from textual.timer import Timer

if TYPE_CHECKING:
    from ctx_inspect.app.snapshot import Snapshot
    from ctx_inspect.app.study import Study

REST = 2.0
"""Seconds that comparing all turns rests at most, after it took as long: a long session that grows is not compared without a pause."""

MOVING_ABOUT, PAUSE = 0.15, 0.01
"""Seconds since another turn was shown in which somebody moves about; comparing all turns then pauses so long, now and then."""

LONG, REST_OF_SELECTION = 0.03, 0.12
"""Seconds from which on comparing one turn is long, and until it is begun then."""


class Findings(Tallying):
    """Comparisons, counts and texts: none of it is made in the app's own thread."""

    def __init__(self, start: Start) -> None:
        """Make the lanes; their threads begin when something is asked of them."""
        super().__init__(start)
        self.studied: Study | None = None
        """The study of the reading on screen, or of the one before."""
        self.finished: Study | None = None
        """The last one that told of all turns."""
        self.telling = False
        """All turns are being compared now; the lane may rest beside that."""
        self.progress_timer: Timer | None = None
        self.study_lane = Lane("preparing to compare", self.lane_fault)
        self.turns_lane = Lane("comparing the turns", self.lane_fault)
        self.item_lane = Lane("looking up an item", self.lane_fault)
        self.text_lane = Lane("comparing texts", self.lane_fault)

    @on(Faulted)
    def faulted(self, message: Faulted) -> None:
        """Log an error of a thread and say it."""
        self.trouble.add([self.fault(message.fault.doing, message.fault.error)])
        self.draw_foot()

    def close_lanes(self) -> None:
        """Do nothing any more."""
        for lane in (self.study_lane, self.turns_lane, self.turn_lane, self.item_lane, self.text_lane, self.share_lane):
            lane.close()

    # --- comparing -------------------------------------------------------------------------------------------

    def study(self, snapshot: Snapshot | None) -> None:
        """Compare what was read; a session that is not read whole cannot be."""
        if snapshot is None or snapshot.ledger.partial:
            self.study_lane.stop()
            self.turn_lane.stop()
            self.stop_telling()
            self.studied = self.finished = self.mapped = self.detail.diff.sums = None
            self.turns.tell(NOT_TOLD)
            self.map.show(None, None)
            return
        if self.mapped is not None and standing(self.mapped.snapshot, snapshot) < len(self.mapped.ledger.turns):
            self.mapped = self.detail.diff.sums = None  # they tell of turns that are not there any more
        before = self.studied

        def work(_stop: Callable[[], bool]) -> None:
            from ctx_inspect.app.study import Study  # the engine comes with it: imported in the lane

            self.post_message(Studied(Study(snapshot, before)))

        self.study_lane.ask(work)

    @on(Studied)
    def ready(self, message: Studied) -> None:
        """Have the turn on screen compared, and all turns beside it."""
        study = message.study
        if study.snapshot is not self.desk.snapshot:
            return
        fresh = self.studied is not None and self.studied.ledger.key != study.ledger.key
        self.studied = study
        self.detail.study(study, fresh=fresh)
        # a session that grows all the time is compared all the same: each time to the end, then as it is by then
        self.turns_lane.ask(lambda stop: self.tell(study, stop), call_off=False)
        if self.progress_timer is None:
            self.progress_timer = self.set_timer(SETTLE, self.comparing)

    def tell(self, study: Study, stop: Callable[[], bool]) -> None:
        """Compare all turns, and rest; runs in the lane."""
        from ctx_inspect.core.diff.drift import ASK_EVERY

        began, looked = time.monotonic(), 0

        def asked() -> bool:  # asked once for so many turns, so it tells how far the work is too
            nonlocal looked
            looked += ASK_EVERY
            self.looked = min(looked, len(study.ledger.turns))
            if time.monotonic() - self.detail_at < MOVING_ABOUT:
                time.sleep(PAUSE)  # a busy thread is felt by keys
            return stop()

        self.telling, self.looked = True, 0
        try:
            told = study.tell(asked, self.finished)
            if told is None or stop():
                return
            self.finished = study
            self.post_message(Told(study, told, study.sums()))
        finally:
            self.telling = False
        end = time.monotonic() + min(REST, time.monotonic() - began)
        while time.monotonic() < end and not stop():
            time.sleep(0.02)

    def comparing(self) -> None:
        """While comparing all turns takes long, say how far it is, some times a second."""
        self.progress_timer = None
        if not self.turns_lane.busy:
            return
        if self.telling:
            self.turns.comparing = self.looked
            self.turns.redraw()
        self.progress_timer = self.set_timer(SETTLE, self.comparing)

    def stop_comparing(self) -> bool:
        """Stop comparing the turns; return whether they were being compared."""
        if self.turns.comparing is None:
            return False
        self.stop_telling()
        self.turns.redraw()
        return True

    def stop_telling(self) -> None:
        """Call off comparing the turns."""
        self.turns_lane.stop()
        self.turns.comparing, self.telling = None, False

    closing = False
    took = 0.0
    """Seconds that the last comparison of one turn took."""
    looked = 0
    """Turns that were compared until now."""

    @on(Compare)
    def compare(self, message: Compare) -> None:
        """Compare a turn in its lane."""
        # where it took long it waits for the selection to rest: a busy thread is felt by keys
        if self.took > LONG:
            self.set_timer(REST_OF_SELECTION, lambda: self.compare_now(message))
        else:
            self.compare_now(message)

    def compare_now(self, message: Compare) -> None:
        """Compare, unless another turn is selected by now, or the session was read anew: then it is asked for again."""
        study = self.detail.diff.study
        if study is None or study.snapshot is not self.desk.snapshot or message.turn != self.detail.turn:
            return

        def work(_stop: Callable[[], bool]) -> None:
            began = time.monotonic()
            try:
                seen = study.see(message.turn, message.against)
            except LookupError:
                if study.snapshot is not self.desk.snapshot:
                    return  # a turn that is no longer there
                raise
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
        study, snapshot = message.study, self.desk.snapshot
        if snapshot is None or study.ledger.key != snapshot.ledger.key:
            return
        same = standing(study.snapshot, snapshot)
        self.turns.comparing = None
        self.turns.tell(told_of(message.told, same))
        self.turns.redraw()
        if same < len(study.ledger.turns):
            return  # the rest tells of turns that are not there any more; what is there is being compared
        self.detail.diff.sums = message.sums
        if self.detail.tab == "cache":
            self.detail.redraw()
        self.mapped = study
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
        self.trouble.put("texts", [problem] if problem is not None else [])
        self.detail.take(texts, not message.rest)
        if message.rest:
            self.desk.ask_texts(message.rest, message.asked)


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
