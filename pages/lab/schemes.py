"""A scheme of one's own beside shipped ones: which pair does what, where it leaves what training saw, each check."""

from rope_core.comparisons import compare, curves, export, margins, pasted
from rope_core.comparisons.examples import EXAMPLES, FAULTS, check_fault
from rope_core.comparisons.papers import paper_curves
from rope_core.comparisons.sentences import table_words
from ui.figures.schemes import checks, measured, pairs
from ui.figures.schemes import sweep as sweeps
from ui.page import columns, fields, tasks
from ui.page.columns import ALLOWED, BESIDE, CHECK, FINE_TUNED, LIKE, MINE, REFERENCE, TRAINED_TO
from ui.page.fields import DIM, FACTOR, GEOMETRY, MODEL, SEQ_LEN
from ui.page.frame import PageFrame, UploadedFile
from ui.page.state import Field
from ui.page.store import PageValues
from ui.page.tasks import Challenge
from ui.text.escape import escaped_markdown
from ui.work import extrapolated

CLAIM_IN_FILM = True
STEPS = fields.beat_field(3)
PAIR = Field("pair", "int", None, 0, 511, optional=True)
FAULT = Field("fault", "choice", "", choices=("", *FAULTS.values()))
FAULT_PAIR = Field("fault_pair", "int", None, 0, 511, optional=True)
PLANTED = Challenge("planted", (FAULT, FAULT_PAIR), check_fault)
TASKS = (PLANTED,)
FIELDS = (STEPS, PAIR, *columns.FIELDS, *GEOMETRY, FACTOR, SEQ_LEN)


def fits(store: PageValues) -> object:
    """Raise ValueError where the values in force do not go together."""
    return columns.comparison_setting(store)


def take(page: PageFrame, text: str) -> None:
    """Put a text into the address, and look at what fails first; or say why it is none of the page's."""
    try:
        page.store.try_put(MINE, pasted.pack(text))
        for field in (CHECK, PAIR):
            page.store.try_put(field, field.default)
    except ValueError as error:
        page.store.notes.append(("frame.impossible", {"error": error}))


def upload(page: PageFrame, file: UploadedFile) -> None:
    """Take a file as if its text were pasted."""
    try:
        take(page, pasted.read_file(file.name, file.getvalue()))
    except ValueError as error:
        page.store.notes.append(("frame.impossible", {"error": error}))


def worst(store: PageValues, given: pairs.SchemeComparison) -> None:
    """Mark the pair with the least margin, and choose its check."""
    row = given.examined_column.least_with_pair
    if row is not None:
        store.try_put(CHECK, checks.KEYS.index(row.key))
        store.try_put(PAIR, row.marked_pairs[0] if row.pair is None else row.pair)


def workbench(page: PageFrame) -> None:
    """Draw what does not hold over the pictures; beside them the scheme itself, what is compared, and the setting."""
    t, store = page.t, page.store
    text = pasted.unpack(store.get(MINE))
    setting = columns.comparison_setting(store)
    left, right = page.columns(5, 3)
    with right:
        page.write(t("signatures"))
        calls = columns.scheme_calls(setting.rope, setting.factor, setting.length, text)
        answers = page.draw_scheme_editor(text, calls, lambda given: take(page, given))
        with page.details(t("upload"), "schemes.upload", lazy=False):
            page.upload(t("upload_label"), "schemes.file", 16, lambda file: upload(page, file))
    given, refused = columns.comparison_and_refusals(store, text, answers, t)
    with left:
        if refused.mine:
            page.note(escaped_markdown(refused.mine, 400), "warning")
        page.write_scheme_refusals(refused.others or {}, lambda choice: columns.comparison_choice_name(choice, t))
        if count := columns.count_of_functions(text):
            page.caption(t("last_of", count=count, name=columns.own_name(text, t)))
        if given is None:
            page.note(t("no_columns"))
        else:
            findings(page, given, is_example=text in EXAMPLES)
            pictures(page, given)
    with right:
        controls(page, given)
    if given is None:
        return
    page.write_section("checks")
    page.draw_folded_section("sweep", lambda page: sweep(page, given))
    page.draw_folded_section("faults", lambda page: exercises(page, given))
    page.draw_folded_section("out", lambda page: out(page, given))


def findings(page: PageFrame, given: pairs.SchemeComparison, is_example: bool) -> None:
    """Write the first cause of what fails, how many checks these are, the other causes, the nearest scheme."""
    t, is_broken = page.t, bool(given.examined_column.broken)
    first, *faults = checks.headline(given, t)
    if is_example:
        page.caption(t("example_note"))
    page.write(f"**{'✗ ' if is_broken else ''}{escaped_markdown(first, 900)}**")
    if is_broken:
        page.caption(escaped_markdown(faults.pop(0), 600))
    for fault in faults:
        page.write(f"**✗ {escaped_markdown(fault, 900)}**")
    for compared in (checks.nearest_scheme_sentence, checks.difference_from_reference_sentence):
        page.write(escaped_markdown(compared(given, t), 900))


def pictures(page: PageFrame, given: pairs.SchemeComparison) -> None:
    """Draw the columns pair by pair, and each check's margins."""
    t = page.t
    film = pairs.scheme_comparison_film(given, page.get(PAIR), t)
    page.show(film, pairs.scheme_comparison_film, compare.compare_column, curves.score, margins.inside_arc)
    page.show(
        checks.check_margins_film(given, t, extrapolated.shipped_contrasts_by_check()),
        checks.check_margins_film,
        compare.compare_column,
    )
    page.caption(table_words(t.lang, "table")["rule"])
    page.caption(t("joint"))


def controls(page: PageFrame, given: pairs.SchemeComparison | None) -> None:
    """Draw what is beside, the model and the lengths, and what the chosen check allows."""
    t, store = page.t, page.store

    def names(choice: str) -> str:
        return columns.comparison_choice_name(choice, t)

    for field in BESIDE:
        page.controls.select(field, names)
    page.controls.select(REFERENCE, lambda choice: names(store.get(BESIDE[REFERENCE.choices.index(choice)])))
    page.controls.select(LIKE, names)
    page.controls.select(MODEL, page.controls.model_name)
    page.controls.slider(FACTOR)
    page.controls.beside(SEQ_LEN, DIM, draw=page.controls.number)
    if given is None:
        return
    page.button(t("worst"), "schemes.worst", worst, store, given, icon="target")
    page.controls.toggle(FINE_TUNED)
    page.controls.number(TRAINED_TO)
    if given.check in ALLOWED:
        page.controls.number(ALLOWED[given.check])


def sweep(page: PageFrame, given: pairs.SchemeComparison) -> None:
    """Draw where the chosen check first fails, over target lengths and factors."""
    lengths = columns.sweep_lengths(given.examined_column.setting)
    page.show(sweeps.least_margin_chart(given, lengths, page.t), sweeps.least_margin_chart, compare.least_margins)


def out(page: PageFrame, given: pairs.SchemeComparison) -> None:
    """Offer the comparison as a test file, a page, numbers, and a config block."""
    each, t = list(given.columns), page.t
    with page.row():
        page.download(
            t("pytest"), lambda: export.pytest_file(each), "test_rope_scheme.py", "text/x-python", "out.pytest"
        )
        page.download(t("html"), lambda: export.html_page(each, t.lang), "schemes.html", "text/html", "out.html")
        page.download(t("json"), lambda: export.json_text(each, t.lang), "schemes.json", "application/json", "out.json")
    page.write(t("blocks"))
    for block in columns.scheme_config_blocks(page.store, t.lang):
        page.write(f"**{escaped_markdown(block.title)}**")
        page.code(block.json, "json")
        if block.commands:
            page.code(block.commands, "bash")


def record(page: PageFrame) -> None:
    """Draw what was measured of the shipped schemes on the small model: the checks beside it, then perplexity."""
    sweep = extrapolated.shipped_results("sweep")
    if sweep is not None:
        page.write(page.t("checks_read"))
        page.table(measured.contrast_table(extrapolated.shipped_contrasts_by_check(), page.t))
        page.write(measured.raised_base_sentence(sweep, extrapolated.first_model_trained_length(sweep), page.t))
        page.draw_folded_section(
            "perplexity", lambda page: page.table(measured.perplexity_by_scheme_table(sweep, page.t))
        )
    page.draw_page_link("extrapolation", page.t("measure_live"))


def papers(page: PageFrame) -> None:
    """Set numbers that papers print beside those here, and link to what their pictures show."""
    page.show(measured.paper_curves_chart(page.t), measured.paper_curves_chart, paper_curves)
    page.table(measured.printed_numbers_table(page.t))
    for paper in ("critical", "clipped"):
        page.write(f"[{page.t(f'view.{paper}')}]({columns.schemes_page_address(page, paper)})")


def load(page: PageFrame, name: str) -> None:
    """Put a scheme with a fault into the box, without the answers to the one before."""
    take(page, name)
    page.store.try_put(FAULT, FAULT.default)
    page.store.try_put(FAULT_PAIR, FAULT_PAIR.default)


def exercises(page: PageFrame, given: pairs.SchemeComparison) -> None:
    """Offer the schemes with a fault each, and count those whose fault and pair were named."""
    t, name = page.t, pasted.unpack(page.store.get(MINE))
    with page.row():
        for each in EXAMPLES:
            page.button(t(f"example.{each}"), f"schemes.{each}", load, page, each, look="quiet")
    page.draw_challenge(PLANTED, name, given.examined_column)
    verdict = tasks.challenge_verdict(PLANTED, page.store, page.session, (name, given.examined_column))
    if verdict and verdict.passed:
        tasks.remember_done_tasks(page.session, [f"{page.name}.{name}"])
    known = [each for each in FAULTS if f"{page.name}.{each}" in page.session.get(tasks.DONE, ())]
    page.caption(t("exercise_line", count=len(known), of=len(FAULTS)))


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(workbench)
    page.write_section("measured")
    page.draw_live_part(record)
    page.draw_folded_section_below("papers", papers)
    page.draw_folded_section_below("questions")
