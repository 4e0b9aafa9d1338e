"""The README says what is true: its tree, its commands, its pictures, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.readme import ROOT, first_sentence, placed, tracked

README = (ROOT / "README.md").read_text("utf-8")
CHINESE = (ROOT / "README.zh.md").read_text("utf-8")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_tree_and_tables_are_what_the_code_says(lang: str) -> None:
    text = README if lang == "en" else CHINESE
    assert placed(text, lang) == text, "run python -m tools.readme --write"


def test_every_file_says_what_it_is() -> None:
    assert [path for path in tracked() if not first_sentence(path)] == []


def test_its_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for text in (README, CHINESE):
        named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)$", text, re.MULTILINE))
        named = {one or other for one, other in named}
        assert {"run", "test", "check"} <= named <= targets


def test_its_pictures_and_links_are_there() -> None:
    for text in (README, CHINESE):
        local = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]
        assert len([link for link in local if link.endswith(".png")]) >= 3
        assert [link for link in local if not (ROOT / link).exists()] == []


def test_both_languages_show_the_same_commands_and_numbers() -> None:
    blocks = [re.findall(r"```(?:bash|python)\n(.*?)```", text, re.DOTALL) for text in (README, CHINESE)]
    assert blocks[0] == blocks[1]
    tables = [re.findall(r"^\|(?:.*\d.*)\|$", text, re.MULTILINE) for text in (README, CHINESE)]
    number = re.compile(r"\d[\d.,]*")
    assert [number.findall(row) for row in tables[0]] == [number.findall(row) for row in tables[1]]


def test_python_blocks_of_the_readme_run() -> None:
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        exec(compile(block, str(Path("README.md")), "exec"), {})


def test_nothing_names_a_machine() -> None:
    machine = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:work|root|home|farm)/[A-Za-z0-9._-]+")
    for path in tracked():
        if not path.endswith((".png", ".safetensors")):
            assert not machine.search((ROOT / path).read_text("utf-8", errors="ignore")), path
