"""Real models' RoPE configs and the architecture table of source 004, read from models.toml on first use."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rope_core.errors import argument_error

if TYPE_CHECKING:
    from rope_core.hf.ropes import HfRope

T = TypeVar("T")

ARCHITECTURE_FIELDS = ("name", "year", "norm", "block", "pre_norm", "position", "activation", "stability")


@dataclass(frozen=True)
class ArchitectureCorrection:
    """What a model's own paper or code says where source 004 prints something else."""

    field: str
    printed: str
    corrected: str
    source: str
    verified: bool
    note: str


@dataclass(frozen=True)
class ArchitectureRow:
    """One row of source 004's table: the cells as printed ("yes"/"no" for its marks, "" where empty) and corrections.

    ``model_type`` is the transformers type whose blocks the row's norm, order and pre-norm were compared with, or "".

    >>> gpt2 = architecture_row("gpt-2")
    >>> gpt2.pre_norm, gpt2.corrected("pre_norm")
    ('no', 'yes')
    """

    id: str
    name: str
    year: int
    norm: str
    block: str
    pre_norm: str
    position: str
    activation: str
    stability: str
    paper: str = ""
    model_type: str = ""
    corrections: tuple[ArchitectureCorrection, ...] = ()

    def corrected(self, field: str) -> str:
        """Return the corrected cell of ``field``, or the printed one where none is known to be wrong.

        Raises:
            ValueError: on a field that the table does not have.
        """
        if field not in ARCHITECTURE_FIELDS:
            raise argument_error("field", f"one of {', '.join(ARCHITECTURE_FIELDS)}", field)
        return next((c.corrected for c in self.corrections if c.field == field), str(getattr(self, field)))


@dataclass(frozen=True)
class ReleasedModel:
    """One released model: where its values were read, how sure they are, and the config keys that decide its RoPE.

    ``confidence`` is A (a copy of the config, or a framework's own per-model config), B (a secondary source) or
    U (unverified); ``kind`` is "config" (keys copied from a stored config.json) or "values" (values stated by the
    source, written under config.json's names); ``config`` cannot be changed.

    >>> released_model("llama-3.1-8b").config["rope_scaling"]["factor"]
    8.0
    """

    id: str
    name: str
    year: int
    family: str
    confidence: str
    kind: str
    source: str
    note: str
    architecture: str
    config: Mapping[str, Any]

    def hf_config(self) -> dict[str, Any]:
        """Return the config as a plain dict of its own, as json.load would have given it."""
        return cast(dict[str, Any], _thaw(self.config))

    def rope(self, layer_type: str | None = None, seq_len: int | None = None) -> HfRope:
        """Return what this model's config makes of RoPE, in one layer type where they differ.

        Raises:
            ConfigError: naming the layer types where they differ and none is given.
        """
        from rope_core.hf.resolve import from_hf

        return from_hf(self.hf_config(), layer_type, seq_len)


@dataclass(frozen=True)
class UnrotatedModel:
    """One released model whose attention does not rotate.

    ``instead`` is "none" or "relative bias"; ``layers`` counts all of its layers, ``attention`` those with attention;
    ``confidence`` as in Model.
    """

    id: str
    name: str
    year: int
    family: str
    confidence: str
    source: str
    instead: str
    layers: int
    attention: int


def unrotated_models() -> tuple[UnrotatedModel, ...]:
    """Return the models of the catalogue that do not rotate, by year.

    >>> [each.name for each in unrotated_models() if each.instead != "none"]
    ['Inkling']
    """
    return _catalogue()[2]


def released_models() -> tuple[ReleasedModel, ...]:
    """Return every model of the catalogue, in its order: families together.

    >>> len(released_models()) >= 50
    True
    """
    return tuple(_catalogue()[0].values())


def released_model(id: str) -> ReleasedModel:
    """Return the model with this id.

    Raises:
        ValueError: naming the known ids.

    >>> released_model("llama-2-7b").config["max_position_embeddings"]
    4096
    """
    return _find("id", _catalogue()[0], id)


def architecture_rows() -> tuple[ArchitectureRow, ...]:
    """Return the rows of source 004's architecture table, in its order."""
    return tuple(_catalogue()[1].values())


def architecture_row(id: str) -> ArchitectureRow:
    """Return the row with this id.

    Raises:
        ValueError: naming the known ids.
    """
    return _find("id", _catalogue()[1], id)


def _find(argument: str, known: Mapping[str, T], id: object) -> T:
    if not isinstance(id, str) or id not in known:
        raise argument_error(argument, f"one of {', '.join(known)}", id)
    return known[id]


@cache
def _catalogue() -> tuple[dict[str, ReleasedModel], dict[str, ArchitectureRow], tuple[UnrotatedModel, ...]]:
    data = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    known = {row["id"]: _architecture(row) for row in data["architectures"]}
    still = sorted((UnrotatedModel(**row) for row in data["unrotated"]), key=lambda each: each.year)
    return {row["id"]: _model(row) for row in data["models"]}, known, tuple(still)


def _model(row: Mapping[str, Any]) -> ReleasedModel:
    optional = {"note": "", "architecture": ""}
    return ReleasedModel(**{**optional, **row, "config": _freeze(row["config"])})


def _architecture(row: Mapping[str, Any]) -> ArchitectureRow:
    corrections = tuple(ArchitectureCorrection(**cells) for cells in row.get("corrections", ()))
    return ArchitectureRow(**{**row, "corrections": corrections})


def _freeze(value: Any) -> Any:
    if isinstance(value, dict):
        return MappingProxyType({key: _freeze(item) for key, item in value.items()})
    return tuple(_freeze(item) for item in value) if isinstance(value, list) else value


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return [_thaw(item) for item in value] if isinstance(value, tuple) else value
