"""A true hand and rounded ones that drift apart as the position is dragged, and how far each is off at every stop."""

from __future__ import annotations

import math

import numpy as np

import rope_core as rc
from rope_core.theory import precision
from ui.figures.drawing import Film, kept
from ui.figures.precision.formats import BY_STAGE, REACH, SINGLE, STOPS, number_text, spectrum_code
from ui.film.scene import Axis, Control, Panel, Scene, Texts, Track, control, sentence
from ui.film.shapes import arc, circle, dots, handle, hands, label, named, path, turned
from ui.text.words import Words

UP = math.pi / 2


def stops(at: int) -> tuple[int, ...]:
    """Return the positions that can be dragged to: eight an octave below 2**20, all powers of two, and ``at``."""
    steps = np.rint(np.geomspace(1, REACH, 141)).astype(int).tolist()
    return tuple(sorted({at, *steps, *STOPS}))


@kept
def drifting(request: rc.Request, dtype: str, positions: tuple[int, ...], t: Words) -> Film:
    """Return a dial for each stage kept in ``dtype``, and the same errors at all positions.

    A dial's true hand points up; the rounded one is off by the phase error of the pair that this stage hurts most on
    the way. Dials, dots and finding have one number: this pair's error at the position.
    """
    s = rc.spectrum(request)
    at = control(t, "at", positions, seconds=12.0)
    errors = {stage: _worst_pair(precision.phase_error(s, positions, stage, dtype)) for stage in SINGLE}
    dials = [_dial(stage, Track((at,), error[:, None]), pair, at, t) for stage, (pair, error) in errors.items()]
    sizes = {stage: np.abs(error) for stage, (_, error) in errors.items()}
    where = np.log10(positions)
    logs = {stage: np.log10(np.where(size > 0, _finite(size), np.nan)) for stage, size in sizes.items()}
    every = np.concatenate([*logs.values(), [math.log10(math.pi)]])
    low, top = math.floor(np.nanmin(every)), float(np.nanmax(every))
    high = math.ceil(top + 0.06 * (top - low))  # Room for the words on half a turn.
    here = Track((at,), where[:, None])
    curves = Panel(
        Axis(0.0, math.log10(REACH), tuple((k, f"{10**k:,}") for k in range(0, 7, 2)), t("position_log")),
        Axis(
            low,
            high,
            tuple((k, f"10{raised(k)}") for k in range(low, high + 1, 2 if high - low > 4 else 1)),
            t("phase_axis"),
        ),
        [
            path([0.0, math.log10(REACH)], [math.log10(math.pi)] * 2, "ink", 2, "3 5"),
            label(0.0, math.log10(math.pi), t("half_turn"), anchor="start", dx=6, dy=-7),
            *(dots(where, size, BY_STAGE[stage], 3) for stage, size in logs.items()),
            named("m", path(Track((at,), np.stack([where, where], axis=1)), [low, high], "ink", 1.5, "2 4")),
            *(dots(here, Track((at,), size[:, None]), BY_STAGE[stage], 7) for stage, size in logs.items()),
            handle(at, here, Track((at,), logs["inv_freq"][:, None]), BY_STAGE["inv_freq"], t("grab")),
        ],
        width=300,
        share=2.2,
        height=150,
    )
    finding = sentence(
        lambda **slots: t("phase_finding", dtype=dtype, **slots),
        at=Texts((at,), at.texts),
        **{
            stage: Texts((at,), tuple(number_text(value, t) for value in size.tolist()))
            for stage, size in sizes.items()
        },
    )
    return Film(
        "phase",
        Scene((*dials, curves), (at,), finding),
        lambda: {"position": np.array(positions)} | {f"{stage}_rad": size for stage, size in sizes.items()},
        f"""
        import rope_core as rc
        from rope_core.theory import precision
        s = {spectrum_code(request)}
        for stage in {SINGLE}:
            print(stage, precision.phase_error_curve(s, [4095], stage, {dtype!r}))
        """,
    )


def _worst_pair(errors: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the pair that is off the most at some position, and its error at all, of (positions, pairs)."""
    pair = int(np.nan_to_num(np.abs(errors), posinf=0.0).max(axis=0).argmax())
    return pair, errors[:, pair]


def _dial(stage: str, error: Track, pair: int, at: Control, t: Words) -> Panel:
    angle = Track(error.by, UP + _finite(error.frames))
    colour = BY_STAGE[stage]
    shapes = [
        circle(0.0, 0.0, 1.0, "ink", 2),
        named("ε", arc(0.0, 0.0, 0.55, UP, angle, colour, 8)),
        named("θ", hands(0.0, 0.0, 0.95, UP, "ink", 6)),
        hands(0.0, 0.0, 0.95, angle, colour, 6),
    ]
    if stage == "inv_freq":
        shapes.append(turned(at, 0.0, 0.0, 0.95, angle, colour, t("grab_hand")))
    shown = Texts(error.by, tuple(f"{number_text(value, t)} rad" for value in np.abs(error.frames[:, 0]).tolist()))
    shapes.append(label(0.0, -1.35, shown, colour, bold=True, size=17))
    return Panel(
        Axis(-1.1, 1.1), Axis(-1.5, 1.1), shapes, t("dial", stage=t(f"stage.{stage}"), i=pair), 150, 1.0, 150, True
    )


def _finite(values: np.ndarray) -> np.ndarray:
    """Return values with nan where a format has overflowed."""
    return np.where(np.isfinite(values), values, np.nan)


def raised(power: int) -> str:
    """Return a power of ten as its small raised digits."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
