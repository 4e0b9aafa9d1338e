"""The geometry."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rope_core import Rope

ropes = st.builds(Rope, st.integers(1, 128).map(lambda n: 2 * n), st.floats(1.001, 1e9), st.integers(1, 2**31 - 1))


def test_by_hand() -> None:
    rope = Rope(dim=6, base=1000.0, train_len=100)
    assert np.allclose(rope.theta, [1, 0.1, 0.01], rtol=1e-15)
    assert np.allclose(rope.wavelength, [2 * math.pi, 20 * math.pi, 200 * math.pi], rtol=1e-15)
    assert np.allclose(rope.turns, [50 / math.pi, 5 / math.pi, 0.5 / math.pi], rtol=1e-15)


@given(ropes)
def test_laws(rope: Rope) -> None:
    assert rope.theta.shape == rope.wavelength.shape == rope.turns.shape == (rope.pairs,) == (rope.dim // 2,)
    assert rope.theta[0] == 1.0
    assert np.all(np.diff(rope.theta) < 0)
    assert rope.theta.dtype == np.float64
    assert np.allclose(rope.theta * rope.wavelength, 2 * math.pi, rtol=1e-15)
    # base ** (-2i/d) one pair further than the last would be 1 / base.
    ratio = rope.theta[-1] * float(rope.base) ** (-2 / rope.dim)
    assert ratio == pytest.approx(1 / rope.base, rel=1e-12)


@given(ropes, st.data())
def test_pair_at_undoes_turns(rope: Rope, data: st.DataObject) -> None:
    pair = data.draw(st.integers(0, rope.pairs - 1))
    slack = 1e-9 * rope.dim / math.log(rope.base)
    assert rope.pair_at(float(rope.turns[pair])) == pytest.approx(pair, abs=1e-9 + slack)


def test_pair_at_refuses_what_no_pair_turns() -> None:
    for turns in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^turns must be a finite number > 0, got "):
            Rope(8).pair_at(turns)


def test_frozen_hashable_and_equal_by_value() -> None:
    rope = Rope(64, 10_000, 2048)
    assert rope == Rope(64.0, 10_000.0, 2048.0)  # type: ignore[arg-type]
    assert len({rope, Rope(64, 10_000.0, 2048), Rope(64, 10_001.0, 2048)}) == 2
    with pytest.raises(AttributeError):
        rope.dim = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        rope.theta[0] = 2.0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"dim": 7}, "dim must be an even integer"),
    ({"dim": 10**6}, "dim must be an integer in"),
    ({"base": 1.0}, "base must be a finite number > 1"),
    ({"base": math.inf}, "base must be a finite number > 1"),
    ({"train_len": 0}, "train_len must be an integer in"),
    ({"train_len": 10**12}, "train_len must be an integer in"),
]


@pytest.mark.parametrize(("given_", "words"), BAD)
def test_bad_input_names_argument_rule_and_value(given_: dict[str, Any], words: str) -> None:
    [value] = given_.values()
    with pytest.raises(ValueError, match=f"^{words}") as caught:
        Rope(**{"dim": 64, **given_})
    assert str(caught.value).endswith(f", got {value!r}")
