"""Write a request as the rope fields of a Llama config, as transformers 4 and 5 both read them."""

from __future__ import annotations

from typing import Any

from rope_core.errors import argument_error
from rope_core.hf.types import DEFAULT, DYNAMIC, LENGTH, LINEAR, LLAMA3, STATIC_NTK, TYPES, YARN
from rope_core.spectrum import Request

_BY_PARTS = "ntk_by_parts"
_WRITTEN = (*(TYPES[kind] for kind in (DEFAULT, LINEAR, DYNAMIC, YARN, LLAMA3)), STATIC_NTK, _BY_PARTS)


def llama_fields(request: Request) -> dict[str, Any]:
    """Return rope_theta, rope_scaling and max_position_embeddings under which transformers computes a request.

    Two schemes have no rope_type and are still exact: a static NTK is a larger rope_theta, and NTK-by-parts is
    llama3 with the two bounds of its ramp. The maximum is the request's length, except under a dynamic scheme, whose
    trained length it is.

    Raises ValueError on a scheme whose config needs more: LongRoPE and proportional.

    >>> from rope_core.rope import Rope
    >>> llama_fields(Request(Rope(32, 10_000.0, 256), "linear", {"factor": 8.0}, seq_len=2048))["rope_scaling"]
    {'rope_type': 'linear', 'factor': 8.0}
    """
    rope, scheme = request.rope, request.scheme
    if scheme not in _WRITTEN:
        raise argument_error("scheme", "one_of", scheme, names=_WRITTEN)
    # A bool is left out where it is transformers' default: versions before 4.56 do not know `truncate`.
    params: dict[str, Any] = {
        name: value for name, value in request.params.items() if value is not None and value is not True
    }
    base, kind = rope.base, {theirs: rope_type for rope_type, theirs in TYPES.items()}.get(scheme, DEFAULT)
    if scheme == STATIC_NTK:
        base *= params.pop("factor") ** (rope.dim / (rope.dim - 2))
    if scheme == _BY_PARTS:
        kind = LLAMA3
        params["low_freq_factor"], params["high_freq_factor"] = params.pop("beta_slow"), params.pop("beta_fast")
    if kind in (YARN, LLAMA3):
        params[LENGTH] = rope.train_len
    length = max(request.seq_len or rope.train_len, rope.train_len)
    return {
        "rope_theta": base,
        "rope_scaling": None if kind == DEFAULT else {"rope_type": kind, **params},
        "max_position_embeddings": rope.train_len if kind == DYNAMIC else length,
    }
