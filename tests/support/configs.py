"""A config for findings and engines, what is changed in it, and the keys of what is found."""

from typing import Any

import rope_core as rc
from tools.engines.tasks import PLAIN as LLAMA
from tools.engines.tasks import YARN

__all__ = ["LLAMA", "YARN", "keys", "of"]


def of(**fields: Any) -> dict[str, Any]:
    return {**LLAMA, **fields}


def keys(result: list[rc.Finding]) -> list[str]:
    return [each.key for each in result]
