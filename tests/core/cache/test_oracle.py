"""What the tests read from logged bodies, on bodies small enough to be judged by eye."""

from __future__ import annotations

from typing import Any

from tests.oracle.cache import in_turn, reaches, stood

MARK = {"cache_control": {"type": "ephemeral"}}


def text(said: str, marked: bool = False) -> dict[str, Any]:
    return {"type": "text", "text": said, **(MARK if marked else {})}


def body(*said: str, system: str = "be brief", tools: tuple[str, ...] = ("read",)) -> dict[str, Any]:
    """A request with marks behind the system prompt and the last message."""
    last = len(said) - 1
    return {
        "tools": [{"name": t} for t in tools],
        "system": [text(system, True)],
        "messages": [{"role": "user", "content": [text(s, n == last)]} for n, s in enumerate(said)],
    }


def test_marks_are_no_content() -> None:
    found = stood(body("one"), body("one", "two"))
    assert (found.part, found.share) == (None, 1.0)


def test_where_two_requests_differ_first() -> None:
    assert stood(body("one", "two"), body("one", "2", "three")).part == "messages"
    assert stood(body("one", "two"), body("one", "2", "three")).place == 1
    assert stood(body("one"), body("one", system="be long")).part == "system"
    assert stood(body("one"), body("one", system="be long", tools=("write",))).part == "tools"
    assert stood(body("one", "two"), body("one")).part == "messages"
    assert stood(body("one"), body("one", tools=("read", "write"))).part == "tools"
    assert stood(body("one", tools=("read", "write")), body("one")).part == "tools"


def test_what_stands_behind_the_last_mark_was_not_cached() -> None:
    before = body("one", "two")
    before["messages"].append({"role": "user", "content": "never marked"})
    assert stood(before, body("one", "two", "three")).part is None


def test_a_request_reaches_what_any_earlier_one_marked() -> None:
    bodies = [body("one"), body("one", system="other"), body("one", "two"), body("1", "two")]
    first, other, back, front = reaches(bodies)
    assert first.size == other.size == 0
    assert back.size == first.whole  # the request before had another system prompt, the one before that had this one
    assert 0 < front.size < first.whole
    assert [s and s.part for s in in_turn(bodies)] == [None, "system", "system", "messages"]
