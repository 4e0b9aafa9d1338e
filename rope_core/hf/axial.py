"""Rotations by rows, columns and frames: the vision towers of transformers and the transformers of diffusers.

Sources: models/<name>/modeling_<name>.py of transformers 5.24 (compute_axial_rope_parameters and
recomposition_frequencies) and models/transformers/ of diffusers 0.42.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import ConfigError, argument_error
from rope_core.hf.families import load_packaged_toml
from rope_core.hf.read import config_dict, config_float, config_int, read_config
from rope_core.rope import MAX_DIM, Array, read_only_array

# The position of row or column i of n, by its name in axial.toml.
POSITIONS = {
    "from zero": "i",
    "from one": "i + 1",
    "centre": "2π(2i + 1 - n)/n",
    "centred": "i - ⌈n/2⌉",
    "windowed": "i, {share} i",
}
HALF, INTERLEAVED, HALF_BY_AXIS = "half", "interleaved", "half_by_axis"
_SEEING = ("vision", "visual", "vit")
_ENDINGS = ("_vision", "_vision_model", "_vision_encoder")
_LEVELS = 4
_MOST = 64


@dataclass(frozen=True, eq=False)
class AxialRope:
    """What a rotation over several axes does to a head.

    Attributes:
        inv_freq: float64 (rotary_dim/2,), rad per unit of position, in the order of the pairs.
        axis: (rotary_dim/2,) name of the axis whose position each pair follows: "h" (row), "w" (column), "t" (frame
            or reference image), "n" (place of a text token).
        dims: int (rotary_dim/2, 2), the two dimensions of a head that each pair turns, the rotary part's first at 0.
        base: rope_theta.
        head_dim, rotary_dim: width of a head, and how much of it turns.
        layout: "half", "interleaved" or "half_by_axis".
        position: the position of row, column or frame i of n, as a formula; two where windowed and global layers
            differ.
        patch: the edge of a patch in pixels, or its extent along each axis, as the config gives it; None elsewhere.
        place: dotted place of the part in the config, "" for the whole of it.
        model_type: transformers' model_type, or diffusers' class name.
    """

    inv_freq: Array
    axis: tuple[str, ...]
    dims: npt.NDArray[np.int64]
    base: float
    head_dim: int
    rotary_dim: int
    layout: str
    position: str
    patch: int | tuple[int, ...] | None
    place: str
    model_type: str

    @property
    def axis_widths(self) -> dict[str, int]:
        """Dimensions of a head that follow each axis, in the order in which the head holds them."""
        return {name: 2 * self.axis.count(name) for name in dict.fromkeys(self.axis)}

    def angles(self, positions: npt.ArrayLike) -> Array:
        """Return the angle of each pair, rad, float64 (n, rotary_dim/2).

        Args:
            positions: (n, axes), one column for each of ``widths`` in its order, in the units of ``position``.

        Raises ValueError on another shape.
        """
        where = np.asarray(positions, dtype=np.float64)
        names = list(self.axis_widths)
        if where.ndim != 2 or where.shape[1] != len(names):
            raise argument_error("positions", "numbers of shape (n, axes)", positions)
        return np.asarray(where[:, [names.index(name) for name in self.axis]] * self.inv_freq)


def axial_ropes(config: object) -> dict[str, AxialRope]:
    """Return a config's rotations over rows, columns and frames, by the dotted place of their part; {} without any.

    Raises ConfigError on what cannot be read.

    >>> vision = {"embed_dim": 1280, "num_heads": 16}
    >>> rope = axial_ropes({"model_type": "qwen2_vl", "vision_config": vision})["vision_config"]
    >>> rope.axis_widths, rope.layout, rope.base
    ({'h': 40, 'w': 40}, 'half', 10000.0)
    >>> axial_ropes({"_class_name": "FluxTransformer2DModel", "axes_dims_rope": [16, 56, 56]})[""].axis_widths
    {'t': 16, 'h': 56, 'w': 56}
    """
    data = read_config(config)
    towers = [part for part in _parts(data) if part[1] in _rows()]
    if len(towers) > _MOST:
        raise ConfigError("config", "parts_limit", len(towers), limit=_MOST)
    axes = {place: _build(place, kind, given) for place, kind, given in towers}
    return {**axes, **_diffusers(data)}


def undescribed_axial_parts(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the types, by place, of parts that turn by rows and columns and that ``axial_ropes`` does not describe."""
    types = {place: kind for place, kind, _ in _parts(config) if kind in _recorded()["not_read"]}
    own = config.get("_class_name")
    if isinstance(own, str) and own not in _recorded()["diffusers"] and any("rope" in str(name) for name in config):
        types[""] = own
    return types


@cache
def _recorded() -> dict[str, Any]:
    return load_packaged_toml("axial.toml")


def _rows() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = _recorded()["transformers"]
    return rows


def _parts(config: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the place, the type and the fields of each part whose type is in axial.toml, the whole config first."""
    known = {*_rows(), *_recorded()["not_read"]}
    level: list[tuple[str, object, Mapping[str, Any]]] = [("", config.get("model_type"), config)]
    for _ in range(_LEVELS):
        inner = []
        for place, kind, fields in level:
            if isinstance(kind, str) and kind in known:
                yield place, kind, fields
            for name, part in fields.items():
                if isinstance(part, Mapping):
                    below = f"{place}.{name}" if place else str(name)
                    inner.append((below, _type_of(str(name), part.get("model_type"), kind, known), part))
        level = inner


def _type_of(name: str, own: object, outer: object, known: set[str]) -> object:
    """Return the type of a sub-config as recorded: released towers lack the suffix, or have no type of their own."""
    if (isinstance(own, str) and own in known) or not any(word in name for word in _SEEING):
        return own
    kind = outer if own is None else own
    return next((f"{kind}{end}" for end in _ENDINGS if f"{kind}{end}" in known), own)


def _build(place: str, kind: str, given: Mapping[str, Any]) -> AxialRope:
    """Read one vision tower by its row of axial.toml."""
    row, prefix = _rows()[kind], f"{place}." if place else ""

    def field(name: str, high: int = 2**20) -> int:
        key, default = row[name]
        value = given.get(key)
        return config_int(prefix + key, default if value is None else value, 0 if default == 0 else 1, high)

    head = field("head_dim", MAX_DIM) if "head_dim" in row else 0
    if not head:
        heads = field("heads") * (field("divisor") if "divisor" in row else 1)
        head = field("width") // heads
    axes, turns = row.get("axes", "hw"), row.get("turns", "runs")
    each = 2 * (head // len(axes) // 2)
    if each < 2 or head > MAX_DIM or (len(axes) == 2 and head % 4):
        raise ConfigError(prefix + row["width"][0], "even_turning", f"{each * len(axes)} of {head}")
    base = _base(row, given, prefix)
    position = POSITIONS[row.get("position", "from zero")]
    if row.get("position") == "windowed":
        position = position.format(share=f"{_window_share(given, prefix):.4g}")
    inv_freq, axis = _pairs(axes, [each] * len(axes), base, turns)
    layout = row.get("layout", HALF)
    return AxialRope(
        inv_freq=read_only_array(inv_freq),
        axis=axis,
        dims=_dims(axis, layout),
        base=base,
        head_dim=head,
        rotary_dim=2 * len(axis),
        layout=layout,
        position=position,
        patch=_patch(given, prefix, "patch_size"),
        place=place,
        model_type=kind,
    )


def _base(row: Mapping[str, Any], given: Mapping[str, Any], prefix: str) -> float:
    """Return rope_theta: of the rope dict where the class has one, then of the top level, then the class's own."""
    inner = {} if row.get("top") else config_dict(f"{prefix}rope_parameters", given.get("rope_parameters")) or {}
    held, path = inner.get("rope_theta"), f"{prefix}rope_parameters.rope_theta"
    if held is None:
        held, path = given.get("rope_theta"), f"{prefix}rope_theta"
    base = config_float(path, row.get("base", 10_000.0) if held is None else held, "finite_above", low=1)
    if base <= 1.0:
        raise ConfigError(path, "finite_above", base, low=1)
    return base


def _pairs(axes: str, widths: list[int], base: float, turns: str = "runs") -> tuple[Array, tuple[str, ...]]:
    """Return the frequency and the axis of each pair."""
    if turns == "shared":
        whole = base ** (-np.arange(0, sum(widths), 2) / sum(widths))
        return np.concatenate([whole[k :: len(axes)] for k in range(len(axes))]), _runs(axes, widths)
    each = [base ** (-np.arange(0, width, 2) / width) for width in widths]
    if turns == "dealt":
        return np.stack(each, axis=1).ravel(), tuple(axes) * len(each[0])
    return np.concatenate(each), _runs(axes, widths)


def _runs(axes: str, widths: list[int]) -> tuple[str, ...]:
    return tuple(name for name, width in zip(axes, widths, strict=True) for _ in range(width // 2))


def _dims(axis: tuple[str, ...], layout: str) -> npt.NDArray[np.int64]:
    """Return the two dimensions that each pair turns."""
    pair = np.arange(len(axis))
    if layout == INTERLEAVED:
        first, second = 2 * pair, 2 * pair + 1
    elif layout == HALF_BY_AXIS:
        within = np.array([axis[:k].count(name) for k, name in enumerate(axis)])
        size = np.array([axis.count(name) for name in axis])
        first = 2 * pair - within
        second = first + size
    else:
        first, second = pair, pair + len(axis)
    dims = np.stack([first, second], axis=1)
    dims.setflags(write=False)
    return dims


def _window_share(given: Mapping[str, Any], prefix: str) -> float:
    """Return by what SAM 3 multiplies positions in its global layers: the window over the grid."""
    image, patch = (
        _patch(given, prefix, name) or default for name, default in (("image_size", 1008), ("patch_size", 14))
    )
    window = config_int(f"{prefix}window_size", given.get("window_size", 24))
    edges = [value if isinstance(value, int) else value[-1] for value in (image, patch)]
    return window / max(edges[0] // edges[1], 1)


def _patch(given: Mapping[str, Any], prefix: str, name: str) -> int | tuple[int, ...] | None:
    """Return an edge in pixels, or one along each axis; None where the config gives none."""
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, list | tuple) and 0 < len(value) <= 4:
        return tuple(config_int(f"{prefix}{name}", item) for item in value)
    return config_int(f"{prefix}{name}", value)


def _diffusers(data: Mapping[str, Any]) -> dict[str, AxialRope]:
    """Return the rotation of a diffusers transformer, {} where its class is not in axial.toml."""
    kind = data.get("_class_name")
    row = _recorded()["diffusers"].get(kind) if isinstance(kind, str) else None
    if row is None:
        return {}
    axes, widths = row["axes"], _widths(row, data)
    base = _base(row, data, "") if row.get("top") else 10_000.0
    inv_freq, axis = _pairs(axes, widths, base)
    return {
        "": AxialRope(
            inv_freq=read_only_array(inv_freq),
            axis=axis,
            dims=_dims(axis, INTERLEAVED),
            base=base,
            head_dim=sum(widths),
            rotary_dim=sum(widths),
            layout=INTERLEAVED,
            position=POSITIONS[row.get("position", "from zero")],
            patch=_patch(data, "", "patch_size"),
            place="",
            model_type=str(kind),
        )
    }


def _widths(row: Mapping[str, Any], data: Mapping[str, Any]) -> list[int]:
    """Return the dimensions of each axis, as the config lists them or as the class splits its head."""
    if row["widths"] == "sixths":
        name, default = row["head_dim"]
        head = config_int(name, data.get(name, default), 6, MAX_DIM)
        sixths = 2 * (head // 6)
        widths = [head - 2 * sixths, sixths, sixths]
    else:
        name, default = row["widths"]
        given = data.get(name, default)
        if not isinstance(given, list | tuple) or len(given) != len(row["axes"]):
            raise ConfigError(name, "axis_widths", given, axes=len(row["axes"]))
        widths = [config_int(name, width, 2, MAX_DIM) for width in given]
    if any(width % 2 for width in widths) or sum(widths) > MAX_DIM:
        raise ConfigError(name, "axis_widths", widths, axes=len(row["axes"]))
    return widths


__all__ = ["AxialRope", "axial_ropes", "undescribed_axial_parts"]
