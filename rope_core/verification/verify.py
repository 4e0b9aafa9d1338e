"""Checks on what really runs: a loaded module's buffers and rotation, stored weights, a weight conversion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rope_core.errors import argument_error
from rope_core.findings import SEVERITIES, Finding, FindingPhrase, make_finding
from rope_core.hf.resolve import ResolvedConfig, resolve
from rope_core.hf.ropes import HfRope
from rope_core.languages import words
from rope_core.layout import HALF, INTERLEAVED, convert_projection
from rope_core.verification.stored import (
    RotaryBuffer,
    buffers_in_file,
    buffers_in_module,
    buffers_in_state_dict,
    is_cos_sin_table,
)


class VerificationFindings(list[Finding]):
    """Findings of ``verify``, and what was looked at, also where there are none.

    Attributes:
        buffers: how many rotary buffers were compared with the config.
        products: in how many layers a run's q and k were compared with the rotation.
        ways: the ways of reading a text that were compared: "decode", "pieces", "padding", "packed".
    """

    def __init__(self, findings: Iterable[Finding], buffers: int, products: int = 0, ways: Sequence[str] = ()) -> None:
        super().__init__(sorted(findings, key=lambda each: SEVERITIES.index(each.severity)))
        self.buffers, self.products, self.ways = buffers, products, tuple(ways)

    def coverage_sentence(self, lang: str = "en") -> str:
        """Return what was looked at and what was not, in one line."""
        each = str(words(lang, "language")["items"]).join(FindingPhrase(f"way_{way}").text(lang) for way in self.ways)
        read = FindingPhrase("looked_ways" if each else "looked_no_ways", {"ways": each})
        ran = FindingPhrase("looked_run" if self.products else "looked_not_run", {"layers": self.products})
        return FindingPhrase("looked", {"buffers": self.buffers, "ran": ran, "read": read}).text(lang)


def verify(model_or_file: object, config: object) -> VerificationFindings:
    """Return what is wrong with the rotary embedding that a model really has, or worth knowing, the gravest first.

    Of a loaded module, two things are compared with the config, and where both are right a third within itself:

    - its buffers ``inv_freq``, pair by pair, to a fraction of 2e-5 (transformers computes them in float32), and their
      attention scaling;
    - what its attention really does: the module runs on single tokens at up to 12 positions (a second time past the
      trained length, where the scheme follows the length), and q and k of every layer, as they are multiplied, are
      compared with ``rc.rotate`` of what they were before: pairs, sign, angle, factor, width, lanes that stay, and v,
      which must not turn; the first layer that turns also at every position below 1,024, at powers of two, their
      neighbours, 256 drawn positions of the trained length and its last; of a model for images each of three positions
      also moves alone;
    - the ways in which it reads a text: 12 tokens at once, in two pieces, token by token with a cache, padded and
      packed must give the same keys in every layer and the same output (padded, packed: in the first layer).

    Each lane may be off by its pair's length times 4 u for the roundings of q's dtype, 2 u more for the tables
    (u = 6e-8 in float32, 4.9e-4 in float16, 3.9e-3 in bfloat16) and position times frequency times 2.4e-7
    (1 + abs(log frequency)) and two roundings for the angle; and by what two rows of one matrix product differ by,
    max(2e-6, 4 u) of the largest value. The module is left as it was. Parts that do not run on token ids, such as a
    vision tower, are named in a note.

    Of stored weights, the buffers among them are compared, and tables such as cos_cached or freqs_cis by their angles.
    The list that is returned can say what was looked at.

    Args:
        model_or_file: a loaded torch module; a state dict; or the path of a safetensors file or a folder of them.
        config: the config that it should follow: a dict, a path, or a transformers config object.

    Raises:
        ConfigError: on a config that cannot be read.
        ValueError: on an object or a file that holds no tensors.
    """
    resolved = resolve(config)
    ropes = resolved.text.ropes()
    if isinstance(model_or_file, str | Path):
        return _stored(buffers_in_file(Path(model_or_file)), ropes)
    if isinstance(model_or_file, Mapping):
        return _stored(buffers_in_state_dict(model_or_file), ropes)
    if callable(getattr(model_or_file, "named_buffers", None)):
        return _module(model_or_file, resolved, ropes)
    raise argument_error("model_or_file", "a torch module, a state dict or a safetensors path", model_or_file)


def _stored(buffers: list[RotaryBuffer], ropes: Mapping[str | None, HfRope]) -> VerificationFindings:
    """Buffers among stored tensors, else that weights alone carry no layout and no frequencies."""
    from rope_core.verification.buffers import buffer_findings, table_findings

    if not buffers:
        return VerificationFindings(
            [make_finding("weights_alone", "inv_freq", layout=next(iter(ropes.values())).layout)], 0
        )
    tables = [buffer for buffer in buffers if is_cos_sin_table(buffer.name)]
    frequencies = [buffer for buffer in buffers if not is_cos_sin_table(buffer.name)]
    findings = [each for each, _ in buffer_findings(frequencies, ropes, {})]
    return VerificationFindings([*findings, *table_findings(tables, ropes)], len(buffers))


def _module(module: Any, config: ResolvedConfig, ropes: Mapping[str | None, HfRope]) -> VerificationFindings:
    """Check a loaded module: its buffers, then its rotation; a module without memory is not run."""
    from rope_core.verification.buffers import buffer_findings
    from rope_core.verification.rotations import ModuleRotations
    from rope_core.verification.ways import decoding_path_findings

    rotations, tried = ModuleRotations(module, config, ropes), list[str]()
    own, others = rotations.split_text_buffers(buffers_in_module(module))
    pairs = [*buffer_findings(own, ropes, rotations.frequencies_at_length)]
    findings = [each for each, _ in pairs]
    if not own and not rotations.has_products:
        findings.append(make_finding("no_buffers", "inv_freq"))
    if not {each.key for each in findings} & {"buffer_on_meta", "buffer_uninitialised"}:
        findings += [*rotations.findings(pairs), *rotations.softmax_scale_findings()]
        if rotations.has_products and not findings:
            findings += rotations.position_axis_findings()
        followed = {each.key for each in findings if each.severity != "note"} <= {"rotation_ignores_positions"}
        if rotations.has_products and followed:
            findings += decoding_path_findings(module, rotations.fields.model_type, rotations.raised, tried)
    products = {each.layer for each in rotations.observed_run.products} if rotations.observed_run else set()
    return VerificationFindings(findings + _others(others), len(own), len(products), tried)


def _others(buffers: Iterable[RotaryBuffer]) -> list[Finding]:
    """Rotary embeddings of parts that the text does not run through, in one note."""
    names = tuple(dict.fromkeys(buffer.name.rpartition(".")[0] for buffer in buffers))
    return [make_finding("part_not_observed", names[0], names=names)] if names else []


def check_conversion(
    source: Any, converted: Any, heads: int, rotary_dim: int | None = None, query_heads: int | None = None
) -> list[Finding]:
    """Return whether a projection was reordered from adjacent pairs to halves with the right number of heads.

    Args:
        source: (heads * head_dim, in) weight in the interleaved layout (Meta's); numpy or torch.
        converted: the same weight after the conversion to halves.
        heads: heads in this projection: KV heads for k.
        rotary_dim: rotary width where only a part of each head turns.
        query_heads: the query heads, to recognise a k that was reordered as if it were q.

    Raises:
        ValueError: when the shapes differ, or the rows do not divide into heads.
    """
    old, new = np.asarray(source, dtype=np.float64), np.asarray(converted, dtype=np.float64)
    if old.shape != new.shape:
        raise argument_error("converted", f"of shape {old.shape}", new.shape)
    if np.array_equal(convert_projection(old, heads, INTERLEAVED, HALF, rotary_dim), new):
        return []
    if np.array_equal(old, new):
        return [make_finding("rows_not_reordered", "k_proj", heads=heads)]
    if query_heads and old.shape[0] % (2 * query_heads) == 0:
        wrong = convert_projection(old, query_heads, INTERLEAVED, HALF, None)
        if np.array_equal(wrong, new):
            return [make_finding("rows_by_query_heads", "k_proj", heads=heads, query_heads=query_heads)]
    return [make_finding("rows_reordered_otherwise", "k_proj", heads=heads)]
