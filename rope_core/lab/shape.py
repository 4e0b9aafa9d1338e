"""The shape of the lab's model: its sizes and how positions enter it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rope_core.errors import argument_error, checked_int
from rope_core.rope import Rope

ENCODINGS = ("rope", "sinusoidal", "learned", "alibi", "t5", "nope")


@dataclass(frozen=True)
class ModelShape:
    """The sizes of a model and the way in which positions enter it.

    Args:
        encoding: how positions enter: a name in ENCODINGS.
        layers, width, heads: sizes of the decoder; width/heads is the head dimension.
        hidden: width of the gated feed-forward layer.
        context: trained length, in bytes.
        base: base of rope and of the sinusoids.

    Raises ValueError on an unknown encoding, or sizes that do not fit.
    """

    encoding: str = "rope"
    layers: int = 4
    width: int = 192
    heads: int = 6
    hidden: int = 512
    context: int = 256
    base: float = 10_000.0

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise argument_error("encoding", "one_of", self.encoding, names=ENCODINGS)
        for name, low, high in (("layers", 1, 64), ("width", 2, 8192), ("heads", 1, 256), ("hidden", 1, 65_536)):
            checked_int(name, getattr(self, name), low, high)
        checked_int("context", self.context, 2, 2**20)
        if self.width % (2 * self.heads):
            raise argument_error("width", "multiple_of", self.width, factor=2 * self.heads)
        self.rope  # noqa: B018  a base that is no base is refused here

    @property
    def head_dim(self) -> int:
        """Dimensions per head."""
        return self.width // self.heads

    @property
    def rope(self) -> Rope:
        """The geometry that the model was trained with."""
        return Rope(self.head_dim, self.base, self.context)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)
