"""What the wheel holds: all of rope_core but the lab's weights, in less than a megabyte."""

import json
import subprocess
import sys
import zlib

from tests.support import ROOT

# What setuptools would put into the wheel by pyproject.toml, without building one.
LISTING = """
import json
from setuptools import Distribution
dist = Distribution({"script_name": "setup.py"})
dist.parse_config_files()
build = dist.get_command_obj("build_py")
build.ensure_finalized()
data = [f"{folder}/{name}" for _, folder, _, names in build.get_data_files_without_manifest() for name in names]
print(json.dumps([path for _, _, path in build.find_all_modules()] + data))
"""


def test_the_wheel_holds_everything_but_the_weights_in_less_than_a_megabyte() -> None:
    done = subprocess.run([sys.executable, "-c", LISTING], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    packed = {path.removeprefix(f"{ROOT}/") for path in json.loads(done.stdout.splitlines()[-1])}
    tracked = subprocess.run(
        ["git", "ls-files", "rope_core"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    weights = {path for path in tracked if path.endswith(".safetensors")}
    assert weights and packed & weights == set()
    assert {path for path in tracked if (ROOT / path).exists()} - weights <= packed
    assert sum(len(zlib.compress((ROOT / path).read_bytes())) for path in packed) < 1_000_000
