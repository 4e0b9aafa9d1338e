"""Which dimension turns with dimension 0 in a torch module, found by running its own rotation past position 0."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from rope_core.hf.ropes import HfRope
from rope_core.layout import INTERLEAVED
from rope_core.rope import Array

POSITION = 1
TINY = 1e-4
MOST = 8
NAMED = re.compile("rotary|rope", re.IGNORECASE)


def partner(module: Any, rope: HfRope) -> int | None:
    """The dimension that shares a plane with dimension 0; None where the module's rotation cannot be called.

    Pair 0 turns fastest, one radian per token, so its plane shows at position 1 whatever the base. Two inputs share
    a plane when they reach the same outputs, which holds for code that reorders dimensions on the way as well.
    """
    named = [part for part in module.modules() if NAMED.search(type(part).__name__)]
    for part in named[:MOST]:
        for attempt in (by_tables, by_call):
            try:
                found = shared(attempt(part, rope))
            except Exception:
                # Somebody's module with a signature of its own: the next attempt, or no answer.
                continue
            if found is not None:
                return found
    return None


def shared(rotated: Array) -> int | None:
    """From the images of all unit vectors, (dim, dim), the input that meets input 0 in its outputs."""
    reached = np.abs(rotated) > TINY
    others = [j for j in range(1, len(rotated)) if np.any(reached[j] & reached[0])]
    return others[0] if len(others) == 1 and reached[0].sum() == 2 else None


def by_tables(part: Any, rope: HfRope) -> Array:
    """transformers: the module gives cos and sin (or e^{i angle}), a function beside it applies them."""
    import torch

    width = rope.rotary_dim
    basis = torch.eye(width)
    positions = torch.full((1, width), POSITION)
    names = inspect.signature(part.forward).parameters
    extra = (rope.layer_type,) if "layer_type" in names else ()
    with torch.no_grad():
        tables = part(torch.zeros(1, width, width), positions, *extra)
        apply = applier(part, rope)
        if isinstance(tables, tuple):
            cos, sin = tables
            if cos.shape[-1] < width:
                raise ValueError(cos.shape)
            q = basis.reshape(1, 1, width, width)
            out = apply(q, q.clone(), cos.float(), sin.float())[0]
        else:
            q = basis.reshape(1, width, 1, width)
            out = apply(q, q.clone(), tables)[0]
    return np.asarray(out.reshape(width, width).double().numpy())


def applier(part: Any, rope: HfRope) -> Callable[..., Any]:
    """The function of the module's own file that applies cos and sin."""
    here = sys.modules[type(part).__module__]
    names = ["apply_rotary_pos_emb", "apply_rotary_emb"]
    if rope.layout == INTERLEAVED.name:
        names.insert(0, "apply_rotary_pos_emb_interleave")
    found: Callable[..., Any] = next(getattr(here, name) for name in names if hasattr(here, name))
    return found


def by_call(part: Any, rope: HfRope) -> Array:
    """Modules that rotate what they are given, (batch, seq, heads, dim): unit vectors as heads, position 1 of two."""
    import torch

    width = rope.rotary_dim
    basis = torch.eye(width).reshape(1, 1, width, width).expand(1, POSITION + 1, width, width).contiguous()
    with torch.no_grad():
        out = part(basis)
    if out.shape != basis.shape:
        raise ValueError(out.shape)
    return np.asarray(out[0, POSITION].double().numpy())
