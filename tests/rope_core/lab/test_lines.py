"""What every line of lines.toml turns a model by, from the papers' formulas."""

import numpy as np
import pytest

from rope_core.lab.lines import get_line, lines_after_yarn, scheme_lines
from rope_core.lab.shape import ModelShape
from rope_core.spectrum import spectrum
from tests.support import lines_by_hand

PAIRS, BASE, TRAINED = 16, 10_000.0, 256


@pytest.mark.parametrize("length", [512, 2048])
@pytest.mark.parametrize("key", [each.key for each in (*scheme_lines(), *lines_after_yarn())])
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
