"""The config blocks that extend a model's context, what each changes and what it costs, on the model's own spectrum."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from rope_core.errors import ConfigError, argument_error, checked_int
from rope_core.extension.blocks import (
    extended_config,
    flat_rope_dict,
    has_length_dependent_base,
    has_scaled_frequencies,
    reached_length,
    scaling_factor,
    write_rope_dicts,
)
from rope_core.findings import distinct_value_texts
from rope_core.hf.fields import ModelFields, dict_at
from rope_core.hf.resolve import ResolvedPart, resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.schemas import OLD, to_v4, to_v5
from rope_core.hf.types import DYNAMIC, LENGTH, LONGROPE, NEEDS_LENGTH, STATIC_NTK, WAYS, WINDOWED, YARN
from rope_core.languages import words
from rope_core.rope import MAX_LEN
from rope_core.schemes import yarn_attention_factor

# A card's recipe: the scheme's name and this.
CARD = "-card"
MOST = 1024
# Fields that would count beside a new rope dict.
OVERRULING = ("rope_scaling", "rope_parameters", LENGTH, "rotary_dim")


@dataclass(frozen=True)
class QuantityChange:
    """A quantity of a layer type before and after; None where only one side has it.

    ``field`` is "rope_type", "base", "factor" or another parameter of the scheme, "attention_factor" or "logit_scale".
    """

    layer_type: str | None
    field: str
    before: object
    after: object

    def sentence(self, lang: str = "en") -> str:
        """Return the change as one line.

        >>> QuantityChange(None, "attention_factor", 1.0, 1.35).sentence()
        'attention factor 1 -> 1.35'
        """
        names = words(lang, "extension")["changed"]
        name = names.get(self.field, self.field)
        where = f"{self.layer_type}{names['colon']}" if self.layer_type else ""
        texts_of = distinct_value_texts((self.before, self.after), lang)
        return f"{where}{name} {texts_of[0]} -> {texts_of[1]}"


@dataclass(frozen=True, eq=False)
class ContextExtension:
    """A way to reach a length: the config block in both schemas, what it computes, changes and costs.

    Attributes:
        name: the scheme's name, followed by "-card" where it is the model card's own recipe.
        kind: the section of the languages' extension.toml that describes it.
        config: the whole config, new schema.
        block: the fields to write where the config has them, new schema, null for one that must go; old_block: the same
            for version 4, None where it cannot say it.
        ropes: what each extended layer type computes, by layer type; before: the same at present.
        changed: what moves beside the length and the frequencies.
        length: tokens that the config reaches; factor: how many times the present reach that is.
        kept: pairs whose frequency stays; fastest: slow-down of the fastest pair against the present.
        unseen: pairs that reach angles which training never showed, at that length.
    """

    name: str
    kind: str
    config: dict[str, Any]
    block: dict[str, Any]
    old_block: dict[str, Any] | None
    ropes: Mapping[str | None, HfRope]
    before: Mapping[str | None, HfRope]
    changed: tuple[QuantityChange, ...]
    length: int
    factor: float
    kept: int
    pairs: int
    fastest: float
    unseen: int
    attention_factor: float
    source: str = ""

    @property
    def rope(self) -> HfRope:
        """The first layer type that is extended."""
        return next(iter(self.ropes.values()))

    def title(self, lang: str = "en") -> str:
        """Return the way's name for a reader."""
        title: str = words(lang, "extension")[self.kind]["title"]
        return title.format_map(self._values())

    def cost(self, lang: str = "en") -> str:
        """Return what this way costs, one or two sentences."""
        costs = words(lang, "extension")
        text: str = costs[self.kind]["cost"]
        written, formula = self.rope.params.get("attention_factor"), yarn_attention_factor(scaling_factor(self.rope))
        if self.rope.rope_type == YARN and isinstance(written, float) and not math.isclose(written, formula):
            text = f"{text}{costs['written']}"
        return text.format_map(self._values() | {"formula": f"{formula:.4g}"})

    def _values(self) -> dict[str, str]:
        shown = {name: f"{getattr(self, name):.4g}" for name in ("factor", "kept", "pairs", "fastest", "unseen")}
        rope, old = self.rope, next(iter(self.before.values()))
        shown |= {"attention": f"{self.attention_factor:.4g}", "type": rope.rope_type, "length": f"{self.length:,}"}
        shown |= {
            "written": f"{scaling_factor(rope):.6g}",
            "old": f"{scaling_factor(old):.6g}",
            "reach": f"{reached_length(old):,}",
        }
        return shown | {"train": f"{rope.train_len:,}", "base": f"{rope.base:.6g}", "old_base": f"{old.base:.6g}"}


@cache
def _card_recipes() -> list[dict[str, Any]]:
    """Return the whole of cards.toml."""
    text = resources.files("rope_core.extension").joinpath("cards.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(text)["card"])


def extend(config: object, length: int) -> list[ContextExtension]:
    """Return the ways to make a model reach ``length`` tokens, the one that suits it best first.

    A model that is scaled already gets its own scheme with a larger factor, then a larger base under that scheme;
    everything else in its rope dict stays. A model that is not gets its card's recipe where one is known and
    reaches the length, then YaRN, linear, NTK and Llama 3 scaling. Each layer type starts from its own trained
    length; layers behind a sliding window, layers that do not turn and layers that reach the length already stay
    as they are. A way that the model's class refuses, or that would change its rotary width, is left out.
    LongRoPE needs factors that were searched per model; "searched" in the languages' extension.toml says so.

    Raises:
        ConfigError: on a config that cannot be read.
        ValueError: unless length lies past the length that the config reaches, at most 1024 times.

    >>> config = {"model_type": "llama", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 4096}
    >>> [(way.name, way.kept) for way in extend(config, 16384)]
    [('yarn', 21), ('linear', 0), ('ntk', 1), ('llama3', 36)]
    >>> scaling = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096, "truncate": False}
    >>> way = extend({**config, "max_position_embeddings": 16384, "rope_scaling": scaling}, 32768)[0]
    >>> way.block["rope_parameters"]["factor"], way.block["rope_parameters"]["truncate"]
    (8.0, False)
    """
    data = resolve(config)
    checked_int("length", length, 1, MAX_LEN)
    plain = resolve(to_v5(data))
    before = _extended_layers(plain.text)
    low = min(reached_length(rope) for rope in before.values())
    if not low < length <= MOST * low:
        raise argument_error("length", "int_range", length, low=low + 1, high=min(MOST * low, MAX_LEN))
    before = {kind: rope for kind, rope in before.items() if reached_length(rope) < length}
    ways = _cards(data.raw, plain.text.fields, before, length)
    names: tuple[str, ...] = WAYS
    if all(has_scaled_frequencies(rope) for rope in before.values()):
        own = next(iter(before.values())).rope_type
        # Under YaRN a larger base would leave a factor that contradicts the two lengths, and LongRoPE's is searched.
        names = {YARN: (YARN,), LONGROPE: (STATIC_NTK,)}.get(own, (own, STATIC_NTK))
    for name in names:
        try:
            new = extended_config(name, plain.text.fields, before, length)
            ways.append(_costed(name, _kind(name, before), new, data.raw, before, length))
        except ConfigError:
            continue
    return ways


def config_reached_length(config: object) -> int:
    """Return the length in tokens that a config reaches: the shortest over the layer types that look at everything.

    Raises ConfigError on a config that cannot be read or extended.

    >>> config_reached_length({"model_type": "gemma3_text", "max_position_embeddings": 32768})
    32768
    """
    return min(reached_length(rope) for rope in _extended_layers(resolve(to_v5(config)).text).values())


def existing_scaling_sentence(config: object, lang: str = "en") -> str:
    """Return one sentence on the scaling that a config has already, "" where it has none.

    >>> existing_scaling_sentence({"model_type": "llama", "head_dim": 64})
    ''
    """
    plain = resolve(to_v5(config)).text
    scaled = [rope for rope in _extended_layers(plain).values() if has_scaled_frequencies(rope)]
    if not scaled:
        return ""
    rope = scaled[0]
    sentence: str = words(lang, "extension")["present"]["plain" if rope.rope_type == LONGROPE else "factor"]
    return sentence.format(type=rope.rope_type, factor=f"{scaling_factor(rope):g}", reach=f"{reached_length(rope):,}")


def _extended_layers(part: ResolvedPart) -> dict[str | None, HfRope]:
    """Return the layer types that look at the whole context and turn, at the length that they reach."""
    turning = {kind: rope for kind, rope in part.ropes().items() if not rope.nope}
    chosen = {kind: rope for kind, rope in turning.items() if kind not in WINDOWED} or turning
    if not chosen:
        raise ConfigError.from_key("no_layer_turns")
    return {kind: _at(part, kind, rope, reached_length(rope)) for kind, rope in chosen.items()}


def _at(part: ResolvedPart, kind: str | None, rope: HfRope, length: int) -> HfRope:
    """Return a layer type at a length, where its frequencies follow one."""
    return part.rope(kind, length) if rope.rope_type in (DYNAMIC, LONGROPE) else rope


def _kind(name: str, before: Mapping[str | None, HfRope]) -> str:
    """Return the section of extension.toml for a way."""
    first = next(iter(before.values()))
    if not has_scaled_frequencies(first):
        return name
    if name == STATIC_NTK:
        return "base"
    return DYNAMIC if has_length_dependent_base(first) else "own"


def model_card_recipes(fields: ModelFields, base: float) -> list[dict[str, Any]]:
    """Return the recipes of cards.toml that a model's own card gives, by type, base and shape."""
    return [
        row
        for row in _card_recipes()
        if fields.model_type in row["model_type"]
        and base == row["base"]
        and fields.get("hidden_size").value in row["hidden_size"]
    ]


def _cards(
    data: dict[str, Any], fields: ModelFields, before: Mapping[str | None, HfRope], length: int
) -> list[ContextExtension]:
    """Return the recipe of the model's own card, where one is known for this model and reaches the length."""
    rope, ways = before.get(None), []
    if rope is None or has_scaled_frequencies(rope):
        return []
    for row in model_card_recipes(fields, rope.base):
        if length > row["max"] or rope.max_len != row["released"]:
            continue
        block = {**flat_rope_dict(fields), **row["block"]}
        new = write_rope_dicts(fields, {None: block}, row["max"], False)
        name = row["block"]["rope_type"] + CARD
        ways.append(_costed(name, "card_text", new, data, before, row["max"], row["source"]))
    return ways


def _costed(
    name: str,
    kind: str,
    config: dict[str, Any],
    data: dict[str, Any],
    before: Mapping[str | None, HfRope],
    length: int,
    source: str = "",
) -> ContextExtension:
    """Measure one way on its own spectrum, against the present one."""
    resolved = resolve(config)
    built = resolved.text.ropes()
    kinds = {layer: layer if layer in built else None for layer in before}
    ropes = {layer: _at(resolved.text, kind, built[kind], length) for layer, kind in kinds.items()}
    if any(ropes[layer].inv_freq.size != old.inv_freq.size for layer, old in before.items()):
        raise ConfigError.from_key("same_width", name=name)
    layer, rope = next(iter(ropes.items()))
    old = before[layer]
    slowdown = np.divide(old.inv_freq, rope.inv_freq, out=np.full(old.inv_freq.size, np.inf), where=rope.inv_freq > 0)
    seen = np.minimum(old.inv_freq * reached_length(old), 2.0 * np.pi)
    turned = np.minimum(rope.inv_freq * length, 2.0 * np.pi)
    prefix = resolved.text.fields.prefix
    block = _written(data, config, prefix)
    try:
        old_block = _written(data, to_v4(resolved), prefix)
    except ConfigError:
        old_block = None
    return ContextExtension(
        name=name,
        kind=kind,
        config=config,
        block=block,
        old_block=old_block,
        ropes=ropes,
        before=before,
        changed=tuple(change for at, rope in ropes.items() for change in quantity_changes(before[at], rope)),
        length=length,
        factor=length / reached_length(old),
        kept=int(np.sum(np.isclose(slowdown, 1.0, rtol=1e-12))),
        pairs=int(slowdown.size),
        fastest=float(slowdown[0]),
        unseen=int(np.sum(turned > seen * (1.0 + 1e-9))),
        attention_factor=rope.attention_factor,
        source=source,
    )


def _written(old: Mapping[str, Any], new: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Return what turns one config into the other, below its text part: a field that would overrule it is null."""
    had, text = dict_at(old, prefix), dict_at(new, prefix)
    block = {key: text[key] for key in (*OLD, LENGTH, "max_position_embeddings") if key in text}
    block |= {"head_dim": text["head_dim"]} if text.get("head_dim") != had.get("head_dim") else {}
    base = (block.get("rope_parameters") or {}).get("rope_theta")
    if base is not None and had.get("rope_theta") not in (None, base):
        # Programs that read the top level run the same base.
        block["rope_theta"] = base
    block |= dict.fromkeys(key for key in OVERRULING if had.get(key) is not None and key not in text)
    for name in reversed(prefix.split(".")[:-1]):
        block = {name: block}
    return block


def quantity_changes(before: HfRope, after: HfRope) -> tuple[QuantityChange, ...]:
    """Return what differs between two states of a layer type beside its frequencies and lengths."""
    named = ("rope_type", "base", "attention_factor", "logit_scale")
    pairs: dict[str, tuple[object, object]] = {name: (getattr(before, name), getattr(after, name)) for name in named}
    names = dict.fromkeys([*before.params, *after.params])
    if after.rope_type == LONGROPE:
        # A factor that the two lengths give moves nothing but the attention factor.
        names.pop("factor")
    pairs |= {name: (before.params.get(name), after.params.get(name)) for name in names if name != "attention_factor"}
    if before.train_len != after.train_len and after.rope_type == before.rope_type in NEEDS_LENGTH:
        pairs[LENGTH] = (before.train_len, after.train_len)
    return tuple(QuantityChange(after.layer_type, name, a, b) for name, (a, b) in pairs.items() if a != b)


__all__ = [
    "ContextExtension",
    "QuantityChange",
    "config_reached_length",
    "existing_scaling_sentence",
    "extend",
    "quantity_changes",
    "reached_length",
]
