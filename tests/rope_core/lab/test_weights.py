"""Weights: come back as they went, and nothing damaged is taken."""

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.lab import cards, corpus, job, records, weights
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.evaluate import byte_losses, scheme_byte_losses
from rope_core.lab.lines import get_line
from rope_core.lab.model import LabModel
from rope_core.lab.positions import rotary_encoding_for
from rope_core.lab.shape import ModelShape
from tests.support import lab_reader as reader

TINY = ModelShape(layers=1, width=16, heads=2, hidden=16, context=16)


def test_they_come_back_rounded_to_bfloat16(tmp_path: Path) -> None:
    model, path = LabModel(TINY, 4), tmp_path / "w.safetensors"
    digest = weights.write_weights(model, path, corpus="abc")
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    back = weights.read_weights(path, digest)
    assert back.shape == TINY
    for a, b in zip(model.parameters(), back.parameters(), strict=True):
        assert torch.equal(a.bfloat16().float(), b)
        assert not b.requires_grad


def test_damaged_missing_or_foreign_files_are_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.safetensors"
    with pytest.raises(ValueError, match=r"a file that is there .*rope lab train.*, got 'w.safetensors'"):
        weights.read_weights(path)
    digest = weights.write_weights(LabModel(TINY), path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"weights must be the shipped file of SHA-256 {digest[:12]}"):
        weights.read_weights(path, digest)
    for bad in (bytes(data[:100]), b"", b"\x00" * 64, b"\x80\x04}\x94\x8c\x01a\x94K\x01s."):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match="weights must be a file of this lab's weights"):
            weights.read_weights(path)
    monkeypatch.setattr(cards, "MAX_BYTES", path.stat().st_size - 1)
    with pytest.raises(ValueError, match="weights must be at most"):
        weights.read_weights(path)
    model = LabModel(TINY)
    with torch.no_grad():
        model.get_parameter("blocks.0.feed.down.weight")[0, 0] = math.nan
    monkeypatch.undo()
    weights.write_weights(model, path)
    with pytest.raises(ValueError, match=r"but blocks\.0\.feed\.down\.weight holds NaN or infinity"):
        weights.read_weights(path)


def test_shipped_files_are_those_of_their_cards_and_small_enough() -> None:
    assert {path.stem for path in cards.INDEX.parent.glob("*.safetensors")} == set(cards.weights_cards())
    assert {"rope-0", "rope-1", "rope-2"} <= set(cards.weights_cards())
    for name, card in cards.weights_cards().items():
        path = cards.INDEX.parent / f"{name}.safetensors"
        assert card.bytes == path.stat().st_size <= 8 * 2**20
        assert card.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert card.corpus == corpus.shipped_corpus_manifest()["sha256"]
        assert (cards.INDEX.parent / "README.md").read_text("utf-8").count(f"| {name} |") == 1


def documents(count: int, length: int) -> np.ndarray:
    """Held-out documents, cut."""
    kept = [np.frombuffer(each.text, dtype=np.uint8)[: length + 1] for each in corpus.held_out_documents()[:count]]
    return np.stack(kept)


@pytest.mark.parametrize("name", ["rope-0", *(pytest.param(f"rope-{k}", marks=pytest.mark.long) for k in (1, 2))])
def test_the_shipped_model_reads_as_well_as_its_card_says(name: str) -> None:
    card = cards.get_weights_card(name)
    result = window_perplexity(byte_losses(weights.load_shipped_model(name), documents(44, 256)))
    assert math.log(result.value) == pytest.approx(card.held_out[0], abs=2e-4)


def test_the_shipped_model_s_perplexity_by_an_independent_program() -> None:
    model, window = weights.load_shipped_model("rope-0"), documents(1, 300)
    request = get_line("yarn").request(model.shape, 2048)
    s = rc.spectrum(request)
    given = window[0].tobytes()
    logits = reader.read(model, given[:-1], lambda i, j: s.inv_freq, factor=s.attention_factor)
    expected = reader.nats(logits, given)
    np.testing.assert_allclose(scheme_byte_losses(model, window, request)[0], expected, atol=2e-3)
    assert rotary_encoding_for(model.shape, request).answer.attention_factor == pytest.approx(0.1 * math.log(8) + 1)


@pytest.mark.parametrize("name", ["retrieval", pytest.param("recall", marks=pytest.mark.long)])
def test_the_first_cell_of_a_record_is_measured_again(name: str) -> None:
    """Its examples are drawn: by the same numbers as then."""
    record = records.shipped_record(name)
    first = next(result for _, result in job.run_measurement(record.kind, record.arguments))
    assert first.keys() == record.results[0].keys()
    for key, value in record.results[0].items():
        assert first[key] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-4))
