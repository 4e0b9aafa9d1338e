"""Rules of position on the model, against loops over single pairs in float64."""

import numpy as np
import pytest
import torch

from rope_core.lab.evaluate import byte_losses
from rope_core.lab.lines import get_line, lines_after_yarn
from rope_core.lab.model import KeyValueCache
from rope_core.lab.positions import rotary_encoding_for
from rope_core.lab.remapped import RemappedEncoding
from rope_core.spectrum import Request
from rope_core.theory.remap import RULES, remap_positions
from tests.support.lab_reader import bytes_drawn, small

SIZE = 70
PARAMS = {"rerope": {"window_share": 0.6}, "self_extend": {"group": 3.0}, "dual_chunk": {"local_share": 0.3}}


@pytest.mark.parametrize("name", RULES)
def test_attention_is_what_the_loops_say(name: str) -> None:
    model = small("rope", context=20)
    shape, rng = model.shape, np.random.default_rng(5)
    q, k, v = (rng.normal(size=(SIZE, shape.heads, shape.head_dim)) for _ in range(3))
    place = RemappedEncoding(shape, name, PARAMS[name]).at(0, SIZE)
    tensors = [torch.from_numpy(each)[None].float() for each in (q, k, v)]
    result = place.attend(*tensors)[0].double().numpy()
    rule = remap_positions(name, range(SIZE), range(SIZE), shape.context, PARAMS[name])
    half = shape.head_dim // 2
    theta = shape.base ** (-np.arange(half) / half)
    for i in (0, 1, 19, 20, 41, SIZE - 1):
        for h in range(shape.heads):
            pairs = [np.array(x[:half]) + 1j * np.array(x[half:]) for x in (q[i, h], *k[: i + 1, h])]
            turned = [np.exp(1j * rule.relative[i, j] * theta) * pairs[0] @ pairs[j + 1].conj() for j in range(i + 1)]
            scores = np.real(turned) * rule.scale[i] / np.sqrt(shape.head_dim)
            weights = np.exp(scores - scores.max())
            np.testing.assert_allclose(result[i, h], weights / weights.sum() @ v[: i + 1, h], atol=2e-5)


@pytest.mark.parametrize("name", RULES)
def test_reading_in_pieces_is_reading_at_once(name: str) -> None:
    model = small("rope", context=20)
    given = torch.tensor([list(bytes_drawn(SIZE, 2))])
    place, cache, parts = RemappedEncoding(model.shape, name, PARAMS[name]), KeyValueCache([]), []
    whole = model(given, place=place.at(0, SIZE))
    for first, end in ((0, 33), (33, 34), (34, 60), (60, SIZE)):
        parts.append(model(given[:, first:end], place=place.at(first, end - first), cache=cache))
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=3e-4, rtol=1e-4)


@pytest.mark.parametrize("each", [each for each in lines_after_yarn() if each.rule], ids=lambda each: each.key)
def test_a_rule_leaves_short_texts_alone_and_changes_long_ones(each: object) -> None:
    chosen = get_line(each.key)  # type: ignore[attr-defined]
    model = small("rope", context=64)
    documents = np.frombuffer(bytes_drawn(201, 4), dtype=np.uint8)[None]
    result = byte_losses(model, documents, RemappedEncoding(model.shape, chosen.rule, chosen.params))
    plain = byte_losses(model, documents, rotary_encoding_for(model.shape, Request(model.shape.rope)))
    np.testing.assert_allclose(result[:, :32], plain[:, :32], atol=1e-4)
    assert np.abs(result[:, 64:] - plain[:, 64:]).max() > 1e-2
