"""What every line of lines.toml turns a model by, from the papers' formulas."""

import subprocess
import sys
import tomllib

import numpy as np
import pytest

from rope_core.lab.lines import LINES, get_line, lines_after_yarn, scheme_lines
from rope_core.lab.shape import ModelShape
from rope_core.spectrum import spectrum
from tests.support import ROOT, lines_by_hand

PAIRS, BASE, TRAINED = 16, 10_000.0, 256


@pytest.mark.parametrize("length", [512, 2048])
@pytest.mark.parametrize("key", [row["key"] for row in tomllib.loads(LINES.read_text("utf-8"))["lines"]])
def test_a_line_turns_by_its_paper_s_frequencies(key: str, length: int) -> None:
    answer = spectrum(get_line(key).request(ModelShape(), length))
    s = length / TRAINED
    expected = lines_by_hand.frequencies(PAIRS, BASE, TRAINED, s)[key]
    np.testing.assert_allclose(answer.inv_freq, expected, rtol=1e-12, atol=1e-18)
    assert answer.attention_factor == pytest.approx(lines_by_hand.attention_factor(key, s), rel=1e-12)


def test_a_line_says_more_than_frequencies_where_it_has_a_window_or_a_rule() -> None:
    written_text = {
        each.key: (each.sliding, each.rule, dict(each.params)) for each in (*scheme_lines(), *lines_after_yarn())
    }
    assert {key: what for key, what in written_text.items() if any(what[:2])} == {
        "window": (True, "", {}),
        "rerope": (False, "rerope", {}),
        "self_extend": (False, "self_extend", {"group": 16}),
        "dual_chunk": (False, "dual_chunk", {}),
    }


REGISTERED = """
from rope_core.schemes import FACTOR, SCHEMES, Rescale, register
@register(FACTOR, source="a test")
def halved(rope, seq_len, factor):
    return Rescale(SCHEMES["linear"].rescale(rope, seq_len, factor=factor).slowdown / 2 + 0.5)
from rope_core.evaluate.settings import EvaluationSettings
from rope_core.evaluate.variants import KEYS, rope_variant
from rope_core.evaluate.words import line_name
from rope_core.lab.lines import get_trainable_line, lines_after_yarn
line = get_trainable_line("halved")
assert line in lines_after_yarn() and "halved" in KEYS and line_name("halved", "zh") == "halved"
EvaluationSettings(schemes=("halved",))
config = {"model_type": "llama", "head_dim": 64, "max_position_embeddings": 1024, "rope_theta": 1e4}
rope = rope_variant(config, "halved", 4096).first_full_context_rope
print(rope.unscaled[5] / rope.inv_freq[5])
"""


def test_a_scheme_that_is_registered_is_a_line_of_the_lab_and_of_rope_eval() -> None:
    """A factor of 4 slows every pair of the made-up scheme by 2.5."""
    done = subprocess.run([sys.executable, "-c", REGISTERED], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == pytest.approx(2.5)
