"""What the catalogue's models turn by, one row for each model and layer type that rotates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rope_core.errors import finite
from rope_core.hf import catalogue
from rope_core.hf.catalogue import Architecture, Model
from rope_core.hf.ropes import HfRope, from_hf, layer_types


@dataclass(frozen=True, eq=False)
class Row:
    """One model, in one layer type where they differ.

    Attributes:
        shortest, longest: wavelengths after the model's scheme, tokens; of the pairs that turn.
        context: max_position_embeddings, tokens; the trained length where nobody says.
    """

    model: Model
    layer_type: str
    rope: HfRope
    shortest: float
    longest: float
    context: int

    def unturned(self, length: float) -> int:
        """Return how many pairs do not complete a turn within ``length`` tokens."""
        tokens = finite("length", length)
        return int(np.sum(self.rope.inv_freq * tokens < 2.0 * np.pi))


@cache
def rows() -> tuple[Row, ...]:
    """Return every model and layer type that rotates, by year, then in the catalogue's order.

    >>> llama = next(row for row in rows() if row.model.id == "llama-2-7b")
    >>> llama.unturned(4096), round(llama.shortest, 4)
    (18, 6.2832)
    """
    found = []
    for model in catalogue.models():
        config = model.hf_config()
        kinds: list[str | None] = [*layer_types(config)] or [None]
        for kind in kinds:
            rope = from_hf(config, kind)
            turning = rope.inv_freq[rope.inv_freq > 0]
            if turning.size:
                waves = 2.0 * np.pi / turning
                context = rope.max_len or rope.train_len
                found.append(Row(model, kind or "", rope, float(waves.min()), float(waves.max()), context))
    return tuple(sorted(found, key=lambda row: row.model.year))


def values(field: str) -> tuple[str, ...]:
    """Return the values that a filter can ask for, in order of first appearance: family, scheme, layout, confidence.

    >>> values("layout")
    ('half', 'interleaved')
    """
    return tuple(sorted({value_of(row, field) for row in rows()}, key=str.casefold))


def value_of(row: Row, field: str) -> str:
    """Return a row's value of a filter's field."""
    return str(getattr(row.rope if field in ("scheme", "layout") else row.model, field))


def chosen(**wanted: str | None) -> tuple[Row, ...]:
    """Return the rows whose fields have the wanted values; None stands for any.

    >>> {row.model.family for row in chosen(family="Yi", scheme=None)}
    {'Yi'}
    """
    return tuple(row for row in rows() if all(value in (None, value_of(row, field)) for field, value in wanted.items()))


def encodings_by_year(corrected: bool = True) -> dict[tuple[int, str], tuple[str, ...]]:
    """Return the names of source 004's models by (year, position encoding), "" where the table has no entry.

    Two rows that the corrections show to be one model count once.

    >>> "BLOOM (175B)" in encodings_by_year()[2022, "Alibi"]
    True
    """
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    for row in catalogue.architectures():
        year, position, name = (cell(row, field, corrected) for field in ("year", "position", "name"))
        key = int(year), position
        found[key] = tuple(dict.fromkeys((*found.get(key, ()), name)))
    return dict(sorted(found.items()))


def cell(row: Architecture, field: str, corrected: bool) -> str:
    """Return a cell of source 004's table, as printed or corrected."""
    return row.corrected(field) if corrected else str(getattr(row, field))


def errata() -> list[tuple[Architecture, catalogue.Correction]]:
    """Return every cell of source 004's table that the model's own paper or code contradicts.

    >>> any(row.id == "gpt-2" and found.field == "pre_norm" for row, found in errata())
    True
    """
    return [(row, found) for row in catalogue.architectures() for found in row.corrections]
