"""What the lab's kinds of work share: documents, lines, order, and what is refused before anything is read."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rope_core.lab import plan, weights
from rope_core.lab.corpus import held_out_documents
from rope_core.lab.estimates import Estimate
from rope_core.lab.lines import get_line, scheme_lines
from rope_core.lab.positions import RotaryEncoding
from rope_core.spectrum import spectrum
from tests.support.lab_reader import small, stock


@pytest.fixture(autouse=True)
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    stock(tmp_path, monkeypatch, {"tiny": small(), "tiny-learned": small("learned")})
    yield
    weights.load_shipped_model.cache_clear()


def test_documents_are_the_first_bytes_of_the_held_out_ones_or_the_text_cut_up() -> None:
    result = plan.evaluation_documents(10, 3)
    assert [row.tobytes() for row in result] == [d.text[:11] for d in held_out_documents()[:3]]
    assert plan.evaluation_documents(4095, 99).shape == (len(held_out_documents()), 4096)
    assert [row.tobytes() for row in plan.evaluation_documents(3, 2, b"abcdefghijklm")] == [b"abcd", b"efgh"]


def test_lines_are_the_ladder_s_and_one_without_rotary_positions() -> None:
    keys = tuple(each.key for each in scheme_lines())
    assert plan.readable_lines(small().shape) == keys and plan.readable_lines(small("learned").shape) == keys[:1]
    assert plan.readable_lines(small().shape, ["yarn", "none"]) == ("yarn", "none")
    assert plan.measurement_cells(["tiny", "tiny-learned"], ["yarn"], [30, 12], None) == [
        ("tiny", "yarn", 12),
        ("tiny-learned", "none", 12),
        ("tiny", "yarn", 30),
        ("tiny-learned", "none", 30),
    ]


def test_a_place_turns_by_the_line_at_the_length() -> None:
    model = small()
    for factor, scaled in ((None, 36 / 12), (5.0, 5.0)):
        place = plan.line_encoding(model, "yarn", 36, factor)
        assert isinstance(place, RotaryEncoding)
        expected = spectrum(get_line("yarn").request(model.shape, 36, scaled))
        np.testing.assert_array_equal(place.answer.inv_freq, expected.inv_freq)
        assert place.answer.attention_factor == expected.attention_factor > 1.0
    other = small("alibi")
    assert plan.line_encoding(other, "none", 36) is other.position


def test_only_a_table_has_an_end() -> None:
    for encoding in ("rope", "alibi", "nope", "sinusoidal", "t5"):
        assert plan.undefined_reason(small(encoding).shape, 10**6) == ""
    shape = small("learned").shape
    assert (
        plan.undefined_reason(shape, 12) == "" and plan.undefined_reason(shape, 13) == "its table ends at position 12"
    )


def test_an_estimate_of_one_document_has_no_interval() -> None:
    nan = float("nan")
    assert plan.estimate_to_json(Estimate(2.0, nan, nan)) == [2.0, None, None]
    assert plan.estimate_to_json(Estimate(2.0, 1.5, 2.5)) == [2.0, 1.5, 2.5]


def test_what_makes_no_work_is_refused() -> None:
    for call, text in (
        (lambda: plan.evaluation_documents(1, 3), "length must be an integer in [2, 131072], got 1"),
        (
            lambda: plan.evaluation_documents(4097, 3),
            "length must be at most 4,096 on the held-out documents, got 4097",
        ),
        (lambda: plan.evaluation_documents(9, 0), "documents must be an integer in [1, 4096], got 0"),
        (lambda: plan.evaluation_documents(9, 1, b"short"), "text must be at least 10 bytes for a length of 9, got 5"),
        (
            lambda: plan.evaluation_documents(9, 1, bytes(50_000_001)),
            "text must be at most 50,000,000 bytes, got '50,000,001'",
        ),
        (lambda: plan.checked_weight_names([]), "weights must be at least one name, got []"),
        (lambda: plan.checked_lengths([]), "lengths must be at least one, got []"),
        (lambda: plan.checked_lengths([12, 2.5]), "lengths must be an integer in [2, 131072], got 2.5"),  # type: ignore[list-item]
        (
            lambda: plan.measurement_cells(["tiny"], ["linear"], [12], 0.5),
            "factor must be a number in [1, 4096], got 0.5",
        ),
        (
            lambda: plan.check_lab_memory(small().shape, 10, 2**31),
            "length must be short enough for 2 GiB; it takes 2.0 GiB, got 10",
        ),
    ):
        with pytest.raises(ValueError) as error:
            call()
        assert str(error.value).startswith(text)
    plan.check_lab_memory(small().shape, 2048)
