"""What number formats cost: scores that drift, positions lost, exact tables, real models."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import demo, precision
from ui.figures import catalogue as models
from ui.figures.drawing import Drawing
from ui.figures.plot import LOG, POWERS, dot_trace, horizontal_line, line_trace, plotly_axis, plotly_figure
from ui.film.colours import GREY, LINE, PURPLE, SKY, YELLOW
from ui.text.words import PageTexts

DTYPES = ("bfloat16", "float16", "float32")
SINGLE = ("inv_freq", "position", "angle", "table")
REACH = 2**20
STOPS = tuple(2**e for e in range(21))
FAR_STOPS = tuple(2**e for e in range(21, 25))
DRIFT = 240
KEYS = 64
EVERY_OTHER_POWER = {"type": "log", "dtick": 2, "exponentformat": "power"}
ROWS = 2048
LAST = 64
PLACES = {"float32": "top right", "float64": "bottom left", "fixed_point": "bottom center", "split_table": "top center"}
BY_DTYPE = {"bfloat16": PURPLE, "float16": SKY, "float32": YELLOW}


def spectrum_recipe(request: rc.Request) -> str:
    """Return Python that makes the request's spectrum."""
    rope = request.rope
    rope_code = f"rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})"
    return f"rc.spectrum(rc.Request({rope_code}, {request.scheme!r}, {dict(request.params)!r}, {request.seq_len}))"


def number_text(value: float, t: PageTexts, form: str = ".3g") -> str:
    """Return a number, or the words for a format that has overflowed."""
    return f"{value:{form}}" if math.isfinite(value) else t("overflow")


def log_axis_values(values: Array, digits: int = 4) -> list[float | None]:
    """Values to ``digits`` significant digits for a logarithmic axis: nothing where there is no positive number."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) and v > 0 else None for v in values.tolist()]


def score_drift_chart(request: rc.Request, stage: str, distance: int, reach: int, t: PageTexts) -> Drawing:
    """Draw one score at one distance, wherever query and key are together."""
    s = rc.spectrum(request)
    dim = 2 * s.inv_freq.size
    q = k = demo.random_vectors(dim, 1)[0] / np.linalg.norm(demo.random_vectors(dim, 1)[0])
    at = np.unique(np.rint(np.linspace(0, reach, DRIFT)).astype(np.int64))
    scores = {name: precision.score_under_rounding(s, at, distance, stage, name, q, k) for name in ("float64", *DTYPES)}
    exact = float(precision.score_under_rounding(s, [0], distance, stage, "float64", q, k)[0])
    off = {name: float(np.max(np.abs(curve - exact))) for name, curve in scores.items()}
    data = [line_trace(at, scores[name].round(5), BY_DTYPE[name], 3, name) for name in DTYPES] + [
        line_trace(at, scores["float64"].round(6), LINE, name=t("exact"), dash="dot")
    ]
    figure = plotly_figure(data, height=330, xaxis=plotly_axis(t("both_at")), yaxis=plotly_axis(t("score_axis")))
    finding = t(
        "drift_finding",
        distance=f"{distance:,}",
        exact=f"{exact:.3g}",
        reach=f"{reach:,}",
        bf16=number_text(off["bfloat16"], t),
        fp16=number_text(off["float16"], t),
        fp32=number_text(off["float32"], t),
    )
    recipe = f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import demo, precision
        s = {spectrum_recipe(request)}
        q = demo.random_vectors({dim}, 1)[0]
        q /= np.linalg.norm(q)
        at = np.unique(np.rint(np.linspace(0, {reach}, {DRIFT})).astype(int))
        exact = precision.score_under_rounding(s, [0], {distance}, {stage!r}, "float64", q, q)[0]
        for dtype in {DTYPES}:
            scores = precision.score_under_rounding(s, at, {distance}, {stage!r}, dtype, q, q)
            print(dtype, exact, abs(scores - exact).max())
        """
    return Drawing("drift", figure, finding, lambda: {"key_position": at} | scores, recipe)


count_positions = lru_cache(maxsize=256)(precision.exact_and_distinct_position_counts)


@lru_cache(maxsize=32)
def distinct_positions_chart(train_len: int, t: PageTexts) -> Drawing:
    """How many different positions are left of the first n, by format."""
    lengths = [2**e for e in range(6, 18)]
    counts = {dtype: [count_positions(n, dtype)[1] for n in lengths] for dtype in DTYPES}
    powers = {"type": "log", "dtick": 1}
    figure = plotly_figure(
        [
            line_trace(lengths, counts[dtype], BY_DTYPE[dtype], name=dtype, mode="lines+markers")
            for dtype in DTYPES[::-1]
        ],
        height=380,
        xaxis=plotly_axis(t("length_log"), **powers),
        yaxis=plotly_axis(t("distinct_axis"), **powers),
    )
    shown = min(train_len, lengths[-1])
    return Drawing(
        "distinct",
        figure,
        t(
            "distinct_finding",
            length=f"{shown:,}",
            bf16=f"{count_positions(shown, 'bfloat16')[1]:,}",
            fp16=f"{count_positions(shown, 'float16')[1]:,}",
            first_bf16=f"{precision.first_rounded_position('bfloat16'):,}",
            first_fp16=f"{precision.first_rounded_position('float16'):,}",
            first_fp32=f"{precision.first_rounded_position('float32'):,}",
        ),
        lambda: {"length": lengths, **counts},
        f"""
        from rope_core.theory import precision
        for dtype in {DTYPES}:
            counts = precision.exact_and_distinct_position_counts({shown}, dtype)
            print(dtype, counts, precision.first_rounded_position(dtype))
        """,
    )


@lru_cache(maxsize=64)
def table_errors_by_method(request: rc.Request, first_position: int) -> dict[str, precision.TableError]:
    """Return the ways to make a table, checked and timed once for each start."""
    return precision.compare_table_methods(rc.spectrum(request), first_position, ROWS, 3)


def table_error_and_time_chart(request: rc.Request, first_position: int, t: PageTexts) -> Drawing:
    """Error against time of four ways to make a float32 table."""
    results = table_errors_by_method(request, first_position)
    times = [way.over_floor for way in results.values()]
    errors = [way.error for way in results.values()]
    looks = zip(results.items(), (GREY, PURPLE, SKY, YELLOW), strict=True)
    figure = plotly_figure(
        [
            dot_trace(
                [way.over_floor],
                [way.error],
                colour,
                22,
                text=[t(f"way.{name}")],
                mode="markers+text",
                textposition=PLACES[name],
                textfont={"size": 16},
            )
            for (name, way), colour in looks
        ],
        height=380,
        xaxis=plotly_axis(t("time_axis"), **LOG, range=[math.log10(min(times)) - 0.6, math.log10(max(times)) + 0.5]),
        yaxis=plotly_axis(
            t("error_axis"), **POWERS, range=[math.log10(min(errors)) - 1.0, math.log10(max(errors)) + 1.2]
        ),
    )
    return Drawing(
        "ways",
        figure,
        t(
            "ways_finding",
            start=f"{first_position:,}",
            rows=f"{ROWS:,}",
            **{name: f"{way.error:.1e}" for name, way in results.items()},
            **{f"{name}_time": f"{way.over_floor:.2g}" for name, way in results.items()},
        ),
        lambda: {
            "way": list(results),
            "error": errors,
            "time_over_copy": times,
            "numbers_kept": [way.stored for way in results.values()],
        },
        f"""
        import rope_core as rc
        from rope_core.theory import precision
        s = {spectrum_recipe(request)}
        for name, way in precision.compare_table_methods(s, {first_position}, {ROWS}, 3).items():
            print(name, way)
        """,
    )


FormatPoint = tuple[str, float, int, float]


@lru_cache(maxsize=16)
def phase_errors_at_context_end(stage: str, dtype: str) -> tuple[FormatPoint, ...]:
    """Name, base, context and largest phase error near the last position of every model of the catalogue, rad."""
    points = []
    for model in models.model_ids():
        each = models.model_rope_setting(model)
        s = rc.spectrum(rc.Request(each.rope, each.scheme, each.params, each.max_len))
        last: npt.NDArray[np.int64] = np.arange(max(each.max_len - LAST, 0), each.max_len)
        worst = float(np.max(precision.phase_error_curve(s, last, stage, dtype)))
        points.append((models.model_name(model), each.rope.base, each.max_len, worst))
    return tuple(points)


@lru_cache(maxsize=32)
def model_phase_error_chart(stage: str, t: PageTexts) -> Drawing:
    """Draw the phase error of real models at the end of their own context, by format."""
    results = {dtype: phase_errors_at_context_end(stage, dtype) for dtype in DTYPES}
    outline = {"opacity": 0.75, "line": {"width": 1, "color": LINE}}
    figure = plotly_figure(
        [
            dot_trace(
                [length for _, _, length, _ in points],
                log_axis_values(np.array([error for *_, error in points])),
                BY_DTYPE[dtype],
                11,
                dtype,
                text=[t("model_hover", name=name, base=f"{base:,.10g}") for name, base, _, _ in points],
                marker=outline,
            )
            for dtype, points in results.items()
        ],
        height=420,
        shapes=[horizontal_line(math.pi, LINE, 2, "dot")],
        xaxis=plotly_axis(t("context_log"), **LOG),
        yaxis=plotly_axis(t("phase_axis"), **EVERY_OTHER_POWER),
    )
    over = {dtype: sum(not error <= math.pi for *_, error in points) for dtype, points in results.items()}
    worst = max(results["float32"], key=lambda point: point[3])
    return Drawing(
        "real",
        figure,
        t(
            "real_finding",
            count=len(results["float32"]),
            stage=t(f"stage.{stage}"),
            bf16=over["bfloat16"],
            fp16=over["float16"],
            fp32=over["float32"],
            name=worst[0],
            length=f"{worst[2]:,}",
            worst=f"{worst[3]:.2g}",
        ),
        lambda: (
            {
                "model": [p[0] for p in results["float32"]],
                "base": [p[1] for p in results["float32"]],
                "context": [p[2] for p in results["float32"]],
            }
            | {f"{dtype}_rad": [p[3] for p in points] for dtype, points in results.items()}
        ),
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.hf import catalogue
        from rope_core.hf.resolve import ropes_of
        from rope_core.theory import precision
        errors = []
        for model in catalogue.released_models():
            r = next(each for each in ropes_of(model.config).values() if not each.nope)
            length = r.max_len or r.train_len
            s = rc.spectrum(rc.Request(r.request.rope, r.scheme, r.params, length))
            last = np.arange(max(length - {LAST}, 0), length)
            errors.append([precision.phase_error_curve(s, last, {stage!r}, dtype).max() for dtype in {DTYPES}])
            print(model.name, length, errors[-1])
        print(len(errors), (~(np.array(errors) <= np.pi)).sum(axis=0))
        """,
    )
