"""The glossary's first picture: bars as high as the errors, the chosen fault's words, and links that lead somewhere."""

from inspect import unwrap

import numpy as np
import pytest

from pages.reference.glossary import SHOWN
from rope_core.cli import COMMANDS
from rope_core.lab import faults
from tests.support.films import FilmRow
from ui.book.frame import BookFrame
from ui.figures.faults import LINES, MOST, fault_traces_film
from ui.film.scene import BEAT, text_at
from ui.page.declaration import page_declaration
from ui.text.words import PageTexts

EN = PageTexts("en", "glossary")
FILMS = [FilmRow("glossary", fault_traces_film, (), {"fault": 3}, lambda t: t("fault.stale.finding"))]


def test_a_bar_is_as_high_as_its_error_and_green_where_there_is_none() -> None:
    for panel in unwrap(fault_traces_film)(EN).scene.panels[:2]:
        bars = [mark for mark in panel.marks if mark.get("fill_pattern") == "hatch"]
        assert len(bars) == len(faults.NAMES)
        for row, (name, bar) in enumerate(zip(faults.NAMES, bars, strict=True)):
            trace = faults.fault_traces()[name]
            high = (np.asarray(bar["y1"]) - (4 - row + 0.16)) / 0.68 * MOST
            wanted = trace.error[trace.wrong :]
            np.testing.assert_allclose(high, np.clip(wanted, 0.06 * MOST, MOST), rtol=1e-9)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_known_of_a_fault_follows_the_choice(lang: str) -> None:
    t = PageTexts(lang, "glossary")
    table, _, chosen = unwrap(fault_traces_film)(t).scene.panels
    for k, name in enumerate(faults.NAMES):
        shown = [text_at(each.content, {"fault": k}) for each in chosen.paragraphs]
        assert shown == [t(f"fault.{name}.called"), *(t(f"line.{x}") + t(f"fault.{name}.{x}") for x in LINES[1:])]
        assert f"rope {SHOWN[name][0]}" in t(f"fault.{name}.test")
        written = [mark["content"] for mark in table.marks if isinstance(mark.get("content"), str)]
        cells = [t(f"fault.{name}.{x}") for x in ("seen", "called", "brief", "command", "cure")]
        assert {line for cell in cells for line in cell.split("|")} < set(written)
        assert t(f"fault.{name}.command").split()[:2] == ["rope", SHOWN[name][0]]


@pytest.mark.parametrize("fault", [1, 3])
def test_the_step_that_shows_the_chosen_fault_is_linked_above_the_question(fault: int) -> None:
    page = BookFrame("glossary", "zh", {}, "../", {"fault": str(fault)})
    nodes = list(page.places.root.self_and_descendants())
    (link,) = (k for k, node in enumerate(nodes) if node.kind == "goto")
    _, name, beat = SHOWN[faults.NAMES[fault - 1]]
    assert f"{name}/?beat={beat}" in nodes[link].html
    kinds = [node.kind for node in nodes]
    assert kinds.index("film") < link < kinds.index("choices")


def test_every_fault_names_a_command_and_a_step() -> None:
    assert tuple(SHOWN) == faults.NAMES
    for name, page, beat in SHOWN.values():
        (field,) = (field for field in page_declaration(page).fields if field.name == BEAT)
        assert name in COMMANDS and 1 <= beat <= field.high
