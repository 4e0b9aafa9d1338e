"""The output as a chain of values, each as long as its share of attention, while words come before the sentence."""

from __future__ import annotations

import numpy as np

import rope_core as rc
from rope_core.rope import Array
from rope_core.theory.block.demo import attention_output_partial_sums
from ui.figures.block.vectors import CAT
from ui.figures.home import degrees_text, single_drawn_pair
from ui.film import marks
from ui.film.colours import GREY, KEY_COLOUR, MUTED_COLOUR, QUERY_COLOUR, RED, VALUE_COLOUR
from ui.film.composite_marks import drag_hint, verdict_marks, word_tile, x_hidden_past_stop
from ui.film.scene import Axis, Control, Mark, Panel, TextOrTrack
from ui.text.words import PageTexts

TOKENS = ("the", "cat", "sat", "on", "the", "mat")
"""What the drawn vectors belong to, in every language."""
FRONT, FIRST_FRONT = 5, 2
"""How many words come before the sentence at most, and at first."""


def partial_value_sums(rope: rc.Rope, *, rotate_v: bool) -> Array:
    """Return the partial sums of the last word's output with 0 to `FRONT` words in front, (FRONT + 1, words + 1, 2).

    In the page's plane: x is a value's second number and y its first, so that a rotation goes the clock's way.
    """
    theta = float(rope.theta[single_drawn_pair(rope)])
    starts = range(FRONT + 1)
    return np.array(
        [attention_output_partial_sums(TOKENS, rope.base, theta, start, rotate_v)[:, ::-1] for start in starts]
    )


def rotated_value_sum_panels(rope: rc.Rope, moved: Control, t: PageTexts) -> tuple[Panel, ...]:
    """Return the text with words in front, and the output with values as they are and with values rotated."""
    still, also = partial_value_sums(rope, rotate_v=False), partial_value_sums(rope, rotate_v=True)
    reach = 1.05 * float(np.linalg.norm(np.concatenate([still, also]), axis=-1).max())
    return _text(moved, t), *(_output(moved, each, reach, t, rotated=k == 1) for k, each in enumerate((still, also)))


def _text(moved: Control, t: PageTexts) -> Panel:
    """Return the words in front as tiles, and the sentence after them, whose last word is dragged."""
    front, words = t("front_words").split(), t("cached_words").split()
    counts = np.array(moved.stops).astype(int)
    drawn: list[Mark] = []
    for place in range(FRONT):
        texts = tuple(front[FRONT - n + place] if place < n else "" for n in counts)
        x = moved.numbers_where(place < counts, place)
        drawn += word_tile(x, 0.0, moved.texts(texts))
        drawn.append(marks.text(x, -0.95, str(place), MUTED_COLOUR, font_size=13))
    last = len(words) - 1
    for k, word in enumerate(words):
        x = moved.numbers(counts + k)
        tile = word_tile(x, 0.0, word, {CAT: KEY_COLOUR, last: QUERY_COLOUR}.get(k, ""))
        drawn += [marks.drag_handle(moved, x, 0.0, "ink", t("grab_mat"), tile, radius_px=0)] if k == last else tile
        drawn.append(marks.text(x, -0.95, moved.texts(str(n + k) for n in counts), font_size=13))
    right = x_hidden_past_stop(moved, FRONT - 1, 0.0) + (counts + last + 0.6)[:, None]
    drawn += marks.in_wide_panel(600, drag_hint(right, 0.0, t("drag_on"), dy=6))
    return Panel(Axis(-0.55, FRONT + last + 0.55), Axis(-1.05, 0.55), drawn, min_width=2000, height=70)


def _output(moved: Control, chain: Array, reach: float, t: PageTexts, *, rotated: bool) -> Panel:
    """Return a chain of values and its end, the output, over where it was without words in front."""
    steps = np.diff(chain, axis=1)
    colours, index = (GREY, KEY_COLOUR, QUERY_COLOUR), [0, 1, 0, 0, 0, 2]

    def polar(vector: Array) -> tuple[Array, Array]:
        angle = np.unwrap(np.arctan2(vector[..., 1], vector[..., 0]), axis=0)
        return np.linalg.norm(vector, axis=-1)[0], angle

    lengths, angles = polar(steps)
    length, angle = polar(chain[:, -1])
    before = chain[0, -1]
    x, y = (moved.numbers(chain[:, :-1, axis]) for axis in (0, 1))
    drawn: list[Mark] = [
        marks.vector(0.0, 0.0, float(length), float(angle[0]), GREY, 3, True, stroke_dash="6 4"),
        marks.text(float(before[0]), float(before[1]), t("before_move"), MUTED_COLOUR, font_size=14, dy=-10),
        marks.vector(x, y, lengths, moved.numbers(angles), colours, 4, True, np.array(index)),
    ]
    turned = np.abs(angle - angle[0])
    here = moved.numbers(angle)
    output = marks.vector(0.0, 0.0, float(length), here, VALUE_COLOUR, 6, has_head=True)
    drawn.append(marks.link_symbol("o", output))
    tip = moved.numbers(0.55 * chain[:, -1, :1]), moved.numbers(0.55 * chain[:, -1, 1:])
    drawn.append(marks.text(*tip, t("output_name"), VALUE_COLOUR, bold=True, anchor="start", dx=16, dy=16))
    if rotated:
        written = tuple(
            "" if n == 0 else t("output_turned", angle=degrees_text(a)) for n, a in enumerate(turned.tolist())
        )
        drawn.append(marks.arc(0.0, 0.0, 0.35 * float(length), float(angle[0]), here, RED, 3))
        drawn.append(marks.text(-1.45 * reach, 0.92 * reach, moved.texts(written), RED, bold=True, anchor="start"))
    moving = tuple(t("another_output") if n and rotated else "" for n in range(len(moved.stops)))
    same = "" if rotated else t("same_output")
    drawn += verdict_marks(-1.45 * reach, -0.9 * reach, same, moved.texts(moving))
    drawn.append(marks.dot([0.0], [0.0], "ink", 5))
    across = Axis(-1.5 * reach, 1.5 * reach)
    title = t("values_rotated" if rotated else "values_as_they_are")
    return Panel(across, Axis(-1.05 * reach, 1.1 * reach), drawn, title, min_width=330, height=300, equal_aspect=True)


def value_sum_finding(rope: rc.Rope, moved: Control, t: PageTexts) -> TextOrTrack:
    """Return the sentence about both outputs."""
    end = partial_value_sums(rope, rotate_v=True)[:, -1]
    angle = np.unwrap(np.arctan2(end[:, 1], end[:, 0]))
    texts = [
        t("output_finding", words=n, angle=degrees_text(abs(each))) if n else t("output_start")
        for n, each in enumerate((angle - angle[0]).tolist())
    ]
    return moved.texts(texts)
