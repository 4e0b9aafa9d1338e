"""Every rotation of a model as one table: its attention, an indexer, parts beside the language model, image towers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rope_core.errors import ConfigError
from rope_core.hf.axial import AxialRope, axial_ropes
from rope_core.hf.resolve import from_hf, rotary_part_names
from rope_core.hf.ropes import HfRope
from ui.text.words import PageTexts, number_text


def rotation_table(config: Mapping[str, Any], rope: HfRope | None, t: PageTexts) -> dict[str, list[str]]:
    """Each part that turns, as a table's columns; {} where the language model's attention is all there is."""
    rows = [(t("part.attention"), *token_cells(rope, t))] if rope else []
    for name in rotating_part_names(config):
        try:
            cells = token_cells(from_hf(config, part=name), t)
        except ConfigError:
            # Its layer types differ, or it cannot be built: the findings say which.
            cells = ("-",) * 4
        rows.append((t(f"part.{name}") if t.has_label(f"part.{name}") else name, *cells))
    rows += [
        (place or t("part.whole"), *image_cells(each, t)) for place, each in axial_rotations_by_part(config).items()
    ]
    if len(rows) < 2 and rope:
        return {}
    heads = [t("col.part"), t("col.positions"), t("col.base"), t("col.width"), t("col.layout")]
    return {head: list(cells) for head, cells in zip(heads, zip(*rows, strict=True), strict=True)} if rows else {}


def rotating_part_names(config: Mapping[str, Any]) -> list[str]:
    """Return the parts that turn token positions, [] where the config cannot be read."""
    try:
        return rotary_part_names(config)
    except ConfigError:
        return []


def axial_rotations_by_part(config: Mapping[str, Any]) -> dict[str, AxialRope]:
    """Return the rotations by rows and columns, {} where one cannot be built."""
    try:
        return axial_ropes(config)
    except ConfigError:
        return {}


def token_cells(rope: HfRope, t: PageTexts) -> tuple[str, str, str, str]:
    """Cells of a rotation by token position."""
    if rope.nope:
        return t("positions.none"), "-", f"0 / {rope.head_dim}", "-"
    width = f"{rope.rotary_dim} / {rope.head_dim}"
    return t("positions.token"), number_text(rope.base), width, t(f"layout.{rope.layout}")


def image_cells(rope: AxialRope, t: PageTexts) -> tuple[str, str, str, str]:
    """Cells of a rotation by rows, columns and frames."""
    widths = t("comma").join(f"{t(f'mrope.{axis}')} {width}" for axis, width in rope.axis_widths.items())
    layout = t(f"layout.{rope.layout}")
    return f"{rope.position}", number_text(rope.base), f"{widths} / {rope.head_dim}", layout
