"""Rounding on the way to an angle: a position that no format holds, a rounded frequency, then each of four steps."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

import rope_core as rc
from rope_core.theory import precision
from ui.figures.drawing import Film, cached_figure
from ui.figures.precision import drift, position, steps
from ui.figures.precision.drift import angle_error_text
from ui.figures.precision.formats import REACH, SINGLE, STOPS, spectrum_recipe
from ui.film.scene import field_control, scene_in_beats, sentence_parts
from ui.text.words import PageTexts

OCTAVE = 500
"""How many positions of an octave are compared for the largest error up to there; all where there are fewer."""
FIRST_FAR = 100
"""The position that the third step begins with."""


def position_stops(at: int) -> tuple[int, ...]:
    """Return the positions that can be dragged to: eight an octave below 2**20, all powers of two, and ``at``."""
    spread = np.rint(np.geomspace(1, REACH, 141)).astype(int).tolist()
    return tuple(sorted({at, *spread, *STOPS}))


def compared_positions() -> np.ndarray:
    """Return the positions at which errors are compared, int64, rising."""
    octaves = [np.linspace(2**e, 2 ** (e + 1), min(2**e, OCTAVE) + 1) for e in range(int(math.log2(REACH)))]
    return np.unique(np.rint(np.concatenate(octaves)).astype(np.int64))


def largest_phase_errors(s: rc.Spectrum, positions: tuple[int, ...], stage: str, dtype: str) -> np.ndarray:
    """Return the largest error of any pair (rad) up to each position; infinite from where a format overflows on."""
    passed = compared_positions()
    worst = precision.phase_error_curve(s, passed, stage, dtype)
    largest = np.maximum.accumulate(np.where(np.isnan(worst), np.inf, worst))
    return np.asarray(largest[np.searchsorted(passed, positions, side="right") - 1])


@cached_figure
def phase_error_film(request: rc.Request, dtype: str, positions: tuple[int, ...], t: PageTexts) -> Film:
    """Return a position that ``dtype`` cannot hold, the frequency that it holds worst, then the error by step."""
    s = rc.spectrum(request)
    near = position.red_word_control(t)
    at = field_control(t, "at", positions, play_seconds=12.0)
    pair = int(np.abs(precision.round_to_dtype(s.inv_freq, dtype) - s.inv_freq).argmax())
    frequency, name = float(s.inv_freq[pair]), t("pair_of", nth=pair + 1, pairs=s.inv_freq.size)
    largest = {stage: largest_phase_errors(s, positions, stage, dtype) for stage in SINGLE}
    most = {stage: at.texts(angle_error_text(value, t) for value in each.tolist()) for stage, each in largest.items()}
    reached = sentence_parts(partial(t, "largest_finding"), at=at.stop_text, **most)
    scene = scene_in_beats(
        t,
        "phase",
        (
            near,
            position.position_rounding_panels(s, near, dtype, t),
            position.position_rounding_finding(position.PositionRounding(s, dtype), near, dtype, t),
        ),
        (
            at,
            drift.frequency_rounding_panels(frequency, name, at, dtype, t),
            drift.frequency_rounding_finding(frequency, at, dtype, t),
        ),
        (at, steps.rounding_step_panels(positions, largest, at, dtype, t), reached),
        control_values=({}, {"at": drift.FIRST_AT}, {"at": FIRST_FAR}),
    )
    return Film(
        "phase",
        scene,
        lambda: {"position": np.array(positions)} | {f"{stage}_largest_rad": each for stage, each in largest.items()},
        f"""
        import numpy as np
        import rope_core as rc
        from rope_core.theory import precision
        s = {spectrum_recipe(request)}
        held = precision.round_to_dtype(near, {dtype!r})
        print(held, np.degrees(near * s.inv_freq[0]), np.degrees(abs(near - held) * s.inv_freq[0]))
        print([100, at], np.degrees(precision.phase_error(s, [100, at], "inv_freq", {dtype!r})[:, {pair}]), at / 100)
        octaves = [np.linspace(2**e, 2 ** (e + 1), min(2**e, {OCTAVE}) + 1) for e in range({int(math.log2(REACH))})]
        passed = np.unique(np.rint(np.concatenate(octaves)).astype(int))
        for stage in {SINGLE}:
            worst = np.degrees(precision.phase_error_curve(s, passed[passed <= at], stage, {dtype!r}).max())
            print(stage, worst, "degrees", worst / 360, "turns")
        """,
    )
