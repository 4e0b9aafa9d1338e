"""A Hugging Face config, v4 rope_scaling or v5 rope_parameters, as transformers 5.23 runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rope_core.errors import ArgumentError, ConfigError, reject, whole
from rope_core.hf.completion import Parameters
from rope_core.hf.families import CLASS, Origin
from rope_core.hf.geometry import head_dim, layout_of, longest, nope_layers, rotary_dim, turning
from rope_core.hf.normal import INDEXER, Model, part_names, resolve
from rope_core.hf.params import effective
from rope_core.hf.read import config_int, read_config
from rope_core.hf.scheme import (
    base_of,
    ignored,
    logit_scale,
    mrope_section,
    parameters,
    scheme_of,
    train_len,
)
from rope_core.rope import MAX_DIM, MAX_LEN, Array, Rope, frozen
from rope_core.schemes import Value
from rope_core.spectrum import Request, spectrum


@dataclass(frozen=True, eq=False)
class HfRope:
    """What the rotary embedding of one layer type does.

    Attributes:
        inv_freq: float64 (rotary_dim/2,), rad/token, at the requested length; zeros for layers that do not rotate.
        unscaled: float64 (rotary_dim/2,), rad/token, the same geometry without its scheme.
        attention_factor: multiplies cos and sin; logits get its square.
        logit_scale: multiplies the softmax scale besides (DeepSeek's m**2); 1.0 elsewhere.
        rotary_dim: dimensions of a head that turn, 2 * len(inv_freq).
        head_dim: width of a head; the rotary part's width where a head has one of its own (MLA).
        layout: how the projection weights pair dimensions, "interleaved" or "half".
        scheme: name in SCHEMES; params: its parameters as they take effect.
        rope_type: transformers' own name of the scheme.
        base: the base that counts.
        train_len: trained length in tokens that the scheme starts from.
        max_len: max_position_embeddings, tokens; None where nobody says.
        seq_len: the length in use, tokens; None for the one at load time.
        layer_type: which layers; None where all are alike.
        nope_layers: indices of layers that do not rotate, in the whole model.
        nope: whether this layer type does not rotate.
        mrope_section: pairs per axis of multimodal positions, or None.
        ignored: keys of the rope dict that nothing reads.
        provenance: Origin by name: "scheme", "base", "train_len", "max_len", "head_dim", "rotary_dim", "layout",
            "nope_layers", "attention_factor", "logit_scale" and each parameter's name.
        request: what rope_core.spectrum takes.
        model_type: of the text part; transformers' name, or None.
        start: the first dimension of a head that turns; the turning ones are start .. start + rotary_dim - 1.
        part: which rotation of the model, "" for its attention's; else one of parts(config).
        backwards: whether the model's code turns by -angle (nanochat), as rc.rotate does with -sin.
    """

    inv_freq: Array
    unscaled: Array
    attention_factor: float
    logit_scale: float
    rotary_dim: int
    head_dim: int
    layout: str
    scheme: str
    rope_type: str
    params: Mapping[str, Value]
    base: float
    train_len: int
    max_len: int | None
    seq_len: int | None
    layer_type: str | None
    nope_layers: tuple[int, ...]
    nope: bool
    mrope_section: tuple[int, ...] | None
    ignored: tuple[str, ...]
    provenance: Mapping[str, Origin]
    request: Request
    model_type: str | None
    start: int = 0
    backwards: bool = False
    part: str = ""

    @property
    def traps(self) -> tuple[str, ...]:
        """Keys of everything surprising in the provenance, sorted."""
        return tuple(sorted({trap for origin in self.provenance.values() for trap in origin.traps}))

    def with_offsets(self, alpha: npt.ArrayLike) -> HfRope:
        """Return the rope whose pairs turn exp(alpha) times as fast, as LeRoPE's do by a vector of the checkpoint.

        Args:
            alpha: the buffer ``rotary_emb.alpha`` of Mistral Large 4, (rotary_dim/2,).

        Raises:
            ValueError: on anything but one finite number for each pair.

        Source: MistralLarge4TextRotaryEmbedding.forward of transformers 5.23.
        """
        learned = np.asarray(alpha, dtype=np.float64)
        if learned.shape != self.inv_freq.shape or not np.all(np.isfinite(learned)):
            raise reject("alpha", "vector_length", alpha, pairs=self.inv_freq.size)
        return replace(self, inv_freq=frozen(self.inv_freq * np.exp(learned)))


def parts(config: object) -> list[str]:
    """Return the names of a model's other rotations by token position, for from_hf's ``part``; [] where it has none.

    "indexer" is the own rotation of a sparse attention's indexer; other names are fields of sub-configs.

    Raises ConfigError on what cannot be read.

    >>> parts({"model_type": "qwen2_5_omni"}), parts({"model_type": "llama"})
    (['talker_config'], [])
    """
    return part_names(read_config(config))


def layer_types(config: object) -> list[str]:
    """Return the names of the layer types whose rotation differs, in the config's order; [] where all are alike.

    Raises ConfigError on what cannot be read.

    >>> layer_types({"model_type": "gemma3_text"})
    ['sliding_attention', 'full_attention']
    >>> layer_types({"model_type": "llama"})
    []
    """
    return differing(resolve(read_config(config)))[1]


def from_hf(
    config: object, layer_type: str | None = None, seq_len: int | None = None, part: str | None = None
) -> HfRope:
    """Return what a config's rotary embedding does in transformers 5.23.

    Args:
        config: a dict, a path to config.json or its folder, or a transformers config object.
        layer_type: one of layer_types(config); None where all layers are alike.
        seq_len: length in use, tokens, for the schemes that follow it; None for the state at load time.
        part: one of parts(config) for another rotation of the model, such as "indexer"; None for its attention's.

    Raises:
        ConfigError: when the config cannot be read, transformers could not build it, its values lie outside the
            schemes' ranges, or its layer types differ and none is named.
        ValueError: on a seq_len that is no positive length.

    Source: https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/modeling_rope_utils.py

    >>> rope = from_hf({"model_type": "llama", "rope_theta": 500000.0, "head_dim": 128})
    >>> rope.base, rope.rotary_dim, rope.layout, rope.provenance["base"].source
    (500000.0, 128, 'half', 'top level')
    """
    model = resolve(read_config(config), part)
    layers, differ = differing(model)
    rope = build(model, pick(model, layers, differ, layer_type), layers, seq_len)
    return indexer(model, rope) if part == INDEXER else rope


def ropes_of(config: object, seq_len: int | None = None) -> dict[str | None, HfRope]:
    """Return from_hf's answer for each of layer_types(config); under the key None where all layers are alike.

    Raises as from_hf does.

    >>> [(kind, rope.base) for kind, rope in ropes_of({"model_type": "gemma3_text"}).items()]
    [('sliding_attention', 10000.0), ('full_attention', 1000000.0)]
    """
    model = resolve(read_config(config))
    layers, differ = differing(model)
    kinds: list[str | None] = [*differ] or [None]
    return {kind: build(model, pick(model, layers, differ, kind), layers, seq_len) for kind in kinds}


def indexer(model: Model, rope: HfRope) -> HfRope:
    """Return what the indexer of a sparse attention turns by: the attention's frequencies in a layout of its own.

    Source: models/deepseek_v32/modeling_deepseek_v32.py (halves) and models/glm_moe_dsa/modeling_glm_moe_dsa.py
    (neighbours) of transformers 5.23.
    """
    own = model.family["indexer"]
    name = "index_head_dim" if "indexer_head_dim" not in model.data else "indexer_head_dim"
    width, origin = model.get(name)
    head = rope.head_dim if width is None else config_int(origin.path, width, rope.rotary_dim, MAX_DIM)
    notes = {**rope.provenance, "head_dim": origin, "layout": Origin(CLASS, model.prefix + "model_type")}
    start = head - rope.rotary_dim if model.family.get("trailing") else 0
    return replace(rope, layout=own, head_dim=head, start=start, provenance=notes, part=INDEXER)


def differing(model: Model) -> tuple[list[Parameters], list[str]]:
    """Return the parameters per layer type, and the types' names where they do not all come to the same."""
    layers = effective(model)
    if not layers:
        raise ConfigError(model.prefix + "layer_types", "types_with_rope", model.layer_types())
    first = comparable(model, layers[0]) if len(layers) > 1 else None
    alike = all(comparable(model, own) == first for own in layers[1:])
    return layers, [] if alike else [own.layer_type or "" for own in layers]


def comparable(model: Model, own: Parameters) -> tuple[object, ...]:
    """Return what decides whether two layer types rotate alike."""
    values = {key: value for key, value in own.values.items() if key != "type"}
    return own.nope, repr(sorted(values.items())), head_dim(model, own, {}) if model.family.get("head_dims") else 0


def pick(model: Model, layers: list[Parameters], differ: list[str], layer_type: str | None) -> Parameters:
    """Return the layer type with that name, or the only one there is."""
    if layer_type is None:
        if differ:
            raise ConfigError("layer_type", "differing_types", layer_type, names=differ)
        return layers[0] if len(layers) == 1 else replace(layers[0])
    name = layer_type if isinstance(layer_type, str) else ""
    for own in layers:
        if own.layer_type == name:
            return own
    known = [own.layer_type for own in layers if own.layer_type] or list(dict.fromkeys(model.layer_types()))
    if name in known:
        return layers[0]
    if known:
        raise ConfigError("layer_type", "one_of", layer_type, names=known)
    raise ConfigError("layer_type", "no_layer_type", layer_type)


def build(model: Model, own: Parameters, layers: list[Parameters], seq_len: int | None) -> HfRope:
    """Compute one layer type."""
    if seq_len is not None:
        whole("seq_len", seq_len, 1, MAX_LEN)
    notes: dict[str, Origin] = {}
    head = head_dim(model, own, notes)
    max_len = longest(model, notes)
    skipped = nope_layers(model, layers, notes)
    layout = layout_of(model, notes)
    kind, base = scheme_of(own, notes), base_of(own, notes)
    if model.family.get("learned_offsets"):
        notes["offsets"] = Origin(CLASS, model.prefix + "model_type", ("learned_offsets",))
    width = rotary_dim(model, own, kind, head, notes)
    train = train_len(own, kind, max_len, notes)
    scheme, params = parameters(model, own, kind, width, max_len, train, seq_len, notes)
    try:
        width, exact = turning(width, base)
        request = Request(Rope(width, exact, train), scheme, params, seq_len)
        answer = spectrum(request)
    except ArgumentError as error:
        if error.argument in params:
            place = notes[error.argument].path if error.argument in notes else f"{own.path}.{error.argument}"
            raise ConfigError(place, error.rule, error.value) from None
        raise ConfigError.at(own.path, error) from None
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ConfigError(own.path, "finite_frequencies", dict(params)) from None
    inv_freq = frozen(answer.inv_freq * 0.0) if own.nope else answer.inv_freq
    origin = own.origins.get("attention_factor", Origin("derived", f"{own.path}.attention_factor"))
    notes["attention_factor"] = origin if params.get("attention_factor") is not None else Origin("derived", origin.path)
    return HfRope(
        inv_freq=inv_freq,
        unscaled=request.rope.theta,
        attention_factor=answer.attention_factor,
        logit_scale=logit_scale(model, own, kind, params, notes),
        rotary_dim=width,
        head_dim=head,
        layout=layout,
        scheme=scheme,
        rope_type=kind,
        params=request.params,  # type: ignore[arg-type]
        base=base,
        train_len=train,
        max_len=max_len,
        seq_len=request.seq_len,
        layer_type=own.layer_type,
        nope_layers=skipped,
        nope=own.nope,
        mrope_section=mrope_section(model, own, width),
        ignored=ignored(own, kind),
        provenance=notes,
        request=request,
        model_type=model.model_type,
        start=head - width if model.family.get("trailing") else 0,
        backwards=bool(model.family.get("backwards")),
    )


__all__ = ["HfRope", "from_hf", "layer_types", "parts"]
