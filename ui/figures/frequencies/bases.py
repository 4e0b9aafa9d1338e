"""Steps 2 and 3 of the page: what a larger base does to all rows, and which base fits which trained length."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory import frequency_demo
from ui.figures import catalogue
from ui.figures.frequencies.stripes import LONGER, position_decade_ticks, stripe_map_marks
from ui.figures.plot import scaled_int8
from ui.film import marks
from ui.film.colours import MUTED_COLOUR, TRAINED_COLOUR, UNSEEN_COLOUR, colour_scale
from ui.film.composite_marks import drag_hint
from ui.film.scene import (
    Axis,
    Control,
    Mark,
    NumberTrack,
    Panel,
    Paragraph,
    TextOrTrack,
    TextTrack,
    sentence_parts,
    text_panel,
)
from ui.text.words import PageTexts, number_text

COLUMNS = 160
PAIRS, LOW, HIGH, LEVELS = 64, 3.5, 8.5, 81
"""Of the last map: pairs, log10 of the least and the greatest base, and how many bases are drawn."""
FEW, MANY = 1e4, 1e6
"""The bases that its sentence names."""
MODELS = ("mistral-small-3-24b", "qwen3-30b-a3b-2507", "mistral-7b-v0.2", "llama-3-8b", "llama-2-7b")
"""Of 64 pairs each, without a scheme."""
TURN_SHADES = colour_scale("ecf4f3 0c424c")
SCALE_ENDS = 0.0, 9.0
"""log10 of the tokens of a turn at the ends of that scale."""


def unfinished_pair_count(rope: rc.Rope) -> int:
    """Return how many pairs make no full turn in the trained length."""
    return int(frequency_demo.incomplete_pair_mask(rope).sum())


def larger_base_finding(ropes: Sequence[rc.Rope], own: rc.Rope, at: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return how many pairs never finish a turn with the larger base, and with the model's own."""
    counts = at.texts(str(unfinished_pair_count(rope)) for rope in ropes)
    middle = at.texts(number_text((rope.base / own.base) ** (own.pairs // 2 / own.pairs), 3) for rope in ropes)
    given = partial(t, "base_finding", pairs=own.pairs, own=number_text(own.base), before=unfinished_pair_count(own))
    return sentence_parts(given, base=at.stop_text, count=counts, times=middle)


def larger_base_panels(ropes: Sequence[rc.Rope], own: rc.Rope, at: Control, t: PageTexts) -> tuple[Panel, Panel]:
    """Return all pairs at all positions, at the model's own base and at another one."""
    return _half([own], own, None, t), _half(ropes, own, at, t)


def _half(ropes: Sequence[rc.Rope], own: rc.Rope, at: Control | None, t: PageTexts) -> Panel:
    longest = LONGER * own.train_len
    end, trained, pairs = np.log10(longest), np.log10(own.train_len), own.pairs
    rows = frequency_demo.sampled_positions(pairs, PAIRS)
    counts = np.array([unfinished_pair_count(rope) for rope in ropes])
    cells = np.stack(
        [scaled_int8(frequency_demo.cosine_stripes_and_contrast(rope, longest, COLUMNS)[rows], 1.0) for rope in ropes]
    )
    waves = np.stack([rope.wavelength for rope in ropes])

    def moving(values: npt.NDArray[Any]) -> Any:
        return at.numbers(values) if at else values[0]

    def text(write: Sequence[str]) -> TextOrTrack:
        return at.texts(write) if at else write[0]

    length = f"{own.train_len:,}"
    border = moving((counts - pairs)[:, None] / pairs)
    drawn: list[Mark] = [
        *stripe_map_marks(moving(cells), moving(waves), trained, end),
        *marks.in_wide_panel(
            250, marks.text(trained, 0.02, t("trained", length=length), TRAINED_COLOUR, anchor="end", bold=True)
        ),
    ]
    line = marks.line([-0.02 * end, 1.02 * end], _twice(border), "ink", 3)
    if at:
        before = unfinished_pair_count(own) / pairs - 1.0
        hidden = at.numbers(np.where(counts[:, None] < 0.9 * pairs, 0.05 * end, np.nan))
        label = at.numbers((counts - pairs)[:, None] / pairs)
        drawn += [
            marks.line([-0.02 * end, 1.02 * end], [before, before], "paper", 4),
            marks.line([-0.02 * end, 1.02 * end], [before, before], "ink", 2, "3 4"),
            marks.drag_handle(at, end / 2, border, "ink", t("grab_border"), [line], radius_px=7),
            drag_hint(hidden, label, t("drag_border"), dy=-8),
        ]
    else:
        drawn.append(line)
    numbers = {
        "first": text([number_text(rope.wavelength[0], 3) for rope in ropes]),
        "middle": text([number_text(rope.wavelength[pairs // 2], 3) for rope in ropes]),
        "last": text([number_text(rope.wavelength[-1], 3) for rope in ropes]),
        "ratio": text([f"{rope.base ** (2 / rope.dim):.3g}" for rope in ropes]),
    }
    amber = sentence_parts(partial(t, "never_of", pairs=pairs), count=text([str(count) for count in counts]))
    across = Axis(-0.03 * end, 1.03 * end, position_decade_ticks(end), t("token"), grid=False)
    title = sentence_parts(partial(t, "base_is"), base=text([number_text(rope.base) for rope in ropes]))
    paragraphs = (
        Paragraph(amber, UNSEEN_COLOUR, 17, bold=True),
        Paragraph(sentence_parts(partial(t, "rows_need"), **numbers), MUTED_COLOUR, 15),
    )
    return Panel(across, Axis(-1.03, 0.14), drawn, title, min_width=150, height=230, paragraphs=paragraphs)


def _twice(value: NumberTrack | Array) -> NumberTrack | Array:
    if isinstance(value, NumberTrack):
        return NumberTrack(value.drivers, np.repeat(value.keyframes, 2, axis=1))
    return np.repeat(value, 2)


def base_fit_finding(at: Control, t: PageTexts) -> list[str | TextTrack]:
    """Return how many pairs never finish a turn in a trained length, with a small base and with a large one."""
    counts = {
        name: at.texts(str(unfinished_pair_count(rc.Rope(2 * PAIRS, base, int(length)))) for length in at.stops)
        for name, base in (("few", FEW), ("many", MANY))
    }
    given = partial(t, "fit_finding", pairs=PAIRS, small=number_text(FEW), large=number_text(MANY))
    return sentence_parts(given, length=at.stop_text, **counts)


def one_turn_pair_index(bases: Array, length: float) -> Array:
    """Return the pair, as a fractional index, that one turn takes ``length`` tokens at each base."""
    return np.array([rc.Rope(2 * PAIRS, base, int(length)).pair_at(1.0) for base in bases.tolist()])


def base_fit_panels(at: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return how long a turn takes by pair and base, what training shows whole, and models at their bases."""
    powers = np.linspace(LOW, HIGH, LEVELS)
    waves = np.log10(2 * np.pi) + powers[::-1, None] * np.arange(PAIRS) / PAIRS
    span = SCALE_ENDS[1] - SCALE_ENDS[0]
    cells = scaled_int8(2 * (np.floor(waves) - SCALE_ENDS[0]) / span - 1, 1.0)
    edge = np.clip(np.stack([one_turn_pair_index(10.0**powers, length) for length in at.stops]), -0.5, PAIRS - 0.5)
    half = (HIGH - LOW) / (LEVELS - 1) / 2
    drawn: list[Mark] = [
        marks.heatmap(cells, TURN_SHADES, (-0.5, PAIRS - 0.5), (HIGH, LOW)),
        marks.rect(at.numbers(edge), PAIRS - 0.5, powers - half, powers + half, UNSEEN_COLOUR, fill_pattern="hatch"),
    ]
    for power, base in ((2, 6.6), (3, 7.6), (4, 6.3), (5, 6.3), (6, 7.4), (7, 7.4)):
        words = number_text(10.0**power) if power > 2 else t("turn_in", length=number_text(10.0**power))
        name = marks.text(float(one_turn_pair_index(np.array([10.0**base]), 10**power)[0]), base, words, font_size=13)
        drawn.append(
            marks.line(np.minimum(one_turn_pair_index(10.0**powers, 10**power), PAIRS - 0.5), powers, "paper", 1)
        )
        drawn += [name] if power < 4 else marks.in_wide_panel(420, name)
    models = [(catalogue.model_name(each), catalogue.model_rope_setting(each).rope) for each in MODELS]
    grip = [np.interp(4.6, powers, row) for row in edge]
    green = [
        marks.line(at.numbers(edge), powers, colour, width) for colour, width in (("paper", 9), (TRAINED_COLOUR, 5))
    ]
    hint = at.numbers_where(np.array(at.stops) < 32_768, np.array(grip) - 2.0)
    drawn += [
        marks.drag_handle(at, at.numbers(np.array(grip)), 4.6, TRAINED_COLOUR, t("grab_length"), green, radius_px=8),
        marks.text(10.0, 5.3, t("finish"), TRAINED_COLOUR, bold=True, font_size=17),
        marks.text(56.0, 5.3, t("never_finish"), UNSEEN_COLOUR, bold=True, font_size=17),
        drag_hint(hint, 4.6, t("drag_length"), anchor="end", dy=5),
    ]
    for number, (_, rope) in enumerate(models, 1):
        x, y = rope.pair_at(1.0), float(np.log10(rope.base))
        drawn += [
            marks.dot([x], [y], "paper", 11),
            marks.dot([x], [y], "ink", 9),
            marks.text(x, y, str(number), "paper", bold=True, font_size=13, halo=False, dy=5),
        ]
    bases = range(int(np.ceil(LOW)), int(HIGH) + 1)
    ticks = tuple((float(pair), str(pair)) for pair in (0, 16, 32, 48, 63))
    return (
        Panel(
            Axis(-0.5, PAIRS - 0.5, ticks, t("pairs_axis"), grid=False),
            Axis(LOW, HIGH, tuple((float(p), number_text(10.0**p)) for p in bases), t("field.base"), grid=False),
            drawn,
            min_width=320,
            width_share=2.2,
            height=290,
        ),
        text_panel(
            Paragraph(t("models_title"), bold=True),
            *(
                Paragraph(
                    t(
                        "model_never",
                        number=k,
                        name=name,
                        length=f"{rope.train_len:,}",
                        count=unfinished_pair_count(rope),
                    ),
                    font_size=15,
                )
                for k, (name, rope) in enumerate(models, 1)
            ),
            min_width=200,
            width_share=1.0,
        ),
    )
