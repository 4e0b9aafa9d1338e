"""README and docs say what is true: commands, links, tables, and the same in both languages."""

import re
import subprocess
import sys

import pytest

from tests.support import ROOT
from tools import counts
from tools.tables import PAGES, placed
from ui.page.menu import SECTIONS
from ui.text import words

PAGE_NAMES = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
PAIRS = [(name, name.replace(".md", ".zh.md")) for name in PAGE_NAMES if name.replace(".md", ".zh.md") in PAGE_NAMES]


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_a_readme_is_a_page(name: str) -> None:
    assert len(text_of(name).splitlines()) <= 155
    assert len(text_of(name).encode()) <= 10_000


@pytest.mark.parametrize("page", PAGES)
def test_a_table_is_what_the_data_says(page: str) -> None:
    assert placed(page) == text_of(f"docs/{page}"), "run python -m tools.tables --write"


def test_the_counts_that_texts_state_are_the_catalogues() -> None:
    stated = counts.catalogue_counts()
    assert {name: words.text_counts()[name] for name in stated} == stated, "run python -m tools.tables --write"
    assert stated["yarn_turned"] == 0, "the lesson of the models page says none"


def test_make_targets_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    for name in PAGE_NAMES:
        pairs = re.findall(r"`make ([a-z-]+)|^make ([a-z-]+)", text_of(name), re.MULTILINE)
        assert {quoted or line for quoted, line in pairs} <= targets, name


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_links_lead_to_files(name: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", text_of(name)) if not link.startswith("http")]
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_what_contributing_lists_is_there_and_is_all_that_a_page_has() -> None:
    text = text_of("CONTRIBUTING.md")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()

    def pattern(path: str, name: str = r"[\w-]+") -> str:
        path = path.replace(".", r"\.").replace("<name>", name)
        return path.replace("{en,zh}", r"\w+").replace("<section>", r"\w+")

    paths = [path for path in re.findall(r"`([\w.]+/[^` ]+)`", text) if not path.startswith((".github/", "build/"))]
    named = [path.replace("<kind>", "<name>").replace("<code>", "<name>") for path in paths]
    assert [path for path in named if not any(re.match(pattern(path), each) for each in tracked)] == []
    table = re.findall(r"`([^`]*<name>[^`]*)`", text.partition("\n## Add a page\n")[2].partition("\n## ")[0])
    assert len(table) == 6
    for page in SECTIONS:
        of_page = re.compile(rf"(pages/\w+|ui/figures|ui/text/\w+|tests/ui/figures)/(test_)?{page}(\.|/)")
        listed = re.compile("|".join(pattern(path, page) for path in table))
        assert [each for each in tracked if of_page.match(each) and not listed.match(each)] == []


def test_every_page_of_docs_is_linked() -> None:
    linked = {link for name in PAGE_NAMES for link in re.findall(r"\]\((?:docs/)?([\w.-]+)\)", text_of(name))}
    assert {path.name for path in (ROOT / "docs").iterdir()} <= linked


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_both_languages_show_the_same_commands_and_numbers(english: str, chinese: str) -> None:
    both = [text_of(english), text_of(chinese)]
    blocks = [re.findall(r"```(?:bash|python)\n(.*?)```", text, re.DOTALL) for text in both]
    assert blocks[0] == blocks[1]
    tables = [re.findall(r"^\|(?:.*\d.*)\|$", text, re.MULTILINE) for text in both]
    number = re.compile(r"\d[\d.,]*")
    assert [number.findall(row) for row in tables[0]] == [number.findall(row) for row in tables[1]]


@pytest.mark.parametrize(("readme", "lab"), [("README.md", "docs/lab.md"), ("README.zh.md", "docs/lab.zh.md")])
def test_the_readmes_three_numbers_are_those_of_the_pages(readme: str, lab: str) -> None:
    parts = re.split(r"\n(?! )", text_of(readme))
    bullets = [part for part in parts if part.startswith("- ") or "docs/lab" in part]
    for number in ("28.35", "3.87"):
        assert number in "".join(bullets) and number in text_of(lab)
    for number in ("0.76", "6.8", "1e-5"):
        assert number in "".join(bullets) and number in text_of(lab.replace("lab", "measured"))


@pytest.mark.long
def test_python_blocks_of_the_readme_run() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", text_of("README.md"), re.DOTALL))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_nothing_names_a_machine() -> None:
    machine = re.compile(r"(?:^|[^A-Za-z0-9_.])/(?:work|root|home|farm)/[A-Za-z0-9._-]+")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    for path in filter(None, listed):
        if not path.endswith((".png", ".safetensors")) and (ROOT / path).exists():
            assert not machine.search((ROOT / path).read_text("utf-8", errors="ignore")), path
