"""All keys in one table: the app's bindings, the footer, the help and the palette are made from it.

Every entry has an id, under which a person may set other keys in ``[keys]`` of the configuration file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from textual.binding import Binding

TIMELINE, DIFF, DETAIL, TEXT, SESSIONS, FILTER, EMPTY, SHEET = (
    "timeline",
    "diff",
    "detail",
    "text",
    "sessions",
    "filter",
    "empty",
    "sheet",
)
READING = frozenset({TIMELINE, DIFF, DETAIL, TEXT})
EVERYWHERE = READING | {SESSIONS, EMPTY}
MOVING = EVERYWHERE - {EMPTY}


class Key(Struct, frozen=True):
    """What a key does.

    Attributes:
        id: Under which it can be set.
        keys: Textual's names, separated by commas.
        shown: How the keys are written.
        action: The app's action; empty where a widget has the binding.
        word: In the footer.
        does: In help and palette.
        panes: Where it is valid.
        rank: Place in the footer; 0 = not there.
        foot: Panes in whose footer it stands; ``None`` = all where it is valid.
        pair: How it is written in the footer, where it stands there for itself and its opposite.
    """

    id: str
    keys: str
    shown: str
    action: str
    word: str
    does: str
    panes: frozenset[str] = EVERYWHERE
    rank: int = 0
    foot: frozenset[str] | None = None
    pair: str = ""


KEYS = (
    Key("down", "j,down", "j ↓", "", "down", "next line", MOVING),
    Key("up", "k,up", "k ↑", "", "up", "line before", MOVING),
    Key("first", "g,home", "g", "", "first", "first line", MOVING),
    Key("last", "G,end", "G", "", "last", "last line", MOVING),
    Key("half_down", "ctrl+d,pagedown", "ctrl+d", "", "half down", "half a page down", MOVING),
    Key("half_up", "ctrl+u,pageup", "ctrl+u", "", "half up", "half a page up", MOVING),
    Key("follow", "f", "f", "follow", "follow", "follow the newest turn, or stop following", READING, 1, frozenset({TIMELINE, DETAIL})),
    Key("next_change", "n", "n", "change(1)", "change", "next change of this turn", READING, 1, frozenset({DIFF}), "n N"),
    Key("change_before", "N", "N", "change(-1)", "change before", "change before, of this turn", READING),
    Key(
        "changed",
        "right_square_bracket,full_stop",
        "] .",
        "changed(1)",
        "changed",
        "next turn in which something changed",
        READING,
        2,
        frozenset({TIMELINE, DETAIL}),
        "[ ]",
    ),
    Key("changed_before", "left_square_bracket,comma", "[ ,", "changed(-1)", "changed before", "changed turn before", READING),
    Key(
        "broken",
        "right_curly_bracket,greater_than_sign",
        "} >",
        "broken(1)",
        "break",
        "next turn in which the cache was lost",
        READING,
        3,
        frozenset({TIMELINE, DETAIL}),
        "{ }",
    ),
    Key("broken_before", "left_curly_bracket,less_than_sign", "{ <", "broken(-1)", "break before", "cache break before", READING),
    Key("mark", "m", "m", "mark", "mark", "compare other turns with this one; again: no more", READING, 4, frozenset({TIMELINE, DIFF})),
    Key("unfold", "right,l", "→", "unfold", "steps", "show the turn's steps; unfold", READING - {TEXT}, 5, frozenset({TIMELINE})),
    Key("fold", "left,h", "←", "fold", "fold", "hide the steps; fold; from the detail: back to the turn", READING),
    Key("open", "enter", "⏎", "open", "open", "open: the details, an item's card; again: the whole height", MOVING, 3, MOVING - {TIMELINE}),
    Key("reveal", "v", "v", "reveal", "reveal text", "show the turn's text, or what changed in one, until the pane is left", READING, 2),
    Key("fold_all", "z", "z", "fold_all", "unfold", "unfold all that did not change, or fold it", READING, 5, frozenset({DIFF})),
    Key("sides", "u", "u", "sides", "sides", "both sides beside each other, or names once", READING, 6, frozenset({DIFF})),
    Key("moved", "w", "w", "moved", "what moved", "what moved: items by turns", READING),
    Key("tab_diff", "1", "1", "tab('diff')", "diff", "Diff: what changed", READING),
    Key("tab_budget", "2", "2", "tab('budget')", "budget", "Budget: what fills the window", READING),
    Key("tab_cache", "3", "3", "tab('cache')", "cache", "Cache: what became of it in each step", READING),
    Key("tab_steps", "5", "5", "tab('steps')", "steps", "Steps: the turn's requests", READING),
    Key("tab_text", "6", "6", "tab('text')", "text", "Text: what was said", READING),
    Key("next_pane", "tab", "Tab", "next_pane", "pane", "next pane", MOVING, 6, MOVING - {TIMELINE, DIFF}),
    Key("previous_pane", "shift+tab", "shift+Tab", "previous_pane", "pane before", "pane before", MOVING),
    Key("filter", "slash", "/", "filter", "filter", "filter the sessions", frozenset({SESSIONS}), 1),
    Key("choose", "", "↓ ↑", "", "choose", "line below, line above, while you type", frozenset({FILTER}), 1),
    Key("take", "", "⏎", "", "open", "open the session", frozenset({FILTER}), 2),
    Key("leave", "", "Esc", "", "close", "stop filtering", frozenset({FILTER}), 3),
    Key("copy", "y", "y", "copy", "copy", "copy the report, an id, a command; write a file", READING, 5, frozenset({DIFF, DETAIL, TEXT})),
    Key("sessions", "s", "s", "sessions", "sessions", "sessions; typing filters them", EVERYWHERE, 6, EVERYWHERE - {DIFF}),
    Key("back", "S", "S", "back", "last session", "back to the last session", EVERYWHERE),
    Key("demo", "d", "d", "demo", "demo", "look around with sample data", frozenset({EMPTY}), 1),
    Key("choose_sheet", "", "↓ ↑", "", "choose", "line below, line above", frozenset({SHEET}), 1),
    Key("page_sheet", "", "PgUp PgDn", "", "page", "many lines up, down", frozenset({SHEET}), 2),
    Key("take_sheet", "", "⏎", "", "take", "take the line", frozenset({SHEET}), 3),
    Key("leave_sheet", "", "Esc", "", "close", "close the sheet", frozenset({SHEET}), 4),
    Key("open_path", "o", "o", "open_path", "open", "open a file or folder with sessions", EVERYWHERE, 2, frozenset({EMPTY})),
    Key("why", "exclamation_mark", "!", "why", "why", "say more about what could not be read", EVERYWHERE),
    Key("dismiss", "x", "x", "dismiss", "dismiss", "dismiss the line about what could not be read", EVERYWHERE),
    Key("theme", "", "", "theme", "theme", "choose a theme", EVERYWHERE),
    Key("screenshot", "", "", "save_picture", "picture", "write a picture of this screen (SVG), never of revealed text", EVERYWHERE),
    Key("close", "escape", "Esc", "close", "close", "close, clear, back, stop reading; never quits", EVERYWHERE),
    Key("palette", "colon,ctrl+p", ":", "palette", "everything", "every action and its key; :12 goes to turn 12", EVERYWHERE, 7),
    Key("help", "question_mark", "?", "help", "help", "keys of the focused pane", EVERYWHERE, 8),
    Key("quit", "q,ctrl+c", "q ctrl+c", "quit", "quit", "quit", EVERYWHERE, 9),
)

BY_ID = {k.id: k for k in KEYS}
RIGHT = frozenset({"palette", "help", "quit"})
"""They stand at the footer's right end."""

MOST = 9
"""Keys in a footer."""


def bindings() -> list[Binding]:
    """Return the app's bindings."""
    # imported here: the command line checks [keys] before the framework is imported, and reading begins before it too
    from textual.binding import Binding

    return [
        Binding(k.keys, k.action, k.does, show=False, id=k.id, priority=k.id in {"next_pane", "previous_pane"})
        for k in KEYS
        if k.action and k.keys
    ]


_NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "comma": ",",
    "full_stop": ".",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "colon": ":",
    "question_mark": "?",
    "exclamation_mark": "!",
    "slash": "/",
    "escape": "Esc",
    "enter": "⏎",
    "tab": "Tab",
}


SPELLED = {"↓": "down", "↑": "up", "→": "right", "←": "left", "⏎": "enter"}
"""Keys by their names, where their signs cannot be drawn."""


def spelled(keys: str) -> str:
    """Return keys as words of ASCII."""
    return " ".join(SPELLED.get(k, k) for k in keys.split(" "))


def shown(key: Key, changed: Mapping[str, str], ascii_only: bool = False) -> str:
    """Return how a key is written, as the person has set it.

    Args:
        key: Which.
        changed: Keys set by the person, by id.
        ascii_only: Signs that are not ASCII are spelled.
    """
    keys = " ".join(_NAMES.get(k, k) for k in changed[key.id].split(",")) if key.id in changed else key.shown
    return spelled(keys) if ascii_only else keys


def user_keys(table: object) -> tuple[dict[str, str], tuple[str, ...]]:
    """Check the ``[keys]`` table of the configuration file.

    Args:
        table: What the file holds.

    Returns:
        Keys by id, and sentences about entries that are ignored.
    """
    if not isinstance(table, Mapping):
        return {}, ("[keys] is no table: it is ignored",)
    good: dict[str, str] = {}
    ignored = 0
    for name, value in table.items():
        if name in BY_ID and BY_ID[name].keys and isinstance(value, str) and value.strip():
            good[name] = ",".join(part.strip() for part in value.split(",") if part.strip())
        else:
            ignored += 1
    told = "[keys]: an entry names no key of ours: it is" if ignored == 1 else f"[keys]: {ignored} entries name no key of ours: they are"
    return good, (told + " ignored",) if ignored else ()


def footer(
    pane: str, changed: Mapping[str, str], absent: Iterable[str] = (), ascii_only: bool = False
) -> tuple[list[tuple[Key, str]], list[tuple[Key, str]]]:
    """Return the footer's keys for a pane: (left, right), each with how it is written; together at most 9."""
    gone = set(absent)
    ranked = sorted(
        (k for k in KEYS if k.rank and pane in (k.panes if k.foot is None else k.foot) and k.id not in gone), key=lambda k: k.rank
    )
    right = [k for k in ranked if k.id in RIGHT]
    left = [k for k in ranked if k.id not in RIGHT][: MOST - len(right)]
    written = [[(k, _in_footer(k, changed, ascii_only)) for k in part] for part in (left, right)]
    return written[0], written[1]


def _in_footer(key: Key, changed: Mapping[str, str], ascii_only: bool) -> str:
    if key.pair and key.id not in changed:
        return key.pair
    return shown(key, changed, ascii_only).split(" ctrl+")[0]
