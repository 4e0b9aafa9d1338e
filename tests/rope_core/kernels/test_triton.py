"""Runs interpreted_kernels.py in a process of its own, because Triton decides at its import whether it interprets."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.support import ROOT


def test_the_interpreted_kernels_pass_their_tests() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long"]
    done = subprocess.run(
        [*command, str(ROOT / "tests" / "support" / "interpreted_kernels.py")],
        env=os.environ | {"TRITON_INTERPRET": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-6000:]
    passed = re.search(r"\[100%\]", said)
    assert passed and "skipped" not in said, said[-2000:]
