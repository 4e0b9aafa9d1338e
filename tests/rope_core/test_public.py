"""The package's public face: what ``import rope_core as rc`` offers, and what it costs."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
import torch

import rope_core as rc

CONFIG = {
    "model_type": "llama",
    "hidden_size": 512,
    "num_attention_heads": 8,
    "rope_theta": 5e5,
    "max_position_embeddings": 8192,
}


def fresh(code: str) -> str:
    """Run code in a process of its own and return what it printed."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_every_public_name_is_documented_and_no_module() -> None:
    assert sorted(rc.__all__) == sorted(set(rc.__all__))
    for name in rc.__all__:
        value = getattr(rc, name)
        assert not isinstance(value, ModuleType), name
        assert value.__doc__ or not callable(value), name


def test_a_function_covers_no_module_but_spectrum() -> None:
    modules = {name for _, name, _ in pkgutil.iter_modules(rc.__path__)}
    assert modules & set(rc.__all__) == {"spectrum"}
    assert callable(rc.spectrum) and callable(importlib.import_module("rope_core.spectrum").position_angles)


def test_what_the_checks_offer_is_reached_from_the_root() -> None:
    assert {each.severity for each in rc.check(CONFIG)} <= {"note"}
    assert rc.engines(CONFIG)[0].name == "transformers 5.24"
    assert [each.key for each in rc.check_cache(CONFIG, 4096, 8192)] == []
    weight = np.arange(64.0 * 4).reshape(64, 4)
    moved = rc.convert_projection(weight, 2, "interleaved", "half")
    assert rc.check_conversion(weight, moved, 2) == []
    assert [each.key for each in rc.check_conversion(weight, weight, 2)] == ["rows_not_reordered"]
    assert rc.check_positions(np.arange(5)) == []
    assert rc.to_v4(rc.to_v5(CONFIG))["rope_theta"] == 5e5
    assert all(isinstance(way, rc.Way) for way in rc.extend(CONFIG, 32_768))


def test_a_finding_gives_its_sentences_in_both_languages() -> None:
    single = rc.check(CONFIG | {"rope_theta": 0.5})[0]
    assert single.why() == single.why("en") == "rope_theta must be a finite number > 1, got 0.5."
    assert single.why("zh") == "rope_theta 要求：大于 1 的有限数，实际为 0.5。"
    assert {single.title(lang) for lang in ("en", "zh")} == {"A value that cannot be used", "无法使用的值"}
    assert single.change("zh") == "请更正 rope_theta。"
    with pytest.raises(ValueError, match="lang must be one of en, zh, got 'fr'"):
        single.title("fr")


def test_rooms_are_loaded_at_their_first_use() -> None:
    heavy = ["torch", "numba", "scipy", "streamlit", "plotly", "transformers", "safetensors", "huggingface_hub"]
    heavy += ["rope_core.grade"]
    loaded = f"import sys, rope_core, rope_core.hf.hub; print([name for name in {heavy} if name in sys.modules])"
    assert fresh(loaded) == "[]\n"
    seen = "print('torch' in sys.modules)"
    code = f"import sys, rope_core as rc; rc.kernels; {seen}; rc.kernels.apply; {seen}"
    assert fresh(code).split() == ["False", "True"]
    with pytest.raises(AttributeError, match="no attribute 'kernel'"):
        rc.kernel  # type: ignore[attr-defined]  # noqa: B018


def test_the_kernel_at_the_root_is_the_rotation() -> None:
    s = rc.spectrum(rc.Request(rc.Rope(8, 5e5)))
    cos, sin = (torch.from_numpy(table) for table in rc.cos_sin(s, range(3, 9)))
    q = torch.randn(1, 6, 2, 8, generator=torch.Generator().manual_seed(1))
    turned, _ = rc.kernels.apply(q, q[:, :, :1], cos, sin, layout="half")
    assert torch.allclose(turned, rc.rotate(q, cos, sin, "half"), atol=1e-6)


def test_import_takes_less_than_three_tenths_of_a_second() -> None:
    code = "import time, numpy; a = time.process_time(); import rope_core; print(time.process_time() - a)"
    assert min(float(fresh(code)) for _ in range(3)) < 0.3
