"""The config check: from a Hugging Face config to findings, each with its numbers, and their sentences."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from rope_core.checks.case import LayerContext
from rope_core.checks.rules import geometry, keys, layers, lengths, origin, ramps, released, scale, traps, unread
from rope_core.checks.rules.refusals import config_error_finding
from rope_core.checks.rules.versions import find_fields_unread_by_4, find_release_faults, release_numbers
from rope_core.errors import ConfigError, RuleText, argument_error, checked_int
from rope_core.findings import SEVERITIES, VERSIONS, Finding, FindingPhrase, finding_texts, make_finding, sanitized_text
from rope_core.hf.axial import axial_ropes
from rope_core.hf.axial import undescribed_axial_parts as axes_unread
from rope_core.hf.fields import INDEXER, ModelFields, dict_at, sub_config
from rope_core.hf.parameters import RopeEntry
from rope_core.hf.read import parse_json_object
from rope_core.hf.read import read_config_bytes as read_text
from rope_core.hf.resolve import ResolvedConfig, ResolvedPart, resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import OLD
from rope_core.languages import words
from rope_core.rope import MAX_LEN

RULES = (
    *keys.RULES,
    *origin.RULES,
    *released.RULES,
    *unread.RULES,
    *lengths.RULES,
    *ramps.RULES,
    *geometry.RULES,
    *layers.RULES,
    *traps.RULES,
    *scale.RULES,
)
MOST = 20
# Releases of version 5 that are read as the last one is, with what they are known to compute otherwise.
RELEASES = frozenset(f"5.{minor}" for minor in range(23))
# What a config of a rotary model has, and what any model with attention has.
ROPE_FIELDS = frozenset(
    (*OLD, "head_dim", "qk_rope_head_dim", "original_max_position_embeddings", "rotary_dim", "rope_ratio")
)
HEADS = ("hidden_size", "num_attention_heads")
# Numbers of layers that predict ahead, and the parts of Omni models that make sound.
MTP = ("num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers")
VOCODERS = ("code2wav_config", "token2wav_config")
# Notes that hold for most models and are shown on request only.
ON_REQUEST = ("pairs_below_one_turn", "half_precision")


def check(
    config: object,
    transformers: str = "5.24",
    layer_type: str | None = None,
    seq_len: int | None = None,
    *,
    everything: bool = False,
) -> list[Finding]:
    """Return what is wrong with a config's rotary embedding, or worth knowing, the gravest first.

    Args:
        config: a dict, a path to config.json or its folder, or a transformers config object.
        transformers: the version that reads it, "4.57" or "5.24", or a release between, such as "5.9" or "5.9.1": what
            that one is known to compute otherwise than 5.24 is noted.
        layer_type: keep only findings on this layer type (and those on all).
        seq_len: the length to be used, tokens; findings on it are added.
        everything: with the notes of ON_REQUEST, which most models get.

    Raises:
        ConfigError: on what is no config at all: an unreadable file, no JSON, no object.
        ValueError: on another version, a layer type that the model lacks, or a seq_len that is no positive length.

    >>> scaling = {"rope_type": "yarn", "factor": 4.0, "attn_factor": 1.0, "original_max_position_embeddings": 32768}
    >>> config = {"model_type": "llama", "head_dim": 128, "hidden_size": 4096, "num_attention_heads": 32,
    ...           "rope_theta": 1e6, "max_position_embeddings": 131072, "rope_scaling": scaling}
    >>> check(config)[0].key
    'attn_factor_not_read'
    """
    release = ".".join(map(str, release_numbers(transformers) or (transformers,)))
    transformers = VERSIONS[-1] if release in RELEASES else release
    if transformers not in VERSIONS:
        raise argument_error("transformers", "one_of", transformers, names=(*VERSIONS, "5.0 ... 5.23"))
    if seq_len is not None:
        checked_int("seq_len", seq_len, 1, MAX_LEN)
    if isinstance(config, str | Path):
        return check_text(read_text(Path(config)), release, layer_type, seq_len, everything=everything)
    resolved = resolve(config)
    try:
        text = resolved.text
    except ConfigError as error:
        return list(_images(resolved.raw)) or [config_error_finding(error)]
    if nothing_turns(text.fields):
        return [make_finding("nothing_turns", "config")]
    if layer_type is not None:
        _known_type(text, layer_type)
    findings = list(_images(resolved.raw))
    read = resolved
    if transformers == VERSIONS[0]:
        findings += find_fields_unread_by_4(resolved)
        read = resolved.as_read_by_4
    new = {each.key for each in findings} & {"rope_parameters_not_read"}
    findings += (each for each in _rules(read, read.text, seq_len) if not (new and each.key.startswith("base_")))
    findings += _parts(resolved, seq_len)
    findings += [*_beside(read.text.fields), *unread.find_wrong_level_fields(resolved, read.text.fields)]
    if transformers == VERSIONS[-1]:
        findings += find_release_faults(text.fields, release if release in RELEASES else None)
    kept = [each for each in _merged(findings) if transformers in each.versions]
    if not everything:
        kept = [each for each in kept if each.key not in ON_REQUEST]
    if layer_type is not None:
        kept = [each for each in kept if each.layer_type in (None, layer_type)]
    return sorted_by_severity(kept)


def _images(data: Mapping[str, Any]) -> Iterator[Finding]:
    """Name the parts that turn by rows, columns and frames, and what each axis gets of a head."""
    try:
        for rope in axial_ropes(data).values():
            part = dict_at(data, f"{rope.place}." if rope.place else "")
            given = part.get("attention_head_dim")
            if isinstance(given, int) and not isinstance(given, bool) and given != rope.head_dim:
                widths = [f"{axis} {width}" for axis, width in rope.axis_widths.items()]
                yield make_finding(
                    "axes_do_not_fill", rope.place or "config", widths=widths, sum=rope.head_dim, head=given
                )
            yield make_finding(
                "axial_rope",
                rope.place or "config",
                type=rope.model_type,
                widths=[f"{axis} {width}" for axis, width in rope.axis_widths.items()],
                head=rope.head_dim,
                base=rope.base,
                layout=rope.layout,
                position=rope.position,
                patch=rope.patch,
                size=FindingPhrase("patch", {"patch": rope.patch}) if rope.patch else FindingPhrase("nothing"),
            )
    except ConfigError as error:
        yield config_error_finding(error)
    for place, kind in axes_unread(data).items():
        yield make_finding("axial_not_read", place or "config", type=kind)


def _parts(config: ResolvedConfig, seq_len: int | None) -> Iterator[Finding]:
    """Run every rule on the sub-configs beside the language model that turn token positions too, such as a talker."""
    for part in config.part_names:
        try:
            if part != INDEXER and sub_config(config.raw, part) is not None:
                yield from _rules(config, config.part(part), seq_len)
        except ConfigError as error:
            yield config_error_finding(error)


def _beside(fields: ModelFields) -> Iterator[Finding]:
    """Name what turns beside the language model and is not read: layers that predict ahead, a vocoder."""
    for name in MTP:
        count = fields.stated.get(name)
        if isinstance(count, int) and not isinstance(count, bool) and count > 0:
            yield make_finding("mtp_layers", fields.prefix + name, count=count)
            break
    for name in VOCODERS:
        if isinstance(fields.raw.get(name), Mapping):
            yield make_finding("vocoder_not_read", name)


def nothing_turns(fields: ModelFields) -> bool:
    """Return whether a config is no language model's: a type that nobody knows, no rope field and no attention heads.

    An adapter's config, a scheduler's or an application's own config.json is of this kind.
    """
    data = fields.stated
    parts = [data, *(part for part in data.values() if isinstance(part, Mapping))]
    if fields.is_known_type or not all(ROPE_FIELDS.isdisjoint(part) for part in parts):
        return False
    return "_class_name" in data or not all(name in data for name in HEADS)


def _known_type(text: ResolvedPart, layer_type: str) -> None:
    """Raise ValueError on a layer type that this model does not have; what cannot be read is a finding, not this."""
    try:
        names = [each.layer_type for each in text.entries if each.layer_type] or text.fields.layer_types()
    except ConfigError:
        return
    known_names = list(dict.fromkeys(names))
    if layer_type not in known_names:
        rule = RuleText("one_of", {"names": known_names}) if known_names else RuleText("no_layer_type")
        raise argument_error("layer_type", rule, layer_type)


def sorted_by_severity(findings: list[Finding]) -> list[Finding]:
    """Errors first, then warnings, then notes; the rules' order within each."""
    return sorted(findings, key=lambda each: SEVERITIES.index(each.severity))


def check_text(
    text: str | bytes,
    transformers: str = "5.24",
    layer_type: str | None = None,
    seq_len: int | None = None,
    *,
    everything: bool = False,
) -> list[Finding]:
    """Return ``check`` of a config.json's text, with names that occur twice in one object.

    Raises ConfigError on text that is no JSON object.

    >>> check_text('{"model_type": "llama", "model_type": "llama", "head_dim": 64}')[0].key
    'duplicate_key'
    """
    twice: dict[str, None] = {}

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(items)
        if len(values) < len(items):
            repeated = [name for name, count in Counter(name for name, _ in items).items() if count > 1]
            twice.update(dict.fromkeys(repeated[: MOST - len(twice)]))
        return values

    findings = check(parse_json_object(text, pairs), transformers, layer_type, seq_len, everything=everything)
    repeated = [make_finding("duplicate_key", sanitized_text(next(iter(twice))), names=tuple(twice))] if twice else []
    return sorted_by_severity([*repeated, *findings])


def _rules(config: ResolvedConfig, part: ResolvedPart, seq_len: int | None) -> Iterator[Finding]:
    """Run every rule on every layer type that transformers can build; a refusal is a finding of its own."""
    try:
        layers = part.layers
        if not layers:
            yield make_finding(
                "value_refused", part.fields.prefix + "layer_types", rule=RuleText("types_named"), got="[]"
            )
    except ConfigError as error:
        refused = error.rule is not None and error.rule.key == "dict_per_type"
        yield from (refused and list(unread.find_flat_dict_for_layer_types(part.fields, (), ()))) or [
            config_error_finding(error)
        ]
        return
    built: list[tuple[RopeEntry, HfRope]] = []
    for layer in layers:
        try:
            built.append((layer.entry, layer.at(seq_len)))
        except ConfigError as error:
            yield config_error_finding(error, layer.entry.layer_type if len(layers) > 1 else None)
    ropes = tuple(rope for _, rope in built)
    flat = list(unread.find_flat_dict_for_layer_types(part.fields, part.entries, ropes))
    yield from flat or unread.find_missing_layer_type(part.fields, ropes)
    for entry, rope in built:
        case = LayerContext(config, part, entry, rope, ropes, seq_len)
        layer_type = entry.layer_type if len(layers) > 1 else None
        for rule in (each for each in RULES if not (flat and each in (*origin.RULES, *released.RULES))):
            for named in rule(case):
                yield replace(named, layer_type=layer_type)


def _merged(findings: list[Finding]) -> list[Finding]:
    """One finding where every layer type has the same; the layer type stays where only some have it."""
    merged: dict[tuple[object, ...], Finding] = {}
    for each in findings:
        same = (each.key, each.severity, each.field, repr(each.values))
        merged[same] = replace(merged[same], layer_type=None) if same in merged else each
    return list(merged.values())


def finding_severities_and_titles(lang: str = "en") -> dict[str, tuple[str, str]]:
    """Every finding that there is: its severity and its title's template, by key."""
    titles = words(lang, "findings")["finding"]
    return {key: (row["severity"], titles[key]["title"]) for key, row in finding_texts()["finding"].items()}


@dataclass(frozen=True)
class IssueGroup:
    """A group of threads about one bug: what finds it, by which findings or engine notes, and a config that shows it.

    ``by`` is "config", "verify", "engines", "positions" or "cache"; ``beside`` are findings that the config's family
    always has.
    """

    number: int
    by: str
    keys: tuple[str, ...]
    threads: tuple[str, ...]
    beside: tuple[str, ...] = ()
    config: Mapping[str, Any] | None = None

    def title(self, lang: str = "en") -> str:
        """Return what went wrong."""
        return str(words(lang, "groups")[str(self.number)])


@cache
def issue_groups() -> tuple[IssueGroup, ...]:
    """Return the groups of known threads, in their order."""
    text = resources.files("rope_core.checks").joinpath("groups.toml").read_text(encoding="utf-8")
    lists = ("keys", "threads", "beside")
    rows: list[dict[str, Any]] = tomllib.loads(text)["groups"]
    return tuple(IssueGroup(**{**row, **{name: tuple(row[name]) for name in lists if name in row}}) for row in rows)


__all__ = ["Finding", "IssueGroup", "check", "check_text", "finding_severities_and_titles", "issue_groups"]
