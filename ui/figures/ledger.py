"""The ledger page: all claims checked once per process, their overview, the list and one entry's card."""

from __future__ import annotations

import inspect
import math
import textwrap
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from rope_core.ledger import CLAIMS, CONDITION, EMPIRICAL, HOLDS, SOURCES, WRONG, ClaimResult, check_claims
from rope_core.ledger.kit import elementwise_rotation, negate_even_dims, rotate_every_two
from rope_core.rope import Array
from ui.figures.drawing import Drawing, Film
from ui.figures.plot import (
    LOG,
    PlotlyProps,
    bar_trace,
    dot_trace,
    plotly_axis,
    plotly_figure,
    text_annotation,
    vertical_band,
    vertical_line,
)
from ui.film import marks
from ui.film.colours import GREEN, GREY, LINE, MUTED_COLOUR, ORANGE, QUERY_COLOUR, RED, UNSEEN_COLOUR, text_colour_on
from ui.film.composite_marks import drag_hint
from ui.film.scene import Axis, Control, Mark, Panel, TextTrack, field_control, scene_in_beats, sentence_parts
from ui.text.words import PageTexts, exponent_text, text_counts

ANY = "any"
# The word of a status in links and text keys; errata first, what holds last, as the list is ordered.
KEYS = {WRONG: "wrong", CONDITION: "condition", EMPIRICAL: "empirical", HOLDS: "holds"}
MARKS = {HOLDS: ("circle", GREEN), CONDITION: ("diamond", ORANGE), WRONG: ("x", RED), EMPIRICAL: ("square", GREY)}
THRESHOLDS = tuple(10.0**power for power in range(-17, 2))
# Where an exact zero stands on the logarithmic axis, left of every rounding error.
ZERO = 1e-18
LEGEND = {"traceorder": "normal", "font": {"size": 14}, "entrywidth": 0, "indentation": -8}
IDS = tuple(sorted(CLAIMS))
PAIRS = {"axis": (1.0, 0.0), "any": (0.8, 0.6)}
"""The pairs of numbers that are turned: one on an axis, and any other."""
ANGLES = tuple(range(0, 361, 5))
DOCUMENT = "003"
SWAPPED = f"{DOCUMENT}-elements"
"""The source and the entry that the film shows."""


@dataclass(frozen=True)
class CheckedClaims:
    """All claims as last checked, and how long that took, in seconds."""

    results: tuple[ClaimResult, ...]
    seconds: float


_lock = threading.Lock()
_kept: list[CheckedClaims] = []


def checked_claims(again: bool = False) -> CheckedClaims:
    """Check every claim, once per process or ``again``."""
    with _lock:
        if _kept and not again:
            return _kept[0]
        start = time.perf_counter()
        results = tuple(check_claims())
        _kept[:] = [CheckedClaims(results, time.perf_counter() - start)]
        return _kept[0]


def filtered_claims(results: Sequence[ClaimResult], document: str = ANY, status: str = ANY) -> list[ClaimResult]:
    """Return the entries of a document and a status key, errata first, each group in document order."""
    order = list(KEYS)
    kept = [r for r in results if document in (ANY, r.document) and status in (ANY, KEYS[r.status])]
    return sorted(kept, key=lambda r: order.index(r.status))


def find_claim(results: Sequence[ClaimResult], name: str) -> ClaimResult | None:
    """Return the entry called ``name``, or None."""
    return next((r for r in results if r.id == name), None)


def verdict_text(result: ClaimResult, t: PageTexts) -> str:
    """Return a status as icon and word."""
    return t(f"verdict.{KEYS[result.status]}")


def claim_residual_text(value: float | None) -> str:
    """Return a residual for a reader: 0, 2.2e-16, 0.42, or a dash where there is none."""
    return "–" if value is None else "0" if not value else exponent_text(f"{float(value):.2g}")


def literal_markdown(text: str) -> str:
    """Text in which Markdown finds nothing to act on."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-.!$|~:<>&^" else c for c in text)


def claim_headline(result: ClaimResult, t: PageTexts) -> str:
    """One entry on one line, as Markdown: verdict, claim and residual."""
    claim = literal_markdown(result.text.claim[t.lang])
    return t(
        "headline", icon=t(f"icon.{KEYS[result.status]}"), claim=claim, residual=claim_residual_text(result.residual)
    )


def document_title(document: str, t: PageTexts) -> str:
    """Return a source by its title."""
    return t(f"source.{document}")


def claim_origin_markdown(result: ClaimResult, t: PageTexts) -> str:
    """Return a claim's origin as Markdown: a part of a document, or of a paper with its link."""
    where = literal_markdown(result.text.where)
    if result.text.link is None:
        return t("where", document=document_title(result.document, t), where=where)
    return t("paper", number=result.text.link.rpartition("/")[2], link=result.text.link, where=where)


def claim_card_markdown(result: ClaimResult, t: PageTexts) -> str:
    """One entry in full, as Markdown: verdict, claim, formula, residuals, reason and corrected form."""
    text, check = result.text, result.check
    lines = [
        f"**{verdict_text(result, t)}** · `{result.id}`",
        claim_origin_markdown(result, t),
        f"**{literal_markdown(text.claim[t.lang])}**",
        *(f"> {literal_markdown(sentence)}" for sentence in text.sentences),
        *([] if text.quotes else [t("paraphrase")]),
        *([] if text.printed else [t("computed")]),
        f"$$\n{text.formula}\n$$",
    ]
    if check.printed is None:
        lines.append(t("undecided"))
    else:
        lines.append(t("as_printed", residual=claim_residual_text(check.printed), tolerance=f"{check.tolerance:.2g}"))
    if check.condition is not None:
        lines.append(t("under_condition", residual=claim_residual_text(check.condition)))
    if text.why[t.lang]:
        lines.append(f"{t('reason')} {literal_markdown(text.why[t.lang])}")
    if text.corrected:
        lines.append(f"{t('corrected')}\n$$\n{text.corrected}\n$$")
        if check.corrected is not None:
            lines.append(t("corrected_residual", residual=claim_residual_text(check.corrected)))
    return "\n\n".join(lines)


def claim_source_code(result: ClaimResult) -> str:
    """Return the Python function that decides an entry; empty for an empirical one."""
    if result.status == EMPIRICAL:
        return ""
    function = CLAIMS[result.id]
    if not isinstance(function, partial):
        return inspect.getsource(function).strip()
    given = ", ".join(map(repr, function.args))
    return f"{inspect.getsource(function.func).strip()}\n\n{function.func.__name__}({given})"


def claims_table(results: Sequence[ClaimResult], t: PageTexts) -> dict[str, list[str]]:
    """Return the entries as named columns, one row each."""
    return {
        t("col.id"): [r.id for r in results],
        t("col.verdict"): [verdict_text(r, t) for r in results],
        t("col.residual"): [claim_residual_text(r.residual) for r in results],
        t("col.claim"): [r.text.claim[t.lang] for r in results],
        t("col.where"): [r.text.where for r in results],
    }


def unswapped_formula_film(t: PageTexts) -> Film:
    """Return a pair turned by the right formula, and by one of a source that does not swap its two numbers.

    First a pair on an axis, then any other: the printed formula stretches its two numbers by different factors.
    """
    at = field_control(t, "angle", ANGLES, play_seconds=12.0)
    turned = {name: (_turned(pair, rotate_every_two), _turned(pair, negate_even_dims)) for name, pair in PAIRS.items()}
    lengths = {name: np.hypot(*printed.T) for name, (_, printed) in turned.items()}
    parts = []
    for beat, name in enumerate(PAIRS, 1):
        length = at.texts(map(_hundredth, lengths[name]))
        way = {"way": _way(at, turned[name][1], t)} if name == "axis" else {}
        finding = sentence_parts(partial(t, f"swapped_{name}"), length=length, angle=at.stop_text, **way)
        parts.append((at, [_circle(at, PAIRS[name], *turned[name], beat, t)], finding))
    scene = scene_in_beats(t, "swapped", *parts)
    right, printed = turned["axis"]
    return Film(
        "swapped",
        replace(scene, panels=(_formulas(at, *turned["axis"], t), *scene.panels)),
        lambda: {
            "angle": np.array(at.stops),
            "x0": right[:, 0],
            "x1": right[:, 1],
            "printed_x0": printed[:, 0],
            "printed_x1": printed[:, 1],
        },
        f"""
        import numpy as np
        from rope_core.ledger.kit import rotate_every_two, elementwise_rotation, negate_even_dims
        for pair in map(np.array, ({PAIRS["axis"]!r}, {PAIRS["any"]!r})):
            forms = (rotate_every_two(pair), negate_even_dims(pair))
            right, printed = (elementwise_rotation(pair, beside, angle, np.radians([1.0])) for beside in forms)
            print(right, printed, np.hypot(*right), np.hypot(*printed))
        """,
    )


def _turned(pair: tuple[float, float], beside: Callable[[Array], Array]) -> Array:
    """Return a pair turned to every angle by a formula with these numbers beside its own, (angles, 2)."""
    degree = np.radians([1.0])
    numbers = np.array(pair)
    return np.stack([elementwise_rotation(numbers, beside(numbers), float(stop), degree) for stop in ANGLES])


def _formulas(at: Control, right: Array, printed: Array, t: PageTexts) -> Panel:
    """Return the printed and the right formula, the two numbers in which they differ, and what the arrow shows."""
    counts = text_counts()
    counted = t("one_of", claims=counts["claims"], wrong=counts["wrong"])
    drawn: list[Mark] = [marks.text(0.0, 0.0, counted, MUTED_COLOUR, anchor="start", font_size=13)]
    rows = (("printed", ("−x₀", "x₁"), UNSEEN_COLOUR, 0.8, "✗"), ("right", ("−x₁", "x₀"), QUERY_COLOUR, 0.34, "✓"))
    differs = [not np.allclose(*each) for each in zip(right, printed, strict=True)]
    where = {"printed": t("printed_where", source=document_title(DOCUMENT, t)), "right": t("right_where")}
    for name, second, colour, y, sign in rows:
        drawn += [
            marks.text(0.0, y + 0.19, t(f"{name}_title"), colour, anchor="start", bold=True, font_size=18),
            marks.text(0.0, y + 0.11, where[name], MUTED_COLOUR, anchor="start", font_size=14),
            marks.text(0.26, y - 0.065, "cos α  +", font_size=17),
            marks.text(0.67, y - 0.065, "sin α", font_size=17),
            marks.text(0.88, y - 0.06, at.texts(sign if each else "" for each in differs), colour, font_size=30),
            marks.text(0.88, y - 0.14, at.texts(t(f"{name}_turns") if each else "" for each in differs), colour),
            marks.rect(0.4, 0.56, y - 0.16, y + 0.06, colour, opacity=0.15, corner_px=5),
        ]
        for x, numbers, ink in ((0.09, ("x₀", "x₁"), "ink"), (0.48, second, colour)):
            for line, number in enumerate(numbers):
                drawn.append(
                    marks.text(x, y - 0.1 * line, number, ink, font_size=18, bold=ink == colour, halo=False, dy=5)
                )
            for side, lip in ((-0.075, 0.02), (0.075, -0.02)):
                edge = x + side
                ends = [edge + lip, edge, edge, edge + lip]
                drawn.append(marks.line(ends, [y + 0.06, y + 0.06, y - 0.16, y - 0.16], "ink", 2))
    return Panel(Axis(0.0, 1.0), Axis(0.0, 1.03), drawn, min_width=300, width_share=0.9, height=365, phone_height=212)


def _circle(at: Control, pair: tuple[float, float], right: Array, printed: Array, beat: int, t: PageTexts) -> Panel:
    """Return the pair's arrow, x₀ up and x₁ to the right, as the right and as the printed formula turn it."""
    angle, wrong = (at.numbers(np.pi / 2 - np.unwrap(np.arctan2(each[:, 1], each[:, 0]))) for each in (right, printed))
    lengths = np.hypot(*printed.T)
    hand = marks.vector(0.0, 0.0, 1.0, angle, QUERY_COLOUR, 7, has_head=True)
    length, way = at.texts(map(_hundredth, lengths)), {"way": _way(at, printed, t)} if beat == 1 else {}
    label = sentence_parts(partial(t, f"printed_length_{beat}"), length=length, **way)
    start = t("start", x0=f"{pair[0]:g}", x1=f"{pair[1]:g}")
    x, y = (at.numbers(1.12 * right[:, side]) for side in (1, 0))
    shown = [
        marks.circle(0.0, 0.0, 1.0, GREY, 1.5),
        marks.vector(0.0, 0.0, 1.4, [0.0, np.pi / 2], GREY, 1, has_head=True),
        marks.text(1.4, 0.0, "x₁", MUTED_COLOUR, anchor="start", bold=True, dy=22),
        marks.text(0.06, 1.4, "x₀", MUTED_COLOUR, anchor="start", bold=True),
        marks.text(-0.1, 1.3, start, MUTED_COLOUR, anchor="end", font_size=14),
        marks.line(printed[:, 1], printed[:, 0], UNSEEN_COLOUR, 2, stroke_dash="2 6"),
        marks.vector(0.0, 0.0, at.numbers(lengths), wrong, UNSEEN_COLOUR, 7, has_head=True),
        marks.turn_handle(at, 0.0, 0.0, 1.0, angle, QUERY_COLOUR, t("grab_arrow"), [hand], radius_px=0),
        marks.text(x, y, t("right_length"), QUERY_COLOUR, anchor="start", bold=True, dy=5),
        marks.text(0.0, -1.25, label, UNSEEN_COLOUR, bold=True),
        drag_hint(-1.7, -1.6, t("drag_round"), font_size=15),
    ]
    return Panel(
        Axis(-1.75, 1.9),
        Axis(-1.65, 1.5),
        shown,
        min_width=320,
        width_share=1.2,
        height=372,
        equal_aspect=True,
        phone_height=205,
    )


def _way(at: Control, printed: Array, t: PageTexts) -> TextTrack:
    """Return whether the printed arrow points as at its start or the other way."""
    return at.texts(t("flipped" if x0 < 0 else "not_turned") for x0 in printed[:, 0])


def _hundredth(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def claim_status_chart(results: Sequence[ClaimResult], t: PageTexts) -> Drawing:
    """How many claims of each source got which verdict."""
    counts = Counter((r.document, r.status) for r in results)
    total = Counter(r.status for r in results)
    labels = [document_title(document, t) for document in SOURCES]
    data = []
    for status, key in reversed(KEYS.items()):
        row = [counts[document, status] for document in SOURCES]
        data.append(
            bar_trace(
                row,
                labels,
                MARKS[status][1],
                f"{t(f'verdict.{key}')} {total[status]}",
                orientation="h",
                marker={"line": {"color": "white", "width": 1}},
                text=[f"{t(f'icon.{key}')} {n}" if n > 4 else "" for n in row],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": text_colour_on(MARKS[status][1]), "size": 15},
            )
        )
    figure = plotly_figure(
        data,
        height=330,
        barmode="stack",
        bargap=0.25,
        legend=LEGEND,
        margin={"l": 140, "t": 76},
        xaxis=plotly_axis(t("entries_axis")),
        yaxis=plotly_axis(autorange="reversed", type="category"),
    )
    return Drawing(
        "overview",
        figure,
        t("overview_finding", total=len(results), **{key: total[status] for status, key in KEYS.items()}),
        lambda: (
            {"document": SOURCES}
            | {key: [counts[document, status] for document in SOURCES] for status, key in KEYS.items()}
        ),
        """
        from collections import Counter
        from rope_core.ledger import check_claims
        results = check_claims()
        print(Counter((result.document, result.status) for result in results))
        print(len(results), Counter(result.status for result in results))
        """,
    )


def residual_chart(results: Sequence[ClaimResult], threshold: float, t: PageTexts) -> Drawing:
    """Every residual on one axis, by source, with the threshold below which it counts as zero."""
    decided = [r for r in results if r.residual is not None]
    values = np.array([float(r.residual or 0.0) for r in decided])
    passed = int((values <= threshold).sum())
    stated = sum(r.status == HOLDS for r in decided)
    lanes = {HOLDS: -0.24, CONDITION: 0.06, WRONG: 0.28}
    seen: Counter[tuple[str, str, int]] = Counter()
    places = []
    for r, value in zip(decided, values, strict=True):
        # Entries of one size stand beside each other instead of on top of each other.
        slot = r.document, r.status, math.floor(math.log10(max(value, ZERO)))
        places.append((max(value, ZERO) * 10 ** (0.11 * (seen[slot] % 8)), 0.06 * (seen[slot] // 8)))
        seen[slot] += 1
    data = []
    for status, lane in lanes.items():
        mine = [i for i, r in enumerate(decided) if r.status == status]
        symbol, colour = MARKS[status]
        data.append(
            dot_trace(
                [places[i][0] for i in mine],
                [SOURCES.index(decided[i].document) + lane + places[i][1] for i in mine],
                colour,
                8,
                t(f"word.{KEYS[status]}"),
                marker={"symbol": symbol},
                text=[f"{decided[i].id}: {claim_residual_text(decided[i].residual)}" for i in mine],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    whole: PlotlyProps = {"xref": "x", "yref": "paper"}
    counted = text_annotation(
        t("counts", threshold=f"{threshold:.0e}", passed=passed),
        1,
        1,
        xref="paper",
        yref="paper",
        yanchor="bottom",
        xanchor="right",
    )
    powers = (-15, -9, -3)
    labels = ["<br>".join(textwrap.wrap(document_title(document, t), 15)) for document in SOURCES]
    figure = plotly_figure(
        data,
        height=330,
        shapes=[
            vertical_band(ZERO / 10, threshold, GREEN, 0.13, **whole),
            vertical_line(threshold, LINE, 3, "dash", **whole),
        ],
        annotations=[counted],
        legend=LEGEND | {"y": 1.1},
        margin={"l": 190, "t": 76},
        xaxis=plotly_axis(
            t("residual_axis"),
            **LOG,
            range=[-18.6, 2.6],
            tickvals=[ZERO, *(10.0**power for power in powers)],
            ticktext=["0", *(f"10<sup>{power}</sup>" for power in powers)],
            tickangle=0,
        ),
        yaxis=plotly_axis(
            tickvals=list(range(len(SOURCES))), ticktext=labels, range=[len(SOURCES) - 0.4, -0.6], zeroline=False
        ),
    )
    between = int(((values > 1e-9) & (values < 1e-2)).sum())
    return Drawing(
        "residuals",
        figure,
        t(
            "residuals_finding",
            threshold=f"{threshold:.0e}",
            passed=passed,
            decided=len(decided),
            stated=stated,
            between=between,
        ),
        lambda: {
            "id": [r.id for r in decided],
            "status": [r.status for r in decided],
            "residual": values,
            "tolerance": [r.check.tolerance for r in decided],
        },
        f"""
        from rope_core.ledger import check_claims
        results = [result for result in check_claims() if result.residual is not None]
        found = [result.residual for result in results]
        print(sum(residual <= {threshold!r} for residual in found), "of", len(found))
        print(sum(result.status == {HOLDS!r} for result in results), sum(1e-9 < each < 1e-2 for each in found))
        """,
    )
