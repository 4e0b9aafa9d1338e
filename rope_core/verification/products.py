"""Every product of queries and keys in a run, seen where torch computes it, with what the layer computed before."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rope_core.rope import Array

# Tensors of one layer that are kept until its q and k meet: more than any layer of transformers computes before.
MAX_KEPT = 400
TEMPERATURE = re.compile("Scaling|Temperature")
# What a norm's epsilon may add to the mean square of a head, as a fraction.
NORM_ROOM = 0.05


@dataclass(frozen=True, eq=False)
class QueryKeyProduct:
    """One product of queries and keys.

    Attributes:
        module: dotted name of the module that computes it.
        q, k: float64 (positions, heads, dim), as they are multiplied.
        v: float64 (positions, n), or None where it was not seen.
        inputs: what the layer computed before and what does not follow the position, at position 0, float64 (n,), the
            latest last: q and k before their rotation are in it.
        constants: plain numbers among the module's attributes, such as its softmax scale.
        labels: names among the module's attributes, such as its layer type.
        unit: unit round-off of the dtype in which q is held, or the module's weights, whichever is coarser.
        tempered: whether the module holds a learned temperature, by which q's length may follow the position.
    """

    module: str
    q: Array
    k: Array
    v: Array | None
    inputs: tuple[Array, ...]
    constants: tuple[float, ...]
    labels: tuple[str, ...]
    unit: float
    tempered: bool = False

    @property
    def layer(self) -> int | None:
        """The layer's index, None where the module's name holds no number."""
        return first_index_in_name(self.module)

    @property
    def moves(self) -> bool:
        """Whether q or k follows the position."""
        return max(max_row_difference(self.q), max_row_difference(self.k)) > equal_row_tolerance(self.unit)


class ObservationComplete(Exception):
    """Ends a run of which enough was seen."""


def product_recorder(position_axis: str, count: int, max_products: int | None = None) -> Any:
    """Return a torch function mode that keeps the products of q and k, and what came before each.

    With ``max_products``, ObservationComplete is raised after so many products whose q or k follows the position, and
    nothing else is kept.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    products = {torch.matmul, torch.Tensor.matmul, torch.Tensor.__matmul__, torch.bmm, torch.Tensor.bmm}

    class Watch(TorchFunctionMode):  # type: ignore[misc, no-any-unimported, unused-ignore]
        """Every torch function of the run passes here."""

        def __init__(self) -> None:
            super().__init__()
            self.products: list[QueryKeyProduct] = []
            self.kept: deque[Any] = deque(maxlen=MAX_KEPT if max_products is None else 0)
            self.modules: dict[str, Any] = {}
            self.stack: list[str] = []
            self.ran: set[str] = set()
            self.layer: int | None = None

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            given = kwargs or {}
            if func is torch.nn.functional.scaled_dot_product_attention:
                self.product(*(args[:3] if len(args) >= 3 else (given["query"], given["key"], given["value"])))
            elif func in products and len(args) == 2 and all(isinstance(each, torch.Tensor) for each in args):
                self.matmul(*args)
            elif func is torch.baddbmm:
                self.matmul(*args[1:3])
            result = func(*args, **given)
            if isinstance(result, torch.Tensor):
                self.keep(result, func)
            return result

        def matmul(self, left: Any, right: Any) -> None:
            if left.ndim < 3 or left.ndim != right.ndim:
                return
            if left.shape[-1] < 2:
                self.weighted(left, right)
                return
            # One key for each position; several queries beside each other are heads, as in DeepSeek's indexer.
            single = position_axis == "batch" and right.shape[-1] == 1
            if single or (position_axis == "sequence" and left.shape[-2] == right.shape[-1] == count):
                self.product(left, right.transpose(-1, -2), None)

        def product(self, q: Any, k: Any, v: Any) -> None:
            with torch._C.DisableTorchFunction():
                queries, keys = self.heads(q), self.heads(k)
                if position_axis == "batch" and k.shape[-2] != 1:
                    return
                if queries is None or keys is None or queries.shape[-1] != keys.shape[-1]:
                    return
                values = None if v is None else self.heads(v)
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
                        None if values is None else values.reshape(count, -1),
                        steady,
                        *attributes(self.modules.get(name)),
                        unit,
                        is_tempered(self.modules.get(name)),
                    )
                )
                if max_products is not None and sum(each.moves for each in self.products) >= max_products:
                    raise ObservationComplete

        def weighted(self, weights: Any, values: Any) -> None:
            """Take the values that the scores of this module's product weigh: one key, so one weight for each head."""
            last = self.products[-1] if self.products else None
            single = position_axis == "batch" and tuple(weights.shape[-2:]) == (1, 1) and values.shape[-2] == 1
            if last is not None and single and last.v is None and self.stack and last.module == self.stack[-1]:
                with torch._C.DisableTorchFunction():
                    heads = self.heads(values)
                    flat = None if heads is None else heads.reshape(count, -1)
                    self.products[-1] = replace(last, v=flat)

        def heads(self, tensor: Any) -> Array | None:
            """(positions, heads, dim) of a tensor (positions, heads, 1, dim) or (1, heads, positions, dim)."""
            if position_axis == "batch":
                fits = tensor.ndim >= 3 and tensor.shape[0] % count == 0
                return to_float64_array(tensor.reshape(count, -1, tensor.shape[-1])) if fits else None
            fits = tensor.ndim >= 3 and tensor.shape[-2] == count
            return to_float64_array(tensor.reshape(-1, count, tensor.shape[-1]).transpose(0, 1)) if fits else None

        def keep(self, tensor: Any, func: Any) -> None:
            with torch._C.DisableTorchFunction():
                if tensor.is_complex():
                    tensor = torch.view_as_real(tensor)
                elif tensor._is_view() and func is not torch.nn.functional.linear:
                    # Its values are in a tensor that was kept already; a linear layer with a bias hands on a view.
                    return
                shape, row = tensor.shape, 0 if position_axis == "batch" else 1
                if tensor.ndim <= row + 1 or not tensor.is_floating_point() or tensor.is_meta:
                    return
                if shape[row] != count or (row and shape[0] != 1):
                    return
                layer = first_index_in_name(self.stack[-1]) if self.stack else None
                if layer != self.layer:
                    self.kept.clear()
                    self.layer = layer
                self.kept.append(tensor.reshape(count, -1).clone())

        @contextmanager
        def follow(self, part: Any, prefix: str) -> Iterator[None]:
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

    return Watch()


def to_float64_array(tensor: Any) -> Array:
    """Return a copy of a tensor in float64."""
    return np.array(tensor.detach().cpu().double().numpy())


def equal_row_tolerance(rounding_unit: float) -> float:
    """Return what two rows of one computation may differ by, as a fraction of its largest value.

    A matrix product adds its terms in another order from row to row: 32 roundings of float32, or two units in the last
    place of a coarser dtype.
    """
    return max(32 * 2.0**-24, 4 * rounding_unit)


def max_row_difference(rows: Array) -> float:
    """Largest difference from the first row as a fraction of the largest value; inf where a value is no number."""
    largest = float(np.abs(rows).max(initial=0.0))
    if not np.isfinite(largest):
        return float("inf")
    return float(np.abs(rows - rows[:1]).max(initial=0.0)) / (largest or 1.0)


def attributes(module: Any) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Plain numbers and names among a module's own attributes."""
    values = list(vars(module).values()) if module is not None else []
    numbers = tuple(float(value) for value in values if isinstance(value, float) and value > 0)
    return numbers, tuple(value for value in values if isinstance(value, str))


def is_tempered(module: Any) -> bool:
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


def first_index_in_name(name: str) -> int | None:
    """Return the first number in a dotted name.

    >>> first_index_in_name("model.layers.3.self_attn"), first_index_in_name("attention")
    (3, None)
    """
    return next((int(part) for part in name.split(".") if part.isdigit()), None)
