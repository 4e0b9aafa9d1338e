"""A rotation function of one's own, tried on drawn inputs; the mistake that explains a wrong answer is named.

A signature is known by its parameters' names (``SIGNATURES``): q and k, or x, with cos and sin as in transformers, with
``freqs_cis`` as in Meta's Llama, with positions where the function makes its own tables, alone where it counts them as
well, or, in place, with a ``cos_sin_cache`` as in vLLM.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.hf.resolve import ropes_of
from rope_core.hf.ropes import HfRope
from rope_core.layout import HALF, INTERLEAVED
from rope_core.rope import Array
from rope_core.rotation import repeat_per_pair
from rope_core.verification.mistakes import rotations_by_mistake
from rope_core.verification.products import to_float64_array
from rope_core.verification.turned import COARSE, SINGLE, rotate_lanes, rotation_sign, rotation_tolerance

FIELD, BASE, ROWS, SEED = "kernel", 10_000.0, 4096, 0
LAYOUTS, PAIRS = (HALF.name, INTERLEAVED.name), "pairs"
TOKENS_FIRST, HEADS_FIRST = "tokens_first", "heads_first"
# What a parameter is, by its names.
ROLES = {
    "q": ("q", "xq", "query", "query_states", "queries"),
    "k": ("k", "xk", "key", "key_states", "keys"),
    "x": ("x", "t", "tensor", "hidden_states", "x_in", "inputs"),
    "cos": ("cos",),
    "sin": ("sin",),
    "freqs_cis": ("freqs_cis", "freqs_complex", "freqs"),
    "positions": ("positions", "position_ids", "pos", "position", "input_pos", "token_positions"),
    "cos_sin_cache": ("cos_sin_cache",),
    "head_size": ("head_size",),
    "is_neox": ("is_neox", "is_neox_style"),
}
ROLE_OF = {name: role for role, names in ROLES.items() for name in names}
SIGNATURES = (
    "(q, k, cos, sin[, position_ids])",
    "(x, cos, sin)",
    "(xq, xk, freqs_cis)",
    "(x, freqs_cis)",
    "(q, k, positions)",
    "(x, positions)",
    "(x)",
    "(positions, query, key, head_size, cos_sin_cache[, is_neox])",
)
KNOWN = [{ROLE_OF[name] for name in row.translate(str.maketrans("()[],", "     ")).split()} for row in SIGNATURES]
OPTIONAL = {"positions", "is_neox", "head_size"}
QueryKey = tuple[Array, Array]


@dataclass(frozen=True)
class KernelTrial:
    """One drawn input: positions, dtype, width of a head and of what turns, heads of q and k, and how it is stored."""

    name: str
    positions: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6)
    dtype: str = "float32"
    heads: tuple[int, int] = (4, 2)
    strided: bool = False
    dim: int = 32
    theta: tuple[float, ...] = ()
    sign: int = 1
    others: Mapping[str, Array] = field(default_factory=dict)

    @property
    def frequencies(self) -> Array:
        """The frequencies, (width/2,) rad/token."""
        return np.asarray(self.theta)

    @property
    def width(self) -> int:
        """Dimensions of a head that turn."""
        return 2 * len(self.theta)


TRIALS = (
    KernelTrial("plain"),
    KernelTrial("one_token", (517,)),
    KernelTrial("far", (0, 1, 1023, 4001, 4095)),
    KernelTrial("out_of_order", (9, 3, 3, 700, 0, 12, 1)),
    KernelTrial("grouped", heads=(8, 1)),
    KernelTrial("strided", strided=True),
    KernelTrial("half_precision", dtype="float16"),
    KernelTrial("brain_precision", dtype="bfloat16"),
)


@dataclass(frozen=True)
class CallConvention:
    """What a function expects.

    Attributes:
        layout: which dimensions it pairs.
        table: its tables' columns, a pair each or two in a layout's order; which axis of x comes first without tables.
        batched: whether tables or positions have an axis for the batch.
        indexed: whether it takes rows of the tables by position itself.
    """

    layout: str
    table: str
    batched: bool
    indexed: bool = False


class KernelFindings(list[Finding]):
    """Findings of ``check_kernel``, and ``assumed``: a note on the layout and tables with which it was called."""

    def __init__(self, findings: Iterable[Finding], assumed: Finding) -> None:
        super().__init__(findings)
        self.assumed = assumed


def check_kernel(function: Callable[..., Any], config: object = None, part: int | None = None) -> KernelFindings:
    """Return what is wrong with a rotation function: each mistake once, by the first trial that shows it.

    It is tried on one token and several, positions far and out of order, grouped heads, strided inputs, float16 and
    bfloat16; where ``part`` or the config says so, on heads of which a part turns. Layout and shape of the tables are
    those with which the first trial is right; the config's layout where one is given.

    Args:
        function: gets torch tensors on the CPU: q and k (1, heads, tokens, dim), x, xq and xk (1, tokens, heads, dim),
            query and key (tokens, heads * dim); it returns them, or writes in place and returns None.
        config: the model's, for layout, width, frequencies and sign; base 10,000 and 32 dimensions without one.
        part: how many of 32 dimensions turn, without a config.

    Raises ValueError on another signature, ConfigError on a config that cannot be read.

    >>> def still(q, k, cos, sin): return q, k
    >>> [each.title() for each in check_kernel(still)]
    ['The kernel leaves q and k unrotated: seven tokens in a row']
    """
    roles = _roles(function)
    rope = None if config is None else _rope(config)
    trials = [replace(each, **_shape(rope, part)) for each in TRIALS]
    if "x" in roles and not roles & {"cos", "freqs_cis", "positions"}:
        trials = [each for each in trials if each.positions == tuple(range(len(each.positions)))]
    layouts = LAYOUTS if rope is None else (rope.layout,)
    if "cos" in roles:
        tables: tuple[str, ...] = (*LAYOUTS, PAIRS)
    else:
        tables = (TOKENS_FIRST, HEADS_FIRST) if "cos_sin_cache" not in roles and "freqs_cis" not in roles else (PAIRS,)
    indexed = (True, False) if {"cos", "positions"} <= roles else (False,)
    forms = [CallConvention(*each) for each in product(layouts, tables, (True, False), indexed)]
    answers = [(form, [*_tried(function, form, trials[0])]) for form in forms]
    form = min(answers, key=lambda row: _doubt(row[1]))[0]
    once: dict[tuple[str, str], Finding] = {}
    if form.table in LAYOUTS:
        # A function that takes a column a pair as well, and repeats it in the wrong order.
        pairs = dict(answers)[replace(form, table=PAIRS)]
        mixed = [each for each in pairs if _mistake(each) == "kernel_table_order"]
        once |= {(each.key, str(each.values["mistake"])): each for each in mixed}
    for trial in trials:
        for each in _tried(function, form, trial):
            once.setdefault((each.key, str(each.values.get("mistake"))), each)
    source, advice = ("of_itself", "give_config") if rope is None else ("of_config", "has_config")
    words = {"layout_source": FindingPhrase(f"kernel_{source}"), "next": FindingPhrase(f"kernel_{advice}")}
    shape = {"table": FindingPhrase(f"kernel_table_{form.table}"), "dim": trials[0].dim, "width": trials[0].width}
    return KernelFindings(once.values(), make_finding("kernel_assumed", FIELD, layout=form.layout, **words, **shape))


def _mistake(each: Finding) -> str:
    """Return the key of the mistake that a finding names, "" for none."""
    return str(getattr(each.values.get("mistake"), "key", ""))


def _doubt(answer: list[Finding]) -> int:
    """Return how little an answer tells of a function: least where it raises, more by a mistake than by none."""
    order = ("", "kernel_mistake", "kernel_table_order", "kernel_differs", "kernel_not_finite", "kernel_shape")
    key = answer[0].key if answer else ""
    # Tables in a wrong order are a mistake of the trial's own form, where another form gives another mistake.
    key = "kernel_table_order" if answer and _mistake(answer[0]) == "kernel_table_order" else key
    return order.index(key) if key in order else len(order)


def _roles(function: Callable[..., Any]) -> set[str]:
    """Return what the function's parameters are. Raises ValueError on a signature that is not known."""
    parameters = inspect.signature(getattr(function, "forward", function)).parameters.values()
    wanted = [each for each in parameters if each.default is each.empty or each.name in ROLE_OF]
    wanted = [each for each in wanted if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    roles = {ROLE_OF.get(each.name, each.name) for each in wanted}
    needed = {ROLE_OF.get(each.name, each.name) for each in wanted if each.default is each.empty}
    if not any(needed <= known and known - OPTIONAL <= roles and roles <= known for known in KNOWN):
        names = tuple(each.name for each in parameters)
        raise argument_error("function", f"a function of one of {', '.join(SIGNATURES)}", names)
    return roles


def _rope(config: object) -> HfRope:
    """Return the rotation of a config's first layers that turn."""
    ropes = [*ropes_of(config).values()]
    return next((rope for rope in ropes if not rope.nope and np.any(rope.inv_freq)), ropes[0])


def _shape(rope: HfRope | None, part: int | None) -> dict[str, Any]:
    """Return width of a head, frequencies and sign of the trials."""
    if rope is not None:
        others = dict[str, Array]()
        if not np.array_equal(rope.unscaled, rope.inv_freq):
            others = {"unscaled": rope.unscaled, "scaled_twice": rope.inv_freq**2 / rope.unscaled}
        return {
            "dim": rope.head_dim,
            "theta": tuple(rope.inv_freq.tolist()),
            "sign": rotation_sign(rope),
            "others": others,
        }
    width = 32 if part is None else part
    if not 2 <= width <= 32 or width % 2:
        raise argument_error("part", "an even number of dimensions from 2 to 32", part)
    return {"theta": tuple((BASE ** (-np.arange(0, width, 2) / width)).tolist())}


def _tried(function: Callable[..., Any], form: CallConvention, trial: KernelTrial) -> Iterator[Finding]:
    """Yield what is wrong with the function's answer to one trial, if anything is."""
    what = FindingPhrase(f"trial_{trial.name}")
    given = _drawn(trial)
    try:
        answer = _called(function, form, trial, given)
    except (Exception, SystemExit) as error:
        # Somebody's function: whatever it raises is told.
        yield make_finding("kernel_raises", FIELD, trial=what, error=f"{type(error).__name__}: {error}"[:200])
        return
    angle = trial.sign * np.outer(trial.positions, trial.frequencies)
    right = tuple(rotate_lanes(each, angle, form.layout) for each in given)
    parts = [k for k in range(2) if answer[k].size]
    wrong = [k for k in parts if answer[k].shape != right[k].shape]
    if wrong:
        shapes = {"found": list(answer[wrong[0]].shape), "wanted": list(right[wrong[0]].shape)}
        yield make_finding("kernel_shape", FIELD, trial=what, **shapes)
        return
    if not all(np.all(np.isfinite(answer[k])) for k in parts):
        yield make_finding("kernel_not_finite", FIELD, trial=what)
        return
    unit = COARSE.get(trial.dtype, SINGLE)
    angles = rotation_tolerance(np.asarray(trial.positions, dtype=float), trial.frequencies, unit, 2 * unit).max(axis=1)
    rooms = [angles[:, None, None] * 2 * np.abs(each).max() for each in given]

    def near(k: int, wanted: Array) -> bool:
        return bool(np.all(np.abs(answer[k] - wanted) <= rooms[k]))

    off = [k for k in parts if not near(k, right[k])]
    if not off:
        return
    # One mistake that explains all that is off: of q and k both, or of one of them.
    rows = [
        rotations_by_mistake(given[k], trial.positions, trial.frequencies, form.layout, trial.sign, trial.others)
        for k in off
    ]
    for row in zip(*rows, strict=True):
        if all(near(k, wanted) for k, (_, wanted) in zip(off, row, strict=True)):
            part = "qk"[off[0]] if len(off) < len(parts) else "both" if len(parts) > 1 else "x"
            mistake = FindingPhrase(f"kernel_{row[0][0]}", {"part": FindingPhrase(f"kernel_part_{part}")})
            yield make_finding("kernel_mistake", FIELD, trial=what, mistake=mistake)
            return
    k = max(parts, key=lambda k: float(np.abs(answer[k] - right[k]).max()))
    apart = np.abs(answer[k] - right[k]).max(axis=2)
    token, head = np.unravel_index(int(apart.argmax()), apart.shape)
    share = 100 * float(apart.max() / np.abs(given[k]).max())
    place = {"token": int(token), "head": int(head), "position": trial.positions[token]}
    yield make_finding("kernel_differs", FIELD, trial=what, part="qk"[k], **place, apart=share)


def _drawn(trial: KernelTrial) -> QueryKey:
    """Return q and k, (tokens, heads, dim), as the trial's dtype holds them."""
    import torch

    random = torch.Generator().manual_seed(SEED)
    shapes = [(len(trial.positions), heads, trial.dim) for heads in trial.heads]
    dtype = getattr(torch, trial.dtype)
    q, k = (to_float64_array(torch.randn(shape, generator=random).to(dtype)) for shape in shapes)
    return q, k


def _called(function: Callable[..., Any], form: CallConvention, trial: KernelTrial, given: QueryKey) -> QueryKey:
    """Call the function as its parameters' names say; return q and k, (tokens, heads, dim), k empty with x alone."""
    import torch

    dtype = getattr(torch, trial.dtype)
    parameters = inspect.signature(getattr(function, "forward", function)).parameters
    names = {ROLE_OF[name]: name for name in parameters if name in ROLE_OF}
    flat = "cos_sin_cache" in names
    heads_first = form.table == HEADS_FIRST or ("q" in names and "cos" in names)
    tensors = []
    for each in given if "q" in names else given[:1]:
        x = torch.from_numpy(each.copy()).to(dtype)
        x = x.flatten(1) if flat else (x.transpose(0, 1) if heads_first else x)[None]
        tensors.append(_stored(x, trial))
    rows = np.arange(ROWS) if form.indexed or flat else np.asarray(trial.positions)
    angle = np.outer(rows, trial.frequencies)
    where = torch.tensor(trial.positions)
    values: dict[str, Any] = dict(zip("qk" if "q" in names else "x", tensors, strict=True))
    values |= {"head_size": trial.dim, "is_neox": form.layout == HALF.name}
    values |= {"positions": where[None] if (form.batched or "cos" in names) and not flat else where}
    if "cos" in names and not form.indexed:
        names.pop("positions", None)
    if "cos" in names:
        values |= {part: _table(getattr(np, part)(angle), form, dtype) for part in ("cos", "sin")}
    values["freqs_cis"] = torch.from_numpy(np.exp(1j * angle)).to(torch.complex64)
    values["cos_sin_cache"] = torch.from_numpy(np.concatenate([np.cos(angle), np.sin(angle)], axis=1)).float()
    answer = function(**{name: values[role] for role, name in names.items()})
    turned = tensors if answer is None else list(answer[:2]) if "q" in names else [answer]
    arrays = []
    for x, each in zip(turned, given, strict=False):
        array = to_float64_array(x)
        if flat:
            array = array.reshape(each.shape)
        elif array.ndim == 4 and array.shape[0] == 1:
            array = array[0].transpose(1, 0, 2) if heads_first else array[0]
        arrays.append(array)
    return arrays[0], arrays[1] if len(arrays) > 1 else np.zeros(0)


def _table(values: Array, form: CallConvention, dtype: Any) -> Any:
    """Return cos or sin, (rows, width/2), in a form and a dtype."""
    import torch

    table = torch.from_numpy(values if form.table == PAIRS else repeat_per_pair(values, form.table)).to(dtype)
    return table[None] if form.batched else table


def _stored(x: Any, trial: KernelTrial) -> Any:
    """Return a tensor as it is, or with as much beside each row that must not be touched."""
    import torch

    if not trial.strided:
        return x.contiguous()
    room = torch.full((*x.shape[:-1], 2 * x.shape[-1]), float("nan"), dtype=x.dtype)
    room[..., : x.shape[-1]] = x
    return room[..., : x.shape[-1]]
