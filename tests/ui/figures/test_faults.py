"""The glossary's first picture: bars as high as the errors, the chosen fault's words, and links that lead somewhere."""

from inspect import unwrap

import numpy as np
import pytest

from pages.reference.glossary import SHOWN
from rope_core.cli import COMMANDS
from rope_core.lab import faults
from tests.support.films import FilmRow
from ui.book.frame import BookFrame
from ui.figures.faults import MOST, fault_traces_film
from ui.film.colours import TRAINED_COLOUR
from ui.film.scene import BEAT, text_at
from ui.page.declaration import page_declaration
from ui.text.words import PageTexts

EN = PageTexts("en", "glossary")
FILMS = [FilmRow("glossary", fault_traces_film, (), {"fault": 3}, lambda t: t("fault.stale.finding"))]


@pytest.mark.parametrize(("panel", "heights"), [(0, (118, 34)), (1, (62, 23))])
def test_a_bar_is_as_high_as_its_error_and_green_where_there_is_none(panel: int, heights: tuple[int, int]) -> None:
    shown = unwrap(fault_traces_film)(EN).scene.panels[panel].marks
    large, *small = (mark for mark in shown if mark.get("fill_pattern") == "hatch")
    right, *_ = (mark for mark in shown if mark["kind"] == "rect" and mark["colour"] == TRAINED_COLOUR)
    assert len(small) == len(faults.NAMES)
    for k, (name, each) in enumerate(zip(faults.NAMES, small, strict=True)):
        trace = faults.fault_traces()[name]
        wanted = np.where(np.arange(12) < trace.wrong, np.nan, np.clip(trace.error, 0.06 * MOST, MOST))
        for foot, tops, height in (
            (large["y0"], large["y1"].keyframes[k], heights[0]),
            (each["y0"], each["y1"], heights[1]),
        ):
            np.testing.assert_allclose((foot - tops) / height * MOST, wanted, rtol=1e-9)
        green = np.isfinite(right["y1"].keyframes[k])
        assert green.tolist() == [token >= 0 and at < trace.wrong for at, token in enumerate(trace.tokens)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_known_of_a_fault_follows_the_choice(lang: str) -> None:
    t = PageTexts(lang, "glossary")
    for panel in unwrap(fault_traces_film)(t).scene.panels:
        texts = [mark["content"] for mark in panel.marks if mark["kind"] == "text"]
        for k, name in enumerate(faults.NAMES):
            written = [text_at(each, {"fault": k}) for each in texts]
            trace = faults.fault_traces()[name]
            joined = "".join(written).replace(" ", "")
            for line in (t(f"fault.{name}.called"), f"$ {trace.command}", trace.finding.title(lang)):
                assert line.replace(" ", "") in joined
            for part in ("cause", "mend"):
                assert t(f"fault.{name}.{part}").replace(" ", "") in joined
            assert trace.command.startswith(f"rope {SHOWN[name][0]} ")
            assert trace.command[: len("rope ") + len(SHOWN[name][0])] in t(f"fault.{name}.finding")


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
