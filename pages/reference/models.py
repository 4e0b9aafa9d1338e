"""The catalogue: what real models turn by, with sources, and the way into every other page with one of them."""

from rope_core.hf import survey
from rope_core.theory import axes
from ui.figures import axes as axes_figures
from ui.figures import catalogue as models
from ui.figures import models as figures
from ui.figures import slowest
from ui.page.fields import LEN_STEPS, beat_field, film_stops
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.words import PageTexts

CLAIM_IN_FILM = True
STEPS = beat_field(2)
TIMES = Field("times", "float", 1.0, 1.0, slowest.MOST, step=0.5, steps=slowest.STOPS)
ANY = "any"
FILTERS = tuple(
    Field(name, "choice", ANY, choices=(ANY, *survey.filter_values(name)))
    for name in ("family", "scheme", "layout", "confidence")
)
CONTEXT = Field("context", "int", 4096, 64, 16_777_216, steps=LEN_STEPS)
PICK = Field("pick", "choice", models.DEFAULT, choices=models.model_ids())
OPENS = ("rotation", "layouts", "frequencies", "clock", "attention", "precision", "config")
LOOKS = {"name": "pinned", "year": "year", "source": "small"} | dict.fromkeys(
    ("base", "trained", "context", "longest"), "number"
)
PATCH_X = Field("patch_x", "int", 4, 0, axes_figures.LAST)
PATCH_Y = Field("patch_y", "int", 7, 0, axes_figures.LAST)
SLOW_BY = ChoiceQuestion("slow_by", "b", ((STEPS, 1), (TIMES, slowest.MOST)))
TASKS = (SLOW_BY,)
FIELDS = (STEPS, TIMES, *FILTERS, CONTEXT, PICK, PATCH_X, PATCH_Y)


def label(field: Field, choice: str, t: PageTexts) -> str:
    """How a filter names one of its values."""
    key = "any" if choice == ANY else f"{field.name}.{choice}"
    return t(key) if t.has_label(key) else choice


def shown(page: PageFrame) -> tuple[survey.SurveyRow, ...]:
    """Return the rows that pass the filters."""
    return survey.filtered_rows(
        **{field.name: None if page.get(field) == ANY else page.get(field) for field in FILTERS}
    )


def spans(page: PageFrame) -> None:
    """Draw the wavelengths of the models shown, cut at the context that the slider asks for."""
    page.controls.slider(CONTEXT)
    page.show(
        figures.wavelength_range_chart(shown(page), page.get(CONTEXT), page.get(PICK), page.t),
        figures.wavelength_range_chart,
        survey.survey_rows,
        survey.SurveyRow,
    )


def dozen(page: PageFrame) -> None:
    """Draw known models' slowest pairs in a longer text, then all pairs cut at a length."""
    times, lengths = film_stops(TIMES, page.get(TIMES)), film_stops(CONTEXT, page.get(CONTEXT))
    page.show(
        figures.slowest_pairs_film(times, lengths, page.t),
        figures.slowest_pairs_film,
        survey.survey_rows,
        survey.SurveyRow,
        ask=SLOW_BY,
    )


def catalogue(page: PageFrame) -> None:
    """Draw filters, table, and the picked model's card with its links; then all models' wavelengths."""
    rows = shown(page)
    page.write_section("table")
    page.controls.beside(
        *FILTERS, draw=lambda field: page.controls.select(field, lambda choice: label(field, choice, page.t))
    )
    if not rows:
        page.note(page.t("nothing"))
        return
    page.table(
        figures.model_table(rows, page.t),
        "models.table",
        looks={page.t(f"col.{name}"): look for name, look in LOOKS.items()},
        height=380,
        pick=lambda row: page.store.put(PICK, rows[row].model.id),
    )
    page.controls.select(PICK, models.model_name)
    page.write(
        figures.model_card_markdown([row for row in survey.survey_rows() if row.model.id == page.get(PICK)], page.t)
    )
    with page.row():
        for name in OPENS:
            page.draw_page_link(name, model=page.get(PICK))
    page.draw_folded_section("spans", spans)


def two_axes(page: PageFrame) -> None:
    """Rotation over rows and columns: a patch dragged, and its score maps."""
    page.show(
        axes_figures.axial_score_map_film(page.t),
        axes_figures.axial_score_map_film,
        axes.mean_cosine_map,
        axes.axial_frequencies,
        axes.golden_gate_frequencies,
        axes.mrope_frequencies,
    )


def rotating(page: PageFrame) -> None:
    """How much of each model rotates."""
    page.show(figures.rotating_share_chart(page.t), figures.rotating_share_chart, survey.rotating_shares)


def mistakes(page: PageFrame) -> None:
    """Draw what the table of source 004 has wrong."""
    page.table(figures.table_errata(page.t), looks={page.t("col.source"): "link"})


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    page.draw_live_part(dozen, shared=False)
    page.draw_live_part(catalogue, shared=False)
    page.draw_folded_section_below("questions")
    page.draw_folded_section_below("why")
    page.draw_folded_section_below("rotating", rotating)
    page.draw_folded_section_below("axes", two_axes)
    page.draw_folded_section_below("video")
    page.draw_folded_section_below("errata", mistakes)
