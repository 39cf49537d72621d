"""Which session and turn a word means."""

from __future__ import annotations

import pytest
from ctx_inspect.core.model import replace

from tests.app.commands.sample import DAY, LEDGER, START, SampleSource, info
from tests.command import Call

OLD = replace(LEDGER, info=info("ses_old", updated=START, project="/srv/a"))
NEW = replace(LEDGER, info=info("ses_new", updated=START + 5 * DAY))
PI = replace(LEDGER, info=info("0199-aa", key="pi:0199-aa", harness="pi", updated=START + 2 * DAY, directory=None, project=None))


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("last", "opencode:ses_new"),
        ("opencode:ses_old", "opencode:ses_old"),
        ("ses_old", "opencode:ses_old"),
        ("ses_o", "opencode:ses_old"),
        ("opencode:ses_n", "opencode:ses_new"),
        ("pi:", "pi:0199-aa"),
        ("0", "pi:0199-aa"),
    ],
)
def test_a_session(cli: Call, word: str, key: str) -> None:
    sources = [SampleSource(OLD, NEW), SampleSource(PI)]
    assert cli("turns", word, "--json", sources=sources).json["session"] == key
    assert cli("--json", word, sources=sources).json["session"] == key
    assert cli(word, "--json", sources=sources).json["session"] == key


@pytest.mark.parametrize("word", ["ses_", "opencode:", "s"])
def test_a_beginning_of_several(cli: Call, word: str) -> None:
    done = cli("turns", word, sources=[SampleSource(OLD, NEW), SampleSource(PI)])
    assert done.code == 4
    assert "opencode:ses_old" in done.err
    assert "opencode:ses_new" in done.err


def test_an_id_that_is_the_beginning_of_another(cli: Call) -> None:
    longer = replace(LEDGER, info=info("ses_old2"))
    assert cli("turns", "ses_old", "--json", sources=[SampleSource(OLD, longer)]).json["session"] == "opencode:ses_old"


def test_one_session_in_two_stores_is_listed_once_as_it_went_on(cli: Call) -> None:
    newer = replace(LEDGER, info=info("ses_old", updated=START + DAY, title="went on"))
    rows = cli("sessions", "--json", sources=[SampleSource(OLD), SampleSource(newer)]).json["sessions"]
    assert [(s["key"], s["title"]) for s in rows] == [("opencode:ses_old", "went on")]


def test_the_list_is_newest_first(cli: Call) -> None:
    rows = cli("sessions", "--json", sources=[SampleSource(OLD, NEW), SampleSource(PI)]).json["sessions"]
    assert [s["id"] for s in rows] == ["ses_new", "0199-aa", "ses_old"]


def test_of_a_project(cli: Call) -> None:
    sources = [SampleSource(OLD, NEW), SampleSource(PI)]
    assert [s["id"] for s in cli("sessions", "--json", "--project", "/srv/a", sources=sources).json["sessions"]] == ["ses_old"]
    assert [s["id"] for s in cli("sessions", "--json", "--project", "/srv/a/", sources=sources).json["sessions"]] == ["ses_old"]
    assert cli("sessions", "--json", "--project", "/srv", sources=sources).json["sessions"] == []


def test_a_project_in_another_form_of_its_name(cli: Call) -> None:
    source = SampleSource(replace(LEDGER, info=info(project="/srv/cafe\u0301")))
    rows = cli("sessions", "--json", "--project", "/srv/caf\u00e9", sources=[source]).json["sessions"]
    assert [s["project"]["path"] for s in rows] == ["/srv/cafe\u0301"]  # shown as recorded


@pytest.mark.parametrize(
    ("word", "n"),
    [("1", 1), ("2", 2), ("-1", 2), ("-2", 1), ("last", 2), ("msg_u1", 1), ("msg_u2", 2), ("msg_u2b", 2), ("msg_a2", 1), ("02", 2)],
)
def test_a_turn(cli: Call, word: str, n: int) -> None:
    assert cli("show", "last", word, "--json", sources=[SampleSource(LEDGER)]).json["turn"] == n
    assert cli("last", "--turn", word, "--json", sources=[SampleSource(LEDGER)]).json["turn"] == n


def test_the_last_turn_by_default(cli: Call) -> None:
    assert cli("show", "last", "--json", sources=[SampleSource(LEDGER)]).json["turn"] == 2


def test_options_stand_anywhere(cli: Call) -> None:
    sources = [SampleSource(LEDGER)]
    assert cli("show", "--json", "last", "-1", "--text", sources=sources).json["turn"] == 2
    assert cli("--json", "show", "last", "--step", "2", "1", sources=sources).json["step"] == 2


def test_the_last_session_is_no_subagent_and_no_helper(cli: Call) -> None:
    child = replace(LEDGER, info=info("ses_child", updated=START + 8 * DAY, parent="opencode:ses_new"))
    helper = replace(LEDGER, info=info("ses_helper", updated=START + 9 * DAY, helper="magic-context"))
    sources = [SampleSource(OLD, NEW, child, helper), SampleSource(PI)]
    assert cli("turns", "last", "--json", sources=sources).json["session"] == "opencode:ses_new"
    assert cli("show", "last", "--json", sources=sources).json["session"] == "opencode:ses_new"
    assert cli("turns", "last", "--json", sources=[SampleSource(child)]).json["session"] == "opencode:ses_child"


def test_files_left_behind_by_a_move_do_not_count(cli: Call) -> None:
    left = replace(LEDGER, info=info("ses_old", updated=START + 9 * DAY, title="left behind", format="opencode-json"))
    for sources in ([SampleSource(OLD), SampleSource(left)], [SampleSource(left), SampleSource(OLD)]):
        rows = cli("sessions", "--json", sources=sources).json["sessions"]
        assert [(s["key"], s["source"]["format"]) for s in rows] == [("opencode:ses_old", "opencode-1")]
