"""The rotations of a loaded module as findings: which layer should do what, and what each of them does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from rope_core.findings import Finding, FindingPhrase, make_finding
from rope_core.hf.anatomy import AXES, multimodal_pair_axes
from rope_core.hf.families import recorded_class_defaults
from rope_core.hf.fields import INDEXER
from rope_core.hf.layers import indexer_rope
from rope_core.hf.places import FAMILIES
from rope_core.hf.resolve import ResolvedConfig
from rope_core.hf.ropes import HfRope
from rope_core.layout import HALF, INTERLEAVED
from rope_core.rope import Array
from rope_core.verification.collected import FindingCollector
from rope_core.verification.observe import ObservedRun, observe_attention
from rope_core.verification.probe import is_rotary_module, probe_rotary_modules
from rope_core.verification.products import (
    QueryKeyProduct,
    equal_row_tolerance,
    first_index_in_name,
    max_row_difference,
)
from rope_core.verification.stored import RotaryBuffer, buffers_in_module
from rope_core.verification.turned import RotationVerdict, rotation_verdicts, verdict_at_other_positions

POSITIONS = (0, 1, 2, 3, 5, 8, 21, 55, 257, 1021)
# Of the first layer that turns: all positions below NEAR; powers of two, their neighbours, DRAWN others and the last.
NEAR, DRAWN, SEED = 1024, 256, 0
# Attention to another sequence, whose positions are not these.
CROSS = re.compile("cross|encoder_att", re.IGNORECASE)
# A rotation by frequencies that are reported of the buffer.
_BY_BUFFER = RotationVerdict("as_its_buffer")


class ModuleRotations:
    """What the attention of one module does, beside what its config says of each layer.

    Args:
        module: a loaded torch module.
        config: its config, resolved.
        ropes: what the config says, by layer type; the key None where all layers are alike.
    """

    def __init__(self, module: Any, config: ResolvedConfig, ropes: Mapping[str | None, HfRope]) -> None:
        self.module, self.config, self.ropes = module, config, ropes
        # What attempts to run the module or its rotary embedding raised.
        self.raised: list[Exception] = []
        self.fields = config.text.fields
        self.labels = self.fields.layer_types()
        turning = [rope for rope in ropes.values() if not rope.nope]
        self.trained = min((rope.train_len for rope in turning), default=0)
        follows = [
            kind
            for kind, rope in self.ropes_at_double_length.items()
            if not np.array_equal(rope.inv_freq, ropes[kind].inv_freq)
        ]
        self.follows = tuple(follows)
        self.parts = dict(module.named_modules())
        buffers = self._text_only(buffers_in_module(module), _owner)
        self.on_meta = any(buffer.values is None for buffer in buffers)

    @cached_property
    def ropes_at_double_length(self) -> dict[str | None, HfRope]:
        """Each layer type at twice the trained length."""
        return {kind: self.config.text.rope(kind, 2 * rope.train_len) for kind, rope in self.ropes.items()}

    @property
    def frequencies_at_length(self) -> dict[str | None, tuple[Array, ...]]:
        """Frequencies that a buffer may hold after longer inputs, by layer type."""
        lengths = {
            int(value)
            for part in self.module.modules()
            for name, value in vars(part).items()
            if name.endswith("max_seq_len_cached") and 0 < int(value) <= 2**31
        }
        kinds = [(kind, self.ropes[kind].train_len) for kind in self.follows]
        return {
            kind: tuple(self.config.text.rope(kind, n).inv_freq for n in sorted({*lengths, trained + 1}))
            for kind, trained in kinds
        }

    def _type_at(self, name: str) -> str | None:
        """Return the model_type of the nearest module with a config, from a dotted name outwards."""
        kind = getattr(getattr(self.parts.get(name), "config", None), "model_type", None)
        return kind if kind is not None or not name else self._type_at(name.rpartition(".")[0])

    def _is_text(self, name: str) -> bool:
        """Whether a module belongs to the text part, or to the whole."""
        return self._type_at(name) in (None, self.fields.model_type, self.config.raw.get("model_type"))

    def _text_only(self, rows: list[Any], name: Callable[[Any], str]) -> list[Any]:
        """Return the rows of the text part; where there are none, all but those of parts known to be others."""
        others = {
            *recorded_class_defaults()["part"].get(self.config.raw.get("model_type"), {}).values(),
            *recorded_class_defaults()["other"],
        }
        own = [row for row in rows if self._is_text(name(row))]
        return own or [row for row in rows if self._type_at(name(row)) not in others]

    @cached_property
    def observed_run(self) -> ObservedRun | None:
        """The watched run at positions within the trained length."""
        if self.on_meta:
            return None
        return observe_attention(self.module, self._within(self.trained), self.fields.model_type, self.raised)

    @property
    def has_products(self) -> bool:
        """Whether any product of q and k was seen."""
        return self.observed_run is not None

    def _within(self, length: int) -> tuple[int, ...]:
        """Positions below a length, two near its end included, which no half precision moves by one and the same."""
        end = min(length, 2**20) * 7 // 8
        far = {end | 1} if end < 128 else {end // 32 * 32 + 9, end // 32 * 32 + 11}
        return tuple(sorted({*(p for p in POSITIONS if p < length), *far}))

    def split_text_buffers(self, buffers: list[RotaryBuffer]) -> tuple[list[RotaryBuffer], list[RotaryBuffer]]:
        """Return the buffers that the text's tokens run through, and those of other parts, such as a vision tower."""
        ran = [each for each in buffers if self.observed_run is None or _owner(each) in self.observed_run.ran]
        own = self._text_only(ran, _owner)
        others = [each for each in buffers if each not in own]
        if any(self._fits(each) for each in own):
            own = [each for each in own if self._fits(each) or self._is_rotary(each)]
        return own, others

    def _fits(self, buffer: RotaryBuffer) -> bool:
        """Whether a buffer is as wide as the config says of some layer, or not in memory."""
        values = buffer.values
        return values is None or any(values.shape == rope.inv_freq.shape for rope in self.ropes.values())

    def _is_rotary(self, buffer: RotaryBuffer) -> bool:
        """Whether a buffer's module is a rotary embedding by its name: Voxtral's of time steps has an inv_freq too."""
        return is_rotary_module(self.parts.get(_owner(buffer)))

    def findings(self, reported: list[tuple[Finding, RotaryBuffer]]) -> list[Finding]:
        """Return what the rotations show beyond what is ``reported`` of the buffers."""
        if all(rope.nope for rope in self.ropes.values()):
            return []
        collected = FindingCollector(reported, self.ropes)
        if self.observed_run is None:
            self._alone(collected)
            return collected.findings()
        self._layers(collected, self.observed_run, self.ropes)
        self._positions_followed(collected, self.observed_run)
        self._unseen(collected, self.observed_run)
        if not collected.rows and not reported:
            self._everywhere(collected, self.observed_run)
        if self.follows and not collected.rows and not reported:
            where = (0, 1, 5, self.trained, 2 * self.trained - 1)
            again = observe_attention(self.module, where, self.fields.model_type, self.raised)
            at = {kind: self.config.text.rope(kind, max(where) + 1) for kind in self.ropes}
            if again is not None and again.positions == where:
                self._layers(collected, again, at)
        return collected.findings()

    def _positions_followed(self, collected: FindingCollector, seen: ObservedRun) -> None:
        """Tell q and k that never turn from those that turn in one text, at positions other than the given ones."""
        still = [row for row in collected.rows if row[0] == "rotation_missing"]
        reached = any(each.follows_position for each in seen.products)
        alone = still and seen.along == "batch" and not reached
        line = self._observed_again(seen.positions, only="sequence") if alone else None
        if line is None:
            return
        in_line = FindingCollector([], self.ropes)
        self._layers(in_line, line, self.ropes)
        # The rows in another order: what turns as the first row does is another vector.
        other = self._observed_again(seen.positions[::-1], only="batch")
        for key, kind in still:
            if (key, kind) in in_line.rows or other is None:
                continue
            module = collected.rows[key, kind]["module"]
            first, again, turned = (
                next((each for each in run.products if each.module == module), None) for run in (seen, other, line)
            )
            if first is None or again is None or turned is None or not turned.follows_position:
                continue
            row = collected.rows.pop((key, kind))
            same = np.abs(again.q - first.q).max() <= equal_row_tolerance(first.unit) * np.abs(first.q).max()
            row["values"] = {"instead": FindingPhrase("positions_of_nobody" if same else "positions_of_first_row")}
            collected.rows["rotation_ignores_positions", kind] = row

    def _observed_again(self, where: tuple[int, ...], **how: Any) -> ObservedRun | None:
        """Return another watched run of the text part."""
        return observe_attention(self.module, where, self.fields.model_type, self.raised, **how)

    def _everywhere(self, collected: FindingCollector, seen: ObservedRun) -> None:
        """Judge the first layer that turns at many positions more."""
        moving = [each for each in seen.products if each.follows_position]
        names = {each.module for each in moving}
        own = [k for k, each in enumerate(moving) if self._is_text(each.module) and not _nested(each.module, names)]
        # Layers that keep a state besides take a batch of this size slowly.
        states = any(hasattr(part, "conv1d") for part in self.parts.values())
        if not own or states or seen.along != "batch" or CROSS.search(moving[own[0]].module):
            return
        first = moving[own[0]]
        ends = [2**k + step for k in range(32) for step in (-1, 0, 1)]
        # Where frequencies follow the length, only the trained one has these; at that length itself transformers'
        # dynamic kind keeps the frequencies of a longer text before it.
        reach = min(max(rope.train_len, rope.max_len or 0) for rope in self.ropes.values() if not rope.nope)
        length = min(self.trained - 1 if self.follows else reach, 2**20)
        drawn = np.random.default_rng(SEED).integers(0, length, DRAWN).tolist()
        where = sorted({p for p in (*range(NEAR), *ends, *drawn, length - 1) if 0 <= p < length})
        again = self._observed_again(tuple(where), only="batch", max_products=own[0] + 1)
        product = again and next(
            (each for each in again.products if each.module == first.module and each.follows_position), None
        )
        for kind, rope in self._ropes_of(first, self.ropes) if product else ():
            for part in "qk":
                heads, known = getattr(product, part), getattr(first, part)
                # This run keeps nothing, so a norm after the rotation is not undone: it gives each head a factor.
                lengths = [np.linalg.norm(each[0], axis=-1, keepdims=True) for each in (heads, known)]
                heads = heads * np.divide(lengths[1], lengths[0], out=np.ones_like(lengths[0]), where=lengths[0] > 0)
                if np.abs(heads[0] - known[0]).max() <= 2 * equal_row_tolerance(first.unit) * np.abs(known).max():
                    collected.add_verdict(
                        verdict_at_other_positions(heads, first, tuple(where), rope),
                        part,
                        first.module,
                        kind,
                        first.layer,
                    )

    def position_axis_findings(self) -> Iterator[Finding]:
        """Yield what follows another of an image's three positions than the config says; one moves at a time."""
        ropes = {kind: rope for kind, rope in self.ropes.items() if rope.mrope_section and not rope.nope}
        family = FAMILIES.get((self.fields.model_type or "").removesuffix("_text"))
        where = (0, 1, 5, 9)
        # In half precision the pairs that rest, of an axis that does not move, are told from slow ones by chance.
        fine = self.observed_run is not None and self.observed_run.products[0].unit < 1e-6
        for k, axis in enumerate(AXES if ropes and family and fine and not family.inside else ()):
            again = observe_attention(self.module, where, self.fields.model_type, [], k)
            if again is None or again.positions != where:
                return
            collected, at = FindingCollector([], self.ropes), dict(self.ropes)
            for kind, rope in ropes.items():
                of = np.array(multimodal_pair_axes(rope.mrope_section or (), self.fields.model_type))
                at[kind] = replace(rope, inv_freq=np.where(of == axis, rope.inv_freq, 0.0))
            self._layers(collected, again, at)
            for (key, kind), row in collected.rows.items():
                if not key.endswith("_not_observed"):
                    values = {"axis": FindingPhrase(f"axis_{axis}"), "layers": tuple(row["layers"]) or None}
                    yield make_finding("mrope_axis_differs", row["module"], None, kind, **values)
                    return

    def softmax_scale_findings(self) -> Iterator[Finding]:
        """Yield attentions whose softmax scale lacks what the config multiplies it by: DeepSeek's m**2 under YaRN."""
        wanted = [*{rope.logit_scale for rope in self.ropes.values()}]
        off: dict[str, float] = {}
        for name, part in self._text_only([*self.parts.items()], itemgetter(0)):
            scale, width = getattr(part, "scaling", None), getattr(part, "qk_head_dim", None)
            if isinstance(scale, float) and isinstance(width, int):
                times = scale * width**0.5
                off |= {} if np.isclose(times, wanted).any() else {name: times}
        if wanted != [1.0] and off:
            name, times = next(iter(off.items()))
            layers = tuple(index for each in off if (index := first_index_in_name(each)) is not None)
            yield make_finding("softmax_scale_differs", name, found=times, wanted=max(wanted), layers=layers or None)

    def _alone(self, collected: FindingCollector) -> None:
        """Judge a rotary embedding handed over without its model, or in one that does not run on token ids."""
        parts = dict(self._text_only([row for row in self.parts.items() if is_rotary_module(row[1])], itemgetter(0)))
        for kind, rope in self.ropes.items():
            if rope.nope:
                continue
            product = (
                None if self.on_meta else probe_rotary_modules(parts, rope, self._within(self.trained), self.raised)
            )
            if product is None:
                texts_of = dict.fromkeys(f"{type(error).__name__}: {error}" for error in self.raised)
                reason = (("reason", FindingPhrase("raised", {"error": [*texts_of][:3]})),) if texts_of else ()
                collected.add_verdict(
                    RotationVerdict("rotation_not_observed", reason), "q, k", "model_type", kind, None
                )
                continue
            buffers = collected.reported_buffer_values(kind)
            for part, verdict in self._judge(product, self._within(self.trained), rope, buffers).items():
                collected.add_verdict(verdict, part, product.module, kind)
            if next(self.module.parameters(), None) is not None:
                collected.add_verdict(RotationVerdict("attention_not_observed"), "q, k", product.module, kind)

    def _layers(self, collected: FindingCollector, seen: ObservedRun, ropes: Mapping[str | None, HfRope]) -> None:
        """Every layer of a watched run."""
        products = self._text_only([each for each in seen.products if not CROSS.search(each.module)], _module_of)
        moving = {product.module for product in products if product.follows_position}
        names = {product.module for product in products}
        for product in products:
            if product.module in moving and not product.follows_position:
                # A second product of the same module, such as an indexer's weights times its scores.
                continue
            nested = _nested(product.module, names)
            candidates = self._ropes_of(product, ropes)
            if nested and product.q.shape[-1] < max(rope.rotary_dim for rope in self.ropes.values()):
                continue
            answers = [
                (kind, self._judge(product, seen.positions, each, collected.reported_buffer_values(kind)))
                for kind, rope in candidates
                for each in (self._inside(product, rope) if nested else (rope,))
            ]
            if answers and all(verdicts for _, verdicts in answers):
                kind, verdicts = min(answers, key=lambda answer: len(answer[1]))
                for part, verdict in verdicts.items():
                    collected.add_verdict(verdict, part, product.module, kind, product.layer)
            # Where q or k could not be followed, an earlier layer's output may follow the position, and v with it.
            followed = not any(each.key.endswith("_not_observed") for _, row in answers for each in row.values())
            if candidates and followed and product.inputs and _values_move(product):
                collected.add_verdict(
                    RotationVerdict("value_rotated"), "v", product.module, candidates[0][0], product.layer
                )

    def _unseen(self, collected: FindingCollector, seen: ObservedRun) -> None:
        """Attention modules that ran without a product that was seen, where others of that name had one."""
        multiplied = {product.module for product in seen.products}
        alike = {re.sub(r"\d+", "#", name) for name in multiplied}
        for name in sorted(seen.ran - multiplied):
            layer = first_index_in_name(name)
            label = self.labels[layer] if layer is not None and layer < len(self.labels) else None
            if re.sub(r"\d+", "#", name) in alike and (label is None or self._turns(label)):
                kind = label if label in self.ropes else next(iter(self.ropes))
                collected.add_verdict(RotationVerdict("rotation_not_observed"), "q, k", name, kind, layer)

    @staticmethod
    def _turns(label: str) -> bool:
        """Whether layers of this name have attention of the kind that rotates."""
        return "attention" in label and label != "linear_attention"

    def _ropes_of(
        self, product: QueryKeyProduct, ropes: Mapping[str | None, HfRope]
    ) -> list[tuple[str | None, HfRope]]:
        """Return what the layer of a product should do: one answer, or all layer types where nothing says which."""
        label = self.labels[product.layer] if product.layer is not None and product.layer < len(self.labels) else None
        if label is not None and not self._turns(label):
            return []
        named = [kind for kind in (label, *product.labels) if kind in ropes and kind is not None][:1]
        chosen = {kind: ropes[kind] for kind in named} or ropes
        # Latent attention turns the end of a head, whose whole width some configs call head_dim (Mistral 4).
        listed = self.fields.stated.get("per_layer_config") or {}
        by_layer = {each.get("qk_rope_head_dim") for each in listed.values() if isinstance(each, dict)}
        latent = by_layer | {self.fields.get("qk_rope_head_dim").value}
        return [
            (
                k,
                replace(
                    rope,
                    nope=rope.nope or product.layer in rope.nope_layers,
                    head_dim=rope.rotary_dim if rope.rotary_dim in latent and not rope.start else rope.head_dim,
                ),
            )
            for k, rope in chosen.items()
        ]

    def _inside(self, product: QueryKeyProduct, rope: HfRope) -> tuple[HfRope, ...]:
        """Return what a part inside an attention may do: the indexer's rotation, or any layout where none is known."""
        if INDEXER in self.fields.family and INDEXER in product.module.split("."):
            return (indexer_rope(self.fields, rope),)
        return tuple(replace(rope, layout=layout.name) for layout in (INTERLEAVED, HALF))

    def _judge(
        self, product: QueryKeyProduct, positions: tuple[int, ...], rope: HfRope, buffers: list[Array]
    ) -> dict[str, RotationVerdict]:
        """One product; where its buffer is reported already, rotating by that buffer is no second fault."""
        others = [*((_BY_BUFFER, values) for values in buffers), *self._explanations(rope)]
        verdicts = rotation_verdicts(product, positions, rope, others)
        return {part: verdict for part, verdict in verdicts.items() if verdict != _BY_BUFFER}

    def _explanations(self, rope: HfRope) -> Iterator[tuple[RotationVerdict, Array]]:
        """Frequencies that a layer may have in place of its own, by what that means."""
        at_load = self.ropes.get(rope.layer_type, self.ropes.get(None))
        if at_load is not None and not np.array_equal(at_load.inv_freq, rope.inv_freq):
            yield RotationVerdict("rotation_ignores_length", (("length", rope.seq_len),)), at_load.inv_freq
        if rope.rope_type != "default":
            yield RotationVerdict("rotation_unscaled", (("type", rope.rope_type),)), rope.unscaled
        for kind, other in self.ropes.items():
            if kind != rope.layer_type and other.inv_freq.shape == rope.inv_freq.shape and not other.nope:
                yield RotationVerdict("rotation_of_other_layers", (("other", kind),)), other.inv_freq
        for by in dict.fromkeys((2.0, 0.5, *_factors(rope))):
            yield RotationVerdict("rotation_positions_scaled", (("by", by),)), by * rope.inv_freq


def _factors(rope: HfRope) -> Iterator[float]:
    """Yield the scheme's factor and its inverse, by which positions are multiplied by mistake."""
    factor = rope.params.get("factor")
    if isinstance(factor, int | float) and factor > 1:
        yield from (1.0 / factor, float(factor))


def _owner(buffer: RotaryBuffer) -> str:
    """Return the module that holds a buffer."""
    return buffer.name.rpartition(".")[0]


def _nested(module: str, names: Iterable[str]) -> bool:
    """Whether a module lies inside another that multiplies q and k itself: an indexer."""
    return any(module.startswith(name + ".") for name in names)


def _module_of(product: QueryKeyProduct) -> str:
    return product.module


def _values_move(product: QueryKeyProduct) -> bool:
    """Whether v follows the position; not where it is k itself, as in DeepSeek V4, which turns the result back."""
    if product.v is None or np.array_equal(product.v, product.k.reshape(product.v.shape[0], -1)):
        return False
    return max_row_difference(product.v) > equal_row_tolerance(product.unit)
