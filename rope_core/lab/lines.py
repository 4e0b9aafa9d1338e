"""The ladder's lines: a scheme each, and how many times the wanted factor it is given.

lines.toml lists those that were measured; a scheme that it does not name is a line of its own name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from rope_core.errors import argument_error, checked_finite
from rope_core.lab.shape import ModelShape
from rope_core.rope import Rope
from rope_core.schemes import SCHEMES
from rope_core.spectrum import Request

LINES = Path(__file__).parent / "lines.toml"


@dataclass(frozen=True)
class SchemeLine:
    """One line of the ladder.

    Attributes:
        key: its name in records, links and texts.
        scheme: a name in SCHEMES.
        times: its factor is the wanted one times this.
        params: other parameters of the scheme.
        follows: whether its factor follows the length where none is given; a scheme that takes the length itself
            would count it twice, and is given 1.
        sliding: whether each byte is read from the last bytes of a trained window only, the baseline of all stretching.
        rule: a name in ``theory.remap.RULES`` that counts the positions of an unscaled model, or "".
        after: whether it is one of those published after YaRN, which are measured apart.
    """

    key: str
    scheme: str
    times: float = 1.0
    params: Mapping[str, float] = field(default_factory=dict)
    follows: bool = True
    sliding: bool = False
    rule: str = ""
    after: bool = False

    @property
    def is_frequency_only(self) -> bool:
        """Whether frequencies say all of it: no window and no rule of position."""
        return not (self.sliding or self.rule)

    def request(
        self,
        shape: ModelShape,
        length: int,
        factor: float | None = None,
        base: float | None = None,
        more: Mapping[str, float] | None = None,
    ) -> Request:
        """Return what this line asks for at a length.

        Args:
            shape: of the model.
            length: bytes in the window.
            factor: None means the length over the trained one, at least 1, for a line that follows it, else 1.
            base: another base than the trained one.
            more: parameters by name; those that the scheme does not know are left out.

        Raises ValueError on numbers out of the scheme's range.
        """
        rope = Rope(shape.head_dim, shape.base if base is None else base, shape.context)
        return self.request_for_rope(rope, length, factor, more)

    def request_for_rope(
        self, rope: Rope, length: int, factor: float | None = None, more: Mapping[str, object] | None = None
    ) -> Request:
        """Return ``request`` for any geometry, whose trained length counts; tokens in place of bytes."""
        needed = max(1.0, length / rope.train_len) if self.follows else 1.0
        times = needed if factor is None else checked_finite("factor", factor)
        takes = {param.name for param in SCHEMES[self.scheme].params}
        given = {**(more or {}), "factor": times * self.times, **self.params}
        return Request(rope, self.scheme, {k: v for k, v in given.items() if k in takes}, seq_len=length)


def window_start(position: int, context: int) -> int:
    """Return the first byte that the sliding window has in view where it guesses byte ``position``, both from 0.

    The window of ``context`` bytes moves on by a quarter of it.

    >>> window_start(256, 256), window_start(257, 256), window_start(1888, 256)
    (0, 64, 1664)
    """
    step = max(1, context // 4)
    return max(0, -(-(position - context) // step) * step)


@lru_cache(maxsize=1)
def _listed() -> tuple[SchemeLine, ...]:
    return tuple(SchemeLine(**each) for each in tomllib.loads(LINES.read_text("utf-8"))["lines"])


def _every() -> tuple[SchemeLine, ...]:
    """Return the listed lines, and one after them for each other scheme that a factor or the length stretches."""
    known = {each.scheme for each in _listed()}
    stretching = (
        name
        for name, scheme in SCHEMES.items()
        if scheme.follows_length or any(param.name == "factor" and param.default for param in scheme.params)
    )
    return (*_listed(), *(SchemeLine(name, name, after=True) for name in stretching if name not in known))


def scheme_lines() -> tuple[SchemeLine, ...]:
    """Return the ladder's lines, in their order."""
    return tuple(each for each in _every() if not each.after)


def lines_after_yarn() -> tuple[SchemeLine, ...]:
    """Return the lines of what was published after YaRN, in their order."""
    return tuple(each for each in _every() if each.after)


def get_line(key: str) -> SchemeLine:
    """Return a line by its key, or raise ValueError naming those there are."""
    for each in _every():
        if each.key == key:
            return each
    raise argument_error("line", "one_of", key, names=[each.key for each in _every()])


def get_trainable_line(key: str) -> SchemeLine:
    """Return a line that training can follow; raises ValueError on a window or a rule of position."""
    chosen = get_line(key)
    if not chosen.is_frequency_only:
        raise argument_error(
            "line", "scaling_line", key, names=[each.key for each in scheme_lines() if each.is_frequency_only]
        )
    return chosen
