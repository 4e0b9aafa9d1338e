"""The LRPE page's first figure: how a sum keeps the order of words, why to activate first, and what it saves."""

from __future__ import annotations

from ui.figures.drawing import Film, cached_figure
from ui.figures.lrpe import activation_order, cost, order
from ui.film.scene import field_control, scene_in_beats
from ui.text.words import PageTexts


@cached_figure
def running_sum_film(width: int, lengths: tuple[int, ...], t: PageTexts) -> Film:
    """Return keys added in two orders, a score by the order of activation and turn, and the cost of a running sum.

    Args:
        width: of the head whose multiplications are counted.
        lengths: of the text, to drag to.
        t: the page's words.
    """
    cat = field_control(t, "cat", (order.FIRST, order.LAST), play_seconds=3.0)
    place = field_control(t, "place", range(activation_order.LAST + 1), play_seconds=8.0)
    length = field_control(t, "length", lengths, play_seconds=8.0)
    scene = scene_in_beats(
        t,
        "running_sum",
        (cat, order.key_sum_panels(cat, t), order.key_sum_finding(cat, t)),
        (
            place,
            activation_order.activation_order_panels(place, t),
            activation_order.activation_order_finding(place, t),
        ),
        (
            length,
            cost.multiplication_count_panels(width, length, t),
            cost.multiplication_count_finding(width, length, t),
        ),
        control_values=({}, {"place": activation_order.FIRST_PLACE}, {"length": cost.FIRST_LENGTH}),
        act=t(f"act.{activation_order.ACT}"),
    )
    return Film(
        "running_sum",
        scene,
        lambda: {
            "sum as they are": order.key_sums_in_both_orders(False).ravel(),
            "sum turned": order.key_sums_in_both_orders(True).ravel(),
            "activation first": activation_order.scores_by_key_place(activation_first=True),
            "turn first": activation_order.scores_by_key_place(activation_first=False),
        },
        "\n".join(
            (
                *order.RECIPE,
                "from rope_core.lrpe import lrpe_rotate",
                "from rope_core.lrpe.linear import multiplication_counts",
                "import numpy as np",
                f"key, query = np.array([[{activation_order.KEY}]]), np.array([[{activation_order.QUERY}]])",
                f"act = {activation_order.ACT!r}",
                f"for place in range({activation_order.LAST + 1}):",
                f"    both = (key, place), (query, place + {activation_order.DISTANCE})",
                "    first = [lrpe_rotate(x, theta, act=act, offset=p)[0, 0] for x, p in both]",
                "    last = [apply_activation(lrpe_rotate(x, theta, offset=p)[0, 0], act, None) for x, p in both]",
                "    print(place, first[0] @ first[1], last[0] @ last[1])",
                f"scores, running = multiplication_counts(length, {width})",
                f"print(scores / running, running / scores, 'the same at', {2 * width - 1})",
            )
        ),
    )
