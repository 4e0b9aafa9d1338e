"""A small language model past its trained length: every line at once, live, and the experiments behind the schemes."""

from rope_core.evaluate import summary
from rope_core.lab import beside, cards, estimates, experiments, view
from rope_core.lab import pairs as shipped
from rope_core.lab.results import ExperimentRequest, ExperimentResults
from rope_core.theory import challenges, remap
from rope_core.verification import pairs as weights
from ui.figures.extrapolation import after as newer
from ui.figures.extrapolation import copied as passage
from ui.figures.extrapolation import curves as figures
from ui.figures.extrapolation import handling, lead, letters, models, words
from ui.figures.extrapolation import longer as stretching
from ui.figures.extrapolation import pairs as used
from ui.figures.extrapolation import recall as copied
from ui.figures.extrapolation import reported as handed
from ui.page.fields import beat_field
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import Challenge, ChoiceQuestion, SketchQuestion
from ui.station import (
    DrawField,
    can_measure,
    draw_experiment,
    draw_job_progress,
    draw_measure_button,
    draw_missing_record_note,
    draw_provenance,
    show_figure_if_any,
)
from ui.work import extrapolated
from ui.work.session import IncompatibleValues

CLAIM_IN_FILM = True
STEPS = beat_field(2)
LENGTHS = ("256", "512", "1024", "2048", "4096", "8192", "16384")
WEIGHTS = extrapolated.shipped_rotary_models()
BANDS = Field("bands", "choice", figures.TWO, choices=(figures.TWO, figures.ALL, figures.OFF))
BYTE = Field("byte", "int", 800, 1, 2048)
BACK = Field("back", "int", 192, 96, 1536)
SHARE = Field("share", "choice", words.LAST, choices=(words.LAST, words.WHOLE))
AT = Field("at", "text", "")
AFTER_AT = Field("after_at", "text", "")
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
COUNTED = Field("counted", "choice", experiments.DIGITS, choices=(experiments.DIGITS, experiments.WHOLE))
WRITTEN_AT = Field("written_at", "text", "")
PAIRS_OF = Field("pairs_of", "choice", WEIGHTS[0], choices=shipped.rotary_weight_names() or WEIGHTS)
LUCKY = Field("lucky", "int", None, 1, 2048, optional=True)
PAST = 1024
"""The byte after which the challenge looks."""
VIEW = ChoiceQuestion("view", "b", ((STEPS, 1), (BYTE, 1888)))
LONGER = SketchQuestion("longer")
LUCK = Challenge("luck", (LUCKY,), challenges.check_better_reading)
TASKS = (VIEW, LONGER, LUCK)
LIVE = (READ, MODEL, LONGEST, DOCUMENTS, FOLLOW, STRETCH, THETA_BASE, FAST, SLOW, SCALE)
FIELDS = (
    STEPS,
    PAIRS_OF,
    BANDS,
    BYTE,
    BACK,
    SHARE,
    AT,
    AFTER_AT,
    *LIVE,
    COUNTED,
    WRITTEN_AT,
)


def among(page: PageFrame, field: Field, offered: tuple[str, ...], fallback: str) -> Field:
    """Return a field over what the results in hand offer; a link's other word gives way to the fallback."""
    if page.get(field) not in offered:
        page.store.put(field, "")
    return Field(field.name, "choice", fallback, choices=offered)


def top(page: PageFrame) -> None:
    """Draw one recorded text under the hand, and why reading fails."""
    seen = extrapolated.shipped_results("sweep")
    if seen is None:
        draw_missing_record_note(page, "sweep")
        return
    under_the_hand(page, seen)


def tasks(page: PageFrame) -> None:
    """Have the reader draw what a longer text brings, and find a byte that is read better without scaling."""
    sweep, chances = extrapolated.shipped_results("sweep"), extrapolated.shipped_results("bytes")
    if sweep is None or chances is None:
        return
    text = letters.recorded_document_curves(sweep, chances)
    plain, best = text.chances.items()
    left, right = page.columns(1, 1)
    with left:
        page.show(
            stretching.perplexity_by_length_sketch(sweep, best[0], page.t),
            stretching.perplexity_by_length_sketch,
            view.read_cells,
        )
    with right:
        at = letters.byte_stops(page.get(BYTE), text.letters)
        page.show(
            letters.byte_probability_film(text.letters, text.path, text.chances, at, page.t),
            letters.byte_probability_film,
        )
        page.draw_challenge(LUCK, plain[1], best[1], PAST)


def every_line(page: PageFrame) -> None:
    """Draw every line at the longest length, from the shipped record."""
    seen = extrapolated.shipped_results("sweep")
    if seen is None:
        return
    drawing = figures.perplexity_chart(seen, extrapolated.first_model_trained_length(seen), page.get(BANDS), page.t)
    page.show(drawing, figures.perplexity_chart, view.rank_cells, view.last_quarter_ratio)
    page.controls.segments(BANDS)
    draw_provenance(page, seen)


def under_the_hand(page: PageFrame, sweep: ExperimentResults) -> None:
    """One recorded text along the curves."""
    shipped, copies = (
        extrapolated.shipped_results("bytes"),
        extrapolated.combined_shipped_results("recall", "recall-window"),
    )
    if shipped is None or copies is None:
        return
    text = letters.recorded_document_curves(sweep, shipped)
    at = letters.byte_stops(page.get(BYTE), text.letters)
    film = lead.perplexity_film(
        text.curves, extrapolated.first_model_rope(sweep), at, passage.copy_perplexity_curves(copies.results), page.t
    )
    page.show(film, lead.perplexity_film, view.coarsen_curve, view.copy_cells, ask=VIEW)


def ladder(page: PageFrame) -> None:
    """Draw the table, and the order at one length."""
    seen = extrapolated.shipped_results("sweep")
    if seen is None:
        return
    page.controls.segments(SHARE)
    page.table(words.perplexity_by_length_table(view.read_cells(seen.results), page.get(SHARE), page.t))
    offered = tuple(map(str, view.cell_lengths(view.read_cells(seen.results))))
    chosen = page.controls.segments(
        among(page, AT, offered, words.shortest_longer_length(offered)), words.byte_length_text
    )
    drawing = figures.perplexity_ratio_chart(seen, int(chosen), extrapolated.first_model_trained_length(seen), page.t)
    page.show(
        drawing, figures.perplexity_ratio_chart, view.rank_cells, view.last_quarter_ratio, estimates.perplexity_estimate
    )


def columns(page: PageFrame, *fields: tuple[Field, DrawField]) -> None:
    """Draw controls beside each other."""
    for column, (field, draw) in zip(page.columns(*(1 for _ in fields)), fields, strict=True):
        with column:
            draw(field)


def own_text(page: PageFrame) -> bytes:
    """Return the visitor's text: a file where there is one, else what the box holds."""
    text = page.text_area(page.t("text_label"), "extrapolation.text")
    file = page.upload(page.t("upload_label"), "extrapolation.upload", 5)
    return file.getvalue() if file else text.encode("utf-8", "surrogatepass")


def request_of(page: PageFrame) -> ExperimentRequest:
    """Return what the controls ask for; Unfit where the text does not do."""
    text = b""
    if page.get(READ) == "own":
        given = own_text(page)
        text = extrapolated.text_within_limits(given, int(page.get(LONGEST)), page.get(DOCUMENTS))
        page.caption(page.t("text_taken", **extrapolated.text_usage_slots(given, text, int(page.get(LONGEST)))))
    else:
        extrapolated.check_held_out_length(int(page.get(LONGEST)))
    params = {"beta_fast": page.get(FAST), "beta_slow": page.get(SLOW), "attention_factor": page.get(SCALE)}
    return extrapolated.sweep_request(
        page.get(MODEL),
        int(page.get(LONGEST)),
        page.get(DOCUMENTS),
        factor=None if page.get(FOLLOW) else page.get(STRETCH),
        base=page.get(THETA_BASE),
        params=params,
        text=text,
    )


def knobs(page: PageFrame) -> None:
    """Draw what is read, by which model, and how the positions are stretched."""
    controls = page.controls
    columns(page, (READ, controls.segments), (MODEL, lambda field: controls.select(field, str)))
    columns(page, (LONGEST, lambda field: controls.select(field, words.byte_length_text)), (DOCUMENTS, controls.slider))
    controls.toggle(FOLLOW)
    if page.get(FOLLOW):
        page.caption(page.t("follows"))
    else:
        controls.slider(STRETCH)
    columns(page, (THETA_BASE, controls.slider), (SCALE, controls.number))
    controls.beside(FAST, SLOW)


def live(page: PageFrame) -> None:
    """Draw the same curves for the visitor's own settings, measured while they watch."""
    if not can_measure(page):
        return
    knobs(page)
    try:
        request = request_of(page)
    except IncompatibleValues as refused:
        page.note(page.t(refused.key, **refused.given), "warning")
        draw_job_progress(page, "sweep")
        return
    title = page.t("own_title" if page.get(READ) == "own" else "held_title")
    draw_measure_button(page, "sweep", request, title, page.t("measure"))
    seen = extrapolated.measured_results(page.session, "sweep", request)
    if seen is None:
        page.caption(page.t("not_measured", button=page.t("measure")))
        return
    cells = view.read_cells(seen.results)
    page.show(
        figures.live_perplexity_chart(seen, cards.get_weights_card(page.get(MODEL)).context, page.get(BANDS), page.t),
        figures.perplexity_chart,
        view.rank_cells,
    )
    page.table(words.perplexity_by_length_table(cells, page.get(SHARE), page.t))
    draw_provenance(page, seen)


def trained() -> int:
    """Return the trained length of the models shown."""
    return extrapolated.first_rotary_trained_length()


def seeds(page: PageFrame) -> None:
    """Draw the order again, from other seeds."""
    draw_experiment(
        page,
        "seeds",
        lambda seen: page.show(
            figures.perplexity_by_seed_chart(seen, trained(), page.t),
            figures.perplexity_by_seed_chart,
            view.results_over_seeds,
            view.line_order_by_weights,
        ),
    )


def after(page: PageFrame) -> None:
    """Draw what was published after YaRN, beside the sliding window."""
    seen = extrapolated.combined_shipped_results("after", "after-trained")
    if seen is None:
        return
    offered = tuple(map(str, view.cell_lengths(view.read_cells(seen.results))))
    chosen = page.controls.segments(among(page, AFTER_AT, offered, offered[-1]), words.byte_length_text)
    page.show(
        newer.newer_scheme_perplexity_ratio_chart(seen, int(chosen), trained(), page.t),
        newer.newer_scheme_perplexity_ratio_chart,
        beside.compare_with_window,
        remap.remap_positions,
    )
    draw_provenance(page, seen)
    page.write_section("after_how")


def encodings(page: PageFrame) -> None:
    """Other encodings than the rotary one."""
    draw_experiment(
        page,
        "encodings",
        lambda seen: page.show(
            models.encoding_perplexity_chart(seen, trained(), page.t), models.encoding_perplexity_chart, view.read_cells
        ),
    )
    page.draw_page_link("encodings")


def finetuned(page: PageFrame) -> None:
    """Before and after a short fine-tune."""
    draw_experiment(
        page,
        "finetuned",
        lambda seen: show_figure_if_any(
            page,
            models.finetune_perplexity_chart(seen, trained(), page.t),
            models.finetune_perplexity_chart,
            models.finetune_cell_pairs,
        ),
    )


def retrieval(page: PageFrame) -> None:
    """Draw the hidden number."""
    page.controls.segments(COUNTED)

    def draw(seen: ExperimentResults) -> None:
        page.show(
            models.passkey_retrieval_chart(seen, page.get(COUNTED), page.t),
            models.passkey_retrieval_chart,
            experiments.retrieval_grids,
            estimates.wilson_interval,
        )

    draw_experiment(page, "retrieval", draw)


def recall(page: PageFrame) -> None:
    """Draw a stretch that occurs twice."""
    draw_experiment(
        page,
        "recall",
        lambda seen: page.show(
            copied.copy_perplexity_chart(seen, trained(), page.t), copied.copy_perplexity_chart, view.copy_cells
        ),
    )


def stale(page: PageFrame) -> None:
    """Keys left as cached."""
    draw_experiment(
        page,
        "stale",
        lambda seen: page.show(
            handling.stale_keys_perplexity_chart(seen, trained(), page.t),
            handling.stale_keys_perplexity_chart,
            experiments.cache_handling_cells,
        ),
    )


def written(page: PageFrame) -> None:
    """Draw what a user sees."""

    def draw(seen: ExperimentResults) -> None:
        offered = tuple(map(str, handling.generated_text_lengths(seen)))
        length = int(page.controls.segments(among(page, WRITTEN_AT, offered, offered[-1]), words.byte_length_text))
        page.caption(page.t("written_note"))
        with page.fold(page.t("prompt_end")):
            page.code(handling.prompt_end(seen, length))
        for label, text in handling.generated_texts(seen, length, page.t):
            page.write(label)
            page.code(text)

    draw_experiment(page, "generate", draw)


def pairs(page: PageFrame) -> None:
    """Which pairs the shipped weights use."""
    if not shipped.rotary_weight_names():
        page.note(page.t("no_weights"))
        return
    model = page.controls.select(PAIRS_OF, str)
    page.show(
        used.pair_norm_chart(model, shipped.shipped_pair_summary(model), page.t),
        used.pair_norm_chart,
        weights.layer_pair_norms,
        weights.pair_changes_by_scheme,
    )


def report(page: PageFrame) -> None:
    """Draw a visitor's own model, as `rope eval` measured it."""
    file = page.upload(page.t("report_label"), "extrapolation.report", 5)
    if file is None:
        page.write(page.t("report_none"))
        page.code(summary.COMMAND, "bash")
        return
    try:
        measured = summary.read_report_summary(file.getvalue())
    except ValueError as error:
        page.note(page.filled_label("report_refused", {"error": error}), "error")
        return
    if measured.done < measured.cells:
        page.note(page.t("report_partial", done=measured.done, cells=measured.cells))
    if measured.perplexity:
        page.show(
            handed.report_perplexity_chart(measured, page.t),
            handed.report_perplexity_chart,
            view.rank_cells,
            view.last_quarter_ratio,
        )
    if measured.copies:
        page.show(
            handed.report_copy_distance_chart(measured, page.t),
            handed.report_copy_distance_chart,
            view.copy_cells,
        )


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(top)
    page.draw_live_part(tasks)
    page.write_section("why")
    page.draw_folded_section_below("ladder", every_line, ladder)
    for section, panel, parts in (
        ("live", "sweep", (live,)),
        ("seeds", "seeds", (seeds,)),
        ("after", "seeds", (after,)),
        ("encodings", "encodings", (encodings,)),
        ("finetune", "finetuned", (finetuned,)),
        ("retrieval", "retrieval", (retrieval,)),
        ("recall", "recall", (recall,)),
        ("stale", "stale", (stale,)),
        ("written", "generate", (written,)),
    ):
        page.draw_folded_section_below(section, *parts, every_seconds=extrapolated.refresh_seconds(page.session, panel))
    page.draw_folded_section_below("pairs", pairs)
    page.draw_folded_section_below("report", report)
    page.draw_folded_section_below("questions")
