"""The figures of measurements: the benchmark's record and made-up results of the lab."""

import numpy as np

from rope_core.bench import traffic, view
from rope_core.bench.cases import Case
from rope_core.lab import experiments
from rope_core.lab import pairs as shipped
from rope_core.lab.estimates import paired
from tests.support import lab_results as made
from tests.support.figures import Row
from ui.figures.benchmark import paper, times
from ui.figures.benchmark.words import size_text, time_text
from ui.figures.extrapolation import after, curves, handling, models, pairs, recall, reported
from ui.text.words import Words
from ui.work.reported import Reported

SHIPPED = view.shipped("intel-xeon")
POINTS = paper.largest_forward(SHIPPED.points)


def paths(t: Words) -> str:
    """q and k of 500 tokens, 32 + 8 heads of 128, two bytes each."""
    case, size = Case("cpu", "bfloat16", 1, 500, 32, 8, 128, 128), 500 * 40 * 128 * 2
    eager, ours = (traffic.moved(name) * size for name in ("transformers", "ours"))
    assert case.tensor_bytes == size
    return t(
        "paths_finding",
        tokens="500",
        size=size_text(size),
        eager=size_text(eager),
        ours=size_text(ours),
        rate="50",
        slow=time_text(eager / 50e9),
        fast=time_text(ours / 50e9),
    )


SWEEP = made.seen(made.sweep(4))
COPIES = made.seen(made.recall())
REPORT = Reported("org/name", "token", 64, tuple(made.sweep(4)), tuple(made.recall()), 1, 1)
KIND = view.of_kind(SHIPPED.points, view.kinds(SHIPPED.points)[0])
ONE_CASE = [point for point in KIND if point.case == KIND[-1].case]


def beside_window(t: Words) -> str:
    """Say which line of the made-up sweep has how many times the window's perplexity, from its numbers alone."""
    rows = {each["line"]: np.array(each["nats"]) for each in SWEEP.results if each["length"] == 256}
    last = next(e["last"] for e in SWEEP.results if e["length"] == 256 and e["line"] == "window")
    window = rows.pop("window")
    shown: dict[str, list[str]] = {"better": [], "level": [], "worse": []}
    for key in sorted(rows, key=lambda key: float(rows[key].mean())):
        result = paired(rows[key], window)
        kind = "better" if result.high < 1 else "worse" if result.low > 1 else "level"
        shown[kind].append(f"{t(f'line.{key}')} ×{result.value:.2f} [{result.low:.2f}, {result.high:.2f}]")
    words = {kind: t("comma").join(each) or t("after_none") for kind, each in shown.items()}
    value = f"{last[0]:.2f} [{last[1]:.2f}, {last[2]:.2f}]"
    return t("after_finding", length="256", times="4", window=value, documents=len(window), **words)


ROWS = [
    Row("benchmark", paper.paths, (500, 50.0), paths),
    Row("benchmark", paper.paper, (POINTS, "intel-xeon")),
    Row("benchmark", paper.faults, (view.fault_pairs(SHIPPED.points), "intel-xeon")),
    Row("benchmark", times.curves, (KIND, "intel-xeon")),
    Row("benchmark", times.speed_ups, (ONE_CASE, "intel-xeon")),
    Row("benchmark", times.errors, (ONE_CASE, "intel-xeon")),
    Row("extrapolation", curves.curves, (SWEEP, 64, curves.ALL)),
    Row("extrapolation", curves.live, (SWEEP, 64, curves.TWO)),
    Row("extrapolation", curves.order, (SWEEP, 256, 64)),
    Row("extrapolation", curves.seeds, (SWEEP, 64)),
    Row("extrapolation", after.after, (SWEEP, 256, 64), beside_window),
    Row("extrapolation", models.encodings, (SWEEP, 64)),
    Row(
        "extrapolation",
        models.passkey,
        (made.seen(made.retrieval()), experiments.WHOLE),
    ),
    Row("extrapolation", recall.recall, (COPIES, 64)),
    Row("extrapolation", reported.curves, (REPORT,)),
    Row("extrapolation", reported.copies, (REPORT,)),
    Row("extrapolation", pairs.pairs, ("rope-0", shipped.pairs("rope-0"))),
    Row("extrapolation", handling.stale, (made.seen(made.stale()), 64)),
]
