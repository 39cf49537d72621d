"""Writes the sample data that the package ships: ``python -m tests.demo.make``.

Everything is built by the tests' builders, which write real stores, and then turned into text in which every time is
a placeholder relative to the moment that counts as now. ``ctx_inspect.app.demo`` turns it into stores again.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tempfile
from datetime import datetime
from pathlib import Path

from ctx_inspect.app.demo import DATA

from tests.builders.pi import PiStore
from tests.demo import write_opencode, write_pi

OPENCODE_CONFIG = {
    "$schema": "https://opencode.ai/config.json",
    "model": "acme/big",
    "provider": {
        "acme": {
            "npm": "@ai-sdk/openai-compatible",
            "models": {name: {"limit": {"context": 200_000, "output": 32_000}} for name in ("big", "fast")},
        }
    },
}
PI_MODELS = {
    "providers": {
        "local": {
            "baseUrl": "http://127.0.0.1:9/v1",
            "api": "openai-completions",
            "models": [{"id": name, "contextWindow": 65_536, "maxTokens": 8_192} for name in ("river", "brook")],
        }
    }
}
PI_SETTINGS = {"defaultProvider": "local", "defaultModel": "river", "compaction": {"keepRecentTokens": write_pi.KEEP}}

_MS = re.compile(r"(?<![\w.-])1[78]\d{11}(?![\w.])")
_ISO = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def relative(text: str, now: int) -> str:
    """Put placeholders in the place of all times."""

    def iso(match: re.Match[str]) -> str:
        at = datetime.fromisoformat(match.group())
        return f"@{{iso{round(at.timestamp() * 1000) - now:+d}}}"

    return _ISO.sub(iso, _MS.sub(lambda m: f"@{{ms{int(m.group()) - now:+d}}}", text))


def at_writing(line: str) -> str:
    """Make the times of a line the moment at which it is written."""
    return re.sub(r"@\{(ms|iso)[+-]\d+\}", r"@{\1+0}", line)


def resources() -> dict[str, str]:
    """Return the sample data: file name → content."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        database = home / "opencode.db"
        now = write_opencode.write(database)
        made = {"opencode.sql": relative(_dump(database), now)}
        store = PiStore(home)
        guide = write_pi.rewrite_guide(store, now)
        notes, live = write_pi.release_notes(store, now)
        for file in (guide, notes, *write_pi.older(store, now)):
            name = next(e["name"] for e in file.entries if e["type"] == "session_info")
            made[f"sessions/{name.lower().replace(' ', '-')}.jsonl"] = relative(file.path.read_text(encoding="utf-8"), now)
        made["live.jsonl"] = "".join(at_writing(relative(line.decode(), now)) + "\n" for line in live)
    for name, body in (("opencode.json", OPENCODE_CONFIG), ("models.json", PI_MODELS), ("settings.json", PI_SETTINGS)):
        made[name] = json.dumps(body, indent=2) + "\n"
    return made


def _dump(database: Path) -> str:
    """Return the statements that make the database, the same with every version of SQLite."""
    db = sqlite3.connect(database)
    try:
        out = ["BEGIN;"]
        kinds = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index', name").fetchall()
        for kind, name, sql in kinds:
            out.append(" ".join(sql.split()) + ";")
            if kind == "table":
                rows = db.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2')
                out += [f'INSERT INTO "{name}" VALUES ({", ".join(map(_literal, row))});' for row in rows]
        return "\n".join([*out, "COMMIT;", ""])
    finally:
        db.close()


def _literal(value: str | float | None) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return repr(value)


def main() -> None:
    """Write the resources into the package."""
    (DATA / "sessions").mkdir(parents=True, exist_ok=True)
    made = resources()
    for old in DATA.rglob("*"):
        if old.is_file() and str(old.relative_to(DATA)) not in made:
            old.unlink()
    for name, text in made.items():
        (DATA / name).write_text(text, encoding="utf-8")
        print(f"{len(text.encode()):>9,}  {name}")


if __name__ == "__main__":
    main()
