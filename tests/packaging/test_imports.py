"""What importing costs and what it may not bring along, each in an interpreter of its own."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.packaging import tree

INTERFACE = ("textual", "rich")

IMPORT_ALL = """
import importlib, json, sys
seen = {}
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    for module in ("textual", "rich"):
        if module in sys.modules:
            seen.setdefault(module, name)
json.dump(seen, sys.stdout)
"""


def run(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def core_modules() -> list[str]:
    found: list[str] = []
    for path in tree.sources():
        if path.parts[0] == "core" and path.suffix == ".py":
            parts = path.with_suffix("").parts
            found.append(".".join(("ctx_inspect", *(parts[:-1] if parts[-1] == "__init__" else parts))))
    return found


def test_core_brings_no_user_interface() -> None:
    modules = core_modules()
    assert "ctx_inspect.core.model" in modules
    assert json.loads(run(IMPORT_ALL, json.dumps(modules))) == {}


def test_the_probe_sees_a_user_interface() -> None:
    """The test above can fail."""
    assert json.loads(run(IMPORT_ALL, json.dumps(["json", "rich.text"]))) == {"rich": "rich.text"}


def test_help_and_version_need_no_user_interface() -> None:
    code = """
import json, sys
from ctx_inspect.app.main import run
for flag in ("--help", "--version"):
    assert run([flag]) == 0
heavy = ("textual", "rich", "tiktoken", "watchfiles", "pygments", "sqlite3", "msgspec")
print("\\n" + json.dumps([name for name in heavy if name in sys.modules]))
"""
    assert json.loads(run(code).splitlines()[-1]) == []
