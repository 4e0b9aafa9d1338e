"""Figures of the clock page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rope_core.rope import Array
from rope_core.theory.clock import WALL, Clock, claims
from ui.figures.clock.schemes import listed
from ui.figures.colours import BLUE, GREEN, GREY, ORANGE, RED
from ui.figures.drawing import Drawing, kept
from ui.figures.plot import Props, axis, bars, dots, frame, hband, line, note, play, plot, scatter, vline
from ui.text.words import Words

ACROSS = 4
PITCH_X, PITCH_Y, TOP = 2.35, 3.4, 1.85
SHOWN_AT = 10 * 3600 + 9 * 60 + 35
LENGTHS = (0.5, 0.78, 0.92)
# What source 003 says the stretched clock measures, seconds.
QUOTED = 129_600.0


def moments() -> Array:
    """The times of the film, seconds: 15 single seconds, then an hour by five minutes, then two days by three hours."""
    return np.concatenate([np.arange(16.0), 300.0 * np.arange(1, 13), 10_800.0 * np.arange(1, 17)])


def spoken(seconds: float) -> str:
    """A time as days + h:mm:ss."""
    days, rest = divmod(round(seconds), 86_400)
    return (f"{days} × 24 h + " if days else "") + f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"


def centres(count: int) -> Array:
    """Where the faces stand, (count, 2): rows of four from the top left."""
    index = np.arange(count)
    return np.stack([index % ACROSS * PITCH_X, -(index // ACROSS) * PITCH_Y], axis=1)


def hand_paths(slowed: Sequence[Clock], hand: int, seconds: Array) -> tuple[Array, Array]:
    """One hand of all clocks as a broken line: x and y, each (moments, 3 * clocks) with a gap after every hand."""
    angles = np.radians(np.stack([clock.angles(seconds)[:, hand] for clock in slowed], axis=1))
    middle = centres(len(slowed))
    length = LENGTHS[-1 - hand]
    tips = middle[:, 0] + length * np.sin(angles), middle[:, 1] + length * np.cos(angles)
    paths = []
    for side in (0, 1):
        points = np.full((*angles.shape, 3), np.nan)
        points[..., 0], points[..., 1] = middle[:, side], tips[side]
        # Backwards, so that the first stroke is a scheme's and moves with the factor; the unscaled clock's never does.
        paths.append(points.reshape(len(seconds), -1)[:, ::-1])
    return paths[0], paths[1]


def plain_list(values: Array) -> list[float | None]:
    """Rounded numbers for JSON, gaps as null."""
    return [None if value != value else value for value in values.round(2).tolist()]


@kept
def hands(slowed: Mapping[str, Clock], factor: float, t: Words) -> Drawing:
    """The wall clock under every scheme, all showing the same time; the film runs in the browser."""
    names, faces = list(slowed), list(slowed.values())
    seconds, middle = moments(), centres(len(slowed) + 1)
    paths = [hand_paths(faces, hand, np.append(SHOWN_AT, seconds)) for hand in (2, 1, 0)]
    # What the second hand passes in 15 s, along the rim: a quarter of a turn on a clock that is not slowed.
    arc = np.linspace(0.0, 1.0, 16)[None, :] * np.array([np.radians(clock.angles(15.0)[0]) for clock in faces])[:, None]
    rim = [
        np.pad(c[:, None] + f(arc), ((0, 0), (0, 1)), constant_values=np.nan).ravel()
        for c, f in zip(middle[:-1].T, (np.sin, np.cos), strict=True)
    ]
    looks = ((GREY, 8, "hour_hand"), (BLUE, 5, "minute_hand"), (RED, 3, "second_hand"))
    data = [
        line(plain_list(x[0]), plain_list(y[0]), colour, width, t(key), hoverinfo="skip")
        for (x, y), (colour, width, key) in zip(paths, looks, strict=True)
    ]
    # Plotly leaves points out of a wide line, and an arc becomes a polygon beside its dial.
    round_line: Props = {"line": {"simplify": False}, "hoverinfo": "skip"}
    data.append(line(plain_list(rim[0]), plain_list(rim[1]), ORANGE, 7, t("quarter_minute"), **round_line))
    face: Props = {"text": [spoken(SHOWN_AT)], "textfont": {"size": 20}, "hoverinfo": "skip"}
    data.append(scatter([middle[-1, 0]], [middle[-1, 1]], "text", **face))
    data += faces_and_titles(names, faces, middle[:-1], t)
    frames = [
        frame(
            k,
            {hand: {"x": plain_list(x[k + 1]), "y": plain_list(y[k + 1])} for hand, (x, y) in enumerate(paths)}
            | {4: {"text": [spoken(seconds[k])]}},
        )
        for k in range(len(seconds))
    ]
    rows = -(-len(middle) // ACROSS)
    hidden: Props = {"visible": False, "fixedrange": True}
    figure = plot(
        data,
        frames=frames,
        height=44 + 172 * rows,
        margin={"l": 8, "r": 8, "t": 44, "b": 0},
        legend={"x": 1, "xanchor": "right"},
        xaxis=axis(**hidden, range=[-1.2, (ACROSS - 1) * PITCH_X + 1.2]),
        yaxis=axis(**hidden, range=[-(rows - 1) * PITCH_Y - 1.1, TOP], scaleanchor="x"),
        updatemenus=play(t("play"), 120, x=0, xanchor="left"),
    )
    unslowed = [name for name in names if np.isclose(slowed[name].periods[0], WALL.periods[0])]
    slow = [name for name in names if name not in unslowed]
    finding = t(
        "hands_finding",
        factor=f"{factor:g}",
        kept=listed(unslowed, t),
        slow=listed(slow, t, lambda name: f" ({separation(slowed[name]):.3g}°)") if slow else t("nobody"),
        spans=listed(names, t, lambda name: t("span", hours=hours(slowed[name]))),
    )
    return Drawing(
        "hands",
        figure,
        finding,
        lambda: (
            {"scheme": names, "once_round_s": [c.once_round for c in faces]}
            | {f"hand_{k}_s_per_turn": [c.periods[k] for c in faces] for k in range(3)}
        ),
        "from rope_core.theory.clock import Clock\n"
        + "\n".join(f"print({name!r}, {clock!r}.angles([0, 1, 15, 43200]))" for name, clock in slowed.items()),
        wide=True,
    )


def hours(clock: Clock) -> str:
    """Hours until the slowest hand is once round."""
    span = clock.once_round / 3600
    return f"{span:,.0f}" if span >= 1000 else f"{span:.4g}"


def separation(clock: Clock) -> float:
    """Degrees that the second hand moves in one second."""
    return float(clock.separation(1.0)[0])


def faces_and_titles(names: Sequence[str], faces: Sequence[Clock], middle: Array, t: Words) -> list[Props]:
    """Return the rims and the titles above them as two traces: Plotly draws these sooner than shapes and notes."""
    around = np.append(np.linspace(0.0, 2.0 * np.pi, 41), np.nan)
    x, y = ((c[:, None] + f(around)).ravel() for c, f in zip(middle.T, (np.sin, np.cos), strict=True))
    text = [
        f"<b>{t(f'scheme.{name}')}</b><br>" + t("reads", hours=hours(clock))
        for name, clock in zip(names, faces, strict=True)
    ]
    look: Props = {"text": text, "textposition": "top center", "textfont": {"size": 14}, "cliponaxis": False}
    titles = scatter(middle[:, 0].tolist(), (middle[:, 1] + 1.1).tolist(), "text", **look, hoverinfo="skip")
    return [line(plain_list(x), plain_list(y), GREY, 2, hoverinfo="skip"), titles]


@kept
def reading(error: float, slower: float, t: Words) -> Drawing:
    """How far the hands move within a time, and below which time a reader cannot see it."""
    apart = np.linspace(0.0, 12.0, 49)
    both = ((WALL, t("as_built"), BLUE), (WALL.slowed([slower] * 3), t("all_slower", slower=f"{slower:g}"), RED))
    moved = [np.array([clock.separation(seconds).max() for seconds in apart.tolist()]) for clock, _, _ in both]
    data = []
    for (clock, name, colour), degrees in zip(both, moved, strict=True):
        data += [line(apart, degrees, colour, 5, name), dots([clock.finest(error)], [error], colour, 15)]
    figure = plot(
        data,
        height=340,
        shapes=[hband(0, error, GREY, 0.3, name=t("unreadable"), showlegend=True)],
        xaxis=axis(t("time_apart"), range=[0, 12]),
        yaxis=axis(t("degrees_apart"), range=[0, float(moved[0].max())]),
    )
    fine, coarse = (clock.finest(error) for clock, _, _ in both)
    steps = [float(clock.separation(1.0)[0]) for clock, _, _ in both]
    return Drawing(
        "reading",
        figure,
        t("reading_finding", error=f"{error:g}", slower=f"{slower:g}", fine=f"{fine:.4g}", coarse=f"{coarse:.4g}")
        + t("reading_second", before=f"{steps[0]:.3g}", after=f"{steps[1]:.3g}", answer=t(f"told.{steps[1] > error}")),
        lambda: {"seconds_apart": apart, "as_built_deg": moved[0], "slowed_deg": moved[1]},
        f"""
        from rope_core.theory.clock import WALL
        slow = WALL.slowed([{slower!r}] * 3)
        print(WALL.finest({error!r}), slow.finest({error!r}), slow.separation(1.0), slow.shows(1.0, {error!r}))
        """,
    )


def signed(value: float) -> str:
    """A difference with its sign; a plain 0 where there is none."""
    return f"{value:+,.6g}".replace("-", "−") if abs(value) > 1e-6 else "0"


@kept
def quoted(error: float, t: Words) -> Drawing:
    """Source 003's 129,600 s against what three readings of its sentence measure."""
    rows = claims(error)
    names = [t(f"quote.{row.key}", slow=", ".join(f"{s:.4g}" for s in row.slowdown)) for row in rows]
    data, labels, longest = [], [], QUOTED
    for key, colour, values, below in (
        ("once_round", BLUE, [row.once_round for row in rows], -0.2),
        ("repeats", GREEN, [row.repeats_after for row in rows], 0.2),
    ):
        ends = [value if np.isfinite(value) else 0.0 for value in values]
        longest = max(longest, *ends)
        data.append(bars(ends, names, colour, t(key), orientation="h"))
        # Past the bar and past the dotted line; two bars share a row's height of 0.8.
        labels += [
            note(
                f"{value:,.0f} s" if np.isfinite(value) else t("never"),
                max(end, QUOTED),
                row + below,
                xanchor="left",
                xshift=6,
                font={"size": 15},
            )
            for row, (value, end) in enumerate(zip(values, ends, strict=True))
        ]
    figure = plot(
        data,
        height=380,
        shapes=[vline(QUOTED, RED, 4, "dot")],
        annotations=labels,
        barmode="group",
        margin={"b": 96},
        xaxis=axis(t("seconds"), range=[0, 1.4 * longest], nticks=4),
        yaxis=axis(autorange="reversed", automargin=True, tickfont={"size": 15}),
    )
    residuals = {row.key: row.once_round - QUOTED for row in rows}
    return Drawing(
        "quoted",
        figure,
        t("quoted_finding", **{key: signed(value) for key, value in residuals.items()}),
        lambda: (
            {"reading": [row.key for row in rows], "slowdown": [str(row.slowdown) for row in rows]}
            | {"once_round_s": [row.once_round for row in rows], "repeats_after_s": [row.repeats_after for row in rows]}
            | {"once_round_minus_129600_s": list(residuals.values())}
        ),
        f"""
        from rope_core.theory.clock import claims
        for claim in claims({error!r}):
            print(claim.key, claim.slowdown, claim.once_round - 129_600, claim.repeats_after)
        """,
    )
