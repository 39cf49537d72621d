"""Runs tests of permissions for everybody: a process of the administrator may read everything, so it gives that up first."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

INSIDE = "CTX_INSPECT_TEST_UNPRIVILEGED"
"""Set in the process that has given its rights up."""

GIVE_UP = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH: reading and writing whatever the modes say
    if libc.prctl(24, right, 0, 0, 0):  # PR_CAPBSET_DROP: what is started from here never gets it
        sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
CANNOT = 77


def again(item: pytest.Function) -> bool:
    """Run a test in a process that modes bind, where this one is the administrator's.

    Returns:
        Whether it was run there; else it can run here.
    """
    if os.geteuid() != 0 or INSIDE in os.environ:
        return False
    if not sys.platform.startswith("linux"):
        pytest.skip("the administrator may read and write everything")
    # the cache's folder is this process's own
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", item.nodeid]
    done = subprocess.run(
        [sys.executable, "-c", GIVE_UP, *words],
        cwd=item.config.rootpath,
        env={**os.environ, INSIDE: "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if done.returncode == CANNOT:
        pytest.skip("the administrator may read and write everything, and cannot give that up here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout, done.stdout
    return True
