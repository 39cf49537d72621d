"""What changed in a text: by lines, by words within them, with keys covered."""

from __future__ import annotations

import pytest
from ctx_inspect.core.model import Confirmed, Raw, Unavailable, Why
from ctx_inspect.core.text.width import cells
from ctx_inspect.core.views.layout import lay, text_of
from ctx_inspect.core.views.sheet import NOTHING, Column, Sheet, Tone
from ctx_inspect.core.views.words import AROUND, LINES, ChangedLine, Skipped, TextChange, compared, text_change, words_rows

from tests.core.text.hostile import HOSTILE
from tests.core.text.test_show import inert

KEY = "sk-ant-api03-" + "Ab3" * 20


def told(before: str, after: str) -> list[str]:
    """Return a comparison as lines, changed words in brackets."""
    out = []
    for line in compared(before, after).lines:
        if isinstance(line, Skipped):
            out.append(f"… {line.lines}")
        else:
            out.append(line.sign + "".join(f"[{r.text}]" if r.changed else r.text for r in line.runs))
    return out


def shown(change: TextChange | None, uncovered: bool = False) -> list[str]:
    laid = lay(Sheet((Column(NOTHING, 0),), tuple(words_rows(change, uncovered=uncovered))), 80)
    assert all(cells(text_of(line)) <= 80 for line in laid.lines)
    return [text_of(line).rstrip() for line in laid.lines]


def test_words_within_a_line() -> None:
    assert told("use tabs here", "use blanks here") == ["-use [tabs] here", "+use [blanks] here"]
    assert told("f(a, b)", "f(a, c)") == ["-f(a, [b])", "+f(a, [c])"]


def test_scripts_without_blanks_are_told_by_characters() -> None:
    assert told("请把错误信息翻译成中文", "请把警告信息翻译成中文") == ["-请把[错误]信息翻译成中文", "+请把[警告]信息翻译成中文"]


def test_passages_with_nothing_in_common_are_told_by_lines() -> None:
    assert told("one two three", "alpha beta gamma") == ["-one two three", "+alpha beta gamma"]


def test_added_and_removed_lines() -> None:
    assert told("a\nb\n", "a\nnew\nb\n") == [" a", "+new", " b"]
    assert told("a\nold\nb\n", "a\nb\n") == [" a", "-old", " b"]
    assert told("", "a\nb") == ["+a", "+b"]
    assert told("a\r\nb", "a\nb") == []


def test_what_is_the_same_is_not_repeated() -> None:
    before = [f"line {i}" for i in range(40)]
    after = [*before[:20], "changed words of line 20", *before[21:]]
    lines = told("\n".join(before), "\n".join(after))
    assert lines[0] == f"… {20 - AROUND}"
    assert lines[-1] == f"… {19 - AROUND}"
    assert sum(line.startswith(" ") for line in lines) == 2 * AROUND


def test_counts_and_what_is_not_shown() -> None:
    found = compared("", "\n".join(f"l{i}" for i in range(LINES + 7)))
    assert (found.added, found.removed, found.more) == (LINES + 7, 0, 7)
    rows = shown(TextChange(found))
    assert rows[0].strip() == f"{LINES + 7:,} lines new, 0 gone"
    assert rows[-1].strip() == "… 7 more lines not shown"


def test_keys_are_covered_on_both_sides_until_they_are_uncovered() -> None:
    change = text_change(Confirmed(Raw(f"token {KEY}\nuse tabs")), Confirmed(Raw(f"token {KEY}\nuse blanks")))
    text = "\n".join(shown(change))
    assert KEY[:20] not in text
    assert "v uncovers it" in text
    assert "use blanks" in text
    assert KEY[:20] in "\n".join(shown(change, uncovered=True))
    assert text_change(Confirmed(Raw("a")), Confirmed(Raw("b"))).uncovered is None


def test_a_change_within_a_key_says_that_it_is_covered() -> None:
    text = "\n".join(shown(text_change(Confirmed(Raw(f"k {KEY}")), Confirmed(Raw("k sk-ant-api03-" + "Cd4" * 20)))))
    assert "What differs is covered" in text


def test_what_cannot_be_read_says_why() -> None:
    gone = Unavailable(Why.GONE, "the row is gone")
    assert "its text before is not there: the row is gone" in "\n".join(shown(text_change(gone, Confirmed(Raw("a")))))
    assert "comparing…" in shown(None)[0]
    assert "No line differs" in "\n".join(shown(text_change(Confirmed(Raw("a")), Confirmed(Raw("a")))))


def test_an_item_that_came_has_only_new_lines() -> None:
    change = text_change(None, Confirmed(Raw("a\nb")))
    assert change.covered is not None
    assert [line.sign for line in change.covered.lines if isinstance(line, ChangedLine)] == ["+", "+"]


def test_changed_words_stand_out_without_colour() -> None:
    rows = words_rows(text_change(Confirmed(Raw("use tabs here")), Confirmed(Raw("use blanks here"))))
    strong = [s for row in rows for s in row.cells[0].spans if s.strong]
    assert [(s.text, s.tone) for s in strong] == [("tabs", Tone.REMOVED), ("blanks", Tone.ADDED)]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_inert(name: str) -> None:
    raw = HOSTILE[name]
    for line in shown(text_change(Confirmed(Raw(f"a {raw} b")), Confirmed(Raw(f"a {raw} c")))):
        assert inert(line)
