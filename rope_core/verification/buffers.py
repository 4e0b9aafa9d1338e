"""Buffers of frequencies against a config: present, initialised, as wide, as fine and as fast as it says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from rope_core.findings import Finding, FindingPhrase, make_finding, max_relative_difference
from rope_core.hf.ropes import HfRope
from rope_core.rope import Array
from rope_core.spectrum import spectrum
from rope_core.verification.stored import RotaryBuffer
from rope_core.verification.turned import rotation_tolerance

# transformers computes frequencies in float32 and agrees with this package to this fraction.
SAME = 2e-5
# Unit round-off, and the distance of the smallest numbers, which half precision has few of.
HALF_PRECISION = {"bfloat16": (2.0**-8, 2.0**-133), "float16": (2.0**-11, 2.0**-24)}


def buffer_findings(
    buffers: list[RotaryBuffer],
    ropes: Mapping[str | None, HfRope],
    frequencies_at_length: Mapping[str | None, tuple[Array, ...]],
) -> Iterator[tuple[Finding, RotaryBuffer]]:
    """Each buffer against the layer type that it belongs to; the same finding in many layers is named once."""
    named: set[tuple[str, str | None]] = set()
    for buffer in buffers:
        kind, rope = matching_layer_type(buffer, ropes)
        for verdict in compare_buffer(buffer, kind, rope, frequencies_at_length.get(kind, ())):
            if (verdict.key, verdict.layer_type) not in named:
                named.add((verdict.key, verdict.layer_type))
                yield verdict, buffer


def matching_layer_type(buffer: RotaryBuffer, ropes: Mapping[str | None, HfRope]) -> tuple[str | None, HfRope]:
    """Return the layer type that a buffer's name says, or the one that it is nearest to."""
    last = buffer.name.rpartition(".")[2]
    for kind, rope in ropes.items():
        if kind is not None and last.startswith(kind):
            return kind, rope
    values = buffer.values
    near = min(
        ropes, key=lambda kind: np.inf if values is None else largest_relative_difference(values, ropes[kind].inv_freq)
    )
    return near, ropes[near]


def largest_relative_difference(values: Array, wanted: Array) -> float:
    """Return the largest relative difference; inf where there is none."""
    return (
        max_relative_difference(values, wanted)
        if values.shape == wanted.shape and np.all(np.isfinite(values))
        else float("inf")
    )


def compare_buffer(
    buffer: RotaryBuffer, kind: str | None, rope: HfRope, frequencies_at_length: tuple[Array, ...] = ()
) -> Iterator[Finding]:
    """Compare one buffer with its layer type; ``frequencies_at_length``: those of the scheme at lengths in use."""
    values, wanted = buffer.values, rope.inv_freq
    if values is None:
        yield make_finding("buffer_on_meta", buffer.name, None, kind)
        return
    if values.shape != wanted.shape:
        yield make_finding("buffer_width", buffer.name, None, kind, found=values.size, wanted=wanted.size)
        return
    wanted = min((wanted, *frequencies_at_length), key=lambda expected: largest_relative_difference(values, expected))
    difference = largest_relative_difference(values, wanted)
    coarse = rounded_to(buffer, wanted)
    if difference <= SAME and not coarse:
        pass
    elif coarse:
        length = rope.max_len or rope.train_len
        error = float(np.max(np.abs(values - wanted)) * (length - 1))
        worst = 100.0 * difference
        yield make_finding(
            "buffer_rounded", buffer.name, None, kind, dtype=coarse, worst=worst, length=length, error=error
        )
    elif uninitialised(values) and not np.allclose(np.sort(values), np.sort(wanted), rtol=SAME):
        first = float(values.flat[0])
        yield make_finding("buffer_uninitialised", buffer.name, None, kind, first=first, wanted=float(wanted[0]))
    else:
        pair = int(np.argmax(np.abs(values - wanted) / np.where(wanted == 0, 1.0, wanted)))
        plain = largest_relative_difference(values, rope.unscaled) <= SAME
        key = "buffer_unscaled" if plain else "buffer_differs"
        yield make_finding(
            key,
            buffer.name,
            None,
            kind,
            pair=pair,
            found=float(values[pair]),
            wanted=float(wanted[pair]),
            worst=100.0 * difference,
            type=rope.rope_type,
        )
    scaling = buffer.attention
    if scaling is not None and abs(scaling - rope.attention_factor) > SAME * max(rope.attention_factor, 1.0):
        yield make_finding(
            "attention_scaling_differs", buffer.name, None, kind, found=scaling, wanted=rope.attention_factor
        )


def uninitialised(values: Array) -> bool:
    """Whether memory that nobody wrote looks like this: not finite, negative, rising, or all zero."""
    if not np.all(np.isfinite(values)) or np.any(values < 0) or not np.any(values):
        return True
    return bool(np.any(np.diff(values) > 0))


def rounded_to(buffer: RotaryBuffer, wanted: Array) -> str:
    """Return the half-precision type that ``wanted`` was rounded to, even where a cast up came after; "" for none.

    A buffer is rounded where every value is one of that type's numbers and lies within one rounding of the wanted one.
    """
    from rope_core.theory.precision import round_to_dtype

    values = buffer.values
    if values is None or not np.all(np.isfinite(values)):
        return ""
    for dtype, (unit, smallest) in HALF_PRECISION.items():
        held = buffer.dtype == dtype
        kept = (
            values.size >= 4 and bool(np.any(values[1:] > 0)) and np.array_equal(round_to_dtype(values, dtype), values)
        )
        near = np.abs(values - wanted) <= (unit + SAME) * np.abs(wanted) + smallest
        if (held or (kept and largest_relative_difference(values, wanted) > SAME)) and np.all(near):
            return dtype
    return ""


def table_findings(tables: list[RotaryBuffer], ropes: Mapping[str | None, HfRope]) -> Iterator[Finding]:
    """Compare stored tables of cos, sin and e^{i angle} with the angles of the layer type that each is nearest to."""
    named: set[str] = set()
    for table in tables:
        rows = table.values
        if rows is None or rows.ndim < 2 or not rows.size:
            continue
        part = "cis" if np.iscomplexobj(rows) or rows.ndim == 3 else "sin" if "sin" in table.name else "cos"
        rows = rows[..., 0] + 1j * rows[..., 1] if rows.ndim == 3 and rows.shape[2] == 2 else rows
        turning = [(kind, rope) for kind, rope in ropes.items() if not rope.nope]
        verdicts = [(kind, _of_table(table, rows, part, rope)) for kind, rope in turning if rows.ndim == 2]
        if not verdicts or any(verdict is None for _, verdict in verdicts):
            continue
        kind, verdict = verdicts[0]
        key, values = verdict or ("", {})
        if key not in named:
            named.add(key)
            yield make_finding(key, table.name, None, kind, **values)


def _of_table(table: RotaryBuffer, rows: Array, part: str, rope: HfRope) -> tuple[str, dict[str, object]] | None:
    """Return the finding's key and values where a table's rows are not what a rotation gives; None where they are."""
    pairs, columns = len(rope.inv_freq), rows.shape[1]
    if columns not in (pairs, 2 * pairs):
        return "buffer_width", {"found": columns // (1 if part == "cis" else 2), "wanted": pairs}
    unit = HALF_PRECISION.get(table.dtype, (2.0**-24,))[0]
    positions = np.arange(len(rows), dtype=np.float64)

    def off(theta: Array) -> Array:
        """Return how far the table is off, over the tolerance, in the nearest order of columns and factor."""
        angle, room = np.outer(positions, theta), rotation_tolerance(positions, theta, unit)
        wanted = np.exp(1j * angle) if part == "cis" else getattr(np, part)(angle)
        orders = [np.concatenate([np.arange(pairs)] * 2), np.repeat(np.arange(pairs), 2)]
        chosen = [np.arange(pairs)] if columns == pairs else orders
        ways = [np.abs(rows - f * wanted[:, o]) / room[:, o] for o in chosen for f in {1.0, rope.attention_factor}]
        return min(ways, key=lambda each: float(each.max()))

    excess = off(rope.inv_freq)
    if excess.max() <= 1:
        return None
    row, column = np.unravel_index(int(excess.argmax()), excess.shape)
    why = next((cause for cause, theta in _causes(rope) if off(theta).max() <= 1), FindingPhrase("nothing"))
    return "table_differs", {"row": int(row), "column": int(column), "config_type": rope.rope_type, "cause": why}


def _causes(rope: HfRope) -> Iterator[tuple[FindingPhrase, Array]]:
    """Yield the frequencies that a table may hold in place of the config's, and in words what they are."""
    yield FindingPhrase("table_unscaled"), rope.unscaled
    for factor in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0) if "factor" in rope.request.params else ():
        request = replace(rope.request, params={**rope.request.params, "factor": factor})
        yield FindingPhrase("table_factor", {"factor": factor}), spectrum(request).inv_freq
