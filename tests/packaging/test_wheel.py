"""The built distributions: nothing missing, nothing too much, and they run where nothing else of the tree is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.packaging import tree

UNREACHABLE = (
    "Temporary failure in name resolution",
    "Failed to establish a new connection",
    "ConnectTimeoutError",
    "NewConnectionError",
    "No matching distribution found for setuptools",
)


@dataclass(frozen=True)
class Built:
    """The distributions of one build."""

    wheel: Path
    sdist: Path

    def names(self) -> set[str]:
        """Return the files of the wheel that are no metadata."""
        with zipfile.ZipFile(self.wheel) as archive:
            return {name for name in archive.namelist() if ".dist-info/" not in name}

    def metadata(self, name: str) -> str:
        """Return a file of the wheel's metadata."""
        with zipfile.ZipFile(self.wheel) as archive:
            return next(archive.read(member).decode() for member in archive.namelist() if member.endswith(f".dist-info/{name}"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build a source archive from a clean copy of the tree, and the wheel from that archive, once."""
    pytest.importorskip("build", reason="`build` is not installed (the extra `test` brings it)")
    copy, out = tmp_path_factory.mktemp("copy") / "tree", tmp_path_factory.mktemp("dist")
    for path in tree.files():
        target = copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target, follow_symlinks=False)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(out), str(copy)], cwd=out, capture_output=True, text=True, timeout=110, check=False
    )
    said = done.stdout + done.stderr
    if done.returncode and any(word in said for word in UNREACHABLE):
        pytest.skip("the package index does not answer, so the build back end cannot be fetched")
    assert done.returncode == 0, said[-4000:]
    return Built(next(out.glob("*.whl")), next(out.glob("*.tar.gz")))


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment that sees the dependencies of this one, but not this tree; return its ``bin``."""
    home = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=60)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(home), "platbase": str(home)}))
    # Folders named by a .pth are searched last, and .pth files inside them (our own editable install) are not read.
    (site / "dependencies.pth").write_text("\n".join(dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(home / "bin" / "python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--ignore-installed",
            str(built.wheel),
        ],
        check=True,
        timeout=100,
        capture_output=True,
    )
    return home / "bin"


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_the_wheel_holds_the_tree_and_nothing_else(built: Built) -> None:
    root = {f"ctx_inspect/{name}" for name in ("__init__.py", "__main__.py", "py.typed")}
    expected = root | {f"ctx_inspect/{path.as_posix()}" for path in tree.sources()}
    names = built.names()
    assert names == expected, (
        f"missing: {sorted(expected - names)} (a package is absent from `packages`, or a file from `package-data`); "
        f"too much: {sorted(names - expected)}"
    )


def test_the_metadata_says_what_it_needs(built: Built) -> None:
    meta = message_from_string(built.metadata("METADATA"))
    assert meta["Requires-Python"] == ">=3.11"
    assert meta["License-Expression"] == "MIT"
    assert "ctx-inspect = ctx_inspect.app.main:main" in built.metadata("entry_points.txt")


def test_the_source_archive_names_no_file_outside_its_folder(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = archive.getnames()
        tops = {name.split("/")[0] for name in names}
        assert len(tops) == 1
        assert not [member.name for member in archive.getmembers() if member.issym() or member.islnk()]
    top = tops.pop()
    assert {f"{top}/{path.as_posix()}" for path in tree.sources()} <= set(names)
    assert {f"{top}/LICENSE", f"{top}/README.md", f"{top}/pyproject.toml"} <= set(names)


def test_the_wheel_runs(installed: Path, tmp_path: Path) -> None:
    version = run([str(installed / "ctx-inspect"), "--version"], tmp_path)
    assert (version.returncode, version.stderr) == (0, "")
    origin = run([str(installed / "python"), "-c", "import ctx_inspect; print(ctx_inspect.__file__)"], tmp_path)
    assert Path(origin.stdout.strip()).is_relative_to(installed.parent), "the test would run the checkout instead of the wheel"
    assert (
        version.stdout.split()[-1]
        == run([str(installed / "python"), "-c", "import ctx_inspect; print(ctx_inspect.__version__)"], tmp_path).stdout.strip()
    )


def test_the_wheel_survives_a_folder_of_its_name(installed: Path, tmp_path: Path) -> None:
    """A namespace package would be replaced by any folder of that name on the path."""
    (tmp_path / "ctx_inspect").mkdir()
    done = run([str(installed / "python"), "-m", "ctx_inspect", "--version"], tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_module_of_the_wheel_imports(installed: Path, built: Built, tmp_path: Path) -> None:
    modules = sorted(name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in built.names() if name.endswith(".py"))
    code = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    done = run(
        [str(installed / "python"), "-W", "error", "-c", code, *(name for name in modules if not name.endswith("__main__"))], tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_doctor_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    done = run([str(installed / "ctx-inspect"), "doctor", "--json"], tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert next(iter(report)) == "schema"
    assert report["schema"] == "ctx-inspect/doctor/1"
    assert report["checks"]
