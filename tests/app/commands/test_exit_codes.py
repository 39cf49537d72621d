"""Exit codes (docs/json.md); with 2, 3, 4 and 130 stdout is empty."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ctx_inspect.app import main as main_module
from ctx_inspect.core.model import ProblemCode, replace
from ctx_inspect.core.sources.base import SourceError

from tests.app.commands.sample import LEDGER, SampleSource, info
from tests.builders.pi import PiStore
from tests.command import Call


def refused(done: object, code: int, *words: str) -> None:
    assert (done.code, done.out) == (code, "")  # type: ignore[attr-defined]
    for word in words:
        assert word in done.err  # type: ignore[attr-defined]
    assert "Traceback" not in done.err  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "args",
    [
        ["turns"],
        ["turns", "last", "more"],
        ["sessions", "--nope"],
        ["show", "last", "1", "--step", "0"],
        ["show", "last", "--nope"],
        ["show", "--nope", "last"],
        ["--nope"],
        ["--turn", "1", "sessions"],
        ["last", "too", "many"],
        ["demo"],
        ["demo", "--source", "x"],
        ["demo", "--json"],
        ["sessions", "--source"],
        ["sessions", "--source", ""],
        ["--source", " ", "sessions"],
        ["doctor", "--source", "pi:"],
        ["--source", ""],
        ["--tab", "foo"],
        ["last", "--tab", "foo"],
        ["--tab", "foo", "last", "--json"],
        ["--turn", "msg_u1"],
    ],
)
def test_usage(cli: Call, args: list[str]) -> None:
    refused(cli(*args, sources=[SampleSource(LEDGER)]), 2)


@pytest.mark.parametrize(
    "command",
    [["sessions"], ["turns", "last"], ["show", "last"], ["diff", "last"], ["check", "last", "--no-rewrite"], ["last"], [], ["doctor"]],
)
def test_a_named_source_that_is_not_there(cli: Call, tmp_path: Path, command: list[str]) -> None:
    refused(cli(*command, "--source", str(tmp_path / "nowhere")), 3, "nowhere", "no such file")
    refused(cli("--source", str(tmp_path / "nowhere"), *command), 3)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda p: p.write_bytes(b""), "empty"),
        (lambda p: p.mkdir(), "empty"),
        (_fifo, "pipe"),
        (_loop, "loop of links"),
        (lambda p: p.write_text("just a text\n"), "neither an OpenCode database nor a Pi session"),
        (lambda p: p.write_bytes(b"SQLite format 3\0" + b"\0" * 84), "neither"),
        (lambda p: (p.mkdir(), (p / "readme.txt").write_text("x")), "neither"),
        (lambda p: p.write_bytes(os.urandom(5000)), "neither"),
    ],
    ids=["empty file", "empty folder", "pipe", "loop", "text", "half a database", "folder of others", "noise"],
)
def test_a_named_source_that_is_none(cli: Call, tmp_path: Path, make: object, reason: str) -> None:
    make(tmp_path / "thing")  # type: ignore[operator]
    refused(cli("sessions", "--json", "--source", str(tmp_path / "thing")), 3, str(tmp_path / "thing"), reason)


def test_a_named_source_of_another_kind(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x\n")
    refused(cli("sessions", "--source", f"opencode:{tmp_path / 'x'}"), 3, "not an OpenCode database")
    refused(cli("sessions", "--source", f"pi:{tmp_path / 'x'}"), 3, "not a Pi session")


def test_a_device(cli: Call) -> None:
    refused(cli("sessions", "--source", "/dev/null"), 3, "device")


@pytest.mark.unprivileged
@pytest.mark.parametrize("below", ["", "--srv-shop--"])
def test_a_named_folder_whose_sessions_may_not_be_read(cli: Call, tmp_path: Path, below: str) -> None:
    store = PiStore(tmp_path)
    made = store.session()
    made.turn("one")
    folder = tmp_path / "taken"
    (folder / below).mkdir(parents=True)
    file = folder / below / made.path.name
    file.write_bytes(made.path.read_bytes())
    file.chmod(0)
    refused(cli("sessions", "--source", str(folder)), 3, "no permission to read the files in it")
    file.chmod(0o600)
    assert cli("sessions", "--source", str(folder)).code == 0
    if below:
        (folder / below).chmod(0)
        refused(cli("sessions", "--source", str(folder)), 3, "no permission to read the files in it")
        (folder / below).chmod(0o700)


@pytest.mark.unprivileged
def test_a_named_folder_whose_database_may_not_be_read(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "opencode.db").write_bytes(b"SQLite format 3\0" + b"\0" * 84)
    (tmp_path / "opencode.db").chmod(0)
    refused(cli("sessions", "--source", str(tmp_path)), 3, "no permission to read the files in it")


@pytest.mark.unprivileged
def test_a_named_source_without_permission(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    (tmp_path / "x").chmod(0)
    refused(cli("sessions", "--source", str(tmp_path / "x")), 3, "no permission")


def test_a_name_that_is_no_name(cli: Call) -> None:
    refused(cli("sessions", "--source", "a\0b"), 3)
    refused(cli("sessions", "--source", "x" * 5000), 3, "too long")


def test_a_hostile_name_is_visible(cli: Call, tmp_path: Path) -> None:
    done = cli("sessions", "--source", str(tmp_path / "a\x1b]0;x\x07\u202eb"))
    refused(done, 3, "a␛]0;x␇‹202E›b")
    assert "\x1b" not in done.err


@pytest.mark.parametrize("args", [["sessions", "--source", "a\nb\tc"], ["turns", "a\nb\tc"], ["sessions", "--a\nb\tc"], ["a\nb\tc"]])
def test_a_name_of_several_lines_is_one_line(cli: Call, args: list[str]) -> None:
    done = cli(*args)
    assert done.code in (2, 3, 4)
    assert any(name in done.err for name in ("a␊b", "a\\nb"))
    assert "a\nb" not in done.err
    assert "\t" not in done.err


def test_a_found_source_that_fails_is_a_problem(cli: Call) -> None:
    broken = SampleSource(LEDGER)
    broken.broken = SourceError(ProblemCode.CORRUPT, "page 7 is damaged", Path("/x.db"))
    good = SampleSource(replace(LEDGER, info=info("ses_two")))
    done = cli("sessions", "--json", sources=[broken, good])
    assert done.code == 0
    assert [s["id"] for s in done.json["sessions"]] == ["ses_two"]
    assert {"source": "/x.db", "code": "corrupt", "message": "page 7 is damaged"} in done.json["problems"]
    refused(cli("sessions", "--source", "any", sources=[broken, good]), 3, "page 7 is damaged")


@pytest.mark.parametrize(
    "args",
    [
        ["turns", "nope"],
        ["show", "nope"],
        ["nope"],
        ["turns", ""],
        ["show", "last", "3"],
        ["show", "last", "0"],
        ["show", "last", "-3"],
        ["show", "last", "99999999999999999999999999"],
        ["show", "last", "msg_nope"],
        ["show", "last", "msg_h1"],
        ["show", "last", "1", "--step", "3"],
        ["show", "last", "²"],
        ["last", "--turn", "9"],
    ],
)
def test_no_such_session_or_turn(cli: Call, args: list[str]) -> None:
    refused(cli(*args, sources=[SampleSource(LEDGER)]), 4)
    refused(cli(*args, "--json", sources=[SampleSource(LEDGER)]), 4)


def test_a_reverted_turn_says_so(cli: Call) -> None:
    refused(cli("show", "last", "msg_h1", sources=[SampleSource(LEDGER)]), 4, "reverted")


def test_no_session_at_all(cli: Call) -> None:
    refused(cli("turns", "last"), 4, "no session")
    done = cli("sessions")
    assert done.code == 0
    assert "No session was found." in done.out
    assert "OpenCode" in done.out
    assert "Pi" in done.out
    assert cli("sessions", "--json").json == {"schema": "ctx-inspect/sessions/1", "sessions": [], "problems": []}


def test_a_session_without_turns(cli: Call) -> None:
    empty = SampleSource(replace(LEDGER, turns=(), marks=(), other={}))
    refused(cli("show", "last", sources=[empty]), 4, "no turn yet")
    assert cli("turns", "last", "--json", sources=[empty]).json["turns"] == []
    assert cli("turns", "last", sources=[empty]).code == 0


def test_interrupted(cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SampleSource, "sessions", stop)
    refused(cli("sessions", sources=[SampleSource(LEDGER)]), 130)


def test_a_bug_says_one_sentence_and_logs_no_text(cli: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, session: str, prior: object = None) -> None:
        secret = "text of a store"
        raise ValueError(f"near {secret!r}: bad row")

    monkeypatch.setattr(SampleSource, "open", fail)
    done = cli("turns", "last", sources=[SampleSource(LEDGER)])
    refused(done, 70, "ValueError", "crash.log")
    assert "text of a store" not in done.err
    assert done.err.count("\n") == 1
    log = next(Path(os.environ["HOME"]).rglob("crash.log"))
    text = log.read_text()
    assert "text of a store" not in text
    assert "ValueError" in text
    assert "turns ses_one" in text
    assert log.stat().st_mode & 0o777 == 0o600


@pytest.fixture
def many(tmp_path: Path) -> Path:
    store = PiStore(tmp_path)
    for i in range(300):
        store.session(id=f"s-{i}").turn("question " * 30)
    return store.sessions


def shell(line: str) -> subprocess.CompletedProcess[str]:
    line = line.replace("ctx-inspect", f"{sys.executable} -m ctx_inspect")
    return subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("json", ["", "--json"])
def test_a_broken_pipe_is_quiet(many: Path, json: str) -> None:
    done = shell(f"ctx-inspect sessions {json} --source {many} | head -c 10")
    assert (done.returncode, done.stderr, len(done.stdout)) == (0, "", 10)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_streams_are_no_failure(many: Path, closed: str) -> None:
    done = shell(f"ctx-inspect sessions --source {many} {closed}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_output_that_cannot_be_written_is_said(many: Path) -> None:
    done = shell(f"ctx-inspect sessions --source {many} > /dev/full")
    assert done.returncode == 70
    assert done.stderr == "ctx-inspect: the output could not be written (is the disk full?)\n"


def test_an_interrupt_leaves_nothing_on_stdout(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from ctx_inspect.app.commands import stores\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell in the background hands it on ignored
        "real = stores.Stores.try_open\n"
        "def stop(self, found): os.kill(os.getpid(), signal.SIGINT); return real(self, found)\n"
        "stores.Stores.try_open = stop\n"
        "from ctx_inspect.app.main import main; main(['sessions', '--source', sys.argv[1]])"
    )
    store = PiStore(tmp_path)
    store.session().turn("one")
    done = subprocess.run([sys.executable, "-c", code, str(store.sessions)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_help_names_no_command_that_does_not_work(cli: Call) -> None:
    done = cli("--help")
    assert done.code == 0
    for name in main_module.COMMANDS:
        assert f"\n  {name} " in done.out
        assert cli(name, "--help").code == 0
    for later in ("trim", "recall", "install", "stream", "trust", "mcp", "bridge"):
        assert f"\n  {later} " not in done.out


@pytest.mark.parametrize("later", ["trim", "recall", "install", "stream", "trust", "mcp", "bridge"])
def test_a_command_that_does_not_exist_yet_is_no_session(cli: Call, later: str) -> None:
    refused(cli(later, sources=[SampleSource(LEDGER)]), 4, "no session")


def test_start_imports_no_interface() -> None:
    code = (
        "import sys; from ctx_inspect.app.main import run; run(['--help']); run(['--version']);"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'textual', 'rich', 'sqlite3', 'tiktoken', 'watchfiles', 'msgspec', 'asyncio'}), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr.strip() == "[]"


def test_commands_import_no_interface() -> None:
    code = (
        "import sys; from ctx_inspect.app.main import run; run(['sessions', '--json']); run(['doctor']);"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'textual', 'rich'}), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr.strip() == "[]"


def test_a_message_of_ours_keeps_its_raw_parts_apart(cli: Call) -> None:
    hostile = SampleSource(replace(LEDGER, info=info("ses_\x1b[2J")), replace(LEDGER, info=info("ses_\x1b[3J")))
    done = cli("turns", "ses_", sources=[hostile])
    refused(done, 4, "several sessions", "␛[2J")
    assert "\x1b" not in done.err


@pytest.mark.parametrize(("word", "meant"), [("sesions", "sessions"), ("turn", "turns"), ("docter", "doctor"), ("ses_zzz", None)])
def test_a_word_like_a_command_is_asked_for(cli: Call, monkeypatch: pytest.MonkeyPatch, word: str, meant: str | None) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    done = cli(word, sources=[SampleSource(LEDGER)])
    refused(done, 4, f"no session '{word}'", *([f"is the command {meant} meant?"] if meant else []))
    assert ("meant" in done.err) == (meant is not None)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_refusal_that_cannot_be_written_keeps_its_status() -> None:
    with open("/dev/full", "w") as full:
        words = [sys.executable, "-m", "ctx_inspect", "sessions", "--nope"]
        assert subprocess.run(words, stderr=full, check=False).returncode == 2


def test_the_demos_help_lists_no_option_that_it_refuses(cli: Call) -> None:
    out = cli("demo", "--help").out
    assert "--ascii" in out
    assert "--no-color" in out
    assert "--json" not in out
    assert "--source" not in out
