"""One layer of a model with every choice of it drawn, and the formula of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rope_core.hf import catalogue
from rope_core.hf.catalogue import ARCHITECTURE_FIELDS, ArchitectureRow
from rope_core.theory.block.choices import BlockChoices, block_choices, commonest_block_and_counts
from ui.figures.block.vectors import COLOURS
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import GREY, YELLOW, text_colour_on
from ui.film.scene import Axis, Mark, Panel, Paragraph, Scene, text_panel
from ui.text.words import PageTexts

LEFT, RIGHT, RESIDUAL = 0.6, 8.8, 9.6
ROW_HEIGHT = 28
ROPE = "RoPE"
GAP = 0.06


@dataclass(frozen=True)
class DiagramBox:
    """One part of the block: its text, left and right edge, row, colour and half its height in rows."""

    text: str
    left: float
    right: float
    row: int
    colour: str
    reach: float = 0.33

    @property
    def centre_x(self) -> float:
        """The horizontal centre."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class ResidualConnection:
    """A residual connection: the row below which it leaves the stream and the row of its sum."""

    start: int
    end: int


def architecture_row_of_model(model: str, wanted: str) -> ArchitectureRow | None:
    """Return the architecture row to draw: the wanted one, or the model's; None where the table has none."""
    if wanted != "model":
        return catalogue.architecture_row(wanted)
    known = {entry.id: entry.architecture for entry in catalogue.released_models()}
    return catalogue.architecture_row(known[model]) if known.get(model) else None


def architecture_row_name(row: ArchitectureRow) -> str:
    """Return the row's name, corrected, with its year."""
    return f"{row.corrected('name')}, {row.corrected('year')}"


def switched_block_choices(row: ArchitectureRow | None, norm: str, place: str, order: str, unit: str) -> BlockChoices:
    """Return the row's block (or the table's commonest one) with what the visitor switched."""
    base = (block_choices(row) if row else None) or commonest_block_and_counts()[0]
    base = base if norm == "row" else replace(base, norm=norm)
    base = base if place == "row" else replace(base, place=place)
    base = base if order == "row" else replace(base, parallel=order == "parallel")
    return base if unit == "row" else replace(base, unit=unit)


def attention_boxes(left: float, right: float, row: int, rotates: bool, t: PageTexts) -> list[DiagramBox]:
    """q, k and v, RoPE on the first two, the cache on the last two, and the weighted sum: four rows."""
    third = (right - left) / 3
    edges = [(left + i * third + GAP, left + (i + 1) * third - GAP) for i in range(3)]
    drawn = [DiagramBox(name, *edge, row, COLOURS[name]) for name, edge in zip("qkv", edges, strict=True)]
    if rotates:
        drawn += [DiagramBox(ROPE, *edge, row + 1, YELLOW) for edge in edges[:2]]
    drawn.append(DiagramBox(t("box.cache"), edges[1][0], edges[2][1], row + 2, GREY))
    return [*drawn, DiagramBox(t("box.attention"), left + GAP, right - GAP, row + 3, GREY)]


def serial_boxes_and_residuals(block: BlockChoices, t: PageTexts) -> tuple[list[DiagramBox], list[ResidualConnection]]:
    """Return the sub-layers below each other, each with its own residual connection."""
    drawn, skips, row = [DiagramBox(t("box.input"), LEFT, RIGHT, 0, GREY)], [], 0
    for part in ("attention", "feed"):
        start = row
        row += 1
        if block.place in ("pre", "double"):
            drawn.append(DiagramBox(t("box.norm", norm=block.norm), LEFT, RIGHT, row, GREY))
            row += 1
        if part == "attention":
            drawn += attention_boxes(LEFT, RIGHT, row, block.rotates, t)
            row += 4
        else:
            drawn.append(DiagramBox(t("box.feed", unit=t(f"unit.{block.unit}")), LEFT, RIGHT, row, GREY))
            row += 1
        if block.place in ("double", "inner"):
            drawn.append(DiagramBox(t("box.norm", norm=block.norm), LEFT, RIGHT, row, GREY))
            row += 1
        drawn.append(DiagramBox("+", LEFT, RIGHT, row, GREY))
        skips.append(ResidualConnection(start, row))
        if block.place == "post":
            row += 1
            drawn.append(DiagramBox(t("box.norm", norm=block.norm), LEFT, RIGHT, row, GREY))
    return drawn, skips


def parallel_boxes_and_residuals(
    block: BlockChoices, t: PageTexts
) -> tuple[list[DiagramBox], list[ResidualConnection]]:
    """Attention and feed-forward beside each other, one residual connection for both."""
    half, row = LEFT + 0.62 * (RIGHT - LEFT), 1
    drawn = [DiagramBox(t("box.input"), LEFT, RIGHT, 0, GREY)]
    if block.place in ("pre", "double"):
        drawn.append(DiagramBox(t("box.norm", norm=block.norm), LEFT, RIGHT, row, GREY))
        row += 1
    drawn += attention_boxes(LEFT, half, row, block.rotates, t)
    drawn.append(
        DiagramBox(t("box.feed", unit=f"<br>{t(f'unit.{block.unit}')}"), half + 0.3, RIGHT, row + 1, GREY, 0.8)
    )
    row += 4
    if block.place in ("double", "inner"):
        drawn += [
            DiagramBox(t("box.norm", norm=block.norm), LEFT, half, row, GREY),
            DiagramBox(t("box.norm", norm=block.norm), half + 0.3, RIGHT, row, GREY),
        ]
        row += 1
    drawn.append(DiagramBox("+", LEFT, RIGHT, row, GREY))
    if block.place == "post":
        drawn.append(DiagramBox(t("box.norm", norm=block.norm), LEFT, RIGHT, row + 1, GREY))
    return drawn, [ResidualConnection(0, row)]


def has_box_between(upper: DiagramBox, lower: DiagramBox, column: float, drawn: list[DiagramBox]) -> bool:
    """Return whether a third box is in ``column`` between the two; the gap between neighbours counts as a box."""
    between = (box for box in drawn if upper.row < box.row < lower.row)
    return any(box.left - GAP <= column <= box.right + GAP for box in between)


def wire_marks(drawn: list[DiagramBox], last: int) -> list[Mark]:
    """Return arrows between boxes that see each other, in the middle of the narrower one, and the residual's way."""
    shapes: list[Mark] = []
    for upper, lower in ((a, b) for a in drawn for b in drawn if a.row < b.row):
        column = min((upper, lower), key=lambda box: box.right - box.left).centre_x
        if all(b.left <= column <= b.right for b in (upper, lower)) and not has_box_between(
            upper, lower, column, drawn
        ):
            shapes += arrow_marks(
                [column, column], [last - upper.row - upper.reach, last - lower.row + lower.reach], GREY
            )
    return shapes


def arrow_marks(x: Sequence[float], y: Sequence[float], colour: str) -> list[Mark]:
    """Return a line through points with a head at its end, which is horizontal or vertical."""
    dx, dy = np.sign(x[-1] - x[-2]), np.sign(y[-1] - y[-2])
    tip_x = [x[-1], x[-1] - dx * 0.22 - dy * 0.13, x[-1] - dx * 0.22 + dy * 0.13, x[-1]]
    tip_y = [y[-1], y[-1] - dy * 0.26 - dx * 0.2, y[-1] - dy * 0.26 + dx * 0.2, y[-1]]
    return [marks.line(x, y, colour, 2.5), marks.line(tip_x, tip_y, colour, 1, fill=colour)]


def residual_marks(skip: ResidualConnection, last: int) -> list[Mark]:
    """Return the residual connection, around its sub-layer at the right."""
    x = [(LEFT + RIGHT) / 2, RESIDUAL, RESIDUAL, RIGHT]
    start, end = last - skip.start - 0.5, float(last - skip.end)
    return arrow_marks(x, [start, start, end, end], GREY)


def layer_update_formula(block: BlockChoices) -> str:
    """Return what a layer does with its input x, N a norm, A attention and F the feed-forward, as a formula.

    >>> layer_update_formula(BlockChoices("RMSNorm", "pre", True, "swiglu", True))
    'x ← x + A(N(x)) + F(N(x))'
    >>> layer_update_formula(BlockChoices("LayerNorm", "post", False, "relu", False))
    'x ← N(x + A(x)),  x ← N(x + F(x))'
    """
    inside = "N(x)" if block.place in ("pre", "double") else "x"
    parts = [f"{part}({inside})" for part in "AF"]
    if block.place in ("double", "inner"):
        parts = [f"N({part})" for part in parts]
    sums = [" + ".join(["x", *parts])] if block.parallel else [f"x + {part}" for part in parts]
    return ",  ".join(f"x ← N({each})" if block.place == "post" else f"x ← {each}" for each in sums)


NORMS = {"RMSNorm": "N(x) = g x / √mean(x²)", "LayerNorm": "N(x) = g (x − mean(x)) / std(x) + b"}
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "relu2": "ReLU²"}
GATES = {"glu": "sigmoid", "reglu": "ReLU", "geglu": "GELU", "swiglu": "SiLU"}


def feed_forward_formula(unit: str) -> str:
    """Return the feed-forward with one activation, or with a gate, as a formula.

    >>> feed_forward_formula("relu2"), feed_forward_formula("swiglu")
    ('F(x) = W₂ ReLU²(W₁ x)', 'F(x) = W₂ (SiLU(W₁ x) ⊙ W₃ x)')
    """
    gated = unit in GATES
    return f"F(x) = W₂ ({GATES[unit]}(W₁ x) ⊙ W₃ x)" if gated else f"F(x) = W₂ {ACTIVATIONS[unit]}(W₁ x)"


def _formulas(block: BlockChoices, t: PageTexts) -> Panel:
    """Return the formula of each choice, with what it does in a sentence."""
    rows = (
        (
            layer_update_formula(block),
            [t(f"effect.{block.place}"), t("effect.parallel" if block.parallel else "effect.serial")],
        ),
        (NORMS[block.norm], [t(f"effect.{block.norm}")]),
        (feed_forward_formula(block.unit), [t("effect.gated" if block.unit in GATES else "effect.plain")]),
        ("A: " + t("effect.attention"), [t("effect.rotates" if block.rotates else "effect.rotates_not")]),
    )
    lines = [
        Paragraph(text, bold=k == 0, font_size=18 if k == 0 else 15)
        for head, sentences in rows
        for k, text in enumerate((head, *sentences))
    ]
    return text_panel(*lines, min_width=300, width_share=1.2)


@cached_figure
def transformer_layer_film(title: str, printed: BlockChoices | None, chosen: BlockChoices, t: PageTexts) -> Film:
    """Return one layer from its input down to its output, beside the formula of each choice.

    ``printed``: what the table says, None where it leaves it open.
    """
    drawn, skips = (parallel_boxes_and_residuals if chosen.parallel else serial_boxes_and_residuals)(chosen, t)
    last = max(box.row for box in drawn)
    shapes = [*wire_marks(drawn, last), *(shape for skip in skips for shape in residual_marks(skip, last))]
    for box in drawn:
        y = last - box.row
        ink, opacity = ("ink", 0.25) if box.colour == GREY else (text_colour_on(box.colour), 1.0)
        part = marks.rect(box.left, box.right, y - box.reach, y + box.reach, box.colour, opacity=opacity)
        shapes.append(marks.link_symbol("R", part) if box.text == ROPE else part)
        for k, text in enumerate(lines := box.text.split("<br>")):
            dy = 5 + 18 * (k - (len(lines) - 1) / 2)
            shapes.append(marks.text(box.centre_x, y, text, ink, halo=False, font_size=14, dy=dy))
    start, rows, readable = commonest_block_and_counts()
    name = title if printed else t("open_row", name=title, rows=rows, readable=readable)
    shown = name if chosen == (printed or start) else t("switched", name=name)
    written = t("diagram_title", name=shown) + ("" if chosen.rotates else t("rotates_not"))
    height = ROW_HEIGHT * (last + 1)
    picture = Panel(Axis(0.4, 9.9), Axis(-0.6, last + 0.6), shapes, written, min_width=300, height=height)
    return Film(
        "layer",
        Scene((picture, _formulas(chosen, t)), (), t("layer_finding", update=layer_update_formula(chosen))),
        lambda: {"part": [b.text for b in drawn], "row": [b.row for b in drawn]},
        """
        from rope_core.hf.catalogue import architecture_rows
        from rope_core.theory.block.choices import block_choices, commonest_block_and_counts
        for row in architecture_rows():
            print(row.id, block_choices(row))
        print(commonest_block_and_counts())
        """,
    )


SENTENCES = {
    "": "open",
    "yes": "yes",
    "no": "no",
    "no (norm of each sub-layer's output, inside the residual branch)": "inner",
    "LayerNorm without bias": "no_bias",
    "LayerNorm without weight and bias": "no_weight",
    "Embedding LayerNorm": "embedding",
}


def translated_cell_text(cell: str, t: PageTexts) -> str:
    """Return a cell of the table in the page's language; names and terms of art stay."""
    return t(f"said.{SENTENCES[cell]}") if cell in SENTENCES else cell


def architecture_row_table(row: ArchitectureRow, t: PageTexts) -> dict[str, list[str]]:
    """Return the row as source 004 prints it, with a mark where the model's own paper or code says something else."""
    wrong = {correction.field for correction in row.corrections}
    return {
        t("col.cell"): [t(f"cell.{field}") for field in ARCHITECTURE_FIELDS],
        t("col.printed"): [translated_cell_text(str(getattr(row, field)), t) for field in ARCHITECTURE_FIELDS],
        t("col.corrected"): [
            "≠ " + translated_cell_text(row.corrected(field), t) if field in wrong else "="
            for field in ARCHITECTURE_FIELDS
        ],
    }


def correction_sentences(row: ArchitectureRow, t: PageTexts) -> list[str]:
    """One sentence for each corrected cell of the row, as Markdown with a link to its source."""
    return [
        t(
            "correction" if each.verified else "correction_open",
            cell=t(f"cell.{each.field}"),
            printed=translated_cell_text(each.printed, t),
            corrected=translated_cell_text(each.corrected, t) if each.corrected else t("said.silent"),
            source=each.source,
        )
        for each in row.corrections
    ]
