"""What the package ships for the demo: never stale, nothing of a person, taken away again."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from ctx_inspect.app.demo import DATA, Feed, live_lines, stage

from tests.demo import make

NOW = 1_800_000_000_000


def test_the_shipped_data_are_what_the_generator_makes() -> None:
    made = make.resources()
    shipped = {str(p.relative_to(DATA)): p.read_text(encoding="utf-8") for p in DATA.rglob("*") if p.is_file()}
    assert shipped.keys() == made.keys()
    stale = [name for name in made if shipped[name] != made[name]]
    assert not stale, f"stale: {stale}; run python -m tests.demo.make"


def test_no_time_is_left_as_it_was_built() -> None:
    for path in DATA.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b1[78]\d{11}\b|20\d\d-\d\d-\d\dT\d\d:", text), path.name


def test_all_times_move_with_now(tmp_path: Path) -> None:
    newest = []
    for now in (NOW, NOW + 5000):
        with stage(now, tmp_path / str(now)) as made:
            db = sqlite3.connect(f"file:{made.database}?mode=ro&immutable=1", uri=True)
            newest.append(db.execute("SELECT max(time_updated) FROM session").fetchone()[0])
            db.close()
            last = json.loads(made.live.read_text(encoding="utf-8").splitlines()[-1])
            newest.append(last["message"]["timestamp"])
    assert newest[2] - newest[0] == 5000
    assert newest[3] - newest[1] == 5000
    assert newest[0] == NOW - 25_000


def test_the_folder_is_private_and_goes_away() -> None:
    with stage(NOW) as made:
        assert stat.S_IMODE(made.home.stat().st_mode) == 0o700
        assert made.database.is_file()
        assert not made.database.with_name("opencode.db-wal").exists()
        assert str(Path.home()) not in {made.env["HOME"]}
        for key, value in made.env.items():
            assert value.startswith(str(made.home)), key
    assert not made.home.exists()


def test_the_database_is_sound_and_like_opencodes(tmp_path: Path) -> None:
    with stage(NOW, tmp_path) as made:
        db = sqlite3.connect(f"file:{made.database}?mode=ro&immutable=1", uri=True)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for (data,) in db.execute("SELECT data FROM part UNION ALL SELECT data FROM message UNION ALL SELECT data FROM event"):
            json.loads(data)
        db.close()
        assert made.database.read_bytes()[18:20] == b"\x02\x02", "not in WAL mode"


def test_the_feed_appends_whole_lines(tmp_path: Path) -> None:
    with stage(NOW, tmp_path) as made:
        before = made.live.read_bytes()
        feed = Feed(made.live, live_lines(), every=0.0, clock=lambda: NOW + 7)
        feed.run()
        after = made.live.read_bytes()
    assert after.startswith(before)
    added = after[len(before) :]
    assert added.endswith(b"\n")
    entries = [json.loads(line) for line in added.splitlines()]
    assert len(entries) == feed.written == len(live_lines())
    assert {e["message"]["timestamp"] for e in entries} == {NOW + 7}
    parents = [json.loads(before.splitlines()[-1])["id"], *(e["id"] for e in entries)]
    assert [e["parentId"] for e in entries] == parents[:-1]


def test_the_feed_stops_between_lines_and_survives_the_end_of_its_folder(tmp_path: Path) -> None:
    with stage(NOW, tmp_path) as made:
        feed = Feed(made.live, live_lines(), every=0.01)
        feed.start()
        while feed.written < 7:
            time.sleep(0.005)
        feed.stop()
        assert not feed.is_alive()
        assert made.live.read_bytes().endswith(b"\n")
        made.live.unlink()
        Feed(made.live, live_lines(), every=0.0).run()
        assert not made.live.exists()


PLAYING = "from ctx_inspect.app.demo import playing\nimport time\nwith playing() as made:\n print(made.home, flush=True)\n time.sleep(60)\n"


def test_what_a_killed_demo_left_is_taken_away_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def start() -> tuple[subprocess.Popen[str], Path]:
        env = {**os.environ, "TMPDIR": str(tmp_path)}
        process = subprocess.Popen([sys.executable, "-c", PLAYING], stdout=subprocess.PIPE, text=True, env=env)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    killed, left = start()
    running, alive = start()
    assert killed.stdout is not None
    assert running.stdout is not None
    try:
        killed.kill()
        killed.wait(20)
        assert left.is_dir()
        others = [
            tmp_path / "ctx-inspect-demo-open",
            tmp_path / "other",
            tmp_path / "ctx-inspect-demo-link",
            tmp_path / "ctx-inspect-demo-file",
        ]
        others[0].mkdir()
        others[0].chmod(0o755)  # not made by us: ours are private
        others[1].mkdir(mode=0o700)
        others[2].symlink_to(others[1])
        others[3].write_text("x")
        with stage(NOW):
            assert left.is_dir()  # young: it could be one that is just being made
        long_ago = time.time() - 3600
        for folder in (left, alive, *others):
            os.utime(folder, (long_ago, long_ago))
        with stage(NOW) as made:
            assert made.home.parent == tmp_path
            assert not left.exists()
            assert alive.is_dir()
            assert all(p.exists() for p in others)
    finally:
        running.kill()
        running.wait(20)
        killed.stdout.close()
        running.stdout.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_takes_the_folder_away(how: signal.Signals, tmp_path: Path) -> None:
    script = (
        "from contextlib import ExitStack\n"
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # the tests may be run by what ignores it (nohup)
        "from ctx_inspect.app.demo import playing\n"
        "from ctx_inspect.app.leaving import ended\n"
        "import time\n"
        "with ExitStack() as stack, ended(stack.close):\n"
        " made = stack.enter_context(playing())\n"
        " print(made.home, flush=True)\n"
        " time.sleep(60)\n"
    )
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    home = Path(process.stdout.readline().strip())
    assert home.parent == tmp_path
    assert home.is_dir()
    process.send_signal(how)
    process.wait(timeout=20)
    process.stdout.close()
    assert not home.exists()
