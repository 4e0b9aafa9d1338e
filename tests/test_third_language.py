"""A third language is a folder in rope_core/text and one in ui/text: no other file is touched."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rope_core.comparisons.rows import checks
from tests.support import ROOT

MARK = "¤"
WALK = """
import json
import rope_core.report.html as report
from rope_core.__main__ import main
from tests.test_pages import opened
from tools.book import site
pages = [opened(name, lang="xx") for name in ("clock", "glossary", "config")]
site.draw("book", ["clock"])
found = main(["check", "config.json", "--lang", "xx"])
written = report.report_html("config.json", lang="xx")
print(json.dumps([[str(at.exception), at.title[0].value, at.session_state["lang"]] for at in pages]))
print(json.dumps([found, written]))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with the language xx: the English texts, each with a mark before it."""
    folder = tmp_path_factory.mktemp("languages")
    for name in ("pages", "tools", "tests"):
        (folder / name).symlink_to(ROOT / name)
    for room in ("rope_core", "ui"):
        (folder / room).mkdir()
        for each in (ROOT / room).iterdir():
            if each.name != "text":
                (folder / room / each.name).symlink_to(each)
        text = shutil.copytree(ROOT / room / "text", folder / room / "text")
        for path in shutil.copytree(text / "en", text / "xx").glob("*.toml"):
            labels, *rest = re.split(r"(?=^\[(?:prose|page_lesson))", path.read_text("utf-8"), flags=re.MULTILINE)
            marked = re.sub(r'^([^\s=]+ = "(?:"")?)(?=[^"])', rf"\1{MARK}", labels, flags=re.MULTILINE)
            path.write_text("".join([marked, *rest]), "utf-8")
    (folder / "rope_core/text/xx/language.toml").write_text(
        'name = "Xish"\nlocale = "xx-XX"\nitems = "; "\nclauses = "; "\nerror = "¤{argument}: {rule}, {value}"\n',
        "utf-8",
    )
    return folder


def test_pages_the_book_and_the_config_check_are_in_it(tree: Path) -> None:
    scaling = {"rope_type": "yarn", "factor": 4.0, "colour": 1}
    (tree / "config.json").write_text(json.dumps({"model_type": "llama", "head_dim": 64, "rope_scaling": scaling}))
    ran = subprocess.run([sys.executable, "-c", WALK], cwd=tree, text=True, capture_output=True, timeout=240)
    assert ran.returncode == 0, ran.stderr[-2000:]
    *findings, pages, checked = ran.stdout.splitlines()
    for exception, title, lang in json.loads(pages):
        assert exception == "ElementList()" and title.startswith(MARK) and lang == "xx"
    page = (tree / "book/xx/clock/index.html").read_text("utf-8")
    assert '<html lang="xx"' in page and f"<title>{MARK}" in page and 'data-other="en=../../clock/ zh=' in page
    english = (tree / "book/clock/index.html").read_text("utf-8")
    assert 'data-lang="xx"' in english and ">Xish</a>" in english and "xx=../xx/clock/" in english
    code, report = json.loads(checked)
    assert code == 1 and MARK in "".join(findings)
    assert '<html lang="xx-XX"' in report and f"<h1>{MARK}" in report


def test_a_comparison_speaks_it(tree: Path) -> None:
    code = "import numpy as np\n\ndef f(dim, base, train_len, factor):\n    return np.ones(dim // 2)\n"
    (tree / "mine.py").write_text(code)
    given = ("-m", "rope_core", "compare", "mine.py", "yarn", "--explain", "--html", "page.html", "--lang")
    english, own = (
        subprocess.run([sys.executable, *given, lang], cwd=tree, text=True, capture_output=True).stdout.splitlines()
        for lang in ("en", "xx")
    )
    page = (tree / "page.html").read_text("utf-8")
    assert '<html lang="xx-XX"' in page and f"<h1>{MARK}" in page and page.count(f"<p>{MARK}") == 5
    # Each line but those of numbers, formulas and sources has words, and these are of its language.
    words = [(a, b) for a, b in zip(english, own, strict=True) if a != b]
    assert all(MARK in b for _, b in words) and len(words) > 30
    same = {a.strip() for a, b in zip(english, own, strict=True) if a == b}
    assert same <= {"", english[0], *(row.get(part, "") for row in checks().values() for part in ("formula", "source"))}
