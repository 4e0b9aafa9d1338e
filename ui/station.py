"""What a page draws around long work: what was measured and where, the button that starts it, how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rope_core.lab.results import ExperimentRequest, ExperimentResults
from ui.figures.drawing import Drawing
from ui.figures.extrapolation import words
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.text.escape import escaped_markdown
from ui.work import extrapolated, jobs
from ui.work.extrapolated import DrawResults, RecipeFunction

DrawField = Callable[[Field], Any]


def draw_provenance(page: PageFrame, seen: ExperimentResults) -> None:
    """Say where results come from."""
    page.caption(words.results_provenance(seen, page.t))


def draw_missing_record_note(page: PageFrame, panel: str) -> None:
    """Say that nothing was recorded, and what records it."""
    page.note(page.t("not_recorded"))
    page.code(extrapolated.measure_command(panel), "bash")


def can_measure(page: PageFrame) -> bool:
    """Whether anything can be measured here; say why not where it cannot."""
    if not extrapolated.is_measuring_allowed():
        page.note(page.t("off"))
        return False
    if not extrapolated.shipped_rotary_models()[0]:
        page.note(page.t("no_weights"))
        return False
    return True


def draw_measure_button(page: PageFrame, panel: str, request: ExperimentRequest, title: str, label: str) -> None:
    """Draw the button that starts a panel's work, and how far it has come."""
    if jobs.has_just_ended(page.session, panel):
        page.redraw()
    going = jobs.is_active(jobs.latest_job_status(page.session, panel))
    if page.button(label, f"extrapolation.start.{panel}", look="primary", disabled=going):
        try:
            extrapolated.start_measurement(page.session, panel, request, title)
        except ValueError as error:
            page.note(page.t("refused_run", detail=escaped_markdown(error, 300)), "error")
        else:
            page.redraw()
    draw_job_progress(page, panel)


def draw_job_progress(page: PageFrame, panel: str) -> None:
    """Draw how far a panel's work is: its place in the queue, its progress, its end."""
    state = jobs.latest_job_status(page.session, panel)
    if state is None:
        return
    if jobs.is_active(state):
        if state.state == "waiting":
            page.write(page.t("waiting", ahead=jobs.jobs_ahead(state)))
        else:
            page.progress(
                state.progress or 0.0, words.job_progress_text(state.progress, state.eta, state.seconds, page.t)
            )
        page.button(page.t("cancel"), f"extrapolation.cancel.{panel}", jobs.cancel_job, page.session, panel)
    elif state.state == "failed":
        page.note(page.t("failed", detail=escaped_markdown(state.error, 300), seconds=f"{state.seconds:.0f}"), "error")
    elif state.state == "cancelled":
        page.note(page.t("cancelled"))


def draw_experiment(page: PageFrame, panel: str, draw: DrawResults, **settings: object) -> None:
    """Draw one experiment: what was measured here for these settings, else the shipped record; the way to measure."""
    request, own = extrapolated.panel_request(panel, **settings), extrapolated.PANELS[panel]
    seen = extrapolated.measured_results(page.session, panel, request) or extrapolated.combined_shipped_results(
        own.record, *own.beside
    )
    if seen is None:
        draw_missing_record_note(page, panel)
    else:
        draw(seen)
        draw_provenance(page, seen)
    if extrapolated.is_measuring_allowed() and extrapolated.shipped_rotary_models()[0]:
        draw_measure_button(page, panel, request, page.t(f"panel.{panel}"), page.t("measure_here"))


def show_figure_if_any(page: PageFrame, drawing: Drawing | None, *code: RecipeFunction) -> None:
    """Show a figure where there is one."""
    if drawing is not None:
        page.show(drawing, *code)
