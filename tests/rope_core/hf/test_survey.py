"""The catalogue's rows against transformers' formula by hand, filters, and source 004's table by year."""

import math

import pytest

from rope_core import Request, Rope, spectrum
from rope_core.hf.catalogue import released_model, released_models, unrotated_models
from rope_core.hf.survey import filter_values, filtered_rows, rotating_shares, survey_rows, survey_value_text


def test_every_model_has_a_row() -> None:
    assert {row.model.id for row in survey_rows()} == {each.id for each in released_models()}
    years = [row.model.year for row in survey_rows()]
    assert years == sorted(years)


def test_gemma_3_has_a_row_for_each_kind_of_layer() -> None:
    result = {row.layer_type: row for row in survey_rows() if row.model.id == "gemma-3-27b"}
    width = result["full_attention"].rope.rotary_dim
    # Sliding layers turn by base 10,000 unscaled, full ones by 1,000,000 and 8 times slower.
    for kind, base, slower in (("sliding_attention", 1e4, 1.0), ("full_attention", 1e6, 8.0)):
        assert result[kind].longest == pytest.approx(2 * math.pi * base ** ((width - 2) / width) * slower, rel=1e-12)
        assert result[kind].shortest == pytest.approx(2 * math.pi * slower, rel=1e-12)


@pytest.mark.parametrize("length", [1, 7, 4096, 131_072, 10**9])
def test_unturned_counts_pairs_by_hand(length: int) -> None:
    row = next(row for row in survey_rows() if row.model.id == "llama-3.1-8b")
    config = released_model("llama-3.1-8b").config
    params = {key: config["rope_scaling"][key] for key in ("factor", "low_freq_factor", "high_freq_factor")}
    s = spectrum(Request(Rope(128, 500_000.0, 8192), "llama3", params))
    assert row.incomplete_pair_count(length) == sum(wave > length for wave in s.wavelength.tolist())
    assert row.context == 131_072


def test_an_unfit_length_is_refused() -> None:
    with pytest.raises(ValueError, match="length must be"):
        survey_rows()[0].incomplete_pair_count(math.nan)


def test_filters() -> None:
    assert filtered_rows() == survey_rows()
    assert filtered_rows(family=None, scheme=None) == survey_rows()
    for field in ("family", "scheme", "layout", "confidence"):
        parts = [filtered_rows(**{field: value}) for value in filter_values(field)]
        assert all(parts)
        assert sum(map(len, parts)) == len(survey_rows())
        assert all(survey_value_text(row, field) == filter_values(field)[0] for row in parts[0])
    assert filtered_rows(family="Yi", layout="interleaved") == ()


def test_what_the_page_claims() -> None:
    never = [row for row in survey_rows() if row.longest > row.context]
    assert len(never) > 0.85 * len(survey_rows())
    waves: dict[int, list[float]] = {}
    for row in survey_rows():
        waves.setdefault(row.context, []).append(row.longest)
    assert max(max(result) / min(result) for result in waves.values()) > 100


@pytest.mark.parametrize(
    ("name", "layers", "attention", "rotating", "width", "base"),
    [
        ("Llama 3.1 8B", 32, 32, 32, 1.0, 5e5),
        ("SmolLM3 3B", 36, 36, 27, 1.0, 5e6),
        ("EXAONE 4.0 32B", 64, 64, 48, 1.0, 1e6),
        ("Qwen3-Next 80B-A3B Thinking", 48, 12, 12, 0.25, 1e7),
        ("LFM2 1.2B", 16, 6, 6, 1.0, 1e6),
        ("DeepSeek-V3", 61, 61, 61, 64 / 192, 1e4),
        ("GLM-4.5", 46, 46, 46, 0.5, 1e6),
        ("Mistral Large 4", 72, 72, 54, 0.5, 1e4),
        ("Muse Spark Open", 62, 62, 46, 1.0, 5e5),
        ("Inkling", 66, 66, 0, 0.0, None),
        ("Kimi Linear 48B", 27, 7, 0, 0.0, None),
    ],
)
def test_how_much_of_a_model_rotates(
    name: str, layers: int, attention: int, rotating: int, width: float, base: float | None
) -> None:
    (each,) = [each for each in rotating_shares() if each.name == name]
    assert (each.layers, each.attention, each.rotating, each.base) == (layers, attention, rotating, base)
    assert each.width == pytest.approx(width)


def test_every_model_with_known_layers_has_its_share() -> None:
    # Qwen 7B's class comes with the model, so nobody here says how many layers it has.
    names = {m.name for m in released_models()} | {m.name for m in unrotated_models()}
    assert {each.name for each in rotating_shares()} == names - {"Qwen 7B"}
    assert all(0 <= each.rotating <= each.attention <= each.layers and each.width <= 1.0 for each in rotating_shares())
