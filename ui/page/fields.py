"""The fields that pages share: the model, its geometry, and every parameter that a scheme declares."""

from __future__ import annotations

import math
from dataclasses import replace

from rope_core.schemes import SCHEMES, Param
from ui.figures import catalogue as models
from ui.film.scene import BEAT
from ui.page.state import Field, FieldValue

MAX_DIM = 1024
MAX_LEN = 16_777_216

CUSTOM = "custom"
MODEL = Field("model", "choice", models.DEFAULT, choices=(*models.model_ids(), CUSTOM), shared=True)
LAYER = Field("layer", "text", "", shared=True)
DIM = Field("dim", "int", 128, 2, MAX_DIM, step=2, even=True, shared=True)
BASE_STEPS = tuple(float(m * 10**e) for e in range(1, 10) for m in (1, 1.5, 2, 3, 5, 7))
BASE = Field("base", "float", 1e4, 1.0, 1e12, steps=BASE_STEPS, low_open=True, shared=True)
LEN_STEPS = tuple(2**e for e in range(6, 25))
TRAIN_LEN = Field("train_len", "int", 4096, 16, MAX_LEN, steps=LEN_STEPS, shared=True)
SEQ_LEN = Field("seq_len", "int", None, 1, MAX_LEN, steps=LEN_STEPS, shared=True, optional=True)
SCHEME = Field("scheme", "choice", "none", choices=tuple(SCHEMES), shared=True)
GEOMETRY = (MODEL, LAYER, DIM, BASE, TRAIN_LEN)


def slider_stops(low: float, high: float) -> tuple[float, ...]:
    """Slider stops over a wide range: 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, ... times powers of two."""
    stops = []
    octave = math.floor(math.log2(low))
    while 2.0**octave <= high:
        stops += [2.0**octave * part for part in (1, 1.25, 1.5, 1.75)]
        octave += 1
    return tuple(sorted({low, *(stop for stop in stops if low <= stop <= high), high}))


def parameter_field(param: Param) -> Field | None:
    """Return the control of a scheme's parameter; None for a vector, which comes with a model only."""
    if param.kind == "vector":
        return None
    if param.kind == "bool":
        return Field(param.name, "bool", param.default, shared=True)
    stops = slider_stops(param.low, param.high) if param.low > 0 else ()
    optional = param.kind == "optional"
    return Field(param.name, "float", param.default, param.low, param.high, 0.05, stops, shared=True, optional=optional)


def field_with_default(field: Field, value: FieldValue) -> Field:
    """Return the field with another value before anybody sets it."""
    return replace(field, default=value)


def unrotated_dims_field(name: str, width: int) -> Field:
    """Return the field of the dimensions left alone on one side of a head: at least one pair turns."""
    return Field(name, "int", 0, 0, width - 2, step=2, even=True)


def film_stops(field: Field, value: float, low: float = -math.inf, high: float = math.inf) -> tuple[float, ...]:
    """Return a field's stops from ``low`` to ``high`` and the value in force, for a film."""
    return tuple(sorted({value, *(stop for stop in field.steps if low <= stop <= high)}))


def beat_field(count: int) -> Field:
    """Return the field that says which beat of the page's leading film is shown, of ``count``."""
    return Field(BEAT, "int", 1, 1, count)


PARAMS: dict[str, Field] = {}
for _scheme in SCHEMES.values():
    for _param in _scheme.params:
        _field = parameter_field(_param)
        if _field is not None:
            PARAMS.setdefault(_param.name, _field)
FACTOR = PARAMS["factor"]
SCHEME_FIELDS = (SCHEME, SEQ_LEN, *PARAMS.values())
