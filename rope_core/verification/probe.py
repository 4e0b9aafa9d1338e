"""A rotary embedding by itself: its tables through the function of its own file, or vectors through the module."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rope_core.hf.ropes import HfRope
from rope_core.layout import INTERLEAVED
from rope_core.verification.observe import preserved_module_state
from rope_core.verification.products import QueryKeyProduct, to_float64_array

MOST = 8
NAMED = re.compile("rotary|rope", re.IGNORECASE)
HEADS = 2
SEED = 0


def is_rotary_module(module: Any) -> bool:
    """Return whether a module is a rotary embedding by its class's name."""
    return NAMED.search(type(module).__name__) is not None


def probe_rotary_modules(
    modules: Mapping[str, Any], rope: HfRope, positions: tuple[int, ...], raised: list[Exception]
) -> QueryKeyProduct | None:
    """Turn random q and k by the first rotary embedding, by name, that can be called; None where none can.

    What the attempts raised is appended to ``raised``.
    """
    for name, part in list(modules.items())[:MOST]:
        for attempt in (by_tables, rotate_module_product):
            try:
                with preserved_module_state(part):
                    return attempt(name, part, rope, positions)
            except Exception as error:
                # Somebody's module with a signature of its own: the next attempt, or no answer.
                raised.append(error)
    return None


def by_tables(name: str, part: Any, rope: HfRope, positions: tuple[int, ...]) -> QueryKeyProduct:
    """Rotate as transformers does: the module gives cos and sin (or e^{i angle}), a function beside it applies them."""
    import torch

    width, count = rope.rotary_dim, len(positions)
    random = torch.Generator().manual_seed(SEED)
    q, k = (torch.randn(1, HEADS, 1, width, generator=random).expand(1, HEADS, count, width) for _ in "qk")
    extra = (rope.layer_type,) if "layer_type" in inspect.signature(part.forward).parameters else ()
    with torch.no_grad():
        tables = part(torch.zeros(1, count, width), torch.tensor([positions]), *extra)
        apply = apply_rotary_function(part, rope)
        if isinstance(tables, tuple):
            cos, sin = tables
            turned = apply(q, k, cos.float(), sin.float())[:2]
        else:
            turned = tuple(x.transpose(1, 2) for x in apply(q.transpose(1, 2), k.transpose(1, 2), tables)[:2])
    return query_key_product(name, [x[0].transpose(0, 1) for x in turned], (q, k))


def apply_rotary_function(part: Any, rope: HfRope) -> Callable[..., Any]:
    """Return the function of the module's own file that applies cos and sin."""
    here = sys.modules[type(part).__module__]
    names = ["apply_rotary_pos_emb", "apply_rotary_emb"]
    if rope.layout == INTERLEAVED.name:
        names.insert(0, "apply_rotary_pos_emb_interleave")
    function: Callable[..., Any] = next(getattr(here, name) for name in names if hasattr(here, name))
    return function


def rotate_module_product(name: str, part: Any, rope: HfRope, positions: tuple[int, ...]) -> QueryKeyProduct:
    """Modules that rotate what they are given, (batch, seq, heads, dim), at the positions of its sequence."""
    import torch

    random = torch.Generator().manual_seed(SEED)
    q, k = (torch.randn(1, HEADS, 1, rope.rotary_dim, generator=random) for _ in "qk")
    turned = []
    for x in (q, k):
        given = x.transpose(1, 2).expand(1, positions[-1] + 1, HEADS, rope.rotary_dim).contiguous()
        with torch.no_grad():
            out = part(given)
        if out.shape != given.shape:
            raise ValueError(out.shape)
        turned.append(out[0, list(positions)])
    return query_key_product(name, turned, (q, k))


def query_key_product(name: str, turned: list[Any], given: tuple[Any, Any]) -> QueryKeyProduct:
    """Two turned tensors (positions, heads, dim), and what they were."""
    q, k = (to_float64_array(x) for x in turned)
    inputs = tuple(np.array(to_float64_array(x[0, :, 0]).reshape(-1)) for x in given)
    return QueryKeyProduct(name, q, k, None, inputs, (), (), 2.0**-24)
