"""Digits and extension as drawn, against arithmetic written out by hand."""

import numpy as np
import pytest

import rope_core as rc
from rope_core.theory.extension import Extension, extensions, reach
from tests.support.figures import chart
from ui.figures.encodings import digits as figures
from ui.text.words import LANGUAGES, Words

T = Words("en", "encodings")


def extended(rope: rc.Rope, factor: float) -> list[Extension]:
    params = {name: {"factor": factor} if rc.SCHEMES[name].params else {} for name in figures.by_factor()}
    return extensions(rope, params, reach(rope, factor))[0]


@pytest.mark.parametrize("lang", list(LANGUAGES))
@pytest.mark.parametrize("rope, factor", [(rc.Rope(128, 10_000.0, 4096), 4.0), (rc.Rope(16, 5e5, 512), 7.5)])
def test_linear_compresses_and_ntk_changes_the_base(rope: rc.Rope, factor: float, lang: str) -> None:
    t = Words(lang, "encodings")
    drawing = figures.stretched(rope, factor, extended(rope, factor), t)
    table = {key: np.asarray(column, dtype=float) for key, column in drawing.table().items()}
    np.testing.assert_allclose(table["none"], factor)
    np.testing.assert_allclose(table["linear"], 1.0)
    i = np.arange(rope.pairs)
    np.testing.assert_allclose(table["ntk"], factor * factor ** (-2 * i / (rope.dim - 2)), rtol=1e-9)
    names = [trace.name for trace in chart(drawing).data]
    assert t("effect.compressed", scheme=t("scheme.linear")) in names
    assert t("effect.rebased", scheme=t("scheme.ntk")) in names
    new = (rope.base * factor ** (rope.dim / (rope.dim - 2))) ** (2 / rope.dim)
    assert f"{new:.3g}" in drawing.finding and f"{rope.base ** (2 / rope.dim):.3g}" in drawing.finding


def test_one_pair_has_no_base_to_change() -> None:
    drawing = figures.stretched(rc.Rope(2), 4.0, extended(rc.Rope(2), 4.0), T)
    assert T("no_base") in drawing.finding and "ntk" not in drawing.table()


def test_effects() -> None:
    assert figures.effect(np.array([1.0, 1.5, 4.0])) == "mixed"
    assert figures.effect(np.array([3.0])) == "compressed"
