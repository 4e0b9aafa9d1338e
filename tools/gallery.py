"""The pieces of a film, drawn: docs/marks.svg, one panel for each function of `ui.film.composite_marks`.

Run: python -m tools.gallery
"""

from pathlib import Path

import numpy as np

from ui.film import composite_marks as pieces
from ui.film import marks
from ui.film.colours import KEY_COLOUR, QUERY_COLOUR
from ui.film.scene import Axis, Control, Mark, Panel, Scene
from ui.film.static_scene import StaticScene
from ui.text.words import PageTexts

FILE = Path(__file__).resolve().parent.parent / "docs" / "marks.svg"
RESTS = Control("rests", "", (0.0, 1.0), ("0", "1"), has_slider=False)


def examples() -> dict[str, tuple[Axis, Axis, list[Mark]]]:
    """Return what each piece draws, with the panel's axes, under its name."""
    row, wide = Axis(-0.6, 5.6), Axis(-1.3, 1.3)
    words, colours = ["the", "cat", "sat", "on", "the", "mat"], {1: KEY_COLOUR, 5: QUERY_COLOUR}
    return {
        "word_row": (row, Axis(-1.0, 1.0), pieces.word_row(words, range(6), 0.0, colours)),
        "word_tile": (row, Axis(-1.0, 1.0), pieces.word_tile(2.5, 0.0, "mat", QUERY_COLOUR)),
        "growing_word_row": (row, Axis(-1.0, 1.0), pieces.growing_word_row(RESTS, [words[:4], words], 0.0, colours)),
        "ghost_tile": (row, Axis(-1.0, 1.0), pieces.ghost_tile(2.5, 0.0, "mat")),
        "position_ticks": (row, Axis(-1.0, 1.0), pieces.position_ticks(range(6), 0.0, colours)),
        "span_bracket": (row, Axis(-1.0, 1.0), pieces.span_bracket(1.0, 5.0, 0.2, "4 words apart")),
        "dial_marks": (wide, wide, pieces.dial_marks(0.0, 0.0, 1.0, 2.2, trained_angle=1.1)),
        "angle_wedge": (wide, wide, pieces.angle_wedge(0.0, 0.0, 1.0, 0.3, 1.6)),
        "link_curve": (wide, wide, [pieces.link_curve(-1.0, 1.0, 1.0, -1.0, QUERY_COLOUR)]),
        "bracketed_matrix": (
            Axis(-0.5, 2.5),
            Axis(-2.3, 0.3),
            pieces.bracketed_matrix(
                [[".95", "−.31"], [".31", ".95"]], np.array([0.95, 0.31, 0.31, 0.95]), 0, 0, KEY_COLOUR
            ),
        ),
        "verdict_marks": (
            wide,
            wide,
            [*pieces.verdict_marks(-1.2, 0.4, "✓ 57°"), *pieces.verdict_marks(-1.2, -0.5, "", "✗ 29°")],
        ),
        "verdict_where": (wide, wide, pieces.verdict_where(RESTS, [False, True], -1.2, 0.0, "✓ kept", "✗ new")),
        "text_lines": (wide, wide, pieces.text_lines(-1.2, 0.5, ["as far apart", "as in training"], anchor="start")),
        "turnable_hand": (wide, wide, [pieces.turnable_hand(RESTS, 0.0, 0.0, 1.0, 0.9, QUERY_COLOUR, "")]),
        "drag_hint": (wide, wide, [pieces.drag_hint(-1.2, 0.0, "drag mat")]),
        "wedge, hatched": (
            wide,
            wide,
            [marks.wedge(0, 0, 1, 0.2, 2.8, KEY_COLOUR, inner_radius=0.6, fill_pattern="hatch")],
        ),
    }


def picture() -> str:
    """Return all pieces as one SVG."""
    panels = [
        Panel(x, y, drawn, name, min_width=260, height=110, equal_aspect=x.high < 3.0)
        for name, (x, y, drawn) in examples().items()
    ]
    data = Scene(panels, (RESTS,), "").to_bytes("docs.marks", PageTexts("en", "home"))
    return StaticScene(data, {"rests": 0.0}).to_standalone_svg() + "\n"


if __name__ == "__main__":
    FILE.write_text(picture(), "utf-8")
