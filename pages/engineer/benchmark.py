"""Rotations timed beside the copy of the same bytes: records, new runs, and where the time goes."""

import streamlit as st

from rope_core.bench import traffic, view
from rope_core.bench.cases import Case
from ui.figures.benchmark import paper, words
from ui.figures.benchmark import times as figures
from ui.page.frame import Page, plain
from ui.page.state import Field
from ui.work import measured

SOURCE = Field("source", "choice", measured.sources()[0], choices=measured.sources())
KIND = Field("kind", "text", "")
LENGTH = Field("length", "text", "")
TOKENS = Field("tokens", "int", 8192, 1, 131_072, steps=paper.TOKEN_STEPS)
BANDWIDTH = Field("bandwidth", "float", 4800.0, 5.0, 8000.0, steps=paper.BANDWIDTH_STEPS)
SUITE = Field("suite", "choice", measured.ONE, choices=measured.suites())
DEVICE = Field("device", "choice", "cpu", choices=measured.devices())
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

page = Page("benchmark", SOURCE, KIND, LENGTH, TOKENS, BANDWIDTH, *RUN_FIELDS, *SIZES, geometry=False)
t, get = page.t, page.get


def source_name(name: str) -> str:
    """How the menu names a source."""
    return t("here") if name == view.HERE else view.shipped(name).hardware


def known_kind() -> str:
    """The kind asked for; a link's unknown one gives way to the first, with a note."""
    if get(KIND) and get(KIND) not in measured.kinds(view.source(get(SOURCE))):
        page.store.notes.append(("kind_unknown", {"given": get(KIND)}))
        page.store.put(KIND, "")
    return get(KIND)


drawn = get(SOURCE), known_kind()


def points() -> list[view.Point]:
    """The points of the kind in force."""
    found = view.source(get(SOURCE))
    kinds = measured.kinds(found)
    return view.of_kind(found.points, kinds[measured.chosen(get(KIND), kinds, next(iter(kinds)))])


def top() -> None:
    """Recorded bandwidth against size."""
    left, middle, right = st.columns([3, 5, 3], vertical_alignment="bottom")
    with left:
        page.controls.select(SOURCE, source_name)
    if get(SOURCE) != drawn[0]:
        page.store.put(KIND, "")
    with right:
        page.bar()
    if (get(SOURCE), get(KIND)) != drawn:
        st.rerun()
    found = view.source(get(SOURCE))
    if found.points:
        kinds = measured.kinds(found)
        with middle:
            page.controls.select(
                Field(KIND.name, "choice", next(iter(kinds)), choices=tuple(kinds)),
                lambda word: words.kind_text(kinds[word], t),
            )
    if found.trouble:
        st.warning(t("unreadable_here", detail=plain(found.trouble, 300)))
        return
    if not found.points:
        st.info(t("nothing_here"))
        return
    page.show(figures.curves(points(), get(SOURCE), t), figures.curves, view.of_kind, view.point)
    st.caption(words.provenance(found, t) + f" {words.warmth(points(), found, t)}")
    st.caption(t("gpu_here") if measured.gpu() else t("no_gpu"))


def one_size() -> None:
    """Speed-up and error at one length, for the kind shown above."""
    page.prose("peers")
    offered = measured.lengths(points())
    length = Field(LENGTH.name, "choice", offered[-1], choices=offered)
    if get(LENGTH) not in offered:
        page.store.put(LENGTH, "")
    at = measured.at_length(points(), page.controls.segments(length, str))
    if view.reference(at) is not None:
        page.show(figures.speed_ups(at, get(SOURCE), t), figures.speed_ups, view.speed_up)
    page.show(figures.errors(at, get(SOURCE), t), figures.errors)
    absent = words.absent(view.source(get(SOURCE)), t)
    if absent:
        st.caption(absent)


def paths() -> None:
    """The traffic model."""
    page.prose("slow")
    left, right = st.columns(2)
    with left:
        page.controls.slider(TOKENS)
    with right:
        page.controls.slider(BANDWIDTH)
    page.show(paper.paths(get(TOKENS), get(BANDWIDTH), t), paper.paths, traffic.moved, traffic.seconds)


def beside() -> None:
    """The model beside the record, and page faults."""
    found = view.source(get(SOURCE))
    largest = paper.largest_forward(found.points)
    drawing = paper.paper(largest, get(SOURCE), t) if largest else None
    if drawing:
        page.prose("beside")
        page.show(drawing, paper.paper, traffic.over_copy)
    pairs = view.fault_pairs(found.points)
    if pairs:
        page.prose("faults")
        page.show(paper.faults(pairs, get(SOURCE), t), paper.faults, view.fault_pairs)


def shape() -> Case:
    """The one shape that the controls ask for; ValueError where it is none."""
    return Case(
        get(DEVICE),
        get(DTYPE),
        get(BATCH),
        get(SEQ),
        get(HEADS),
        get(KV_HEADS),
        get(HEAD_DIM),
        get(ROTARY) or get(HEAD_DIM),
        get(LAYOUT),
        get(MEMORY),
        get(DIRECTION),
        get(INPLACE),
    )


def contestants() -> list[str]:
    """The contestants asked for; none means all."""
    known = (*view.OURS, *view.PEERS)
    named = [name for name in get(ONLY).split(",") if name in known]
    key = "w.benchmark.only"
    if st.session_state.get(key) != named:
        st.session_state[key] = named
    st.pills(
        t("field.only"),
        known,
        selection_mode="multi",
        format_func=lambda name: words.who(name, t),
        key=key,
        on_change=lambda: page.store.put(ONLY, ",".join(st.session_state[key])),
    )
    return named


def choices() -> list[str]:
    """The controls of a run; returns the contestants."""
    page.controls.segments(SUITE)
    if get(SUITE) == measured.INTERPRETER:
        st.caption(t("interpreter_note"))
        return []
    if get(SUITE) == measured.ONE:
        for row in (SIZES[:4], SIZES[4:]):
            for column, field in zip(st.columns(4), row, strict=False):
                with column:
                    page.controls.number(field)
        rows = (DTYPE, LAYOUT, MEMORY), (DIRECTION, ALLOCATOR, DEVICE)
        for row in rows:
            for column, field in zip(st.columns(3), row, strict=True):
                with column:
                    page.controls.segments(field)
        page.controls.toggle(INPLACE)
    return contestants()


def run() -> None:
    """Choose, start, watch."""
    page.prose("run")
    if not measured.allowed():
        st.info(t("off"))
        return
    only = choices()
    busy = measured.going(measured.mine(st.session_state))
    if st.button(t("start"), type="primary", disabled=busy, key="benchmark.start"):
        try:
            measured.start(st.session_state, get(SUITE), shape(), only, get(ROUNDS), get(ALLOCATOR))
        except ValueError as error:
            st.error(t("refused_run", detail=plain(error, 300)))
        else:
            st.rerun()
    poll = 1.0 if measured.queue() else None
    st.fragment(watch, run_every=poll)()


def watch() -> None:
    """The queue, this session's run and its results; redrawn every second while anything runs."""
    job = measured.mine(st.session_state)
    for status in measured.queue():
        whose = t("yours") if job is not None and status.id == job.id else t("others")
        st.markdown(
            t(f"queued.{status.state}", whose=whose, title=plain(status.title, 120), ahead=measured.before(status))
        )
    if job is None:
        return
    if measured.going(job):
        if job.state != "waiting":
            st.progress(job.progress or 0.0, text=words.progress_text(job.progress, job.eta, job.seconds, t))
        st.button(t("cancel"), on_click=measured.cancel, args=(st.session_state,), key="benchmark.cancel")
    else:
        say = {"done": st.success, "failed": st.error}.get(job.state, st.info)
        say(t(f"over.{job.state}", detail=plain(job.error, 300), seconds=words.time_text(job.seconds)))
    found = measured.landed(job)
    if found:
        st.dataframe(words.landed(found, t), hide_index=True, height="content")
        shown = get(SOURCE) == view.HERE
        if job.state == "done" and not shown and st.button(t("show_here"), key="benchmark.show"):
            page.store.put(SOURCE, view.HERE)
            st.rerun()
    if measured.news(st.session_state):
        st.rerun()


page.live(top)
page.prose("why")
if view.source(get(SOURCE)).points:
    page.live(one_size)
page.live(paths)
beside()
page.live(run)
page.prose("own")
page.prose("questions")
