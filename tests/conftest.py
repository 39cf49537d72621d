"""What all tests share: no test sees the stores of the person who runs it; the corpus; the table of field reports (docs/field-reports.md)."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ctx_inspect.core.text import tokens

from tests.builders.opencode import OPEN
from tests.unprivileged import again

ROOT = Path(__file__).resolve().parent.parent

AGENT_VARIABLES = (
    "OPENCODE_DB",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_CHANNEL_DB",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "CTX_INSPECT_STREAM_DIR",
    "TIKTOKEN_CACHE_DIR",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLORTERM",
)
"""Variables that lead to a real store or change what is drawn."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--field-reports``: which test covers which line of the field reports."""
    parser.addoption("--field-reports", action="store_true", help="print which tests cover which field report, and how they ended")


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test an empty home, so that it finds what it made and nothing else."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name, below in (
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
    ):
        monkeypatch.setenv(name, str(home / below))
    for name in AGENT_VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_optional_counter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Count as where nothing optional is installed, so that expected numbers hold everywhere."""
    if request.node.get_closest_marker("counter") is None:
        monkeypatch.setattr(tokens, "_has_toktok", lambda: False)


@pytest.fixture(autouse=True)
def _no_database_left_open() -> Iterator[None]:
    """Close the databases that a test wrote and left open, as an agent's are: else the collector warns, in any later test."""
    before = set(OPEN)
    yield
    for database in set(OPEN) - before:
        database.db.close()


@pytest.fixture
def zone() -> Iterator[Callable[[str], None]]:
    """Call it to move the clock into a time zone; afterwards it is where it was, for the C library too."""
    before = os.environ.get("TZ")

    def use(name: str) -> None:
        os.environ["TZ"] = name
        time.tzset()

    yield use
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


def corpus_folder() -> Path:
    """Return where the corpus of real stores would be: ``$CTX_INSPECT_CORPUS``, else beside the checkout."""
    return Path(os.environ.get("CTX_INSPECT_CORPUS") or ROOT.parent / "shared" / "corpus").expanduser()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The corpus of real stores; tests that need it are skipped, and counted, where it is not."""
    folder = corpus_folder()
    if not folder.is_dir():
        pytest.skip(f"no corpus: {folder} is no folder ($CTX_INSPECT_CORPUS names another)")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the field reports that were covered by what ran."""
    if not config.getoption("--field-reports"):
        return
    found: dict[int, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            for number in dict(getattr(report, "user_properties", ())).get("field", ()):
                found[number][report.nodeid.split("[")[0]][outcome] += 1
    terminalreporter.section("field reports")
    for number in sorted(found):
        for test, outcomes in sorted(found[number].items()):
            ended = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
            terminalreporter.write_line(f"{number:3}  {ended:10}  {test}")
    terminalreporter.write_line(f"{len(found)} field reports covered")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run ``@pytest.mark.unprivileged`` where modes of files count."""
    if pyfuncitem.get_closest_marker("unprivileged") is not None and again(pyfuncitem):
        return True
    return None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Hand the ids of ``@pytest.mark.field(…)`` to the report of this test."""
    ids = [int(argument) for mark in item.iter_markers("field") for argument in mark.args]
    if ids:
        item.user_properties.append(("field", ids))
