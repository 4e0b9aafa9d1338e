"""The block page's first figure: the block itself, with every choice drawn and RoPE at its place."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rope_core.hf import catalogue
from rope_core.hf.catalogue import ARCHITECTURE_FIELDS, Architecture
from rope_core.theory.block.choices import Choices, choices_of, usual
from ui.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, on
from ui.figures.drawing import Drawing
from ui.figures.plot import Props, axis, line, note, plot
from ui.text.words import Words

LEFT, RIGHT, RESIDUAL = 0.6, 8.8, 9.6
ROW_HEIGHT = 33
GAP = 0.06


@dataclass(frozen=True)
class Box:
    """One part of the block: its text, left and right edge, row, colour and half its height in rows."""

    text: str
    left: float
    right: float
    row: int
    colour: str
    reach: float = 0.36

    @property
    def middle(self) -> float:
        """The horizontal centre."""
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class Skip:
    """A residual connection: the row below which it leaves the stream and the row of its sum."""

    start: int
    end: int


def row_of(model: str, wanted: str) -> Architecture | None:
    """The architecture row to draw: the wanted one, or the model's; None where the table has none."""
    if wanted != "model":
        return catalogue.architecture(wanted)
    known = {entry.id: entry.architecture for entry in catalogue.models()}
    return catalogue.architecture(known[model]) if known.get(model) else None


def row_name(row: Architecture) -> str:
    """The row's name, corrected, with its year."""
    return f"{row.corrected('name')}, {row.corrected('year')}"


def chosen(row: Architecture | None, norm: str, place: str, order: str, unit: str) -> Choices:
    """The row's block (or the table's commonest one) with what the visitor switched."""
    base = (choices_of(row) if row else None) or usual()[0]
    base = base if norm == "row" else replace(base, norm=norm)
    base = base if place == "row" else replace(base, place=place)
    base = base if order == "row" else replace(base, parallel=order == "parallel")
    return base if unit == "row" else replace(base, unit=unit)


def attention(left: float, right: float, row: int, rotates: bool, t: Words) -> list[Box]:
    """q, k and v, RoPE on the first two, the cache on the last two, and the weighted sum: four rows."""
    third = (right - left) / 3
    edges = [(left + i * third + GAP, left + (i + 1) * third - GAP) for i in range(3)]
    boxes = [Box(name, *edge, row, BLUE) for name, edge in zip(("q", "k", "v"), edges, strict=True)]
    if rotates:
        boxes += [Box("<b>RoPE</b>", *edge, row + 1, RED) for edge in edges[:2]]
    boxes.append(Box(t("box.cache"), edges[1][0], edges[2][1], row + 2, ORANGE))
    return [*boxes, Box("softmax(q·k/√d) v", left + GAP, right - GAP, row + 3, BLUE)]


def serial(made: Choices, t: Words) -> tuple[list[Box], list[Skip]]:
    """The sub-layers below each other, each with its own residual connection."""
    boxes, skips, row = [Box("x", LEFT, RIGHT, 0, GREY)], [], 0
    for part in ("attention", "feed"):
        start = row
        row += 1
        if made.place in ("pre", "double"):
            boxes.append(Box(made.norm, LEFT, RIGHT, row, GREEN))
            row += 1
        if part == "attention":
            boxes += attention(LEFT, RIGHT, row, made.rotates, t)
            row += 4
        else:
            boxes.append(Box(t("box.feed", unit=t(f"unit.{made.unit}")), LEFT, RIGHT, row, PURPLE))
            row += 1
        if made.place in ("double", "inner"):
            boxes.append(Box(made.norm, LEFT, RIGHT, row, GREEN))
            row += 1
        boxes.append(Box("+", LEFT, RIGHT, row, GREY))
        skips.append(Skip(start, row))
        if made.place == "post":
            row += 1
            boxes.append(Box(made.norm, LEFT, RIGHT, row, GREEN))
    return boxes, skips


def parallel(made: Choices, t: Words) -> tuple[list[Box], list[Skip]]:
    """Attention and feed-forward beside each other, one residual connection for both."""
    half, row = LEFT + 0.62 * (RIGHT - LEFT), 1
    boxes = [Box("x", LEFT, RIGHT, 0, GREY)]
    if made.place in ("pre", "double"):
        boxes.append(Box(made.norm, LEFT, RIGHT, row, GREEN))
        row += 1
    boxes += attention(LEFT, half, row, made.rotates, t)
    boxes.append(Box(t("box.feed", unit=f"<br>{t(f'unit.{made.unit}')}"), half + 0.3, RIGHT, row + 1, PURPLE, 0.8))
    row += 4
    if made.place in ("double", "inner"):
        boxes += [Box(made.norm, LEFT, half, row, GREEN), Box(made.norm, half + 0.3, RIGHT, row, GREEN)]
        row += 1
    boxes.append(Box("+", LEFT, RIGHT, row, GREY))
    if made.place == "post":
        boxes.append(Box(made.norm, LEFT, RIGHT, row + 1, GREEN))
    return boxes, [Skip(0, row)]


def hidden(upper: Box, lower: Box, column: float, boxes: list[Box]) -> bool:
    """Whether a third box stands in ``column`` between the two; the gap between neighbours counts as a box."""
    between = (box for box in boxes if upper.row < box.row < lower.row)
    return any(box.left - GAP <= column <= box.right + GAP for box in between)


def wires(boxes: list[Box]) -> Props:
    """Lines between boxes that see each other, in the middle of the narrower one, behind both."""
    x: list[float | None] = []
    y: list[float | None] = []
    for upper, lower in ((a, b) for a in boxes for b in boxes if a.row < b.row):
        column = min((upper, lower), key=lambda box: box.right - box.left).middle
        if all(b.left <= column <= b.right for b in (upper, lower)) and not hidden(upper, lower, column, boxes):
            x += [column, column, None]
            y += [upper.row, lower.row, None]
    return line(x, y, GREY, 3, hoverinfo="skip")


def residual(skip: Skip) -> Props:
    """Return the residual connection, around its sub-layer at the right."""
    x = [(LEFT + RIGHT) / 2, RESIDUAL, RESIDUAL, RIGHT - 0.1]
    y = [skip.start + 0.5] * 2 + [skip.end] * 2
    head = {"symbol": ["line-ew", "line-ew", "line-ew", "triangle-left"], "size": [0, 0, 0, 13]}
    return line(x, y, GREEN, mode="lines+markers", marker=head, hoverinfo="skip")


def diagram(title: str, told: Choices | None, made: Choices, t: Words) -> Drawing:
    """One block from its input down to its output; ``told``: what the table says, None where it leaves it open."""
    boxes, skips = (parallel if made.parallel else serial)(made, t)
    last = max(box.row for box in boxes)
    hidden_axis: Props = {"visible": False, "fixedrange": True}
    figure = plot(
        [wires(boxes), *(residual(skip) for skip in skips)],
        height=ROW_HEIGHT * (last + 1) + 16,
        margin={"l": 4, "r": 4, "t": 8, "b": 8},
        shapes=[
            {"type": "rect", "x0": b.left, "x1": b.right, "y0": b.row - b.reach, "y1": b.row + b.reach}
            | {"fillcolor": b.colour, "line": {"width": 0}}
            for b in boxes
        ],
        annotations=[note(b.text, b.middle, b.row, font={"size": 14, "color": on(b.colour)}) for b in boxes],
        xaxis=axis(**hidden_axis, range=[0.4, 10]),
        yaxis=axis(**hidden_axis, range=[last + 0.6, -0.6]),
    )
    sentence = t("rotates" if made.rotates else "rotates_not")
    parts = {"norm": made.norm, "place": t(f"place.{made.place}"), "unit": t(f"unit.{made.unit}")}
    order = t("order.parallel" if made.parallel else "order.serial")
    start, rows, readable = usual()
    name = title if told else t("open_row", name=title, rows=rows, readable=readable)
    shown = name if made == (told or start) else t("switched", name=name)
    return Drawing(
        "diagram",
        figure,
        t("diagram_finding", name=shown, order=order, rope=sentence, **parts),
        lambda: {"part": [b.text for b in boxes], "row": [b.row for b in boxes]},
        """
        from rope_core.theory.block.choices import choices_of, usual
        from rope_core.hf.catalogue import architectures
        for row in architectures():
            print(row.id, choices_of(row))
        print(usual())
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


def in_words(cell: str, t: Words) -> str:
    """A cell of the table in the page's language; names and terms of art stay."""
    return t(f"said.{SENTENCES[cell]}") if cell in SENTENCES else cell


def cells(row: Architecture, t: Words) -> dict[str, list[str]]:
    """The row as source 004 prints it, with a mark where the model's own paper or code says something else."""
    wrong = {correction.field for correction in row.corrections}
    return {
        t("col.cell"): [t(f"cell.{field}") for field in ARCHITECTURE_FIELDS],
        t("col.printed"): [in_words(str(getattr(row, field)), t) for field in ARCHITECTURE_FIELDS],
        t("col.corrected"): [
            "≠ " + in_words(row.corrected(field), t) if field in wrong else "=" for field in ARCHITECTURE_FIELDS
        ],
    }


def corrections(row: Architecture, t: Words) -> list[str]:
    """One sentence for each corrected cell of the row, as Markdown with a link to its source."""
    return [
        t(
            "correction" if each.verified else "correction_open",
            cell=t(f"cell.{each.field}"),
            printed=in_words(each.printed, t),
            corrected=in_words(each.corrected, t) if each.corrected else t("said.silent"),
            source=each.source,
        )
        for each in row.corrections
    ]
