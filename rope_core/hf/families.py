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


def packaged(name: str) -> dict[str, Any]:
    """Return one of this package's TOML files."""
    return tomllib.loads(resources.files("rope_core.hf").joinpath(name).read_text(encoding="utf-8"))


TRAPS: Mapping[str, str] = packaged("traps.toml")


@cache
def recorded() -> dict[str, Any]:
    """Return the whole of families.toml, what tools/hf_families.py read off the wheel."""
    return packaged("families.toml")


@cache
def coded() -> dict[str, dict[str, Any]]:
    """Return coded.toml, the families whose rotation is fixed in their code, by model_type."""
    return packaged("coded.toml")


@cache
def families() -> dict[str, dict[str, Any]]:
    """Return the table of families, by model_type."""
    return {**recorded()["family"], **coded()}


def composites() -> dict[str, dict[str, Any]]:
    """Return the composite model types: the field with the text config and its model_type."""
    return recorded()["composite"]  # type: ignore[no-any-return]
