"""Where the time of a rotation goes: bytes moved on paper, beside the record, and page faults."""

from __future__ import annotations

from collections.abc import Sequence

from rope_core.bench import traffic, view
from rope_core.bench.cases import BenchmarkCase
from rope_core.bench.view import CaseTiming
from ui.figures.benchmark.times import ratio_error_bars, timings_recipe, timings_table
from ui.figures.benchmark.words import GIGA, MEGA, byte_count_text, implementation_name, seconds_text
from ui.figures.drawing import Drawing, cached_figure
from ui.figures.plot import bar_trace, plotly_axis, plotly_figure, text_annotation
from ui.film.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, text_colour_on
from ui.text.words import PageTexts

PATH_LOOKS = (BLUE, SKY, GREEN, PURPLE, ORANGE)
TOKEN_STEPS = tuple(2**e for e in range(18))
BANDWIDTH_STEPS = (5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 3350.0, 4800.0, 8000.0)


def largest_forward_timings(points: Sequence[CaseTiming]) -> list[CaseTiming]:
    """Return the points of the largest plain forward case with tuned allocator; [] where none was measured."""
    plain = [p for p in points if p.case.direction == "forward" and not p.case.inplace and p.allocator == "tuned"]
    peers = [p for p in plain if p.contestant in traffic.MEASURED and p.contestant not in view.OURS] or plain
    if not peers:
        return []
    case = max(peers, key=lambda p: p.case.tensor_bytes).case
    return [p for p in plain if p.case == case]


@cached_figure
def traffic_chart(tokens: int, gigabytes_per_second: float, t: PageTexts) -> Drawing:
    """Bytes that each implementation moves forward, kernel by kernel, and the time that memory alone takes."""
    case = BenchmarkCase("cpu", "bfloat16", 1, tokens, 32, 8, 128, 128)
    names = list(reversed(traffic.PATHS))
    data = []
    for place in range(max(map(len, traffic.PATHS.values()))):
        steps = [(n, traffic.PATHS[n][place]) for n in names if place < len(traffic.PATHS[n])]
        data.append(
            bar_trace(
                [step.moved * case.tensor_bytes / MEGA for _, step in steps],
                [t(f"path.{n}") for n, _ in steps],
                PATH_LOOKS[place],
                orientation="h",
                text=[step.name for _, step in steps],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": text_colour_on(PATH_LOOKS[place])},
                marker={"line": {"color": "white", "width": 2}},
            )
        )
    labels = []
    for n in names:
        time = seconds_text(traffic.memory_bound_seconds(case, n, gigabytes_per_second * GIGA))
        end = traffic.traffic_per_element(n) * case.tensor_bytes / MEGA
        text = f" {traffic.traffic_per_element(n):g}N · {time}"
        labels.append(text_annotation(text, end, t(f"path.{n}"), xanchor="left", font={"size": 16}))
    figure = plotly_figure(
        data,
        height=330,
        barmode="stack",
        annotations=labels,
        xaxis=plotly_axis(
            t("moved_axis"), range=[0, 1.25 * traffic.traffic_per_element("transformers") * case.tensor_bytes / MEGA]
        ),
        yaxis=plotly_axis(automargin=True),
    )
    finding = t(
        "paths_finding",
        tokens=f"{tokens:,}",
        size=byte_count_text(case.tensor_bytes),
        eager=byte_count_text(traffic.traffic_per_element("transformers") * case.tensor_bytes),
        ours=byte_count_text(traffic.traffic_per_element("ours") * case.tensor_bytes),
        rate=f"{gigabytes_per_second:,.5g}",
        slow=seconds_text(traffic.memory_bound_seconds(case, "transformers", gigabytes_per_second * GIGA)),
        fast=seconds_text(traffic.memory_bound_seconds(case, "ours", gigabytes_per_second * GIGA)),
    )
    return Drawing(
        "paths",
        figure,
        finding,
        lambda: {
            "implementation": list(traffic.PATHS),
            "times_N": [traffic.traffic_per_element(n) for n in traffic.PATHS],
            "bytes": [traffic.traffic_per_element(n) * case.tensor_bytes for n in traffic.PATHS],
            "seconds": [traffic.memory_bound_seconds(case, n, gigabytes_per_second * GIGA) for n in traffic.PATHS],
        },
        f"""
        from rope_core.bench import traffic
        from rope_core.bench.cases import BenchmarkCase
        case = {case!r}
        for name in traffic.PATHS:
            seconds = traffic.memory_bound_seconds(case, name, {gigabytes_per_second * GIGA!r})
            times = traffic.traffic_per_element(name)
            print(name, times, times * case.tensor_bytes, "of", case.tensor_bytes, "bytes", seconds)
        """,
        wide=True,
    )


def paper_and_measured_time_chart(points: Sequence[CaseTiming], name: str, t: PageTexts) -> Drawing | None:
    """Time as a multiple of the copy, on paper and measured, for those whose kernels are known; None without such."""
    known = [p for p in points if p.contestant in traffic.MEASURED]
    if not known or known[0].case.direction != "forward":
        return None
    labels = [implementation_name(p.contestant, t) for p in known]
    model = [traffic.time_over_copy(traffic.MEASURED[p.contestant]) for p in known]
    inside = {"textposition": "inside", "insidetextanchor": "start"}
    ratios = [p.ratio for p in known]
    traces = [
        bar_trace(
            labels,
            model,
            GREY,
            t("on_paper"),
            text=model,
            textfont={"color": text_colour_on(GREY), "size": 17},
            **inside,
        ),
        bar_trace(
            labels,
            [ratio.median for ratio in ratios],
            BLUE,
            t("measured"),
            text=[f"{ratio.median:.2f}" for ratio in ratios],
            textfont={"color": text_colour_on(BLUE), "size": 17},
            error_y=ratio_error_bars(ratios, thickness=3),
            **inside,
        ),
    ]
    figure = plotly_figure(traces, height=350, barmode="group", yaxis=plotly_axis(t("over_copy_axis")))
    slow = max(known, key=lambda p: p.ratio.median)
    finding = t(
        "paper_finding",
        who=implementation_name(slow.contestant, t),
        paper=f"{traffic.time_over_copy(traffic.MEASURED[slow.contestant]):.3g}",
        measured=f"{slow.ratio.median:.2f}",
        low=f"{slow.ratio.low:.2f}",
        high=f"{slow.ratio.high:.2f}",
    )
    kind = view.case_without_length(known[0].case)
    return Drawing(
        "paper",
        figure,
        finding,
        lambda: timings_table(known) | {"on_paper": model},
        timings_recipe(name, kind, "p.ratio"),
    )


def page_fault_chart(pairs: Sequence[tuple[CaseTiming, CaseTiming]], name: str, t: PageTexts) -> Drawing:
    """Time as a multiple of the copy with glibc's thresholds raised and as they are, with the page faults of a call."""
    ordered = sorted(pairs, key=lambda pair: pair[1].faults)
    # Faults stand below the name: beside a bar a phone cuts them off.
    labels = [
        f"{implementation_name(plain.contestant, t)}<br>{t('faults_text', count=f'{plain.faults:,.0f}')}"
        for _, plain in ordered
    ]
    figure = plotly_figure(
        [
            bar_trace(
                [pair[place].ratio.median for pair in ordered],
                labels,
                shade,
                t(f"allocator.{allocator}"),
                orientation="h",
                error_x=ratio_error_bars([pair[place].ratio for pair in ordered], thickness=2),
            )
            for place, (allocator, shade) in enumerate((("tuned", BLUE), ("default", RED)))
        ],
        height=140 + 60 * len(ordered),
        barmode="group",
        xaxis=plotly_axis(t("over_copy_axis")),
        yaxis=plotly_axis(automargin=True),
    )
    tuned, plain = ordered[-1]
    finding = t(
        "faults_finding",
        who=implementation_name(plain.contestant, t),
        count=f"{plain.faults:,.0f}",
        plain=f"{plain.ratio.median:.1f}",
        tuned=f"{tuned.ratio.median:.1f}",
    )
    return Drawing(
        "faults",
        figure,
        finding,
        lambda: timings_table([p for pair in ordered for p in pair]),
        f"""
        from rope_core.bench import view
        for tuned, plain in view.allocator_timing_pairs(view.benchmark_source({name!r}).points):
            print(tuned.contestant, tuned.ratio.median, plain.ratio.median, plain.faults)
        """,
    )
