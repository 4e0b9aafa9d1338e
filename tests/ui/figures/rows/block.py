"""The block page's figures."""

from rope_core.theory.block.choices import Choices, usual
from tests.support.figures import ROPE, Row
from tests.support.films import FilmRow, to_draw
from ui.figures.block import diagram, drawn, norm, rotary, unit
from ui.text.words import Words

MADE = Choices("RMSNorm", "pre", True, "swiglu", True)


def block_words(t: Words) -> str:
    start, rows, readable = usual()
    name = t("open_row", name="X", rows=rows, readable=readable)
    return t(
        "diagram_finding",
        name=name if start == MADE else t("switched", name=name),
        norm="RMSNorm",
        place=t("place.pre"),
        order=t("order.parallel"),
        unit=t("unit.swiglu"),
        rope=t("rotates"),
    )


ROWS = [
    Row("block", norm.norms, (1.5, 0.5)),
    Row("block", norm.cost, (False,)),
    Row("block", norm.stack, ("post", 6, 1)),
    Row("block", norm.parallel, (0.3,)),
    Row("block", unit.activations, ("silu", -1.5)),
    Row("block", unit.gates, ("swiglu", 0.7)),
    Row("block", unit.z_loss, (12.0, 1e-3)),
    Row("block", unit.capped, (30.0, 40.0)),
    Row("block", unit.qk_norm, (16, 4.0)),
    Row("block", rotary.commute, (ROPE, 9, 1.2, "half")),
    Row(
        "block",
        rotary.values,
        (ROPE, 2),
    ),
    Row("block", rotary.cache, (ROPE, 2.5)),
    Row("block", rotary.latent, (32, 8, 9)),
]
FILMS = [
    FilmRow("block", diagram.diagram, ("X", None, MADE, ROPE), {"token": 5}, block_words),
    FilmRow("block", drawn.drift, (ROPE,), {}, to_draw),
]
