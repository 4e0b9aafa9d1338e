"""Every rotary module of the installed transformers beside from_hf: frequencies, attention factor, width and layout."""

import copy
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import rope_core as rc
from tests.support import rotary_modules as live
from tests.support.hf_live import in_use

# Rotations over something else than token positions, each with the reason; from_hf refuses or reads another part.
OTHER_AXES = {
    "EsmFold2RotaryEmbedding": "turns by the coordinates of atoms",
    "EfficientLoFTRRotaryEmbedding": "turns by rows and columns of a feature map",
    "MusicFlamingoRotaryEmbedding": "turns by time stamps in seconds",
}
# Fields that turn a rotation on whose class default is another encoding.
ON: dict[str, dict[str, Any]] = {
    "esm": {"position_embedding_type": "rotary"},
    "wav2vec2-conformer": {"position_embeddings_type": "rotary"},
    "wav2vec2-bert": {"position_embeddings_type": "rotary"},
    "seamless_m4t": {"position_embeddings_type": "rotary"},
    "granitemoehybrid": {"position_embedding_type": "rope"},
    "zamba2": {"use_mem_rope": True},
}


def text_subjects() -> list[live.Subject]:
    """Return the pairs of a module and a config class whose positions are tokens."""
    return [each for each in live.subjects() if not each.axial and each.module.__name__ not in OTHER_AXES]


def compare(subject: live.Subject, config: Any, seen: Counter[str]) -> None:
    """One config object, every layer type, against the module that its own class builds from it."""
    module = live.built(subject, config)
    if module is None:
        seen["not built by transformers"] += 1
        return
    given = config.to_dict() | {"model_type": config.model_type or "saprot"}
    kinds: list[str | None] = [*rc.layer_types(given)] or [None]
    for kind in kinds:
        try:
            rope = rc.from_hf(given, kind)
        except rc.ConfigError:
            # Refused by both: the module stands, and its model cannot turn a head with it.
            with pytest.raises((RuntimeError, KeyError)):
                head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
                live.turned(subject, config, module, kind, torch.ones(1, 2, len(live.POSITIONS), head))
            seen["refused by both"] += 1
            continue
        if rope.nope:
            assert not hasattr(module, f"{kind}_inv_freq"), subject.label
            continue
        held_by = kind or next(iter(dict.fromkeys(getattr(config, "layer_types", None) or [])), None)
        frequencies(subject, module, held_by, rope)
        try:
            live.tables(module, held_by)
        except (RuntimeError, TypeError):  # sections of a class default that do not fit its own heads
            assert hasattr(module, "mrope_section"), subject.label
            seen["frequencies agree, and the module cannot run"] += 1
            continue
        layout(subject, config, module, held_by, rope)
        seen["agree"] += 1


def frequencies(subject: live.Subject, module: Any, kind: str | None, rope: rc.HfRope) -> None:
    """inv_freq, its number and the attention factor."""
    held = live.buffers(module, kind)
    if subject.module.__name__.startswith("Ernie4_5_VL"):
        held = in_use(held, sum(module.mrope_section[:2]))
    assert held.shape == rope.inv_freq.shape, (subject.label, rope.rotary_dim, rope.provenance["rotary_dim"])
    np.testing.assert_allclose(rope.inv_freq, held, rtol=1e-5, atol=0, err_msg=subject.label)
    own = getattr(module, f"{kind}_attention_scaling", getattr(module, "attention_scaling", 1.0))
    assert rope.attention_factor == pytest.approx(float(own), rel=1e-6), subject.label


def layout(subject: live.Subject, config: Any, module: Any, kind: str | None, rope: rc.HfRope) -> None:
    """Scores of drawn q and k at several positions, turned by the model's own function and by rc.rotate."""
    rng = np.random.default_rng(7)
    length = len(live.POSITIONS)
    for width in (rope.head_dim, rope.rotary_dim):
        q, k = rng.standard_normal((2, 1, 3, length, width)).astype(np.float32)
        try:
            turned = [live.turned(subject, config, module, kind, torch.from_numpy(part)) for part in (q, k)]
        except (RuntimeError, ValueError):
            continue  # the function takes the rotating part alone
        theirs = [part.detach().numpy() for part in turned]
        if theirs[0].shape == q.shape:
            break
    else:
        raise AssertionError((subject.label, "no width that the model's own function turns"))
    # A module of the dynamic kind turns by the length that it reads, which may be past a class default of 33.
    length_read = max(live.POSITIONS) + 1 if rope.scheme == "dynamic" else rope.request.seq_len
    s = rc.spectrum(replace(rope.request, seq_len=length_read))
    cos, sin = (table * rope.attention_factor for table in rc.cos_sin(s, np.array(live.POSITIONS), dtype="float64"))
    mine = []
    for part in (q, k):
        x = np.ascontiguousarray(part.transpose(0, 2, 1, 3)).astype(np.float64)
        start = rope.start if width == rope.head_dim else 0
        turning = slice(start, start + rope.rotary_dim)
        x[..., turning] = rc.rotate(x[..., turning].copy(), cos, -sin if rope.backwards else sin, rope.layout)
        mine.append(x.transpose(0, 2, 1, 3))
    scores = [a @ b.swapaxes(-1, -2) for a, b in (theirs, mine)]
    np.testing.assert_allclose(scores[1], scores[0], atol=2e-3 * rope.attention_factor**2, err_msg=subject.label)


def test_every_text_rotary_module_agrees_at_its_class_defaults() -> None:
    seen: Counter[str] = Counter()
    for subject in text_subjects():
        compare(subject, subject.config(**ON.get(subject.config.model_type, {})), seen)
    assert seen["agree"] >= 218, seen


def test_a_base_counts_where_the_class_reads_it() -> None:
    """A `rope_theta` beside a class that has a field of its own for the base, or reads this one and no scaling."""
    seen: Counter[str] = Counter()
    for subject in text_subjects():
        model_type = subject.config.model_type
        if model_type in {"esm", "seamless_m4t", "wav2vec2-bert", "wav2vec2-conformer"}:
            given = {"rope_theta": 54321.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}} | ON[model_type]
            config = subject.config(**copy.deepcopy(given))
            module, rope = subject.module(config), rc.from_hf({"model_type": model_type} | given)
            frequencies(subject, module, None, rope)
            layout(subject, config, module, None, rope)
            seen["agree"] += 1
    assert seen == {"agree": 4}
