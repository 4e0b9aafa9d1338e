"""What the rotary embedding of one layer type does in transformers 5.24, each value with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error
from rope_core.hf.families import ValueOrigin
from rope_core.rope import Array, read_only_array
from rope_core.schemes import ParamValue
from rope_core.spectrum import Request


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
    params: Mapping[str, ParamValue]
    base: float
    train_len: int
    max_len: int | None
    seq_len: int | None
    layer_type: str | None
    nope_layers: tuple[int, ...]
    nope: bool
    mrope_section: tuple[int, ...] | None
    ignored: tuple[str, ...]
    provenance: Mapping[str, ValueOrigin]
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

        Source: MistralLarge4TextRotaryEmbedding.forward of transformers 5.24.
        """
        learned = np.asarray(alpha, dtype=np.float64)
        if learned.shape != self.inv_freq.shape or not np.all(np.isfinite(learned)):
            raise argument_error("alpha", "vector_length", alpha, pairs=self.inv_freq.size)
        return replace(self, inv_freq=read_only_array(self.inv_freq * np.exp(learned)))
