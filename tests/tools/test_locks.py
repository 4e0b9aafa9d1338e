"""The locks hold what the loose lists ask for, by hash; torch has a lock for the public index alone."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.support import ROOT

APP = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
LISTS = {"requirements.lock": APP} | {f"requirements-{name}.lock": rows for name, rows in GROUPS.items()}
LISTS["requirements-dev.lock"] = [*APP, *GROUPS["dev"]]
BESIDE = {"torch"}


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Version and number of hashes of every package of a lock."""
    blocks = re.split(r"^(?=[\w.-]+==)", (ROOT / name).read_text("utf-8"), flags=re.M)[1:]
    rows = [(re.match(r"([\w.-]+)==(\S+)", block), block.count("--hash=sha256:")) for block in blocks]
    return {match[1]: (match[2], hashes) for match, hashes in rows if match}


@pytest.mark.parametrize("lock", LISTS)
def test_a_lock_holds_its_list_by_hash(lock: str) -> None:
    rows = (re.match(r"([\w.-]+)==([^\s;]+)", row) for row in LISTS[lock])
    pins, held = {row[1].replace("_", "-"): row[2] for row in rows if row}, locked(lock)
    assert pins.keys() - held.keys() <= BESIDE, "run make lock"
    assert {name: held[name][0] for name in pins.keys() & held.keys()} == {
        name: version for name, version in pins.items() if name not in BESIDE
    }
    assert [name for name, (_, hashes) in held.items() if not hashes] == []


def test_torch_of_the_public_index_is_held_by_hash_with_its_cuda_libraries() -> None:
    held, wanted = locked("requirements-torch.lock"), next(row for row in APP if row.startswith("torch"))
    assert Version(held["torch"][0]) in SpecifierSet(wanted.removeprefix("torch"))
    assert {"triton", "cuda-toolkit", "nvidia-cudnn-cu13"} < held.keys() and all(hashes for _, hashes in held.values())
    recipe = (ROOT / "Makefile").read_text("utf-8")
    # uv obeys pyproject, which keeps those libraries out of the other locks, where it is not told otherwise.
    assert all("--no-config" in row for row in recipe.splitlines() if "uv pip install" in row)


def test_make_finds_uv_in_the_lock_by_hash(tmp_path: Path) -> None:
    (line,) = [
        row.strip() for row in (ROOT / "Makefile").read_text("utf-8").splitlines() if "uv.lock" in row and "sed" in row
    ]
    subprocess.run(line.replace("$(VENV)", str(tmp_path)), shell=True, cwd=ROOT, check=True)
    rows = (tmp_path / "uv.lock").read_text("utf-8").splitlines()
    wanted = next(row for row in GROUPS["dev"] if row.startswith("uv=="))
    assert rows[0] == f"{wanted} \\" and [row for row in rows[1:] if "--hash=sha256:" not in row] == rows[-1:]


def test_the_app_s_lock_is_part_of_the_tests_lock() -> None:
    app, dev = locked("requirements.lock"), locked("requirements-dev.lock")
    assert len(app) >= 50 and app.items() <= dev.items()


@pytest.mark.parametrize("lock", LISTS)
def test_a_lock_names_no_host_and_none_of_the_packages_that_torch_s_build_decides(lock: str) -> None:
    assert not re.search(r"https?://|--index|--find-links|file:", (ROOT / lock).read_text("utf-8"))
    assert [name for name in locked(lock) if re.match(r"torch|nvidia|cuda", name)] == []
