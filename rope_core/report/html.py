"""A config's check as one file to hand to a colleague: self-contained HTML with figures, or the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from typing import Any

import numpy as np

from rope_core.checks.check import check
from rope_core.errors import ConfigError
from rope_core.findings import finding_record, sanitized_text, to_json_value, value_text
from rope_core.hf.resolve import ResolvedConfig, resolve
from rope_core.hf.ropes import HfRope
from rope_core.languages import words
from rope_core.programs.engines import engine_evidence_sentence, engine_sentences, engines
from rope_core.report.svg import ChartCurve, svg_line_chart

STYLE = (
    "body{font:16px/1.5 system-ui,'Noto Sans CJK SC',sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2rem}"
    "table{border-collapse:collapse;width:100%;font-size:.95rem}td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem;"
    "text-align:left;vertical-align:top}td{overflow-wrap:anywhere}.error,.warning,.note{white-space:nowrap}.error{color:#a40000;font-weight:700}"
    ".warning{color:#8a4b00;font-weight:700}.note{color:#005a9c}code{background:#f2f2f2;padding:0 .2rem}"
    "pre{background:#f6f6f6;padding:1rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}svg{max-width:100%}"
)
MOST_POINTS = 512
FIELDS = (
    ("layout", "layout"),
    ("head_dim", "head_dim"),
    ("rotary_dim", "rotary_dim"),
    ("base", "base"),
    ("rope_type", "scheme"),
    ("train_len", "train_len"),
    ("max_len", "max_len"),
    ("attention_factor", "attention_factor"),
    ("logit_scale", "logit_scale"),
)


def report_json(config: object, transformers: str = "5.24", seq_len: int | None = None, lang: str = "en") -> str:
    """Return the check as JSON text: config, findings, what each layer type does, engines.

    Raises ConfigError on what is no config, ValueError on another version or language.
    """
    return json.dumps(report_record(config, transformers, seq_len, lang), ensure_ascii=False, indent=1, allow_nan=False)


def report_record(config: object, transformers: str, seq_len: int | None, lang: str) -> dict[str, Any]:
    """Everything that the report says, as JSON can hold it."""
    findings = check(config, transformers, None, seq_len)
    resolved = resolve(config)
    return {
        "transformers": transformers,
        "seq_len": seq_len,
        "findings": [finding_record(each, lang) for each in findings],
        "layers": [layer_record(rope) for rope in buildable_ropes(resolved, seq_len)],
        "engines": [{"layer_type": kind, **as_engine(each, lang)} for kind, each in every_engine(resolved, seq_len)],
        "config": to_json_value(resolved.raw),
    }


def buildable_ropes(config: ResolvedConfig, seq_len: int | None) -> list[HfRope]:
    """Return what each layer type does; empty where transformers could not build it, which the findings say."""
    try:
        return [*config.text.ropes(seq_len).values()]
    except ConfigError:
        return []


def every_engine(config: ResolvedConfig, seq_len: int | None) -> list[tuple[str | None, Any]]:
    """Return the engines of each layer type; empty where there is no geometry to compare."""
    try:
        return [(kind, engine) for kind in config.text.layer_type_names for engine in engines(config, kind, seq_len)]
    except ConfigError:
        return []


def layer_record(rope: HfRope) -> dict[str, Any]:
    """One layer type, its frequencies included."""
    fields = {name: getattr(rope, name) for name, _ in FIELDS}
    fields |= {"layer_type": rope.layer_type, "nope": rope.nope, "nope_layers": rope.nope_layers}
    fields |= {"mrope_section": rope.mrope_section, "params": dict(rope.params), "ignored": rope.ignored}
    fields |= {"inv_freq": rope.inv_freq.tolist(), "unscaled": rope.unscaled.tolist()}
    fields["provenance"] = {name: asdict_of(origin) for name, origin in rope.provenance.items()}
    return to_json_value(fields)  # type: ignore[no-any-return]


def asdict_of(origin: Any) -> dict[str, Any]:
    return {**asdict(origin), "values": dict(origin.values)}


def as_engine(engine: Any, lang: str) -> dict[str, Any]:
    """One engine's answer with its sentences."""
    inv_freq = None if engine.inv_freq is None else engine.inv_freq.tolist()
    plain = {
        "name": engine.name,
        "inv_freq": inv_freq,
        "attention_factor": engine.attention_factor,
        "logit_scale": engine.logit_scale,
        "layout": engine.layout,
        "difference": engine.difference,
        "refused": engine.refused is not None,
        "status": engine.status,
        "basis": engine_evidence_sentence(engine.name, lang),
        "said": engine_sentences(engine, lang),
    }
    return to_json_value(plain)  # type: ignore[no-any-return]


def report_html(
    config: object,
    transformers: str = "5.24",
    seq_len: int | None = None,
    lang: str = "en",
    name: str = "config.json",
) -> str:
    """Return the check as one HTML page without scripts and without anything loaded from elsewhere.

    Args:
        config: a dict, a path, or a transformers config object.
        transformers: the version that reads it.
        seq_len: the length in use, tokens.
        lang: one of rope_core.languages.LANGUAGES.
        name: what the page calls the config; escaped like everything that comes from outside.

    Raises ConfigError on what is no config, ValueError on another version or language.
    """
    whole = report_record(config, transformers, seq_len, lang)
    t = words(lang, "report")
    parts = [f"<h1>{t['title']}: {html_text(name)}</h1><p>transformers {html_text(transformers)}</p>"]
    parts += [f"<h2>{t['findings']}</h2>", findings_html(whole["findings"], t)]
    for rope in buildable_ropes(resolve(config), seq_len):
        title = t["does"] + (f": {html_text(rope.layer_type)}" if rope.layer_type else "")
        parts += [f"<h2>{title}</h2>", layer_html(rope, t)]
        if not rope.nope:
            parts.append(f"<figure>{wavelength_svg(rope, t)}<figcaption>{t['figure']}</figcaption></figure>")
    if whole["engines"]:
        parts += [f"<h2>{t['engines']}</h2>", engines_html(whole["engines"], t)]
    shown_config = json.dumps(whole["config"], ensure_ascii=False, indent=1)
    parts += [f"<h2>{t['config']}</h2>", f"<pre>{escape(shown_config[:200_000])}</pre>"]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f'<meta name="viewport" content="width=device-width"><title>{t["title"]}</title><style>{STYLE}</style>'
    )
    page_lang = words(lang, "language")["locale"]
    page = f'<!DOCTYPE html><html lang="{page_lang}"><head>{head}</head><body>{"".join(parts)}</body></html>\n'
    return page.encode("utf-8", "replace").decode("utf-8")


def html_text(value: object) -> str:
    """Anything, as text of the page: plain, cut, escaped."""
    return escape(sanitized_text(value) if isinstance(value, str) else value_text(value))


def html_row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def html_header_row(*cells: str) -> str:
    return "<tr>" + "".join(f'<th scope="col">{cell}</th>' for cell in cells) + "</tr>"


def findings_html(findings: list[dict[str, Any]], t: Mapping[str, str]) -> str:
    """Return the findings as a table, gravest first."""
    if not findings:
        return f"<p>{t['none']}</p>"
    rows = []
    for each in findings:
        where = f"<code>{html_text(each['field'])}</code> {html_text(each['layer_type']) if each['layer_type'] else ''}"
        words = f"<b>{html_text(each['title'])}</b><br>{escape(each['why'])}<br>{escape(each['change'])}"
        source = f'<br><a href="{escape(each["source"])}" rel="noreferrer">{escape(each["source"])}</a>'
        severity = f'<span class="{each["severity"]}">{t[each["severity"]]}</span>'
        rows.append(html_row(severity, where, words + source))
    return f"<table>{''.join(rows)}</table>"


def layer_html(rope: HfRope, t: Mapping[str, str]) -> str:
    """Return what one layer type does, and where each value came from."""
    rows = [html_header_row(t["field"], t["value"], t["origin"])]
    values = [(name, getattr(rope, name), rope.provenance.get(key)) for name, key in FIELDS]
    values += [(name, value, rope.provenance.get(name)) for name, value in rope.params.items()]
    values += [("nope_layers", rope.nope_layers or None, rope.provenance.get("nope_layers"))]
    values += [("mrope_section", rope.mrope_section, None)]
    for name, value, origin in values:
        where = f"{t[origin.source]} (<code>{html_text(origin.path)}</code>)" if origin else ""
        if value is not None:
            rows.append(html_row(f"<code>{name}</code>", html_text(value), where))
    return f"<table>{''.join(rows)}</table>"


def wavelength_svg(rope: HfRope, t: Mapping[str, str]) -> str:
    """Return the wavelength of each pair as SVG: unscaled, as it runs where it turns, and the trained length."""
    pairs = np.arange(0, rope.inv_freq.size, max(1, rope.inv_freq.size // MOST_POINTS))
    with np.errstate(divide="ignore"):
        plain, runs = (2.0 * np.pi / each[pairs] for each in (rope.unscaled, rope.inv_freq))
    trained = np.full(pairs.size, float(rope.train_len))
    curves = (("unscaled", 0, plain), ("runs", 6, runs), ("trained", 1, trained))
    series = [ChartCurve(t[name], colour, pairs.tolist(), values.tolist()) for name, colour, values in curves]
    return svg_line_chart(series, t["pair"], f"{t['figure']}: {rope.inv_freq.size}; {rope.train_len}")


def engine_difference_text(engine: Mapping[str, Any], t: Mapping[str, str]) -> str:
    """Return an engine's distance from transformers 5.24 in per cent, or why there is none."""
    if engine["refused"]:
        return t["not_supported" if engine["status"] == "not_supported" else "refused"]
    difference = engine["difference"]
    if difference is None:
        return "-"
    percent = 100.0 * float(difference)
    return t["width"] if difference == "inf" else f"{percent:,.0f} %" if percent >= 100 else f"{percent:.3g} %"


def engines_html(engines: list[dict[str, Any]], t: Mapping[str, str]) -> str:
    """Return the engine table."""
    rows = [html_header_row(t["layers"], t["engine"], t["difference"], t["attention"], t["said"], t["basis"])]
    for engine in engines:
        who = html_text(engine["layer_type"] or t["all"]), html_text(engine["name"])
        notes = escape("; ".join(sanitized_text(line) for line in engine["said"]))
        rows.append(
            html_row(
                *who,
                engine_difference_text(engine, t),
                html_text(engine["attention_factor"]),
                notes,
                html_text(engine["basis"]),
            )
        )
    return f"<table>{''.join(rows)}</table>"


__all__ = ["report_html", "report_json"]
