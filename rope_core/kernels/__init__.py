"""Backends of the rotation behind one signature. The functions load torch; importing this package does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rope_core.kernels.cached import apply_normed_cached as apply_normed_cached
    from rope_core.kernels.entry import apply as apply
    from rope_core.kernels.entry import bind as bind
    from rope_core.kernels.norm import apply_normed as apply_normed

__all__ = ["apply", "apply_normed", "apply_normed_cached", "bind"]


def __getattr__(name: str) -> Any:
    if name in ("apply", "bind"):
        from rope_core.kernels import entry

        return getattr(entry, name)
    if name == "apply_normed":
        from rope_core.kernels.norm import apply_normed

        return apply_normed
    if name == "apply_normed_cached":
        from rope_core.kernels.cached import apply_normed_cached

        return apply_normed_cached
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
