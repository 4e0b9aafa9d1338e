"""The clock page's figures."""

import math
from typing import cast

import rope_core as rc
from rope_core.theory import clock, extension
from tests.support.figures import ROPE, Row, extended
from tests.support.films import FilmRow, to_draw
from ui.figures.clock import after as newest
from ui.figures.clock import dials as film
from ui.figures.clock import measured as figure
from ui.figures.clock import reading as parts
from ui.figures.clock import schemes
from ui.text.words import Words
from ui.work import extrapolated
from ui.work.extrapolated import Seen

LENGTH = 1024


def dials(t: Words) -> str:
    """Count the turns of every pair one by one, at factor 3 and 2.5 times the trained length."""
    counts = []
    for name in ("linear", "ntk", "yarn"):
        inv_freq = rc.spectrum(rc.Request(ROPE, name, {"factor": 3.0})).inv_freq
        trained = [ROPE.base ** (-2 * i / ROPE.dim) * ROPE.train_len for i in range(ROPE.pairs)]
        past = [used > seen for seen, used in zip(trained, inv_freq * 640, strict=True) if seen < 2 * math.pi]
        counts.append(f"{t(f'scheme.{name}')} {sum(past)}")
    return t("dials_finding", distance="640", counts=t("comma").join(counts))


def heatmaps(t: Words) -> str:
    counts = [
        f"{t(f'scheme.{each.scheme}')}{t('colon')}{extension.unseen_pairs(ROPE, each.spectrum, LENGTH)}"
        for each in extended(LENGTH)
    ]
    return t("heatmaps_finding", length="1,024", trained="256", pairs=8, counts=t("comma").join(counts))


def slowdowns(t: Words) -> str:
    slow, scaled = [], []
    for each in extended(LENGTH):
        first = ROPE.theta[0] / each.spectrum.inv_freq[0]
        a, label = each.spectrum.attention_factor, t(f"scheme.{each.scheme}")
        slow += [f"{label} ×{first:.4g}"] if first > 1 + 1e-9 else []
        scaled += [f"{label} {a:.6g} (a² = {a * a:.6g})"] if a != 1 else []
    return t("slowdowns_finding", slow=t("comma").join(slow), scaled=t("comma").join(scaled))


NEWER = extension.extensions(ROPE, {name: {} for name in extension.newer()}, LENGTH)[0]


def after(t: Words) -> str:
    """Count pair by pair from the requests' own frequencies."""
    changed, still = {}, {}
    for each in NEWER:
        inv_freq = rc.spectrum(rc.Request(ROPE, each.scheme)).inv_freq
        moved = [abs(now / before - 1) > 1e-5 for now, before in zip(inv_freq, ROPE.theta, strict=True)]
        changed[t(f"scheme.{each.scheme}")] = sum(moved)
        still[t(f"scheme.{each.scheme}")] = sum(now == 0 for now in inv_freq)
    words = [
        t("comma").join(f"{name} {count}" for name, count in counts.items() if count) for counts in (changed, still)
    ]
    return t("after_finding", pairs="8", changed=words[0], still=words[1])


def reading(t: Words) -> str:
    """Return the finding: the second hand goes 6 degrees a second, and a hand that is 4 times slower 1.5."""
    first = t("reading_finding", error="3", slower="4", fine="0.5", coarse="2")
    return first + t("reading_second", before="6", after="1.5", answer=t("told.False"))


def quoted(t: Words) -> str:
    def signed(seconds: float) -> str:
        return f"{seconds:+,.6g}".replace("-", "−") if abs(seconds) > 1e-6 else "0"

    wanted = {each.key: signed(each.once_round - 129_600) for each in clock.claims(3.0)}
    return t("quoted_finding", **wanted)


SWEEP = cast(Seen, extrapolated.seen_shipped("sweep"))
ROWS = [
    Row("clock", parts.reading, (3.0, 4.0), {"x": "time_apart", "y": "degrees_apart"}, reading),
    Row("clock", parts.quoted, (3.0,), {"x": "seconds"}, quoted),
    Row(
        "clock",
        schemes.heatmaps,
        (ROPE, extended(LENGTH), LENGTH, True),
        {"x": "axis.position", "y": "axis.pair"},
        heatmaps,
    ),
    Row("clock", newest.after, (ROPE, NEWER), {"x": "axis.pair", "y": "axis.slowdown"}, after),
    Row("clock", schemes.slowdowns, (ROPE, extended(LENGTH)), {"x": "axis.pair", "y": "axis.slowdown"}, slowdowns),
]
REQUESTS = tuple(rc.Request(ROPE, name) for name in extension.kinds())
FILMS = [
    FilmRow(
        "clock",
        film.dials,
        (ROPE, REQUESTS, (1.0, 3.0, 4.0), (0.0, 1.0, 2.5)),
        {"factor": 3.0, "distance": 2.5},
        dials,
    ),
    FilmRow("clock", figure.measured, (SWEEP, 256), {}, to_draw),
]
