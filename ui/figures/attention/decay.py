"""A score under the hand: the distance dragged along the curve, the base that shapes it, and a text that grows."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import attention
from ui.figures.attention import spread
from ui.figures.attention.bins import bins
from ui.figures.attention.scores import FAR, STOPS, Pairing, recipe_vectors
from ui.figures.drawing import Film, cached_figure
from ui.film import marks
from ui.film.colours import GREEN, GREY, KEY_COLOUR, QUERY_COLOUR, SKY
from ui.film.composite_marks import TOP, clock_angle, drag_hint
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Scene,
    TextTrack,
    beats_from_labels,
    field_control,
    sentence_parts,
)
from ui.text.words import Words

LOW, HIGH = 1e3, 1e7
DECADES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)


def distances(at: int, reach: int) -> tuple[int, ...]:
    """Return the distances to drag to: eight an octave and the round ones, up to ``reach`` or ``at``, and ``at``."""
    steps = {*STOPS, *np.rint(np.geomspace(1, FAR, 137)).astype(int).tolist()}
    return tuple(sorted({at, *(step for step in steps if step <= max(reach, at))}))


def _short_score(value: float) -> str:
    """Return a score with two digits, one near zero with three decimals."""
    return (f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}").replace("-", "−")


def _at_first(far: Control, beyond: float) -> NumberTrack:
    """Return the place right of a distance, on the logarithmic axis, until the word has been moved beyond it."""
    place = np.where(np.array(far.stops) < beyond, np.log10(beyond), np.nan)
    return NumberTrack((far,), place[:, None])


def _pairs(pairing: Pairing) -> tuple[Array, Array]:
    """Return each pair's angle from the key to the query before any turn, and its weight in the score, at most 1."""
    q, k = (np.asarray(vector).reshape(-1, 2) @ [1, 1j] for vector in pairing)
    product = q * k.conj()
    return np.angle(product), np.abs(product) / np.abs(product).max()


def _rosette(rope: rc.Rope, far: Control, pairing: Pairing, t: Words) -> Panel:
    """Return every pair's arrow of the query where the key's all point up, and how far up they point on average."""
    start, weights = _pairs(pairing)
    turned = start + np.array(far.stops)[:, None] * rope.theta
    mean = (weights * np.cos(turned)).sum(axis=1) / weights.sum()
    level = NumberTrack((far,), mean[:, None])
    written = TextTrack((far,), tuple(t("mean", value=_short_score(value)) for value in mean.tolist()))
    across = NumberTrack((far,), np.stack([mean, mean], axis=1))
    query = marks.vector(0.0, 0.0, 0.98 * weights, clock_angle(NumberTrack((far,), turned)), QUERY_COLOUR, 2, True)
    words = TextTrack((far,), tuple(t("turned_on", pairs=rope.pairs, words=label) for label in far.stop_labels))
    return Panel(
        Axis(-1.5, 1.5),
        Axis(-1.36, 1.5),
        [
            marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
            query | {"opacity": 0.55},
            marks.vector(0.0, 0.0, 1.12, TOP, KEY_COLOUR, 5, has_head=True),
            marks.line([-0.22, 1.05], across, "ink", 2, "7 4"),
            marks.line([-0.2, 0.2], across, "ink", 5),
            marks.text(1.08, level, written, bold=True, anchor="start", font_size=16, dy=5),
            marks.text(0.0, 1.3, t("upright", pairs=rope.pairs), KEY_COLOUR, bold=True, dy=-4),
            marks.text(0.0, -1.2, words, QUERY_COLOUR, bold=True, dy=6),
        ],
        min_width=290,
        height=330,
        equal_aspect=True,
        last_beat=1,
    )


SAMPLES = (100, 1000, 10_000)
"""Distances at which the curve has a small picture of the arrows."""


def _samples(
    rope: rc.Rope, far: Control, reach: int, spectrum: rc.Spectrum, pairing: Pairing, top: float
) -> list[Mark]:
    """Return small pictures of all arrows above the curve at some distances, where the panel has room."""
    drawn: list[Mark] = []
    for distance in (each for each in SAMPLES if each <= reach):
        x, y = float(np.log10(distance)), float(attention.score_curve(spectrum, [distance], *pairing)[0]) + 0.38 * top
        angles = clock_angle(distance * rope.theta)
        drawn += [
            marks.circle(x, y, 0.14 * top, GREY, 1, length_unit="y"),
            marks.vector(x, y, 0.13 * top, angles, QUERY_COLOUR, 1, length_unit="y") | {"opacity": 0.6},
        ]
    return marks.in_wide_panel(400, *drawn)


@cached_figure
def decaying(
    rope: rc.Rope,
    kind: str,
    pairing: Pairing,
    reach: int,
    bases: tuple[float, ...],
    at: tuple[int, ...],
    words: tuple[int, ...],
    own: float,
    t: Words,
) -> Film:
    """Return the score of a query and a key over the distance, then at every base; then attention as a text grows.

    ``own``: the base that the second and the third beat begin at.
    """
    q, k = pairing
    reach = max(reach, at[-1])
    base, far = (
        field_control(t, "base", bases, first_beat=2, last_beat=2),
        field_control(t, "at", at, play_seconds=8.0, last_beat=1),
    )
    keys = field_control(t, "keys", words, start=2.0 * rope.train_len, first_beat=3, play_seconds=6.0)
    squares, plain, sharp = spread.shares(words, rope.train_len)
    spectra = [rc.Spectrum.of(rc.Rope(rope.dim, each, rope.train_len).theta) for each in bases]
    d, middle, fold = bins(reach)
    scores = np.array([attention.score_curve(s, d, q, k) for s in spectra])
    _, least, most = fold(scores)
    there_and_back = np.log10(np.concatenate([middle, middle[::-1]]))
    band = NumberTrack((base,), np.concatenate([least, most[:, ::-1]], axis=1))
    here = np.array([attention.score_curve(s, at, q, k) for s in spectra])
    zero = float(attention.score_curve(spectra[0], [0], q, k)[0])
    start = f"{zero:.3f}".rstrip("0").rstrip(".")
    edge = np.log10(reach)
    mark = NumberTrack((far,), np.log10(at)[:, None])
    high = NumberTrack((base, far), here[..., None])
    stem = NumberTrack((base, far), np.stack([np.zeros_like(here), here], axis=-1))
    low = min(-0.15, 1.1 * float(min(scores.min(), here.min())))
    top = max(1.05, 1.1 * float(max(scores.max(), here.max())))
    numbers = TextTrack((base, far), tuple(map(_short_score, here.ravel().tolist())))
    trained = float(np.log10(min(rope.train_len, reach)))
    first = [attention.first_negative(rope.dim, each, reach) for each in bases] if kind == "equal" else []
    negative = TextTrack((base,), tuple(t("above") if each is None else f"{each:,}" for each in first)) if first else ""
    zeros = NumberTrack((base,), np.log10([[reach if each is None else each] for each in first])) if first else 0.0
    length = f"{rope.train_len:,}"
    side = {"anchor": "end", "dx": -8} if trained > edge / 2 else {"anchor": "start", "dx": 8}
    crossing = [
        marks.drag_handle(base, zeros, 0.0, "ink", t("grab_base"), radius_px=10),
        marks.text(zeros, 0.0, negative, anchor="end", bold=True, dx=10, dy=28),
    ]
    panel = Panel(
        Axis(0.0, edge, tuple((np.log10(x), f"{x:,}") for x in DECADES if x <= reach), t("distance_log")),
        Axis(low, top, ((0.0, "0"), (zero, f"{zero:.2g}")) if abs(zero) > 0.1 else ((0.0, "0"),), t("score_axis")),
        [
            marks.line([0.0, edge], [0.0, 0.0], "ink", 1),
            *marks.from_beat(
                2,
                marks.link_symbol("L", marks.line((trained, trained), (low, top), GREEN, 4)),
                marks.text(trained, 0.85 * top, t("trained", length=length), GREEN, bold=True, **side),
            ),
            marks.line(there_and_back, band, SKY, 0, fill=SKY) | {"opacity": 0.3},
            marks.text(0.0, low, t("scores_band"), SKY, anchor="start", dx=4, dy=-8, font_size=13),
            marks.link_symbol("R", marks.line(there_and_back, band, SKY, 2)),
            *marks.up_to_beat(
                1,
                marks.line(NumberTrack((far,), np.stack([np.log10(at)] * 2, axis=1)), stem, QUERY_COLOUR, 1.5, "2 4"),
                *(_samples(rope, far, reach, spectra[0], pairing, top) if kind == "equal" else ()),
                marks.drag_handle(
                    far, mark, high, QUERY_COLOUR, t("grab"), [marks.dot(mark, high, QUERY_COLOUR, 11)], radius_px=0
                ),
                marks.link_symbol("m", marks.text(mark, high, numbers, QUERY_COLOUR, bold=True, font_size=20, dy=-18)),
                *marks.in_wide_panel(400, drag_hint(_at_first(far, 8), 0.3 * low, t("drag_away"), dy=6)),
            ),
            *marks.from_beat(2, *crossing[: 2 * bool(first)]),
        ],
        min_width=330,
        width_share=1.5,
        height=290,
        last_beat=2,
    )
    falls = tuple(t("stays", limit=f"{reach:,}") if each is None else t("falls", m=f"{each:,}") for each in first)
    slots = {"base": TextTrack((base,), base.stop_labels), "falls": TextTrack((base,), falls) if first else ""}
    findings = (
        sentence_parts(
            lambda **more: t("decay_finding", zero=start, **more), here=numbers, at=TextTrack((far,), far.stop_labels)
        ),
        sentence_parts(lambda **more: t(f"base_{kind}", **more), **slots),
        spread.texts_of(keys, squares, plain, sharp, t),
    )
    return Film(
        "decay",
        Scene(
            (_rosette(rope, far, pairing, t), panel, *spread.panels(keys, rope.train_len, plain, sharp, t)),
            (far, base, keys),
            "",
            beats=beats_from_labels(
                t,
                "decay",
                *findings,
                hint_controls=("at", "base", "keys"),
                control_values=({}, {"base": own}, {"base": own, "keys": 2.0 * rope.train_len}),
                fact=t(f"fact.{kind}", **({"pairs": rope.pairs} if kind == "equal" else {})),
                act=t(f"act.{kind}"),
            ),
        ),
        lambda: {"distance": d} | {f"score, base {each:g}": row for each, row in zip(bases, scores, strict=True)},
        f"""
        import rope_core as rc
        from rope_core.theory import attention
        {recipe_vectors(pairing)}
        for base in {list(bases[:3])}:
            print(base, attention.score_curve(rc.Spectrum.of(rc.Rope({rope.dim}, base).theta), [0, 1, 100], q, k))
        """,
    )
