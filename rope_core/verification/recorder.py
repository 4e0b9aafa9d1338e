"""Watches a run of a model in torch for the products of its queries and keys."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from rope_core.rope import Array
from rope_core.verification.products import (
    QueryKeyProduct,
    equal_row_tolerance,
    first_index_in_name,
    max_row_difference,
    to_float64_array,
)

# Tensors of one layer that are kept until its q and k meet: more than any layer of transformers computes before.
MAX_KEPT = 400
TEMPERATURE = re.compile("Scaling|Temperature")
# What a norm's epsilon may add to the mean square of a head, as a fraction.
NORM_ROOM = 0.05
PRODUCTS = {torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.bmm, torch.Tensor.bmm}


class ObservationComplete(Exception):
    """Ends a run of which enough was seen."""


class QueryKeyRecorder(TorchFunctionMode):  # type: ignore[misc, no-any-unimported, unused-ignore]
    """A torch function mode that keeps the products of q and k, and what came before each.

    Every torch function of the run passes here, with the heads as the model shapes them; a dispatch mode would see
    the kernels below, where they are flattened. Within a call torch takes the mode itself out of the way.

    Args:
        position_axis: "batch" or "sequence", along which positions lie; ``count`` of them.
        max_products: ObservationComplete is raised after so many products whose q or k follows the position, and
            nothing else is kept; None for all.
    """

    def __init__(self, position_axis: str, count: int, max_products: int | None = None) -> None:
        super().__init__()
        self.position_axis, self.count, self.max_products = position_axis, count, max_products
        self.products: list[QueryKeyProduct] = []
        self.kept: deque[Any] = deque(maxlen=MAX_KEPT if self.max_products is None else 0)
        self.modules: dict[str, Any] = {}
        self.stack: list[str] = []
        self.ran: set[str] = set()
        self.layer: int | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        if func is torch.nn.functional.scaled_dot_product_attention:
            self.record_product(*(args[:3] if len(args) >= 3 else (given["query"], given["key"], given["value"])))
        elif func in PRODUCTS and len(args) == 2 and all(isinstance(each, torch.Tensor) for each in args):
            self.matmul(*args)
        elif func is torch.baddbmm:
            self.matmul(*args[1:3])
        result = func(*args, **given)
        if isinstance(result, torch.Tensor):
            self.keep_intermediate(result, func)
        return result

    def matmul(self, left: Any, right: Any) -> None:
        if left.ndim < 3 or left.ndim != right.ndim:
            return
        if left.shape[-1] < 2:
            self.record_values(left, right)
            return
        # One key for each position; several queries beside each other are heads, as in DeepSeek's indexer.
        single = self.position_axis == "batch" and right.shape[-1] == 1
        if single or (self.position_axis == "sequence" and left.shape[-2] == right.shape[-1] == self.count):
            self.record_product(left, right.transpose(-1, -2), None)

    def record_product(self, q: Any, k: Any, v: Any) -> None:
        queries, keys = self.heads_by_position(q), self.heads_by_position(k)
        if self.position_axis == "batch" and k.shape[-2] != 1:
            return
        if queries is None or keys is None or queries.shape[-1] != keys.shape[-1]:
            return
        values = None if v is None else self.heads_by_position(v)
        name = self.stack[-1] if self.stack else ""
        weight = next(iter(getattr(self.modules.get(name), "parameters", tuple)()), q)
        # A model in half precision may cast what it has rotated to float32 for the product.
        held = [each.dtype for each in (q, weight) if each.dtype in (torch.float16, torch.bfloat16)]
        unit = max(float(torch.finfo(dtype).eps) / 2 for dtype in (q.dtype, *held))
        kept = [values for values in map(to_float64_array, self.kept) if np.all(np.isfinite(values))]
        steady = tuple(values[0] for values in kept if max_row_difference(values) <= equal_row_tolerance(unit))
        self.products.append(
            QueryKeyProduct(
                name,
                before_norm(queries, kept, unit),
                before_norm(keys, kept, unit),
                None if values is None else values.reshape(self.count, -1),
                steady,
                *numbers_and_names(self.modules.get(name)),
                unit,
                is_query_scaled_by_position(self.modules.get(name)),
            )
        )
        if self.max_products is not None and sum(each.follows_position for each in self.products) >= self.max_products:
            raise ObservationComplete

    def record_values(self, weights: Any, values: Any) -> None:
        """Take the values that the scores of this module's product weigh: one key, so one weight for each head."""
        last = self.products[-1] if self.products else None
        single = self.position_axis == "batch" and tuple(weights.shape[-2:]) == (1, 1) and values.shape[-2] == 1
        if last is not None and single and last.v is None and self.stack and last.module == self.stack[-1]:
            heads = self.heads_by_position(values)
            flat = None if heads is None else heads.reshape(self.count, -1)
            self.products[-1] = replace(last, v=flat)

    def heads_by_position(self, tensor: Any) -> Array | None:
        """(positions, heads, dim) of a tensor (positions, heads, 1, dim) or (1, heads, positions, dim)."""
        if self.position_axis == "batch":
            fits = tensor.ndim >= 3 and tensor.shape[0] % self.count == 0
            return to_float64_array(tensor.reshape(self.count, -1, tensor.shape[-1])) if fits else None
        fits = tensor.ndim >= 3 and tensor.shape[-2] == self.count
        return to_float64_array(tensor.reshape(-1, self.count, tensor.shape[-1]).transpose(0, 1)) if fits else None

    def keep_intermediate(self, tensor: Any, func: Any) -> None:
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor)
        elif tensor._is_view() and func is not torch.nn.functional.linear:
            # Its values are in a tensor that was kept already; a linear layer with a bias hands on a view.
            return
        shape, row = tensor.shape, 0 if self.position_axis == "batch" else 1
        if tensor.ndim <= row + 1 or not tensor.is_floating_point() or tensor.is_meta:
            return
        if shape[row] != self.count or (row and shape[0] != 1):
            return
        layer = first_index_in_name(self.stack[-1]) if self.stack else None
        if layer != self.layer:
            self.kept.clear()
            self.layer = layer
        self.kept.append(tensor.reshape(self.count, -1).clone())

    @contextmanager
    def watch_modules(self, part: Any, prefix: str) -> Iterator[None]:
        """Watch while the modules of ``part`` run."""
        hooks = []
        for name, inner in part.named_modules():
            dotted = f"{prefix}.{name}".strip(".")
            self.modules[dotted] = inner

            def enter(_: Any, __: Any, dotted: str = dotted) -> None:
                self.stack.append(dotted)
                self.ran.add(dotted)

            def leave(_: Any, __: Any, ___: Any) -> None:
                self.stack.pop()

            hooks += [inner.register_forward_pre_hook(enter), inner.register_forward_hook(leave, always_call=True)]
        try:
            with self:
                yield
        finally:
            for hook in hooks:
                hook.remove()


def numbers_and_names(module: Any) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Plain numbers and names among a module's own attributes."""
    values = list(vars(module).values()) if module is not None else []
    numbers = tuple(float(value) for value in values if isinstance(value, float) and value > 0)
    return numbers, tuple(value for value in values if isinstance(value, str))


def is_query_scaled_by_position(module: Any) -> bool:
    """Whether a module of this one scales q by the position: Mistral Large 4's softmax scaling."""
    children = module.children() if module is not None else ()
    return any(TEMPERATURE.search(type(child).__name__) for child in children)


def before_norm(heads: Array, kept: list[Array], unit: float) -> Array:
    """Return the rotated vectors where a norm per head follows the rotation (Hunyuan's), else ``heads`` as they are.

    Such a norm brings each head to one length at every position and multiplies each lane by a weight that all heads
    share.
    """
    moving = float(np.abs(heads - heads[:1]).max()) > 0
    room, single, original = max(1e-3, 8 * unit), heads.shape[1] == 1, heads
    for values in reversed(kept) if moving else ():
        if values.shape[1] != heads[0].size or np.array_equal(values.reshape(heads.shape), heads):
            continue
        same = values.reshape(heads.shape)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lanes = heads / same
            lanes = lanes / lanes[..., :1]
            square = (same * same).sum(axis=-1)
            factors = (heads / lanes[:1, :1] * same).sum(axis=-1) / square
            lengths = np.abs(factors) * np.sqrt(square)
        if not np.all(np.isfinite(lanes)):
            continue
        # One factor for all heads is an attention factor; a single head shows a norm by its length, or by the weight.
        weight = np.abs(lanes[0, 0] / np.median(lanes[0, 0]) - 1)
        weighed = lanes.min() > 0 and np.median(weight) > room
        normed = single and (abs((heads[0] ** 2).mean() - 1) <= NORM_ROOM or weighed)
        if np.ptp(factors) <= max(1e-3, 4 * unit) * np.abs(factors).max() and not normed:
            continue
        level = np.all(np.ptp(lengths, axis=0) <= room * np.abs(lengths[0]))
        level = level and np.ptp(lengths) <= NORM_ROOM * lengths.max()
        if level and np.allclose(lanes, lanes[:1, :1], rtol=room):
            original = same
            if not single:
                break
    return original
