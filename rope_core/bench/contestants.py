"""Who is measured: our backends, other projects' functions where they are installed, and a visitor's own file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from rope_core.bench.cases import BenchmarkCase
from rope_core.errors import argument_error
from rope_core.kernels.backends import BACKENDS
from rope_core.kernels.entry import apply, bind
from rope_core.kernels.task import RotationSpec

TensorPair = tuple[Tensor, Tensor]
BASE = 10_000.0


@dataclass(frozen=True)
class RotationInputs:
    """One set of buffers: q and k (B, S, H, D) views, per-token tables (S, rotary_dim/2) float32, room for results.

    Attributes:
        extra: what a contestant's ``prepare`` made of the tables, outside the timing.
        start: the position of the tables' first row, with base BASE, for whoever makes tables of its own.
    """

    q: Tensor
    k: Tensor
    cos: Tensor
    sin: Tensor
    out: TensorPair
    extra: Any = None
    start: int = 0


@dataclass(frozen=True)
class Implementation:
    """One implementation.

    Attributes:
        name: as records call it.
        missing: case -> why it cannot take part, or None.
        call: (inputs, case) -> (q, k) turned, as (B, S, H, D).
        prepare: (inputs, case) -> tables in the form that ``call`` wants.
        raw_backward: (inputs, gradients, case) -> gradients, for backends without autograd of their own.
        overwrites: whether ``call`` writes into q and k whatever the case says.
    """

    name: str
    missing: Callable[[BenchmarkCase], str | None]
    call: Callable[[RotationInputs, BenchmarkCase], TensorPair]
    prepare: Callable[[RotationInputs, BenchmarkCase], Any] = lambda inputs, case: None
    raw_backward: Callable[[RotationInputs, TensorPair, BenchmarkCase], TensorPair] | None = None
    overwrites: bool = False


def _turn(inputs: RotationInputs, case: BenchmarkCase, back: bool = False) -> RotationSpec:
    return RotationSpec(inputs.cos, inputs.sin, None, 1.0, None, None, None, 0, case.layout == "half", back)


def direct_backend(name: str) -> Implementation:
    """Our backend called directly, into preallocated results."""
    backend = BACKENDS[name]

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> Any:
        return _turn(inputs, case), _turn(inputs, case, True)

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        out = (inputs.q, inputs.k) if case.inplace else inputs.out
        done = backend.run((inputs.q, inputs.k), inputs.extra[0], out)
        return done[0], done[1]

    def backward(inputs: RotationInputs, grads: TensorPair, case: BenchmarkCase) -> TensorPair:
        done = backend.run(grads, inputs.extra[1], inputs.out)
        return done[0], done[1]

    return Implementation(f"{name} (raw)", lambda case: backend.missing(case.device), call, prepare, backward)


def bound_numba_backend() -> Implementation:
    """Return the numba backend bound to its buffers once by ``kernels.bind``, as a decoding loop holds it."""
    backend = BACKENDS["numba"]

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> Any:
        out = None if case.inplace else inputs.out
        return bind(inputs.q, inputs.k, inputs.cos, inputs.sin, layout=case.layout, out=out, backend="numba")

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        done: TensorPair = inputs.extra(0)
        return done

    def missing(case: BenchmarkCase) -> str | None:
        return backend.missing(case.device) or ("it has no backward" if case.direction != "forward" else None)

    return Implementation("numba (bound)", missing, call, prepare)


def apply_with_backend(name: str) -> Implementation:
    """Our backend through apply(): into given results where none needs a gradient, else as a model calls it."""
    backend = BACKENDS[name]

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        plain = not inputs.q.requires_grad and not case.inplace
        return apply(
            inputs.q,
            inputs.k,
            inputs.cos,
            inputs.sin,
            layout=case.layout,
            inplace=case.inplace,
            backend=name,
            out=inputs.out if plain else None,
        )

    return Implementation(name, lambda case: backend.missing(case.device), call)


def full_width_cos_sin(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
    """Return cos and sin as (1, S, rotary_dim) in the tensors' type, both halves alike, as transformers holds them."""
    tables = (torch.cat([t, t], -1)[None].to(inputs.q.dtype) for t in (inputs.cos, inputs.sin))
    cos, sin = tables
    return cos, sin


def _half_only(case: BenchmarkCase) -> str | None:
    if case.layout != "half":
        return "it knows the half layout only"
    if case.rotary_dim != case.dim:
        return "it turns whole heads only"
    if case.inplace:
        return "it does not write in place"
    return None


def _installed(module: str) -> str | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        spec = None
    return None if spec else f"{module.split('.')[0]} is not installed"


def transformers_rotation() -> Callable[..., Any]:
    """Return transformers' apply_rotary_pos_emb for LLaMA."""
    module = importlib.import_module("transformers.models.llama.modeling_llama")
    function: Callable[..., Any] = module.apply_rotary_pos_emb
    return function


def _heads_first(function: Callable[..., Any]) -> Callable[[RotationInputs, BenchmarkCase], TensorPair]:
    """Wrap a function of (B, H, S, D) tensors."""

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        cos, sin = inputs.extra
        q, k = function(inputs.q.transpose(1, 2), inputs.k.transpose(1, 2), cos, sin)
        return q.transpose(1, 2), k.transpose(1, 2)

    return call


def _transformers_eager() -> Implementation:
    """Return transformers' own function, as every model there calls it."""

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        return _heads_first(transformers_rotation())(inputs, case)

    return Implementation(
        "transformers", lambda case: _half_only(case) or _installed("transformers"), call, full_width_cos_sin
    )


def _transformers_compiled() -> Implementation:
    """Return the same through torch.compile."""
    compiled: list[Callable[..., Any]] = []

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        if not compiled:
            compiled.append(torch.compile(transformers_rotation(), fullgraph=True))
        return _heads_first(compiled[0])(inputs, case)

    def missing(case: BenchmarkCase) -> str | None:
        return _half_only(case) or _installed("transformers") or BACKENDS["compiled"].missing(case.device)

    return Implementation("transformers compiled", missing, call, full_width_cos_sin)


def _gpu_only(case: BenchmarkCase, module: str) -> str | None:
    return "it runs on a GPU only" if case.device != "cuda" else _installed(module)


def liger() -> Implementation:
    """Liger-Kernel's Triton rotation; overwrites its inputs or copies them, as their strides have it."""

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        module = importlib.import_module("liger_kernel.transformers.rope")
        return _heads_first(module.liger_rotary_pos_emb)(inputs, case)

    def missing(case: BenchmarkCase) -> str | None:
        return _half_only(case) or _gpu_only(case, "liger_kernel")

    return Implementation("Liger", missing, call, full_width_cos_sin, overwrites=True)


def _each(function: Callable[[Tensor], Tensor], inputs: RotationInputs) -> TensorPair:
    return function(inputs.q), function(inputs.k)


def fla() -> Implementation:
    """flash-linear-attention's Triton rotation; its tables have the tensors' type."""

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        return inputs.cos.to(inputs.q.dtype), inputs.sin.to(inputs.q.dtype)

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        rotary = importlib.import_module("fla.modules.rotary").rotary_embedding
        cos, sin = inputs.extra
        turned = _not_half(case)
        return _each(lambda x: rotary(x, cos, sin, interleaved=turned, inplace=case.inplace), inputs)

    return Implementation("FLA", lambda case: _gpu_only(case, "fla"), call, prepare)


def _not_half(case: BenchmarkCase) -> bool:
    """Say whether a case has the interleaved layout."""
    return case.layout == "interleaved"


def _flash_attention() -> Implementation:
    """flash-attention's Triton rotation, float32 tables."""

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        rotary = importlib.import_module("flash_attn.layers.rotary").apply_rotary_emb
        return _each(
            lambda x: rotary(x, inputs.cos, inputs.sin, interleaved=_not_half(case), inplace=case.inplace), inputs
        )

    return Implementation("flash-attention", lambda case: _gpu_only(case, "flash_attn"), call)


def _tokens(case: BenchmarkCase, device: torch.device) -> Tensor:
    """Return each token's position, int32 (batch * seq,), the first one 0."""
    return torch.arange(case.seq, device=device, dtype=torch.int32).repeat(case.batch)


def flashinfer() -> Implementation:
    """flashinfer's CUDA rotation with a float32 cache; inference only."""

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> Any:
        cache = torch.cat([inputs.cos, inputs.sin], -1).contiguous()
        return cache, _tokens(case, inputs.q.device)

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        module = importlib.import_module("flashinfer.rope")
        cache, positions = inputs.extra
        flat = [x.flatten(0, 1).flatten(-2) for x in (inputs.q, inputs.k)]
        function = (
            module.apply_rope_with_cos_sin_cache_inplace if case.inplace else module.apply_rope_with_cos_sin_cache
        )
        done = function(positions, *flat, case.dim, cache, is_neox=case.layout == "half")
        q, k = (inputs.q, inputs.k) if case.inplace else done
        return q.view(inputs.q.shape), k.view(inputs.k.shape)

    def missing(case: BenchmarkCase) -> str | None:
        if case.direction != "forward":
            return "it has no backward"
        if case.memory != "bshd":
            return "it takes (tokens, heads * dim) in one piece only"
        return _gpu_only(case, "flashinfer")

    return Implementation("flashinfer", missing, call, prepare)


def sglang() -> Implementation:
    """SGLang's CUDA rotation, compiled at its first call, with a float32 cache; inference only, in place only.

    Source: apply_rope_inplace in python/sglang/jit_kernel/rope.py of sgl-project/sglang.
    """

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> Any:
        return torch.cat([inputs.cos, inputs.sin], -1).contiguous(), _tokens(case, inputs.q.device)

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        cache, positions = inputs.extra
        q, k = (x.flatten(0, 1) for x in (inputs.q, inputs.k))
        function = importlib.import_module("sglang.jit_kernel.rope").apply_rope_inplace
        function(q, k, cache, positions, is_neox=case.layout == "half", rope_dim=case.rotary_dim)
        return inputs.q, inputs.k

    def missing(case: BenchmarkCase) -> str | None:
        if case.direction != "forward":
            return "it has no backward"
        if not case.inplace:
            return "it writes in place only"
        if case.memory != "bshd":
            return "it takes (tokens, heads, dim) in one piece only"
        return _gpu_only(case, "sglang")

    return Implementation("SGLang", missing, call, prepare, overwrites=True)


def tileops() -> Implementation:
    """TileOPs' rotation in TileLang; it makes its own tables, of positions from 0 and in the tensors' type.

    Source: RoPENeoxPositionIdsFwdOp in tileops/ops/rope.py of tile-ai/TileOPs.
    """

    def prepare(inputs: RotationInputs, case: BenchmarkCase) -> Any:
        op = importlib.import_module("tileops.ops.rope").RoPENeoxPositionIdsFwdOp
        return op(inputs.start + case.seq, BASE, case.rotary_dim), _tokens(case, inputs.q.device) + inputs.start

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        op, positions = inputs.extra
        return _each(lambda x: op(x.flatten(0, 1), positions).view(x.shape), inputs)

    def missing(case: BenchmarkCase) -> str | None:
        if case.direction != "forward":
            return "it has no backward"
        if case.layout != "half":
            return "it knows the half layout only"
        if case.inplace:
            return "it does not write in place"
        if case.memory != "bshd":
            return "it takes (tokens, heads, dim) in one piece only"
        return _gpu_only(case, "tileops")

    return Implementation("TileOPs", missing, call, prepare)


def all_implementations() -> list[Implementation]:
    """Return everybody: our backends first, then the peers."""
    ours = [
        direct_backend("numba"),
        bound_numba_backend(),
        direct_backend("triton"),
        *(apply_with_backend(name) for name in ("numba", "triton", "compiled", "complex", "eager")),
    ]
    peers = [
        _transformers_eager(),
        _transformers_compiled(),
        liger(),
        fla(),
        _flash_attention(),
        flashinfer(),
        sglang(),
        tileops(),
    ]
    return ours + peers


def implementation_from_file(target: str) -> Implementation:
    """Load ``file.py:function`` of apply's signature, f(q, k, cos, sin, *, layout) -> (q, k); it runs that file.

    Raises ValueError when there is no such file or function.
    """
    path, separator, name = target.rpartition(":")
    file = Path(path)
    if not separator or not name.isidentifier():
        raise argument_error("kernel", "file_function", target)
    if not file.is_file():
        raise argument_error("kernel", "existing_file_function", target)
    spec = importlib.util.spec_from_file_location(f"visitor_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise argument_error("kernel", "file_function", target)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise argument_error("kernel", "loading_file", f"{target}: {error!r}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise argument_error("kernel", "function_in", name, file=file.name)

    def call(inputs: RotationInputs, case: BenchmarkCase) -> TensorPair:
        options = {"inplace": True} if case.inplace else {}
        done = function(inputs.q, inputs.k, inputs.cos, inputs.sin, layout=case.layout, **options)
        return done[0], done[1]

    return Implementation(f"{file.name}:{name}", lambda case: None, call)
