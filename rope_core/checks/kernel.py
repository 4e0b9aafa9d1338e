"""A rotation function of one's own, tried on drawn inputs; the mistake that explains a wrong answer is named.

Three signatures are known by the names of their parameters: ``(q, k, cos, sin[, position_ids])`` as in transformers,
``(x, cos, sin)``, and ``(positions, query, key, head_size, cos_sin_cache[, is_neox])``, in place, as in vLLM.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rope_core.checks.case import Finding, Phrase, finding
from rope_core.checks.products import as_array
from rope_core.checks.turned import COARSE, SINGLE, in_lanes, tolerance
from rope_core.errors import reject
from rope_core.layout import HALF, INTERLEAVED
from rope_core.rope import Array
from rope_core.rotation import both_dims

FIELD, BASE, ROWS, SEED = "kernel", 10_000.0, 4096, 0
LAYOUTS, PAIRS = (HALF.name, INTERLEAVED.name), "pairs"
PAIR, SINGLE_TENSOR, CACHE = ("q", "k", "cos", "sin"), ("x", "cos", "sin"), ("query", "key", "cos_sin_cache")
Both = tuple[Array, Array]


@dataclass(frozen=True)
class Trial:
    """One drawn input: positions, dtype, width of a head and of what turns, heads of q and k, and how it is stored."""

    name: str
    positions: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    dtype: str = "float32"
    dim: int = 32
    width: int = 32
    heads: tuple[int, int] = (4, 2)
    strided: bool = False

    @property
    def theta(self) -> Array:
        """The frequencies, (width/2,) rad/token."""
        return np.asarray(BASE ** (-np.arange(0, self.width, 2) / self.width))


TRIALS = (
    Trial("plain"),
    Trial("one_token", (517,)),
    Trial("far", (0, 1, 1023, 4001, 4095)),
    Trial("out_of_order", (9, 3, 3, 700, 0, 12, 1)),
    Trial("grouped", heads=(8, 1)),
    Trial("partial", width=16),
    Trial("strided", strided=True),
    Trial("half_precision", dtype="float16"),
    Trial("brain_precision", dtype="bfloat16"),
)


@dataclass(frozen=True)
class Form:
    """What a function expects: its pairs' layout; tables with a column a pair, or two in a layout's order; by batch."""

    layout: str
    table: str
    batched: bool


def check_kernel(function: Callable[..., Any]) -> list[Finding]:
    """Return what is wrong with a rotation function: each mistake once, by the first trial that shows it.

    It is tried on one token and several, positions far and out of order, grouped heads, a part of a head, strided
    inputs, float16 and bfloat16. The layout and the shape of its tables are those with which the first trial is right.

    Args:
        function: gets torch tensors on the CPU: q and k (1, heads, tokens, dim), x (1, tokens, heads, dim), query and
            key (tokens, heads * dim); it returns them, or writes in place and returns None.

    Raises ValueError on another signature.

    >>> def still(q, k, cos, sin): return q, k
    >>> [each.title() for each in check_kernel(still)]
    ['The kernel leaves q and k unrotated: seven tokens in a row']
    """
    names = tuple(inspect.signature(function).parameters)
    if not any(set(known) <= set(names) for known in (PAIR, SINGLE_TENSOR, CACHE)):
        raise reject("function", "a function of q, k, cos, sin, of x, cos, sin or of query, key, cos_sin_cache", names)
    forms = [Form(*each) for each in product(LAYOUTS, (*LAYOUTS, PAIRS), (True, False))]
    answers = [(form, [*_tried(function, names, form, TRIALS[0])]) for form in forms]
    # What raises tells least about the function, an unexplained answer less than a named mistake.
    order = ("", "kernel_mistake", "kernel_differs", "kernel_not_finite", "kernel_shape", "kernel_raises")
    form = min(answers, key=lambda row: order.index(row[1][0].key if row[1] else ""))[0]
    once: dict[tuple[str, str], Finding] = {}
    for trial in TRIALS:
        for each in _tried(function, names, form, trial):
            once.setdefault((each.key, str(each.values.get("mistake"))), each)
    return list(once.values())


def _tried(function: Callable[..., Any], names: tuple[str, ...], form: Form, trial: Trial) -> Iterator[Finding]:
    """Yield what is wrong with the function's answer to one trial, if anything is."""
    what = Phrase(f"trial_{trial.name}")
    given = _drawn(trial)
    try:
        answer = _called(function, names, form, trial, given)
    except Exception as error:
        # Somebody's function: whatever it raises is told.
        yield finding("kernel_raises", FIELD, trial=what, error=f"{type(error).__name__}: {error}"[:200])
        return
    right = _turned(given, trial, form.layout)
    parts = [k for k in range(2) if answer[k].size]
    wrong = [k for k in parts if answer[k].shape != right[k].shape]
    if wrong:
        shapes = {"found": list(answer[wrong[0]].shape), "wanted": list(right[wrong[0]].shape)}
        yield finding("kernel_shape", FIELD, trial=what, **shapes)
        return
    if not all(np.all(np.isfinite(answer[k])) for k in parts):
        yield finding("kernel_not_finite", FIELD, trial=what)
        return
    unit = COARSE.get(trial.dtype, SINGLE)
    angles = tolerance(np.asarray(trial.positions, dtype=float), trial.theta, unit, 2 * unit).max(axis=1)

    def near(wanted: Both) -> bool:
        room = [angles[:, None, None] * 2 * np.abs(each).max() for each in given]
        return all(bool(np.all(np.abs(answer[k] - wanted[k]) <= room[k])) for k in parts)

    if near(right):
        return
    for mistake, wanted in _mistakes(given, right, trial, form.layout):
        if near(wanted):
            yield finding("kernel_mistake", FIELD, trial=what, mistake=Phrase(f"kernel_{mistake}"))
            return
    k = max(parts, key=lambda k: float(np.abs(answer[k] - right[k]).max()))
    apart = np.abs(answer[k] - right[k]).max(axis=2)
    token, head = np.unravel_index(int(apart.argmax()), apart.shape)
    share = 100 * float(apart.max() / np.abs(given[k]).max())
    place = {"token": int(token), "head": int(head), "position": trial.positions[token]}
    yield finding("kernel_differs", FIELD, trial=what, part="qk"[k], **place, apart=share)


def _drawn(trial: Trial) -> Both:
    """Return q and k, (tokens, heads, dim), as the trial's dtype holds them."""
    import torch

    random = torch.Generator().manual_seed(SEED)
    shapes = [(len(trial.positions), heads, trial.dim) for heads in trial.heads]
    dtype = getattr(torch, trial.dtype)
    q, k = (as_array(torch.randn(shape, generator=random).to(dtype)) for shape in shapes)
    return q, k


def _turned(
    given: Both, trial: Trial, layout: str, positions: Any = None, sign: float = 1.0, low: int = 0, theta: Any = None
) -> Both:
    """Return q and k rotated at positions, the lanes from ``low`` on, as many as there are frequencies for."""
    places = trial.positions if positions is None else positions
    angle = sign * np.outer(places, trial.theta if theta is None else theta)
    return in_lanes(given[0], angle, layout, low), in_lanes(given[1], angle, layout, low)


def _mistakes(given: Both, right: Both, trial: Trial, layout: str) -> Iterator[tuple[str, Both]]:
    """Yield what the usual mistakes would give, by name."""
    yield "still", given
    yield "k_still", (right[0], given[1])
    yield "q_still", (given[0], right[1])
    yield "backwards", _turned(given, trial, layout, sign=-1.0)
    yield "k_backwards", (right[0], _turned(given, trial, layout, sign=-1.0)[1])
    yield "other_layout", _turned(given, trial, next(name for name in LAYOUTS if name != layout))
    yield "twice", _turned(right, trial, layout)
    yield "by_place", _turned(given, trial, layout, np.arange(len(trial.positions)))
    yield "first_position", _turned(given, trial, layout, np.full(len(trial.positions), trial.positions[0]))
    yield "shifted", _turned(given, trial, layout, np.array(trial.positions) + 1)
    if trial.width < trial.dim:
        whole = BASE ** (-np.arange(0, trial.dim, 2) / trial.dim)
        yield "whole_head", _turned(given, trial, layout, theta=whole)
        yield "last_lanes", _turned(given, trial, layout, low=trial.dim - trial.width)


def _called(function: Callable[..., Any], names: tuple[str, ...], form: Form, trial: Trial, given: Both) -> Both:
    """Call the function as its parameters' names say; return q and k, (tokens, heads, dim), k empty with x alone."""
    import torch

    dtype = getattr(torch, trial.dtype)
    if set(CACHE) <= set(names):
        tables = np.outer(np.arange(ROWS), trial.theta)
        cache = torch.from_numpy(np.concatenate([np.cos(tables), np.sin(tables)], axis=1)).to(torch.float32)
        q, k = (_stored(torch.from_numpy(each.reshape(len(each), -1)).to(dtype), trial) for each in given)
        own = {"positions": torch.tensor(trial.positions), "query": q, "key": k, "head_size": trial.dim}
        own |= {"cos_sin_cache": cache}
        own |= dict.fromkeys(("is_neox", "is_neox_style"), form.layout == HALF.name)
        answer = function(**{name: own[name] for name in names if name in own})
        q, k = answer if answer is not None else (q, k)
        return tuple(as_array(x).reshape(each.shape) for x, each in zip((q, k), given, strict=True))  # type: ignore[return-value]
    rows = np.arange(ROWS) if "position_ids" in names else np.asarray(trial.positions)
    cos, sin = (_table(part(np.outer(rows, trial.theta)), form, dtype) for part in (np.cos, np.sin))
    if set(PAIR) <= set(names):
        q, k = (_stored(torch.from_numpy(each.transpose(1, 0, 2)[None].copy()).to(dtype), trial) for each in given)
        more = {"position_ids": torch.tensor([trial.positions])} if "position_ids" in names else {}
        answer = function(q, k, cos, sin, **more)
        q, k = answer if answer is not None else (q, k)
        return as_array(q[0]).transpose(1, 0, 2), as_array(k[0]).transpose(1, 0, 2)
    x = _stored(torch.from_numpy(given[0][None].copy()).to(dtype), trial)
    answer = function(x, cos, sin)
    return as_array((x if answer is None else answer)[0]), np.zeros(0)


def _table(values: Array, form: Form, dtype: Any) -> Any:
    """Return cos or sin, (rows, width/2), in a form and a dtype."""
    import torch

    table = torch.from_numpy(values if form.table == PAIRS else both_dims(values, form.table)).to(dtype)
    return table[None] if form.batched else table


def _stored(x: Any, trial: Trial) -> Any:
    """Return a tensor as it is, or with as much beside each row that must not be touched."""
    import torch

    if not trial.strided:
        return x.contiguous()
    room = torch.full((*x.shape[:-1], 2 * x.shape[-1]), float("nan"), dtype=x.dtype)
    room[..., : x.shape[-1]] = x
    return room[..., : x.shape[-1]]
