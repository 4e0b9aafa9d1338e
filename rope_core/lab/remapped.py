"""Rules of position on the lab's model: scores of two or three rotations, and for each pair the one of its view."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from rope_core.lab.positions import PositionEncoding, scaled_cos_sin
from rope_core.lab.shape import ModelShape
from rope_core.layout import HALF
from rope_core.rotation import rotate
from rope_core.spectrum import Request, spectrum
from rope_core.theory.remap import PositionRemap, remap_positions

# Scores of so many queries are held at once.
AT_ONCE = 256


class RemappedEncoding(PositionEncoding):
    """A trained rope model's positions counted by a rule.

    Args:
        shape: of the model, which rotates.
        rule: a name in ``rope_core.theory.remap.RULES``.
        params: the rule's parameters.

    Raises ValueError on an unknown rule or parameter.
    """

    def __init__(self, shape: ModelShape, rule: str, params: Mapping[str, object] | None = None) -> None:
        super().__init__()
        self.shape, self.rule, self.params = shape, rule, dict(params or {})
        self.answer = spectrum(Request(shape.rope))
        self.found: PositionRemap = self._count(0, 1)

    def _count(self, before: int, length: int) -> PositionRemap:
        end = before + length
        return remap_positions(self.rule, np.arange(before, end), np.arange(end), self.shape.context, self.params)

    def at(self, before: int, length: int) -> RemappedEncoding:
        if (before, length) != (self.before, self.length):
            self.before, self.length = before, length
            self.found = self._count(before, length)
        return self

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Return the mixture (B, S, H, D) of v (B, T, H, D) for q (B, S, H, D) and k (B, T, H, D) not turned yet."""
        scale = torch.from_numpy(self.found.scale).float()[:, None, None] * q.shape[-1] ** -0.5
        turned = [
            (
                rotate(q * scale, *scaled_cos_sin(self.answer, view.query), HALF),
                rotate(k, *scaled_cos_sin(self.answer, view.key), HALF),
            )
            for view in self.found.views
        ]
        later = self.causal(q.shape[1], k.shape[1])
        firsts = range(0, q.shape[1], AT_ONCE)
        return torch.cat([self._block(turned, later, v.transpose(1, 2), first) for first in firsts], 1)

    def _block(self, turned: list[tuple[Tensor, Tensor]], later: Tensor, values: Tensor, first: int) -> Tensor:
        rows = slice(first, min(first + AT_ONCE, len(later)))
        keys = slice(0, values.shape[2] - len(later) + rows.stop)
        mask = later[rows, keys]
        scores: Tensor | None = None
        for view, (q, k) in zip(self.found.views, turned, strict=True):
            holds = torch.from_numpy(view.holds[rows, keys])
            if not bool((holds & (mask > -math.inf)).any()):
                continue
            own = q[:, rows].transpose(1, 2) @ k[:, keys].permute(0, 2, 3, 1)
            scores = own if scores is None else torch.where(holds, own, scores)
        assert scores is not None
        return (torch.softmax(scores + mask, -1) @ values[:, :, keys]).transpose(1, 2)


__all__ = ["RemappedEncoding"]
