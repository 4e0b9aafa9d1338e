"""What a model's config really makes of RoPE, what is wrong with it, and what other programs make of it."""

import rope_core as rc
from rope_core.extension import extend as extend_config
from rope_core.hf import anatomy
from rope_core.hf import schemas as convert_config
from rope_core.languages import words
from rope_core.programs import engines
from rope_core.report import html as report
from ui.figures import catalogue as models
from ui.figures.config import compare as comparison
from ui.figures.config import parts as figures
from ui.figures.config import promise
from ui.figures.config.rotations import rotation_table
from ui.page import configs, fields
from ui.page.fields import LEN_STEPS, MAX_LEN
from ui.page.frame import PageFrame
from ui.page.sentences import refusal_sentence
from ui.page.state import Field
from ui.page.tasks import ChoiceQuestion
from ui.text.escape import escaped_markdown
from ui.text.words import markdown_table

CLAIM_IN_FILM = True
STEPS = fields.beat_field(2)
MODEL = Field("model", "choice", configs.OPENED, choices=models.model_ids())
HUB = Field("hub", "text", "")
LAYER = Field("layer", "text", "")
LENGTH = Field("length", "int", None, 1, MAX_LEN, steps=LEN_STEPS, optional=True)
QUANTITY = Field("show", "choice", "wavelength", choices=figures.QUANTITIES)
VERSION = Field("transformers", "choice", "5.24", choices=("5.24", "4.57"))
OTHER = Field("other", "choice", "deepseek-r1", choices=models.model_ids())
TIMES = Field("times", "float", None, 1.0, 1024.0, optional=True)
TRAINED = Field("trained", "int", None, 16, MAX_LEN, optional=True)
WANTED = Field("want", "int", None, 1, MAX_LEN, steps=configs.WANTED_STEPS, optional=True)
ALL = Field("all", "bool", False)
SHOWN_FINDINGS = 40
MANY = 4
LOOKS = {"error": ("red", "error"), "warning": ("orange", "warning"), "note": ("blue", "info")}

SLOWER = ChoiceQuestion("slower", "b", ((TIMES, 64.0), (STEPS, 1)))
TASKS = (SLOWER,)
FIELDS = (STEPS, MODEL, HUB, LAYER, LENGTH, QUANTITY, VERSION, ALL, OTHER, WANTED, TIMES, TRAINED)


def source_of(page: PageFrame) -> configs.ConfigChooser:
    """Where the config comes from."""
    return configs.ConfigChooser(page, MODEL, HUB, (LAYER, LENGTH))


def layer_of(page: PageFrame, view: configs.NamedConfig) -> str | None:
    """Return the layer type in force: the one chosen, else the first; None where all are alike."""
    types, chosen = configs.differing_layer_types(view.config), page.get(LAYER)
    if chosen and chosen not in types:
        page.store.notes.append(("layer_unknown", {"given": chosen}))
        page.store.put(LAYER, "")
    return chosen if chosen in types else next(iter(types), None)


def shown(page: PageFrame) -> configs.ConfigPageState:
    """Return what the values in force show: the rotation at the length in use, where it follows one."""
    view = source_of(page).view()
    layer, version = layer_of(page, view), page.get(VERSION)
    try:
        rope = rc.from_hf(view.config, layer)
        if anatomy.is_length_dependent(rope):
            rope = rc.from_hf(view.config, layer, page.get(configs.length_field_past_training(LENGTH, rope)) or None)
    except ValueError as error:
        return configs.ConfigPageState(view, layer, version, page.get(ALL), None, error)
    return configs.ConfigPageState(view, layer, version, page.get(ALL), rope)


def findings(page: PageFrame, of: configs.ConfigPageState) -> list[rc.Finding]:
    """Return what the check says of the layer type in view."""
    return rc.check(of.view.config, page.get(VERSION), of.layer, page.get(LENGTH), everything=page.get(ALL))


def head(page: PageFrame, of: configs.ConfigPageState) -> None:
    """Where the config comes from, and which of its layer types is shown."""
    t, source = page.t, source_of(page)
    error = source.pop_refusal()
    refused = reason(error, page) if error else ""
    left, right = page.columns(1, 1, level=True)
    with left:
        page.controls.select(MODEL, models.model_name, after=source.forget_own_config)
    if not page.controls.is_hidden(HUB):
        with right, page.details(t("ways"), "config.ways", lazy=False):
            if refused:
                page.note(refused, "error")
            source.draw_config_inputs()
    if refused:
        page.note(t("kept", detail=refused), "error")
    if of.view.kind != "model":
        name = f" ({escaped_markdown(of.view.name)})" if of.view.name else ""
        with page.row():
            page.write(f"{t(f'shown.{of.view.kind}')}{name}")
            page.button(t("back"), "config.back", source.forget_own_config)
    types = configs.differing_layer_types(of.view.config)
    if types:
        kind = Field(LAYER.name, "choice", types[0], choices=types)
        if len(types) > MANY:
            page.controls.select(kind, str)
        else:
            page.controls.segments(kind, escaped_markdown)


def reason(error: ValueError, page: PageFrame) -> str:
    """Why something is refused, as harmless Markdown."""
    return escaped_markdown(refusal_sentence(error, page.t), 400)


def verdict(page: PageFrame, of: configs.ConfigPageState) -> None:
    """Say what the config does in plain sentences, then the gravest finding, then how many there are."""
    t, listed = page.t, findings(page, of)
    counts = figures.finding_counts_by_severity(listed)
    if of.rope is not None:
        readings = programs_of(of, of.rope)
        page.write(f"**{figures.plain_summary(of.rope, counts, comparison.differing_engine_names(readings), t)}**")
    with page.row():
        for severity, count in counts.items():
            colour, icon = LOOKS[severity]
            page.badge(t(f"count.{severity}", count=count), icon, colour)
        if not listed:
            page.badge(t("count.clean"), "check_circle", "green")
        elif listed[0].severity != "note":
            page.write(f"[{escaped_markdown(listed[0].title(t.lang), 300)}](#findings)")


def programs_of(of: configs.ConfigPageState, rope: rc.HfRope) -> list[engines.EngineResult]:
    """Return what each program makes of the config; empty where the config cannot be read."""
    try:
        return list(engines.engines(of.view.config, of.layer, rope.seq_len))
    except ValueError:
        return []


def lead(page: PageFrame, of: configs.ConfigPageState) -> None:
    """Draw whether the factor keeps the config's promise, else every pair at a glance."""
    rope = of.rope
    if rope is None:
        page.write(page.t("claim"))
    elif promise.has_changeable_factor(rope):
        length = promise.promised_length(rope, [finding.key for finding in findings(page, of)])
        own = page.get(TIMES), page.get(TRAINED), length
        start, factors, lengths = configs.factor_and_length_stops(of.view, rope.request, *own)
        name = configs.config_label(of.view, page.t)
        film = promise.promised_length_film(rope.request, length, name, start, factors, lengths, page.t)
        ask = SLOWER if of.view.name == configs.OPENED else None
        page.show(film, promise.promised_length_film, anatomy.request_pair_effects, ask=ask)
    else:
        if anatomy.is_length_dependent(rope):
            page.controls.slider(configs.length_field_past_training(LENGTH, rope))
        glance(page, of, rope)


def top(page: PageFrame, drawn: configs.ConfigPageState) -> None:
    """Draw which config is in view and what it does; ``drawn``: what the other parts show."""
    head(page, drawn)
    now = shown(page)
    if (now.view, now.layer) != (drawn.view, drawn.layer) or length_of(now) != length_of(drawn):
        page.redraw()
    verdict(page, now)
    rope = now.rope
    if rope is None:
        page.note(page.t("unbuildable", detail=reason(now.trouble, page) if now.trouble else ""), "error")
    elif promise.has_changeable_factor(rope):
        page.draw_folded_section("glance", lambda page: glance(page, now, rope))
    if rope is not None:
        page.caption(figures.rotation_summary(rope, page.t))


def glance(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """Every pair before and after the scheme."""
    drawing = figures.pair_overview_chart(rope, page.get(QUANTITY), of.view.python_expression, page.t)
    page.show(drawing, figures.pair_overview_chart, anatomy.pair_effects, rc.from_hf)
    page.controls.segments(QUANTITY)


def length_of(of: configs.ConfigPageState) -> int | None:
    """Return the length in use; None where no rotation can be built."""
    return of.rope.seq_len if of.rope else None


def card(page: PageFrame, finding: rc.Finding) -> None:
    """One finding: severity, what, why with its numbers, what to change, where it is known from."""
    t = page.t
    colour, icon = LOOKS[finding.severity]
    with page.card():
        with page.row():
            page.badge(t(f"severity.{finding.severity}"), icon, colour)
            page.write(f"**{escaped_markdown(finding.title(t.lang), 300)}**")
        page.write(escaped_markdown(finding.why(t.lang), 1200))
        page.write(f"→ {escaped_markdown(finding.change(t.lang), 600)}")
        of_layer = t("of_layer", layer=escaped_markdown(finding.layer_type)) if finding.layer_type else ""
        link = finding.source.startswith("http")
        known = f"[{t('known_from')}]({finding.source})" if link else escaped_markdown(finding.source, 200)
        page.caption(f"{t('field_label')} {escaped_markdown(finding.field, 120)}{of_layer} · {known}")


def cards(page: PageFrame, drawn: configs.ConfigPageState) -> None:
    """All findings, the gravest first."""
    page.write_section("findings")
    version, notes = page.columns(1, 3, level=True)
    with version:
        page.controls.segments(VERSION, str)
    with notes:
        page.controls.toggle(ALL)
    if (page.get(VERSION), page.get(ALL)) != (drawn.version, drawn.everything):
        page.redraw()
    listed = findings(page, drawn)
    for finding in listed[:SHOWN_FINDINGS]:
        card(page, finding)
    if not listed:
        page.note(page.t("no_findings"), "success")
    if len(listed) > SHOWN_FINDINGS:
        page.note(page.t("more_findings", shown=SHOWN_FINDINGS, total=len(listed)))


def table(page: PageFrame, columns: dict[str, list[str]]) -> None:
    """Columns of foreign text as a table that a screen reader and a narrow phone can read."""
    page.write(
        markdown_table(
            {
                escaped_markdown(head, 200): [escaped_markdown(cell, 200) for cell in column]
                for head, column in columns.items()
            }
        )
    )


def parts(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """Where each value comes from, the ramp, cached keys, layers and axes, each behind its title."""
    t, where = page.t, of.view.python_expression
    page.draw_folded_section_below("provenance", lambda page: table(page, figures.provenance_table(rope, t)))
    if ramp := figures.ramp_chart(rope, where, t):
        page.draw_folded_section_below(
            "ramp", lambda page: page.show(ramp, figures.ramp_chart, anatomy.ramp_bounds, anatomy.interpolation_share)
        )
    if anatomy.is_length_dependent(rope):
        page.draw_folded_section_below("drift", lambda page: drift(page, of, rope))
    if layers := figures.unrotated_layers_text(rope, anatomy.layer_count(of.view.config), t):
        page.draw_folded_section_below("layers", lambda page: page.write(layers))
    if axes := figures.axis_sections_text(rope, t):
        page.draw_folded_section_below("sections", lambda page: page.write(axes))


def drift(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """How far cached keys are off once the length in use has grown."""
    drawing = figures.cached_key_drift_chart(rope, rope.seq_len or rope.train_len, of.view.python_expression, page.t)
    page.show(drawing, figures.cached_key_drift_chart, anatomy.cached_key_angle_error)


def programs(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """Say which other programs turn the same config differently, and why; behind a fold, by how much."""
    t = page.t
    page.write_section("engines")
    try:
        readings = engines.engines(of.view.config, of.layer, rope.seq_len)
    except ValueError as error:
        page.note(reason(error, page))
        return
    page.write(f"**{escaped_markdown(comparison.differing_engines_sentence(readings, t), 600)}**")
    listing(page, comparison.engine_remarks(readings, t))

    def pairs(page: PageFrame) -> None:
        page.show(
            comparison.engine_frequency_chart(readings, rope, of.view.python_expression, t),
            comparison.engine_frequency_chart,
            engines.engines,
        )
        table(page, comparison.engine_table(readings, t))
        listing(page, engines.engines_left_out(t.lang))

    page.draw_folded_section("programs", pairs)


def listing(page: PageFrame, rows: list[tuple[str, str]]) -> None:
    """Write programs by name, with a sentence on each."""
    page.write(
        "\n".join(
            f"- **{escaped_markdown(name)}**{page.t('colon')}{escaped_markdown(sentence, 600)}"
            for name, sentence in rows
        )
    )


def extended(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """Draw the blocks that reach a wanted length and what each costs; behind a fold, what each does to every pair."""
    t = page.t
    page.write_section("extend")
    field = configs.wanted_length_field(WANTED, of.view.config)
    if field is None:
        page.note(t("no_way"))
        return
    page.controls.slider(field)
    wanted = page.get(field) or field.default
    try:
        ways = extend_config.extend(of.view.config, wanted)
    except ValueError as error:
        page.note(reason(error, page))
        return
    if not ways:
        page.note(t("no_way"))
        return
    if already := extend_config.existing_scaling_sentence(of.view.config, t.lang):
        page.note(already)
    table(page, comparison.extension_cost_table(ways, t))
    for tab, way in zip(page.tabs([way.title(t.lang) for way in ways]), ways, strict=True):
        with tab:
            known = f" [{t('known_from')}]({way.source})" if way.source else ""
            page.write(f"{escaped_markdown(way.cost(t.lang), 600)}{known}")
            page.write("\n".join(f"- {escaped_markdown(change.sentence(t.lang))}" for change in way.changed))
            new, old = page.columns(1, 1)
            with new:
                page.write(f"**{t('schema.5')}**")
                page.code(configs.config_to_json(way.block), "json")
            with old:
                page.write(f"**{t('schema.4')}**")
                page.code(configs.config_to_json(way.old_block) if way.old_block else t("no_old_block"), "json")
    page.caption(words(t.lang, "extension")["searched"]["cost"])

    def pairs(page: PageFrame) -> None:
        drawing = comparison.extension_slowdown_chart(ways, rope, wanted, of.view.python_expression, t)
        page.show(drawing, comparison.extension_slowdown_chart, extend_config.extend)

    page.draw_folded_section("extensions", pairs)


def compared(page: PageFrame, of: configs.ConfigPageState, rope: rc.HfRope) -> None:
    """Draw this config beside a model of the catalogue."""
    t = page.t
    page.controls.select(OTHER, models.model_name)
    other = page.get(OTHER)
    try:
        beside = configs.catalogue_rope(other, of.layer, rope.seq_len)
    except ValueError:
        page.note(t("not_compared"))
        return
    names = configs.config_label(of.view, t), models.model_name(other)
    try:
        rows = convert_config.compare_configs(of.view.config, rc.model(other).hf_config(), rope.seq_len)
    except ValueError as error:
        page.note(reason(error, page))
        return
    page.show(
        comparison.wavelength_overlay_chart(
            rope, beside, names, rows, (of.view.python_expression, f"rc.model({other!r}).hf_config()"), t
        ),
        comparison.wavelength_overlay_chart,
        convert_config.compare_configs,
    )
    table(page, comparison.config_difference_table(rows, names, t))


def conversion(page: PageFrame, of: configs.ConfigPageState) -> None:
    """Draw the same config in both schemas."""
    t = page.t
    ways = (4, convert_config.to_v4), (5, convert_config.to_v5)
    for column, (version, convert) in zip(page.columns(1, 1), ways, strict=True):
        with column:
            page.write(f"**{t(f'schema.{version}')}**")
            try:
                converted = convert(of.view.config)
            except ValueError as error:
                page.note(t("not_converted", detail=reason(error, page)))
                continue
            page.code(configs.config_to_json(configs.rope_fields(converted)), "json", 260)
            text, mime = configs.config_to_json(converted), "application/json"
            page.download(t("download_config"), text, "config.json", mime, f"config.v{version}")


def handed_on(page: PageFrame, of: configs.ConfigPageState) -> None:
    """Draw the check as one file, for a reader without this page."""
    t = page.t
    page.write_section("report")
    given, name = (of.view.config, of.version, page.get(LENGTH), t.lang), configs.config_label(of.view, t)
    html, json = (lambda: report.report_html(*given, name=name)), (lambda: report.report_json(*given))
    with page.row():
        page.download(t("report_html"), html, "rope-report.html", "text/html", "config.report.html")
        page.download(t("report_json"), json, "rope-report.json", "application/json", "config.report.json")


def body(page: PageFrame) -> None:
    """Draw the page, part by part."""
    drawn = shown(page)
    rope = drawn.rope
    page.draw_live_part(lead, drawn)
    page.draw_live_part(top, drawn)
    page.draw_live_part(cards, drawn)
    if rope:
        page.draw_live_part(programs, drawn, rope)
        page.draw_live_part(extended, drawn, rope)
    handed_on(page, drawn)
    page.draw_folded_section_below("why")
    if turning := rotation_table(drawn.view.config, rope, page.t):
        page.draw_folded_section_below("rotations", lambda page: table(page, turning))
    if rope:
        parts(page, drawn, rope)
        page.draw_folded_section_below("compare", lambda page: compared(page, drawn, rope))
        page.draw_folded_section_below("convert", lambda page: conversion(page, drawn))
    page.draw_folded_section_below("questions")
