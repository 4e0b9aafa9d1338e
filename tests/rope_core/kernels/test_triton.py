"""Runs the tests of the Triton kernels, LRPE's among them, in a process where Triton interprets them."""

import os
import re
import subprocess
import sys

import pytest

from tests.support import ROOT

INTERPRETED = [str(ROOT / "tests" / "support" / f"interpreted_{name}.py") for name in ("kernels", "lrpe")]


@pytest.mark.parametrize("chosen", ["not long", pytest.param("long", marks=pytest.mark.long)])
def test_the_interpreted_kernels_pass_their_tests(chosen: str) -> None:
    """Triton decides at its import whether it interprets, so both files run in one process of their own."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", chosen, *INTERPRETED]
    done = subprocess.run(
        command, env=os.environ | {"TRITON_INTERPRET": "1"}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    report = done.stdout + done.stderr
    assert done.returncode == 0, report[-6000:]
    assert re.search(r"\[100%\]", report) and "skipped" not in done.stdout, report[-2000:]
