"""Precision: rounding against torch's and numpy's own formats, phase errors against mpmath, ways to make tables."""

import mpmath
import numpy as np
import pytest
import torch

from rope_core import Request, Rope, spectrum
from rope_core.spectrum import Spectrum, position_angles
from rope_core.theory import precision as pr

RNG = np.random.default_rng(3)
FINE = spectrum(Request(Rope(64, 500_000.0, 8192)))


def test_rounding_is_the_formats_own() -> None:
    x = np.concatenate(
        [RNG.standard_normal(4000) * 10.0 ** RNG.uniform(-9, 6, 4000), [0.0, 65504.0, 65519.0, 65520.0, 6e-8]]
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(pr.round_to_dtype(x, "float16"), x.astype(np.float16).astype(np.float64))
    np.testing.assert_array_equal(pr.round_to_dtype(x, "float32"), x.astype(np.float32).astype(np.float64))
    once = x.astype(np.float32)
    theirs = torch.from_numpy(once).to(torch.bfloat16).to(torch.float64).numpy()
    np.testing.assert_array_equal(pr.round_to_dtype(once, "bfloat16"), theirs)
    assert pr.round_to_dtype(-1e40, "bfloat16") == -np.inf
    assert all(largest == torch.finfo(getattr(torch, name)).max for name, (_, largest) in pr.DTYPES.items())


def test_rounding_happens_once() -> None:
    """Through float32 this number lands on a tie and goes to the even neighbour below."""
    x = 1.0 + 2.0**-8 + 2.0**-30
    assert pr.round_to_dtype(x, "bfloat16") == 1.0 + 2.0**-7
    assert pr.round_to_dtype(np.float32(x), "bfloat16") == 1.0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_positions_a_format_holds_are_counted_by_the_format(dtype: str) -> None:
    kept = torch.arange(5000, dtype=torch.float64).to(getattr(torch, dtype)).to(torch.float64)
    exact = int((kept == torch.arange(5000, dtype=torch.float64)).sum())
    assert pr.exact_and_distinct_position_counts(5000, dtype) == (exact, np.unique(kept.numpy()).size)
    first = pr.first_rounded_position(dtype)
    near = torch.tensor([first - 1, first], dtype=torch.float64).to(getattr(torch, dtype))
    assert near[0] == near[1]


def mp_error(position: int, taken: float, inv_freq: float) -> float:
    with mpmath.workdps(50):
        return float(mpmath.mpf(taken) - mpmath.mpf(position) * mpmath.mpf(inv_freq))


@pytest.mark.parametrize("position", [257, 4097, 131_071])
def test_phase_errors_are_mpmaths(position: int) -> None:
    for i, f in enumerate(FINE.inv_freq):
        rounded = float(torch.tensor(np.float32(f)).to(torch.bfloat16).item())
        stored = pr.phase_error(Spectrum.from_inv_freq([np.float32(f)]), [position], "inv_freq", "bfloat16")
        assert stored[0, 0] == pytest.approx(mp_error(position, position * rounded, float(np.float32(f))), abs=1e-9)
        product = float(np.float32(float(position) * float(f)))
        angle = pr.phase_error(FINE, [position], "angle", "float32")[0, i]
        assert angle == pytest.approx(mp_error(position, product, float(f)), abs=1e-9)
        kept = float(torch.tensor(float(position)).to(torch.bfloat16).item())
        moved = pr.phase_error(FINE, [position], "position", "bfloat16")[0, i]
        assert moved == pytest.approx((kept - position) * float(f), abs=1e-9)


def test_all_stages_in_float32_are_numpys_float32() -> None:
    positions = np.array([5, 70_001, 131_071])
    angle = positions.astype(np.float32)[:, None] * FINE.inv_freq.astype(np.float32)
    cos, sin = np.cos(angle.astype(np.float64)), np.sin(angle.astype(np.float64))
    mine = np.abs(pr.phase_error(FINE, positions, "all", "float32"))
    theirs = np.abs(np.angle((cos + 1j * sin) * np.exp(-1j * position_angles(FINE, positions))))
    np.testing.assert_allclose(mine, theirs, atol=2e-7)


def test_a_rounded_table_errs_by_half_a_step() -> None:
    exact = position_angles(FINE, np.arange(1000, 3000))
    assert 1.5e-3 < np.abs(pr.round_to_dtype(np.cos(exact), "bfloat16") - np.cos(exact)).max() <= 2.0**-9 + 1e-12
    assert pr.phase_error_curve(FINE, np.arange(1000, 3000), "table", "bfloat16").max() < 2.0**-8


def test_the_design_numbers() -> None:
    llama = spectrum(Request(Rope(128, 10_000.0)))
    assert pr.phase_error_curve(llama, [4096], "inv_freq", "bfloat16")[0] == pytest.approx(5.0, abs=0.05)
    way = pr.compare_table_methods(llama, 131_072 - 4096, 4096, rounds=1)
    assert 5e-3 < way["float32"].error < 9e-3
    for name in ("float64", "fixed_point", "split_table"):
        assert way[name].error < 2e-7
    assert way["split_table"].stored < way["float64"].stored / 7
    assert all(answer.over_floor > 0 for answer in way.values())


@pytest.mark.parametrize(("stage", "dtype"), [("inv_freq", "bfloat16"), ("angle", "float32"), ("position", "float16")])
def test_a_drifting_score_is_that_of_vectors_turned_by_rounded_angles(stage: str, dtype: str) -> None:
    s = Spectrum.from_inv_freq(Rope(8, 300.0).theta, 1.2)
    q, k = RNG.standard_normal((2, 8))
    cast = getattr(torch, dtype)

    def turned(x: np.ndarray, p: int) -> np.ndarray:
        held = [torch.tensor(v, dtype=torch.float64) for v in (float(p), s.inv_freq)]
        if stage == "position":
            held[0] = held[0].to(cast).double()
        if stage == "inv_freq":
            held[1] = held[1].to(cast).double()
        angle = held[0] * held[1]
        z = np.exp(1j * (angle.to(cast).double() if stage == "angle" else angle).numpy())
        return (x[::2] + 1j * x[1::2]) * z

    got = pr.score_under_rounding(s, [5, 3001, 40_000], 77, stage, dtype, q, k)
    for p, score in zip((5, 3001, 40_000), got, strict=True):
        assert score == pytest.approx(1.2**2 * float((turned(q, p + 77) * turned(k, p).conj()).real.sum()), abs=1e-6)


def test_in_float64_no_score_drifts() -> None:
    q, k = RNG.standard_normal((2, 64))
    exact = pr.score_under_rounding(FINE, [0, 10**6], 300, "inv_freq", "float64", q, k)
    assert np.ptp(exact) < 1e-12
    assert np.isnan(pr.score_under_rounding(FINE, [70_000], 300, "position", "float16", q, k)).all()


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="dtype must be one of float64, float32, bfloat16, float16, got 'fp8'"):
        pr.round_to_dtype(1.0, "fp8")
    with pytest.raises(ValueError, match="stage must be one of inv_freq"):
        pr.phase_error(FINE, [1], "cos", "float32")
    with pytest.raises(ValueError, match="positions must be"):
        pr.phase_error(FINE, [-1], "angle", "float32")


def test_the_numbers_that_each_way_keeps() -> None:
    """Counted by hand for 1500 positions from 700 on and 32 pairs: the split table has 512 fine rows and 4 coarse."""
    ways = pr.compare_table_methods(FINE, 700, 1500, rounds=1)
    whole_tables = {"float32": 2 * 1500 * 32, "float64": 2 * 1500 * 32}
    assert {name: way.stored for name, way in ways.items()} == whole_tables | {
        "fixed_point": 32,
        "split_table": 2 * (512 + 4) * 32,
    }
    assert pr.compare_table_methods(FINE, 40, 1500, rounds=1)["split_table"].error < 2e-7
