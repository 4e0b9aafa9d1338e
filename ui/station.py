"""What a page draws around long work: what was measured and where, the button that starts it, how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rope_core.lab.results import ExperimentRequest, ExperimentResults
from ui.figures.drawing import Drawing
from ui.figures.extrapolation import words
from ui.page.frame import PageFrame
from ui.page.state import Field
from ui.text.escape import plain
from ui.work import extrapolated, jobs
from ui.work.extrapolated import DrawResults, RecipeFunction

DrawField = Callable[[Field], Any]


def where(page: PageFrame, seen: ExperimentResults) -> None:
    """Say where results come from."""
    page.caption(words.provenance(seen, page.t))


def missing(page: PageFrame, panel: str) -> None:
    """Say that nothing was recorded, and what records it."""
    page.note(page.t("not_recorded"))
    page.code(extrapolated.command(panel), "bash")


def able(page: PageFrame) -> bool:
    """Whether anything can be measured here; say why not where it cannot."""
    if not extrapolated.allowed():
        page.note(page.t("off"))
        return False
    if not extrapolated.models()[0]:
        page.note(page.t("no_weights"))
        return False
    return True


def button(page: PageFrame, panel: str, request: ExperimentRequest, title: str, label: str) -> None:
    """Draw the button that starts a panel's work, and how far it has come."""
    if jobs.ended(page.session, panel):
        page.redraw()
    going = jobs.active(jobs.latest(page.session, panel))
    if page.button(label, f"extrapolation.start.{panel}", look="primary", off=going):
        try:
            extrapolated.start(page.session, panel, request, title)
        except ValueError as error:
            page.note(page.t("refused_run", detail=plain(error, 300)), "error")
        else:
            page.redraw()
    watch(page, panel)


def watch(page: PageFrame, panel: str) -> None:
    """Draw how far a panel's work is: its place in the queue, its progress, its end."""
    state = jobs.latest(page.session, panel)
    if state is None:
        return
    if jobs.active(state):
        if state.state == "waiting":
            page.write(page.t("waiting", ahead=jobs.before(state)))
        else:
            page.progress(state.progress or 0.0, words.progress_text(state.progress, state.eta, state.seconds, page.t))
        page.button(page.t("cancel"), f"extrapolation.cancel.{panel}", jobs.cancel, page.session, panel)
    elif state.state == "failed":
        page.note(page.t("failed", detail=plain(state.error, 300), seconds=f"{state.seconds:.0f}"), "error")
    elif state.state == "cancelled":
        page.note(page.t("cancelled"))


def station(page: PageFrame, panel: str, draw: DrawResults, **settings: object) -> None:
    """Draw one experiment: what was measured here for these settings, else the shipped record; the way to measure."""
    request, own = extrapolated.panel_request(panel, **settings), extrapolated.PANELS[panel]
    seen = extrapolated.seen(page.session, panel, request) or extrapolated.seen_together(own.record, *own.beside)
    if seen is None:
        missing(page, panel)
    else:
        draw(seen)
        where(page, seen)
    if extrapolated.allowed() and extrapolated.models()[0]:
        button(page, panel, request, page.t(f"panel.{panel}"), page.t("measure_here"))


def maybe(page: PageFrame, drawing: Drawing | None, *code: RecipeFunction) -> None:
    """Show a figure where there is one."""
    if drawing is not None:
        page.show(drawing, *code)
