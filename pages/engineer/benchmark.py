"""Rotations timed beside the copy of the same bytes: records, new runs, and where the time goes."""

from rope_core.bench import traffic, view
from rope_core.bench.cases import BenchmarkCase
from ui.figures.benchmark import bars, paper, words
from ui.figures.benchmark import times as figures
from ui.page.frame import NoteKind, PageFrame
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.escape import escaped_markdown
from ui.work import jobs, measured

SOURCE = Field("source", "choice", measured.source_names()[0], choices=measured.source_names())
KIND = Field("kind", "text", "")
LENGTH = Field("length", "text", "")
TOKENS = Field("tokens", "int", 8192, 1, 131_072, steps=paper.TOKEN_STEPS)
BANDWIDTH = Field("bandwidth", "float", 4800.0, 5.0, 8000.0, steps=paper.BANDWIDTH_STEPS)
SUITE = Field("suite", "choice", measured.ONE, choices=measured.benchmark_choice_names())
DEVICE = Field("device", "choice", "cpu", choices=measured.available_devices())
DTYPE = Field("dtype", "choice", "float32", choices=("float32", "bfloat16", "float16"))
LAYOUT = Field("layout", "choice", "half", choices=("half", "interleaved"))
DIRECTION = Field("direction", "choice", "forward", choices=("forward", "backward", "both"))
MEMORY = Field("memory", "choice", "bhsd", choices=("bhsd", "bshd"))
INPLACE = Field("inplace", "bool", False)
BATCH = Field("batch", "int", 1, 1, 4096)
SEQ = Field("seq", "int", 512, 1, 1_048_576)
HEADS = Field("heads", "int", 32, 1, 1024)
KV_HEADS = Field("kv_heads", "int", 8, 1, 1024)
HEAD_DIM = Field("head_dim", "int", 128, 2, 1024)
ROTARY = Field("rotary", "int", None, 2, 1024, even=True, optional=True)
ROUNDS = Field("rounds", "int", 25, 5, 200)
ALLOCATOR = Field("allocator", "choice", "tuned", choices=("tuned", "default"))
ONLY = Field("only", "text", "")
RUN_FIELDS = (SUITE, DEVICE, DTYPE, LAYOUT, DIRECTION, MEMORY, INPLACE, ALLOCATOR, ONLY)
SIZES = (BATCH, SEQ, HEADS, KV_HEADS, HEAD_DIM, ROTARY, ROUNDS)

KINDS: dict[str, NoteKind] = {"done": "success", "failed": "error"}
ALL = Field("all", "bool", False)
AT = Field("at", "int", None, 1, 1_048_576, optional=True)
LONGER = ChoiceQuestion("longer", "b", ((AT, 1),))
TASKS = (LONGER,)
FIELDS = (AT, ALL, SOURCE, KIND, LENGTH, TOKENS, BANDWIDTH, *RUN_FIELDS, *SIZES)


def known_kind(page: PageFrame) -> str:
    """Return the kind of case in force; a link's unknown one gives way to the first, with a note."""
    if page.get(KIND) and page.get(KIND) not in measured.case_kinds_by_text(view.benchmark_source(page.get(SOURCE))):
        page.store.notes.append(("kind_unknown", {"given": page.get(KIND)}))
        page.store.put(KIND, "")
    return str(page.get(KIND))


def points(page: PageFrame) -> list[view.CaseTiming]:
    """Return the points of the kind in force."""
    source = view.benchmark_source(page.get(SOURCE))
    kinds = measured.case_kinds_by_text(source)
    return view.case_kind_timings_by_length(
        source.points, kinds[measured.choice_or_fallback(page.get(KIND), kinds, next(iter(kinds)))]
    )


def lead(page: PageFrame) -> None:
    """Draw the shipped record's times in copies, from one token to many."""
    source = view.benchmark_source(measured.source_names()[0])
    page.show(
        bars.time_over_copy_film(tuple(source.points), source.hardware, page.t),
        bars.time_over_copy_film,
        view.case_timing,
        ask=LONGER,
    )


def top(page: PageFrame, drawn: tuple[str, str]) -> None:
    """Draw recorded bandwidth against size; ``drawn``: source and kind that the other parts show."""
    source = view.benchmark_source(page.get(SOURCE))
    if source.trouble:
        page.note(page.t("unreadable_here", detail=escaped_markdown(source.trouble, 300)), "warning")
    elif not source.points:
        page.note(page.t("nothing_here"))
    else:
        shown = points(page)
        drawing = figures.bandwidth_chart(shown, page.get(SOURCE), page.t, all_contestants=page.get(ALL))
        page.show(drawing, figures.bandwidth_chart, view.case_kind_timings_by_length, view.case_timing)
    page.controls.toggle(ALL)
    left, right = page.columns(3, 5, level=True)
    with left:
        names = {
            name: page.t("here") if name == view.HERE else view.shipped_benchmarks(name).hardware
            for name in SOURCE.choices
        }
        page.controls.select(SOURCE, names.__getitem__)
    if page.get(SOURCE) != drawn[0]:
        page.store.put(KIND, "")
    with right:
        kinds = measured.case_kinds_by_text(source)
        if kinds:
            page.controls.select(
                Field(KIND.name, "choice", next(iter(kinds)), choices=tuple(kinds)),
                lambda word: words.case_kind_text(kinds[word], page.t),
            )
    if (page.get(SOURCE), page.get(KIND)) != drawn:
        page.redraw()
    if source.points and not source.trouble:
        page.caption(words.source_provenance(source, page.t) + f" {words.cached_buffers_note(shown, source, page.t)}")
        if measured.is_benchmarking_allowed():
            page.caption(page.t("gpu_here") if jobs.has_gpu() else page.t("no_gpu"))


def one_size(page: PageFrame) -> None:
    """Speed-up and error at one length, for the kind shown above."""
    page.write_section("peers")
    offered = measured.length_choices(points(page))
    length = Field(LENGTH.name, "choice", offered[-1], choices=offered)
    if page.get(LENGTH) not in offered:
        page.store.put(LENGTH, "")
    at, source = measured.timings_at_length(points(page), page.controls.segments(length, str)), page.get(SOURCE)
    if view.own_reference_timing(at) is not None:
        page.show(figures.speed_up_chart(at, source, page.t), figures.speed_up_chart, view.speedup_over_peer)
    page.show(figures.error_and_time_chart(at, source, page.t), figures.error_and_time_chart)
    absent = words.missing_implementations_note(view.benchmark_source(source), page.t)
    if absent:
        page.caption(absent)


def paths(page: PageFrame) -> None:
    """Draw the traffic model."""
    page.write_section("slow")
    page.controls.beside(TOKENS, BANDWIDTH)
    drawing = paper.traffic_chart(page.get(TOKENS), page.get(BANDWIDTH), page.t)
    page.show(drawing, paper.traffic_chart, traffic.traffic_per_element, traffic.memory_bound_seconds)


def beside(page: PageFrame) -> None:
    """Draw the model beside the record, and page faults."""
    source = view.benchmark_source(page.get(SOURCE))
    largest = paper.largest_forward_timings(source.points)
    drawing = paper.paper_and_measured_time_chart(largest, page.get(SOURCE), page.t) if largest else None
    if drawing:
        page.draw_folded_section_below(
            "beside", lambda page: page.show(drawing, paper.paper_and_measured_time_chart, traffic.time_over_copy)
        )
    pairs = view.allocator_timing_pairs(source.points)
    if pairs:
        faults = paper.page_fault_chart(pairs, page.get(SOURCE), page.t)
        page.draw_folded_section_below(
            "faults", lambda page: page.show(faults, paper.page_fault_chart, view.allocator_timing_pairs)
        )


def shape(page: PageFrame) -> BenchmarkCase:
    """Return the one shape that the controls name; ValueError where it is none."""
    get = page.get
    sizes = get(BATCH), get(SEQ), get(HEADS), get(KV_HEADS), get(HEAD_DIM), get(ROTARY) or get(HEAD_DIM)
    return BenchmarkCase(get(DEVICE), get(DTYPE), *sizes, get(LAYOUT), get(MEMORY), get(DIRECTION), get(INPLACE))


def choices(page: PageFrame) -> list[str]:
    """Return the controls of a run; returns the contestants, none of them for all."""
    controls = page.controls
    controls.segments(SUITE)
    if page.get(SUITE) == measured.INTERPRETER:
        page.caption(page.t("interpreter_note"))
        return []
    if page.get(SUITE) == measured.ONE:
        controls.beside(*SIZES[:4], draw=controls.number)
        controls.beside(*SIZES[4:], draw=controls.number)
        controls.beside(DTYPE, LAYOUT, MEMORY, draw=controls.segments)
        controls.beside(DIRECTION, ALLOCATOR, DEVICE, draw=controls.segments)
        controls.toggle(INPLACE)
    return controls.several(ONLY, (*view.OURS, *view.PEERS), lambda name: words.implementation_name(name, page.t))


def run(page: PageFrame) -> None:
    """Choose, start, watch."""
    if not measured.is_benchmarking_allowed():
        page.note(page.t("off"))
        return
    only = choices(page)
    busy = jobs.is_active(jobs.latest_job_status(page.session, measured.PLACE))
    if page.button(page.t("start"), "benchmark.start", look="primary", disabled=busy):
        try:
            measured.start_benchmark(
                page.session, page.get(SUITE), shape(page), only, page.get(ROUNDS), page.get(ALLOCATOR)
            )
        except ValueError as error:
            page.note(page.t("refused_run", detail=escaped_markdown(error, 300)), "error")
        else:
            page.redraw()
    page.draw_live_part(watch, shared=False, every_seconds=1.0 if jobs.active_jobs() else None)


def watch(page: PageFrame) -> None:
    """Draw the queue, this session's run and its results; redrawn every second while anything runs."""
    t, job = page.t, jobs.latest_job_status(page.session, measured.PLACE)
    for status in jobs.active_jobs():
        whose = t("yours") if job is not None and status.id == job.id else t("others")
        title, ahead = escaped_markdown(status.title, 120), jobs.jobs_ahead(status)
        page.write(t(f"queued.{status.state}", whose=whose, title=title, ahead=ahead))
    if job is None:
        return
    if jobs.is_active(job):
        if job.state != "waiting":
            page.progress(job.progress or 0.0, words.run_progress_text(job.progress, job.eta, job.seconds, t))
        page.button(t("cancel"), "benchmark.cancel", jobs.cancel_job, page.session, measured.PLACE)
    else:
        text = t(f"over.{job.state}", detail=escaped_markdown(job.error, 300), seconds=words.seconds_text(job.seconds))
        page.note(text, KINDS.get(job.state, "info"))
    results = measured.recorded_results(job)
    if results:
        page.table(words.results_table(results, t))
        shown = page.get(SOURCE) == view.HERE
        if job.state == "done" and not shown and page.button(t("show_here"), "benchmark.show"):
            page.store.put(SOURCE, view.HERE)
            page.redraw()
    if jobs.has_just_ended(page.session, measured.PLACE):
        page.redraw()


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(lead)
    page.draw_live_part(top, (page.get(SOURCE), known_kind(page)))
    if view.benchmark_source(page.get(SOURCE)).points:
        page.draw_live_part(one_size)
    page.draw_live_part(paths)
    page.draw_folded_section_below("run", run)
    page.draw_folded_section_below("why")
    beside(page)
    page.draw_folded_section_below("own")
    page.draw_folded_section_below("questions")
