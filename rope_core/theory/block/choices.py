"""What a row of source 004's table says about a block, as the values that a drawing of the block switches between."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

from rope_core.hf.catalogue import ArchitectureRow, architecture_rows

NORMS = ("LayerNorm", "RMSNorm")
PLACES = ("pre", "post", "double", "inner")
UNITS = ("relu", "gelu", "silu", "relu2", "glu", "reglu", "geglu", "swiglu")
_PRINTED = {"ReLU": "relu", "GeLU": "gelu", "SqReLu": "relu2", "GeGLU": "geglu", "SwiGLU": "swiglu"}


@dataclass(frozen=True)
class BlockChoices:
    """The choices of one block.

    Attributes:
        norm: one of NORMS, what a norm layer computes (weight and bias aside).
        place: one of PLACES: "pre" x + F(N(x)), "post" N(x + F(x)), "double" x + N(F(N(x))), "inner" x + N(F(x)).
        parallel: whether attention and feed-forward read the same input.
        unit: one of UNITS, the feed-forward's activation.
        rotates: whether q and k are rotated, in all layers or in some.
    """

    norm: str
    place: str
    parallel: bool
    unit: str
    rotates: bool


def _place(pre_norm: str, stability: str) -> str:
    if "Pre+post norm" in stability:
        return "double"
    if "inside the residual branch" in pre_norm:
        return "inner"
    return "pre" if pre_norm == "yes" else "post"


def block_choices(row: ArchitectureRow) -> BlockChoices | None:
    """Return the corrected cells of ``row`` as choices, None where the table leaves the block open.

    >>> from rope_core.hf.catalogue import architecture_row
    >>> block_choices(architecture_row("gpt-j"))
    BlockChoices(norm='LayerNorm', place='pre', parallel=True, unit='gelu', rotates=True)
    """
    cells = {field: row.corrected(field) for field in ("norm", "block", "pre_norm", "activation")}
    if not all(cells.values()):
        return None
    norm = next(name for name in NORMS if cells["norm"].startswith(name))
    return BlockChoices(
        norm,
        _place(cells["pre_norm"], row.corrected("stability")),
        cells["block"] == "Parallel",
        _PRINTED[cells["activation"]],
        "RoPE" in row.corrected("position"),
    )


@cache
def commonest_block_and_counts() -> tuple[BlockChoices, int, int]:
    """Return (the commonest block of the table, how many rows have it, how many rows say enough to be read)."""
    counts = Counter(filter(None, map(block_choices, architecture_rows())))
    choices, rows = counts.most_common(1)[0]
    return choices, rows, counts.total()
