"""Installs the real agents from npm into a cache folder, once.

Where the registry does not answer, the tests are *not run* (skipped, with the reason); any other failure fails them.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

import platformdirs
import pytest

OPENCODE = "1.18.33"
PI = "1.6.0"
NODE = (22, 19)

ENVIRONMENT = dict(os.environ)
"""As the person set it (their npm configuration, their proxy): a test's own home is an empty one."""

FOLDER = Path(os.environ.get("CTX_INSPECT_AGENTS_DIR") or Path(platformdirs.user_cache_dir("ctx-inspect")) / "agents")

_NO_ANSWER = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT")
_SERVER_ERRORS = ("E500", "E502", "E503", "E504", "E429")


def _npm(folder: Path, *packages: str, path: str | None = None) -> None:
    npm = shutil.which("npm", path=path or ENVIRONMENT.get("PATH"))
    if npm is None:
        pytest.skip("not run: npm is not installed, so the agents cannot be")
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--no-audit", "--no-fund", "--no-progress", "--prefix", str(folder), *packages]
    environment = {**ENVIRONMENT, **({"PATH": path} if path else {})}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"not run: npm did not install {' '.join(packages)} within 300 s")
    if done.returncode:
        for code in (*_NO_ANSWER, *_SERVER_ERRORS):
            if code in done.stderr:
                pytest.skip(f"not run: the package registry did not answer ({code})")
        pytest.fail(f"npm could not install {' '.join(packages)}:\n{done.stderr[-2000:]}")


def _version(package: Path) -> str | None:
    try:
        return json.loads((package / "package.json").read_text())["version"]
    except (OSError, ValueError, KeyError):
        return None


def _runs(binary: Path, *arguments: str, env: dict[str, str] | None = None) -> str | None:
    try:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=60, check=False, env=env)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _machine() -> str:
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), platform.system().lower())
    return f"{system}-{'arm64' if platform.machine() in ('arm64', 'aarch64') else 'x64'}"


@cache
def opencode() -> Path:
    """Return OpenCode's binary, installed if need be.

    npm may skip the step that links the binary of this machine, so it is called where its own package holds it.
    """
    folder = FOLDER / "npm"
    modules = folder / "node_modules"
    if _version(modules / "opencode-ai") != OPENCODE:
        _npm(folder, f"opencode-ai@{OPENCODE}")
    for name in (f"opencode-{_machine()}", f"opencode-{_machine()}-baseline", f"opencode-{_machine()}-musl"):
        binary = modules / name / "bin" / "opencode"
        if binary.is_file() and _version(modules / name) == OPENCODE:
            home = FOLDER / "probe"
            home.mkdir(parents=True, exist_ok=True)
            if _runs(binary, "--version", env={**isolated(home), "PATH": ENVIRONMENT.get("PATH", "")}) == OPENCODE:
                return binary
    pytest.fail(f"opencode-ai@{OPENCODE} is installed in {modules}, but no binary of it runs on {_machine()}")


@cache
def node() -> Path:
    """Return a Node that Pi runs on, installed if need be."""
    own = shutil.which("node", path=ENVIRONMENT.get("PATH"))
    if own and _new_enough(Path(own)):
        return Path(own)
    folder = FOLDER / "node24"
    places = [folder / "node_modules" / name / "bin" / "node" for name in ("node", f"node-{_machine()}")]
    for packages in ((), ("node@24",), (f"node-{_machine()}@24",)):
        if packages:
            _npm(folder, *packages)
        for binary in places:
            if binary.is_file() and _new_enough(binary):
                return binary
    pytest.fail(f"node@24 is installed in {folder}, but no binary of it runs")


def _new_enough(binary: Path) -> bool:
    said = _runs(binary, "--version")
    try:
        return said is not None and tuple(int(n) for n in said.removeprefix("v").split(".")[:2]) >= NODE
    except ValueError:
        return False


@cache
def pi() -> list[str]:
    """Return the command that starts Pi, installed if need be."""
    folder = FOLDER / "pi"
    package = folder / "node_modules" / "@earendil-works" / "pi-coding-agent"
    if _version(package) != PI:
        _npm(folder, f"@earendil-works/pi-coding-agent@{PI}", path=f"{node().parent}{os.pathsep}{ENVIRONMENT.get('PATH', '')}")
    binaries = json.loads((package / "package.json").read_text())["bin"]
    script = binaries if isinstance(binaries, str) else binaries["pi"]
    return [str(node()), str(package / script)]


def isolated(home: Path) -> dict[str, str]:
    """Return the environment of an agent that sees nothing of this machine's user."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
