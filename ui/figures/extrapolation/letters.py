"""One text past the trained length under the hand: the curves, and below them the chance of every byte of the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rope_core.lab import view
from rope_core.lab.results import ExperimentResults
from rope_core.rope import Array
from ui.figures.drawing import Film, cached_figure
from ui.figures.extrapolation.curves import LEAST, line_colour
from ui.figures.extrapolation.words import line_name
from ui.film import marks
from ui.film.colours import SEQUENTIAL_SCALE
from ui.film.scene import Axis, Panel, Scene, field_control, sentence_parts
from ui.text.words import PageTexts

BESIDE, STEP = 8, 8
BLANK = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥"})
ROOM = 7.0
"""Cells that the chances beside the text take."""


@dataclass(frozen=True)
class DocumentCurves:
    """A document as two lines read it.

    ``curves``: position and perplexity over all documents, by line; ``chances``: of each byte of ``letters`` but the
    first, given all before it, under the line without a scheme and under the best one.
    """

    letters: str
    path: str
    curves: Mapping[str, tuple[Array, Array]]
    chances: Mapping[str, Array]


def recorded_document_curves(sweep: ExperimentResults, read_bytes: ExperimentResults) -> DocumentCurves:
    """Return the recorded document, with the curves of the lines at its length."""
    document, length = read_bytes.results[0], int(read_bytes.results[0]["length"])
    curves = {
        cell.line: view.coarsen_curve(cell.curve, LEAST)
        for cell in view.cells_at_length(view.read_cells(sweep.results), length)
    }
    return DocumentCurves(
        document["text"],
        document["path"],
        {line: (curve.position, np.log10(curve.value)) for line, curve in curves.items()},
        {each["line"]: np.exp(-np.asarray(each["nats"])) for each in read_bytes.results},
    )


def byte_stops(at: int, text: str) -> tuple[int, ...]:
    """Return the bytes to drag to: every ``STEP`` one that has neighbours on both sides, and ``at``."""
    first, last = BESIDE + 1, len(text) - 1 - BESIDE
    return tuple(sorted({*range(first + STEP - 1, last, STEP), min(max(at, first), last)}))


@cached_figure
def byte_probability_film(
    text: str, path_: str, chances: Mapping[str, Array], at: tuple[int, ...], t: PageTexts
) -> Film:
    """Return a byte of a text that is dragged along it, and the bytes around it with their chances.

    Args:
        text: a document; the first byte has no chance.
        path_: where it is from.
        chances: of bytes 1 to the last, under two lines.
        at: bytes to drag to.
        t: the page's words.
    """
    byte, length = field_control(t, "byte", at), len(text) - 1
    plain, best = chances
    around = np.array(at)[:, None] + np.arange(-BESIDE, BESIDE + 1)
    seen = np.stack([chances[line][around - 1] for line in (best, plain)], axis=1)
    wide = around.shape[1]
    here = {line: tuple(_percent(chances[line][each - 1]) for each in at) for line in chances}
    drawn = [
        marks.link_symbol(
            "p",
            marks.heatmap(
                byte.numbers(np.rint(254 * seen - 127).astype(np.int8)),
                SEQUENTIAL_SCALE,
                (0.0, float(wide)),
                (0.0, 2.0),
            ),
        ),
        *(
            marks.link_symbol(
                "x",
                marks.text(
                    k + 0.5,
                    2.0,
                    byte.texts(text[each].translate(BLANK) for each in around[:, k]),
                    font_size=17,
                    bold=k == BESIDE,
                    dy=-8,
                ),
            )
            for k in range(wide)
        ),
        marks.line([BESIDE, BESIDE, BESIDE + 1, BESIDE + 1, BESIDE], [0.0, 3.0, 3.0, 0.0, 0.0], "ink", 2.5),
        *(
            marks.text(
                wide,
                row + 0.5,
                [line_name(line, t), " ", byte.texts(here[line]), " %"],
                line_colour(line),
                anchor="start",
                bold=True,
                dx=8,
                dy=5,
            )
            for row, line in ((0, best), (1, plain))
        ),
    ]
    strip = Panel(Axis(0.0, wide + ROOM), Axis(0.0, 3.0), drawn, t("letters_title"), height=96, min_width=600)
    return Film(
        "letters",
        Scene(
            (strip,),
            (byte,),
            sentence_parts(
                lambda **slots: t("letters_finding", name=line_name(best, t), **slots),
                at=byte.stop_text,
                plain=byte.texts(here[plain]),
                best=byte.texts(here[best]),
            ),
        ),
        lambda: {"byte": np.arange(1, length + 1), **{f"chance, {line}": each for line, each in chances.items()}},
        f"""
        import numpy as np
        from rope_core.lab import records
        for result in records.shipped_record("bytes").results:
            print(result["line"], result["path"], np.exp(-np.array(result["nats"]))[byte - 1])
        # {path_}
        """,
    )


def _percent(chance: float) -> str:
    """Write a chance in per cent for readers.

    >>> _percent(0.4137), _percent(0.00042)
    ('41', '0.042')
    """
    return f"{100 * chance:.0f}" if chance >= 0.095 else f"{100 * chance:.2g}"
