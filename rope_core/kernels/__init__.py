"""Backends of the rotation behind one signature, and the tables of cos and sin they read.

``apply`` loads torch, ``tables`` only numba; importing this package loads neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rope_core.kernels.entry import apply as apply

__all__ = ["apply"]


def __getattr__(name: str) -> Any:
    if name != "apply":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rope_core.kernels.entry import apply

    return apply
