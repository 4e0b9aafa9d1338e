"""The float64 reference: literal quarter turns, autograd over drawn shapes, differences, xopes, exact decoding."""

import json
from typing import Any

import mpmath
import numpy as np
import pytest

from rope_core.lrpe import lrpe_rotate, lrpe_rotate_backward
from tests.support import ROOT
from tests.support.lrpe_cases import ACTS, draw, gap, oracle

XOPES = json.loads((ROOT / "tests" / "golden" / "lrpe" / "xopes.json").read_text())
QUARTER = np.pi / 2


def test_a_quarter_turn_takes_the_first_half_to_the_second() -> None:
    x = np.array([[[1.0, 5.0, 2.0, 6.0]]])
    turned = lrpe_rotate(x, np.array([QUARTER, 0.0]), offset=1)
    np.testing.assert_allclose(turned, [[[-2.0, 5.0, 1.0, 6.0]]], atol=1e-15)


def test_every_theta_shape_turns_what_it_says() -> None:
    x = np.tile([1.0, 1.0, 0.0, 0.0], (1, 1, 2, 1))
    both = lrpe_rotate(x, np.array([[QUARTER, 0.0], [0.0, QUARTER]]), offset=1)
    np.testing.assert_allclose(both[0, 0], [[0, 1, 1, 0], [1, 0, 0, 1]], atol=1e-15)
    # With two heads and two pairs a 1-D theta is per pair; (2, 1) is per head.
    per_pair = lrpe_rotate(x, np.array([QUARTER, 0.0]), offset=1)
    np.testing.assert_allclose(per_pair[0, 0], [[0, 1, 1, 0], [0, 1, 1, 0]], atol=1e-15)
    per_head = lrpe_rotate(x, np.array([[QUARTER], [0.0]]), offset=1)
    np.testing.assert_allclose(per_head[0, 0], [[0, 0, 1, 1], [1, 1, 0, 0]], atol=1e-15)
    three = np.tile([1.0, 1.0, 0.0, 0.0], (1, 1, 3, 1))
    by_head = lrpe_rotate(three, np.array([QUARTER, 0.0, 2 * QUARTER]), offset=1)
    np.testing.assert_allclose(by_head[0, 0], [[0, 0, 1, 1], [1, 1, 0, 0], [-1, -1, 0, 0]], atol=1e-15)


def test_dimensions_outside_the_slice_pass_after_the_activation() -> None:
    x = np.array([[[-3.0, 1.0, -1.0, 4.0, -5.0, 2.0]]])
    out = lrpe_rotate(x, np.array([QUARTER]), offset=1, act="relu", rotary_dim=slice(2, 4))
    np.testing.assert_allclose(out, [[[0.0, 1.0, -4.0, 0.0, 0.0, 2.0]]], atol=1e-15)
    first = lrpe_rotate(x, np.array([QUARTER]), offset=1, act="relu", rotary_dim=2)
    np.testing.assert_allclose(first, [[[-1.0, 0.0, 0.0, 4.0, 0.0, 2.0]]], atol=1e-15)


@pytest.mark.parametrize(
    ("act", "value", "expected"),
    [
        ("relu", -2.0, 0.0),
        ("relu", 2.0, 2.0),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", -800.0, 0.0),
        ("silu", 1.0, "1/(1+exp(-1))"),
        ("gelu", -6.0, "-6*erfc(6/sqrt(2))/2"),
        ("gelu", 1.0, "erfc(-1/sqrt(2))/2"),
        ("1+elu", 3.0, 4.0),
        ("1+elu", -1.0, "exp(-1)"),
        ("relu2", 3.0, 9.0),
    ],
)
def test_activations_have_their_values(act: str, value: float, expected: float | str) -> None:
    if isinstance(expected, str):
        expected = float(eval(expected, {"exp": mpmath.exp, "erfc": mpmath.erfc, "sqrt": mpmath.sqrt}))
    got = lrpe_rotate(np.full((1, 1, 2), value), np.zeros(1), act=act)
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-300)


def test_forward_and_backward_agree_with_autograd() -> None:
    for seed in range(48):
        case = draw(seed)
        out, dx, dtheta = oracle(case)
        assert gap(lrpe_rotate(case.x, case.theta, **case.options), out) < 2e-12, case.label
        got_dx, got_dtheta = lrpe_rotate_backward(case.x, case.theta, case.grad, **case.options)
        assert gap(got_dx, dx) < 2e-12, case.label
        assert gap(got_dtheta, dtheta) < 2e-11, case.label


@pytest.mark.parametrize("act", ACTS)
def test_decoding_gives_the_whole_sequence_bit_for_bit(act: str) -> None:
    rng = np.random.default_rng(5)
    for width in (2, 16, 30, 128):
        x, theta = 3.0 * rng.normal(size=(2, 9, 3, width)), rng.normal(size=(3, width // 2))
        dim = -1 if act == "softmax" else None
        whole = lrpe_rotate(x, theta, offset=1000, act=act, dim=dim)
        for n in range(9):
            step = lrpe_rotate(x[:, n : n + 1], theta, offset=1000 + n, act=act, dim=dim)
            assert step.tobytes() == whole[:, n : n + 1].tobytes()


def test_a_softmax_along_the_sequence_cannot_be_decoded() -> None:
    x = np.random.default_rng(6).normal(size=(1, 4, 1, 2))
    whole = lrpe_rotate(x, np.zeros(1), act="softmax", dim=1)
    np.testing.assert_allclose(whole.sum(axis=1), 1.0)
    assert not np.allclose(lrpe_rotate(x[:, :1], np.zeros(1), act="softmax", dim=1), whole[:, :1])


def test_offsets_starts_and_positions_mean_the_same() -> None:
    rng = np.random.default_rng(7)
    x, theta = rng.normal(size=(3, 4, 2, 6)), rng.normal(size=3)
    whole = lrpe_rotate(x, theta, offset=11)
    np.testing.assert_array_equal(whole, lrpe_rotate(x, theta, offset=[11, 11, 11]))
    np.testing.assert_array_equal(whole, lrpe_rotate(x, theta, offset=[[11, 12, 13, 14]]))
    np.testing.assert_array_equal(whole, lrpe_rotate(x, theta, offset=np.tile(np.arange(11, 15), (3, 1))))
    # A vector is one start per sequence, even where B = N.
    square = rng.normal(size=(2, 2, 1, 2))
    starts = lrpe_rotate(square, theta[:1], offset=[5, 9])
    np.testing.assert_array_equal(starts[1], lrpe_rotate(square[1:], theta[:1], offset=9)[0])


INF = np.inf
FINITE_AFTER_ALL = {(a, -INF) for a in ("relu", "relu2", "1+elu", "sigmoid", "softmax")} | {("sigmoid", INF)}


def test_values_that_are_not_finite_propagate() -> None:
    for act in ACTS:
        dim = -1 if act == "softmax" else None
        for bad in (np.nan, np.inf, -np.inf):
            x = np.ones((1, 2, 2, 4))
            x[0, 1, 0, 1] = bad
            out = lrpe_rotate(x, np.array([0.3, 0.4]), offset=2, act=act, dim=dim)
            clean = lrpe_rotate(np.ones((1, 2, 2, 4)), np.array([0.3, 0.4]), offset=2, act=act, dim=dim)
            np.testing.assert_array_equal(out[0, 0], clean[0, 0])
            np.testing.assert_array_equal(out[0, 1, 1], clean[0, 1, 1])
            assert np.isfinite(out[0, 1, 0, [1, 3]]).all() == ((act, bad) in FINITE_AFTER_ALL), (act, bad)


@pytest.mark.parametrize("case", XOPES["cases"], ids=lambda c: f"{c['act']}-{c['dim']}-{c['theta']}")
def test_agrees_with_xopes(case: dict[str, Any]) -> None:
    x = 2.0 * np.sin(1.0 + 0.7 * np.arange(np.prod(case["x"]))).reshape(case["x"])
    theta = np.sin(0.3 + 0.11 * np.arange(np.prod(case["theta"]))).reshape(case["theta"])
    got = lrpe_rotate(x, theta, offset=case["offset"], act=case["act"], dim=case["dim"])
    # Theirs has float32 angles of up to 8 rad.
    np.testing.assert_allclose(got.reshape(-1), case["out"], atol=3e-6)


def test_an_empty_batch_or_sequence_stays_empty() -> None:
    assert lrpe_rotate(np.empty((0, 3, 2, 4)), np.zeros(2)).shape == (0, 3, 2, 4)
    assert lrpe_rotate(np.empty((2, 0, 2, 4)), np.zeros(2), act="softmax", dim=-1).shape == (2, 0, 2, 4)
