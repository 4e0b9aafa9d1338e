"""The precision page's figures."""

import math

import numpy as np
import pytest
import torch

import rope_core as rc
from rope_core.hf import catalogue
from rope_core.theory import demo, precision
from tests.support.figures import Row
from tests.support.films import FilmRow
from ui.figures.precision import expected, phase
from ui.figures.precision import formats as rounding
from ui.text.words import Words

REQUEST = rc.Request(rc.Rope(16, 900.0, 512))


def drifting(t: Words) -> str:
    theta = rc.spectrum(REQUEST).inv_freq
    s, passed = rc.Spectrum.of(theta), phase.stops(3000)
    errors = {stage: np.abs(precision.phase_error(s, passed, stage, "bfloat16")) for stage in rounding.SINGLE}
    worst = {stage: error[[passed.index(3000)], error.max(axis=0).argmax()] for stage, error in errors.items()}
    held = torch.tensor(theta).bfloat16().double().numpy()
    assert worst["inv_freq"][0] == pytest.approx(3000 * np.abs(held - theta).max())
    return t("phase_finding", dtype="bfloat16", at="3,000", **{key: f"{each[0]:.3g}" for key, each in worst.items()})


def drift(t: Words) -> str:
    s = rc.spectrum(REQUEST)
    x = demo.drawn_vectors(16, 1)[0]
    x = x / np.linalg.norm(x)
    at = np.unique(np.rint(np.linspace(0, 5000, rounding.DRIFT)).astype(np.int64))
    exact = float((x[::2] ** 2 + x[1::2] ** 2) @ np.cos(37 * s.inv_freq))
    off = {
        key: f"{np.abs(precision.drifting_score(s, at, 37, 'angle', dtype, x, x) - exact).max():.3g}"
        for key, dtype in (("bf16", "bfloat16"), ("fp16", "float16"), ("fp32", "float32"))
    }
    return t("drift_finding", distance="37", exact=f"{exact:.4f}", reach="5,000", **off)


def effect(t: Words) -> str:
    s = rc.spectrum(REQUEST)

    def moved(stage: str, dtype: str = "bfloat16") -> str:
        return f"{100 * precision.score_error(s, 9000, 64, stage, dtype).moved:.3g} %"

    return t(
        "effect_finding",
        start="9,000",
        keys=64,
        frequency=moved("inv_freq"),
        position=moved("position"),
        angle=moved("angle"),
        table=moved("table"),
        fp32=moved("all", "float32"),
        logit=f"{precision.score_error(s, 9000, 64, 'all', 'float32').logit:.1e}",
    )


def distinct(t: Words) -> str:
    kept = {
        key: len(np.unique(precision.round_to(np.arange(3000), dtype)))
        for key, dtype in (("bf16", "bfloat16"), ("fp16", "float16"))
    }
    return t(
        "distinct_finding",
        length="3,000",
        bf16=f"{kept['bf16']:,}",
        fp16=f"{kept['fp16']:,}",
        first_bf16=f"{2**8 + 1:,}",
        first_fp16=f"{2**11 + 1:,}",
        first_fp32=f"{2**24 + 1:,}",
    )


def real(t: Words) -> str:
    points = {dtype: rounding.at_the_end("angle", dtype) for dtype in rounding.DTYPES}
    over = {dtype: sum(not each[3] <= math.pi for each in row) for dtype, row in points.items()}
    worst = max(points["float32"], key=lambda each: each[3])
    return t(
        "real_finding",
        count=len(catalogue.models()),
        stage=t("stage.angle"),
        bf16=over["bfloat16"],
        fp16=over["float16"],
        fp32=over["float32"],
        name=worst[0],
        length=f"{worst[2]:,}",
        worst=f"{worst[3]:.2g}",
    )


ROWS = [
    Row("precision", rounding.drift, (REQUEST, "angle", 37, 5000), {"x": "both_at", "y": "score_axis"}, drift),
    Row("precision", rounding.effect, (REQUEST, 9000), {"y": "moved_axis", "y2": "logit_axis"}, effect),
    Row("precision", rounding.distinct, (3000,), {"x": "length_log", "y": "distinct_axis"}, distinct),
    Row("precision", rounding.ways, (REQUEST, 4096), {"x": "time_axis", "y": "error_axis"}),
    Row("precision", rounding.real, ("angle",), {"x": "context_log", "y": "phase_axis"}, real),
]


def question(t: Words) -> str:
    return t("expected_ask", dtype="float16", asked="float32")


FILMS = [
    FilmRow("precision", phase.drifting, (REQUEST, "bfloat16", phase.stops(3000)), {"at": 3000}, drifting),
    FilmRow("precision", expected.expected, (REQUEST, "float16"), {}, question),
]
