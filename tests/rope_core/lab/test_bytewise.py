"""One document byte by byte: against the losses of documents, with and without a stretch."""

from pathlib import Path

import numpy as np
import pytest

from rope_core.lab import cards, job, records, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.lines import get_line
from rope_core.spectrum import spectrum
from tests.support.lab_reader import read, small, stock


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small()})


@pytest.mark.parametrize("key", ["none", "yarn"])
def test_every_byte_has_the_loss_of_a_reader_written_as_loops(key: str, shelf: None) -> None:
    length, document = 24, held_out_documents()[1]
    ((share, result),) = job.run_measurement(
        "bytes", {"weights": "tiny", "lines": [key], "length": length, "document": 1}
    )
    text = document.text[: length + 1]
    assert (share, result["line"], result["path"], result["text"].encode()) == (1, key, document.path, text)
    model = weights.load_shipped_model("tiny")
    turn = spectrum(get_line(key).request(model.shape, length))
    logits = read(model, text[:-1], lambda i, j: turn.inv_freq, factor=turn.attention_factor)
    nats = np.log(np.exp(logits).sum(1)) - logits[np.arange(length), list(text[1:])]
    np.testing.assert_allclose(result["nats"], nats, atol=2e-4)


def test_the_shipped_record_is_the_shipped_weights_reading_the_shipped_text() -> None:
    record = records.shipped_record("bytes")
    assert {each["line"] for each in record.results} == {"none", "yarn"}
    for each in record.results:
        assert each["text"].encode() == held_out_documents()[each["document"]].text[: each["length"] + 1]
        assert len(each["nats"]) == each["length"]
        assert record.weights == {each["weights"]: cards.get_weights_card(each["weights"]).sha256}
