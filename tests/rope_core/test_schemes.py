"""Laws of the slow-downs, generated from the registry, and vectors from outside."""

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
import transformers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from rope_core import SCHEMES, Param, Request, Rope, Scheme, Spectrum, spectrum
from rope_core.schemes import ParamValue, Rescale, apply_scheme, get_scheme, register
from tests.support import ROOT

GOLDEN = ROOT / "tests" / "golden"

ropes = st.builds(Rope, st.integers(2, 64).map(lambda n: 2 * n), st.floats(2.0, 1e7), st.integers(2, 200_000))
factors = st.floats(1.0, 64.0)
# Searched by evolution, learned, or set to a length whatever the pair did before.
MAY_SPEED_UP = {"longrope", "lerope", "riflex"}


def values(param: Param, pairs: int) -> st.SearchStrategy[object]:
    """Values that ``param`` accepts, drawn from its own declaration."""
    low, high = param.low, min(param.high, 64.0)
    if param.kind == "bool":
        return st.booleans()
    number = st.floats(low, high)
    if param.kind == "optional":
        return st.none() | number
    if param.kind == "vector":
        return number | st.lists(number, min_size=pairs, max_size=pairs)
    return number


def draw(data: st.DataObject, chosen: Scheme, rope: Rope) -> dict[str, object]:
    return {param.name: data.draw(values(param, rope.pairs), label=param.name) for param in chosen.params}


@pytest.mark.parametrize("name", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(data=st.data(), rope=ropes, stretch=st.floats(0.1, 40))
def test_slowdown_is_positive_and_divides_theta(name: str, data: st.DataObject, rope: Rope, stretch: float) -> None:
    seq_len = max(1, int(rope.train_len * stretch))
    s = spectrum(Request(rope, name, draw(data, SCHEMES[name], rope), seq_len))
    assert s.slowdown.shape == s.inv_freq.shape == (rope.pairs,)
    assert np.all(s.slowdown > 0)
    assert np.all(s.inv_freq >= 0)
    assert np.array_equal(s.inv_freq, rope.theta / s.slowdown)
    assert math.isfinite(s.attention_factor)
    if name not in MAY_SPEED_UP:
        assert np.all(s.slowdown >= 1 - 1e-12)


# RIFLEx sets one pair's period to the length over the share of it that is used, also where nothing is extended.
@pytest.mark.parametrize("name", [n for n, each in SCHEMES.items() if "factor" in each.defaults() and n != "riflex"])
@settings(deadline=None, max_examples=40)
@given(data=st.data(), rope=ropes)
def test_factor_one_changes_nothing(name: str, data: st.DataObject, rope: Rope) -> None:
    params = draw(data, SCHEMES[name], rope) | {"factor": 1.0}
    params |= {key: 1.0 for key in params if key in ("partial_rotary_factor", "short_factor", "long_factor")}
    params |= {key: None for key in params if key == "attention_factor"}
    s = spectrum(Request(rope, name, params))
    assert np.allclose(s.slowdown, 1.0, rtol=0, atol=1e-15)
    if params.get("mscale") is None or params.get("mscale_all_dim") is None:
        assert s.attention_factor == 1.0


@given(ropes, factors)
def test_ntk_keeps_the_first_pair_and_slows_the_last_by_the_factor(rope: Rope, factor: float) -> None:
    slowdown = spectrum(Request(rope, "ntk", {"factor": factor})).slowdown
    assert slowdown[0] == 1.0
    assert slowdown[-1] == pytest.approx(factor, rel=1e-12)
    assert np.all(np.diff(slowdown) >= 0)


@pytest.mark.parametrize("name", ["linear", "ntk", "dynamic"])
@given(rope=ropes, factor=factors, base=st.floats(2.0, 1e7), stretch=st.floats(0.5, 8))
def test_independent_of_the_base(name: str, rope: Rope, factor: float, base: float, stretch: float) -> None:
    seq_len = max(1, int(rope.train_len * stretch))
    other = Rope(rope.dim, base, rope.train_len)
    here, there = (spectrum(Request(each, name, {"factor": factor}, seq_len)).slowdown for each in (rope, other))
    assert np.array_equal(here, there)


@pytest.mark.parametrize("name", ["ntk_by_parts", "yarn", "llama3"])
def test_ramps_do_depend_on_the_base(name: str) -> None:
    here, there = (spectrum(Request(Rope(64, base), name, {"factor": 8.0})).slowdown for base in (1e4, 1e6))
    assert not np.array_equal(here, there)


@given(ropes, factors, st.floats(1.0, 20.0))
def test_dynamic_is_ntk_at_the_factor_that_the_length_asks_for(rope: Rope, factor: float, stretch: float) -> None:
    seq_len = min(2**31 - 1, int(rope.train_len * stretch))
    wanted = max(1.0, factor * seq_len / rope.train_len - (factor - 1))
    dynamic = spectrum(Request(rope, "dynamic", {"factor": factor}, seq_len)).slowdown
    assume(wanted <= 1024)
    assert np.allclose(dynamic, spectrum(Request(rope, "ntk", {"factor": wanted})).slowdown, rtol=1e-12)


@given(ropes, factors)
def test_dynamic_is_one_up_to_the_trained_length_and_continuous_there(rope: Rope, factor: float) -> None:
    for seq_len in (1, rope.train_len // 2 or 1, rope.train_len):
        assert np.all(spectrum(Request(rope, "dynamic", {"factor": factor}, seq_len)).slowdown == 1.0)
    one_more = spectrum(Request(rope, "dynamic", {"factor": factor}, rope.train_len + 1)).slowdown
    assert np.all(one_more >= 1.0)
    assert one_more[-1] - 1.0 <= factor / rope.train_len * (1 + 1e-9) + 1e-12
    assert one_more[-1] > 1.0


@given(ropes, factors, st.floats(0.1, 8.0), st.floats(0.1, 40.0))
def test_by_parts_leaves_fast_pairs_and_divides_slow_ones(rope: Rope, factor: float, slow: float, gap: float) -> None:
    params = {"factor": factor, "beta_slow": slow, "beta_fast": slow + gap}
    slowdown = spectrum(Request(rope, "ntk_by_parts", params)).slowdown
    assert np.all(slowdown[rope.turns >= slow + gap] == 1.0)
    assert np.allclose(slowdown[rope.turns <= slow], factor, rtol=1e-12)
    between = (rope.turns > slow) & (rope.turns < slow + gap)
    assert np.all((slowdown[between] >= 1.0) & (slowdown[between] <= factor))


@given(ropes, factors, st.floats(0.5, 4.0), st.floats(0.5, 16.0))
def test_llama3_and_by_parts_are_one_blend(rope: Rope, factor: float, low: float, gap: float) -> None:
    llama = {"factor": factor, "low_freq_factor": low, "high_freq_factor": low + gap}
    parts = {"factor": factor, "beta_slow": low, "beta_fast": low + gap}
    here, there = (spectrum(Request(rope, *each)).slowdown for each in (("llama3", llama), ("ntk_by_parts", parts)))
    assert np.array_equal(here, there)


def test_yarn_temperature() -> None:
    rope = Rope(128)

    def attention(**params: object) -> float:
        return spectrum(Request(rope, "yarn", params)).attention_factor

    assert attention(factor=8.0) == pytest.approx(0.1 * math.log(8) + 1, rel=1e-15)
    assert attention(factor=40.0, mscale=0.5, mscale_all_dim=1.0) == pytest.approx(
        (0.05 * math.log(40) + 1) / (0.1 * math.log(40) + 1), rel=1e-15
    )
    assert attention(factor=40.0, mscale=0.5) == attention(factor=40.0)
    assert attention(factor=8.0, attention_factor=1.0) == 1.0


def test_longrope_switches_after_the_trained_length() -> None:
    rope = Rope(8, 10_000.0, 100)
    params = {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [1.0, 2.0, 4.0, 8.0], "factor": 32.0}
    short, long = (spectrum(Request(rope, "longrope", params, n)) for n in (100, 101))
    assert short.slowdown.tolist() == params["short_factor"]
    assert long.slowdown.tolist() == params["long_factor"]
    assert long.attention_factor == pytest.approx(math.sqrt(1 + math.log(32) / math.log(100)), rel=1e-15)


def test_proportional_stops_the_pairs_past_its_share() -> None:
    s = spectrum(Request(Rope(16, 100.0), "proportional", {"partial_rotary_factor": 0.5, "factor": 2.0}))
    assert s.slowdown.tolist() == [2.0] * 4 + [math.inf] * 4
    assert s.inv_freq[4:].tolist() == [0.0] * 4
    assert np.all(np.isinf(s.wavelength[4:]))


def test_a_scheme_follows_the_length_exactly_where_it_says_so() -> None:
    rope = Rope(64, 1e4, 4096)
    given: dict[str, dict[str, ParamValue]] = {"longrope": {"long_factor": 4.0}}
    for name, each in SCHEMES.items():
        params = given.get(name) or ({"factor": 4.0} if "factor" in each.defaults() else {})
        short, long = (spectrum(Request(rope, name, params, length)).inv_freq for length in (4096, 16_384))
        assert (short != long).any() == each.follows_length, name


def test_hard_clipping_is_p_rope_and_cope_lies_between() -> None:
    rope = Rope(128, 5e5, 8192)
    hard, soft = (spectrum(Request(rope, "cope", {"soft": each})).inv_freq for each in (False, True))
    share = {"partial_rotary_factor": 44 / 64}
    assert np.array_equal(hard, spectrum(Request(rope, "proportional", share)).inv_freq)
    assert np.all(soft[:45] == rope.theta[:45])
    assert np.all((soft[45:63] > 0) & (soft[45:63] < rope.theta[45:63]))
    assert soft[63] == 0


def test_longrope2_is_ntk_up_to_the_papers_critical_pair() -> None:
    for rope, critical in ((Rope(96, 1e4, 2048), 31), (Rope(128, 5e5, 8192), 35)):
        slowdown = spectrum(Request(rope, "longrope2", {"factor": 64.0})).slowdown
        assert int(np.argmax(np.isclose(slowdown, 64.0, rtol=1e-12))) == critical
        assert np.allclose(np.diff(np.log(slowdown[: critical + 1])), np.log(64.0) / critical, rtol=1e-9)


def test_mrrope_radices_rise_where_those_of_yarns_definition_fall() -> None:
    """MrRoPE, section 3: lambda_j grows for Pro, is constant for Uni, falls for YaRN.

    It falls for the ramp by turns of YaRN's definition 2; the ramp by pair of its released code rises.
    """
    rope, factor = Rope(128, 5e5, 8192), 16.0

    def radices(name: str, **params: object) -> npt.NDArray[np.float64]:
        slowdown = spectrum(Request(rope, name, {"factor": factor, **params})).slowdown[18:36]
        return np.diff(np.log(slowdown))

    assert np.all(np.diff(radices("mrrope")) > 0)
    assert np.allclose(radices("mrrope", progressive=False), math.log(factor) / 17)
    assert np.all(np.diff(radices("ntk_by_parts")[1:]) < 0)
    assert np.all(np.diff(radices("yarn")) > 0)


def test_riflex_lets_one_pair_use_its_share_of_a_turn() -> None:
    rope = Rope(16, 256.0, 48)
    s = spectrum(Request(rope, "riflex", {"factor": 2.5}))
    changed = np.flatnonzero(s.slowdown != 1.0)
    assert changed.tolist() == [3]  # HunyuanVideo's fourth frequency, as the authors' docstring says
    assert s.wavelength[3] * 0.9 == pytest.approx(2.5 * 48, rel=1e-12)


def test_ntk_needs_two_pairs() -> None:
    for name in ("ntk", "dynamic"):
        with pytest.raises(ValueError, match="dim must be at least 4"):
            spectrum(Request(Rope(2), name))


# transformers computes in float32; by 50 digits float64 is the limit.
TOLERANCE = {"transformers": 5e-6, "authors'": 5e-6, "mpmath": 1e-14}


@pytest.mark.parametrize("name", SCHEMES)
def test_golden(name: str) -> None:
    golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    tolerance = TOLERANCE[golden["source"].split()[0]]
    assert golden["scheme"] == name
    assert golden["cases"]
    for case in golden["cases"]:
        s = spectrum(Request(Rope(**case["rope"]), name, case["params"], case["seq_len"]))
        assert np.allclose(s.inv_freq, case["inv_freq"], rtol=tolerance, atol=0), case["params"]
        assert s.attention_factor == pytest.approx(case["attention_factor"], rel=1e-6)


def bad_values(param: Param, pairs: int) -> list[Any]:
    if param.kind == "bool":
        return [1, "true", None]
    bad: list[Any] = [math.nan, math.inf, -math.inf, param.low - 1.0, param.high * 2 + 1, "4", True, 1j]
    if param.kind == "vector":
        bad += [
            [1.0] * (pairs + 1),
            [1.0] * (pairs - 1),
            [],
            [math.nan] * pairs,
            [param.low - 1.0] * pairs,
            ["1"] * pairs,
        ]
    elif param.kind == "float":
        bad += [None, [1.0]]
    return bad


@pytest.mark.parametrize(("name", "param"), [(name, p) for name, each in SCHEMES.items() for p in each.params])
def test_a_bad_parameter_is_named(name: str, param: Param) -> None:
    for bad in bad_values(param, 4):
        with pytest.raises(ValueError, match=f"^{param.name} must be .*, got "):
            Request(Rope(8), name, {param.name: bad})


@pytest.mark.parametrize("name", SCHEMES)
def test_an_unknown_parameter_is_refused_and_defaults_are_complete(name: str) -> None:
    with pytest.raises(ValueError, match=r"^params must be .*, got 'speed'"):
        Request(Rope(8), name, {"speed": 1.0})
    assert SCHEMES[name].source
    assert SCHEMES[name].parse({}, 4) == SCHEMES[name].parse(SCHEMES[name].defaults(), 4)


def test_an_unknown_scheme_lists_the_known_ones() -> None:
    for bad in ("rope", "", None, 3, ["linear"]):
        with pytest.raises(ValueError, match=r"^scheme must be one of none, linear, ntk, .*, got "):
            get_scheme(bad)  # type: ignore[arg-type]


def test_the_decorator_refuses_keywords_that_are_not_declared() -> None:
    def stray(rope: Rope, seq_len: int, factor: float) -> Rescale:
        return Rescale(np.full(rope.pairs, factor))

    with pytest.raises(TypeError, match="stray takes"):
        register(source="nowhere")(stray)
    assert "stray" not in SCHEMES


def test_a_scheme_that_answers_nonsense_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[npt.NDArray[np.float64]] = [np.zeros(4), np.ones(3), np.full(4, np.nan)]
    for answer in answers:
        broken = Scheme("broken", (), lambda rope, seq_len, a=answer: Rescale(a), "nowhere", False)
        monkeypatch.setitem(SCHEMES, "broken", broken)
        with pytest.raises(ValueError, match="slowdown must be 4 positive numbers"):
            apply_scheme(Rope(8), "broken", {}, 1)


def test_vector_takes_one_number_for_every_pair() -> None:
    single = spectrum(Request(Rope(8), "longrope", {"short_factor": 1.5}))
    many = spectrum(Request(Rope(8), "longrope", {"short_factor": np.full(4, 1.5)}))
    assert isinstance(single, Spectrum)
    assert np.array_equal(single.inv_freq, many.inv_freq)
    expected: ParamValue = (1.5, 1.5, 1.5, 1.5)
    assert SCHEMES["longrope"].parse({"short_factor": [1.5] * 4}, 4)["short_factor"] == expected


def live(kind: str, rope: Rope, **params: object) -> npt.NDArray[np.float64]:
    """Return the frequencies of transformers' own function for a rope_type."""
    config = transformers.LlamaConfig(
        hidden_size=rope.dim,
        num_attention_heads=1,
        head_dim=rope.dim,
        max_position_embeddings=rope.train_len,
        rope_parameters={
            "rope_type": kind,
            "rope_theta": rope.base,
            "original_max_position_embeddings": rope.train_len,
            **params,
        },
    )
    inv_freq, _ = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"))
    return np.asarray(inv_freq.double().numpy())


@pytest.mark.parametrize("high", [1.5, 8.0])
def test_a_ramp_by_turns_of_no_width_is_a_step_at_its_lower_end(high: float) -> None:
    """Pairs between a high_freq_factor and a larger low_freq_factor are divided, as transformers does."""
    rope, params = Rope(64, 5e5, 8192), {"factor": 8.0, "low_freq_factor": 8.0, "high_freq_factor": high}
    s = spectrum(Request(rope, "llama3", params))
    assert np.any((rope.turns < 8.0) & (rope.turns > 1.5))
    np.testing.assert_allclose(s.inv_freq, live("llama3", rope, **params), rtol=5e-6)


def test_a_ramp_by_pair_of_no_width_is_a_step_between_pairs() -> None:
    """Where both ends fall on one fractional pair the ramp is 0.001 pairs wide, as transformers does."""
    rope = Rope(64, 5e5, 8192)
    params = {"factor": 8.0, "beta_fast": 3.0, "beta_slow": 3.0, "truncate": False}
    assert 0.1 < rope.pair_at(3.0) % 1.0 < 0.9
    s = spectrum(Request(rope, "yarn", params))
    np.testing.assert_allclose(s.inv_freq, live("yarn", rope, **params), rtol=5e-6)
    assert set(s.slowdown.round(9).tolist()) == {1.0, 8.0}
