"""What the wheel holds: all of rope_core but the lab's weights, in less than a megabyte."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import yaml

from rope_core.version import __version__
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


def test_a_release_is_named_alike_everywhere_and_its_readme_can_be_followed(tmp_path: Path) -> None:
    cited, recipe = (yaml.safe_load((ROOT / name).read_text("utf-8")) for name in ("CITATION.cff", "docs/meta.yaml"))
    example = (ROOT / "docs/ci-example.yml").read_text("utf-8")
    assert cited["version"] == recipe["package"]["version"] == __version__ and f"rope-lab@v{__version__}" in example
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    assert needed[1:] == [*project["dependencies"], *project["optional-dependencies"]["cli"]]
    assert recipe["build"]["entry_points"] == [f"{name} = {to}" for name, to in project["scripts"].items()]
    assert f"## {__version__} - {cited['date-released']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    deposit = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    assert deposit["title"] == cited["title"] and deposit["license"] == cited["license"]
    steps = yaml.safe_load((ROOT / "docs/release.yml").read_text("utf-8"))["jobs"]["build"]["steps"]
    (script,) = (step["run"] for step in steps if "sed" in step.get("run", ""))
    shutil.copy(ROOT / "README.md", tmp_path)
    names = {"GITHUB_REPOSITORY": "owner/name", "GITHUB_REF_NAME": "v1", "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-ec", script], cwd=tmp_path, env=names, check=True)
    links = re.findall(r"\]\(([^)]*)\)", (tmp_path / "README.md").read_text("utf-8"))
    assert len(links) > 10 and all(link.startswith("https://") for link in links)
    start = "https://github.com/owner/name/blob/v1/"
    files = [re.split("[?#]", link.removeprefix(start))[0] for link in links if link.startswith(start)]
    assert files and all((ROOT / file).exists() for file in files)
