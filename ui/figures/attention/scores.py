"""The attention page's vectors, and the base that a context needs."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import rope_core as rc
from rope_core.errors import argument_error
from rope_core.rope import Array
from rope_core.theory import attention, demo
from ui.figures import catalogue as models
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import LOG, dot_trace, horizontal_line, line_trace, plotly_axis, plotly_figure
from ui.film.colours import BLUE, LINE, ORANGE, RED
from ui.text.words import PageTexts

KINDS = ("equal", "random", "own")
FAR = 2**17
STOPS = (1, 2, 3, 5, 7, *(m * 10**e for e in range(1, 6) for m in (1, 2, 3, 5, 7) if m * 10**e <= FAR))

QueryAndKey = tuple[Array, Array]


def parse_numbers(argument: str, text: str) -> list[float]:
    """Read numbers separated by commas or spaces; raises ValueError on anything else."""
    try:
        return [float(part) for part in text.replace(",", " ").replace("，", " ").split()]
    except ValueError:
        raise argument_error(argument, "number_list", text) from None


def query_and_key(kind: str, dim: int, seed: int, q_text: str, k_text: str) -> QueryAndKey:
    """Query and key of length 1 and the given width: one vector twice, two drawn ones, or the visitor's, repeated."""
    if kind == "equal":
        q = k = np.ones(dim)
    elif kind == "random":
        q, k = demo.random_vectors(dim, 2, seed)
    else:
        q, k = (
            attention.cycled_vector(parse_numbers(name, text), dim) for name, text in (("q", q_text), ("k", k_text))
        )
    sizes = float(np.linalg.norm(q)), float(np.linalg.norm(k))
    for name, size in zip("qk", sizes, strict=True):
        if not 1e-100 < size < 1e100:
            raise argument_error(name, "vector_size", size)
    return q / sizes[0], k / sizes[1]


def query_and_key_python(pairing: QueryAndKey) -> str:
    """Return the two vectors as Python lists."""
    q, k = (np.asarray(x).round(12).tolist() for x in pairing)
    return f"q, k = {q}, {k}"


def distance_or_never_text(first: int | None, limit: int, t: PageTexts) -> str:
    """Return a distance, or the words for none up to a limit."""
    return t("never", limit=f"{limit:,}") if first is None else f"{first:,}"


@lru_cache(maxsize=64)
def unscaled_models(dim: int) -> tuple[tuple[str, float, int], ...]:
    """Name, base and context of the catalogue's models of one rotary width whose frequencies no scheme changes."""
    results = ((models.model_name(i), models.model_rope_setting(i)) for i in models.model_ids())
    return tuple(
        (name, each.rope.base, each.max_len)
        for name, each in results
        if each.rope.dim == dim and np.all(rc.spectrum(rc.Request(each.rope, each.scheme, each.params)).slowdown == 1.0)
    )


@cached_figure
def base_bound_chart(rope: rc.Rope, context: int, t: PageTexts) -> Drawing:
    """Draw the context that each base serves, the base that a context needs, and where real models are."""
    grid, served = attention.bases_and_served_contexts(rope.dim)
    enough = np.flatnonzero(served >= context)
    need = float(grid[enough[0]]) if enough.size else None
    own = attention.first_negative_score_distance(rope.dim, rope.base, FAR)
    points = unscaled_models(rope.dim)
    tight = [
        name
        for name, base, length in points
        if attention.first_negative_score_distance(rope.dim, base, length) is not None
    ]
    data = [
        line_trace(grid, served, BLUE, name=t("served"), line={"shape": "hv"}),
        dot_trace(
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
        data.append(dot_trace([need], [context], RED, 17, t("needed"), marker={"symbol": "diamond"}))
    figure = plotly_figure(
        data,
        shapes=[horizontal_line(context, RED, 3, "dot")],
        xaxis=plotly_axis(t("base_axis"), **LOG),
        yaxis=plotly_axis(t("context_axis"), **LOG),
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
            own=distance_or_never_text(own, FAR, t),
            count=len(points),
            tight=len(tight),
        ),
        lambda: (
            {"base": grid, "context_served": served, "model": [p[0] for p in points]}
            | {"model_base": [p[1] for p in points], "model_context": [p[2] for p in points]}
        ),
        f"""
        import rope_core as rc
        from rope_core.hf import catalogue
        from rope_core.hf.resolve import ropes_of
        from rope_core.theory import attention
        bases, contexts = attention.bases_and_served_contexts({rope.dim})
        print(bases[contexts >= {context}][:1])
        print(attention.first_negative_score_distance({rope.dim}, {rope.base!r}, {FAR}))
        models = {{}}
        for model in catalogue.released_models():
            r = next(each for each in ropes_of(model.config).values() if not each.nope)
            if r.rotary_dim == {rope.dim} and (rc.spectrum(r.request).slowdown == 1).all():
                length = r.max_len or r.train_len
                models[model.name] = attention.first_negative_score_distance({rope.dim}, r.base, length)
        print(len(models), sum(first is not None for first in models.values()), models)
        """,
    )
