"""The lab's work as a child process: what it reports, and what each kind of it refuses in a sentence."""

import base64
import json
import math
from pathlib import Path
from typing import Any

import pytest

from rope_core.lab import job
from rope_core.lab.corpus import held_out_documents
from tests.support.lab_reader import small, stock

KINDS: dict[str, dict[str, Any]] = {
    "sweep": {"weights": ["tiny"]},
    "stale": {"weights": ["tiny"], "length": 40},
    "generate": {"weights": ["tiny"], "lengths": [60], "new": 6},
    "retrieval": {"weights": ["tiny"]},
    "recall": {"weights": ["tiny"]},
    "bytes": {"weights": "tiny"},
}
LAST = len(held_out_documents()) - 1
REFUSED = [
    ("chess", {}, "kind must be one of sweep"),
    ("sweep", {"depth": 3}, "arguments must be those of sweep"),
    ("sweep", {"weights": ["x"]}, "weights must be one of tiny, tiny-nope, got 'x'"),
    ("sweep", {"text": "$"}, ""),
    ("stale", {"weights": ["tiny-nope"]}, "weights must be of a model with rotary positions, got 'tiny-nope'"),
    ("stale", {"length": 12}, "length must be an integer in [13, 131072], got 12"),
    ("stale", {"length": 4097}, "length must be at most 4,096 on the held-out documents"),
    ("stale", {"factor": math.nan}, "factor must be a finite number, got nan"),
    ("stale", {"factor": 0.5}, "factor must be a number in [1, 4096], got 0.5"),
    ("generate", {"weights": "tiny"}, "weights must be at least one name, got 'tiny'"),
    ("generate", {"lengths": [6]}, "lengths must be more than the 6 bytes that are written, got 6"),
    ("generate", {"new": 0}, "new must be an integer in [1, 4096], got 0"),
    ("generate", {"document": 99}, f"document must be an integer in [0, {LAST}], got 99"),
    ("retrieval", {"lengths": [60]}, "length must be an integer in ["),
    ("retrieval", {"depths": []}, "depths must be at least one, got ()"),
    ("retrieval", {"depths": [-0.5]}, "depths must be a number in [0, 1], got -0.5"),
    ("retrieval", {"depths": [math.nan]}, "depths must be a finite number, got nan"),
    ("retrieval", {"trials": 0}, "trials must be an integer in [1, 10000], got 0"),
    ("retrieval", {"weights": []}, "weights must be some that were trained on the passkey task"),
    ("recall", {"distances": []}, "distances must be at least one"),
    ("recall", {"distances": [2000]}, "distance must be an integer in"),
    ("recall", {"trials": 0}, "trials must be an integer in"),
    ("bytes", {"document": 10_000}, "document must be an integer in"),
    ("bytes", {"length": 1}, "lengths must be an integer in"),
    ("bytes", {"lines": ["nothing"]}, "line must be one of"),
]


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_models: None) -> None:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-nope": small("nope")})


@pytest.mark.parametrize(("kind", "wanted", "sentence"), REFUSED)
def test_bad_requests_are_refused_in_a_sentence(
    kind: str, wanted: dict[str, Any], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert job.main([kind, json.dumps(KINDS.get(kind, {}) | wanted)]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_cells_are_reported_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"weights": ["tiny"], "lines": ["none"], "lengths": [16], "documents": 2}
    text = base64.b64encode(bytes(range(200))).decode()
    assert job.main(["sweep", json.dumps(wanted | {"text": text})]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["progress"] == 1.0 and last["result"]["line"] == "none"
