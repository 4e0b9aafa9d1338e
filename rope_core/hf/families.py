"""What each transformers config class fills in where a config is silent, read from hf_families.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from rope_core.errors import argument_error

CLASS, FALLBACK, TOP, DICT = "class default", "fallback", "top level", "dict"
SPLIT = ("sliding_attention", "full_attention")


@dataclass(frozen=True)
class ValueOrigin:
    """Where a value came from.

    Attributes:
        source: "dict" (rope_parameters or rope_scaling), "top level", "class default", "fallback" or "derived".
        path: the field of the config that holds it, or that would change it.
        traps: keys of TRAPS, what is surprising about it.
        values: the numbers that go with the traps, by name.
    """

    source: str
    path: str
    traps: tuple[str, ...] = ()
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unlisted = sorted(set(self.traps) - set(TRAPS))
        if unlisted:
            raise argument_error("traps", "keys of TRAPS", unlisted)


def load_packaged_toml(file_name: str) -> dict[str, Any]:
    """Return one of this package's TOML files."""
    return tomllib.loads(resources.files("rope_core.hf").joinpath(file_name).read_text(encoding="utf-8"))


TRAPS: Mapping[str, str] = load_packaged_toml("traps.toml")


@cache
def recorded_class_defaults() -> dict[str, Any]:
    """Return the whole of families.toml, what tools/hf_families.py read off the wheel."""
    return load_packaged_toml("families.toml")


@cache
def families_fixed_in_code() -> dict[str, dict[str, Any]]:
    """Return coded.toml, the families whose rotation is fixed in their code, by model_type."""
    return load_packaged_toml("coded.toml")


@cache
def class_defaults_by_family() -> dict[str, dict[str, Any]]:
    """Return the table of families, by model_type."""
    return {**recorded_class_defaults()["family"], **families_fixed_in_code()}


def composite_text_fields() -> dict[str, dict[str, Any]]:
    """Return the composite model types: the field with the text config and its model_type."""
    return recorded_class_defaults()["composite"]  # type: ignore[no-any-return]
