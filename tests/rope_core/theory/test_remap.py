"""Rules of position against the authors' definitions written pair by pair, and the laws that they share."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_core import Param
from rope_core.theory.remap import RULES, PositionRemap, register_remap, remap_positions

TRAINED = st.integers(16, 400)


def rerope(q: int, k: int, train_len: int, share: float) -> int:
    """Return the distance, at most the window."""
    return min(q - k, max(1, math.floor(share * train_len)))


def self_extend(q: int, k: int, train_len: int, share: float, group: int) -> int:
    """LongLM's two masks: neighbours exactly, the others by groups with the query moved on by w - w // G."""
    window = max(1, math.floor(share * train_len))
    return q - k if q - k < window else q // group + (window - window // group) - k // group


def dual_chunk(q: int, k: int, train_len: int, chunk: float, local: float) -> int:
    """ChunkLlama's three tables: q_t inside a chunk, qc_t for the chunk before, the last of qc_t for all others."""
    size = max(2, math.floor(chunk * train_len))
    length = size - min(math.floor(local * train_len), size - 1)
    before = q // length - k // length
    succ = [min(i + length, size) for i in range(length)]
    return (q % length if before == 0 else succ[q % length] if before == 1 else succ[length - 1]) - k % length


ORACLES: dict[str, Callable[..., int]] = {"rerope": rerope, "self_extend": self_extend, "dual_chunk": dual_chunk}


def drawn(data: st.DataObject, name: str) -> dict[str, float]:
    """Parameters that a rule takes; whole numbers where they count tokens."""
    return {
        p.name: float(data.draw(st.integers(1, 40))) if p.unit == "tokens" else data.draw(st.floats(p.low, p.high))
        for p in RULES[name].params
    }


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), train_len=TRAINED, first=st.integers(0, 3000))
def test_every_pair_is_what_the_authors_say(name: str, data: st.DataObject, train_len: int, first: int) -> None:
    params = drawn(data, name)
    query, key = np.arange(first, first + 5), np.arange(first + 5)
    result = remap_positions(name, query, key, train_len, params).relative
    given = [int(v) if p.unit == "tokens" else v for p, v in zip(RULES[name].params, params.values(), strict=True)]
    for row, q in enumerate(query.tolist()):
        expected = [ORACLES[name](q, k, train_len, *given) for k in range(q + 1)]
        assert result[row, : q + 1].tolist() == expected


@pytest.mark.parametrize("name", RULES)
@given(data=st.data(), train_len=TRAINED)
@settings(max_examples=40, deadline=None)
def test_each_pair_has_one_view(name: str, data: st.DataObject, train_len: int) -> None:
    places = np.arange(data.draw(st.integers(1, 300)))
    answer = remap_positions(name, places, places, train_len, drawn(data, name))
    covered = np.sum([view.holds for view in answer.views], axis=0)
    assert np.all(covered[np.tril_indices(places.size)] == 1)
    assert np.all(np.diag(answer.relative) == 0)
    assert np.all(answer.scale >= 1)


@pytest.mark.parametrize(("name", "longest"), [("rerope", 10**6), ("self_extend", 2048), ("dual_chunk", 10**6)])
def test_no_relative_position_passes_the_trained_length(name: str, longest: int) -> None:
    """What all of them are for: with the lab's parameters, at 256 trained bytes."""
    params = {"group": 16.0} if name == "self_extend" else {}
    ends = np.array([0, 1, 127, 128, 255, 256, 1000, longest - 1])
    relative = remap_positions(name, ends, np.arange(0, longest, max(1, longest // 4096)), 256, params).relative
    seen = np.arange(0, longest, max(1, longest // 4096))[None, :] <= ends[:, None]
    assert relative[seen].max() < 256
    assert relative[seen].min() >= 0


@given(st.integers(0, 2**30), st.integers(2, 10**6))
def test_rerope_alone_scales_queries_from_the_trained_length_on(position: int, train_len: int) -> None:
    scales = {name: remap_positions(name, [position], [0], train_len).scale[0] for name in RULES}
    assert scales["rerope"] == pytest.approx(max(1, math.log(position + 1, train_len)), rel=1e-12)
    assert scales["self_extend"] == scales["dual_chunk"] == 1.0


def test_refusals_name_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="rule must be one of rerope, "):
        remap_positions("nowhere", [0], [0], 8)
    with pytest.raises(ValueError, match="params must be one of window_share, got 'group'"):
        remap_positions("rerope", [0], [0], 8, {"group": 2.0})
    with pytest.raises(ValueError, match=r"window_share must be .*, got 2"):
        remap_positions("rerope", [0], [0], 8, {"window_share": 2.0})
    with pytest.raises(ValueError, match="positions must be"):
        remap_positions("rerope", [-1], [0], 8)


def test_a_rule_declares_what_it_takes() -> None:
    def stray(query: object, key: object, train_len: int, other: float) -> PositionRemap:
        raise NotImplementedError

    with pytest.raises(TypeError, match="stray does not take"):
        register_remap(Param("one", 1.0, 0.0, 2.0), source="nowhere")(stray)
    assert "stray" not in RULES
    assert all(each.source for each in RULES.values())
