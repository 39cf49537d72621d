"""Rules that the whole tree keeps: sizes, names, links, imports."""

from __future__ import annotations

import ast
import os
import pwd
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.packaging import tree

LINES = 400
"""A module holds one subject; beyond this it holds two."""


def test_modules_hold_one_subject() -> None:
    long = {
        str(path): count
        for path in tree.sources()
        if path.suffix == ".py" and (count := len((ROOT / path).read_text("utf-8").splitlines())) > LINES
    }
    assert not long, f"split these modules: {long}"


def foreign_imports(source: str) -> list[str]:
    """Return the source folders that a module imports under their bare names."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                modules = [name.name for name in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case _:
                continue
        found += [module for module in modules if module.split(".")[0] in tree.SOURCES]
    return found


def test_a_bare_import_of_a_source_folder_is_found() -> None:
    assert foreign_imports("import core\nfrom app.main import main\nfrom . import core\nimport ctx_inspect.core") == ["core", "app.main"]


def test_source_folders_are_imported_under_their_installed_names() -> None:
    """``import core`` works by accident where the tests start, and nowhere else."""
    bare = {str(path): found for path, text in tree.texts().items() if path.suffix == ".py" and (found := foreign_imports(text))}
    assert not bare


COMMON_LOGINS = {"dev", "user", "me", "you", "alice", "bob", "ubuntu", "runner"}
"""Logins that example data uses too, so that finding them proves nothing."""


def machine_paths() -> dict[str, str]:
    """Return paths that only this machine has: where the checkout lies, the home of whoever runs this, the interpreter."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    found = {"the checkout": ROOT, "the interpreter's folder": Path(sys.base_prefix)}
    named = {
        what: str(path) for what, path in found.items() if len(path.parts) > 2 and path not in (Path("/usr/local"), Path("/opt/local"))
    }
    return named if home.name in COMMON_LOGINS or len(home.parts) < 2 else named | {"the home folder": str(home)}


def test_no_file_names_this_machine() -> None:
    named = [
        f"{path} names {what}"
        for what, place in machine_paths().items()
        for path, text in tree.texts().items()
        if re.search(rf"(?<![\w.~-]){re.escape(place)}(?![\w.-])", text)
    ]
    assert not named


LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?[^)]*\)|<(?:img|a)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")


def links(text: str) -> list[str]:
    """Return the targets of a Markdown text's links and pictures, code blocks left out."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [a or b for a, b in LINK.findall(prose)]


def anchors(text: str) -> set[str]:
    """Return the anchors that a Markdown text's headings make."""
    headings = re.findall(r"^#{1,6}\s+(.+?)\s*#*$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_are_seen() -> None:
    assert links('[a](b.md#c) ![d](e.svg) `[no](x)`\n```\n[no](y)\n```\n<img src="f.svg">') == ["b.md#c", "e.svg", "f.svg"]
    assert anchors("## Run the `tests`, now\n") == {"run-the-tests-now"}


def test_links_of_the_documents_resolve() -> None:
    broken: list[str] = []
    known = {str(path) for path in tree.files()}
    for path, text in tree.texts().items():
        if path.suffix != ".md":
            continue
        for link in links(text):
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            name, _, anchor = link.partition("#")
            target = os.path.normpath(path.parent / name) if name else str(path)
            if target not in known and not any(other.startswith(target + "/") for other in known):
                broken.append(f"{path}: {link}")
            elif anchor and target.endswith(".md") and anchor not in anchors((ROOT / target).read_text("utf-8")):
                broken.append(f"{path}: {link} (no such heading)")
    assert not broken


def test_every_dependency_earns_its_line_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    readme = (ROOT / "README.md").read_text("utf-8")
    names = {re.split(r"[<>=~!\[; ]", line)[0] for line in project["dependencies"]}
    assert names
    assert not {name for name in names if f"| [{name}](" not in readme}


def test_the_typing_root_links_to_the_sources() -> None:
    """Type checkers and ``python -m ctx_inspect`` in the checkout read the sources through these links."""
    for name in tree.SOURCES:
        link = ROOT / ".typing" / "ctx_inspect" / name
        assert link.is_symlink(), f"{link} is no symbolic link (git: core.symlinks)"
        assert link.resolve() == ROOT / name


def test_the_checkout_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ctx_inspect", "--version"],
        cwd=ROOT / ".typing",
        env={**os.environ, "PYTHONPATH": str(ROOT / ".typing")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ctx-inspect")


def test_import_contracts_hold() -> None:
    pytest.importorskip("importlinter", reason="import-linter is not installed (the extra `dev` brings it)")
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_has_the_two_commands_that_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for heading, ends in (("Install and run", ".venv/bin/ctx-inspect"), ("Run the tests", "pytest -q")):
        section = readme.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        commands = re.findall(r"^python3 .*$", section, flags=re.MULTILINE)
        assert len(commands) == 1
        assert commands[0].endswith(ends)
        assert f'readme_command "{heading}"' in (ROOT / ".ci" / "run").read_text("utf-8")
