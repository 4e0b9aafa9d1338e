"""Perplexities, intervals and the ladder's cells against plain arithmetic and the loops' model."""

import math
from dataclasses import replace

import numpy as np
import pytest

import rope_core as rc
from rope_core.lab.estimates import perplexity_curve, window_perplexity
from rope_core.lab.evaluate import byte_losses, cut_documents, memory_needed, scheme_byte_losses, sliding_losses
from rope_core.lab.lines import SchemeLine, get_line, scheme_lines
from rope_core.lab.model import LabModel
from rope_core.lab.shape import ModelShape
from tests.rope_core.lab.test_model import small, text
from tests.support import lab_reader as reader


def test_losses_are_those_of_the_loops_document_by_document() -> None:
    model = small("rope")
    documents = np.array([text(31, seed) for seed in range(3)], dtype=np.uint8)
    request = get_line("yarn").request(model.shape, 30, factor=2.5)
    s = rc.spectrum(request)
    result = scheme_byte_losses(model, documents, request)
    assert result.shape == (3, 30)
    for row, given in zip(result, documents.tolist(), strict=True):
        logits = reader.read(model, bytes(given[:-1]), lambda i, j: s.inv_freq, factor=s.attention_factor)
        np.testing.assert_allclose(row, reader.nats(logits, bytes(given)), rtol=2e-4, atol=2e-4)


def test_documents_are_cut_one_after_another() -> None:
    result = cut_documents(bytes(range(100)), 9, 4)
    assert result.tolist() == [list(range(i, i + 10)) for i in (0, 10, 20, 30)]
    with pytest.raises(ValueError, match="text must be at least 101 bytes for a length of 100, got 100"):
        cut_documents(bytes(100), 100)


def test_perplexity_over_a_share_of_the_window() -> None:
    nats = np.log(np.array([[2.0, 2.0, 2.0, 8.0], [2.0, 2.0, 2.0, 32.0]]))
    assert window_perplexity(nats, 0.0, 0.75).value == pytest.approx(2.0)
    last = window_perplexity(nats, 0.75)
    assert last.value == pytest.approx(16.0)
    assert math.log(last.high / 16.0) == pytest.approx(12.7062 * math.log(2.0)), "Student's t of one degree of freedom"
    assert math.log(16.0 / last.low) == pytest.approx(12.7062 * math.log(2.0))
    alone = window_perplexity(nats[:1])
    assert math.isnan(alone.low)
    assert math.isnan(alone.high)


def test_a_sliding_window_reads_each_byte_from_the_last_ones_only() -> None:
    model, length = small("rope"), 131
    context, stride = model.shape.context, model.shape.context // 4
    documents = np.random.default_rng(3).integers(0, 256, (2, length + 1)).astype(np.uint8)
    nats = sliding_losses(model, documents)
    assert nats.shape == (2, length)
    for at in range(length):
        steps = max(0, math.ceil((at + 1 - context) / stride))
        start = max(0, min(context + steps * stride, length) - context)
        assert at - start < context
        alone = byte_losses(model, documents[:, start : at + 2])[:, -1]
        assert nats[:, at] == pytest.approx(alone, abs=1e-4)
    # What lies before the window changes nothing.
    other = documents.copy()
    other[:, : length - context] = 0
    assert sliding_losses(model, other)[:, -1] == pytest.approx(nats[:, -1], abs=1e-4)


def test_a_curve_is_the_mean_of_its_bins() -> None:
    nats = np.tile(np.log(np.arange(1.0, 13.0)), (3, 1))
    result = perplexity_curve(nats, 4)
    assert result.position.tolist() == [1.5, 4.5, 7.5, 10.5]
    expected = [math.prod(range(a, a + 3)) ** (1 / 3) for a in (1, 4, 7, 10)]
    np.testing.assert_allclose(result.value, expected)
    np.testing.assert_allclose(result.low, expected)


def test_lines_ask_for_what_the_schemes_mean() -> None:
    shape = ModelShape(context=256)
    assert get_line("dynamic").request(shape, 2048, factor=4.0).params["factor"] == 4.0
    assert get_line("linear").request(shape, 128).params["factor"] == 1.0
    assert get_line("linear").request(shape, 1024, factor=3.0).params["factor"] == 3.0
    wanted = get_line("yarn").request(shape, 1024, 4.0, 500.0, {"beta_fast": 16.0, "low_freq_factor": 2.0})
    assert (wanted.rope.base, wanted.params["beta_fast"], wanted.seq_len) == (500.0, 16.0, 1024)
    assert len({each.key for each in scheme_lines()}) == len(scheme_lines()) >= 7
    with pytest.raises(ValueError, match="line must be one of none, linear"):
        get_line("cubic")
    with pytest.raises(ValueError, match="factor must be"):
        get_line("linear").request(shape, 1024, factor=0.5)
    with pytest.raises(ValueError, match="factor must be"):
        SchemeLine("x", "linear").request(shape, 1024, factor=float("nan"))


def test_a_length_past_memory_is_refused_with_the_number() -> None:
    shape = ModelShape(encoding="alibi", layers=1, width=8, heads=2, hidden=8)
    assert memory_needed(shape, 20_000) > 2 * 2**30
    wide = ModelShape(width=64, hidden=512, heads=2)
    # Float32: three rows of 256 bytes' logits, four of the hidden width, eight of the model's.
    assert memory_needed(wide, 1000) == 1000 * 4 * (768 + 2048 + 512)
    # ... and two scores per pair and head, and two per pair, where they carry a bias.
    assert memory_needed(replace(wide, encoding="t5"), 1000) == memory_needed(wide, 1000) + 24_000_000
    with pytest.raises(ValueError, match=r"length must be short enough for 2 GiB; it takes 9.* GiB, got 20000"):
        byte_losses(LabModel(shape), np.zeros((1, 20_001), dtype=np.uint8))
    with pytest.raises(ValueError, match="documents must be an array"):
        byte_losses(LabModel(shape), np.zeros((0, 5), dtype=np.uint8))
