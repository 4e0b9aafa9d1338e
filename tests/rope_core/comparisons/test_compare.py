"""rc.compare: margins against loops, shipped schemes and models, planted faults, and transformers' own functions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers import modeling_rope_utils as theirs

import rope_core as rc
from rope_core.comparisons.columns import of_callable, of_code, of_function
from rope_core.comparisons.compare import UnreadableColumnsError
from rope_core.comparisons.nearest import difference
from rope_core.comparisons.rows import check_text, checks, runs_of
from rope_core.comparisons.scheme_variants import likeable_schemes
from rope_core.comparisons.sentences import (
    attention_factors_of,
    cause_sentence,
    config_sentence,
    detail_sentences,
    note_sentences,
    setting_sentence,
    unreadable_sentence,
)
from rope_core.comparisons.source import public_names
from rope_core.schemes import UNSCALED

KEYS = [
    *("finite_positive", "not_faster", "monotone", "inside_arc", "not_overslowed", "resolution"),
    *("attention_factor", "continuity", "float32", "programs"),
]
DIM, BASE, TRAIN, FACTOR = 128, 10_000.0, 4096, 8.0


def linear_of(dim: int, base: float, train_len: int, factor: float) -> Any:
    return base ** (-np.arange(0, dim, 2) / dim) / factor


def rows(column: rc.Compared) -> dict[str, Any]:
    return {row.key: row for row in column.rows}


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([8, 64, 96]),
    st.floats(1e3, 1e7),
    st.integers(128, 65_536),
    st.integers(2, 64),
    st.integers(0, 2**32 - 1),
)
def test_margins_are_what_loops_over_pairs_give(dim: int, base: float, train: int, factor: int, seed: int) -> None:
    slow = np.exp(np.random.default_rng(seed).uniform(-0.3, 4.0, dim // 2))
    theta = [base ** (-2.0 * i / dim) for i in range(dim // 2)]
    f = np.asarray(theta) / slow
    config = {"model_type": "llama", "head_dim": dim, "rope_theta": base, "max_position_embeddings": train}
    result = rows(rc.compare(f, model=config, factor=factor)[0])
    length, log = factor * train, math.log2
    wanted: dict[str, list[float]] = {key: [] for key in KEYS[1:5]}
    for i, (t, g) in enumerate(zip(theta, f, strict=True)):
        s = t / g
        wanted["not_faster"].append(log(1.001 * s))
        wanted["monotone"].append(log(1.001 * s / max(slow[: max(i, 1)])))
        wanted["inside_arc"].append(log(1.1 * (train * t / math.tau) / min(length * g / math.tau, 1.0)))
        wanted["not_overslowed"].append(log(3.5 * factor / s))
    for key, margins in wanted.items():
        assert result[key].by_pair == pytest.approx(margins, abs=1e-5)
        assert (result[key].pair, result[key].holds) == (
            int(np.argmin(result[key].by_pair)),
            min(result[key].by_pair) >= 0,
        )
    lost, had = (1.0 - sum(math.cos(x) for x in row) / len(row) for row in (f, theta))
    assert result["resolution"].margin == pytest.approx(log(2.0 * lost / had), abs=1e-4)
    assert result["float32"].margin == pytest.approx(
        min(log(0.1 / (length * x * 2.0**-23)) for x in f[f != 1]), abs=1e-4
    )


def test_every_key_is_there_in_two_languages_with_a_source_and_a_counter_example() -> None:
    (mine,) = rc.compare(by_parts)
    assert set(KEYS) <= {row.key for row in mine.rows} == set(checks())
    for key in checks():
        assert check_text(key, "source") and check_text(key, "formula")
        texts = [
            check_text(key, name, lang)
            for name in ("title", "fault", "reason", "counterexample")
            for lang in ("en", "zh")
        ]
        assert all(texts) and len(set(texts)) == 8


def test_nothing_shipped_is_broken_at_any_factor_and_each_known_breach_is_one() -> None:
    for factor in (2.0, 8.0, 32.0):
        for each in rc.compare(*rc.SCHEMES, factor=factor):
            assert not each.broken, (each.column.name, factor, [row.key for row in each.broken])
    declared = {name: scheme.breaks for name, scheme in rc.SCHEMES.items()}
    for each in rc.compare(*rc.SCHEMES, factor=8.0):
        broken = {row.key for row in each.rows if row.holds is False}
        # What is searched or learned breaks more than its defaults do.
        assert broken <= declared[each.column.name]
        assert broken == declared[each.column.name] or each.column.name in ("longrope", "lerope")


def test_no_scaled_model_of_the_catalogue_is_broken() -> None:
    scaled = []
    for model in rc.models():
        config = model.hf_config()
        kinds: list[str | None] = [*rc.layer_types(config)] or [None]
        if any(rc.from_hf(config, kind).scheme != UNSCALED for kind in kinds):
            scaled.append(model.id)
    assert len(scaled) >= 26
    assert [(each.column.name, [row.key for row in each.broken]) for each in rc.compare(*scaled) if each.broken] == []


def ramp(dim: int, base: float, train_len: int, low: float = 32.0, high: float = 1.0) -> tuple[Any, Any]:
    theta = base ** (-2.0 * np.arange(dim // 2) / dim)
    turns = train_len * theta / math.tau
    return theta, np.clip(np.log(low / turns) / np.log(low / high), 0, 1)


def by_parts(dim: int, base: float, train_len: int, factor: float) -> Any:
    theta, g = ramp(dim, base, train_len)
    return theta * (1 - g + g / factor), 0.1 * math.log(factor) + 1


def ntk(dim: int, base: float, factor: float) -> Any:
    return (base * factor ** (dim / (dim - 2))) ** (-2.0 * np.arange(dim // 2) / dim)


def spoiled(change: Callable[[Any, Any, float], Any]) -> Callable[..., Any]:
    def function(dim: int, base: float, train_len: int, factor: float) -> Any:
        theta, _ = ramp(dim, base, train_len)
        f, a = by_parts(dim, base, train_len, factor)
        return change(f, theta, factor), a

    return function


def at(change: Callable[[Any], Any], pair: int) -> Callable[[Any, Any, float], Any]:
    def changed(f: Any, theta: Any, factor: float) -> Any:
        f[pair] = change(f[pair])
        return f

    return changed


def rampless(g: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(dim: int, base: float, train_len: int, factor: float) -> Any:
        theta, _ = ramp(dim, base, train_len)
        turns = train_len * theta / math.tau
        share = g(np.log(32.0 / turns) / np.log(32.0))
        return theta * (1 - share + share / factor), 0.1 * math.log(factor) + 1

    return function


def literal(dim: int, base: float, train_len: int, factor: float) -> Any:
    i = np.arange(dim // 2)
    g = np.clip((i - 20) / 26, 0, 1)
    return base ** (-2.0 * i / dim) * (1 - g + g / factor)


def literal_factor(dim: int, base: float, train_len: int, factor: float) -> Any:
    return by_parts(dim, base, train_len, 4.0)


def literal_base(dim: int, base: float, train_len: int, factor: float) -> Any:
    return by_parts(dim, 10_000.0, train_len, factor)


def literal_dim(dim: int, base: float, train_len: int, factor: float) -> Any:
    f, a = by_parts(128, base, train_len, factor)
    return f[: dim // 2], a


def attention(change: Callable[[float], float]) -> Callable[..., Any]:
    def function(dim: int, base: float, train_len: int, factor: float) -> Any:
        f, a = by_parts(dim, base, train_len, factor)
        return f, change(a)

    return function


def jumps(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
    f, _ = by_parts(dim, base, train_len, factor)
    return f if seq_len > train_len else base ** (-2.0 * np.arange(dim // 2) / dim)


# A scheme with one fault, the check that has to have the least margin, and the pairs that may be named.
EVERY = range(64)
FAULTS: dict[str, tuple[Callable[..., Any], str, range | None]] = {
    "ramp upside down": (rampless(lambda x: 1 - np.clip(x, 0, 1)), "resolution", range(20)),
    "no lower clamp": (rampless(lambda x: np.minimum(x, 1)), "not_faster", range(1)),
    "no upper clamp": (rampless(lambda x: np.maximum(x, 0)), "finite_positive", range(46, 64)),
    "base for inverse base": (spoiled(lambda f, theta, k: 1 / theta), "not_faster", range(63, 64)),
    "times the factor": (spoiled(lambda f, theta, k: theta * k), "not_faster", EVERY),
    "factor on the fast end": (
        spoiled(lambda f, theta, k: theta / k ** (1 - np.arange(64) / 63)),
        "resolution",
        range(8),
    ),
    "mscale twice": (attention(lambda a: a * a), "attention_factor", None),
    "mscale inverted": (attention(lambda a: 1 / a), "attention_factor", None),
    "log to the base 10": (attention(lambda a: 0.1 * math.log10(8) + 1), "attention_factor", None),
    "s = 1, 1000, 1000": (
        spoiled(lambda f, theta, k: theta / np.where(np.arange(64) > 0, 1000.0, 1.0)),
        "not_overslowed",
        range(1, 64),
    ),
    "factor twice": (spoiled(lambda f, theta, k: f * f / theta), "not_overslowed", range(46, 64)),
    "a negative pair": (spoiled(at(lambda x: -x, 30)), "finite_positive", range(30, 31)),
    "a pair that is no number": (spoiled(at(lambda x: math.nan, 7)), "finite_positive", range(7, 8)),
    "a pair of 0": (spoiled(at(lambda x: 0.0, 50)), "finite_positive", range(50, 51)),
    "two pairs exchanged": (
        spoiled(lambda f, theta, k: f[[*range(40), 44, 41, 42, 43, 40, *range(45, 64)]]),
        "monotone",
        range(41, 45),
    ),
    "reversed": (spoiled(lambda f, theta, k: f[::-1].copy()), "monotone", range(63, 64)),
    "exponent i / dim": (spoiled(lambda f, theta, k: np.sqrt(f)), "not_faster", range(63, 64)),
    "bfloat16": (
        spoiled(lambda f, theta, k: (f.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)),
        "float32",
        range(4),
    ),
    "literals for the ramp": (literal, "arguments", None),
    "a literal base": (literal_base, "arguments", None),
    "a literal factor": (literal_factor, "arguments", None),
    "a literal dim": (literal_dim, "arguments", None),
    "a jump at the trained length": (jumps, "continuity", range(46, 64)),
    "one pair left unscaled": (
        spoiled(lambda f, theta, k: np.where(np.arange(64) == 58, theta, f)),
        "monotone",
        range(58, 59),
    ),
}


def test_the_least_margin_names_the_planted_faults() -> None:
    missed = {}
    for name, (function, key, pairs) in FAULTS.items():
        (result,) = rc.compare(function)
        assert result.broken, name
        if result.least.key != key or (pairs is not None and result.least.pair not in pairs):
            missed[name] = (result.least.key, result.least.pair)
    assert missed == {} and len(FAULTS) == 24


def test_the_same_schemes_without_a_fault_hold() -> None:
    healthy = rc.compare(by_parts, rampless(lambda x: np.clip(x, 0, 1)), factor=8)
    assert [each.broken for each in healthy] == [[], []]
    # What is a published scheme in frequencies and factor is excused what that is excused, and no other.
    (plain,) = rc.compare(lambda dim, base, factor: ntk(dim, base, factor))
    assert not plain.broken and [row.key for row in plain.rows if row.excuse == "published"] == ["inside_arc"]
    (scaled,) = rc.compare(lambda dim, base, factor: (ntk(dim, base, factor), 1.1386), factor=4)
    assert [row.key for row in scaled.broken] == ["attention_factor"]


def test_frequencies_of_a_published_scheme_ask_for_its_attention_factor() -> None:
    (yarn,) = rc.compare("yarn", factor=4)

    def lost(dim: int, base: float, train_len: int, factor: float) -> Any:
        return rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": factor})).inv_freq

    def switched(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        return base ** (-2.0 * np.arange(dim // 2) / dim) / (factor if seq_len > train_len else 1.0)

    bare, jump = rc.compare(lost, switched, factor=4)
    row = rows(bare)["attention_factor"]
    assert row.broken and cause_sentence(row) == "the frequencies are YaRN’s, whose factor is 1.139"
    # A list that is chosen by length is no linear scaling: alike has to be so at each length.
    assert rows(jump)["continuity"].broken and rows(jump)["resolution"].broken
    assert not rc.compare(by_parts, factor=4)[0].broken and not yarn.broken


SHORT: dict[str, Callable[[Any, float], Any]] = {
    "no number": lambda f, share: np.full(f.size, np.nan),
    "complex": lambda f, share: f * (-share) ** 0.3,
    "raises": lambda f, share: [][0],
    "backwards": lambda f, share: np.concatenate([-f[:1], f[1:]]),
    "another": lambda f, share: f / (1.02 + share),
}


@given(st.sampled_from(likeable_schemes()), st.sampled_from([*SHORT]), st.floats(0.0, 0.5), st.sampled_from([64, 128]))
@settings(max_examples=30, deadline=None)
def test_a_function_is_right_at_every_length_up_to_the_trained_one(name: str, how: str, share: float, dim: int) -> None:
    def whole(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        params = {"factor": factor} if "factor" in rc.SCHEMES[name].defaults() else {}
        at = rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), name, params, seq_len))
        return at.inv_freq, at.attention_factor

    def spoiled(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        f, a = whole(dim, base, train_len, factor, seq_len)
        return (SHORT[how](f, share) if seq_len <= max(1, share * train_len) else f), a

    right, wrong = rc.compare(whole, spoiled, model={**LLAMA, "head_dim": dim}, factor=4, length=600_000)
    assert rows(right)["continuity"].holds and rows(right)["continuity"].required
    row = rows(wrong)["continuity"]
    assert row.broken and row.values["at"] <= max(1, share * 131_072)
    assert f"seq_len {row.values['at']}" in cause_sentence(row)


def test_what_is_no_published_scheme_may_differ_below_the_trained_length() -> None:
    def graded(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        return by_parts(dim, base, train_len, 1.0 + (factor - 1.1) * min(seq_len / train_len, 1.0))[0]

    (own,) = rc.compare(graded)
    assert rows(own)["continuity"].holds
    (held,) = rc.compare(graded, like="yarn")
    assert rows(held)["continuity"].broken


@given(st.integers(4096, 65_536), st.sampled_from([None, 2048, 8192, 16_384, 65_536]), st.sampled_from([None, True]))
@settings(max_examples=25, deadline=None)
def test_the_state_that_columns_are_judged_at_does_not_contradict_itself(
    length: int, trained_to: int | None, tuned: bool | None
) -> None:
    (column,) = rc.compare("ntk", factor=4, length=length, trained_to=trained_to, fine_tuned=tuned)
    own, text = column.setting, setting_sentence(column)
    assert own.fine_tuned is bool(tuned or (trained_to or 0) >= length)
    assert own.trained == trained_to or (own.trained == (length if tuned else 4096) and trained_to is None)
    assert (f"trained on to {own.trained:,}" in text) == (own.trained > 4096) != ("not trained on" in text)
    # What is trained on at the target has seen its arc.
    assert rows(column)["inside_arc"].holds or not (own.fine_tuned and trained_to is None)


def test_an_attention_factor_is_required_of_a_recognised_scheme_or_a_named_one() -> None:
    def own(dim: int, base: float, train_len: int, factor: float) -> Any:
        return linear_of(dim, base, train_len, factor) ** 0.999, 1.067

    free, held = rc.compare(own)[0], rc.compare(own, like="yarn")[0]
    row, named = rows(free)["attention_factor"], rows(held)["attention_factor"]
    assert row.holds is None and not row.required and row.values["factor"] == 1.067
    assert named.broken and rows(held)["like"].broken and rows(free)["like"].holds is None
    (yarn,) = rc.compare(by_parts)
    assert rows(yarn)["attention_factor"].required and rows(yarn)["like"].required
    assert all(row.excuse_text(lang) for row in yarn.rows if row.excuse for lang in ("en", "zh"))
    assert [row.key for row in yarn.rows if row.excuse] == ["inside_arc"]


def test_the_factor_that_a_config_states_is_the_one_of_its_state() -> None:
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0} | TRAINED_ON
    (column,) = rc.compare(LLAMA | {"rope_scaling": scaling}, trained_to=131_072)
    text = setting_sentence(column)
    assert "pretrained to L = 8,192, scaled ×8, trained on to 131,072; target T = 131,072" in text
    # A model's own mscale decides which factor its frequencies ask for.
    yarn = {"rope_type": "yarn", "factor": 8.0, "mscale": 1.0, "mscale_all_dim": 1.0} | TRAINED_ON
    (mine,) = rc.compare(
        lambda dim, base, train_len, factor: (yarn_of(dim, base, train_len, factor), 1.0),
        model=LLAMA | {"rope_scaling": yarn},
    )
    assert rows(mine)["attention_factor"].holds and rows(mine)["attention_factor"].required


def yarn_of(dim: int, base: float, train_len: int, factor: float) -> Any:
    return rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": factor})).inv_freq


def test_numbers_have_no_attention_factor_beside_any_column() -> None:
    table, yarn, config = rc.compare(np.ones(64), "yarn", rc.model("llama-3.1-8b").hf_config())
    assert attention_factors_of(table, yarn) is None is attention_factors_of(yarn, table)
    assert attention_factors_of(yarn, config) == (yarn.attention_factor, 1.0)


def yarn_with_a_factor_of_its_own(dim: int, base: float, train_len: int, factor: float) -> Any:
    at = rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": factor}, int(factor * train_len))
    return rc.spectrum(at).inv_freq, 0.07 * math.log(factor) + 1.0


def test_settings_ask_for_less_or_for_more() -> None:
    (plain,) = rc.compare("linear", fine_tuned=True)
    assert not rows(plain)["resolution"].required and rows(plain)["monotone"].required
    for trained in (False, True):
        (own,) = rc.compare(yarn_with_a_factor_of_its_own, fine_tuned=trained)
        assert rows(own)["attention_factor"].broken is not trained
    (unscaled,) = rc.compare("none", length=8192, trained_to=8192)
    assert rows(unscaled)["inside_arc"].holds
    (strict,) = rc.compare(by_parts, thresholds={"resolution": 1.0001})
    assert [row.key for row in strict.broken] == ["resolution"]
    (strict,) = rc.compare(lambda dim, base: base ** (-2.0 * np.arange(dim // 2) / dim) / 1.2, factor=8)
    assert rows(strict)["resolution"].holds
    (strict,) = rc.compare(
        lambda dim, base: base ** (-2.0 * np.arange(dim // 2) / dim) / 1.2, thresholds={"resolution": 1.1}
    )
    assert not rows(strict)["resolution"].holds


THEIRS: dict[str, dict[str, Any]] = {
    "linear": {},
    "dynamic": {},
    "yarn": {"beta_fast": 24.0, "beta_slow": 2.0},
    "llama3": {"low_freq_factor": 2.0, "high_freq_factor": 8.0},
    "longrope": {"short_factor": [1.0 + i / 50 for i in range(48)], "long_factor": [1.0 + i / 3 for i in range(48)]},
    "proportional": {"partial_rotary_factor": 0.5},
}


@pytest.mark.parametrize("kind", [*theirs.ROPE_INIT_FUNCTIONS])
def test_functions_of_transformers_run_as_they_are(kind: str) -> None:
    function, more = theirs.ROPE_INIT_FUNCTIONS[kind], THEIRS[kind]
    code = "import torch\nfrom typing import Optional\n\n" + inspect.getsource(function)
    rope = rc.Rope(96, 500_000.0, 2048)
    with of_code(kind, code, more={**more, "reach": 0}) as column:
        inv_freq, attention = column.at(rope, 6.0, 12_288)
        assert set(column.takes or ()) == {"dim", "base", "train_len", "factor", "seq_len"}
    parameters = {"rope_type": kind, "rope_theta": 5e5, "factor": 6.0, "original_max_position_embeddings": 2048}
    config = LlamaConfig(
        head_dim=96,
        max_position_embeddings=2048,
        rope_parameters={**parameters, **more},
        hidden_size=96,
        num_attention_heads=1,
    )
    wanted, factor = function(config, None, 12_288)
    np.testing.assert_allclose(inv_freq, wanted.double().numpy(), rtol=1e-6, atol=0)
    assert attention == pytest.approx(factor, rel=1e-6)


BAD = {
    "syntax": ("def f(dim:\n", "line 1"),
    "raises": ("def f(dim, base):\n    return 1 / 0\n", "Line 2 raised ZeroDivisionError"),
    "nothing": ("x = 1\n", "no function of"),
    "shape": ("def f(dim, base):\n    return np.ones(3)\n", "inv_freq must be numbers of shape (64,)"),
    "argument": ("def f(dim, speed):\n    return np.ones(64)\n", "no meaning here: speed"),
    "rope_core": ("import rope_core\ndef f(dim):\n    return rope_core.Rope(128).theta\n", "rope_core"),
    "a list of texts": ("def f(dim):\n    return ['a'] * 64\n", "must be"),
    "stand-in": (
        "import torch\n\ndef f(config, device=None, seq_len=None):\n    return torch.nn.Linear(2, 2)\n",
        "Line 4 raised AttributeError: torch.nn is not in what stands in for torch here",
    ),
    "its own line": (
        "import torch\ndef f(config, device=None, seq_len=None):\n    return torch.arange(64).to(8, dtype='x') / []\n",
        "Line 3",
    ),
    "no line": (
        "def f(dim, base):\n    return (-1.0) ** 0.5 * np.ones(64)\n",
        "The call raised ValueError: inv_freq must",
    ),
    "field": (
        "def f(config, device=None, seq_len=None):\n    return config.rope_parameters['long_factor']\n",
        "Line 2 raised KeyError: 'long_factor is not in the config",
    ),
    "exit": ("import os\ndef f(dim):\n    os._exit(0)\n", "ended"),
}


@pytest.mark.parametrize("name", BAD)
def test_code_that_is_no_scheme_is_one_sentence(name: str, tmp_path: Path) -> None:
    code, words = BAD[name]
    path = tmp_path / "mine.py"
    path.write_text(code)
    with pytest.raises(ValueError) as raised:
        rc.compare(path)
    assert words in str(raised.value) and "\n" not in str(raised.value)


PACKAGE = {
    "pkg/__init__.py": "import torch.nn.functional as nothing_that_is_here",
    "pkg/ramps.py": "from . import angles\nfrom .deep.share import share\n"
    "def by_parts(dim, base, train_len, factor):\n"
    "    g = share(angles.theta(dim, base), train_len)\n    return angles.theta(dim, base) * (1 - g + g / factor)\n",
    "pkg/angles.py": "import numpy as np\ndef theta(dim, base):\n    return base ** (-2 * np.arange(dim // 2) / dim)\n",
    "pkg/deep/__init__.py": "",
    "pkg/deep/share.py": "import numpy as np\ndef share(theta, n):\n"
    "    return np.clip(np.log(32 * 2 * np.pi / (n * theta)) / np.log(32), 0, 1)\n",
    "beside.py": "import math\ndef factor_of(s):\n    return 0.1 * math.log(s) + 1\n",
    "pkg/mine.py": "import beside\nfrom pkg.ramps import by_parts\n"
    "def mine(dim, base, train_len, factor):\n"
    "    return by_parts(dim, base, train_len, factor), beside.factor_of(factor)\n",
    "secret.txt": "",
}


def test_a_function_inside_a_package_imports_what_stands_beside_it_and_reads_no_file(tmp_path: Path) -> None:
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    inside, here = rc.compare(tmp_path / "pkg" / "mine.py", by_parts, factor=8)
    np.testing.assert_allclose(inside.inv_freq, here.inv_freq, rtol=1e-12)
    assert not inside.broken and inside.attention_factor == here.attention_factor
    (tmp_path / "beside.py").write_text(f"factor_of = open({str(tmp_path / 'secret.txt')!r})")
    with pytest.raises(ValueError, match=r"mine.py:mine: .*(PermissionError|FileNotFoundError)"):
        rc.compare(tmp_path / "pkg" / "mine.py")


def test_every_public_function_of_a_file_is_a_column_and_a_helper_is_none(tmp_path: Path) -> None:
    path, body = tmp_path / "two.py", "(dim, base):\n    return base ** (-2 * np.arange(dim // 2) / dim)\n"
    path.write_text("".join(f"def {name}{body}" for name in ("first", "_helper", "second")))
    assert [each.column.function for each in rc.compare(path)] == ["first", "second"]
    assert [each.column.function for each in rc.compare(f"{path}:_helper")] == ["_helper"]
    with pytest.raises(ValueError, match="first, second, got 'third'"):
        rc.compare(f"{path}:third")
    # What takes another argument, or a config and no device, is a helper too, and has a column where it is named.
    helpers = "def find_range(dim, low):\n    return 1\n\ndef validate(config, keys=None):\n    return 1\n"
    path.write_text(path.read_text() + helpers)
    assert [each.column.function for each in rc.compare(path)] == ["first", "second"]
    path.write_text(path.read_text().replace("(dim, base):\n", "(dim, base):\n    dim = 128\n", 1))
    literal, whole = rc.compare(path)
    assert "dim" in rows(literal)["arguments"].values["without_effect"] and rows(literal)["arguments"].holds is None
    assert "dim" not in rows(whole)["arguments"].values["without_effect"]


def test_what_is_unreadable_is_named_and_the_others_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text("def wide(dim):\n    return np.ones(3)\n\ndef whole(dim):\n    return np.ones(dim // 2)\n")
    given = ["yarm", path, "yarn", np.ones(3), "[1, 2", tmp_path / "none.json", lambda dim: 1 / 0]
    with pytest.raises(UnreadableColumnsError, match="yarm") as raised:
        rc.compare(*given)
    refused = raised.value.unreadable
    assert [each.column.name for each in raised.value.compared] == ["two.py:whole", "yarn"]
    names = ["yarm", "two.py:wide", "inv_freq", "[1, 2", str(tmp_path / "none.json"), "<lambda>"]
    assert [each.name for each in refused] == names
    for each in refused:
        assert each.name in unreadable_sentence(each) and "\n" not in unreadable_sentence(each, "zh")
    for item in ("yarm", path, np.ones(3)):
        with pytest.raises(ValueError):
            rc.compare("yarn", item)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn", "llama3", "longrope"])
def test_the_file_of_transformers_is_read_where_it_stands(kind: str) -> None:
    config = {**LLAMA, "rope_scaling": {"rope_type": kind, "factor": 8.0, **TRAINED_ON, **STATED.get(kind, {})}}
    functions = public_names(inspect.getsource(theirs))
    assert len(functions) >= 6 and "rope_config_validation" not in functions
    (name,) = [each for each in functions if kind in each]
    (column,) = rc.compare(f"{inspect.getfile(theirs)}:{name}", model=config)
    # It is given what the model's config states, and recognised as that.
    assert not column.broken and column.column.alike == kind, [row.key for row in column.broken]


STATED: dict[str, dict[str, Any]] = {
    "yarn": {"beta_fast": 24.0, "beta_slow": 2.0, "mscale": 1.0, "mscale_all_dim": 1.0},
    "llama3": {"low_freq_factor": 2.0, "high_freq_factor": 8.0},
    "longrope": {"short_factor": [1.0 + i / 90 for i in range(64)], "long_factor": [1.0 + i / 9 for i in range(64)]},
}


def files(folder: Path) -> Iterator[tuple[str, Any]]:
    f = rc.compare("yarn")[0].inv_freq
    np.save(folder / "f.npy", f)
    yield "f.npy", f
    np.savetxt(folder / "f.csv", f)
    yield "f.csv", f
    (folder / "f.json").write_text(str(f.tolist()))
    yield "f.json", f


def test_frequencies_are_read_from_files(tmp_path: Path) -> None:
    for name, wanted in files(tmp_path):
        (result,) = rc.compare(tmp_path / name)
        np.testing.assert_allclose(result.inv_freq, wanted, rtol=1e-12)
    with pytest.raises(ValueError, match="of 64 pairs"):
        rc.compare(np.ones(3))
    for bad in ("no-such-scheme", tmp_path / "none.py", [], ["a"]):
        with pytest.raises(ValueError):
            rc.compare(bad)


def ramp_of(rope: rc.Rope, train_len: int, factor: float, high: float) -> Any:
    theta = rope.theta
    g = np.clip(np.log(high * math.tau / (train_len * theta)) / np.log(high), 0, 1)
    return theta * (1 - g + g / factor)


# (rope, factor, length of the text, max_position_embeddings) -> frequencies; which length a function is to read alone.
BY_CONFIG: dict[str, tuple[Callable[[rc.Rope, float, int, int], Any], bool]] = {
    "original": (lambda rope, factor, n, longest: ramp_of(rope, rope.train_len, factor, 20.0), False),
    "longest": (lambda rope, factor, n, longest: ramp_of(rope, longest, factor, 20.0), True),
    "ratio": (lambda rope, factor, n, longest: ramp_of(rope, rope.train_len, longest / rope.train_len, 20.0), False),
    "ratio past it": (lambda rope, factor, n, longest: ratio_past(rope, n, longest), False),
    "none": (lambda rope, factor, n, longest: rope.theta / factor, False),
    "dynamic": (lambda rope, factor, n, longest: dynamic_from(rope, factor, n, longest), False),
    "fixed, past it": (lambda rope, factor, n, longest: dynamic_from(rope, factor, 2 * longest, longest), False),
    "literal": (lambda rope, factor, n, longest: ramp_of(rope, rope.train_len, longest / 1000, 20.0), False),
}


def ratio_past(rope: rc.Rope, n: int, longest: int) -> Any:
    """As LongRoPE: the ratio of the two lengths, at least 1, and for texts past the original one alone."""
    return ramp_of(rope, rope.train_len, max(1.0, longest / rope.train_len), 20.0) if n > rope.train_len else rope.theta


def dynamic_from(rope: rc.Rope, factor: float, n: int, longest: int) -> Any:
    at = rc.Request(rc.Rope(rope.dim, rope.base, longest), "dynamic", {"factor": factor}, max(n, longest))
    return rc.spectrum(at).inv_freq


@given(st.sampled_from([*BY_CONFIG]), st.floats(5e3, 1e6), st.sampled_from([2048, 8192]), st.integers(2, 16))
@settings(max_examples=30, deadline=None)
def test_a_function_of_a_config_is_run_at_two_of_its_longest_lengths(
    name: str, base: float, train_len: int, factor: int
) -> None:
    """What the longest length changes and the original one does not has its place; of dynamic it is the trained one."""
    function, is_wrong = BY_CONFIG[name]

    def at(rope: rc.Rope, factor: float, length: int, longest: int) -> tuple[Any, float]:
        return function(rope, factor, length, longest or round(factor * rope.train_len)), 1.0

    code = "def f(config):\n    p = config.rope_parameters\n    return config.max_position_embeddings\n"
    column = of_function("f", at, ("dim", "base", "train_len", "factor", "seq_len"), code)
    config = {"model_type": "llama", "head_dim": 64, "rope_theta": base, "max_position_embeddings": train_len}
    (compared,) = rc.compare(column, model=config, factor=factor)
    row = rows(compared)["arguments"]
    assert ("max_position" in row.values) == is_wrong and (not is_wrong or row.broken), row.values
    assert not is_wrong or "line 3: return config.max_position_embeddings" in cause_sentence(row)
    assert name in ("dynamic", "fixed, past it") or "the trained length" not in config_sentence(compared)
    dynamic = rc.spectrum(
        rc.Request(rc.Rope(64, base, train_len), "dynamic", {"factor": float(factor)}, factor * train_len)
    )
    if name == "dynamic":
        np.testing.assert_allclose(compared.inv_freq, dynamic.inv_freq, rtol=1e-9)
        assert not compared.broken and "the trained length" in config_sentence(compared)


@given(st.booleans(), st.floats(5e3, 1e6), st.sampled_from([2048, 8192]), st.integers(2, 16))
@settings(max_examples=10, deadline=None)
def test_a_constant_in_the_place_of_the_attention_factor_does_not_follow_the_arguments(
    constant: bool, base: float, train_len: int, factor: int
) -> None:
    own = 0.1 * math.log(factor) + 1.0

    def mine(dim: int, base: float, train_len: int, factor: float) -> Any:
        at = rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": float(factor)}, int(factor * train_len))
        return rc.spectrum(at).inv_freq, own if constant else 0.1 * math.log(factor) + 1.0

    config = {"model_type": "llama", "head_dim": 64, "rope_theta": base, "max_position_embeddings": train_len}
    (compared,) = rc.compare(mine, model=config, factor=factor)
    row = rows(compared)["arguments"]
    assert row.broken is constant and bool(row.values.get("constant")) is constant
    assert not constant or f"stays {own:.4g}" in cause_sentence(row)


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(4, 32))
@settings(max_examples=15, deadline=None)
def test_short_texts_are_held_to_the_short_factors(seed: int, always_long: bool, factor: int) -> None:
    draw = np.random.default_rng(seed)
    short, long = np.sort(draw.uniform(1.0, 1.5, 64)), np.sort(draw.uniform(1.5, factor, 64))
    lists = {"short_factor": short.tolist(), "long_factor": long.tolist()}
    scaling = {"rope_type": "longrope", "factor": float(factor), **lists, **TRAINED_ON}

    def mine(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        f = base ** (-2.0 * np.arange(dim // 2) / dim) / (long if always_long or seq_len > train_len else short)
        return f, math.sqrt(1 + math.log(factor) / math.log(train_len))

    (column,) = rc.compare(mine, model=LLAMA | {"rope_scaling": scaling, "max_position_embeddings": 8192 * factor})
    like = rows(column)["like"]
    assert (
        like.required and like.broken is always_long and ("like" in [row.key for row in column.broken]) is always_long
    )
    assert column.nearest is not None and column.nearest.mistake == ("length_ignored" if always_long else "")
    assert not always_long or "seq_len 8192" in cause_sentence(like) or "seq_len 1" in cause_sentence(like)


@given(st.floats(5e4, 1e6), st.sampled_from([10_000.0, 2500.0]), st.integers(2, 16))
@settings(max_examples=10, deadline=None)
def test_a_literal_that_is_wrong_here_is_named_by_what_it_would_be_right_for(
    base: float, literal: float, factor: int
) -> None:
    def by_base(dim: int, base: float, train_len: int, factor: float) -> Any:
        return rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), "yarn", {"factor": factor})).inv_freq

    def wrong(dim: int, base: float, train_len: int, factor: float) -> Any:
        ramp = by_base(dim, literal, train_len, factor) * literal ** (2.0 * np.arange(dim // 2) / dim)
        return ramp * base ** (-2.0 * np.arange(dim // 2) / dim)

    code = f"def wrong(dim, base, train_len, factor):\n    low = {literal}\n    return low\n"
    column = replace(of_callable("wrong", wrong), code=code, function="wrong")
    (compared,) = rc.compare(column, model=LLAMA | {"rope_theta": base}, factor=factor, length=131_072 * factor)
    text = cause_sentence(rows(compared)["arguments"])
    assert rows(compared)["arguments"].broken
    assert f"where base is {literal:,g}, and not here: a literal in line 2: low = {literal}" in text


@given(st.sampled_from(likeable_schemes()), st.floats(1e3, 1e7), st.integers(512, 32_768), st.integers(2, 64))
@settings(max_examples=40, deadline=None)
def test_what_is_a_published_scheme_follows_its_arguments_whatever_it_breaks_elsewhere(
    name: str, base: float, train_len: int, factor: int
) -> None:
    takes_factor = "factor" in rc.SCHEMES[name].defaults()

    def mine(dim: int, base: float, train_len: int, factor: float, seq_len: int) -> Any:
        params = {"factor": factor} if takes_factor else {}
        at = rc.spectrum(rc.Request(rc.Rope(dim, base, train_len), name, params, seq_len))
        return at.inv_freq, at.attention_factor

    config = {"model_type": "llama", "head_dim": 64, "rope_theta": base, "max_position_embeddings": train_len}
    (column,) = rc.compare(mine, model=config, factor=factor)
    row = rows(column)["arguments"]
    assert row.holds or (not takes_factor and "factor" in row.values["without_effect"]), row.values


def test_bfloat16_rounds_as_in_torch(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch\n\ndef f(config, device=None, seq_len=None):\n"
        "    f = 1.0 / config.rope_theta ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim)\n"
        "    return f.to(torch.bfloat16).float(), 1.0\n"
    )
    (column,) = rc.compare(path)
    exact = 1.0 / 10_000.0 ** (torch.arange(0, 128, 2).float() / 128)
    np.testing.assert_array_equal(column.inv_freq, exact.to(torch.bfloat16).double().numpy())
    assert "bfloat16" in cause_sentence(rows(column)["float32"]) and rows(column)["float32"].broken


def test_angles_err_by_at_most_their_bound_as_transformers_multiplies() -> None:
    (yarn,) = rc.compare("yarn", length=2**23)
    f, positions = yarn.inv_freq, np.arange(2**23 - 4096, 2**23 + 1)
    single = positions.astype(np.float32)[:, None] * f.astype(np.float32)
    errors = np.abs(single.astype(np.float64) - positions[:, None] * f).max(0)
    bound = 0.1 / 2.0 ** np.asarray(rows(yarn)["float32"].by_pair)
    assert np.all(errors[1:] <= bound[1:]) and errors[0] == 0.0 and np.median(errors[1:] / bound[1:]) > 0.3
    assert rows(yarn)["float32"].values["float32_error"] == pytest.approx(bound.max(), rel=1e-5)
    assert not rows(yarn)["float32"].holds
    # A function may answer in more digits than a model keeps; what is released with the error is not called broken.
    (scout,) = rc.compare("llama-4-scout")
    assert rows(scout)["float32"].holds is False and not rows(scout)["float32"].broken


def test_two_columns_are_equal_but_where_a_pair_was_changed() -> None:
    (yarn,) = rc.compare("yarn", factor=8)
    other = yarn.inv_freq * (1 + 1e-7)
    other[[3, 40]] *= 1.5, 0.25
    changed, same = rc.compare(other, yarn.inv_freq.astype(np.float32), factor=8)
    apart = difference(changed, yarn)
    assert apart.other == (3, 40) and len(apart.equal) == 62
    assert apart.pair == 40 and apart.ratio == pytest.approx(0.25) and runs_of(apart.other) == "3, 40"
    assert difference(same, yarn).pair is None
    # Frequencies alone have no factor of their own.
    assert apart.attention_ratio == pytest.approx(1 / yarn.attention_factor)


def test_another_model_is_required_of_functions_that_take_its_geometry() -> None:
    general, single = rc.compare(literal, lambda dim, factor: literal(dim, BASE, TRAIN, factor)[:])
    assert rows(general)["arguments"].broken and rows(general)["arguments"].values["without_effect"] == ["train_len"]
    assert not rows(single)["arguments"].required and not rows(single)["arguments"].broken
    # Half the width is tried, a literal for it named with its line, and a table of one width not accused.
    dim, table = rc.compare(
        literal_dim, lambda dim, base, train_len, factor: by_parts(dim, base, train_len, factor)[0] * np.ones(64)
    )
    assert rows(dim)["arguments"].broken and rows(dim)["arguments"].values["dim"] == 64
    assert rows(dim)["arguments"].values["line"]["words"] == "128"
    assert rows(table)["arguments"].holds and rows(table)["arguments"].values["dim"] == 128


@given(st.sampled_from([16, 32, 64, 96]), st.floats(100.0, 1e6), st.sampled_from([linear_of, by_parts]))
@settings(max_examples=8, deadline=None)
def test_a_function_that_takes_no_notice_of_dim_does_not_follow_its_arguments(
    width: int, base: float, scheme: Callable[..., Any]
) -> None:
    config = {"model_type": "llama", "head_dim": width, "rope_theta": base, "max_position_embeddings": 4096}
    config |= {"hidden_size": 8 * width, "num_attention_heads": 8}
    kept, lost = rc.compare(
        lambda dim, base, train_len, factor: scheme(dim, base, train_len, factor),
        lambda dim, base, train_len, factor: scheme(width, base, train_len, factor),
        model=config,
    )
    assert rows(lost)["arguments"].broken and "dim" in rows(lost)["arguments"].values["without_effect"]
    assert "dim" not in rows(kept)["arguments"].values["without_effect"]


def test_a_model_that_states_a_factor_is_compared_at_it() -> None:
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0} | TRAINED_ON
    config = LLAMA | {"rope_scaling": scaling}
    (table,) = rc.compare(rc.from_hf(config).inv_freq, model=config, like="llama3")
    assert table.setting.factor == 8.0 and not table.broken
    assert rc.compare("linear", model=config, factor=2)[0].setting.factor == 2.0
    assert rc.compare("linear", model=LLAMA)[0].setting.factor == 4.0


LLAMA = {"model_type": "llama", "head_dim": 128, "rope_theta": 5e5, "max_position_embeddings": 131_072}
LLAMA |= {"hidden_size": 4096, "num_attention_heads": 32}
TRAINED_ON = {"original_max_position_embeddings": 8192}
FAULTY = {
    "high_freq_factor": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0},
    "high_freq_factor, equal": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 2.0, "high_freq_factor": 2.0},
    "beta_fast": {"rope_type": "yarn", "factor": 16.0, "beta_fast": 1.0, "beta_slow": 32.0},
    "beta_fast, equal": {"rope_type": "yarn", "factor": 16.0, "beta_fast": 2.0, "beta_slow": 2.0},
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_of_a_config_is_named_by_its_field(name: str) -> None:
    (column,) = rc.compare({**LLAMA, "rope_scaling": {**FAULTY[name], **TRAINED_ON}}, trained_to=131_072)
    row, field = rows(column)["config"], name.partition(",")[0]
    assert row.broken and column.least.key == "config"
    assert [each.field for each in row.values["findings"]] == [f"rope_scaling.{field}"]
    assert all(any(f"rope_scaling.{field}" in text for text in detail_sentences(row, lang)) for lang in ("en", "zh"))


def test_a_config_that_leaves_out_the_trained_length_is_broken_and_one_as_released_is_not() -> None:
    bare, whole = (
        {**LLAMA, "rope_scaling": {"rope_type": "yarn", "factor": 16.0, **more}} for more in ({}, TRAINED_ON)
    )
    first, second = rc.compare(bare, whole, trained_to=131_072)
    assert "rope_scaling.original_max_position_embeddings" in detail_sentences(rows(first)["config"])[0]
    assert rows(first)["config"].broken and not second.broken
    for model in ("llama-3.1-8b", "kimi-k2", "llama-2-7b", "phi-3.5-mini"):
        (same,) = rc.compare(rc.model(model).hf_config())
        assert same.column.released and same.setting.fine_tuned and not same.broken, model
    (own,) = rc.compare({**rc.model("llama-3.1-8b").hf_config(), "rope_theta": 4e5})
    assert not own.setting.fine_tuned and rows(own)["inside_arc"].holds is False


def test_a_config_is_measured_from_the_length_that_its_card_states() -> None:
    whole = rc.model("qwen2.5-7b").hf_config()
    block = {"type": "yarn", "factor": 4.0}
    bare = {**whole, "max_position_embeddings": 131_072, "rope_scaling": block}
    stated = {**bare, "rope_scaling": {**block, "original_max_position_embeddings": 32_768}}
    first, second = rc.compare(bare, stated)
    assert first.setting.trained == second.setting.trained == 32_768
    assert first.setting.rope.train_len == 131_072 and "card gives" in setting_sentence(first)
    # What YaRN from 131,072 leaves unslowed passes the arc of 32,768 tokens.
    assert rows(first)["inside_arc"].holds is False and rows(second)["inside_arc"].holds
    f, theta = first.inv_freq, first.setting.rope.theta
    passed = np.minimum(131_072 * f, math.tau) / (32_768 * theta)
    assert rows(first)["inside_arc"].measured == pytest.approx(passed.max(), rel=1e-5)


def test_a_factor_that_a_config_states_is_measured_against_the_scheme_s_own() -> None:
    yarn = {"rope_type": "yarn", "factor": 16.0, **TRAINED_ON}
    stated, plain = (
        rc.compare({**LLAMA, "rope_scaling": {**yarn, **more}})[0] for more in ({"attention_factor": 1.0}, {})
    )
    assert rows(stated)["attention_factor"].broken and rows(plain)["attention_factor"].holds
    assert rows(stated)["attention_factor"].values["expected"] == pytest.approx(0.1 * math.log(16) + 1)


def test_code_that_leaves_the_temperature_to_the_softmax_is_excused_by_its_own_words(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    head, body = inspect.getsource(ramp), inspect.getsource(by_parts).replace("0.1 * math.log(factor) + 1", "1.0")
    for note, excused in (("", False), ("  # scaled in the softmax", True)):
        path.write_text(f"import math\nfrom typing import Any\n\n{head}\n\n{body.rstrip()}{note}\n")
        (column,) = rc.compare(f"{path}:by_parts", factor=8)
        row = rows(column)["attention_factor"]
        assert row.holds is False and (row.excuse == "published") is excused and row.broken is not excused
        assert ("softmax" in cause_sentence(row)) is excused


def test_programs_that_read_a_config_otherwise_are_named_with_what_they_read() -> None:
    yarn = {"rope_type": "yarn", "factor": 16.0, **TRAINED_ON}
    stated, plain = (
        rc.compare({**LLAMA, "rope_scaling": {**yarn, **more}}, trained_to=131_072)[0]
        for more in ({"attention_factor": 1.5}, {})
    )
    row = rows(stated)["programs"]
    (text,) = [text for text in detail_sentences(row) if text.startswith("SGLang")]
    assert row.broken and "ignores attention_factor" in text and f"{0.1 * math.log(16) + 1:.4g}" in text
    # LitGPT has no YaRN whose ramp is right, whatever a config says, and LongRoPE's list is chosen by context.
    (ends,) = rc.compare({**LLAMA, "rope_scaling": {**yarn, "beta_fast": 32.0, "beta_slow": 1.0}}, trained_to=131_072)
    apart = {each["name"]: each["own_formula"] for each in rows(ends)["programs"].values["programs"]}
    assert apart["LitGPT 0.5.13"] and not rows(ends)["programs"].broken
    notes = [note_sentences(rows(each)["programs"]) for each in (ends, plain)]
    assert "inverted" in notes[0][0] and "divides every pair by the factor" in notes[1][0]
    assert rows(plain)["programs"].holds and rows(plain)["programs"].measured == pytest.approx(0, abs=1e-9)
    # The pair named is the one whose difference is measured.
    (gpt,) = rc.compare("gpt-oss-20b")
    for each in rows(gpt)["programs"].values["programs"]:
        ratio = each["inv_freq"] / each["inv_freq_transformers"]
        assert abs(ratio - 1) == pytest.approx(each["difference"], rel=1e-6)
    lists = {"short_factor": [1.0] * 64, "long_factor": [16.0] * 64, "rope_type": "longrope", **TRAINED_ON}
    (searched,) = rc.compare({**LLAMA, "rope_scaling": {**lists, "factor": 16.0}}, fine_tuned=True)
    assert not rows(searched)["programs"].broken
