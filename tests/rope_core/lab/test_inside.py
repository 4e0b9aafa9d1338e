"""The look inside against the lab's torch model with tables of its own, and against loops over dimensions."""

import numpy as np
import pytest
import torch
from torch import Tensor

from rope_core.lab import inside, weights
from rope_core.lab.inside import TracePositions
from rope_core.lab.positions import PositionEncoding
from rope_core.layout import HALF
from rope_core.rotation import rotate
from tests.support import lines_by_hand

NAME = "rope-0"
TEXT = b"while True: value = value + 1"
PAIRS = 16
SETTINGS = {
    "trained": TracePositions(),
    "apart": TracePositions(shift=77, gap=1000, split=9),
    "still": TracePositions(gap=3, split=20, still=(0, 5, 15)),
    "yarn": TracePositions("yarn", 8.0, still=(1,)),
    "linear": TracePositions("linear", 4.0, shift=12),
}


class Placed(PositionEncoding):
    """Turns by tables written out angle by angle in float64."""

    def __init__(self, theta: np.ndarray, factor: float, places: list[int], still: tuple[int, ...]) -> None:
        super().__init__()
        angles = np.array([[0.0 if i in still else m * theta[i] for i in range(PAIRS)] for m in places])
        self.cos, self.sin = (torch.from_numpy(factor * table).float() for table in (np.cos(angles), np.sin(angles)))
        self.seen: list[tuple[Tensor, Tensor]] = []

    def turn(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        self.seen.append((rotate(q, self.cos, self.sin, HALF), rotate(k, self.cos, self.sin, HALF)))
        return self.seen[-1]


def theta_of(setting: TracePositions) -> tuple[np.ndarray, float]:
    """Return frequencies and attention factor as the schemes are written out."""
    theta = lines_by_hand.frequencies(PAIRS, 10_000.0, 256, setting.factor)[setting.line]
    return theta, lines_by_hand.attention_factor(setting.line, setting.factor)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_reading_is_the_torch_models(setting: TracePositions) -> None:
    reading = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT, setting)
    places = [at + setting.shift + (setting.gap if at >= setting.split else 0) for at in range(len(TEXT))]
    place = Placed(*theta_of(setting), places, setting.still)
    with torch.inference_mode():
        tokens = torch.tensor([list(TEXT)])
        logits = weights.load_shipped_model(NAME)(tokens, place=place)[0].numpy()
    np.testing.assert_allclose(reading.logits, logits, atol=2e-3)
    for layer, (q, k) in enumerate(place.seen):
        scores = np.einsum("shd,thd->hst", q[0].double().numpy(), k[0].double().numpy()) / np.sqrt(2 * PAIRS)
        powers = np.exp(scores) * np.tri(len(TEXT))
        np.testing.assert_allclose(reading.attention[layer], powers / powers.sum(-1, keepdims=True), atol=2e-4)


def test_shares_are_products_dimension_by_dimension() -> None:
    setting, (layer, head, query) = SETTINGS["yarn"], (2, 4, 17)
    reading = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT, setting)
    theta, factor = theta_of(setting)
    content, whole = reading.pair_score_shares(layer, head, query)
    q = reading.q[layer, query, head].astype(float)
    for key in range(query + 1):
        k = reading.k[layer, key, head].astype(float)
        for i in range(PAIRS):
            still = q[i] * k[i] + q[i + PAIRS] * k[i + PAIRS]
            cross = q[i] * k[i + PAIRS] - q[i + PAIRS] * k[i]
            angle = 0.0 if i in setting.still else (query - key) * theta[i]
            turned = factor**2 * (still * np.cos(angle) + cross * np.sin(angle))
            np.testing.assert_allclose(content[key, i], still / np.sqrt(2 * PAIRS), atol=1e-5)
            np.testing.assert_allclose(whole[key, i], turned / np.sqrt(2 * PAIRS), atol=2e-5)
    powers = np.exp(whole.sum(axis=1))
    np.testing.assert_allclose(reading.attention[layer, head, query, : query + 1], powers / powers.sum(), atol=1e-5)


def test_the_pages_claims() -> None:
    """Shifting moves nothing; a gap does; the four fastest pairs carry the look one step back, the slowest nothing."""
    text = b"for name in names: print(na"
    model = inside.load_numpy_weights(NAME)
    trained = inside.trace_forward(model, text)
    by_shift = inside.attention_change(trained, inside.trace_forward(model, text, TracePositions(shift=1000)))
    assert by_shift.shape == (4, 6) and by_shift.max() < 1e-6
    assert (
        inside.attention_change(trained, inside.trace_forward(model, text, TracePositions(gap=256, split=14))).max()
        > 0.2
    )
    fast, slow = (
        inside.trace_forward(model, text, TracePositions(still=inside.fastest_or_slowest_pairs(kind, 4, PAIRS)))
        for kind in inside.KINDS
    )
    assert inside.attention_change(trained, fast).min() > 0.2 and inside.attention_change(trained, slow).max() < 0.01
    following = trained.next_byte_probabilities()
    assert (
        following.argmax() == ord("m") and following[ord("m")] > 0.99 and fast.next_byte_probabilities()[ord("m")] < 0.3
    )
    np.testing.assert_allclose(following.sum(), 1.0)
    back = trained.attention[0, 1][range(1, len(text)), range(len(text) - 1)]
    assert back.mean() > 0.5
    assert inside.likeliest_bytes([following, fast.next_byte_probabilities()], 2) == [ord("m"), ord("r")]


def test_the_attention_one_back_is_counted_query_by_query() -> None:
    result = inside.trace_forward(inside.load_numpy_weights("rope-0"), b"import numpy")
    back = inside.previous_byte_attention(result)
    for layer, head in ((0, 4), (3, 5)):
        counted = [float(result.attention[layer, head, at, at - 1]) for at in range(1, 12)]
        assert back[layer, head] == pytest.approx(sum(counted) / 11, rel=1e-6)
    assert inside.previous_byte_attention(inside.trace_forward(inside.load_numpy_weights("rope-0"), b"a")).max() == 0


def test_what_is_refused_is_a_sentence() -> None:
    model = inside.load_numpy_weights(NAME)
    with pytest.raises(ValueError, match="text"):
        inside.trace_forward(model, b"")
    with pytest.raises(ValueError, match="text"):
        inside.trace_forward(model, b"a" * 41)
    with pytest.raises(ValueError, match="weights must be one of"):
        inside.load_numpy_weights("alibi-0")
    with pytest.raises(ValueError, match="still"):
        inside.trace_forward(model, TEXT, TracePositions(still=(16,)))
    with pytest.raises(ValueError, match="shift"):
        inside.trace_forward(model, TEXT, TracePositions(shift=-1))
    with pytest.raises(ValueError, match="kind"):
        inside.fastest_or_slowest_pairs("medium", 1, 16)


def test_texts_are_cut_at_whole_letters() -> None:
    assert inside.utf8_prefix("位" * 20) == ("位" * 13).encode()
    assert inside.second_half_start(b"abc") == 2 and inside.second_half_start(b"abcd") == 2


def test_the_largest_pairs_are_counted_dimension_by_dimension() -> None:
    reading = inside.trace_forward(inside.load_numpy_weights(NAME), TEXT)
    for side, x in enumerate((reading.q, reading.k)):
        for layer, head in ((0, 0), (3, 5), (2, 1)):
            sizes = [sum(float(v) ** 2 for v in x[layer, :, head, d]) ** 0.5 for d in range(2 * PAIRS)]
            mean = sum(sizes) / len(sizes)
            wanted = [max(sizes[i], sizes[i + PAIRS]) / mean for i in range(PAIRS)]
            np.testing.assert_allclose(reading.relative_pair_sizes()[side, layer, head], wanted, rtol=1e-6)


@pytest.mark.parametrize("name", inside.rotary_model_names())
def test_large_keys_stand_around_the_first_pair_that_did_not_finish_a_turn(name: str) -> None:
    """In every shipped model, on text of its own kind and on other text; the slowest six pairs are smaller than all."""
    model = inside.load_numpy_weights(name)
    unfinished = int(np.argmax(model.shape.rope.turns < 1))
    for text in (TEXT, b"The cat sat on the mat and looked around"):
        largest = inside.trace_forward(model, text).relative_pair_sizes()[1]
        near = np.abs(largest.argmax(axis=-1) - unfinished) <= 2
        assert near.mean() > 0.7 and 3.5 < largest.max() < 7
        means = largest.mean(axis=(0, 1))
        assert means[-6:].max() < means[:-6].min()


def test_the_book_keeps_the_last_readings_and_a_server_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def same(text: bytes) -> bool:
        return inside.cached_trace(NAME, text, TracePositions()) is inside.cached_trace(NAME, text, TracePositions())

    assert not same(b"a") and not inside._kept
    monkeypatch.setattr(inside, "READINGS", 2)
    first = inside.cached_trace(NAME, b"a", TracePositions())
    assert same(b"b") and inside.cached_trace(NAME, b"a", TracePositions()) is first
    assert same(b"c") and [text for _, text, _ in inside._kept] == [b"a", b"c"]
    inside._kept.clear()
