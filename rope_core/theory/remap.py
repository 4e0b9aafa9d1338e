"""Rules of position that no vector of slow-downs can say: which relative position a query uses for a key.

A rule cuts the plane of queries and keys into views. Each view counts the positions of queries and of keys in its own
way, and the rotation of a pair (query, key) is that of the difference in its view: two or three ordinary rotations and
a choice between their scores. Beside the rotation a rule may scale queries by their position.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Array
from rope_core.schemes import Param, ParamValue
from rope_core.spectrum import checked_positions
from rope_core.theory.softmax import log_length_scale

PositionIds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PositionView:
    """Positions as one view counts them: ``query`` (n,), ``key`` (m,), and ``holds`` (n, m), where the view is used."""

    query: PositionIds
    key: PositionIds
    holds: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PositionRemap:
    """What a rule answers: views that cover every pair with key <= query once, and a scale of each query, (n,)."""

    views: tuple[PositionView, ...]
    scale: Array

    @property
    def relative(self) -> PositionIds:
        """Relative position that each query uses for each key, (n, m); 0 where no view holds."""
        parts = [np.where(v.holds, v.query[:, None] - v.key[None, :], 0) for v in self.views]
        return np.asarray(np.sum(parts, axis=0), dtype=np.int64)


RemapFunction = Callable[..., PositionRemap]


@dataclass(frozen=True)
class RemapRule:
    """A named rule with its declared parameters and its source."""

    name: str
    params: tuple[Param, ...]
    answer: RemapFunction
    source: str

    def parse(self, values: Mapping[str, object]) -> dict[str, ParamValue]:
        """Check ``values`` and fill in defaults; raises ValueError on an unknown name or a bad value."""
        names = [param.name for param in self.params]
        for name in values:
            if name not in names:
                raise argument_error("params", "one_of", name, names=names)
        return {p.name: p.parse(values.get(p.name, p.default), 1) for p in self.params}


RULES: dict[str, RemapRule] = {}


def register_remap(*params: Param, source: str) -> Callable[[RemapFunction], RemapFunction]:
    """Enter a function (query, key, train_len, **params) -> Remap into RULES.

    Raises TypeError when the function's keywords are not the declared Params.
    """

    def enter(function: RemapFunction) -> RemapFunction:
        declared = ("query", "key", "train_len", *(param.name for param in params))
        if tuple(inspect.signature(function).parameters) != declared:
            raise TypeError(f"{function.__name__} does not take {declared}")
        RULES[function.__name__] = RemapRule(function.__name__, params, function, source)
        return function

    return enter


def remap_positions(
    name: str, query: npt.ArrayLike, key: npt.ArrayLike, train_len: int, params: Mapping[str, object] | None = None
) -> PositionRemap:
    """Return how a rule counts the positions ``query`` (n,) and ``key`` (m,) on a model trained to ``train_len``.

    Raises ValueError on an unknown rule or parameter, or positions that are no integers in [0, 2**31).

    >>> remap_positions("rerope", [9], [0, 4, 8, 9], 6, {"window_share": 0.5}).relative.tolist()
    [[3, 3, 1, 0]]
    """
    if name not in RULES:
        raise argument_error("rule", "one_of", name, names=list(RULES))
    chosen = RULES[name]
    checked_int("train_len", train_len, 2, 2**31 - 1)
    return chosen.answer(checked_positions(query), checked_positions(key), train_len, **chosen.parse(params or {}))


def _behind(query: PositionIds, key: PositionIds) -> PositionIds:
    return query[:, None] - key[None, :]


def _plain(query: PositionIds) -> Array:
    return np.ones(query.size)


SHARE = Param("window_share", 0.5, 0.0, 1.0, "of the trained length")


@register_remap(SHARE, source="ReRoPE, kexue.fm/archives/9708; github.com/bojone/rerope, rerope_patch.py")
def rerope(query: PositionIds, key: PositionIds, train_len: int, window_share: float) -> PositionRemap:
    """min(query - key, window): past a window all keys are equally far."""
    window = max(1, int(window_share * train_len))
    near = _behind(query, key) < window
    views = (PositionView(query, key, near), PositionView(np.full_like(query, window), np.zeros_like(key), ~near))
    # Grown past the trained length as the authors do, positions counted from 1.
    return PositionRemap(views, log_length_scale(query + 1, train_len))


@register_remap(
    SHARE,
    Param("group", 8.0, 1.0, 65_536.0, "tokens"),
    source="Self-Extend, arXiv:2401.01325; github.com/datamllab/LongLM, self_extend_patch/Llama_4_40.py",
)
def self_extend(
    query: PositionIds, key: PositionIds, train_len: int, window_share: float, group: float
) -> PositionRemap:
    """Exact within a window; past it positions are counted in groups, shifted to meet the window's end."""
    window, size = max(1, int(window_share * train_len)), int(group)
    near = _behind(query, key) < window
    far = PositionView(query // size + window - window // size, key // size, ~near)
    return PositionRemap((PositionView(query, key, near), far), _plain(query))


@register_remap(
    Param("chunk_share", 0.75, 0.01, 1.0, "of the trained length"),
    Param("local_share", 0.125, 0.0, 0.99, "of the trained length"),
    source="Dual chunk attention, arXiv:2402.17463; github.com/HKUNLP/ChunkLlama, chunkllama_attn_replace.py",
)
def dual_chunk(
    query: PositionIds, key: PositionIds, train_len: int, chunk_share: float, local_share: float
) -> PositionRemap:
    """Positions restart in every chunk; the chunk before is counted on from there, all others are equally far."""
    most = max(2, int(chunk_share * train_len))
    size = most - min(int(local_share * train_len), most - 1)
    apart = query[:, None] // size - key[None, :] // size
    inside, keys = query % size, key % size
    return PositionRemap(
        (
            PositionView(inside, keys, apart == 0),
            PositionView(np.minimum(inside + size, most), keys, apart == 1),
            PositionView(np.full_like(query, min(2 * size - 1, most)), keys, apart > 1),
        ),
        _plain(query),
    )


__all__ = [
    "RULES",
    "PositionRemap",
    "PositionView",
    "RemapRule",
    "register_remap",
    "remap_positions",
]
