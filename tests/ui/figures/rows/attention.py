"""The attention page's figures."""

import math

import numpy as np

import rope_core as rc
from rope_core.theory import attention, extension, interpolation
from rope_core.theory import softmax as temperature
from tests.support.figures import ROPE, Row, extended
from tests.support.films import FilmRow
from ui.figures.attention import decay, expected, limits, scores, softmax
from ui.text.words import Words

THETA = ROPE.theta
LENGTH = 1024


def turned(q: np.ndarray, k: np.ndarray, distance: int) -> float:
    """Return the score of q at ``distance`` and k at 0, by the rotation matrix."""
    return float(rc.rotation_matrix(distance, THETA, "interleaved") @ q @ k)


PAIRING = scores.vectors("random", 16, 3, "", "")


def decaying(t: Words) -> str:
    q, k = PAIRING
    return t("decay_random", zero=f"{q @ k:.3f}", here=f"{turned(q, k, 70):.3f}", at="70")


def decaying_of_one_vector(t: Words) -> str:
    values = np.array([np.mean(np.cos(m * THETA)) for m in range(400)])
    first = f"{int(np.argmax(values < 0))}"
    return t("decay_equal", zero="1.000", here=f"{values[70]:.3f}", at="70", base="700", negative=first)


def bound(t: Words) -> str:
    q, k = PAIRING
    d = extension.cell_edges(400, scores.POINTS, True)
    values = np.array([turned(q, k, int(m)) for m in d])
    s = rc.Spectrum.of(THETA)
    return t(
        "bound_shown",
        reach="400",
        near=16,
        bound=f"{float(attention.decay_bound(s, [400])[0] / attention.decay_bound(s, [0])[0]):.3f}",
        spread=f"{values[d > 16].std():.3f}",
        share=f"{100 * np.max(np.abs(values) / attention.score_bound(s, d, q, k)):.3g}",
    )


def pairs(t: Words) -> str:
    q, k = PAIRING
    complex_product = (q[::2] + 1j * q[1::2]) * np.conj(k[::2] + 1j * k[1::2])
    here = (complex_product * np.exp(90j * THETA)).real
    means = np.exp(1j * np.outer(np.arange(256), THETA)).mean(axis=0)
    slow = np.abs(means) >= 0.5
    mean = (complex_product * means).real
    return t(
        "pairs_finding",
        at="90",
        total=f"{here.sum():.3f}",
        fast=int((~slow).sum()),
        slow=int(slow.sum()),
        fast_sum=f"{here[~slow].sum():.3f}",
        slow_sum=f"{here[slow].sum():.3f}",
        length="256",
        fast_mean=f"{mean[~slow].sum():.3f}",
        slow_mean=f"{mean[slow].sum():.3f}",
    )


def widths(t: Words) -> str:
    swings = []
    for dim in scores.WIDTHS:
        theta = 700.0 ** (-np.arange(0, dim, 2) / dim)
        curve = np.cos(np.outer(np.arange(512), theta)).mean(axis=1)
        swings.append(f"d = {dim}: {np.abs(np.diff(curve)).sum():.3g}")
    return t("widths_finding", span=512, said=t("comma").join(swings))


def compared_schemes(t: Words) -> str:
    ends, tops = [], []
    for each in extended(LENGTH):
        factor = each.spectrum.attention_factor**2
        score = factor * np.cos(np.outer(np.arange(256, LENGTH), each.spectrum.inv_freq)).mean()
        ends.append(f"{t(f'scheme.{each.scheme}')} {score:+.3f}")
        tops += [f"{t(f'scheme.{each.scheme}')} ×{factor:.4g}"] if factor != 1 else []
    return t("schemes_finding", trained="256", length="1,024", ends=t("comma").join(ends), tops=t("comma").join(tops))


def base_bound(t: Words) -> str:
    grid, served = attention.served_contexts(16)
    need = float(grid[np.argmax(served >= 100)])
    known = scores.unscaled_models(16)
    tight = sum(attention.first_negative(16, base, length) is not None for _, base, length in known)
    return t(
        "bound_finding",
        context="100",
        dim=16,
        need=f"{need:,.3g}" if need < 1000 else f"{round(need, -2):,.0f}",
        base="700",
        own=f"{attention.first_negative(16, 700.0, scores.FAR):,}",
        count=len(known),
        tight=tight,
    )


def theorem(t: Words) -> str:
    paper_rope = rc.Rope(128, 10_000.0, 2048)
    near, far, mine = (
        interpolation.compare_bounds(rope, reach)
        for rope, reach in ((paper_rope, 2048), (paper_rope, 2**17), (ROPE, 256))
    )
    return t(
        "theorem_finding",
        printed=f"{64 * math.log(10_000):.1f}",
        near=f"{near.smallest:.1f}",
        trained="2,048",
        far=f"{far.smallest:.1f}",
        at=f"{far.at:,}",
        reach="131,072",
        dim=16,
        base="700",
        mine=f"{64 * math.log(700):.1f}",
        mine_true=f"{mine.smallest:.1f}",
        mine_reach="256",
    )


def scales(t: Words) -> str:
    n = 64 * 256
    yarn = (0.1 * math.log(64) + 1) ** 2
    return t(
        "scales_finding",
        last=f"{n:,}",
        root=f"{math.sqrt(yarn):.4f}",
        yarn=f"{yarn:.4f}",
        light=f"{(0.0707 * math.log(64) + 1) ** 2:.4f}",
        logn=f"{math.log(n) / math.log(256):.4f}",
        floor=f"{0.1 * math.log(n // 8192 + 1) + 1:.4f}",
    )


def softmax_row(t: Words) -> str:
    lengths, n = softmax.lengths_for(256), 64 * 256
    meant = {
        name: 100 * float(temperature.expected_attention([n], factor, 2.0)[1][0])
        for name, factor in (
            ("after", 1.0),
            ("yarn", (0.1 * math.log(64) + 1) ** 2),
            ("logn", math.log(n) / math.log(256)),
            ("floor", 0.1 * math.log(n // 8192 + 1) + 1),
        )
    }
    curve = temperature.expected_attention(lengths, 1.0, 2.0)[1]
    drawn = [temperature.attention_over(m, 1.0, 2.0, softmax.DRAWS).meant for m in softmax.CHECKED]
    off = np.abs(np.array(drawn) - temperature.expected_attention(softmax.CHECKED, 1.0, 2.0)[1]).max()
    return t(
        "softmax_finding",
        trained="256",
        last=f"{n:,}",
        before=f"{100 * np.interp(256, lengths, curve):.3g}",
        off=f"{100 * off:.2g}",
        **{name: f"{value:.3g}" for name, value in meant.items()},
    )


def failing(t: Words) -> str:
    """Count every distance and every pair of distances below the trained length, and the drawn vectors' gap again."""

    def percent(base: float) -> tuple[str, str]:
        theta = base ** (-np.arange(8) / 8)
        k = np.cos(np.arange(256)[:, None] * theta).mean(axis=1)
        near, far = np.triu_indices(256, 1)
        score = 8 * (k[near] - k[far]) / np.sqrt(2 - 2 * k[far - near])
        wrong = [0.5 * math.erfc(each / math.sqrt(2)) for each in score]
        return f"{100 * np.mean(np.arccos(k)) / np.pi:.0f}", f"{100 * np.mean(wrong):.0f}"

    cases = [(base, 256) for base in limits.BASES[::3]] + [(700.0, length) for length in limits.LENGTHS[::3]]
    rows = np.array([limits.measured(ROPE, *case) for case in cases])
    (order, locality), (more_order, more_locality) = percent(700.0), percent(70_000.0)
    return t(
        "limits_finding",
        length="256",
        base="700",
        order=order,
        locality=locality,
        more_order=more_order,
        more_locality=more_locality,
        off=f"{np.abs(rows[:, :2] - rows[:, 2:]).max():.1f}",
        signal="8",
    )


ROWS = [
    Row("attention", scores.bound, (ROPE, "random", PAIRING, 400), {"x": "distance_log", "y": "score_axis"}, bound),
    Row(
        "attention",
        scores.pairs,
        (ROPE, PAIRING, 90),
        {"x": "axis.pair", "y": "contribution", "x2": "axis.pair", "y2": "running"},
        pairs,
    ),
    Row("attention", scores.widths, (700.0,), {"x": "distance", "y": "score_axis"}, widths),
    Row(
        "attention",
        scores.schemes,
        (ROPE, extended(LENGTH), LENGTH),
        {"x": "distance_log", "y": "score_axis"},
        compared_schemes,
    ),
    Row("attention", scores.base_bound, (ROPE, 100), {"x": "base_axis", "y": "context_axis"}, base_bound),
    Row(
        "attention",
        limits.limits,
        (ROPE,),
        {"x": "base_axis", "y": "fails.axis", "x2": "fails.tokens"},
        failing,
    ),
    Row("attention", softmax.theorem, (ROPE,), {"x": "distance_log", "y": "ratio_axis"}, theorem),
    Row("attention", softmax.scales, (256,), {"x": "length_log", "y": "scale_axis"}, scales),
    Row(
        "attention",
        softmax.softmax,
        (256, 2.0),
        {"x": "length_log", "y": "entropy_axis", "x2": "length_log", "y2": "meant_axis"},
        softmax_row,
    ),
]


def question(t: Words) -> str:
    return t("expected_ask", base="700", asked="35,000")


AT = decay.distances(70, 400)
CONTEXTS = (128.0, 256.0)
AT_70 = {"at": 70, "base": 700, "train_len": 256}
FILMS = [
    FilmRow("attention", decay.decaying, (ROPE, "random", PAIRING, 400, (700.0, 9e3), AT, CONTEXTS), AT_70, decaying),
    FilmRow(
        "attention",
        decay.decaying,
        (ROPE, "equal", scores.vectors("equal", 16, 0, "", ""), 400, (50.0, 700.0), AT, CONTEXTS),
        AT_70,
        decaying_of_one_vector,
    ),
    FilmRow("attention", expected.expected, (ROPE,), {}, question),
]
