"""Encodings: against transformers' own modules run live, literal values, and laws of relativity."""

import math

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.deberta.configuration_deberta import DebertaConfig
from transformers.models.deberta.modeling_deberta import DisentangledSelfAttention, build_relative_position
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig, Qwen2VLVisionConfig
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding, Qwen2VLVisionRotaryEmbedding
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding
from transformers.models.t5.configuration_t5 import T5Config
from transformers.models.t5.modeling_t5 import T5Attention
from transformers.models.wav2vec2_bert.configuration_wav2vec2_bert import Wav2Vec2BertConfig
from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import Wav2Vec2BertSelfAttention

from rope_core import Request, Rope, rotation_matrix, spectrum
from rope_core.hf.places import multimodal_positions
from rope_core.rope import Array
from rope_core.schemes import SCHEMES
from rope_core.theory.encodings import additive, compare, digits, relative, rotary

RNG = np.random.default_rng(9)


def filmed(before: int, frames: int, height: int, width: int, after: int) -> np.ndarray:
    """Return the positions of words, a video and words, (n, 3)."""
    config = {"model_type": "qwen2_vl", "vision_config": {"spatial_merge_size": 1}}
    types = [0] * before + [2] * (frames * height * width) + [0] * after
    positions = multimodal_positions(config, types, video_grid_thw=[[frames, height, width]], after_largest=True)
    return positions.T.astype(np.float64)


def drawn(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def numpy_of(tensor: torch.Tensor) -> Array:
    return tensor.detach().double().numpy()


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(("buckets", "reach"), [(32, 128), (16, 40), (64, 1000)])
def test_t5_buckets_are_transformers(bidirectional: bool, buckets: int, reach: int) -> None:
    difference = np.arange(-3000, 3001)
    theirs = T5Attention._relative_position_bucket(torch.from_numpy(difference), bidirectional, buckets, reach)
    np.testing.assert_array_equal(relative.t5_buckets(difference, bidirectional, buckets, reach), theirs.numpy())


def test_t5_logits_are_transformers() -> None:
    torch.manual_seed(1)
    config = T5Config(d_model=24, d_kv=12, num_heads=2, dropout_rate=0.0)
    config._attn_implementation = "eager"
    module = T5Attention(config, has_relative_attention_bias=True).eval()
    x = torch.randn(1, 150, 24)
    answer = module(x, output_attentions=True)
    weights = next(part for part in answer[1:] if torch.is_tensor(part) and part.shape[-1] == 150 and part.min() >= 0)
    heads = [numpy_of(layer(x)).reshape(150, 2, 12) for layer in (module.q, module.k)]
    for head in range(2):
        bias = numpy_of(module.relative_attention_bias.weight[:, head])
        logits = relative.t5_logits(heads[0][:, head], heads[1][:, head], np.arange(150) + 11, bias)
        expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        np.testing.assert_allclose(expected, numpy_of(weights[0, head]), atol=1e-6)


@pytest.mark.parametrize("heads", [8, 12, 20, 71])
def test_alibi_is_transformers_up_to_a_row_constant(heads: int) -> None:
    theirs = numpy_of(build_alibi_tensor(torch.ones(1, 40, dtype=torch.long), heads, torch.float32))
    slopes = relative.alibi_slopes(heads)
    np.testing.assert_allclose(theirs[:, 0, 1], slopes, rtol=1e-6)
    q, k = drawn(2, 40, 16)
    for head in (0, heads - 1):
        mine = relative.alibi_logits(q, k, np.arange(40), float(slopes[head]))
        bloom = q @ k.T / 4.0 + theirs[head]
        for row in (3, 39):  # causal: keys up to the query
            gap = (mine - bloom)[row, : row + 1]
            assert np.ptp(gap) < 1e-5


def test_deberta_is_transformers() -> None:
    torch.manual_seed(2)
    config = DebertaConfig(
        hidden_size=24,
        num_attention_heads=2,
        relative_attention=True,
        max_relative_positions=6,
        pos_att_type=["c2p", "p2c"],
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    module = DisentangledSelfAttention(config).eval()
    torch.nn.init.normal_(module.q_bias)
    n = 15
    x, rel = torch.randn(1, n, 24), torch.randn(12, 24)
    index = build_relative_position(x, x)
    _, weights = module(x, torch.ones(1, 1, n, n), output_attentions=True, relative_pos=index, rel_embeddings=rel)
    packed = numpy_of(module.in_proj(x))[0].reshape(n, 2, 36)
    bias = numpy_of(module.q_bias).reshape(2, 12)
    pos_k = numpy_of(module.pos_proj(rel)).reshape(12, 2, 12)
    pos_q = numpy_of(module.pos_q_proj(rel)).reshape(12, 2, 12)
    for head in range(2):
        q, k = packed[:, head, :12] + bias[head], packed[:, head, 12:24]
        terms = relative.disentangled_terms(q, k, np.arange(n) + 4, pos_k[:, head], pos_q[:, head])
        logits = relative.disentangled_logits(terms, 12)
        expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        np.testing.assert_allclose(expected, numpy_of(weights[0, head]), atol=1e-6)
        printed = relative.disentangled_terms(q, k, np.arange(n), pos_k[:, head], pos_q[:, head], as_printed=True)
        assert np.abs(printed["p2c"] - terms["p2c"]).max() > 0.1
        np.testing.assert_array_equal(printed["c2p"], terms["c2p"])


def test_shaw_keys_are_transformers() -> None:
    torch.manual_seed(3)
    config = Wav2Vec2BertConfig(
        hidden_size=24,
        num_attention_heads=2,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=5,
        right_max_position_embeddings=5,
        attention_dropout=0.0,
    )
    config._attn_implementation = "eager"
    module = Wav2Vec2BertSelfAttention(config).eval()
    x = torch.randn(1, 14, 24)
    _, weights = module(x)
    heads = [numpy_of(layer(x)).reshape(14, 2, 12) for layer in (module.linear_q, module.linear_k)]
    table = numpy_of(module.distance_embedding.weight)
    for head in range(2):
        logits = relative.shaw_logits(heads[0][:, head], heads[1][:, head], np.arange(14) + 100, table)
        expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        np.testing.assert_allclose(expected, numpy_of(weights[0, head]), atol=1e-6)


def test_shaw_values_are_the_printed_sum() -> None:
    a, v, table = np.abs(drawn(5, 5)), drawn(5, 4), drawn(5, 4)
    expected = np.zeros((5, 4))
    for i in range(5):
        for j in range(5):
            expected[i] += a[i, j] * (v[j] + table[min(max(j - i, -2), 2) + 2])
    np.testing.assert_allclose(relative.shaw_output(a, v, [7, 8, 9, 10, 11], table), expected)


@pytest.mark.parametrize("interleaved", [False, True])
def test_mrope_is_transformers(interleaved: bool) -> None:
    sections = [3, 3, 2] if interleaved else [2, 4, 2]
    shape = {"hidden_size": 32, "num_attention_heads": 2, "head_dim": 16}
    parameters = {"rope_type": "default", "rope_theta": 900.0, "mrope_section": sections}
    module: torch.nn.Module
    if interleaved:
        module = Qwen3VLTextRotaryEmbedding(Qwen3VLTextConfig(**shape, rope_parameters=parameters))
    else:
        module = Qwen2VLRotaryEmbedding(Qwen2VLTextConfig(**shape, rope_parameters=parameters))
    positions = filmed(3, 2, 2, 4, 3)
    cos, sin = module(torch.zeros(1, 1, 1), torch.from_numpy(positions.T[:, None]).float())
    angle = rotary.mrope_angles(positions, Rope(16, 900.0).theta, rotary.mrope_axes(sections, interleaved))
    np.testing.assert_allclose(np.cos(angle), numpy_of(cos)[0, :, :8], atol=1e-5)
    np.testing.assert_allclose(np.sin(angle), numpy_of(sin)[0, :, :8], atol=1e-5)


def image_positions(height: int, width: int) -> np.ndarray:
    """Return (row, column) of an image's patches in reading order, (height * width, 2)."""
    return np.stack(np.divmod(np.arange(float(height * width)), width), axis=-1)


def test_axial_angles_are_qwens_vision_tower() -> None:
    grid = image_positions(3, 5) + 2
    module = Qwen2VLVisionRotaryEmbedding(Qwen2VLVisionConfig(embed_dim=32, num_heads=2))
    cos, sin = (numpy_of(part) for part in module(torch.zeros(1), torch.from_numpy(grid)))
    angle = rotary.axial_angles(grid, 16)
    np.testing.assert_allclose(np.cos(angle), cos[:, :8], atol=1e-6)
    np.testing.assert_allclose(np.sin(angle), sin[:, :8], atol=1e-6)


def test_sinusoidal_literals_and_shift_map() -> None:
    p = additive.sinusoidal_vectors([2], 4, 100.0)
    np.testing.assert_allclose(p, [[math.sin(2), math.cos(2), math.sin(0.2), math.cos(0.2)]])
    np.testing.assert_allclose(additive.cos_sin_vectors([2], 4, 100.0), p[:, [1, 0, 3, 2]])
    assert additive.sinusoidal_shift_residual(17, np.arange(300), 32, 777.0) < 1e-12
    m = additive.sinusoidal_shift_matrix(np.pi / 2, 2)
    np.testing.assert_allclose(m, [[0, 1], [-1, 0]], atol=1e-15)
    np.testing.assert_allclose(
        additive.sinusoidal_shift_matrix(3, 8), rotation_matrix(-3, Rope(8).theta, "interleaved"), atol=1e-15
    )


def test_rope_logits_are_those_of_the_matrices() -> None:
    q, k = drawn(2, 5, 8)
    where = np.array([3, 4, 9, 20, 21])
    theta = Rope(8, 50.0).theta
    logits = rotary.rope_logits(q, k, rotary.position_angles(where, theta), "half")
    for i in range(5):
        for j in range(5):
            expected = q[i] @ rotation_matrix(where[j] - where[i], theta, "half") @ k[j] / math.sqrt(8)
            assert logits[i, j] == pytest.approx(expected, abs=1e-12)


def test_xpos_is_rope_with_a_power_of_the_distance() -> None:
    rope = Rope(8, 50.0)
    q, k = drawn(2, 6, 8)
    where = np.arange(40, 46)
    zeta = [(i / 4 + 0.4) / 1.4 for i in range(4)]
    mine = rotary.xpos_logits(q, k, where, rope, 20.0)
    for m in range(6):
        for n in range(6):
            total = 0.0
            for i in range(4):
                a, b = complex(*q[m, 2 * i : 2 * i + 2]), complex(*k[n, 2 * i : 2 * i + 2])
                total += (a * b.conjugate() * np.exp(1j * (m - n) * rope.theta[i])).real * zeta[i] ** ((m - n) / 20)
            assert mine[m, n] == pytest.approx(total / math.sqrt(8), abs=1e-12)


RELATIVE = {"nope", "shaw", "nezha", "deberta", "t5", "alibi", "rope", "partial", "xpos", "rope2d", "mrope"}


@pytest.mark.parametrize("name", compare.ENCODINGS)
def test_relative_encodings_are_measured_to_be(name: str) -> None:
    w = compare.random_encoding_weights(16, 700.0, 4)
    positions = image_positions(4, 6) + 3 if name == "rope2d" else np.arange(24) + 5
    residual = compare.relative_residual(compare.position_only_logits(name, positions, w), positions)
    x = compare.token_vectors([f"w{i}" for i in range(24)], 16)
    moved = np.abs(
        compare.encoding_logits(name, x, positions + 9, w) - compare.encoding_logits(name, x, positions, w)
    ).max()
    if name in RELATIVE:
        assert residual < 1e-12 and moved < 1e-12
    else:
        assert residual > 0.05 and moved > 0.05


def test_mrope_is_relative_on_every_axis() -> None:
    w = compare.random_encoding_weights(32, 700.0, 4)
    video = filmed(2, 2, 3, 3, 2)
    scores = compare.position_only_logits("mrope", video, w)
    assert compare.relative_residual(scores, video) < 1e-12
    assert compare.relative_residual(scores, np.arange(len(video))) > 0.05


def test_half_of_mrope_s_pairs_follow_time_and_a_quarter_each_side() -> None:
    w, video = compare.random_encoding_weights(32, 700.0, 4), filmed(2, 2, 3, 3, 2)
    x = compare.token_vectors([f"w{i}" for i in range(len(video))], 32)
    angle = video[:, [0] * 8 + [1] * 4 + [2] * 4] * w.rope.theta
    wanted = rotary.rope_logits(x @ w.q.T, x @ w.k.T, angle)
    np.testing.assert_allclose(compare.ENCODINGS["mrope"].logits(x, video, w), wanted, atol=1e-12)


FIRST, SECOND = list("小明喜欢狗但不喜欢猫"), list("小明不喜欢狗但喜欢猫")


@pytest.mark.parametrize("name", compare.ENCODINGS)
def test_only_an_encoding_tells_the_two_sentences_apart(name: str) -> None:
    gap = compare.word_order_difference(name, FIRST, SECOND, compare.random_encoding_weights(16))
    assert gap < 1e-12 if name == "nope" else gap > 1e-4
    assert compare.word_order_difference(name, FIRST, FIRST, compare.random_encoding_weights(16)) == 0


def test_relative_fit_is_the_mean_of_each_diagonal() -> None:
    s = drawn(7, 7)
    fit = compare.relative_fit(s, np.arange(7))
    for d in range(-6, 7):
        np.testing.assert_allclose(fit.diagonal(d), s.diagonal(d).mean())


def test_cross_terms_add_up_and_are_not_relative() -> None:
    x, p = np.tile(drawn(1, 16), (30, 1)), additive.sinusoidal_vectors(np.arange(30) + 2, 16, 300.0)
    terms = additive.additive_score_terms(x, p, np.eye(16), np.eye(16))
    np.testing.assert_allclose(sum(terms.values()), (x + p) @ (x + p).T)
    residual = {name: compare.relative_residual(part, np.arange(30)) for name, part in terms.items()}
    assert residual["word_word"] < 1e-12 and residual["position_position"] < 1e-12
    assert residual["word_position"] > 0.05 and residual["position_word"] > 0.05


def test_hessian_term_needs_a_diagonal_equal_within_pairs() -> None:
    p = additive.cos_sin_vectors(np.arange(40) + 1, 16, 300.0)

    def residual(off: float, gap: float) -> float:
        return compare.relative_residual(additive.hessian_term(additive.random_hessian(16, off, gap), p), np.arange(40))

    assert residual(0, 0) < 1e-12
    assert residual(0, 0.5) > 0.01
    assert 0.001 < residual(0.01, 0) < residual(0.1, 0) < residual(1.0, 0)


def test_digits() -> None:
    assert digits.beta_digits(123_456, 10, 7).tolist() == [6, 5, 4, 3, 2, 1, 0]
    assert digits.beta_digits(0b101101, 2, 6).tolist() == [1, 0, 1, 1, 0, 1]
    rope = Rope(16, 5000.0)
    np.testing.assert_allclose(digits.digit_phases(321, digits.rope_beta(rope), 8), 321 * rope.theta)
    s = spectrum(Request(rope, next(n for n in SCHEMES if n == "ntk"), {"factor": 6.0}))
    np.testing.assert_allclose(digits.digit_phases(321, digits.ntk_number_base(rope, 6.0), 8), 321 * s.inv_freq)


def test_mrope_axes_of_released_models() -> None:
    assert rotary.mrope_axes([16, 24, 24]).tolist() == [0] * 16 + [1] * 24 + [2] * 24
    assert "".join(rotary.AXES[a] for a in rotary.mrope_axes([24, 20, 20], interleaved=True)) == "thw" * 20 + "t" * 4


def test_bad_input_is_named() -> None:
    w = compare.random_encoding_weights(16)
    with pytest.raises(ValueError, match="encoding must be one of nope"):
        compare.position_only_logits("absolute", [1, 2], w)
    with pytest.raises(ValueError, match=r"positions must be integers in \[0, 2048\)"):
        compare.position_only_logits("learned", [2047, 2048], w)
    with pytest.raises(ValueError, match="second must be a reordering"):
        compare.word_order_difference("rope", ["a"], ["b"], w)
    with pytest.raises(ValueError, match="sections must be"):
        rotary.mrope_axes([1, 9, 9], interleaved=True)
    with pytest.raises(ValueError, match="beta must be a finite number > 1, got 1"):
        digits.beta_digits(5, 1, 3)
    with pytest.raises(ValueError, match="dim must be a multiple of 4"):
        rotary.axial_angles([[0, 0]], 6)
    with pytest.raises(ValueError, match="positions must be whole numbers"):
        relative.clipped_difference_rows([0.5], 2)
