"""What a model's config really makes of RoPE, what is wrong with it, and what other programs make of it."""

import streamlit as st

import rope_core as rc
from rope_core.checks import engines, report
from rope_core.checks import extend as extend_config
from rope_core.checks import schemas as convert_config
from rope_core.hf import anatomy
from ui.figures.config import compare as comparison
from ui.figures.config import parts as figures
from ui.page import configs, models
from ui.page.fields import LEN_STEPS, MAX_LEN
from ui.page.frame import Page, plain
from ui.page.state import Field
from ui.text.words import markdown_table

MODEL = Field("model", "choice", "gpt-oss-20b", choices=models.ids())
HUB = Field("hub", "text", "")
LAYER = Field("layer", "text", "")
LENGTH = Field("length", "int", None, 1, MAX_LEN, steps=LEN_STEPS, optional=True)
QUANTITY = Field("show", "choice", "wavelength", choices=figures.QUANTITIES)
VERSION = Field("transformers", "choice", "5.23", choices=("5.23", "4.57"))
OTHER = Field("other", "choice", "deepseek-r1", choices=models.ids())
WANTED = Field("want", "int", None, 1, MAX_LEN, steps=configs.WANTED_STEPS, optional=True)
SHOWN_FINDINGS = 40
MANY = 4
LOOKS = {"error": ("red", "error"), "warning": ("orange", "warning"), "note": ("blue", "info")}

page = Page("config", MODEL, HUB, LAYER, LENGTH, QUANTITY, VERSION, OTHER, WANTED, geometry=False)
t, get = page.t, page.get
source = configs.Source(page.store, MODEL, HUB, (LAYER, LENGTH))


def layer_of(view: configs.View) -> str | None:
    """The layer type in force: the one chosen, else the first; None where all are alike."""
    found, chosen = configs.kinds(view.config), get(LAYER)
    if chosen and chosen not in found:
        page.store.notes.append(("layer_unknown", {"given": chosen}))
        page.store.put(LAYER, "")
    return chosen if chosen in found else next(iter(found), None)


view = source.view()
layer = layer_of(view)
plain_rope = configs.attempt(rc.from_hf, view.config, layer)


def at_length() -> rc.HfRope | str:
    """The rotation at the length in use, where it follows one."""
    if isinstance(plain_rope, str) or not anatomy.follows_length(plain_rope):
        return plain_rope
    return configs.attempt(rc.from_hf, view.config, layer, get(configs.length_field(LENGTH, plain_rope)) or None)


drawn, version = at_length(), get(VERSION)


def findings() -> list[rc.Finding]:
    """What the check says of the layer type in view."""
    return rc.check(view.config, get(VERSION), layer, get(LENGTH))


def head() -> None:
    """Where the config comes from, and which of its layer types is shown."""
    said = source.said()
    told = plain(said, 400) if said else None
    left, middle, right = st.columns([3, 3, 3], vertical_alignment="bottom")
    if not page.controls.hides(MODEL):
        with left:
            source.menu(t)
    if not page.controls.hides(HUB):
        with middle, st.popover(t("ways"), width="stretch"):
            source.ways(t, told)
    with right:
        page.bar()
    if told:
        st.error(t("kept", detail=told))
    if view.kind != "model":
        name = f" ({plain(view.name)})" if view.name else ""
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{t(f'shown.{view.kind}')}{name}")
            st.button(t("back"), on_click=source.forget, key="config.back")
    found = configs.kinds(view.config)
    if found:
        kind = Field(LAYER.name, "choice", found[0], choices=found)
        if len(found) > MANY:
            page.controls.select(kind, str)
        else:
            page.controls.segments(kind, plain)


def badges() -> None:
    """How many findings there are of each severity."""
    counts = figures.severities(findings())
    with st.container(horizontal=True, gap="small"):
        for severity, count in counts.items():
            colour, icon = LOOKS[severity]
            st.badge(t(f"count.{severity}", count=count), icon=f":material/{icon}:", color=colour)
        if not counts:
            st.badge(t("count.clean"), icon=":material/check_circle:", color="green")


def top() -> None:
    """The config at a glance."""
    head()
    if source.view() != view or layer_of(view) != layer:
        st.rerun()
    rope = at_length()
    if rope != drawn and not same_length(rope):
        st.rerun()
    badges()
    if isinstance(rope, str):
        st.error(t("unbuildable", detail=plain(rope, 400)))
        return
    st.markdown(figures.summary(rope, t))
    if anatomy.follows_length(rope):
        page.controls.slider(configs.length_field(LENGTH, rope))
    page.show(figures.glance(rope, get(QUANTITY), view.where, t), figures.glance, anatomy.regions, rc.from_hf)
    page.controls.segments(QUANTITY)


def same_length(rope: rc.HfRope | str) -> bool:
    """Whether the rest of the page was drawn at the same length."""
    return not isinstance(rope, str) and not isinstance(drawn, str) and rope.seq_len == drawn.seq_len


def card(one: rc.Finding) -> None:
    """One finding: severity, what, why with its numbers, what to change, where it is known from."""
    colour, icon = LOOKS[one.severity]
    with st.container(border=True):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.badge(t(f"severity.{one.severity}"), icon=f":material/{icon}:", color=colour)
            st.markdown(f"**{plain(one.title(t.lang), 300)}**")
        st.markdown(plain(one.why(t.lang), 1200))
        st.markdown(f"→ {plain(one.change(t.lang), 600)}")
        of_layer = t("of_layer", layer=plain(one.layer_type)) if one.layer_type else ""
        known = f"[{t('known_from')}]({one.source})" if one.source.startswith("http") else plain(one.source, 200)
        st.caption(f"{t('field_label')} {plain(one.field, 120)}{of_layer} · {known}")


def cards() -> None:
    """All findings, the gravest first."""
    page.prose("findings")
    page.controls.segments(VERSION, str)
    if get(VERSION) != version:
        st.rerun()
    found = findings()
    for one in found[:SHOWN_FINDINGS]:
        card(one)
    if not found:
        st.success(t("no_findings"))
    if len(found) > SHOWN_FINDINGS:
        st.info(t("more_findings", shown=SHOWN_FINDINGS, total=len(found)))


def table(columns: dict[str, list[str]]) -> None:
    """Columns of foreign text as a table that a screen reader and a narrow phone can read."""
    st.markdown(
        markdown_table({plain(head, 200): [plain(cell, 200) for cell in column] for head, column in columns.items()})
    )


def parts(rope: rc.HfRope) -> None:
    """Where each value comes from, the ramp, cached keys, layers and axes."""
    page.prose("provenance")
    table(figures.provenance(rope, t))
    ramp = figures.ramp(rope, view.where, t)
    if ramp:
        page.prose("ramp")
        page.show(ramp, figures.ramp, anatomy.ramp, anatomy.share)
    if anatomy.follows_length(rope):
        page.prose("drift")
        page.show(figures.drift(rope, rope.seq_len, view.where, t), figures.drift, anatomy.key_drift)
    layers = figures.layers(rope, anatomy.layer_count(view.config), view.where, t)
    if layers:
        page.prose("layers")
        page.show(layers, figures.layers)
    axes = figures.sections(rope, view.where, t)
    if axes:
        page.prose("sections")
        page.show(axes, figures.sections, anatomy.axes)


def programs(rope: rc.HfRope) -> None:
    """The same config in six programs."""
    page.prose("engines")
    found = configs.attempt(engines.engines, view.config, layer, rope.seq_len)
    if isinstance(found, str):
        st.info(plain(found, 400))
        return
    page.show(comparison.engines(found, rope, view.where, t), comparison.engines, engines.engines)
    table(comparison.engine_table(found, t))
    for name, sentence in comparison.engine_notes(found, t):
        st.markdown(f"- **{plain(name)}**{t('colon')}{plain(sentence, 600)}")


def extended() -> None:
    """The blocks that reach a wanted length, and what each costs."""
    page.prose("extend")
    field = None if isinstance(drawn, str) else configs.wanted_field(WANTED, view.config)
    if isinstance(drawn, str) or field is None:
        st.info(t("no_way"))
        return
    page.controls.slider(field)
    found = configs.attempt(extend_config.extend, view.config, get(field) or field.default)
    if isinstance(found, str) or not found:
        st.info(plain(found, 400) if found else t("no_way"))
        return
    if already := extend_config.present(view.config, t.lang):
        st.info(already)
    drawing = comparison.extensions(found, drawn, get(field) or field.default, view.where, t)
    page.show(drawing, comparison.extensions, extend_config.extend)
    table(comparison.costs(found, t))
    for tab, way in zip(st.tabs([way.title(t.lang) for way in found]), found, strict=True):
        with tab:
            known = f" [{t('known_from')}]({way.source})" if way.source else ""
            st.markdown(f"{plain(way.cost(t.lang), 600)}{known}")
            st.markdown("\n".join(f"- {plain(change.sentence(t.lang))}" for change in way.changed))
            new, old = st.columns(2)
            with new:
                st.markdown(f"**{t('schema.5')}**")
                st.code(configs.as_json(way.block), language="json")
            with old:
                st.markdown(f"**{t('schema.4')}**")
                st.code(configs.as_json(way.old_block) if way.old_block else t("no_old_block"), language="json")
    st.caption(extend_config.fixes()["searched"][t.lang])


def compared() -> None:
    """This config beside a model of the catalogue."""
    page.prose("compare")
    page.controls.select(OTHER, models.name)
    length = None if isinstance(drawn, str) else drawn.seq_len
    other = configs.counterpart(get(OTHER), layer, length)
    if isinstance(other, str) or isinstance(drawn, str):
        st.info(t("not_compared"))
        return
    names = configs.label(view, t), models.name(get(OTHER))
    rows = configs.attempt(convert_config.compare, view.config, rc.model(get(OTHER)).hf_config(), length)
    if isinstance(rows, str):
        st.info(plain(rows, 400))
        return
    page.show(comparison.overlay(drawn, other, names, rows, t), comparison.overlay, convert_config.compare)
    table(comparison.differences(rows, names, t))


def conversion() -> None:
    """The same config in both schemas."""
    page.prose("convert")
    ways = (4, convert_config.to_v4), (5, convert_config.to_v5)
    for column, (version, convert) in zip(st.columns(2), ways, strict=True):
        with column:
            made = configs.attempt(convert, view.config)
            st.markdown(f"**{t(f'schema.{version}')}**")
            if isinstance(made, str):
                st.info(t("not_converted", detail=plain(made, 400)))
                continue
            st.code(configs.as_json(configs.rope_part(made)), language="json", height=260)
            st.download_button(
                t("download_config"),
                configs.as_json(made),
                file_name="config.json",
                mime="application/json",
                key=f"config.v{version}",
                on_click="ignore",
            )


def handed_on() -> None:
    """The check as one file, for a reader without this page."""
    page.prose("report")
    asked = view.config, version, get(LENGTH), t.lang
    with st.container(horizontal=True):
        st.download_button(
            t("report_html"),
            lambda: report.report_html(*asked, name=configs.label(view, t)),
            file_name="rope-report.html",
            mime="text/html",
            key="config.report.html",
            on_click="ignore",
        )
        st.download_button(
            t("report_json"),
            lambda: report.report_json(*asked),
            file_name="rope-report.json",
            mime="application/json",
            key="config.report.json",
            on_click="ignore",
        )


page.live(top)
page.prose("why")
page.live(cards)
if not isinstance(drawn, str):
    parts(drawn)
    programs(drawn)
    page.live(extended)
    page.live(compared)
    conversion()
handed_on()
page.prose("questions")
