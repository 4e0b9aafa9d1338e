"""How large each pair of dimensions is in W_q and W_k, read from safetensors files without loading the model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import WAYS
from rope_core.layout import checked_layout
from rope_core.rope import Array
from rope_core.spectrum import Request, spectrum
from rope_core.verification.arrays import FLOATS, SafetensorsEntry, list_safetensors_entries

MASSIVE = 5.0
"""Times the head's mean from which a value counts as massive, as in arXiv:2502.01563 of q and k on text."""
_PROJECTION = re.compile(
    r"(?:^|\.)(?:layers|h|blocks)\.(\d+)\.(?:self_attn|attention|attn)\."
    r"(q_proj|k_proj|q_b_proj|kv_a_proj_with_mqa|qkv_proj|query_key_value|qkv|q_norm|k_norm)\.weight$"
)
# Classes whose norms multiply by 1 + weight.
_ONE_MORE = ("gemma", "qwen3_next", "qwen3_5")
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class LayerPairs:
    """Pairs of one layer.

    Attributes:
        index: of the layer.
        rope: what its layer type turns by.
        q: float64 (heads, pairs), the norm of each pair's two rows of W_q, times the norm weights behind it.
        k: float64 (KV heads, pairs), the same of W_k.
    """

    index: int
    rope: HfRope
    q: Array
    k: Array


def layer_pair_norms(folder: Path, config: Mapping[str, Any]) -> list[LayerPairs]:
    """Return the pairs of every layer that turns, from the safetensors files of a folder, or one such file.

    Pairs are found by the config's layout, width and place in the head (``rc.from_hf``). Weights of q_norm and k_norm
    multiply the rows; what the norms divide by depends on the text and does not.

    Raises:
        ConfigError: on a config that cannot be read.
        ValueError: on files that are no safetensors, or hold no projections whose rows are the config's heads.
    """
    text = resolve(config).text
    fields, labels, ropes = text.fields, text.fields.layer_types(), text.ropes()
    heads = int(fields.get("num_attention_heads").value or 0)
    shared = int(fields.get("num_key_value_heads").value or heads)
    weights: dict[int, dict[str, SafetensorsEntry]] = {}
    for name, tensor in projection_entries(folder):
        if match := _PROJECTION.search(name):
            weights.setdefault(int(match[1]), {})[match[2]] = tensor
    read = []
    for index in sorted(weights):
        kind = labels[index] if index < len(labels) and labels[index] in ropes else next(iter(ropes))
        rope = ropes[kind]
        if rope.nope or index in rope.nope_layers:
            continue
        both = [_norms(weights[index], part, rope, heads, shared, str(fields.model_type)) for part in "qk"]
        if any(each is None for each in both):
            continue
        read.append(LayerPairs(index, rope, *both))  # type: ignore[arg-type]
    if not read:
        raise argument_error("model", "pair_projections", folder.name)
    return read


def _norms(
    layer: Mapping[str, SafetensorsEntry], part: str, rope: HfRope, heads: int, shared: int, model_type: str
) -> Array | None:
    """Return the norm of each pair in W_q or W_k, (heads, pairs); None where the layer has no such rows."""
    count = heads if part == "q" else shared
    latent = part == "k" and "kv_a_proj_with_mqa" in layer
    if latent:
        # Latent attention has one rotated key for all heads, behind the latent vector.
        tensor, count = layer["kv_a_proj_with_mqa"], 1
        squares = _squares(tensor, tensor.shape[0] - rope.rotary_dim, tensor.shape[0])[None]
    else:
        tensor = next((layer[name] for name in (f"{part}_b_proj", f"{part}_proj") if name in layer), None)  # type: ignore[assignment]
        if tensor is not None:
            if tensor.shape[0] % count:
                return None
            squares = _squares(tensor, 0, tensor.shape[0]).reshape(count, -1)
        elif (fused := _fused(layer, part, heads, shared)) is not None:
            squares = fused
        else:
            return None
    width = squares.shape[1]
    if rope.start + rope.rotary_dim > width:
        return None
    norm = layer.get(f"{part}_norm")
    if norm is not None and not latent:
        weight = norm.read_floats(0, norm.shape[0]) + (1.0 if model_type.startswith(_ONE_MORE) else 0.0)
        if weight.size in (width, squares.size):
            squares = squares * np.broadcast_to(weight.reshape(-1, width), squares.shape) ** 2
    # A head of latent attention turns its last dimensions, which the config counts as the whole head.
    start = width - rope.rotary_dim if "q_b_proj" in layer or "kv_a_proj_with_mqa" in layer else rope.start
    turned = squares[:, start : start + rope.rotary_dim]
    layout, pairs = checked_layout(rope.layout), rope.rotary_dim // 2
    return np.asarray(np.sqrt(turned[:, layout.first(pairs)] + turned[:, layout.second(pairs)]))


def _fused(layer: Mapping[str, SafetensorsEntry], part: str, heads: int, shared: int) -> Array | None:
    """Return the squared rows of q or k in one matrix of q, k and v, (heads, head_dim)."""
    if "query_key_value" in layer:
        # GPT-NeoX: q, k and v of a head, then the next head.
        tensor = layer["query_key_value"]
        if tensor.shape[0] % (3 * heads):
            return None
        rows = _squares(tensor, 0, tensor.shape[0]).reshape(heads, 3, -1)
        return np.asarray(rows[:, "qk".index(part)])
    tensor = layer.get("qkv_proj") or layer.get("qkv")  # type: ignore[assignment]
    if tensor is None or tensor.shape[0] % (heads + 2 * shared):
        return None
    width = tensor.shape[0] // (heads + 2 * shared)
    first, count = (0, heads) if part == "q" else (heads * width, shared)
    return _squares(tensor, first, first + count * width).reshape(count, width)


def _squares(tensor: SafetensorsEntry, first: int, last: int) -> Array:
    """Return the sum of squares of each row of a matrix, a slice at a time."""
    parts = [np.square(tensor.read_floats(at, min(at + _ROWS, last))).sum(1) for at in range(first, last, _ROWS)]
    return np.concatenate(parts)


def projection_entries(folder: Path) -> Iterator[tuple[str, SafetensorsEntry]]:
    """Yield the projections of safetensors files, their spans checked against the file; raises ValueError."""
    files = sorted(folder.glob("*.safetensors")) if folder.is_dir() else [folder]
    if not files:
        raise argument_error("model", "eval_stored", str(folder))
    for path in files:
        for entry in list_safetensors_entries(path, "model", lambda name: bool(_PROJECTION.search(name))):
            if entry.dtype not in FLOATS or not entry.size:
                raise argument_error("model", "eval_quantised", entry.dtype)
            yield entry.name, entry


@dataclass(frozen=True, eq=False)
class PairSummary:
    """Every pair of a layer type over its layers and heads.

    Attributes:
        rope: what the layer type turns by.
        wavelength: float64 (pairs,), tokens, without scaling.
        q, k: float64 (pairs,), the norm over the head's mean norm, averaged over heads and layers.
        massive: int (pairs,), in how many heads of q or k the pair is at least MASSIVE times the head's mean.
        heads: how many heads of q and k there are, all layers together.
    """

    rope: HfRope
    wavelength: Array
    q: Array
    k: Array
    massive: Array
    heads: int

    @property
    def trained_turns(self) -> Array:
        """Turns of each pair within the trained length, float64 (pairs,)."""
        return np.asarray(self.rope.train_len / self.wavelength)

    def score_share(self, chosen: npt.NDArray[np.bool_]) -> float:
        """Return the share of q times k, pair by pair, that chosen pairs hold, bool (pairs,)."""
        weight = self.q * self.k
        return float(weight[chosen].sum() / weight.sum())


@dataclass(frozen=True, eq=False)
class PairChange:
    """What a scheme does to the pairs of a layer type.

    Attributes:
        slowdown: float64 (pairs,).
        kept: share of q times k in pairs that turn as they did, to a hundredth.
        unseen: share of q times k in pairs that turn less than once within the trained length and are slowed.
    """

    slowdown: Array
    kept: float
    unseen: float


def pair_changes_by_scheme(summary: PairSummary, length: int | None = None) -> dict[str, PairChange]:
    """Return what each way to a length does to the pairs, by scheme; four trained lengths by default."""
    rope = summary.rope.request.rope
    factor = max(1.0, (length or 4 * summary.rope.train_len) / summary.rope.train_len)
    changed = {}
    for name in WAYS:
        slowdown = spectrum(Request(rope, name, {"factor": factor}, seq_len=length)).slowdown
        kept = slowdown < 1.01
        changed[name] = PairChange(
            slowdown, summary.score_share(kept), summary.score_share(~kept & (summary.trained_turns < 1.0))
        )
    return changed


def pair_summaries(layers: list[LayerPairs]) -> dict[str | None, PairSummary]:
    """Return the pairs of each layer type, averaged over its layers and heads."""
    summary = {}
    for kind in dict.fromkeys(layer.rope.layer_type for layer in layers):
        here = [layer for layer in layers if layer.rope.layer_type == kind]
        rows = [np.concatenate([getattr(layer, part) for layer in here]) for part in "qk"]
        relative = [each / np.maximum(each.mean(1, keepdims=True), 1e-300) for each in rows]
        massive = sum((each >= MASSIVE).sum(0) for each in relative)
        with np.errstate(divide="ignore"):
            wavelength = 2.0 * np.pi / here[0].rope.unscaled
        q, k = (each.mean(0) for each in relative)
        summary[kind] = PairSummary(here[0].rope, wavelength, q, k, np.asarray(massive), sum(map(len, rows)))
    return summary


__all__ = [
    "MASSIVE",
    "LayerPairs",
    "PairChange",
    "PairSummary",
    "layer_pair_norms",
    "pair_changes_by_scheme",
    "pair_summaries",
    "projection_entries",
]
