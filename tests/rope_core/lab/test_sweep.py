"""The ladder's cells, its job, its records and its command line, on weights of a tiny model."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rope_core.__main__ import main
from rope_core.lab import cards, records, sweep, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.estimates import window_perplexity
from rope_core.lab.evaluate import scheme_byte_losses
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.model import LabModel
from rope_core.lab.shape import ModelShape
from rope_core.lab.train import hardware_record
from tests.support.lab_reader import stock

SHAPES = {
    "tiny": ModelShape(layers=1, width=16, heads=2, hidden=16, context=16),
    "tiny-learned": ModelShape("learned", layers=1, width=16, heads=2, hidden=16, context=16),
    "tiny-alibi": ModelShape("alibi", layers=1, width=16, heads=2, hidden=16, context=16),
}


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    """Shipped weights, records and runs replaced by a test's own."""
    stock(tmp_path, monkeypatch, {name: LabModel(shape, seed) for seed, (name, shape) in enumerate(SHAPES.items())})
    monkeypatch.setattr(records, "FOLDER", tmp_path / "records")
    records.shipped_record.cache_clear()


def test_every_cell_is_the_line_s_perplexity_on_the_same_bytes() -> None:
    given: dict[str, Any] = {"factor": 6.0, "base": 100.0, "params": {"beta_fast": 2.0, "beta_slow": 0.01}}
    wanted = sweep.SweepSettings(("tiny",), ("none", "yarn", "ntk_double"), (16, 64), documents=5, **given)
    shares, answer = zip(*sweep.run_sweep(wanted), strict=True)
    # The work of a cell grows with its length.
    assert shares == pytest.approx([part / 240 for part in (16, 32, 48, 112, 176, 240)])
    assert [(f["line"], f["length"]) for f in answer] == [
        (key, length) for length in (16, 64) for key in ("none", "yarn", "ntk_double")
    ]
    documents = np.stack([np.frombuffer(d.text, dtype=np.uint8)[:65] for d in held_out_documents()[:5]])
    for each in answer:
        window = documents[:, : each["length"] + 1]
        model = weights.load_shipped_model("tiny")
        nats = scheme_byte_losses(
            model, window, get_line(each["line"]).request(model.shape, each["length"], *given.values())
        )
        whole, last = window_perplexity(nats), window_perplexity(nats, 0.75)
        assert each["whole"] == pytest.approx([whole.value, whole.low, whole.high], abs=1e-6)
        assert each["last"] == pytest.approx([last.value, last.low, last.high], abs=1e-6)
        assert math.exp(np.mean(each["nats"])) == pytest.approx(last.value, rel=1e-4)
        assert len(each["curve"]["value"]) == min(32, each["length"])


def test_other_encodings_have_one_line_and_a_table_ends() -> None:
    wanted = sweep.SweepSettings(("tiny-learned", "tiny-alibi"), lengths=(16, 32), documents=2)
    result = {(f["weights"], f["length"]): f for _, f in sweep.run_sweep(wanted)}
    assert len(result) == 4
    assert result["tiny-learned", 32]["undefined"] == "its table ends at position 16"
    assert result["tiny-learned", 16]["whole"][0] > 1
    assert result["tiny-alibi", 32]["whole"][0] > 1


def test_a_record_holds_request_results_and_weights() -> None:
    wanted = {"weights": ["tiny"], "lines": ["none", "yarn"], "lengths": [16, 32], "documents": 2}
    record = records.measure_record("sweep", wanted, "abc", "2026-01-01")
    records.FOLDER.mkdir()
    records.write_record(record, records.FOLDER / "ladder.json")
    back = records.shipped_record("ladder")
    assert (back.kind, back.arguments, back.text, back.date) == ("sweep", wanted, "abc", "2026-01-01")
    assert back.weights == {"tiny": cards.get_weights_card("tiny").sha256}
    assert back.results == record.results
    assert len(back.results) == 4
    with pytest.raises(ValueError, match=r"record must be one of ladder, got '\.\./ladder'"):
        records.shipped_record("../ladder")


def test_the_command_line_evaluates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["lab", "eval", "tiny", "--lengths", "16", "32", "--lines", "none", "linear", "--documents", "2"]) == 0
    shown = capsys.readouterr().out
    assert [row.split()[:3] for row in shown.splitlines()[2:]] == [
        ["tiny", key, str(n)] for n in (16, 32) for key in ("none", "linear")
    ]
    path = tmp_path / "text.bin"
    path.write_bytes(bytes(range(256)))
    assert main(["lab", "eval", "tiny", "--lengths", "16", "--file", str(path), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(scheme_lines())
    path.write_bytes(b"")
    assert main(["lab", "eval", "tiny", "--file", str(path)]) == 2
    assert "--file must be a file that is not empty, got 'text.bin'" in capsys.readouterr().err
    assert main(["lab", "cards"]) == 0
    assert "tiny-alibi" in capsys.readouterr().out


def test_the_command_line_trains_and_ships(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    wanted = [
        "lab",
        "train",
        "--out",
        str(out),
        *["--steps", "3", "--start", "tiny", "--window", "32", "--line", "linear"],
    ]
    assert main([*wanted, "--stop", "2"]) == 0
    assert main(["lab", "ship", "tiny-linear", str(out)]) == 2
    assert "folder must be of a finished run, got '2 of 3 steps'" in capsys.readouterr().err
    for lang, words in (("en", "line must be a line that changes frequencies"), ("zh", "line 要求：改变频率")):
        for key in ("rerope", "window"):
            assert main(["lab", "--lang", lang, "train", *wanted[2:-1], key]) == 2
            assert words in capsys.readouterr().err
    assert main(["lab", "ship", "tiny-linear", str(out), "--stopped"]) == 0
    assert cards.get_weights_card("tiny-linear").stopped == 2
    assert "| 2 of 3 × 8 × 32 | 0 |" in (tmp_path / "README.md").read_text("utf-8")
    assert main(wanted) == 0
    assert (out / "loss.csv").read_text().splitlines()[0] == "step,nats_per_byte"
    assert len((out / "loss.csv").read_text().splitlines()) == 4
    assert main(wanted) == 0
    assert main([*wanted, "--seed", "1"]) == 2
    assert "folder must be empty or of the same recipe, got 'a checkpoint with other seed'" in capsys.readouterr().err
    assert main(["lab", "ship", "tiny-linear", str(out)]) == 0
    card = cards.get_weights_card("tiny-linear")
    assert card.stopped is None
    assert card.hardware == hardware_record() | {"precision": "float32"}
    assert (card.recipe.start, card.recipe.scheme, card.recipe.params) == ("tiny", "linear", {"factor": 2.0})
    assert "| tiny-linear | rope | text, from tiny, linear × 2 | 3 × 8 × 32 | 0 |" in (
        tmp_path / "README.md"
    ).read_text("utf-8")
