"""What the wheel holds: all of rope_core but the lab's weights, in less than a megabyte."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest
import yaml

from rope_core.version import LICENCE, RELEASED, TITLE, __version__
from tests.support import ROOT
from tools import release
from ui.page.citation import bibtex_entry
from ui.text.words import PageTexts

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


def test_the_wheel_holds_everything_but_the_weights_in_about_a_megabyte() -> None:
    done = subprocess.run([sys.executable, "-c", LISTING], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    packed = {path.removeprefix(f"{ROOT}/") for path in json.loads(done.stdout.splitlines()[-1])}
    tracked = subprocess.run(
        ["git", "ls-files", "rope_core"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    weights = {path for path in tracked if path.endswith(".safetensors")}
    assert weights and packed & weights == set()
    assert {path for path in tracked if (ROOT / path).exists()} - weights <= packed
    assert sum(len(zlib.compress((ROOT / path).read_bytes())) for path in packed) < 1_100_000


def test_a_release_is_named_alike_everywhere_and_the_wheel_s_text_stands_alone(tmp_path: Path) -> None:
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
    assert (cited["title"], str(cited["date-released"])) == (TITLE, RELEASED)
    # Where the wheel is shown there are no files beside its text.
    shown = (ROOT / project["readme"]).read_text("utf-8")
    assert not re.findall(r"\]\((?!https://)", shown) and "```python" in shown
    exec(re.findall(r"```python\n(.*?)```", shown, re.DOTALL)[0], {})
    for name in ("pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    for url in ("https://example.org/first/rope", "https://example.org/second/rope"):
        release.write(tmp_path, url)
        assert tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]["urls"] == {"Source": url}
        assert yaml.safe_load((tmp_path / "CITATION.cff").read_text("utf-8")) == cited | {"repository-code": url}
    with pytest.raises(ValueError, match="url must be an https address"):
        release.write(tmp_path, "example.org")
    entry = bibtex_entry(PageTexts("en", "clock"), "https://example.org")
    assert all(text in entry for text in (TITLE, RELEASED[:4], __version__, LICENCE, cited["authors"][0]["name"]))
