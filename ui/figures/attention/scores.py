"""Figures of the attention page: one score over the distance, its pairs, and what base, width and scheme do to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.errors import reject
from rope_core.rope import Array
from rope_core.theory import attention, demo
from rope_core.theory.extension import Extension, cell_edges, mean_cos
from ui.figures import catalogue as models
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import LOG, Figure, Props, axis, bars, dots, hline, in_panel, line, panels, plot, split, vline
from ui.film.colours import BLUE, COLOURS, GREEN, GREY, LINE, ORANGE, RED
from ui.text.words import Words

POINTS = 240
CELLS = 96
KINDS = ("equal", "random", "own")
WIDTHS = (8, 32, 128)
SPAN = 512
NEAR = 16
FAR = 2**17
STOPS = (1, 2, 3, 5, 7, *(m * 10**e for e in range(1, 6) for m in (1, 2, 3, 5, 7) if m * 10**e <= FAR))

Pairing = tuple[Array, Array]


def numbers(argument: str, text: str) -> list[float]:
    """Read numbers separated by commas or spaces; raises ValueError on anything else."""
    try:
        return [float(part) for part in text.replace(",", " ").replace("，", " ").split()]
    except ValueError:
        raise reject(argument, "number_list", text) from None


def vectors(kind: str, dim: int, draw: int, q_text: str, k_text: str) -> Pairing:
    """Query and key of length 1 and the given width: one vector twice, two drawn ones, or the visitor's, repeated."""
    if kind == "equal":
        q = k = np.ones(dim)
    elif kind == "random":
        q, k = demo.drawn_vectors(dim, 2, draw)
    else:
        q, k = (attention.repeated(numbers(name, text), dim) for name, text in (("q", q_text), ("k", k_text)))
    sizes = float(np.linalg.norm(q)), float(np.linalg.norm(k))
    for name, size in zip("qk", sizes, strict=True):
        if not 1e-100 < size < 1e100:
            raise reject(name, "vector_size", size)
    return q / sizes[0], k / sizes[1]


def recipe_vectors(pairing: Pairing) -> str:
    """Return the two vectors as Python lists."""
    q, k = (np.asarray(x).round(12).tolist() for x in pairing)
    return f"q, k = {q}, {k}"


def text_or_never(first: int | None, limit: int, t: Words) -> str:
    """Return a distance, or the words for none up to a limit."""
    return t("never", limit=f"{limit:,}") if first is None else f"{first:,}"


def bound(rope: rc.Rope, kind: str, pairing: Pairing, reach: int, t: Words) -> Drawing:
    """Draw the score of one query and one key over their distance, with RoFormer's relative bound."""
    q, k = pairing
    s = rc.Spectrum.of(rope.theta)
    d = cell_edges(reach, POINTS, True)
    scores = attention.score_curve(s, d, q, k)
    relative = attention.decay_bound(s, d) / attention.decay_bound(s, [0])[0]
    share = float(np.max(np.abs(scores) / attention.score_bound(s, d, q, k)))
    figure = plot(
        [
            line(d, relative.round(4), GREY, name=t("bound"), dash="dot"),
            line(d, scores.round(4), BLUE, name=t(f"vectors.{kind}")),
        ],
        height=320,
        shapes=[hline(0, LINE, 1)],
        xaxis=axis(t("distance_log"), **LOG),
        yaxis=axis(t("score_axis")),
    )
    spread = float(np.std(scores[d > NEAR])) if (d > NEAR).any() else 0.0
    numbers = {"bound": f"{relative[-1]:.3f}", "spread": f"{spread:.3f}", "share": f"{100 * share:.3g}"}
    return Drawing(
        "bound",
        figure,
        t("bound_shown", reach=f"{d[-1]:,}", near=NEAR, **numbers),
        lambda: {"distance": d, "score": scores, "relative_bound": relative},
        f"""
        import rope_core as rc
        from rope_core.theory import attention
        s = rc.Spectrum.of(rc.Rope({rope.dim}, {rope.base!r}).theta)
        {recipe_vectors(pairing)}
        print(attention.decay_bound(s, [0, {d[-1]}]), attention.score_bound(s, [{d[-1]}], q, k))
        """,
    )


def pairs(rope: rc.Rope, pairing: Pairing, at: int, t: Words) -> Drawing:
    """Draw what each pair adds to the score at one distance, and the running sum from the fastest pair."""
    q, k = pairing
    s = rc.Spectrum.of(rope.theta)
    zero, here = attention.pair_contributions(s, [0, at], q, k)
    turn = attention.mean_turn(s, rope.train_len)
    mean = (attention.pair_products(q, k, "interleaved") * turn).real
    slow = np.abs(turn) >= 0.5
    index = np.arange(rope.pairs)
    figure = plot(
        [
            bars(index[~slow], here[~slow].round(5), BLUE, t("fast"), marker={"line": {"width": 0}}),
            bars(index[slow], here[slow].round(5), RED, t("slow"), marker={"line": {"width": 0}}),
            in_panel(2, line(index, np.cumsum(zero).round(5), GREY, name=t("sum_at_zero"), dash="dot")),
            in_panel(2, line(index, np.cumsum(here).round(5), GREEN, name=t("sum_at", at=f"{at:,}"))),
        ],
        height=360,
        bargap=0.1,
        margin={"t": 60},
        **panels(
            [
                (axis(t("axis.pair")), axis(t("contribution"))),
                (axis(t("axis.pair")), axis(t("running"), side="right")),
            ],
            split([1, 1], 0.06),
        ),
    )
    return Drawing(
        "pairs",
        figure,
        t(
            "pairs_finding",
            at=f"{at:,}",
            total=f"{here.sum():.3f}",
            fast=int((~slow).sum()),
            slow=int(slow.sum()),
            fast_sum=f"{here[~slow].sum():.3f}",
            slow_sum=f"{here[slow].sum():.3f}",
            length=f"{rope.train_len:,}",
            fast_mean=f"{mean[~slow].sum():.3f}",
            slow_mean=f"{mean[slow].sum():.3f}",
        ),
        lambda: {"pair": index, "at_zero": zero, "here": here, "mean": mean, "steadiness": np.abs(turn)},
        f"""
        import rope_core as rc
        from rope_core.theory import attention
        s = rc.Spectrum.of(rc.Rope({rope.dim}, {rope.base!r}).theta)
        {recipe_vectors(pairing)}
        print(attention.pair_contributions(s, [{at}], q, k)[0], abs(attention.mean_turn(s, {rope.train_len})))
        """,
    )


def family(
    curves: Sequence[tuple[str, Array, str]], d: npt.NDArray[np.int64], x: Props, t: Words, *marks: Props
) -> Figure:
    """Return score curves of equal vectors, (name, curve, dash) each, over distances on the axis ``x``."""
    looks = zip(curves, (*COLOURS, LINE), strict=False)
    return plot(
        [line(d, curve.round(4), colour, 3.5, name, dash) for (name, curve, dash), colour in looks],
        margin={"t": 60},
        shapes=[hline(0, LINE, 1), *marks],
        xaxis=x,
        yaxis=axis(t("score_axis")),
    )


def cell_means(s: rc.Spectrum, edges: npt.NDArray[np.int64]) -> Array:
    """Return the score of equal vectors, averaged over the distances of each cell."""
    return np.asarray(mean_cos(s, edges).mean(axis=0) * s.attention_factor**2)


@lru_cache(maxsize=32)
def widths(base: float, t: Words) -> Drawing:
    """Draw a vector's score with itself over the first distances, for rotary widths from 8 to 256."""
    d = np.arange(SPAN)
    curves = [attention.score_curve(rc.Spectrum.of(rc.Rope(dim, base).theta), d) for dim in WIDTHS]
    results = [attention.oscillation(curve) for curve in curves]
    names = [f"d = {dim}" for dim in WIDTHS]
    figure = family([(n, c, "solid") for n, c in zip(names, curves, strict=True)], d, axis(t("distance")), t)
    sentence = t("comma").join(f"d = {dim}: {each.variation:.3g}" for dim, each in zip(WIDTHS, results, strict=True))
    return Drawing(
        "widths",
        figure,
        t("widths_finding", span=SPAN, said=sentence),
        lambda: {"distance": d} | dict(zip(names, curves, strict=True)),
        f"""
        import rope_core as rc
        from rope_core.theory import attention
        for dim in {WIDTHS}:
            s = rc.Spectrum.of(rc.Rope(dim, {base!r}).theta)
            print(dim, attention.oscillation(attention.score_curve(s, range({SPAN}))))
        """,
    )


def schemes(rope: rc.Rope, results: Sequence[Extension], length: int, t: Words) -> Drawing:
    """Draw a vector's score with itself under each scheme, up to the extended length."""
    edges = cell_edges(length, CELLS, True)
    d = edges[:-1]
    curves = [cell_means(each.spectrum, edges) for each in results]
    names = [t(f"scheme.{each.scheme}") for each in results]
    dashes = ["solid" if k < 4 else "dash" for k in range(len(results))]
    trained = vline(rope.train_len, LINE, 3, "dot")
    figure = family(list(zip(names, curves, dashes, strict=True)), d, axis(t("distance_log"), **LOG), t, trained)
    late = np.array([min(rope.train_len, length - 1), length])
    ends = [float(cell_means(each.spectrum, late)[0]) for each in results]
    sentence = t("comma").join(f"{name} {end:+.3f}" for name, end in zip(names, ends, strict=True))
    tops = t("comma").join(
        f"{name} ×{each.spectrum.attention_factor**2:.3g}"
        for name, each in zip(names, results, strict=True)
        if each.spectrum.attention_factor != 1.0
    )
    requested = [(each.scheme, dict(each.request.params), each.request.seq_len) for each in results]
    return Drawing(
        "schemes",
        figure,
        t(
            "schemes_finding",
            trained=f"{rope.train_len:,}",
            length=f"{length:,}",
            ends=sentence,
            tops=tops or t("nobody"),
        ),
        lambda: {"distance": d} | {each.scheme: curve for each, curve in zip(results, curves, strict=True)},
        f"""
        import rope_core as rc
        from rope_core.theory.extension import mean_cos
        rope = rc.Rope({rope.dim}, {rope.base!r}, {rope.train_len})
        for name, params, seq_len in {requested}:
            s = rc.spectrum(rc.Request(rope, name, params, seq_len))
            print(name, mean_cos(s, {late.tolist()}).mean() * s.attention_factor**2)
        """,
    )


@lru_cache(maxsize=64)
def unscaled_models(dim: int) -> tuple[tuple[str, float, int], ...]:
    """Name, base and context of the catalogue's models of one rotary width whose frequencies no scheme changes."""
    results = ((models.name(i), models.setting(i)) for i in models.ids())
    return tuple(
        (name, each.rope.base, each.max_len)
        for name, each in results
        if each.rope.dim == dim and np.all(rc.spectrum(rc.Request(each.rope, each.scheme, each.params)).slowdown == 1.0)
    )


@kept
def base_bound(rope: rc.Rope, context: int, t: Words) -> Drawing:
    """Draw the context that each base serves, the base that a context needs, and where real models are."""
    grid, served = attention.served_contexts(rope.dim)
    enough = np.flatnonzero(served >= context)
    need = float(grid[enough[0]]) if enough.size else None
    own = attention.first_negative(rope.dim, rope.base, FAR)
    points = unscaled_models(rope.dim)
    tight = [name for name, base, length in points if attention.first_negative(rope.dim, base, length) is not None]
    data = [
        line(grid, served, BLUE, name=t("served"), line={"shape": "hv"}),
        dots(
            [base for _, base, _ in points],
            [length for _, _, length in points],
            ORANGE,
            10,
            t("models"),
            text=[name for name, _, _ in points],
            marker={"line": {"width": 1, "color": LINE}},
        ),
    ]
    if need is not None:
        data.append(dots([need], [context], RED, 17, t("needed"), marker={"symbol": "diamond"}))
    figure = plot(
        data,
        shapes=[hline(context, RED, 3, "dot")],
        xaxis=axis(t("base_axis"), **LOG),
        yaxis=axis(t("context_axis"), **LOG),
    )
    return Drawing(
        "base_bound",
        figure,
        t(
            "bound_finding" if need is not None else "bound_finding_none",
            context=f"{context:,}",
            dim=rope.dim,
            need=f"{need:,.3g}" if need is not None and need < 1000 else f"{round(need or 0, -2):,.0f}",
            base=f"{rope.base:,.10g}",
            own=text_or_never(own, FAR, t),
            count=len(points),
            tight=len(tight),
        ),
        lambda: (
            {"base": grid, "context_served": served, "model": [p[0] for p in points]}
            | {"model_base": [p[1] for p in points], "model_context": [p[2] for p in points]}
        ),
        f"""
        from rope_core.theory import attention
        bases, contexts = attention.served_contexts({rope.dim})
        print(bases[contexts >= {context}][:1], attention.first_negative({rope.dim}, {rope.base!r}, {FAR}))
        """,
    )
