"""The shipped order of schemes past the trained length, on text and seeds that the shipped record does not hold."""

from pathlib import Path

import numpy as np
import pytest

from rope_core.lab import sweep, view

# The most steps that the record tells apart; unscaled and linear change places from text to text.
ORDER = ["window", "yarn", "llama3", "by_parts", "ntk_double", "ntk"]
LAST = {"linear", "none"}


@pytest.mark.long
@pytest.mark.usefixtures("small_models")
@pytest.mark.parametrize(("weights", "documents"), [("rope-1", 3), ("rope-2", 12)])
def test_the_order_holds_on_other_text_and_seeds(weights: str, documents: int) -> None:
    text = b"".join(path.read_bytes() for path in sorted((Path(np.__file__).parent / "lib").glob("_*.py")))
    ask = sweep.SweepSettings((weights,), (*ORDER, *LAST), (2048,), documents=documents, text=text)
    places = view.rank_cells(view.read_cells(result for _, result in sweep.run_sweep(ask)))
    assert [place.cell.line for place in places][: len(ORDER)] == ORDER
    assert {place.cell.line for place in places[len(ORDER) :]} == LAST
