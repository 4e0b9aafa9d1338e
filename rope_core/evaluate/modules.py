"""Write a variant's frequencies into the rotary modules of a loaded model, and hold what runs to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from rope_core.errors import RuleText, argument_error
from rope_core.evaluate.variants import RopeVariant
from rope_core.findings import SEVERITIES
from rope_core.hf.resolve import resolve
from rope_core.hf.ropes import HfRope
from rope_core.hf.types import DEFAULT
from rope_core.verification.buffers import matching_layer_type
from rope_core.verification.rotations import ModuleRotations
from rope_core.verification.stored import SUFFIX, RotaryBuffer, buffers_in_module
from rope_core.verification.verify import verify

Tables = Any


class RotaryModules:
    """The rotary modules of a loaded model: where each layer type keeps its frequencies.

    Args:
        module: a causal model of transformers.
        load: what it turns by as it was loaded.

    Raises ValueError where the model's class keeps no frequencies that can be written.
    """

    def __init__(self, module: Any, load: RopeVariant) -> None:
        self.module, self.load = module, load
        rotations = ModuleRotations(module, resolve(load.config), load.ropes)
        own, _ = rotations.split_text_buffers(buffers_in_module(module))
        if not own:
            raise argument_error("model", "eval_buffers", type(module).__name__)
        self.buffers: list[tuple[RotaryBuffer, str | None]] = [
            (each, matching_layer_type(each, load.ropes)[0]) for each in own
        ]
        self.parts = dict(module.named_modules())
        scaled = bool(rotations.fields.family.get("logit_scale"))
        self.attention = [
            part for part in module.modules() if scaled and isinstance(getattr(part, "scaling", None), float)
        ]
        self.logit_scale = load.first_full_context_rope.logit_scale

    def write_variant(self, variant: RopeVariant) -> None:
        """Set frequencies, attention factors and the softmax scale; what follows the length by itself is frozen.

        Raises ValueError where a layer's width is not the variant's.
        """
        for buffer, kind in self.buffers:
            rope = variant.ropes[kind]
            owner, name = self._place(buffer)
            set_rope(owner, name, rope)
            if isinstance(owner.__dict__.get("rope_type"), dict):
                owner.rope_type = dict.fromkeys(owner.rope_type, DEFAULT)
            elif hasattr(owner, "rope_type"):
                owner.rope_type = DEFAULT
        new = variant.first_full_context_rope.logit_scale
        for part in self.attention:
            part.scaling *= new / self.logit_scale
        self.logit_scale = new

    def _place(self, buffer: RotaryBuffer) -> tuple[Any, str]:
        """Return the module that holds a buffer, and the buffer's name in it."""
        path, _, name = buffer.name.rpartition(".")
        return self.parts[path], name

    def verified_keys(self, variant: RopeVariant) -> tuple[str, ...]:
        """Run ``verify`` on the model and return the keys of what it notes.

        Raises ValueError where the model does not turn by what was written.
        """
        findings = verify(self.module, variant.config)
        wrong = [each for each in findings if each.severity == SEVERITIES[0]]
        if wrong:
            detail = f"{wrong[0].field}: {wrong[0].title()}"
            raise argument_error(
                "schemes", RuleText("eval_unwritten", {"class_name": type(self.module).__name__}), detail
            )
        return tuple(each.key for each in findings)

    @contextmanager
    def rotating_by_own_length(self, at: Callable[[int], Mapping[str | None, HfRope]], first: int) -> Iterator[None]:
        """Turn every position by the frequencies in force when it was read: those of its own length.

        A cache of turned keys holds just that. Positions below ``first`` are read at once.

        Args:
            at: the ropes by layer type at a length.
            first: tokens that are read at once at first.
        """
        owners = {id(owner): owner for owner, _ in map(self._place, (buffer for buffer, _ in self.buffers))}
        names = {key: [(b, kind) for b, kind in self.buffers if id(self._place(b)[0]) == key] for key in owners}
        plain = {key: owner.forward for key, owner in owners.items()}
        held: dict[int, Any] = {}

        def forward_of(key: int) -> Callable[..., Tables]:
            owner = owners[key]

            def turned(x: Any, position_ids: Any, *rest: Any, **more: Any) -> Tables:
                tables, where = [], position_ids[0].tolist()
                for begin, end in position_spans(where, first):
                    ropes = at(max(first, where[end - 1] + 1))
                    for buffer, kind in names[key]:
                        set_rope(owner, self._place(buffer)[1], ropes[kind])
                    tables.append(plain[key](x, position_ids[:, begin:end], *rest, **more))
                return concatenate_tables(tables)

            return turned

        for key, owner in owners.items():
            held[key] = owner.__dict__.get("forward")
            owner.forward = forward_of(key)
        try:
            yield
        finally:
            for key, owner in owners.items():
                # accelerate puts a forward of its own on a module that it has placed.
                if held[key] is None:
                    del owner.forward
                else:
                    owner.forward = held[key]


def set_rope(owner: Any, name: str, rope: HfRope) -> None:
    """Write one layer type's frequencies and attention factor into its module."""
    tensor = getattr(owner, name)
    if tuple(tensor.shape) != rope.inv_freq.shape:
        raise argument_error("model", "eval_width", tuple(tensor.shape), pairs=rope.inv_freq.size)
    with torch.no_grad():
        tensor.copy_(torch.from_numpy(rope.inv_freq.copy()))
    own = name.removesuffix(SUFFIX) + "attention_scaling"
    for attribute in (own, "attention_scaling"):
        if isinstance(getattr(owner, attribute, None), int | float):
            setattr(owner, attribute, rope.attention_factor)
            return
    if rope.attention_factor != 1.0:
        raise argument_error("schemes", "eval_attention", type(owner).__name__)


def position_spans(positions: list[int], first: int) -> Iterator[tuple[int, int]]:
    """Yield stretches of positions with frequencies of their own: those below ``first`` at once, then one by one.

    >>> list(position_spans([2, 3, 4, 5], 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    together = sum(position < first for position in positions)
    if together:
        yield 0, together
    yield from ((i, i + 1) for i in range(together, len(positions)))


def concatenate_tables(tables: list[Tables]) -> Tables:
    """Join tables of stretches of positions, (batch, positions, ...) each: cos and sin, or one complex tensor."""
    if isinstance(tables[0], tuple):
        return tuple(torch.cat(each, 1) for each in zip(*tables, strict=True))
    return torch.cat(tables, 1)
