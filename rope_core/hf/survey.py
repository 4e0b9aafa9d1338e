"""What the catalogue's models turn by, one row for each model and layer type that rotates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from rope_core.errors import checked_finite
from rope_core.hf import catalogue
from rope_core.hf.catalogue import ArchitectureRow, ReleasedModel
from rope_core.hf.fields import ModelFields
from rope_core.hf.resolve import resolve, ropes_of
from rope_core.hf.ropes import HfRope

# Layers of hybrids that are no softmax attention.
WITHOUT_ATTENTION = ("linear_attention", "conv", "mamba", "recurrent", "moe", "mlp")


@dataclass(frozen=True, eq=False)
class SurveyRow:
    """One model, in one layer type where they differ.

    Attributes:
        shortest, longest: wavelengths after the model's scheme, tokens; of the pairs that turn.
        context: max_position_embeddings, tokens; the trained length where nobody says.
    """

    model: ReleasedModel
    layer_type: str
    rope: HfRope
    shortest: float
    longest: float
    context: int

    def incomplete_pair_count(self, length: float) -> int:
        """Return how many pairs do not complete a turn within ``length`` tokens."""
        tokens = checked_finite("length", length)
        return int(np.sum(self.rope.inv_freq * tokens < 2.0 * np.pi))

    def slowest_angle(self, length: float) -> float:
        """Return how far the slowest pair that turns has turned after ``length`` tokens, rad."""
        return 2.0 * np.pi * checked_finite("length", length) / self.longest


@cache
def survey_rows() -> tuple[SurveyRow, ...]:
    """Return every model and layer type that rotates, by year, then in the catalogue's order.

    >>> llama = next(row for row in survey_rows() if row.model.id == "llama-2-7b")
    >>> llama.incomplete_pair_count(4096), round(llama.shortest, 4)
    (18, 6.2832)
    """
    rotating = []
    for model in catalogue.released_models():
        for kind, rope in ropes_of(model.hf_config()).items():
            turning = rope.inv_freq[rope.inv_freq > 0]
            if turning.size:
                waves = 2.0 * np.pi / turning
                context = rope.max_len or rope.train_len
                rotating.append(SurveyRow(model, kind or "", rope, float(waves.min()), float(waves.max()), context))
    return tuple(sorted(rotating, key=lambda row: row.model.year))


@dataclass(frozen=True)
class RotatingShare:
    """How much of one model rotates.

    Attributes:
        layers, attention, rotating: numbers of layers: all, those with attention, those whose attention rotates.
        width: largest part of a head that rotates, in [0, 1].
        base: largest base; trained: length in tokens that the scaling starts from; None where nothing rotates.
        instead: "rotation", "none" or "relative bias".
    """

    name: str
    year: int
    confidence: str
    layers: int
    attention: int
    rotating: int
    width: float
    base: float | None
    trained: int | None
    instead: str


@cache
def rotating_shares() -> tuple[RotatingShare, ...]:
    """Return how much of each model rotates, by year; models whose number of layers nobody says are left out.

    >>> each = next(each for each in rotating_shares() if each.name.startswith("Qwen3-Next"))
    >>> each.layers, each.attention, each.rotating, each.width
    (48, 12, 12, 0.25)
    """
    models = [
        RotatingShare(
            each.name, each.year, each.confidence, each.layers, each.attention, 0, 0.0, None, None, each.instead
        )
        for each in catalogue.unrotated_models()
    ]
    for model in catalogue.released_models():
        text = resolve(model.hf_config()).text
        fields, ropes = text.fields, text.ropes()
        turning = [rope for rope in ropes.values() if not rope.nope]
        labels = fields.layer_types() or [""] * fields.layer_count()
        attending = [i for i, label in enumerate(labels) if label not in WITHOUT_ATTENTION]
        still = {i for rope in turning for i in rope.nope_layers}
        still |= {i for i in attending if labels[i] in ropes and ropes[labels[i]].nope}
        if not labels:
            continue
        models.append(
            RotatingShare(
                model.name,
                model.year,
                model.confidence,
                len(labels),
                len(attending),
                len(set(attending) - still),
                max(2 * int(np.count_nonzero(rope.inv_freq)) / _whole_head(fields, rope) for rope in turning),
                max(rope.base for rope in turning),
                max(rope.train_len for rope in turning),
                "rotation",
            )
        )
    return tuple(sorted(models, key=lambda each: each.year))


def _whole_head(fields: ModelFields, rope: HfRope) -> int:
    """Return the width of a head of queries, with the part that multi-head latent attention keeps from rotating."""
    still = fields.get("qk_nope_head_dim").value
    return rope.head_dim + (still if isinstance(still, int) else 0)


def filter_values(field: str) -> tuple[str, ...]:
    """Return the values that a filter can ask for, in order of first appearance: family, scheme, layout, confidence.

    >>> filter_values("layout")
    ('half', 'interleaved')
    """
    return tuple(sorted({survey_value_text(row, field) for row in survey_rows()}, key=str.casefold))


def survey_value_text(row: SurveyRow, field: str) -> str:
    """Return a row's value of a filter's field."""
    return str(getattr(row.rope if field in ("scheme", "layout") else row.model, field))


def filtered_rows(**wanted: str | None) -> tuple[SurveyRow, ...]:
    """Return the rows whose fields have the wanted values; None is any.

    >>> {row.model.family for row in filtered_rows(family="Yi", scheme=None)}
    {'Yi'}
    """
    return tuple(
        row
        for row in survey_rows()
        if all(value in (None, survey_value_text(row, field)) for field, value in wanted.items())
    )


def architecture_errata() -> list[tuple[ArchitectureRow, catalogue.ArchitectureCorrection]]:
    """Return every cell of source 004's table that the model's own paper or code contradicts.

    >>> any(row.id == "gpt-2" and correction.field == "pre_norm" for row, correction in architecture_errata())
    True
    """
    return [(row, correction) for row in catalogue.architecture_rows() for correction in row.corrections]
