"""A small language model past its trained length: every line at once, live, and the experiments behind the schemes."""

import streamlit as st

from rope_core.lab import estimates, view
from ui.figures.drawing import Drawing
from ui.figures.extrapolation import curves as figures
from ui.figures.extrapolation import heads, models, words
from ui.page.frame import Page, plain
from ui.page.state import Field
from ui.work import extrapolated
from ui.work.extrapolated import Code, Draw, DrawField, Request, Seen, TextRefused

LENGTHS = ("256", "512", "1024", "2048", "4096", "8192", "16384")
WEIGHTS = extrapolated.models()
BANDS = Field("bands", "choice", figures.TWO, choices=(figures.TWO, figures.ALL, figures.OFF))
SHARE = Field("share", "choice", words.LAST, choices=(words.LAST, words.WHOLE))
AT = Field("at", "text", "")
READ = Field("read", "choice", "held", choices=("held", "own"))
MODEL = Field("weights", "choice", WEIGHTS[0], choices=WEIGHTS)
LONGEST = Field("longest", "choice", "2048", choices=LENGTHS)
DOCUMENTS = Field("documents", "int", 8, 1, 32)
FOLLOW = Field("follow", "bool", True)
STRETCH = Field("stretch", "float", 8.0, 1.0, 64.0, steps=(1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0))
THETA_BASE = Field("theta_base", "float", 1e4, 1.0, 1e9, steps=(1e2, 1e3, 1e4, 2e4, 5e4, 1e5, 1e6), low_open=True)
FAST = Field("fast", "float", 32.0, 0.01, 4096.0, steps=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0))
SLOW = Field("slow", "float", 1.0, 0.01, 4096.0, steps=(0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0))
SCALE = Field("scale", "float", None, 0.0, 16.0, step=0.05, optional=True)
AGAINST = Field("against", "text", "")
COUNTED = Field("counted", "choice", view.DIGITS, choices=(view.DIGITS, view.WHOLE))
LAYER = Field("layer_no", "int", 1, 1, 4)
HEAD = Field("head_no", "int", 1, 1, 6)
TUNE = Field("tune", "choice", extrapolated.line_keys()[1], choices=extrapolated.line_keys())
TUNE_STEPS = Field("tune_steps", "int", 60, 10, 400, step=10)
WINDOW = Field("tuned_window", "choice", "2048", choices=("512", "1024", "2048"))
WRITTEN_AT = Field("written_at", "text", "")
LIVE = (READ, MODEL, LONGEST, DOCUMENTS, FOLLOW, STRETCH, THETA_BASE, FAST, SLOW, SCALE)
OWN = (BANDS, SHARE, AT, *LIVE, AGAINST, COUNTED, LAYER, HEAD, TUNE, TUNE_STEPS, WINDOW, WRITTEN_AT)

page = Page("extrapolation", *OWN, geometry=False)
t, get, session = page.t, page.get, st.session_state
TEXT, UPLOAD = "extrapolation.text", "extrapolation.upload"


def among(field: Field, offered: tuple[str, ...], fallback: str) -> Field:
    """A field over what the results in hand offer; a link's other word gives way to the fallback."""
    if get(field) not in offered:
        page.store.put(field, "")
    return Field(field.name, "choice", fallback, choices=offered)


def said_by(line: str) -> str:
    """A line's name."""
    return words.name(line, t)


def bytes_text(length: str) -> str:
    """A length in a row of buttons."""
    return f"{int(length):,}"


def where(seen: Seen) -> None:
    """Says where results come from."""
    st.caption(words.provenance(seen, t))


def missing(panel: str) -> None:
    """Says that nothing was recorded, and what records it."""
    st.info(t("not_recorded"))
    st.code(extrapolated.command(panel), language="bash", wrap_lines=True)


def draw_ladder(seen: Seen, trained: int, *, first: bool) -> None:
    """The curves of all lines, and the table of all lengths."""
    page.show(figures.curves(seen, trained, get(BANDS), t), figures.curves, view.order, view.ratio)
    if first:
        page.controls.segments(BANDS)
    where(seen)


def top() -> None:
    """Every line at the longest length, from the shipped record."""
    seen = extrapolated.seen_shipped("sweep")
    page.bar()
    if seen is None:
        missing("sweep")
        return
    draw_ladder(seen, extrapolated.trained(seen), first=True)


def ladder() -> None:
    """The table, and the order at one length."""
    seen = extrapolated.seen_shipped("sweep")
    if seen is None:
        return
    page.prose("ladder")
    page.controls.segments(SHARE)
    st.dataframe(words.ladder(view.cells(seen.results), get(SHARE), t), hide_index=True, height="content")
    offered = tuple(map(str, view.lengths(view.cells(seen.results))))
    chosen = page.controls.segments(among(AT, offered, words.second(offered)), bytes_text)
    drawing = figures.order(seen, int(chosen), extrapolated.trained(seen), t)
    page.show(drawing, figures.order, view.order, view.ratio, estimates.estimate)


def columns(*fields: tuple[Field, DrawField]) -> None:
    """Controls beside each other."""
    for column, (field, draw) in zip(st.columns(len(fields)), fields, strict=True):
        with column:
            draw(field)


def own_text() -> bytes:
    """The visitor's text: a file where there is one, else what stands in the box."""
    st.text_area(t("text_label"), key=TEXT, height=120)
    given = st.file_uploader(t("upload_label"), key=UPLOAD, max_upload_size=5)
    return given.getvalue() if given else extrapolated.as_bytes(session.get(TEXT, ""))


def asked() -> Request:
    """What the controls ask for; TextRefused where the text does not do."""
    text = b""
    if get(READ) == "own":
        given = own_text()
        text = extrapolated.to_read(given, int(get(LONGEST)), get(DOCUMENTS))
        st.caption(t("text_taken", **extrapolated.taken(given, text, int(get(LONGEST)))))
    else:
        extrapolated.held_out(int(get(LONGEST)))
    params = {"beta_fast": get(FAST), "beta_slow": get(SLOW), "attention_factor": get(SCALE)}
    return extrapolated.sweep(
        get(MODEL),
        int(get(LONGEST)),
        get(DOCUMENTS),
        factor=None if get(FOLLOW) else get(STRETCH),
        base=get(THETA_BASE),
        params=params,
        text=text,
    )


def knobs() -> None:
    """What is read, by which model, and how the positions are stretched."""
    controls = page.controls
    columns((READ, controls.segments), (MODEL, lambda field: controls.select(field, str)))
    columns((LONGEST, lambda field: controls.select(field, bytes_text)), (DOCUMENTS, controls.slider))
    controls.toggle(FOLLOW)
    if get(FOLLOW):
        st.caption(t("follows"))
    else:
        controls.slider(STRETCH)
    columns((THETA_BASE, controls.slider), (SCALE, controls.number))
    columns((FAST, controls.slider), (SLOW, controls.slider))


def live() -> None:
    """The same curves for the visitor's own settings, measured while they watch."""
    page.prose("live")
    if not able():
        return
    knobs()
    try:
        request = asked()
    except TextRefused as refused:
        st.warning(t(refused.key, **refused.given))
        watch("sweep")
        return
    title = t("own_title" if get(READ) == "own" else "held_title")
    button("sweep", request, title, t("measure"))
    seen = extrapolated.seen(session, "sweep", request)
    if seen is None:
        st.caption(t("not_measured", button=t("measure")))
        return
    cells = view.cells(seen.results)
    page.show(figures.live(seen, extrapolated.context(get(MODEL)), get(BANDS), t), figures.curves, view.order)
    st.dataframe(words.ladder(cells, get(SHARE), t), hide_index=True, height="content")
    where(seen)


def able() -> bool:
    """Whether anything can be measured here; says why not."""
    if not extrapolated.allowed():
        st.info(t("off"))
        return False
    if not WEIGHTS[0]:
        st.info(t("no_weights"))
        return False
    return True


def button(panel: str, request: Request, title: str, label: str) -> None:
    """The button that starts a panel's work, and how that work stands."""
    if extrapolated.ended(session, panel):
        st.rerun()
    going = extrapolated.going(session, panel)
    if st.button(label, type="primary", disabled=going, key=f"extrapolation.start.{panel}"):
        try:
            extrapolated.start(session, panel, request, title)
        except ValueError as error:
            st.error(t("refused_run", detail=plain(error, 300)))
        else:
            st.rerun()
    watch(panel)


def watch(panel: str) -> None:
    """How a panel's work stands: its place in the queue, its progress, its end."""
    state = extrapolated.status(session, panel)
    if state is None:
        return
    if extrapolated.going(session, panel):
        if state.state == "waiting":
            st.markdown(t("waiting", ahead=extrapolated.before(state)))
        else:
            st.progress(state.progress or 0.0, text=words.progress_text(state.progress, state.eta, state.seconds, t))
        st.button(
            t("cancel"),
            on_click=extrapolated.cancel,
            args=(session, panel),
            key=f"extrapolation.cancel.{panel}",
        )
    elif state.state == "failed":
        st.error(t("failed", detail=plain(state.error, 300), seconds=f"{state.seconds:.0f}"))
    elif state.state == "cancelled":
        st.info(t("cancelled"))


def station(panel: str, draw: Draw, **asked_for: object) -> None:
    """One experiment: what was measured here for these settings, else the shipped record, and the way to measure."""
    request = extrapolated.panel_request(panel, **asked_for)
    seen = extrapolated.seen(session, panel, request) or extrapolated.seen_shipped(extrapolated.PANELS[panel].record)
    if seen is None:
        missing(panel)
    else:
        draw(seen)
        where(seen)
    if extrapolated.allowed() and WEIGHTS[0]:
        button(panel, request, t(f"panel.{panel}"), t("measure_here"))


def trained() -> int:
    """The trained length of the models shown."""
    return extrapolated.first_context()


def seeds() -> None:
    """The order again, from other seeds."""
    page.prose("seeds")
    station(
        "seeds",
        lambda seen: page.show(figures.seeds(seen, trained(), t), figures.seeds, view.over_seeds, view.orders),
    )


def encodings() -> None:
    """Other encodings than the rotary one."""
    page.prose("encodings")
    station(
        "encodings",
        lambda seen: page.show(models.encodings(seen, trained(), t), models.encodings, view.cells),
    )
    page.goto("encodings")


def maybe(drawing: Drawing | None, *code: Code) -> None:
    """Show a figure where there is one."""
    if drawing is not None:
        page.show(drawing, *code)


def finetuned() -> None:
    """Before and after a short fine-tune."""
    page.prose("finetune")
    station(
        "finetuned",
        lambda seen: maybe(models.finetuned(seen, trained(), t), models.finetuned, models.pairs),
    )


def tune() -> None:
    """A fine-tune of the visitor's own."""
    if not able():
        return
    controls = page.controls
    columns(
        (TUNE, lambda field: controls.select(field, said_by)),
        (WINDOW, lambda field: controls.select(field, bytes_text)),
        (TUNE_STEPS, controls.slider),
    )
    request = extrapolated.finetune(WEIGHTS[0], get(TUNE), int(get(WINDOW)), get(TUNE_STEPS))
    button("finetune", request, t("panel.finetune"), t("tune_here"))
    seen = extrapolated.seen(session, "finetune", request)
    if seen is not None:
        maybe(models.finetune(seen, t), models.finetune)


def retrieval() -> None:
    """The hidden number."""
    page.prose("retrieval")
    page.controls.segments(COUNTED)

    def draw(seen: Seen) -> None:
        page.show(models.passkey(seen, get(COUNTED), t), models.passkey, view.retrieval, estimates.wilson)

    station("retrieval", draw)


def head() -> None:
    """One head's attention before and after."""
    page.prose("heads")
    others = extrapolated.line_keys()[1:]
    controls = page.controls
    columns((LAYER, controls.slider), (HEAD, controls.slider))
    line = controls.select(among(AGAINST, others, extrapolated.warm()), said_by)

    def draw(seen: Seen) -> None:
        st.caption(heads.which(seen, t))
        page.show(heads.maps(seen, line, t), heads.maps, view.sights)
        page.show(heads.entropy(seen, t), heads.entropy, view.sights)

    station("glimpse", draw, **extrapolated.of_head(get(LAYER), get(HEAD)))


def temperature() -> None:
    """The logit scale, swept and fitted."""
    page.prose("temperature")

    def draw(seen: Seen) -> None:
        page.show(heads.scales(seen, t), heads.scales, view.swept)
        maybe(heads.refit(seen, t), heads.refit, view.fit)

    station("temperature", draw)


def stale() -> None:
    """Keys left as cached."""
    page.prose("stale")
    station("stale", lambda seen: page.show(heads.stale(seen, trained(), t), heads.stale, view.variants))


def padding() -> None:
    """Padding and position ids."""
    page.prose("padding")
    station("padding", lambda seen: page.show(heads.padding(seen, t), heads.padding))


def written() -> None:
    """What a user sees."""
    page.prose("written")

    def draw(seen: Seen) -> None:
        offered = tuple(map(str, heads.lengths_written(seen)))
        length = int(page.controls.segments(among(WRITTEN_AT, offered, offered[-1]), bytes_text))
        st.caption(t("written_note"))
        with st.expander(t("prompt_end")):
            st.code(heads.prompt(seen, length), language=None, wrap_lines=True)
        for label, text in heads.written(seen, length, t):
            st.markdown(label)
            st.code(text, language=None, wrap_lines=True)

    station("generate", draw)


def every(panel: str) -> float | None:
    """How often a panel is redrawn by itself: while its work goes on."""
    return extrapolated.every(session, panel)


page.live(top)
page.prose("why")
page.live(ladder)
page.live(live, every=every("sweep"))
for part, panel in (
    (seeds, "seeds"),
    (encodings, "encodings"),
    (finetuned, "finetuned"),
    (tune, "finetune"),
    (retrieval, "retrieval"),
    (head, "glimpse"),
    (temperature, "temperature"),
    (stale, "stale"),
    (padding, "padding"),
    (written, "generate"),
):
    page.live(part, every=every(panel))
page.prose("questions")
