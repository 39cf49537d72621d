"""Where the panes stand, for a size of the terminal and what is open. Pure."""

from __future__ import annotations

from msgspec import Struct

COLUMN_FROM = 160
"""From this width on the sessions are a column."""
SIDE_FROM = 112
"""From this width on timeline and detail stand side by side: both have room for words then."""
TIMELINE_LEAST, TIMELINE_MOST = 56, 96
"""Cells that the timeline gets beside the detail: what changed in a turn has room in so many, and from 75 on words for it."""
ONE_PANE_BELOW = 14
"""Below this height one pane is seen at a time."""
BARE_BELOW = 8
"""Below this height there is neither footer nor title."""
GAUGE_FROM = 10
"""From this height on the gauge has its own line."""
LEGEND_FROM = 50
CHART_FROM = 36
MAP_FROM = 34
"""From this height on the map of what moved stands under the sessions."""
SESSIONS_WIDTH, DRAWER_WIDTH = 34, 44


class Arrangement(Struct, frozen=True):
    """What is seen and how large it is.

    Attributes:
        side: Timeline and detail stand side by side.
        header: Lines of the header: 1, 2 or 3.
        timeline: The timeline is seen.
        detail: The detail is seen.
        sessions: The sessions are seen.
        drawer: They were asked for and go again.
        sessions_size: Cells of the sessions' width; 0 = all.
        titles: Panes have titles.
        footer: There is a footer.
        legend: The rail is explained below the timeline.
        chart: The detail has a chart.
        timeline_size: Cells of the timeline: its width side by side, its height else; 0 = all.
        map: There is room for the map of what moved under the sessions.
    """

    side: bool
    header: int
    timeline: bool
    detail: bool
    sessions: bool
    drawer: bool
    sessions_size: int
    titles: bool
    footer: bool
    legend: bool
    chart: bool
    timeline_size: int
    map: bool = False


def arrange(width: int, height: int, *, drawer: bool, whole: bool, detail_focused: bool) -> Arrangement:
    """Choose the arrangement.

    Args:
        width: Cells of the terminal.
        height: Its lines.
        drawer: The sessions were asked for.
        whole: The detail was given the whole height.
        detail_focused: The detail has the focus (where one pane is seen at a time, it is that one).
    """
    side = width >= SIDE_FROM
    column = width >= COLUMN_FROM and height >= ONE_PANE_BELOW
    header = 3 if width >= 100 and height >= 20 else 2 if height >= GAUGE_FROM else 1
    footer = height >= BARE_BELOW
    single = height < ONE_PANE_BELOW
    beside = drawer and not column and side and height >= ONE_PANE_BELOW
    covered = drawer and not column and not beside
    only_detail = whole or (single and detail_focused)
    timeline = not covered and not only_detail
    detail = not covered and (only_detail or not single)
    body = height - header - (1 if footer else 0)
    wide = SESSIONS_WIDTH if column else DRAWER_WIDTH if beside else 0
    size = 0
    if timeline and detail:
        if side:
            room = width - (wide + 1 if wide else 0)
            least = TIMELINE_LEAST if room >= SIDE_FROM else 34
            size = max(least, min(TIMELINE_MOST, round(room * (0.5 if column else 0.44))))
        else:
            size = max(5, round(body * 0.44))
    return Arrangement(
        side,
        header,
        timeline,
        detail,
        column or beside or covered,
        beside or covered,
        wide,
        height >= BARE_BELOW,
        footer,
        height >= LEGEND_FROM and timeline,
        height >= CHART_FROM and side and detail,
        size,
        column and height >= MAP_FROM and (timeline or detail),
    )
