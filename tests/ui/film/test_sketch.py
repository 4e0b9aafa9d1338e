"""What a reader drew: read back from an address, refused where it is no whole curve."""

import numpy as np
import pytest

from ui.film.sketch import Sketch, sketch_between

DRAWN = sketch_between("drawn", "", (0.0, 1.0, 3.0), ("0", "1", "3"), -1.0, 1.0, 1)


def test_levels_are_heights_from_the_lowest_to_the_highest() -> None:
    heights = DRAWN.drawn_heights("0.50.100")
    assert heights is not None
    np.testing.assert_allclose(heights, [-1.0, 0.0, 1.0])
    assert (DRAWN.level_texts[0], DRAWN.level_texts[50], DRAWN.level_texts[100]) == ("-1.0", "0.0", "1.0")


@pytest.mark.parametrize("text", ["", "1.2", "1.2.3.4", "1.2.101", "1.-2.3", "1.x.3", "1.².3", None, 3, [1, 2, 3]])
def test_what_is_no_whole_curve_is_none(text: object) -> None:
    assert DRAWN.drawn_heights(text) is None


def test_a_sketch_that_no_address_holds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^columns must be 2 to as many as 200 letters write, got 51$"):
        sketch_between("drawn", "", range(51), ["x"] * 51, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"got 1$"):
        Sketch("drawn", "", (0.0,), ("0",), (0.0, 1.0), ("0", "1"))
