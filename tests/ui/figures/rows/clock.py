"""The clock page's figures."""

from typing import cast

import rope_core as rc
from rope_core.theory import extension
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


SWEEP = cast(Seen, extrapolated.seen_shipped("sweep"))
ROWS = [
    Row("clock", parts.reading, (3.0, 4.0)),
    Row("clock", parts.quoted, (3.0,)),
    Row("clock", schemes.heatmaps, (ROPE, extended(LENGTH), LENGTH, True)),
    Row("clock", newest.after, (ROPE, NEWER), after),
    Row("clock", schemes.slowdowns, (ROPE, extended(LENGTH))),
]
REQUESTS = tuple(rc.Request(ROPE, name) for name in extension.kinds())
FILMS = [
    FilmRow(
        "clock",
        film.dials,
        (ROPE, REQUESTS, (1.0, 3.0, 4.0), (0.0, 1.0, 2.5)),
        {"factor": 3.0, "distance": 2.5, "beat": 3},
    ),
    FilmRow("clock", figure.measured, (SWEEP, 256), {}, to_draw),
]
